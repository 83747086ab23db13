#pragma once
// HostLinks is the HostModel of servers whose GPUs share ways to host memory, host memory itself and NVMe. Each of them
// is a link of the server. A use is a fluid that crosses the links of all servers of its GPUs at one pace, in
// proportion to what the GPUs on each server move over each link. The paces are max-min fair (network/fluid.hpp): of
// two uses that one link limits, each GPU moves equally many bytes a second over the link over which it moves most.
//
// It is wrong where the host's links are not what limits: a copy and the traffic of network interfaces below one PCIe
// switch don't meet here.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace contend {

/// What all GPUs of a server have together, > 0; none: no limit.
struct HostRates {
  std::optional<ByteRate> link{};    ///< between GPUs and host memory, in each direction at once
  std::optional<ByteRate> memory{};  ///< of host memory, reads and writes together
  std::optional<ByteRate> nvme{};    ///< of NVMe, reads and writes together

  [[nodiscard]] bool any() const { return link || memory || nvme; }
  bool operator==(const HostRates&) const = default;
};

/// Servers that are alike; GPU g is on server g / gpus_per_server.
std::unique_ptr<HostModel> make_host_links(const HostRates& rates, std::size_t servers, int gpus_per_server);

}  // namespace contend
