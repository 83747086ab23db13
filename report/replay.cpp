#include "report/replay.hpp"

#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace contend {
namespace {

/// True for links such as `server0/gpu1->server0/nic0`, false for `server0/nic0->leaf0`.
bool inside_a_server(const std::string& link) {
  const std::size_t arrow = link.find("->"), slash = link.find('/');
  if (arrow == std::string::npos || slash > arrow || !link.starts_with("server")) return false;
  return link.compare(arrow + 2, slash + 1, link, 0, slash + 1) == 0;
}

/// Appends a lane for each link that carried bytes, shaded by its utilisation.
void append_links(const NetworkReport& fabric, const SpanLimits& limits, Timeline& timeline) {
  if (fabric.samples.empty()) return;
  const auto kind = static_cast<std::uint32_t>(timeline.kinds.size());
  timeline.kinds.push_back({.job = JobId::none(), .op = "utilisation", .transfer = true});
  std::size_t link = SIZE_MAX;
  for (const LinkSample& sample : fabric.samples) {
    const Time end = sample.start + fabric.interval;
    if (end < limits.from || sample.start > limits.to) continue;
    if (sample.link != link) {
      link = sample.link;
      timeline.lanes.push_back({.name = fabric.links[link].name,
                                .group = TimelineLane::Group::link,
                                .server = 0,
                                .bin = fabric.interval,
                                .spans = {}});
    }
    const double share = std::clamp(std::round(sample.utilisation * 100) / 100, 0.01, 1.0);
    timeline.lanes.back().spans.push_back(
        {.start = sample.start, .end = end, .kind = kind, .number = 0, .share = share});
  }
  // What is inside servers, usually most links and least of interest, goes last.
  const auto first = std::ranges::find(timeline.lanes, TimelineLane::Group::link, &TimelineLane::group);
  std::stable_partition(first, timeline.lanes.end(),
                        [](const TimelineLane& lane) { return !inside_a_server(lane.name); });
}

}  // namespace

ReplayOutcome replay_run(const RunFolder& folder, const RunFolder::Run& run, const SpanLimits& limits,
                         const std::function<bool()>& stopped) {
  if (run.interrupted && !folder.scenario.engine.until)
    return {.replay = std::nullopt, .reason = "The run was interrupted, and where it stopped can't be repeated."};
  const Scenario& scenario = folder.scenario;
  if (scenario.overlap.given() && study_variants(scenario.overlap).size() > 1)
    return {.replay = std::nullopt,
            .reason =
                "The jobs of an iteration study have nothing to do with each other; one of a single number of "
                "workers, fusion and compression has a timeline."};
  SpanRecorder recorder{observed_gpus(scenario.cluster, scenario.network, scenario.overlap), limits};
  RunResult result;
  std::vector<LinkUseSample> link_uses;
  try {
    result = run_scenario(scenario, run.seed,
                          {.observer = &recorder,
                           .monitor = [&](const Progress&) { return !stopped(); },
                           .link_uses = [&](std::vector<LinkUseSample> uses) { link_uses = std::move(uses); }});
  } catch (const InputError& error) {
    return {.replay = std::nullopt, .reason = fmt::format("The scenario can't be run again: {}.", error.what())};
  }
  if (stopped()) return {.replay = std::nullopt, .reason = "It was interrupted."};
  const std::string digest = fmt::format("{:016x}", result.digest);
  if (digest != run.digest)
    return {
        .replay = std::nullopt,
        .reason = fmt::format("The scenario gives other results now (digest {} instead of {}): an input file or the "
                              "program is not the same. Run it again with -o to get a report with a timeline.",
                              digest, run.digest)};
  const Time end = scenario.overlap.given() ? recorder.end() : result.end;  // a study draws several iterations
  ReplayOutcome outcome;
  outcome.replay = Replay{.timeline = recorder.take(),
                          .gpu_busy = recorder.gpu_busy(),
                          .nic_busy = recorder.nic_busy(),
                          .fabric = std::move(result.fabric),
                          .link_uses = std::move(link_uses),
                          .end = end};
  outcome.replay->gpu_busy.cover(end);
  outcome.replay->nic_busy.cover(end);
  append_links(outcome.replay->fabric, limits, outcome.replay->timeline);
  return outcome;
}

}  // namespace contend
