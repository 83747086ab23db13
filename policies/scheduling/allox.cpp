// AlloX gives jobs of one GPU to types of GPUs so that the sum of completion times is least (Le et al., EuroSys 2020,
// section 4, as in Gavel's released code). On a GPU the k-th job from the last delays k jobs, itself included, so it
// costs k times its own time there. Waiting jobs and positions on free GPUs are matched at the least cost. Of the jobs
// of a GPU the first to run starts; the others are matched anew at the next decision. Jobs that run are never moved.
// Which jobs of equal positions have the same GPU makes no difference to the sum; the oldest of them start first.

#include "policies/registry.hpp"
#include "policies/scheduling/position_matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kSlowest = 1e-10;    // the rate where a job can't run
constexpr double kLeastLeft = 1e-12;  // seconds, of a job that is as good as done

class Allox final : public SchedulingPolicy {
 public:
  Allox(double alpha, std::size_t most) : alpha_{alpha}, most_{most} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }

  void queued(const JobView& job) override { (job.gpus == 1 ? waiting_ : gangs_)[{job.submit, job.tie}] = job.id; }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    for (auto at = gangs_.begin(); at != gangs_.end();)
      at = actions.start(at->second) ? gangs_.erase(at) : std::next(at);
    std::set<std::int32_t> owners;  // virtual clusters with servers of their own; -1: all other servers
    for (const auto& [key, id] : waiting_) owners.insert(owner_of(cluster, cluster.job(id)));
    for (const std::int32_t owner : owners) start_on_servers_of(cluster, actions, owner);
    if (!actions.recording()) return;
    for (const auto* jobs : {&waiting_, &gangs_})
      for (const auto& [key, job] : *jobs) actions.blocked(job, Why::no_gpus);
  }

 private:
  /// Free GPUs of one type.
  struct Slot {
    std::int32_t type = 0;
    std::size_t gpus = 0;
  };
  static std::int32_t owner_of(const ClusterView& cluster, const JobView& job) {
    return cluster.owns_servers(job.vc) ? job.vc : -1;
  }

  void start_on_servers_of(const ClusterView& cluster, SchedulingActions& actions, std::int32_t owner) {
    std::vector<Slot> slots;
    const std::size_t free = free_places(cluster, owner, slots);
    if (free == 0) return;
    std::vector<JobId> ids;
    for (const auto& [key, id] : waiting_) {
      const JobView job = cluster.job(id);
      if (owner_of(cluster, job) == owner && cluster.quota_left(job.vc) > 0) ids.push_back(id);
    }
    const auto share = static_cast<std::size_t>(std::ceil(alpha_ * static_cast<double>(ids.size())));
    ids.resize(std::min({ids.size(), std::max(share, free), most_}));
    if (ids.empty()) return;
    for (const auto& [job, type] : match(cluster, slots, ids)) {
      const JobView view = cluster.job(job);
      if (actions.start_on(job, type)) waiting_.erase({view.submit, view.tie});
    }
  }

  static std::size_t free_places(const ClusterView& cluster, std::int32_t owner, std::vector<Slot>& slots) {
    std::size_t all = 0;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(cluster.types()); ++t) {
      const int free = cluster.free_gpus_on(owner, t);
      if (free <= 0) continue;
      slots.push_back({t, static_cast<std::size_t>(free)});
      all += static_cast<std::size_t>(free);
    }
    return all;
  }

  /// The jobs that start now, and on which type.
  static std::vector<std::pair<JobId, std::int32_t>> match(const ClusterView& cluster, const std::vector<Slot>& slots,
                                                           const std::vector<JobId>& ids) {
    std::vector<double> takes;
    std::vector<char> can_run;
    for (const JobId id : ids) {
      const JobView job = cluster.job(id);
      const double left_s = std::max(kLeastLeft, job.remaining_service.to_seconds());
      for (const Slot& slot : slots) {
        const double speed = cluster.speed_on(job, slot.type);
        takes.push_back(left_s / (speed > 0 ? speed : kSlowest));
        can_run.push_back(speed > 0 ? 1 : 0);
      }
    }
    std::vector<std::size_t> gpus;
    for (const Slot& slot : slots) gpus.push_back(slot.gpus);
    const std::vector<Position> positions = match_positions(takes, gpus);
    // By type and position, the first to run in front: the jobs there, of which the youngest share GPUs with the jobs
    // of the positions before.
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>, std::greater<>> lists;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (can_run[i * slots.size() + positions[i].type] != 0)
        lists[{positions[i].type, positions[i].from_last}].push_back(i);
    std::vector<std::size_t> taken(slots.size());  // GPUs that have a first job
    std::vector<std::pair<JobId, std::int32_t>> starts;
    for (const auto& [place, jobs] : lists) {
      std::size_t& already = taken[place.first];
      for (std::size_t n = 0; n + already < jobs.size(); ++n)
        starts.emplace_back(ids[jobs[n]], slots[place.first].type);
      already = std::max(already, jobs.size());
    }
    std::ranges::stable_sort(starts, {}, &std::pair<JobId, std::int32_t>::second);
    return starts;
  }

  double alpha_;
  std::size_t most_;
  std::map<std::pair<Time, std::int64_t>, JobId> waiting_, gangs_;  // by submission, then tie
};

std::unique_ptr<SchedulingPolicy> make_allox(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Allox>(parameters.get<double>("alpha"),
                                 static_cast<std::size_t>(parameters.get<std::int64_t>("window")));
}

}  // namespace

PolicyRow<SchedulingPolicy> allox_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"alpha", 1.0, 0, 1,
       "share of the waiting jobs, the oldest first, that a decision matches; or as many as GPUs are free"},
      {"window", std::int64_t{500}, 1, 100'000,
       "the most jobs that a decision matches; its time grows with more than the square of this number"}};
  return {.name = "allox",
          .summary = "jobs of one GPU on the types that make the sum of completion times least",
          .source = "Le et al., EuroSys 2020",
          .parameters = kParameters,
          .make = make_allox};
}

}  // namespace contend
