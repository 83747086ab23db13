// Kueue's topology-aware scheduling (pkg/cache/scheduler/tas_flavor_snapshot.go, 0.19). Pods are divided level by level
// from the highest down: below the chosen domains the domain with the least room that suffices for all
// pods, else the domain of most room, and for the rest again. A job that asks for no level gets the servers with the
// least room first (gate TASProfileMixed). Below the level of segments, the pods of a segment also get the servers with
// the least room first.

#include "policies/placement/tree_placement.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <tuple>

namespace contend {

namespace {

struct PodDomain {
  std::size_t id = 0;
  std::int64_t room = 0;
};

/// updateCountsToMinimumGeneric(): the domains that take so many pods.
std::vector<PodDomain> fewest_domains(std::vector<PodDomain> domains, std::int64_t pods) {
  std::ranges::stable_sort(domains, [](const PodDomain& a, const PodDomain& b) {
    return std::tuple{-a.room, a.id} < std::tuple{-b.room, b.id};
  });
  std::vector<PodDomain> chosen;
  for (std::size_t i = 0; pods > 0 && i < domains.size(); ++i) {
    PodDomain best = domains[i];
    for (std::size_t j = i; j < domains.size() && best.room >= pods; ++j)
      if (domains[j].room >= pods && domains[j].room < best.room) best = domains[j];
    best.room = std::min(best.room, pods);
    pods -= best.room;
    chosen.push_back(best);
  }
  return chosen;
}

/// The domains with the least room; if `prefers_one`, one that takes all pods before them.
std::vector<PodDomain> least_room(std::vector<PodDomain> servers, std::int64_t pods, bool prefers_one) {
  std::ranges::stable_sort(servers, [](const PodDomain& a, const PodDomain& b) {
    return std::tuple{a.room, a.id} < std::tuple{b.room, b.id};
  });
  if (prefers_one)
    if (const auto one = std::ranges::find_if(servers, [&](const PodDomain& each) { return each.room >= pods; });
        one != servers.end())
      return {{one->id, pods}};
  for (PodDomain& each : servers) {
    each.room = std::min(each.room, pods);
    pods -= each.room;
  }
  return servers;
}

class Pods {
 public:
  explicit Pods(const TreeProblem& problem) : problem_{problem}, is_chosen_(problem.rooms.size(), true) {}

  /// Level by level the fewest domains, whatever the domains above were meant to take.
  TaskSpots constrained() {
    for (std::size_t level = problem_.levels.all.size(); level-- > 0;) {
      std::vector<bool> is_in(problem_.levels.domains(level));
      for (const PodDomain& each : fewest_domains(domains(level), problem_.tasks)) is_in[each.id] = true;
      for (std::size_t s = 0; s < is_chosen_.size(); ++s)
        is_chosen_[s] = is_chosen_[s] && is_in[problem_.levels.domain_of(level, s)];
    }
    return on(fewest_domains(servers(), problem_.tasks));
  }

  TaskSpots unconstrained() { return on(least_room(servers(), problem_.tasks, true)); }

  /// Below the level of segments each domain takes a share of its parent's pods.
  void below(std::size_t level, std::int64_t pods, TaskSpots& spots) {
    if (level == 0) {
      const TaskSpots here = on(least_room(servers(), pods, false));
      spots.insert(spots.end(), here.begin(), here.end());
      return;
    }
    const std::vector<bool> outer = is_chosen_;
    for (const PodDomain& each : least_room(domains(level - 1), pods, false)) {
      if (each.room == 0) continue;
      for (std::size_t s = 0; s < outer.size(); ++s)
        is_chosen_[s] = outer[s] && problem_.levels.domain_of(level - 1, s) == each.id;
      below(level - 1, each.room, spots);
      is_chosen_ = outer;
    }
  }

 private:
  [[nodiscard]] std::vector<PodDomain> servers() const {
    std::vector<PodDomain> found;
    for (std::uint32_t s = problem_.range.first; s < problem_.range.last; ++s)
      if (is_chosen_[s] && problem_.rooms[s] > 0) found.push_back({s, problem_.rooms[s]});
    return found;
  }
  [[nodiscard]] std::vector<PodDomain> domains(std::size_t level) const {
    std::vector<PodDomain> found(problem_.levels.domains(level));
    for (std::size_t d = 0; d < found.size(); ++d) found[d].id = d;
    for (const PodDomain& server : servers()) found[problem_.levels.domain_of(level, server.id)].room += server.room;
    return found;
  }
  static TaskSpots on(const std::vector<PodDomain>& servers) {
    TaskSpots spots;
    for (const PodDomain& each : servers)
      if (each.room > 0) spots.emplace_back(ServerId{each.id}, static_cast<int>(each.room));
    return spots;
  }

  const TreeProblem& problem_;
  std::vector<bool> is_chosen_;  // by server
};

TaskSpots kueue_rule(const TreeProblem& problem) {
  Pods pods{problem};
  if (problem.demand == nullptr) return pods.unconstrained();
  if (problem.demand->segment == 0) return pods.constrained();
  TaskSpots spots;
  pods.below(static_cast<std::size_t>(problem.demand->segment_level), problem.tasks, spots);
  return spots;
}

std::unique_ptr<PlacementPolicy> make_kueue(const Parameters& parameters, const PolicyContext& context) {
  return make_tree_placement(kueue_rule, {}, pod_gpus(parameters), context.levels);
}

}  // namespace

PolicyRow<PlacementPolicy> kueue_placement() {
  return {.name = "kueue",
          .summary = "Kueue's topology-aware scheduling: level by level the domain that suffices, else the fewest",
          .source = "Kueue 0.19, pkg/cache/scheduler/tas_flavor_snapshot.go",
          .parameters = kPodGpus,
          .make = make_kueue};
}

}  // namespace contend
