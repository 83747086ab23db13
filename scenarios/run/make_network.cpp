#include "scenarios/run/make_network.hpp"

#include "network/alpha_beta.hpp"
#include "scenarios/run/flow_fidelity.hpp"
#include "scenarios/run/network_costs.hpp"
#include "sim/check.hpp"

#include <utility>

namespace contend {

std::unique_ptr<NetworkModel> make_network(const ClusterSetup& cluster, const NetworkSetup& network,
                                           const FailureSetup& failures, std::uint64_t seed, std::size_t jobs,
                                           NetworkRecords records, const std::vector<JobExchange>& exchanges) {
  const auto servers = static_cast<std::size_t>(cluster.servers);
  const auto costs = [&] { return transfer_costs(cluster, network, seed, exchanges); };
  switch (network.fidelity) {
    case Fidelity::analytic:
      return make_analytic_network(costs(), servers, jobs);
    case Fidelity::contention:
      return make_contention_network(costs(), servers, jobs, std::move(records.watched));
    case Fidelity::flow:
      return make_flow_network(cluster, network, failures, seed, jobs, std::move(records), exchanges);
  }
  check_failed(__FILE__, __LINE__, "a fidelity", "unknown");
}

}  // namespace contend
