#pragma once
// Measured wide-area networks that ship as data.

#include "network/topologies/topology_spec.hpp"

namespace contend {

/// Ten AWS regions; source and method stand with the numbers.
[[nodiscard]] WanMatrix aws_regions();

}  // namespace contend
