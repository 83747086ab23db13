// Published steps of RL post-training beside the loop, which gets the parts of a step and gives the step.

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "validate/rl/rl_suite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr double kMillisecond = 1e6;

/// A row of rl_published.csv, in seconds.
struct PublishedStep {
  std::string id, source, mode;
  std::optional<double> step, generation, wait, sync;
  double training = 0;  ///< log-probabilities, reference and update

  [[nodiscard]] bool has_parts() const { return step && training > 0 && (generation || wait); }
};

class PublishedRows {
 public:
  /// Reads the file, or says in the table that it isn't there.
  PublishedRows(const std::string& folder, CheckedTable& table) {
    const std::string path = folder + "/rl_published.csv";
    if (!std::filesystem::exists(path)) {
      table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
      return;
    }
    const CsvTable csv = parse_csv(read_file(path), path);
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(csv.header, name) - csv.header.begin());
    };
    for (const CsvRow& row : csv.rows) {
      const auto seconds = [&](std::string_view name) {
        const std::string& text = row.fields.at(column(name));
        return text.empty() ? std::nullopt : std::optional{std::stod(text)};
      };
      PublishedStep& each = rows.emplace_back();
      each.id = row.fields.at(column("id"));
      each.source = row.fields.at(column("source"));
      each.mode = row.fields.at(column("mode"));
      each.step = seconds("step_s");
      each.generation = seconds("gen_s");
      each.wait = seconds("wait_s");
      each.sync = seconds("sync_s");
      for (const char* const part : {"logprob_s", "ref_s", "update_s"}) each.training += seconds(part).value_or(0);
    }
  }
  [[nodiscard]] const PublishedStep* find(std::string_view id) const {
    const auto found = std::ranges::find(rows, id, &PublishedStep::id);
    return found == rows.end() ? nullptr : &*found;
  }

  std::vector<PublishedStep> rows;
};

/// The step of the loop, in seconds, by the parts of one: an answer is generated in so many steps of a millisecond.
double looped_step(RlCase::Mode mode, double generation, double training, double exchange) {
  RlCase each;
  each.mode = mode;
  each.weights = static_cast<std::int64_t>(kMillisecond);
  each.trainings = 20;
  each.train = std::llround(training * 1e9);
  each.exchange = std::llround(exchange * 1e9);
  each.eta = 1;
  each.groups = {{1, {std::llround(generation * 1e3)}, true}};
  const RlOutcome outcome = program_rl(each);
  return static_cast<double>(outcome.steps[19].train - outcome.steps[9].train) / 10 * 1e-9;
}

bool is_turns(const PublishedStep& row) {
  return row.mode.starts_with("colocated") || row.mode.starts_with("synchronous");
}

double sum_tolerance(const PublishedStep& row) {
  return row.source.starts_with("marin") ? 0.02 : 0.08;
}

}  // namespace

CheckedTable rl_sums_of_parts(const std::string& folder) {
  CheckedTable table;
  table.title = "published steps, from their parts: s";
  const PublishedRows published{folder, table};
  for (const PublishedStep& row : published.rows) {
    if (!row.has_parts()) continue;
    const double sync = row.sync.value_or(0);
    // Where both sides work at once, the trainer waits for what generation takes longer.
    const double ours =
        is_turns(row)
            ? looped_step(RlCase::Mode::synchronous, row.generation.value_or(row.wait.value_or(0)), row.training, sync)
        : row.mode == "one step off"
            ? looped_step(RlCase::Mode::one_step_off, row.wait.value_or(0) + row.training, row.training, sync)
            : looped_step(RlCase::Mode::asynchronous, row.wait.value_or(0) + row.training, row.training, sync);
    table.checks.push_back({row.id, *row.step, ours, sum_tolerance(row), {}});
  }
  return table;
}

CheckedTable rl_asynchronous_arms(const std::string& folder) {
  CheckedTable table;
  table.title = "asynchronous steps from the synchronous arm, both sides on GPUs of their own: s";
  const PublishedRows published{folder, table};
  constexpr double kArms = 0.07;
  for (const PublishedStep& row : published.rows) {
    if (!row.id.ends_with("-sync") || row.mode.find("separate GPUs") == std::string::npos) continue;
    const PublishedStep* const other = published.find(row.id.substr(0, row.id.size() - 5) + "-async");
    if (other == nullptr || !row.step || !other->step) continue;
    if (row.has_parts()) {
      const double generation = row.generation ? *row.generation : *row.wait;
      table.checks.push_back({other->id,
                              *other->step,
                              looped_step(RlCase::Mode::asynchronous, generation, row.training, row.sync.value_or(0)),
                              kArms,
                              {}});
    } else {
      table.notes.push_back(fmt::format("{}: {} of {} s; the parts aren't published, so nothing is predicted",
                                        other->id, *other->step, *row.step));
    }
  }
  // Lent trainers: x = (1/mu - T - s) / (1 + rho), period T + s + x. Two trainers beside one rollout: rho = 2; the
  // switches take 9.1 and 3.3 s (verl-omni#575).
  if (const PublishedStep* const own = published.find("omni-1"); own != nullptr && own->step && own->wait) {
    constexpr double kSwitches = 9.1 + 3.3, kLent = 2;
    const double training = *own->step - *own->wait;
    const double period = training + kSwitches + (*own->wait - kSwitches) / (1 + kLent);
    table.notes.push_back(
        fmt::format("verl-omni, trainers lent while they wait: {:.1f} of {:.1f} s expected", period, *own->step));
  }
  return table;
}

CheckedTable rl_weights(const std::string& folder) {
  CheckedTable table;
  table.title = "weights to the rollouts, by bytes and one measured rate: factor between published and ours";
  const PublishedRows published{folder, table};
  const PublishedStep* const measured = published.find("ws-30b-nccl");
  if (measured == nullptr || !measured->sync) return table;
  // 57 GiB of Qwen3-30B-A3B by NCCL over an interface of 400 Gbit/s (verl's checkpoint engine).
  const double rate = 57 * 1073741824. / *measured->sync;
  struct Move {
    const char* name;
    double bytes, interfaces, low_s, high_s;  // interfaces that a replica reads over at once
  };
  constexpr std::array<Move, 3> kMoves{{{"NeMo-RL, Qwen3-4B, TP8", 8.04e9, 8, 0.21, 0.34},
                                        {"NeMo-RL, Qwen3-30B-A3B, TP8 DP2", 61.1e9, 8, 0.74, 1.00},
                                        {"verl, Qwen3-30B-A3B, H20, buckets", 61.1e9, 1, 4.38, 4.38}}};
  double before = 0;
  bool in_order = true;
  for (const Move& move : kMoves) {
    const double ours = move.bytes / (rate * move.interfaces);
    const double nearest = std::clamp(ours, move.low_s, move.high_s);
    table.checks.push_back(
        {fmt::format("{}: {:.2f} s", move.name, ours), 1, std::max(ours / nearest, nearest / ours), 1, {}});
    in_order = in_order && ours > before;
    before = ours;
  }
  table.checks.push_back({"in the order of the published", 1, in_order ? 1. : 0., 0, {}});
  table.notes.push_back("one tensor at a time: 3.6 times as long as in buckets (15.76 s), which no rate says");
  return table;
}

}  // namespace contend
