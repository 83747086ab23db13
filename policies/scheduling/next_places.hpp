#pragma once
// NextPlaces says where the placement policy would put jobs, one after the other, if some of the running jobs had just
// stopped.

#include "policies/scheduling/host_room.hpp"
#include "policies/scheduling/place_plan.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// To be used within one pass, before the cluster changes.
class NextPlaces {
 public:
  NextPlaces(const ClusterView& cluster, SchedulingActions& actions, std::span<const JobId> stopping);

  /// Where the placement policy would put a job, which waits or is among those that stop, on servers of that type (-1:
  /// any), if it sees of each server as many GPUs as there are CPUs and memory for ranks with these needs. Empty: it
  /// has no place.
  [[nodiscard]] Spots ask(JobId job, std::int32_t type, const HostRoom& rank) {
    return spots_of(cluster_, place(job, type, rank));
  }
  /// The GPUs themselves, which count only of a job that must run on certain ones.
  [[nodiscard]] std::vector<GpuId> place(JobId job, std::int32_t type, const HostRoom& rank);
  /// These GPUs, and what such ranks need on their servers, are free no longer.
  void take(const Spots& spots, const HostRoom& rank);

 private:
  const ClusterView& cluster_;
  SchedulingActions& actions_;
  PlacePlan plan_;                 // of the jobs that stop
  std::vector<WholeServer> left_;  // what is free on each server once they have
};

}  // namespace contend
