// What Volcano and KAI do with the domains of a job's levels, and how they place its tasks inside: one after the other,
// each on the fullest server that has room for it (plugin binpack of Volcano, nodeplacement of KAI).
//
// Volcano tries the tiers of HyperNodes from the lowest up to the one that the job allows, and takes the HyperNode of
// which the largest part is in use then. KAI takes the domain with the least room that suffices.

#include "policies/placement/tree_placement.hpp"
#include "policies/registry.hpp"

#include <algorithm>

namespace contend {

namespace {

TaskSpots fullest_servers(const TreeProblem& problem) {
  // A server that takes a task is at least as full as before, so it goes on until it is full.
  std::vector<std::uint32_t> order;
  for (std::uint32_t s = problem.range.first; s < problem.range.last; ++s)
    if (problem.rooms[s] > 0) order.push_back(s);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t s) { return problem.rooms[s]; });
  TaskSpots spots;
  int left = problem.tasks;
  for (const std::uint32_t s : order) {
    const int taken = std::min(left, problem.rooms[s]);
    if (taken > 0) spots.emplace_back(ServerId{s}, taken);
    left -= taken;
  }
  return spots;
}

std::unique_ptr<PlacementPolicy> make_volcano(const Parameters& parameters, const PolicyContext& context) {
  return make_tree_placement(fullest_servers, {.most_used = true, .from_lowest = true}, pod_gpus(parameters),
                             context.levels);
}

std::unique_ptr<PlacementPolicy> make_kai(const Parameters& parameters, const PolicyContext& context) {
  return make_tree_placement(fullest_servers, {}, pod_gpus(parameters), context.levels);
}

}  // namespace

PolicyRow<PlacementPolicy> volcano_placement() {
  return {.name = "volcano",
          .summary =
              "Volcano's HyperNodes: tiers from the lowest up, the domain that is used most; then the fullest servers",
          .source = "Volcano 1.15, network-topology-aware and binpack",
          .parameters = kPodGpus,
          .make = make_volcano};
}

PolicyRow<PlacementPolicy> kai_placement() {
  return {.name = "kai",
          .summary = "KAI's topology: the domain with the least room that suffices; then the fullest servers",
          .source = "KAI 0.17, pkg/scheduler/plugins/topology",
          .parameters = kPodGpus,
          .make = make_kai};
}

}  // namespace contend
