// Consolidated-or-wait is delay scheduling (Zaharia et al., EuroSys 2010, section 3). A job takes servers as
// `consolidated` does. If there are none, the job waits for them, but no longer than `patience`. Then it takes any free
// GPUs on the fewest servers, the emptiest first. Philly relaxes locality in the same way (Jeon et al., USENIX ATC
// 2019, section 3.1.1).

#include "policies/placement/gang.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <climits>
#include <set>
#include <utility>
#include <vector>

namespace contend {

namespace {

class ConsolidatedOrWait final : public PlacementPolicy {
 public:
  explicit ConsolidatedOrWait(Time patience) : patience_{patience} {}
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }

  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, false, chosen);
    place_gang(cluster, job, &FreeServers::fullest, &FreeServers::fullest, chosen);
    if (chosen.empty() && cluster.now() >= end_of_patience(job)) scatter(cluster, job, chosen);
  }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    plan(cluster, job, chosen);
    if (asks_for_share(job)) return;
    const Time end = end_of_patience(job);
    const std::pair<Time, JobId> deadline{end, job.id};
    if (!chosen.empty()) {
      deadlines_.erase(deadline);
    } else if (cluster.now() < end && end < Time::never()) {
      deadlines_.insert(deadline);
    }
  }

  Time next_decision(const ClusterView& cluster) override {
    while (!deadlines_.empty() && deadlines_.begin()->first <= cluster.now()) deadlines_.erase(deadlines_.begin());
    return deadlines_.empty() ? Time::never() : deadlines_.begin()->first;
  }

 private:
  /// A deadline that is not representable is never reached.
  [[nodiscard]] Time end_of_patience(const JobView& job) const {
    return job.since > Time::never() - patience_ ? Time::never() : job.since + patience_;
  }
  static void scatter(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) {
    FreeServers servers{cluster, job};
    std::vector<ServerId> found;
    servers.emptiest_first(INT_MAX, job.gpus, found);
    int left = job.gpus;
    for (const ServerId server : found) {
      const int count = std::min(left, servers.room(server));
      servers.take(server, count, chosen);
      left -= count;
    }
    if (left > 0) chosen.clear();
  }

  Time patience_;
  std::set<std::pair<Time, JobId>> deadlines_;  // deadlines of refused jobs that may still be waiting
};

std::unique_ptr<PlacementPolicy> make_consolidated_or_wait(const Parameters& parameters, const PolicyContext&) {
  constexpr double kNanoseconds = 1e9;
  return std::make_unique<ConsolidatedOrWait>(
      Time::ceil_nanoseconds(parameters.get<double>("patience_s") * kNanoseconds));
}

}  // namespace

PolicyRow<PlacementPolicy> consolidated_or_wait_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"patience_s", 300.0, 0, 1e9,
       "longest time, in s, that a job waits for consolidated servers before it takes any GPUs"}};
  return {.name = "consolidated-or-wait",
          .summary = "as consolidated; a job that has waited long enough takes any GPUs, on the fewest servers",
          .source = "Zaharia et al., EuroSys 2010; Jeon et al., ATC 2019",
          .parameters = kParameters,
          .make = make_consolidated_or_wait};
}

}  // namespace contend
