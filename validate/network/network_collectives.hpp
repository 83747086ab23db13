#pragma once
// Validates collectives executed as flows against their closed forms on an idle switch, and against NCCL measured on
// shaped links.

#include "network/collectives/algorithm.hpp"
#include "validate/verdict.hpp"

#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// One measured time from B. Yuan, tc_cluster_setting (results/*.md): AWS p3.2xlarge, one V100 a node, NCCL over TCP,
/// delay and bandwidth of each node's link shaped with `tc`.
struct ShapedLinkTime {
  int nodes;
  double delay_ms;  ///< one way
  double gbps;      ///< 1e9 bits per second
  int mebibytes;    ///< of the tensor
  double milliseconds;
};

namespace published {
inline constexpr std::string_view kShapedLinksSource = "B. Yuan, tc_cluster_setting, results (AWS p3.2xlarge, NCCL)";
[[nodiscard]] std::span<const ShapedLinkTime> nccl_all_reduce();      ///< 12 cells
[[nodiscard]] std::span<const ShapedLinkTime> nccl_point_to_point();  ///< 6 cells, `nodes` is 2
}  // namespace published

/// The simulated time of a cell in ms: a ring all-reduce step by step, or a single message for 2 nodes. Every message
/// is a flow over one switch whose cables have the bandwidth and whose two hops together have the delay. Nothing is
/// fitted: software adds no time, and neither does reducing.
[[nodiscard]] double simulate_shaped_links(const ShapedLinkTime& cell, bool with_delay);

/// The largest difference between an algorithm executed as flows on an idle switch and its closed form, over 2 to
/// `most_ranks` ranks and every shape tried (groups of two levels, 1 and 7 chunks, 1 server and all). Sizes are
/// divisible and bandwidth is 1 byte per ns, so that both times are whole numbers.
struct ClosedFormResult {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveKind kind = CollectiveKind::all_reduce;
  int shapes = 0;
  double largest_difference_ns = 0;
};
[[nodiscard]] std::vector<ClosedFormResult> compare_closed_forms(int most_ranks);

/// Prints both comparisons and their verdicts. Returns true if every closed form agrees within 1 ns and every measured
/// time within 5%.
bool hold_collectives(std::FILE* out);

}  // namespace contend
