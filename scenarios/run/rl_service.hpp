#pragma once
// The service of a job (sim/service.hpp) that is post-trained by RL (models/serving/rl/rl_loop.hpp).

#include "models/serving/rl/rl_loop.hpp"
#include "scenarios/run/replica_times.hpp"
#include "sim/service.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace contend {

/// What such a job does. The first ranks answer, `gpus_per_replica` for each replica; those from `first_trainer` on
/// train, which are all ranks if both sides take turns on one set of GPUs.
struct RlPlan {
  RlSpec spec;
  FleetSpec pool;
  int gpus_per_replica = 1;
  std::size_t first_trainer = 0;
  Time alone;  ///< that it takes if nothing disturbs it
};

/// The time of such a loop from its begin to its end.
[[nodiscard]] Time time_alone(const RlSpec& spec, const FleetSpec& pool);

class RlService final : public Service {
 public:
  RlService(std::shared_ptr<const RlPlan> plan, Time submitted);

  void begin(Time now) override;
  [[nodiscard]] Time next() const override { return next_; }
  void advance(Time now) override;
  [[nodiscard]] bool done() const override { return loop_.is_over(); }
  [[nodiscard]] Time earliest_end() const override { return earliest_end_; }
  bool lose(Time now) override;
  [[nodiscard]] Time busy(std::size_t rank, Time now) const override;
  [[nodiscard]] ServiceReport report(Time now) override;

 private:
  std::shared_ptr<const RlPlan> plan_;
  RlLoop loop_;
  ReplicaTimes times_;
  Time next_ = Time::never(), earliest_end_;
  std::int64_t given_before_ = 0;  // tokens, at the last begin()
  Time trained_before_;            // at the last begin()
  bool is_lost_ = true;            // it holds no GPUs
};

}  // namespace contend
