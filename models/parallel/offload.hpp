#pragma once
// What is kept outside of GPUs and comes back in time: optimizer states in host memory or on NVMe (ZeRO-Offload, Ren et
// al., USENIX ATC 2021; ZeRO-Infinity, Rajbhandari et al., SC 2021, section 5), and activations in host memory.
//
// Everything moves in pieces that follow each other, so that the slowest part decides (ZeRO-Infinity, section 5.1.2:
// reads, copies and computing of consecutive pieces overlap); what the first and last piece add is left out.

#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// Bandwidths of one GPU's part of a server.
struct OffloadRates {
  ByteRate link;    ///< between the GPU and host memory, in each direction at once
  ByteRate memory;  ///< of host memory, for the update by the CPU
  ByteRate nvme;    ///< of NVMe, reads and writes together; meaningless if nothing lies there
};

/// Bytes of each parameter that an update outside of the GPU moves, >= 0.
struct OffloadedUpdate {
  double gradient = 4;  ///< to the host
  double weight = 2;    ///< back to the GPU
  double memory = 28;   ///< read and written in host memory by the update
  double stored = 0;    ///< kept on NVMe: read before the update, written behind it
};

/// The time of the update of so many parameters, >= 0: the longest of the way of the gradients to the host, that of the
/// weights back, the update, and reading and writing what is stored.
[[nodiscard]] Time offloaded_update_time(double parameters, const OffloadedUpdate& each, const OffloadRates& rates);

/// By how much a pass that computes for so long is longer because it also moves so many bytes over the link.
[[nodiscard]] Time waiting_for_link(Bytes bytes, Time computing, ByteRate link);

}  // namespace contend
