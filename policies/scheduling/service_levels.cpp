// Least attained service first, in levels. `las`: levels of equal width, as fine as one likes. `dlas` and `dlas-gpu`:
// the few queues of Tiresias (Gu et al., NSDI 2019, section 4.2, discretized 2D-LAS), by time on the GPUs or by GPU
// time. Tiresias' PROMOTEKNOB is `promote`.

#include "policies/factories.hpp"
#include "policies/scheduling/level_policy.hpp"
#include "sim/error.hpp"

#include <cmath>

#include <fmt/core.h>

namespace contend {

namespace {

Time seconds(double s) {
  return Time::ceil_nanoseconds(s * 1e9);
}

class EqualLevels final : public LevelPolicy {
 public:
  EqualLevels(const Options& options, Time width) : LevelPolicy{options}, width_{width} {}

 private:
  [[nodiscard]] Time limit(std::int64_t level) const override { return width_ * (level + 1); }
  [[nodiscard]] std::int64_t level_at(Time attained, std::int64_t) const override {
    return attained.ns() / width_.ns();
  }

  Time width_;
};

class Queues final : public LevelPolicy {
 public:
  Queues(const Options& options, std::vector<Time> limits) : LevelPolicy{options}, limits_{std::move(limits)} {}

 private:
  [[nodiscard]] Time limit(std::int64_t level) const override {
    const auto index = static_cast<std::size_t>(level);
    return index < limits_.size() ? limits_[index] : Time::never();
  }

  std::vector<Time> limits_;
};

std::unique_ptr<SchedulingPolicy> make_queues(const Parameters& parameters, bool gpu_time) {
  LevelPolicy::Options options{gpu_time, parameters.get<double>("promote"), {}};
  options.rules.list_order = parameters.get<bool>("list_order");
  options.rules.whole_seconds = parameters.get<bool>("whole_seconds");
  options.rules.single_step = parameters.get<bool>("single_step");
  options.rules.late_wakeup = gpu_time && parameters.get<bool>("late_wakeup");
  std::vector<Time> limits;
  const auto queues = static_cast<std::size_t>(parameters.get<std::int64_t>("queues"));
  for (std::size_t i = 1; i < queues; ++i) {
    const double limit = parameters.get<double>(fmt::format("limit_{}_s", i));
    if (!limits.empty() && seconds(limit) <= limits.back()) {
      throw InputError{fmt::format("policies.scheduling.limit_{}_s: expected more than limit_{}_s, which is {}, got {}",
                                   i, i - 1, limits.back().to_seconds(), limit)};
    }
    limits.push_back(seconds(limit));
  }
  return std::make_unique<Queues>(options, std::move(limits));
}

}  // namespace

std::unique_ptr<SchedulingPolicy> make_las(const Parameters& parameters, const PolicyContext&) {
  const LevelPolicy::Options options{parameters.get<bool>("gpu_time"), parameters.get<double>("promote"), {}};
  return std::make_unique<EqualLevels>(options, seconds(parameters.get<double>("slice_s")));
}

std::unique_ptr<SchedulingPolicy> make_dlas(const Parameters& parameters, const PolicyContext&) {
  return make_queues(parameters, false);
}

std::unique_ptr<SchedulingPolicy> make_dlas_gpu(const Parameters& parameters, const PolicyContext&) {
  return make_queues(parameters, true);
}

}  // namespace contend
