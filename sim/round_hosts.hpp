#pragma once
// Hosts that run ahead of their devices in an iteration whose graph leaves rounds out (sim/planned_rounds.hpp).
//
// A host that launches without waiting goes through the rounds at a pace of its own. If that is faster than the pace of
// the devices it gets ahead by more with each round, so the state of the job never recurs as a whole. But a host that
// has launched what the devices will want in the next period, and takes no longer for a period than they do, delays
// nothing any more: the state recurs without it. The leap then moves the devices by the time that they take for the
// rounds left out, and the host by the time that it takes for these.

#include "sim/graph_plan.hpp"

#include <cstddef>
#include <vector>

namespace contend {

struct RoundHosts {
  explicit RoundHosts(const Plan& plan);

  struct Role {
    bool is_free = false;  ///< its tasks on hosts wait for nothing but each other in the first and the steady rounds
    Time each;             ///< their time in a steady round; 0: it has none there
    std::vector<std::vector<OpId>> tasks;  ///< by round
  };
  std::vector<Role> roles;                  ///< by role
  std::vector<std::vector<OpId>> launches;  ///< by operation: tasks of free roles that it waits for in its iteration
  std::vector<bool> is_task;                ///< by operation: a task on a host of a free role
};

}  // namespace contend
