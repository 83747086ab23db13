#pragma once
// Measured wide-area networks that ship as data.

#include "network/topologies/spec.hpp"

namespace contend {

/// Ten AWS regions; source and method stand with the numbers.
[[nodiscard]] WanMatrix aws_regions();

}  // namespace contend
