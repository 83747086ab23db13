#pragma once
// Slowness keeps what slows GPUs and servers down at present (Slowdown in sim/failure_spec.hpp) and makes tasks and
// transfers take accordingly longer, those in progress from now on. Of several causes on one GPU, or on one server, the
// slowest counts.
//
// A task that is in progress when the pace of its GPU changes has its rest stretched or shortened, rounded up to the
// nanosecond. So what happens does not depend on cells, and leaping stays exact: a group forgets the state that it has
// saved when a pace changes on its servers, and none leaps beyond the next change.

#include "sim/engine_state.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

class Slowness {
 public:
  /// Throws InputError if the run has slowdowns and something that can't be slowed: jobs with a duration, interference,
  /// or a network model without NetworkModel::slow_down.
  explicit Slowness(EngineState& state);

  /// GPUs first, ..., last - 1 and their servers are slowed from now on, or no longer.
  void begin(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown);
  void end(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown);
  /// Makes the tasks and transfers in progress go at the paces of this instant.
  void settle();
  /// Jobs on GPUs or servers whose pace has changed since this was called last, some more than once; without Mitigation
  /// none.
  [[nodiscard]] std::vector<JobId> take_affected() { return std::exchange(affected_, {}); }

 private:
  using Causes = std::vector<std::int32_t>;
  using Change = void (*)(Causes&, std::int32_t factor);

  void change(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown, Change how);

  EngineState& state_;
  std::vector<Causes> of_gpu_, of_server_;
  std::vector<GpuId> changed_gpus_;
  std::vector<ServerId> changed_servers_;
  std::vector<JobId> affected_;
};

}  // namespace contend
