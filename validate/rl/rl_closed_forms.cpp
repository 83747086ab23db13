// Closed forms of RL post-training beside the loop (docs/models/rl.md): periods of the modes, the division of GPUs
// between both sides, the mean age of answers at the bound, and the longest of n answers.

#include "sim/random_stream.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "validate/rl/rl_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kFormTolerance = 0.02;
constexpr std::int64_t kStepNs = 1000;  // a token takes a microsecond

/// One answer of `tokens` a training, and no limit but the mode's.
RlCase one_answer(RlCase::Mode mode, std::int64_t tokens, std::int64_t train, std::int64_t exchange) {
  RlCase each;
  each.mode = mode;
  each.weights = kStepNs;
  each.trainings = 50;
  each.train = train;
  each.exchange = exchange;
  each.groups = {{1, {tokens}, true}};
  return each;
}

/// The mean time between trainings, of the second half of a run.
double period_ns(const RlCase& each) {
  const RlOutcome outcome = program_rl(each);
  const std::size_t half = outcome.steps.size() / 2, last = outcome.steps.size() - 1;
  return static_cast<double>(outcome.steps[last].train - outcome.steps[half].train) / static_cast<double>(last - half);
}

void add_periods(CheckedTable& table) {
  using Mode = RlCase::Mode;
  for (const std::int64_t tokens : {30, 90}) {  // the trainer is the slower side, and the pool
    const std::int64_t generation = tokens * kStepNs, train = 60'000, exchange = 5'000;
    const std::string name = fmt::format("G {} us, T 60 us, W 5 us: ", tokens);
    table.checks.push_back({name + "synchronous, G + T + W",
                            static_cast<double>(generation + train + exchange),
                            period_ns(one_answer(Mode::synchronous, tokens, train, exchange)),
                            0,
                            {}});
    table.checks.push_back({name + "one step off, max(T, G) + W",
                            static_cast<double>(std::max(train, generation) + exchange),
                            period_ns(one_answer(Mode::one_step_off, tokens, train, exchange)),
                            0,
                            {}});
  }
}

/// A pool whose places are always full, with answers of exponential length.
RlCase full_pool(std::int64_t train, double eta) {
  RlCase each;
  each.mode = RlCase::Mode::asynchronous;
  each.weights = kStepNs;
  each.groups_of_training = 4;
  each.trainings = 2400;  // the second half has as many groups as there are
  each.every = 2;
  each.train = train;
  each.concurrent = 16;
  each.eta = eta;
  each.in_order = false;
  RandomStream stream{1, "validate-rl-lengths"};
  for (int g = 0; g < 4800; ++g)
    each.groups.push_back({1, {1 + static_cast<std::int64_t>(stream.exponential(100))}, true});
  return each;
}

