// The 2D Gittins index of Tiresias (Gu et al., NSDI 2019, section 4.3) assumes that the service S of jobs follows a
// known distribution. The job with the largest index goes first: the one with the best chance to end within a quantum
// of service, per service invested in it:
//   G(a) = P(S - a <= q | S > a) / E[min(S - a, q) | S > a],  a: attained GPU time, q: quantum.
// The policy takes the distribution from the GPU time of the jobs that have ended, restarts included. Until `warm_up`
// jobs have ended, it falls back to least attained service. A failed attempt is no end, nor is a job that is given up.

#include "policies/registry.hpp"
#include "policies/scheduling/level_policy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace contend {

namespace {

class Gittins final : public LevelPolicy {
 public:
  Gittins(GpuTime quantum, std::int64_t warm_up, bool migrate)
      : LevelPolicy{{true, 0, {}, migrate}}, quantum_{quantum}, next_fit_{static_cast<std::size_t>(warm_up)} {}

 private:
  static constexpr std::int64_t kLevels = 10'000;               // the last level has no limit
  static constexpr PolicyKey kNeverSeen = PolicyKey{1} << 120;  // key of levels in or beyond which no job has ended

  [[nodiscard]] std::optional<GpuTime> level_width() const override { return quantum_; }
  [[nodiscard]] GpuTime limit(std::int64_t level) const override {
    return level + 1 < kLevels ? quantum_ * (level + 1) : GpuTime::unlimited();
  }
  [[nodiscard]] PolicyKey level_key(std::int64_t level) const override {
    const auto index = static_cast<std::size_t>(level);
    if (index < cost_.size()) return cost_[index];
    return cost_.empty() ? level : kNeverSeen + level;
  }
  void job_left(const WalkJob& job) override {
    LevelPolicy::job_left(job);
    left_.push_back(job.view.id);
  }
  [[nodiscard]] bool keys_changed(const ClusterView& cluster) override;

  GpuTime quantum_;
  std::size_t next_fit_;
  std::vector<JobId> left_;  // since the last pass: they ended, or an attempt of them failed
  std::vector<GpuTime> services_;
  std::vector<PolicyKey> cost_;  // by level: 1 / G, in ns of GPU time for each job that ends
};

/// Computes the index again each time the number of ended jobs has grown by a quarter.
bool Gittins::keys_changed(const ClusterView& cluster) {
  for (const JobId id : std::exchange(left_, {})) {
    const JobView job = cluster.job(id);
    if (job.finished) services_.push_back(job.attained_service);  // else an attempt failed
  }
  if (services_.size() < next_fit_) return false;
  next_fit_ = services_.size() + (services_.size() + 3) / 4;
  std::sort(services_.begin(), services_.end());
  cost_.clear();
  std::size_t first = 0, last = 0;  // the jobs [first, last) end within the quantum of the level
  double invested = 0;              // their total service
  for (std::int64_t level = 0; level < kLevels; ++level) {
    const GpuTime from = quantum_ * level, to = quantum_ * (level + 1);
    while (last < services_.size() && services_[last] <= to) invested += services_[last++].to_seconds();
    while (first < last && services_[first] <= from) invested -= services_[first++].to_seconds();
    if (first == services_.size()) break;
    const auto ending = static_cast<double>(last - first);
    const double cost =
        invested - ending * from.to_seconds() + static_cast<double>(services_.size() - last) * quantum_.to_seconds();
    cost_.push_back(last == first ? kNeverSeen : static_cast<PolicyKey>(std::floor(cost / ending * 1e9)));
  }
  return true;
}

std::unique_ptr<SchedulingPolicy> make_gittins(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Gittins>(GpuTime{Time::ceil_nanoseconds(parameters.get<double>("quantum_s") * 1e9), 1},
                                   parameters.get<std::int64_t>("warm_up"), parameters.get<bool>("migrate"));
}

}  // namespace

PolicyRow<SchedulingPolicy> gittins_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"quantum_s", 3250.0, 1e-3, 1e9, "GPU time that is invested in a job at a time, in seconds"},
      {"warm_up", std::int64_t{100}, 1, 1e9, "number of jobs that must have ended before their distribution is used"},
      kMigrate};
  return {
      .name = "gittins",
      .summary = "the job with the best chance to end per GPU time invested, estimated from the jobs that have ended",
      .source = "Gu et al., NSDI 2019 (Tiresias)",
      .parameters = kParameters,
      .make = make_gittins};
}

}  // namespace contend
