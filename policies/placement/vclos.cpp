// vClos gives a job leaves and spines of its own, so that no other job is on its links (X. Han et al., "Isolated
// Scheduling for Distributed Training Tasks in GPU Clusters", arXiv 2308.05692; Computer Networks 2025). A job goes on
// the fullest server that has room for it, else on the leaf with the least room that has. Else it gets the fewest
// leaves that have room together and u spines whose links to all of these leaves no other job has. If there are none,
// it waits.
//
// Its GPUs are divided evenly over the leaves, whole servers of a job that needs several, as far as there is room. With
// q of them on the leaf that has most, u spines carry all that the interfaces of these can send, or `spines` do if that
// is less, or all spines there are. The router for planned paths keeps the job on them (network/clos.hpp).
//
// Of sets of equally many leaves the policy takes the first it finds, those with the most room first, and looks at
// 20,000 of them at most.

#include "network/clos.hpp"
#include "policies/placement/free_servers.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr int kMostSets = 20'000;

class VirtualClos final : public PlacementPolicy {
 public:
  /// `most` spines for a job; 0: as many as its interfaces can fill.
  VirtualClos(ClosFabric fabric, std::size_t most, std::shared_ptr<ReservedSpines> reserved)
      : fabric_{std::move(fabric)},
        most_{most},
        reserved_{std::move(reserved)},
        is_taken_(fabric_.leaves, std::vector<bool>(fabric_.spines.size(), false)) {}

  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }

  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, false, chosen);
    give_back_ended(cluster, job.id);
    FreeServers servers{cluster, job};
    if (const ServerId server = servers.fullest(job.gpus); server.valid())
      return servers.take(server, job.gpus, chosen);
    std::vector<ServerId> found;
    servers.emptiest_first(INT_MAX, INT_MAX, found);
    std::vector<Leaf> leaves(fabric_.leaves);
    for (std::uint32_t l = 0; l < fabric_.leaves; ++l) leaves[l].id = l;
    for (const ServerId server : found) leaves[fabric_.leaf[server.index()]].room += servers.room(server);
    if (const Leaf* const one = smallest(leaves, job.gpus); one != nullptr) {
      fill(servers, found, one->id, job.gpus, chosen);
      return;
    }
    std::erase_if(leaves, [](const Leaf& leaf) { return leaf.room == 0; });
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
      return std::tuple{-a.room, a.id} < std::tuple{-b.room, b.id};
    });
    needed_ = job.gpus;
    whole_ = job.gpus > servers.per_server() ? servers.per_server() : 1;
    gpu_rate_ = fabric_.server_rate / servers.per_server();
    tries_left_ = kMostSets;
    const std::vector<bool> all(fabric_.spines.size(), true);
    for (std::size_t count = 2; count <= leaves.size(); ++count) {
      set_.clear();
      if (!search(leaves, 0, count, 0, all)) continue;
      const int quota = quota_of(set_);
      int left = job.gpus;
      for (const Leaf& leaf : set_) {
        const int here = std::min({left, leaf.room, quota});
        fill(servers, found, leaf.id, here, chosen);
        left -= here;
      }
      return reserve(job.id);
    }
  }
  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const auto taken = is_taken_;
    const auto reservations = reservations_;
    const ReservedSpines reserved = *reserved_;
    place(cluster, job, chosen);
    is_taken_ = taken;
    reservations_ = reservations;
    *reserved_ = reserved;
  }

 private:
  struct Leaf {
    std::uint32_t id = 0;
    int room = 0;
  };
  struct Reservation {
    std::vector<std::uint32_t> leaves;
    std::vector<std::size_t> spines;
  };

  [[nodiscard]] static const Leaf* smallest(const std::vector<Leaf>& leaves, int needed) {
    const Leaf* best = nullptr;
    for (const Leaf& leaf : leaves)
      if (leaf.room >= needed && (best == nullptr || leaf.room < best->room)) best = &leaf;
    return best;
  }

  /// The least number of GPUs, of whole servers if it is a large job, that the leaves give each, as far as they have
  /// room, for the job to have all that it needs.
  [[nodiscard]] int quota_of(const std::vector<Leaf>& leaves) const {
    int quota = (needed_ + static_cast<int>(leaves.size()) - 1) / static_cast<int>(leaves.size());
    quota = (quota + whole_ - 1) / whole_ * whole_;
    const auto given = [&] {
      int sum = 0;
      for (const Leaf& leaf : leaves) sum += std::min(leaf.room, quota);
      return sum;
    };
    while (given() < needed_) quota += whole_;
    return quota;
  }

  /// The spines that a job with these leaves needs.
  [[nodiscard]] std::size_t spines_for(const std::vector<Leaf>& leaves) const {
    const double sent = std::min(quota_of(leaves), needed_) * gpu_rate_;
    constexpr double kRounding = 1e-9;
    std::size_t count = static_cast<std::size_t>(std::ceil(sent / fabric_.uplink_rate - kRounding));
    if (most_ > 0) count = std::min(count, most_);
    return std::clamp<std::size_t>(count, 1, fabric_.spines.size());
  }

  /// Completes set_ to `count` leaves from `next` on, with room for the job and enough spines that are free on all of
  /// them; `room` is the room of set_, and `is_free` says which spines are free on it. False if that can't be.
  bool search(const std::vector<Leaf>& leaves, std::size_t next, std::size_t count, int room,
              const std::vector<bool>& is_free) {
    if (tries_left_-- <= 0) return false;
    if (set_.size() == count) {
      if (room < needed_) return false;
      const std::size_t spines = spines_for(set_);
      if (static_cast<std::size_t>(std::count(is_free.begin(), is_free.end(), true)) < spines) return false;
      free_spines_.clear();
      for (std::size_t s = 0; free_spines_.size() < spines; ++s)
        if (is_free[s]) free_spines_.push_back(s);
      return true;
    }
    for (std::size_t i = next; i + (count - set_.size()) <= leaves.size(); ++i) {
      int most = room;  // with the next leaves, which have the most room
      for (std::size_t j = i; j < i + (count - set_.size()); ++j) most += leaves[j].room;
      if (most < needed_) return false;
      std::vector<bool> still = is_free;
      for (std::size_t s = 0; s < still.size(); ++s) still[s] = still[s] && !is_taken_[leaves[i].id][s];
      if (std::find(still.begin(), still.end(), true) == still.end()) continue;
      set_.push_back(leaves[i]);
      if (search(leaves, i + 1, count, room + leaves[i].room, still)) return true;
      set_.pop_back();
    }
    return false;
  }

  /// Takes GPUs of the leaf: of its emptiest servers first, and the last on the fullest server with room.
  void fill(FreeServers& servers, const std::vector<ServerId>& found, std::uint32_t leaf, int needed,
            std::vector<GpuId>& chosen) const {
    std::vector<std::pair<ServerId, int>> here;
    for (const ServerId server : found)
      if (fabric_.leaf[server.index()] == leaf) here.emplace_back(server, servers.room(server));
    while (needed > 0) {
      auto best = here.end();
      for (auto each = here.begin(); each != here.end(); ++each) {
        if (best == here.end()) {
          best = each;
          continue;
        }
        const bool fits = each->second >= needed, best_fits = best->second >= needed;
        if (fits != best_fits ? fits : fits ? each->second < best->second : each->second > best->second) best = each;
      }
      const int count = std::min(needed, best->second);
      servers.take(best->first, count, chosen);
      needed -= count;
      here.erase(best);
    }
  }

  void reserve(JobId job) {
    Reservation made;
    for (const Leaf& leaf : set_) made.leaves.push_back(leaf.id);
    made.spines = free_spines_;
    std::vector<NodeId> nodes;
    for (const std::size_t s : made.spines) nodes.push_back(fabric_.spines[s]);
    mark(made, true);
    reserved_->of_job[job.value()] = std::move(nodes);
    reservations_[job] = std::move(made);
  }

  void mark(const Reservation& which, bool is_taken) {
    for (const std::uint32_t leaf : which.leaves)
      for (const std::size_t spine : which.spines) is_taken_[leaf][spine] = is_taken;
  }

  /// Gives back what jobs had that hold no GPUs any more, and what this one had.
  void give_back_ended(const ClusterView& cluster, JobId job) {
    for (auto each = reservations_.begin(); each != reservations_.end();) {
      if (each->first != job && !cluster.gpus_of(each->first).empty()) {
        ++each;
        continue;
      }
      mark(each->second, false);
      reserved_->of_job.erase(each->first.value());
      each = reservations_.erase(each);
    }
  }

  const ClosFabric fabric_;
  const std::size_t most_;
  const std::shared_ptr<ReservedSpines> reserved_;
  std::vector<std::vector<bool>> is_taken_;  // by leaf and spine
  std::map<JobId, Reservation> reservations_;
  // of the job at hand
  int needed_ = 0, whole_ = 1, tries_left_ = 0;
  double gpu_rate_ = 0;
  std::vector<Leaf> set_;
  std::vector<std::size_t> free_spines_;
};

