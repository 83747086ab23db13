#pragma once
// An independent code for the same equations: SimGrid's fluid model CM02 without its corrections for TCP (no latency,
// cross traffic, window bound or bandwidth factor) is max-min fair sharing. It runs in a Python process of its own
// (Debian: python3-simgrid); nothing of it is part of this program.

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Flows on links.
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

/// A topology of the catalogue or a random graph, up to 64 servers and 120 flows: random bandwidths of 1 to 10 GB/s,
/// sizes of 0.1 to 10 GB, routes by ECMP; some sizes, starts and bandwidths are equal.
[[nodiscard]] FlowCase random_flow_case(RandomStream& random);

/// When each flow ends, in seconds, by `FluidNetwork`.
[[nodiscard]] std::vector<double> completions(const FlowCase& flow_case);

struct SimGridAnswer {
  std::vector<double> completions;  ///< s, by flow
  double cpu_s = 0;                 ///< processor time of the simulation proper, without making the platform
};

/// Why SimGrid can't be asked here; empty if it can. The interpreter is CONTEND_SIMGRID_PYTHON if that is set, else the
/// first of python3 and /usr/bin/python3 that knows the module.
[[nodiscard]] std::string simgrid_missing();
/// One answer for each case, simulated to the end or until the instant; flows that have not ended by then end at -1.
/// Throws std::runtime_error if the process fails.
[[nodiscard]] std::vector<SimGridAnswer> ask_simgrid(std::span<const FlowCase> cases, Time until = Time::never());

/// The largest |ours / theirs - 1| over the flows, of the time from start to end.
[[nodiscard]] double largest_deviation(const FlowCase& flow_case, std::span<const double> ours,
                                       std::span<const double> theirs);

}  // namespace contend
