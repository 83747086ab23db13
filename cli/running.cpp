#include "cli/running.hpp"

#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "models/workloads/fitted.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <fmt/format.h>

namespace contend {

ProgressMode progress_mode(const Arguments& arguments) {
  const std::string word = arguments.value("progress").value_or(arguments.has("quiet") ? "never" : "auto");
  if (word == "auto") return ProgressMode::automatic;
  if (word == "always") return ProgressMode::always;
  if (word == "never") return ProgressMode::never;
  throw UsageError{fmt::format("--progress: expected auto, always or never, got \"{}\"", word)};
}

unsigned thread_count(const Arguments& arguments) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(arguments.whole_number("jobs", 1, 4096).value_or(cores));
}

void warn_of_likes(std::span<const Scenario> scenarios) {
  std::set<std::string> seen;
  for (const Scenario& scenario : scenarios) {
    if (!scenario.workload.like || !seen.insert(*scenario.workload.like).second) continue;
    const std::string caveat = ranking_caveat(*find_fitted_workload(*scenario.workload.like));
    if (!caveat.empty()) print_message("contend: warning: workload.like: {}\n", caveat);
  }
}

namespace {

/// Resamples of few blocks are hardly different.
void warn_of_few_blocks(std::span<const Scenario> scenarios, JobLists& lists) {
  constexpr std::size_t kFewBlocks = 12;
  std::set<std::string> seen;
  for (const Scenario& scenario : scenarios) {
    const std::optional<std::size_t> blocks = block_count(scenario, lists);
    if (!blocks || *blocks >= kFewBlocks) continue;
    const std::string text = fmt::format(
        "workload.resample.block: {} has {} whole blocks of {}; with fewer than {} intervals are too narrow",
        *scenario.workload.jobs, *blocks, print_quantity(*scenario.workload.sampling.block), kFewBlocks);
    if (seen.insert(text).second) print_message("contend: warning: {}\n", text);
  }
}

}  // namespace

std::vector<std::vector<Replica>> simulate(std::span<const Scenario> scenarios, ProgressMode mode, unsigned threads,
                                           Observer* observer, JobLists* lists) {
  JobLists own;
  if (lists == nullptr) lists = &own;
  warn_of_likes(scenarios);
  warn_of_few_blocks(scenarios, *lists);
  ProgressLine line{mode, batch_size(scenarios)};
  return run_batch(scenarios, {.threads = threads,
                               .observer = observer,
                               .progress = [&](std::size_t i, const Progress& p) { line.update(i, p); },
                               .lists = lists,
                               .interrupted = interrupted});
}

void print_unmet(std::string_view name, std::span<const ExpectationOutcome> outcomes) {
  for (const ExpectationOutcome& each : outcomes)
    if (!each.met) print_message("contend: {}: expected {}: {}\n", name, each.expectation, each.reason);
}

}  // namespace contend
