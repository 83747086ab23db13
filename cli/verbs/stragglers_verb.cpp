#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"
#include "traces/step_timeline.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

using Chosen = std::function<bool(const StepOp&)>;

/// A part of a job, what the job loses by it, and how much of the lost time goes without it.
struct Part {
  std::string_view kind;  ///< `stage`, `replica`, `worker` or `operation`
  std::string name;
  double slowdown, mended;
};

/// Stages and replicas of which there is one are the whole job, and no part.
std::vector<Part> parts_of(const WhatIf& job) {
  std::vector<Part> parts;
  const auto add = [&](std::string_view kind, std::string name, const Chosen& chosen) {
    parts.push_back({kind, std::move(name), job.only_s(chosen) / job.ideal_s(), job.mended_by(chosen)});
  };
  for (int stage = 0; job.stages() > 1 && stage < job.stages(); ++stage)
    add("stage", fmt::format("stage {}", stage), [=](const StepOp& op) { return op.stage == stage; });
  for (int replica = 0; job.replicas() > 1 && replica < job.replicas(); ++replica)
    add("replica", fmt::format("replica {}", replica), [=](const StepOp& op) { return op.replica == replica; });
  for (int replica = 0; job.replicas() > 1 && job.stages() > 1 && replica < job.replicas(); ++replica) {
    for (int stage = 0; stage < job.stages(); ++stage)
      add("worker", fmt::format("stage {} of replica {}", stage, replica),
          [=](const StepOp& op) { return op.stage == stage && op.replica == replica; });
  }
  for (std::size_t k = 0; k < kStepOpKinds; ++k) {
    const auto kind = static_cast<StepOpKind>(k);
    add("operation", std::string{to_string(kind)}, [=](const StepOp& op) { return op.kind == kind; });
  }
  return parts;
}

/// The source calls a job one with stragglers from a slowdown of 1.1 on, and explained by what mends half of it.
std::string verdict_of(const WhatIf& job, const std::vector<Part>& parts) {
  constexpr double kStraggles = 1.1, kExplains = 0.5;
  const std::string slow = fmt::format("A step takes {:.4f} times as long as without stragglers", job.slowdown());
  if (job.slowdown() < kStraggles) return slow + ", less than 1.1 times: the job has none to speak of.";
  const Part* most = nullptr;  // of those that mend as much, the smallest: workers come last
  for (const Part& part : parts)
    if (part.kind != "operation" && (most == nullptr || part.mended >= most->mended)) most = &part;
  if (most == nullptr) return slow + "; it is a single worker.";
  if (most->mended < kExplains)
    return fmt::format(
        "{}, and no stage, replica or worker explains half of that: without {}, {:.1f}% of the lost time goes.", slow,
        most->name, kPercent * most->mended);
  return fmt::format("{}, and {} explains it: without the delays there, {:.1f}% of the lost time goes.", slow,
                     most->name, kPercent * most->mended);
}

std::string text_of(const WhatIf& job, const std::vector<Part>& parts) {
  constexpr std::ptrdiff_t kShown = 8;  // of a kind
  std::string out = fmt::format("{} steps of {} replicas with {} stages\n", job.steps(), job.replicas(), job.stages());
  out += fmt::format("  measured                {:.6f} s a step\n", job.measured_s());
  out += fmt::format("  replayed                {:.6f} s, without launch delays\n", job.replayed_s());
  out += fmt::format("  without stragglers      {:.6f} s\n", job.ideal_s());
  out += fmt::format("  slowdown                {:.4f}\n\n", job.slowdown());
  Table table{{"part", "slowdown by it alone", "mended without it"}};
  for (const Part& part : parts) {
    const auto mends_more = [&](const Part& other) { return other.kind == part.kind && other.mended > part.mended; };
    if (part.kind != "operation" && std::ranges::count_if(parts, mends_more) >= kShown) continue;
    table.add({part.name, fmt::format("{:.4f}", part.slowdown), fmt::format("{:.1f}%", kPercent * part.mended)});
  }
  return out +
         fmt::format("{}\nOf stages, replicas and workers those that mend most, {} of each; --json has all.\n{}\n",
                     table.text(), kShown, verdict_of(job, parts));
}

std::string json_of(const WhatIf& job, const std::vector<Part>& parts) {
  JsonWriter json;
  json.begin_object().member("steps", static_cast<std::int64_t>(job.steps())).member("replicas", job.replicas());
  json.member("stages", job.stages()).member("measured_s", job.measured_s()).member("replayed_s", job.replayed_s());
  json.member("ideal_s", job.ideal_s()).member("slowdown", job.slowdown()).member("verdict", verdict_of(job, parts));
  json.key("parts").begin_array();
  for (const Part& part : parts)
    json.begin_object()
        .member("kind", part.kind)
        .member("name", part.name)
        .member("slowdown", part.slowdown)
        .member("mended", part.mended)
        .end_object();
  return json.end_array().end_object().take();
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
  const std::vector<Part> parts = parts_of(job);
  print_output("{}", arguments.has("json") ? json_of(job, parts) : text_of(job, parts));
  return kExitOk;
}

}  // namespace contend
