#pragma once
// What a network of flows takes its links for: capacities, what is left of them with several flows, and how they are
// logged.

#include "network/flow_network.hpp"
#include "network/max_min_rates.hpp"
#include "network/request_route.hpp"
#include "network/topology.hpp"
#include "sim/transfer_log.hpp"

#include <cstddef>
#include <vector>

namespace contend {

/// Bytes per second, by link.
[[nodiscard]] inline std::vector<double> capacities_of(const Topology& topology) {
  std::vector<double> capacities;
  for (const Link& link : topology.links()) capacities.push_back(link.bandwidth.bytes_per_second());
  return capacities;
}

/// The factor on the bandwidth of a link inside a server, or of another one.
[[nodiscard]] inline double factor_of(const Topology& topology, const Link& link, const FlowNetworkOptions& options) {
  const ServerId server = topology.nodes()[link.from.index()].server;
  const bool stays = server.valid() && server == topology.nodes()[link.to.index()].server;
  return stays ? options.inside : options.between;
}

[[nodiscard]] inline LinkEfficiency efficiency_of(const Topology& topology, const Link& link,
                                                  const FlowNetworkOptions& options) {
  const Node& from = topology.nodes()[link.from.index()];
  const Node& to = topology.nodes()[link.to.index()];
  const bool of_nic = (from.kind == NodeKind::nic && to.server != from.server) ||
                      (to.kind == NodeKind::nic && to.server != from.server);
  LinkEfficiency efficiency{options.efficiency, of_nic ? options.nic_penalty : 0};
  const double factor = factor_of(topology, link, options);
  if (factor != 1 && efficiency.factors.empty()) efficiency.factors.push_back(1);
  for (double& each : efficiency.factors) each *= factor;
  return efficiency;
}

inline void log_links(const Topology& topology, const FlowNetworkOptions& options, TransferLog& log) {
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    const Link& link = topology.links()[l];
    const LinkEfficiency efficiency = efficiency_of(topology, link, options);
    log.link(l, link.bandwidth.bytes_per_second(), efficiency.factors, efficiency.penalty);
  }
}

/// A step of the route, or a route without steps, of a transfer of this priority that touches these servers.
[[nodiscard]] inline LoggedRoute logged_route(const RequestRoute& route, const RequestRoute::Step* step,
                                              const std::vector<ServerId>& servers, int priority) {
  LoggedRoute logged;
  logged.job = route.job;
  logged.servers = servers;
  logged.priority = priority;
  logged.is_first = step == nullptr || step == route.steps.data();
  logged.message = route.bytes.to_double() * route.times;
  if (logged.is_first) logged.start_up = route.start_up;
  if (step == nullptr) return logged;
  logged.start_up += step->flow.fixed;
  logged.bytes = step->flow.bytes;
  logged.alone = step->solo_rate * 1e9;
  logged.cap = step->flow.cap;
  for (const LinkShare& use : step->flow.links) logged.uses.push_back({use.link.index(), use.share});
  return logged;
}

}  // namespace contend
