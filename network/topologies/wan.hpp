#pragma once
// Declares the measured wide-area networks that ship as data.

#include "network/topologies/topology_spec.hpp"

namespace contend {

/// The links among ten AWS regions; the definition states their source and method.
[[nodiscard]] WanMatrix aws_regions();

}  // namespace contend
