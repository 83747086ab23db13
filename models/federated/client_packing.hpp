#pragma once
// Clients that run one after the other on a few devices, packed as Parrot does.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// A device that trains clients one after the other: each takes `start` and `step` for each of its steps. Both >= 0.
struct PackingDevice {
  Time step{}, start{};
  [[nodiscard]] Time time_of(std::int64_t steps) const { return start + step * steps; }
};

struct PackedClients {
  std::vector<std::size_t> device_of;  ///< by client, in the order given
  std::vector<Time> busy;              ///< by device
  [[nodiscard]] Time makespan() const;
};

/// Packs clients with these numbers of steps. The client with the most steps goes first, of equal ones the first, and
/// each to the device with which the makespan of all is least; of equal ones the first. So small clients pile onto the
/// first devices while the makespan stands, which is not "longest processing time first". Source: the scheduler of
/// FedML's Parrot (Tang et al., arXiv 2303.01778). At least one device.
[[nodiscard]] PackedClients pack_clients(std::span<const std::int64_t> steps, std::span<const PackingDevice> devices);

}  // namespace contend
