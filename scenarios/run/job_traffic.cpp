#include "scenarios/run/job_traffic.hpp"

#include "models/overlap/volume.hpp"
#include "network/topology.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/fabric.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace contend {
namespace {

/// Bytes a second that server 0 can send into the fabric.
double interface_rate(const ClusterSetup& cluster, const NetworkSetup& network) {
  if (!network.traits().has_topology) return 1e9 / network_cost(network).beta.ns_per_byte();
  const Topology topology = build_topology(cluster, network);
  double rate = 0;
  for (const Link& link : topology.links()) {
    const Node &from = topology.nodes()[link.from.index()], &to = topology.nodes()[link.to.index()];
    if (from.server == ServerId{0U} && !to.server.valid()) rate += link.bandwidth.bytes_per_second();
  }
  return rate;
}

double rate_of(const IterationGraph& graph, int per_server, double interface_rate) {
  const double bytes = iteration_traffic(graph, per_server).interface_bytes;
  double work_s = 0;  // of a GPU in an iteration
  const std::vector<double> shares = graph.phases().shares();
  for (std::size_t phase = 0; phase < shares.size(); ++phase)
    work_s += shares[phase] * graph.compute_total(phase).on_each_of(graph.ranks()).to_seconds();
  const double time_s = work_s + bytes / interface_rate;
  return bytes > 0 && std::isfinite(time_s) ? bytes / time_s : 0;
}

}  // namespace

std::vector<double> sent_per_second(const ClusterSetup& cluster, const NetworkSetup& network,
                                    const Workload& workload) {
  std::vector<double> rates(workload.jobs.size());
  std::map<std::size_t, double> known;  // by graph
  const double most = interface_rate(cluster, network);
  for (std::size_t j = 0; j < rates.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    if (job.duration || job.graph >= workload.graphs.size()) continue;
    const auto [rate, is_new] = known.try_emplace(job.graph);
    const IterationGraph& graph = workload.graphs[job.graph];
    const int per_server = std::clamp(graph.ranks() / 2, 1, cluster.gpus_per_server);  // on two servers or more
    if (is_new) rate->second = rate_of(graph, per_server, most);
    rates[j] = rate->second;
  }
  return rates;
}

}  // namespace contend
