#pragma once
// Lets flows between rails use NVLink instead of the spines of a rail-optimised fabric.

#include "network/routing.hpp"

#include <memory>

namespace contend {

/// A router for servers whose interfaces are on different switches. A flow between servers whose GPUs have interfaces
/// of their own on no common switch goes inside the source's server to a GPU that has one on a switch of the
/// destination, and from there in that rail: to the GPU at the place of the destination if it is such a one, else to
/// the first. So does NCCL since 2.12 ("PXN", PCIe x NVLink). It does so only where the way to that GPU is wider than
/// the way from it to its interface, as NVLink is and PCIe is not. All other flows take the route of `router`.
///
/// The data are not stored on the way, since libraries forward them in small pieces: the flow crosses the links of both
/// ways and pays the latencies of both.
[[nodiscard]] std::unique_ptr<Router> make_rail_proxy_router(const Topology& topology, std::unique_ptr<Router> router);

}  // namespace contend
