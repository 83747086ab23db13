// Least attained service first, in levels. The levels of `las` have equal width, as small as desired. `dlas` and
// `dlas-gpu` have the few queues of Tiresias (Gu et al., NSDI 2019, section 4.2, discretized 2D-LAS), by time on the
// GPUs or by GPU time. `promote` is the PROMOTEKNOB of Tiresias.

#include "policies/registry.hpp"
#include "policies/scheduling/level_policy.hpp"
#include "sim/error.hpp"

#include <optional>

#include <fmt/core.h>

namespace contend {

namespace {

GpuTime seconds(double s) {
  return {Time::ceil_nanoseconds(s * 1e9), 1};
}

class EqualLevels final : public LevelPolicy {
 public:
  EqualLevels(const Options& options, GpuTime width) : LevelPolicy{options}, width_{width} {}

 private:
  [[nodiscard]] std::optional<GpuTime> level_width() const override { return width_; }
  [[nodiscard]] GpuTime limit(std::int64_t level) const override { return width_ * (level + 1); }
  [[nodiscard]] std::int64_t level_at(GpuTime attained, std::int64_t) const override {
    return static_cast<std::int64_t>(attained.ns() / width_.ns());
  }

  GpuTime width_;
};

class Queues final : public LevelPolicy {
 public:
  Queues(const Options& options, std::vector<GpuTime> limits) : LevelPolicy{options}, limits_{std::move(limits)} {}

 private:
  [[nodiscard]] GpuTime limit(std::int64_t level) const override {
    const auto index = static_cast<std::size_t>(level);
    return index < limits_.size() ? limits_[index] : GpuTime::unlimited();
  }

  std::vector<GpuTime> limits_;
};

std::unique_ptr<SchedulingPolicy> make_queues(const Parameters& parameters, bool gpu_time) {
  LevelPolicy::Options options{gpu_time, parameters.get<double>("promote"), {}, parameters.get<bool>("migrate")};
  options.rules.list_order = parameters.get<bool>("list_order");
  options.rules.whole_seconds = parameters.get<bool>("whole_seconds");
  options.rules.single_step = parameters.get<bool>("single_step");
  options.rules.late_wakeup = gpu_time && parameters.get<bool>("late_wakeup");
  std::vector<GpuTime> limits;
  const auto queues = static_cast<std::size_t>(parameters.get<std::int64_t>("queues"));
  for (std::size_t i = 1; i < queues; ++i) {
    const double limit = parameters.get<double>(fmt::format("limit_{}_s", i));
    if (!limits.empty() && seconds(limit) <= limits.back()) {
      throw InputError{Complaint{.key = fmt::format("policies.scheduling.limit_{}_s", i),
                                 .reason = fmt::format("expected more than limit_{}_s, which is {:.12g}, got {:.12g}",
                                                       i - 1, limits.back().to_seconds(), limit)}};
    }
    limits.push_back(seconds(limit));
  }
  return std::make_unique<Queues>(options, std::move(limits));
}

std::unique_ptr<SchedulingPolicy> make_las(const Parameters& parameters, const PolicyContext&) {
  const LevelPolicy::Options options{
      parameters.get<bool>("gpu_time"), parameters.get<double>("promote"), {}, parameters.get<bool>("migrate")};
  return std::make_unique<EqualLevels>(options, seconds(parameters.get<double>("slice_s")));
}

std::unique_ptr<SchedulingPolicy> make_dlas(const Parameters& parameters, const PolicyContext&) {
  return make_queues(parameters, false);
}

std::unique_ptr<SchedulingPolicy> make_dlas_gpu(const Parameters& parameters, const PolicyContext&) {
  return make_queues(parameters, true);
}

constexpr ParameterInfo kPromote{
    "promote", 0.0, 0, 1e6,
    "a job that has waited this many times as long as it has run counts as new again; 0: never"};
constexpr ParameterInfo kQueueParameters[] = {
    {"queues", std::int64_t{3}, 1, 4, "number of queues"},
    {"limit_1_s", 3250.0, 1e-3, 1e9, "service with which a job leaves the first queue, in seconds"},
    {"limit_2_s", 7200.0, 1e-3, 1e9,
     "service with which a job leaves the second queue, if that is not the last, in seconds"},
    {"limit_3_s", 18000.0, 1e-3, 1e9,
     "service with which a job leaves the third queue, if that is not the last, in seconds"},
    kPromote,
    {"list_order", false, 0, 0,
     "as in Tiresias' simulator: in a queue, jobs that were running go first, instead of those submitted first"},
    {"late_wakeup", false, 0, 0, "as in Tiresias' simulator: dlas-gpu checks for demotions too late"},
    {"whole_seconds", false, 0, 0, "as in Tiresias' simulator: demotions only at whole seconds"},
    {"single_step", false, 0, 0, "as in Tiresias' simulator: at most one demotion of a job at an event"},
    kMigrate};

}  // namespace

PolicyRow<SchedulingPolicy> las_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"gpu_time", true, 0, 0, "service is GPU time; false: time on the GPUs, however many"},
      {"slice_s", 3250.0, 1e-3, 1e9,
       "length of a slice, in seconds of service: a job that is in a later slice gives way"},
      kPromote,
      kMigrate};
  return {.name = "las",
          .summary = "least attained service first",
          .source = "Nuyens, Wierman, Perform. Eval. 2008; Tiresias",
          .parameters = kParameters,
          .make = make_las};
}

PolicyRow<SchedulingPolicy> dlas_scheduling() {
  return {.name = "dlas",
          .summary = "a few queues by time on the GPUs; the first queue goes first",
          .source = "Gu et al., NSDI 2019 (Tiresias)",
          .parameters = kQueueParameters,
          .make = make_dlas};
}

PolicyRow<SchedulingPolicy> dlas_gpu_scheduling() {
  return {.name = "dlas-gpu",
          .summary = "a few queues by attained GPU time; the first queue goes first",
          .source = "Gu et al., NSDI 2019 (Tiresias)",
          .parameters = kQueueParameters,
          .make = make_dlas_gpu};
}

}  // namespace contend
