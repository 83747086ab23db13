#include "scenarios/run/usable_gpus.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace contend {

std::vector<std::int64_t> usable_gpus(const ClusterSetup& cluster, const FailureSetup& failures) {
  std::int64_t spares = std::int64_t{failures.spares} + failures.cold_spares;
  if (cluster.types.empty()) return {(cluster.servers - spares) * cluster.gpus_per_server};
  std::vector<std::int64_t> gpus(cluster.types.size());
  for (std::size_t t = gpus.size(); t-- > 0;) {
    const std::int64_t of_type = std::min<std::int64_t>(spares, cluster.types[t].servers);
    gpus[t] = (cluster.types[t].servers - of_type) * cluster.types[t].gpus_per_server;
    spares -= of_type;
  }
  return gpus;
}

std::int64_t gpus_of(const ClusterSetup& cluster, const FailureSetup& failures) {
  const std::vector<std::int64_t> gpus = usable_gpus(cluster, failures);
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

}  // namespace contend
