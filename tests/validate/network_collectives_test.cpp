#include "validate/network/network_collectives.hpp"
#include "tests/near.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a ring on shaped links by hand") {
  // 4 nodes at 1 Gbps and 10 ms: 6 steps of 10 ms and 32 MiB at 125e6 bytes/s, 268.435456 ms each.
  CHECK(simulate_shaped_links({4, 10, 1, 128, 1669}, true) == near(6 * (10 + 268.435456)));
  CHECK(simulate_shaped_links({4, 10, 1, 128, 1669}, false) == near(6 * 268.435456));
  // One message of 64 MiB at 5 Gbps: 107.3741824 ms, rounded up to nanoseconds, and the delay.
  CHECK(simulate_shaped_links({2, 1, 5, 64, 110}, true) == near(1 + 107.374183));
}

TEST_CASE("NCCL on shaped links: every cell within 5%, none without delay above the measurement") {
  CHECK(published::nccl_all_reduce().size() == 12);
  CHECK(published::nccl_point_to_point().size() == 6);
  for (const auto cells : {published::nccl_all_reduce(), published::nccl_point_to_point()}) {
    for (const ShapedLinkTime& cell : cells) {
      INFO(cell.nodes, " nodes, ", cell.delay_ms, " ms, ", cell.gbps, " Gbps, ", cell.mebibytes, " MiB");
      CHECK(within({"", cell.milliseconds, simulate_shaped_links(cell, true)}, 0.05));
      CHECK(simulate_shaped_links(cell, false) < cell.milliseconds);
    }
  }
}

TEST_CASE("closed forms: every algorithm and kind is compared, and all agree") {
  const std::vector<ClosedFormResult> results = compare_closed_forms(9);
  std::size_t expected = 0;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) expected += algorithm.kinds.size();
  CHECK(results.size() == expected);
  for (const ClosedFormResult& each : results) {
    INFO(each.algorithm->name, " ", name_of(each.kind));
    CHECK(each.shapes >= 3);  // halving-doubling takes 2, 4 and 8 ranks for some
    CHECK(each.largest_difference_ns <= 1);
  }
}
