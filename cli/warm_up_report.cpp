#include "cli/warm_up_report.hpp"

#include "cli/text_table.hpp"
#include "results/warm_up.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

const char* times_of(const WarmUp& found) {
  return found.of_waiting ? "waiting" : "completion";
}

/// How the average of the times changes without the warm-up.
std::string change_of(const WarmUp& found) {
  const std::vector<std::string> cells = format_column({found.mean_s, found.mean_after_s});
  return fmt::format("the average {} time is {} s over all of them, and {} s from then on", times_of(found), cells[0],
                     cells[1]);
}

std::string verdict_of(const WarmUp& found) {
  switch (found.verdict) {
    case WarmUp::Verdict::too_few:
      return fmt::format("too few jobs to tell: the rule needs {}", kFewestForWarmUp);
    case WarmUp::Verdict::none:
      return "no warm-up: the rule cuts away no job";
    case WarmUp::Verdict::undecided:
      return fmt::format(
          "the rule can't tell: it would cut away {} of {} jobs, more than half. The times still change where the jobs "
          "end, or are too uneven. More jobs or more seeds may help; a queue that only grows never settles",
          found.cut, found.jobs);
    case WarmUp::Verdict::found:
      break;
  }
  const char* const busy = found.mean_after_s < found.mean_s
                               ? "\nThe first jobs took longer than the others: they met a busy spell, not an empty "
                                 "cluster. More seeds may even it out"
                               : "";
  return fmt::format("the first {} jobs ({:.1f}%) are the warm-up: {}{}\n\n  measure: {{from: {}}}", found.cut,
                     kPercent * static_cast<double>(found.cut) / static_cast<double>(found.jobs), change_of(found),
                     busy, print_quantity(found.from));
}

}  // namespace

std::string warm_up_text(std::span<const StoredReplica> runs) {
  const WarmUp found = find_warm_up(runs);
  std::size_t others = 0;
  for (const StoredReplica& run : runs)
    others += static_cast<std::size_t>(std::ranges::count_if(
        run.jobs, [](const StoredJob& job) { return job.measured && job.state != JobState::finished; }));
  const std::string seeds = runs.size() > 1 ? fmt::format(", means of {} seeds", runs.size()) : "";
  const std::string missing =
      others > 0
          ? fmt::format("\n{} jobs did not finish and are left out, which may hide a warm-up or feign one", others)
          : "";
  std::string out = fmt::format("warm-up by MSER-5 over the {} times of {} jobs in order of submission{}{}\n",
                                times_of(found), found.jobs, seeds, missing);
  if (!found.tenths_s.empty())
    out += fmt::format("averages of tenths of the jobs [s]: {}\n", fmt::join(format_column(found.tenths_s), ", "));
  return out + verdict_of(found) + "\n";
}

std::string warm_up_note(const MeasureSetup& measure, std::span<const Replica> replicas) {
  constexpr double kWorthANote = 0.05;
  if (replicas.empty() || measure.from > Time{}) return {};
  std::vector<StoredReplica> runs;
  for (const Replica& each : replicas) {
    if (each.summary.finished < kFewestForWarmUp || each.summary.finished + each.summary.failed < each.summary.jobs)
      return {};
    runs.push_back(as_stored(each));
  }
  const WarmUp found = find_warm_up(runs);
  const bool matters = found.mean_after_s > (1 + kWorthANote) * found.mean_s;
  if (found.verdict != WarmUp::Verdict::found || !found.of_waiting || !matters) return {};
  return fmt::format(
      "the first {} of {} jobs look like a warm-up (MSER-5): {}; `measure: {{from: {}}}` leaves them out", found.cut,
      found.jobs, change_of(found), print_quantity(found.from));
}

}  // namespace contend
