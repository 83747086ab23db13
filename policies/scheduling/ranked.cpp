// Ranked orders jobs by a key that does not change with time. The policies fit-first, smallest-first and priority have
// different keys.

#include "policies/registry.hpp"
#include "policies/scheduling/walk_policy.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace contend {

namespace {

class Ranked final : public WalkPolicy {
 public:
  using Key = std::function<PolicyKey(const JobView&)>;
  Ranked(Key key, bool preemptive, bool migrate = false)
      : key_{std::move(key)}, preemptive_{preemptive}, migrate_{migrate} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return key_(job); }

 private:
  Rank waiting_rank(WalkJob& job) override { return {key_(job.view), 1, job.view.tie, job.view.id}; }
  MovingRank running_rank(WalkJob&, const Rank& waiting) override {
    // Without preemption the running jobs go before all waiting jobs.
    return {{preemptive_ ? waiting.key : kBeforeAll, 0, waiting.label, waiting.job}, 0};
  }

  [[nodiscard]] bool is_preemptive() const override { return preemptive_; }
  [[nodiscard]] bool migrates() const override { return migrate_; }

  static constexpr PolicyKey kBeforeAll = PolicyKey{INT64_MIN} * INT32_MAX;

  Key key_;
  bool preemptive_, migrate_;
};

constexpr std::string_view kGivesWay = "a queued job may preempt running ones";

std::unique_ptr<SchedulingPolicy> make_fit_first(const Parameters&, const PolicyContext&) {
  return std::make_unique<Ranked>([](const JobView& job) { return job.submit.ns(); }, false);
}

std::unique_ptr<SchedulingPolicy> make_smallest_first(const Parameters& parameters, const PolicyContext&) {
  const bool preemptive = parameters.get<bool>("preemptive"), migrate = parameters.get<bool>("migrate");
  if (migrate && !preemptive) {
    throw InputError{
        Complaint{.key = "policies.scheduling.migrate", .reason = "it has an effect only with `preemptive: true`"}};
  }
  return std::make_unique<Ranked>([](const JobView& job) { return job.gpus; }, preemptive, migrate);
}

/// With `aging_s` a job gains a unit of priority each time that so many seconds have passed since its submission. All
/// jobs age alike, so the order of two jobs never changes: it is the order of submit - priority x aging.
std::unique_ptr<SchedulingPolicy> make_priority(const Parameters& parameters, const PolicyContext&) {
  const Time aging = Time::ceil_nanoseconds(parameters.get<double>("aging_s") * 1e9);
  const auto key = [aging](const JobView& job) -> PolicyKey {
    return aging == Time{} ? -PolicyKey{job.priority}
                           : PolicyKey{job.submit.ns()} - PolicyKey{aging.ns()} * job.priority;
  };
  return std::make_unique<Ranked>(key, parameters.get<bool>("preemptive"));
}

}  // namespace

PolicyRow<SchedulingPolicy> fit_first_scheduling() {
  return {.name = "fit-first",
          .summary = "by submission; jobs that do not fit are skipped",
          .source = "Gu et al., NSDI 2019 (Tiresias)",
          .make = make_fit_first};
}

PolicyRow<SchedulingPolicy> smallest_first_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"preemptive", false, 0, 0, kGivesWay},
      {"migrate", false, 0, 0,
       "with preemptive, in each pass in which jobs wait, place all jobs again in the order of the policy, as "
       "Tiresias' "
       "simulator does; a running job that gets other GPUs is moved, which costs what a preemption costs"}};
  return {.name = "smallest-first",
          .summary = "fewest GPUs first, then by submission",
          .source = "Gu et al., NSDI 2019 (Tiresias)",
          .parameters = kParameters,
          .make = make_smallest_first};
}

PolicyRow<SchedulingPolicy> priority_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"preemptive", true, 0, 0, kGivesWay},
      {"aging_s", 0.0, 0, 1e9, "time since submission that is worth one unit of priority, in seconds; 0: no aging"}};
  return {.name = "priority",
          .summary = "larger priority first, then by submission",
          .source = "textbook",
          .parameters = kParameters,
          .make = make_priority};
}

}  // namespace contend