std::unique_ptr<PlacementPolicy> make_vclos(const Parameters& parameters, const PolicyContext& context) {
  std::optional<ClosFabric> fabric = context.clos ? context.clos() : std::nullopt;
  if (!fabric || !context.reserved)
    throw InputError{Complaint{
        .key = "policies.placement",
        .reason = "vclos gives jobs spines of their own, and there are no leaves and spines between which routes are "
                  "planned",
        .hint = "network.fidelity: flow, network.fabric.kind: leaf-spine and network.routing: planned"}};
  return std::make_unique<VirtualClos>(
      std::move(*fabric), static_cast<std::size_t>(parameters.get<std::int64_t>("spines")), context.reserved);
}

}  // namespace

PolicyRow<PlacementPolicy> vclos_placement() {
  static constexpr ParameterInfo kParameters[] = {
      {"spines", std::int64_t{0}, 0, 1'000'000,
       "most spines that a job on several leaves has to itself, such as 1 for a ring of servers with one interface; 0: "
       "as many as the interfaces of its GPUs on a leaf can fill"}};
  return {.name = "vclos",
          .summary = "one server, else one leaf, else leaves and spines of its own, which no other job sends through",
          .source = "Han et al., arXiv 2308.05692 (vClos)",
          .parameters = kParameters,
          .make = make_vclos};
}

}  // namespace contend
