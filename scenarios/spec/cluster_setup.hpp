#pragma once
// The cluster of a scenario: servers, GPUs, virtual clusters, types of servers.

#include "network/host_links.hpp"
#include "policies/queue_rules.hpp"
#include "scenarios/spec/device_choice.hpp"
#include "scenarios/spec/meter_setup.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A user of a virtual cluster, and its claim beside the other users there.
struct WeightedUser {
  std::string name;
  double weight = 1;
  bool operator==(const WeightedUser&) const = default;
};

/// A virtual cluster of `cluster.vcs`: a number of servers of its own, or a number of GPUs on servers without an owner.
/// It is also an account of the tree that `parent` makes.
struct NamedVirtualCluster {
  std::string name;
  std::optional<int> servers, gpus;  ///< one of them; with `others`, or as an account, also neither
  std::string parent{};              ///< another one of the list; empty: the root of the tree
  std::optional<double> weight{};    ///< its claim beside the others with the same parent
  int priority = 1;                  ///< its jobs go before the jobs of a smaller priority
  int job_factor = 1;                ///< its part of the priority of jobs, beside the largest one
  std::vector<WeightedUser> users{};
  bool borrow = false;
  bool others = false;  ///< also takes the jobs of virtual clusters that are not listed, and those without one
  QueueRules rules{};   ///< a borrowing limit also lets it borrow
  [[nodiscard]] bool may_borrow() const { return borrow || rules.borrowing_limit; }
  bool operator==(const NamedVirtualCluster&) const = default;
};

/// A level above the servers, of `cluster.levels`. Its domains are servers that follow each other, or that the next
/// tier of the network joins.
struct NamedLevel {
  std::string name;
  std::optional<int> servers;  ///< of each domain; the last one has the rest
  std::vector<int> sizes;      ///< servers of each domain, in place of `servers`
  bool operator==(const NamedLevel&) const = default;
};

/// Servers that are alike, of `cluster.types`.
struct NamedServerType {
  std::string name;
  int servers = 1;
  int gpus_per_server = 4;
  Bytes gpu_memory = Bytes::mebibytes(32768);
  double speed = 1;                    ///< of jobs that nothing else times: work in a second, in seconds of duration
  double price = 0;                    ///< of a GPU for an hour
  std::optional<DeviceChoice> device;  ///< times the layers of jobs of iterations in place of the device of their entry
  std::optional<PowerSetup> power;     ///< of a GPU; not given: ClusterSetup::power
  std::string site;                    ///< where they are; empty: ClusterSetup::site
  bool operator==(const NamedServerType&) const = default;

  /// The share of its speed that a cap of its power or clock leaves; 1 without a cap.
  [[nodiscard]] double cap_pace() const {
    return power && power->is_capped() && !power->curve.empty() ? power->at_cap().pace : 1;
  }
  [[nodiscard]] double capped_speed() const { return speed * cap_pace(); }
};

/// The cluster (`cluster.*`).
struct ClusterSetup {
  int servers = 16;
  int gpus_per_server = 4;
  Bytes gpu_memory = Bytes::mebibytes(32768);
  std::optional<double> cpus;        ///< of each server; if not given, CPUs are not counted
  std::optional<Bytes> host_memory;  ///< of each server; if not given, host memory is not counted
  HostRates host;                    ///< what the GPUs of a server share of it
  std::vector<NamedVirtualCluster> vcs;
  std::vector<NamedLevel> levels;   ///< from the lowest up
  std::optional<PowerSetup> power;  ///< of a GPU; if nothing gives it, nothing is metered
  std::string site;                 ///< of MeterSetup::sites; empty: the only one, if there is one
  /// If there are any, the members above follow from them: all servers, and the most GPUs and memory.
  std::vector<NamedServerType> types;
};

}  // namespace contend
