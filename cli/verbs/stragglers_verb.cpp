#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "sim/error.hpp"
#include "traces/step_timeline.hpp"

#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

using Chosen = std::function<bool(const StepOp&)>;

struct Part {
  std::string name;
  Chosen chosen;
};

std::vector<Part> parts_of(const WhatIf& job) {
  std::vector<Part> parts;
  for (int stage = 0; stage < job.stages(); ++stage)
    parts.push_back({fmt::format("stage {}", stage), [stage](const StepOp& op) { return op.stage == stage; }});
  for (int replica = 0; replica < job.replicas(); ++replica)
    parts.push_back(
        {fmt::format("replica {}", replica), [replica](const StepOp& op) { return op.replica == replica; }});
  for (int replica = 0; job.replicas() > 1 && job.stages() > 1 && replica < job.replicas(); ++replica) {
    for (int stage = 0; stage < job.stages(); ++stage)
      parts.push_back({fmt::format("stage {} of replica {}", stage, replica),
                       [stage, replica](const StepOp& op) { return op.stage == stage && op.replica == replica; }});
  }
  for (std::size_t k = 0; k < kStepOpKinds; ++k) {
    const auto kind = static_cast<StepOpKind>(k);
    parts.push_back({std::string{to_string(kind)}, [kind](const StepOp& op) { return op.kind == kind; }});
  }
  return parts;
}

}  // namespace

int stragglers_verb(const Arguments& arguments) {
  const std::string& path = arguments.positionals().front();
  std::vector<StepOp> ops = read_step_timeline(path);
  if (ops.empty())
    throw InputError{{.file = path,
                      .reason = "has no operation of a step",
                      .hint = "steps are events with `ph: X` and the step in `args`"}};
  const WhatIf job{std::move(ops)};
  print_output("{} steps of {} replicas with {} stages\n", job.steps(), job.replicas(), job.stages());
  print_output("  measured                {:.6f} s a step\n", job.measured_s());
  print_output("  replayed                {:.6f} s, without launch delays\n", job.replayed_s());
  print_output("  without stragglers      {:.6f} s\n", job.ideal_s());
  print_output("  slowdown                {:.4f}\n\n", job.slowdown());
  Table table{{"part", "slowdown by it alone", "mended without it"}};
  for (const Part& part : parts_of(job)) {
    table.add({part.name, fmt::format("{:.4f}", job.only_s(part.chosen) / job.ideal_s()),
               fmt::format("{:.1f}%", kPercent * job.mended_by(part.chosen))});
  }
  print_output("{}", table.text());
  return kExitOk;
}

}  // namespace contend
