#include "sim/cluster_parts.hpp"

#include <algorithm>
#include <iterator>

namespace contend {

ServerRange servers_with_spares(const ClusterSpec& spec) {
  const auto last = static_cast<std::uint32_t>(spec.servers);
  for (const VirtualCluster& vc : spec.vcs)
    if (vc.servers.size() > 0 && vc.servers.last == last) return vc.servers;
  return unowned_servers(spec);
}

std::vector<std::int32_t> types_in_order(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces) {
  std::vector<std::int32_t> order;
  for (std::int32_t t = 0; t < std::ssize(spec.types); ++t)
    if (may_run_on(spec, job, paces, t)) order.push_back(t);
  const auto pace = [&](std::int32_t type) { return paces[static_cast<std::size_t>(type)].together; };
  if (!paces.empty()) std::ranges::stable_sort(order, {}, pace);
  if (const std::int32_t mix = mix_of(spec, job); mix >= 0) order.push_back(mix);
  return order;
}

}  // namespace contend
