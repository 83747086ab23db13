#include "sim/use_log.hpp"

#include "sim/cluster.hpp"
#include "sim/engine_state.hpp"
#include "sim/job_body.hpp"

#include <algorithm>

namespace contend {
namespace {

bool reserves_part(std::int32_t share) {
  return share > 0 && share < kWholeGpu;
}

}  // namespace

void UseLog::begin(std::span<const GpuId> gpus, std::int32_t share, Time now) {
  if (reserves_part(share)) return;
  for (const GpuId id : gpus)
    if (OfGpu& gpu = gpus_[id.index()]; gpu.holders++ == 0) gpu.since = now;
}

void UseLog::end(HeldSpan span, std::span<const GpuId> gpus, std::span<const OfType> types, std::int32_t share,
                 std::optional<GpuTime> executed) {
  const bool is_part = reserves_part(share);
  const Time length = span.until - span.since, each = is_part ? reserved_part(length, share) : length;
  for (const GpuId id : gpus) {
    OfGpu& gpu = gpus_[id.index()];
    if (is_part)
      gpu.held += each;
    else if (--gpu.holders == 0)
      gpu.held += span.until - gpu.since;
  }
  GpuTime left;
  if (executed) {
    left = *executed - executed_[span.job.index()];
    executed_[span.job.index()] = *executed;
  }
  if (length <= Time{}) return;
  auto others = static_cast<int>(gpus.size());
  for (const OfType& of : types) {
    span.type = of.type;
    span.held = GpuTime{each, of.gpus};
    // The ranks of a graph compute alike, and what doesn't divide is the last type's.
    span.computed = executed ? GpuTime::nanoseconds(left.ns() * of.gpus / others) : span.held;
    spans_.push_back(span);
    left -= span.computed;
    others -= of.gpus;
  }
}

void log_use(const EngineState& state, JobId job, UseLog& log) {
  const JobRun& run = state.jobs[job.index()];
  std::vector<UseLog::OfType> types;
  for (const GpuId gpu : run.gpus) {
    const std::int32_t type = state.server_types.empty() ? -1 : state.server_types[state.server_of(gpu).index()];
    auto known = std::ranges::find(types, type, &UseLog::OfType::type);
    if (known == types.end()) known = types.insert(known, {type, 0});
    ++known->gpus;
  }
  log.end({job, -1, run.since, state.clock, {}, {}}, run.gpus, types, RankDemand{*run.spec}.share,
          run.body->executed(run));
}

}  // namespace contend
