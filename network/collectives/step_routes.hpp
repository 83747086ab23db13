#pragma once
// The routes of the messages of a schedule.

#include "network/collectives/schedule.hpp"
#include "network/routing.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace contend {

/// True if the steps have the same messages but for what is reduced.
[[nodiscard]] bool same_traffic(const Step& a, const Step& b);

/// Ranks keep their connections: a pair is routed once. A router that plans flows together gets the messages of each
/// step together, and the messages of a step that equals the step asked for last only once.
class StepRoutes {
 public:
  /// GPU i is rank i; all flows have this label.
  StepRoutes(std::span<const NodeId> gpus, const Router& router, std::uint64_t label)
      : gpus_{gpus}, router_{router}, label_{label} {}

  /// The route of a message, which is one of step.sends. Steps stay where they are as long as this object is used.
  [[nodiscard]] const Route& of(const Step& step, const Send& send);

 private:
  using Plan = std::vector<Route>;  // by message
  [[nodiscard]] const Plan& plan_of(const Step& step);
  [[nodiscard]] NodeId gpu(int rank) const { return gpus_[static_cast<std::size_t>(rank)]; }

  std::span<const NodeId> gpus_;
  const Router& router_;
  std::uint64_t label_;
  std::unordered_map<std::uint64_t, Route> by_pair_;
  std::unordered_map<const Step*, std::shared_ptr<const Plan>> plans_;
  const Step* last_ = nullptr;
};

}  // namespace contend
