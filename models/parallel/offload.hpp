#pragma once
// What is kept outside of GPUs and comes back in time: optimizer states in host memory or on NVMe (ZeRO-Offload, Ren et
// al., USENIX ATC 2021; ZeRO-Infinity, Rajbhandari et al., SC 2021, section 5). Activations, gradients and weights on
// their way are operations of the iteration graph (training_iteration.hpp).
//
// Everything moves in pieces that follow each other, so that the slowest part decides (ZeRO-Infinity, section 5.1.2:
// reads, copies and computing of consecutive pieces overlap); what the first and last piece add is left out.

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// Bandwidths of one GPU's part of a server.
struct OffloadRates {
  ByteRate link;    ///< between the GPU and host memory, in each direction at once
  ByteRate memory;  ///< of host memory, for the update by the CPU
  ByteRate nvme;    ///< of NVMe, reads and writes together; meaningless if nothing lies there
};

/// Bytes of each parameter that an update outside of the GPU moves, >= 0.
struct OffloadedUpdate {
  double weight = 2;   ///< back to the GPU
  double memory = 28;  ///< read and written in host memory by the update
  double stored = 0;   ///< kept on NVMe: read before the update, written behind it
};

/// What the update of so many parameters, >= 0, moves on the server of the GPU that has them.
[[nodiscard]] HostTraffic offloaded_update_traffic(double parameters, const OffloadedUpdate& each);

enum class CopyWay : std::uint8_t {
  to_host,    ///< from the GPU to host memory
  from_host,  ///< from host memory to the GPU
  from_nvme,  ///< from NVMe through host memory to the GPU
};

/// Bytes that each rank of a role copies at a rate of its own.
struct HostCopy {
  std::string name;
  RoleId role;
  Bytes bytes;
  ByteRate rate;
  CopyWay way = CopyWay::to_host;
};

/// The copies of one direction between the ranks of a role and their hosts, one after the other.
class CopyQueue {
 public:
  /// Adds a copy to a graph, as a timer that uses the servers of the ranks and begins after these operations.
  OpId add(IterationGraph& graph, const HostCopy& copy, const std::vector<OpId>& after);

 private:
  OpId last_;
};

/// The time of so many bytes, rounded up; 0 if there are none, whatever the rate.
[[nodiscard]] Time time_at(double bytes, ByteRate rate);

/// The time of the update of so many parameters, >= 0, whose gradients are on the host: the longest of the way of the
/// weights back, the update, and reading and writing what is stored.
[[nodiscard]] Time offloaded_update_time(double parameters, const OffloadedUpdate& each, const OffloadRates& rates);

}  // namespace contend
