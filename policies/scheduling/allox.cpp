// AlloX gives jobs of one GPU to types of GPUs so that the sum of completion times is least (Le et al., EuroSys 2020,
// section 4, as in Gavel's released code). On a GPU the k-th job from the last delays k jobs, itself included, so it
// costs k times its own time there. Waiting jobs and places on free GPUs are matched at the least cost. Of the jobs of
// a GPU the first to run starts; the others are matched anew at the next decision. Jobs that run are never moved.

#include "network/assignment.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kSlowest = 1e-10;  // the rate where a job can't run

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
  /// A place on one of them.
  struct Place {
    std::size_t slot = 0, gpu = 0, from_last = 1;
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
    // More jobs on a GPU than its part of them, rounded up, would pay to move to another of the same type.
    std::vector<Place> places;
    for (std::size_t s = 0; s < slots.size(); ++s)
      for (std::size_t g = 0; g < slots[s].gpus; ++g)
        for (std::size_t k = 1; k <= (ids.size() + slots[s].gpus - 1) / slots[s].gpus; ++k) places.push_back({s, g, k});
    std::vector<double> costs;
    costs.reserve(ids.size() * places.size());
    std::vector<std::vector<double>> speeds;
    for (const JobId id : ids) {
      const JobView job = cluster.job(id);
      const double left_s = job.remaining_service.to_seconds(), age_s = (cluster.now() - job.submit).to_seconds();
      std::vector<double>& speed = speeds.emplace_back();
      for (const Slot& slot : slots) speed.push_back(cluster.speed_on(job, slot.type));
      for (const Place& place : places) {
        const double rate = speed[place.slot] > 0 ? speed[place.slot] : kSlowest;
        costs.push_back(static_cast<double>(place.from_last) * left_s / rate + age_s);
      }
    }
    const std::vector<std::size_t> assigned = cheapest_assignment(costs, places.size());
    std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::size_t>> first;  // by GPU: from last, job
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Place& place = places[assigned[i]];
      if (speeds[i][place.slot] <= 0) continue;
      auto& best = first.try_emplace({place.slot, place.gpu}, 0, i).first->second;
      if (place.from_last > best.first) best = {place.from_last, i};
    }
    std::vector<std::pair<JobId, std::int32_t>> starts;
    for (const auto& [gpu, job] : first) starts.emplace_back(ids[job.second], slots[gpu.first].type);
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
       "the most jobs that a decision matches; its time grows with the cube of this number"}};
  return {.name = "allox",
          .summary = "jobs of one GPU on the types that make the sum of completion times least",
          .source = "Le et al., EuroSys 2020",
          .parameters = kParameters,
          .make = make_allox};
}

}  // namespace contend
