#pragma once
// Validates fair sharing against SimGrid, an independent implementation: its fluid model CM02 without TCP corrections
// (no latency, cross traffic, window bound or bandwidth factor) is max-min fair sharing. SimGrid runs in a separate
// Python process (Debian: python3-simgrid) and is not part of this program.

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A set of flows on links.
struct FlowCase {
  std::string kind;                ///< of topology
  std::vector<double> capacities;  ///< bytes per second, by link
  struct Flow {
    Time start;
    std::int64_t bytes;
    std::vector<std::uint32_t> links;
  };
  std::vector<Flow> flows;  ///< by start
};

/// A topology of the catalogue or a random graph with up to 64 servers and 120 flows: random bandwidths of 1 to 10
/// GB/s, sizes of 0.1 to 10 GB, ECMP routes; some sizes, starts and bandwidths are equal.
[[nodiscard]] FlowCase random_flow_case(RandomStream& random);

/// The end of each flow by `FluidNetwork`, in seconds.
[[nodiscard]] std::vector<double> completions(const FlowCase& flow_case);

struct SimGridAnswer {
  std::vector<double> completions;  ///< s, by flow
  double cpu_s = 0;                 ///< processor time of the simulation, without building the platform
};

/// The reason why SimGrid cannot be used here; empty if it can. The interpreter is CONTEND_SIMGRID_PYTHON if that is
/// set, else the first of python3 and /usr/bin/python3 that has the module.
[[nodiscard]] std::string simgrid_missing();
/// One answer for each case, simulated to its end or until `until`; flows that have not ended by then have -1. Throws
/// std::runtime_error if the process fails.
[[nodiscard]] std::vector<SimGridAnswer> ask_simgrid(std::span<const FlowCase> cases, Time until = Time::never());

/// The largest |ours / theirs - 1| over the durations of the flows.
[[nodiscard]] double largest_deviation(const FlowCase& flow_case, std::span<const double> ours,
                                       std::span<const double> theirs);

/// The text of simgrid_oracle.py.
[[nodiscard]] std::string_view simgrid_oracle();

}  // namespace contend
