#pragma once
// Declares the measured wide-area networks that ship as data.

#include "network/topologies/topology_spec.hpp"

#include <string_view>

namespace contend {

/// The links among ten AWS regions; aws_regions.txt states their source and method.
[[nodiscard]] WanMatrix aws_regions();
/// The text of aws_regions.txt.
[[nodiscard]] std::string_view aws_regions_text();

}  // namespace contend
