#pragma once
// QuietObserver ignores all decisions, so that an observer of a test names only the decisions that it looks at.

#include "sim/scheduling.hpp"

#include <span>
#include <string_view>

namespace contend::test {

class QuietObserver : public DecisionObserver {
 public:
  void queued(Time, JobId) override {}
  void started(Time, JobId, std::span<const GpuId>, Time) override {}
  void preempted(Time, JobId, JobId) override {}
  void ended(Time, JobId, bool) override {}
  void rejected(Time, JobId, std::string_view) override {}
  void blocked(Time, JobId, Why, JobId) override {}
};

}  // namespace contend::test
