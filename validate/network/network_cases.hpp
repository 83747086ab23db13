#pragma once
// Flows on a handful of links, small enough to be worked out by hand to the nanosecond.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// One case; rates are in bytes per nanosecond.
struct NetworkCase {
  struct Use {
    std::uint32_t link;
    double share = 1;
  };
  struct Flow {
    std::int64_t start_ns = 0;
    double bytes = 0;
    std::vector<Use> links;
    std::int64_t end_ns = 0;  ///< worked out by hand
    double weight = 1;
    double cap = 0;  ///< 0: none
  };
  struct Change {
    std::int64_t at_ns = 0;
    std::uint32_t link = 0;
    double capacity = 0;
  };
  std::string_view name;
  std::vector<double> capacities;
  std::vector<Flow> flows;           ///< by start
  std::vector<Change> changes = {};  ///< by time
  double penalty = 0;                ///< k-way contention of every link, eta / beta
};

/// The cases, each worked out in a comment beside it.
[[nodiscard]] std::span<const NetworkCase> network_cases();

/// The simulated end of each flow by `FluidNetwork` in ns; -1 if it never ends.
[[nodiscard]] std::vector<std::int64_t> simulate_ends(const NetworkCase& network_case);

/// The time in ns at which the last of `senders` flows ends, each of 100 MB from a server of its own to the same
/// further server. All ports of the one switch have 12.5 GB/s; latency is 0.
[[nodiscard]] std::int64_t simulate_incast(int senders);

}  // namespace contend