void add_rates(CheckedTable& table) {
  const RlCase slow_pool = full_pool(1'000, 8), slow_trainer = full_pool(60'000, 8);
  double mean = 0;
  for (const AnswerGroup& group : slow_pool.groups) mean += static_cast<double>(group.answers[0]);
  mean /= static_cast<double>(slow_pool.groups.size());
  // 16 groups run at a time, each of one answer: 16 / (mean x step) groups/s, four of which are a training.
  table.checks.push_back({"asynchronous, the pool is slower: N / mu, ns",
                          4 * mean * kStepNs / 16,
                          period_ns(slow_pool),
                          kFormTolerance,
                          {}});
  table.checks.push_back(
      {"asynchronous, the trainer is slower: T, ns", 60'000, period_ns(slow_trainer), kFormTolerance, {}});
  for (const double eta : {1., 3.}) {
    RlCase each = full_pool(60'000, eta);
    each.concurrent = 1000;
    RlLoop loop = rl_loop_of(each);
    static_cast<void>(run_to_end(loop));
    table.checks.push_back(
        {fmt::format("mean age at the bound, eta {}", eta),
         eta,
         static_cast<double>(loop.totals().staleness_sum) / static_cast<double>(loop.totals().groups_trained),
         kFormTolerance,
         {}});
  }
}

/// 12 GPUs, generation takes 720 us on one of them and training 360 us, both scale perfectly.
void add_division(CheckedTable& table) {
  constexpr std::int64_t kGpus = 12, kGenerate = 720, kTrain = 360'000;
  std::int64_t best = 0;
  double least = 0;
  for (std::int64_t rollout = 1; rollout < kGpus; ++rollout) {
    if (kGenerate % rollout != 0 || kTrain % (kGpus - rollout) != 0) continue;
    const double period =
        period_ns(one_answer(RlCase::Mode::one_step_off, kGenerate / rollout, kTrain / (kGpus - rollout), 0));
    if (best == 0 || period < least) {
      best = rollout;
      least = period;
    }
  }
  table.checks.push_back(
      {"12 GPUs, G/n and T/n: most of them for the side of G, n G/(G + T)", 8, static_cast<double>(best), 0, {}});
  table.checks.push_back(
      {"and nothing is gained: the synchronous step on all, ns", (kGenerate * kStepNs + kTrain) / 12., least, 0, {}});
}

/// The mean of the longest of n draws by quantiles with straight lines between them: the integral of Q(p) n p^(n-1).
double longest_of(const std::vector<double>& quantiles, double n) {
  const auto parts = static_cast<double>(quantiles.size() - 1);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < quantiles.size(); ++i) {
    const double low = static_cast<double>(i) / parts, high = static_cast<double>(i + 1) / parts;
    const double slope = (quantiles[i + 1] - quantiles[i]) * parts;
    sum += (quantiles[i] - slope * low) * (std::pow(high, n) - std::pow(low, n)) +
           slope * n / (n + 1) * (std::pow(high, n + 1) - std::pow(low, n + 1));
  }
  return sum;
}

/// The mean time in which the loop generates a training of one group of n answers.
double longest_in_loop(const Empirical& lengths, std::int64_t n) {
  RlCase each;
  each.weights = kStepNs;
  each.trainings = 400;
  RandomStream stream{1, "validate-rl-longest"};
  for (std::int64_t g = 0; g < each.trainings; ++g) {
    AnswerGroup& group = each.groups.emplace_back();
    for (std::int64_t a = 0; a < n; ++a) group.answers.push_back(std::llround(lengths.draw(stream)));
  }
  return static_cast<double>(program_rl(each).end) / static_cast<double>(each.trainings * kStepNs);
}

}  // namespace

CheckedTable rl_closed_forms() {
  CheckedTable table;
  table.title = "closed forms beside the loop: periods, the division of GPUs, ages of answers";
  add_periods(table);
  add_rates(table);
  add_division(table);
  return table;
}

CheckedTable rl_longest_answers(const std::string& folder) {
  CheckedTable table;
  table.title = "the longest of n answers of DeepSeek-R1 (ServeGen's histograms), in tokens";
  const std::string path = folder + "/servegen_deepseek_r1_output_quantiles.csv";
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  std::vector<double> quantiles;
  for (const CsvRow& row : parse_csv(read_file(path), path).rows) quantiles.push_back(std::stod(row.fields[1]));
  // From the whole histograms, of which these are 1,001 quantiles: beyond the last but one they say nothing.
  struct Row {
    double n, longest, tolerance;
  };
  for (const Row& row : {Row{1, 2133, kFormTolerance}, Row{8, 7233, kFormTolerance}, Row{16, 9676, kFormTolerance},
                         Row{64, 15'042, kFormTolerance}, Row{128, 17'632, kOnlyShown}, Row{512, 21'944, kOnlyShown}})
    table.checks.push_back(
        {fmt::format("of {}, by quantiles", row.n), row.longest, longest_of(quantiles, row.n), row.tolerance, {}});
  const Empirical lengths{quantiles};
  constexpr double kSampled = 0.05;  // 400 trainings: three standard errors
  for (const std::int64_t n : {16, 64})
    table.checks.push_back({fmt::format("of {}, generation in the loop beside the quantiles", n),
                            longest_of(quantiles, static_cast<double>(n)),
                            longest_in_loop(lengths, n),
                            kSampled,
                            {}});
  table.notes.push_back("1,001 quantiles are too coarse for the longest of more than 64: shown");
  return table;
}

}  // namespace contend
