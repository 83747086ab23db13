#pragma once
// A small fabric whose links and servers the inputs of fuzz targets can name.

#include "network/topologies/topology_spec.hpp"

namespace contend::fuzz {

/// Four servers of one GPU on two leaves, two spines, two cables between each leaf and spine.
inline const Topology& two_leaves() {
  static const Topology topology = [] {
    TopologySpec spec;
    spec.fabric.kind = "leaf-spine";
    spec.fabric.servers_per_leaf = 2;
    spec.fabric.spines = 2;
    spec.fabric.parallel_links = 2;
    return build_topology(spec, 4, 1);
  }();
  return topology;
}

}  // namespace contend::fuzz
