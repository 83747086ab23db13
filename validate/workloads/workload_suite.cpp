#include "validate/workloads/workload_suite.hpp"

#include "models/workloads/fitted.hpp"
#include "sim/check.hpp"
#include "sim/parallel.hpp"
#include "validate/verdict.hpp"
#include "validate/workloads/first_half.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include <fmt/core.h>

namespace contend {
namespace {

void print_rows(std::FILE* out, std::span<const QueueingAtLoad> found) {
  fmt::print(out, "  {:>5}{:>12}{:>9}{:>20}{:>12}{:>9}{:>12}{:>9}\n", "load", "FIFO [s]", "ratio", "least to most",
             "SJF gain", "ratio", "EASY gain", "ratio");
  for (const QueueingAtLoad& each : found) {
    const QueueingRatio ratio = each.ratio();
    fmt::print(out, "  {:>5}{:>12.0f}{:>9.3g}{:>20}{:>12.2f}{:>9.3g}{:>12.2f}{:>9.3g}\n", each.load, each.real.fifo_s,
               ratio.fifo, fmt::format("{:.2g} to {:.2g}", ratio.least, ratio.most), each.real.sjf_gain(),
               ratio.sjf_gain, each.real.easy_gain(), ratio.easy_gain);
  }
}

QueueingFidelity fidelity_of(std::span<const QueueingAtLoad> found) {
  std::vector<QueueingRatio> ratios;
  for (const QueueingAtLoad& each : found) ratios.push_back(each.ratio());
  return contend::fidelity_of(ratios);
}

/// The table's initialiser for these figures.
std::string as_stated(const QueueingFidelity& found) {
  return fmt::format("{{{:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g}}}", found.fifo_least, found.fifo_most,
                     found.sjf_least, found.sjf_most, found.easy_least, found.easy_most);
}

bool states_the_same(std::FILE* out, const FittedWorkload& fit, std::span<const QueueingAtLoad> found) {
  const QueueingFidelity fidelity = fidelity_of(found);
  const bool holds = is_as_stated(fidelity, fit.queueing);
  fmt::print(out, "  `{}` {} its trace, and its table states {}: {}\n", fit.name,
             queues_like_trace(fidelity) ? "queues like" : "doesn't queue like",
             holds ? "the same" : as_stated(fit.queueing) + ", not " + as_stated(fidelity), word(holds));
  return holds;
}

/// The second half of the days beside jobs like the first half, and beside the first half itself: no drawing can be
/// expected to be nearer than that.
void print_held_out(std::FILE* out, const RealList& list) {
  const FittedWorkload& fit = first_half_of(list.like);
  const int middle = list.days / 2;
  const std::vector<JobRequest> seen = days_of(list.jobs, 0, middle);
  const auto found =
      compare_queueing(days_of(list.jobs, middle, list.days), list.servers, fit, kComparedLoads, kDrawnLists);
  fmt::print(out, "  fitted to the first {} days, against the others; \"halves\": the first {} days themselves\n",
             middle, middle);
  fmt::print(out, "  {:>5}{:>12}{:>9}{:>9}{:>20}{:>12}{:>9}{:>9}{:>12}{:>9}{:>9}\n", "load", "FIFO [s]", "halves",
             "ratio", "least to most", "SJF gain", "halves", "ratio", "EASY gain", "halves", "ratio");
  for (const QueueingAtLoad& each : found) {
    const QueueingRatio ratio = each.ratio();
    const Queueing first = queueing_of(seen, each.load, list.servers);
    const QueueingRatio halves = ratio_of({&first, 1}, each.real);
    fmt::print(out, "  {:>5}{:>12.0f}{:>9.3g}{:>9.3g}{:>20}{:>12.2f}{:>9.3g}{:>9.3g}{:>12.2f}{:>9.3g}{:>9.3g}\n",
               each.load, each.real.fifo_s, halves.fifo, ratio.fifo,
               fmt::format("{:.2g} to {:.2g}", ratio.least, ratio.most), each.real.sjf_gain(), halves.sjf_gain,
               ratio.sjf_gain, each.real.easy_gain(), halves.easy_gain, ratio.easy_gain);
  }
}

}  // namespace

std::vector<QueueingAtLoad> compare_queueing(std::span<const JobRequest> real, int servers, const FittedWorkload& fit,
                                             std::span<const double> loads, int seeds) {
  std::vector<QueueingAtLoad> found(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    found[i].load = loads[i];
    found[i].drawn.resize(static_cast<std::size_t>(seeds));
  }
  const std::size_t per_load = static_cast<std::size_t>(seeds) + 1;
  const auto one_of = [&](std::size_t i) {
    QueueingAtLoad& at = found[i / per_load];
    const std::size_t seed = i % per_load;
    if (seed == 0)
      at.real = queueing_of(real, at.load, servers);
    else
      at.drawn[seed - 1] = drawn_queueing(fit, seed, at.load, servers);
  };
  parallel_for(
      std::max(1U, std::thread::hardware_concurrency()), loads.size() * per_load, [&] { return one_of; },
      [] { return false; });
  return found;
}

int validate_workloads(std::FILE* out) {
  fmt::print(
      out,
      "workloads: jobs drawn like a trace beside the trace, on one pool of GPUs. FIFO: mean queueing of the real "
      "list;\ngain: mean JCT under FIFO over that under the policy, of the real list; ratio: drawn over real, "
      "geometric mean over {}\nseeds, with the least and the most of the seeds\n",
      kDrawnLists);
  bool all_hold = true;
  int skipped = 0, compared = 0;
  for (const RealListSource& source : real_list_sources()) {
    const std::optional<RealList> list = read_real_list(source.like);
    if (!list) {
      fmt::print(out, "\n{}: skipped, there is no file {} (set CONTEND_DATA)\n", source.like, source.path);
      ++skipped;
      continue;
    }
    ++compared;
    fmt::print(out, "\n{} ({} jobs, {} days) on {} GPUs\n", list->title, list->jobs.size(), list->days,
               list->servers * kPoolServerGpus);
    const FittedWorkload& fit = *find_fitted_workload(list->like);
    const auto found = compare_queueing(list->jobs, list->servers, fit, kComparedLoads, kDrawnLists);
    print_rows(out, found);
    all_hold = states_the_same(out, fit, found) && all_hold;
    print_held_out(out, *list);
  }
  const SuiteVerdict verdict = suite_verdict(all_hold, compared > 0);
  fmt::print(out, "\nworkloads: {}{}\n", suite_word(verdict), skipped > 0 ? ", the part that needs data skipped" : "");
  return verdict;
}

}  // namespace contend
