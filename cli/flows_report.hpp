#pragma once
// Formats the completion times of flows for people and for programs.

#include "scenarios/run/fabric_flows.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The mean and percentiles of values; NaN for no values.
struct Spread {
  double mean = 0, median = 0, p95 = 0, p99 = 0;
};

/// The flows of a range of sizes. Times and slowdowns count only the flows that ended.
struct FlowClass {
  std::optional<Bytes> above;    ///< they are larger than this, and
  std::optional<Bytes> at_most;  ///< no larger than this
  std::size_t flows = 0;
  std::size_t unfinished = 0;
  Spread fct_s;     ///< from start to the arrival of the last byte
  Spread slowdown;  ///< that time over the ideal one
};

/// The figures of a list of flows.
struct FlowSummary {
  FlowClass all;
  std::vector<FlowClass> classes;    ///< those with flows, ascending; empty if one would hold all
  double bytes = 0;                  ///< of all flows
  std::optional<double> makespan_s;  ///< from the first start to the last end; none if a flow never ends
};

/// `bounds` are the largest sizes of the classes but the last, ascending.
[[nodiscard]] FlowSummary summarise_flows(std::span<const ListedFlow> flows, std::span<const FlowOutcome> outcomes,
                                          std::span<const Bytes> bounds);

[[nodiscard]] std::string flows_text(const FlowSummary& summary);
[[nodiscard]] std::string flows_json(const FlowSummary& summary);
/// A row for each flow, in the order of the list. GPUs have their names in the topology.
[[nodiscard]] std::string flows_csv(std::span<const ListedFlow> flows, std::span<const FlowOutcome> outcomes,
                                    const Topology& topology);

}  // namespace contend
