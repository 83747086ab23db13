// ByteDance's sample of a straggling job: how much faster it would be without, and what is due to whom.

#include "traces/step_timeline.hpp"
#include "validate/faults/faults_suite.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

namespace contend {
namespace {

std::string timeline_path() {
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder = data != nullptr ? data : "../shared/data";
  return (folder / "elastic" / "stragglers" / "timeline-ST.json.gz").string();
}

}  // namespace

CheckedTable faults_what_if() {
  CheckedTable table;
  table.title = "ByteDance's sample ST: 32 steps on 2 x 4 workers, replayed without stragglers";
  const std::string path = timeline_path();
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  const WhatIf job{read_step_timeline(path)};
  constexpr double kTolerance = 1e-4;  // theirs are in single precision
  const auto add = [&](std::string name, double published, double ours) {
    table.checks.push_back({std::move(name), published, ours, kTolerance, {}});
  };
  add("seconds of a step, measured", 2.214448, job.measured_s());
  add("replayed without launch delays", 2.172697, job.replayed_s());
  add("without stragglers", 1.843296, job.ideal_s());
  add("slowdown", 1.178702, job.slowdown());
  constexpr double kStages[] = {0.998045, 0.983056, 0.982493, 1.232256};
  for (int stage = 0; stage < 4; ++stage)
    add(fmt::format("slowdown by stage {} alone", stage), kStages[stage],
        job.only_s([&](const StepOp& op) { return op.stage == stage; }) / job.ideal_s());
  const auto by_kind = [&](StepOpKind kind) {
    return job.only_s([&](const StepOp& op) { return op.kind == kind; }) / job.ideal_s();
  };
  add("slowdown by forward passes alone", 1.087499, by_kind(StepOpKind::forward_compute));
  add("slowdown by backward passes alone", 1.074156, by_kind(StepOpKind::backward_compute));
  add("slowdown by the embedding's all-reduce alone", 1.009550, by_kind(StepOpKind::embedding_grads_all_reduce));
  add("mended without the last stage, M_S", 1.219356, job.mended_by([](const StepOp& op) { return op.stage == 3; }));
  constexpr double kSlowest = 0.03;
  const WhatIf::Worker slowest = job.slowest_workers(kSlowest).front();
  table.checks.push_back(
      {"mended without the slowest 3% of workers, M_W",
       0.031404,
       job.mended_by([&](const StepOp& op) { return op.stage == slowest.stage && op.replica == slowest.replica; }),
       1e-3,
       {}});
  return table;
}

}  // namespace contend
