#pragma once
// Reads and prints networks that are listed explicitly: switches and links (`network.fabric.graph`), and matrices of
// sites (`network.fabric.wan`). Either is written in the scenario or in a YAML file of its own, whose path is then the
// value. The Scenario holds the content, not the path.

#include "network/topologies/topology_spec.hpp"
#include "scenarios/yaml/codecs.hpp"

namespace contend {

/// `{nodes: [spine0, ...], links: [{from: leaf0, to: spine0, bandwidth: 100Gbps}, ...]}`
[[nodiscard]] Codec<GraphSpec> graph_codec();

/// `{sites: [a, b], bandwidth: [[none, 1Gbps], [2Gbps, none]], latency: [[none, 9ms], [9ms, none]]}`, rows by sender. A
/// matrix without sites is written as the word `aws`.
[[nodiscard]] Codec<WanMatrix> wan_codec();

/// Names of switches and sites: letters, digits and _ - . /; not `->` and `#`, which names of links use.
[[nodiscard]] Codec<std::string> node_name_codec();
/// Rates and latencies of links in a scenario.
[[nodiscard]] Codec<ByteRate> link_rate_codec();
[[nodiscard]] Codec<Time> link_latency_codec();

}  // namespace contend
