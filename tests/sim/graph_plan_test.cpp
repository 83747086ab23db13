#include "sim/graph_plan.hpp"

#include "sim/error.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a plan counts the ends that one instance of an operation waits for") {
  // 3 workers: `grads` waits for 3 ends of `backward`, each `update` for 1 end of `grads` and 1 of `backward` of its
  // own rank, the next `forward` of a rank for 1 end of `update`.
  const Plan plan{graph_from_text(
      "role w 3 | compute forward w 2 | compute backward w 4 | all-reduce grads w 10 | compute update w 1\n"
      "forward -> backward | backward -> grads | grads -> update | backward -> update | update => forward")};
  REQUIRE(plan.ops.size() == 4);
  const auto waits_for = [&](std::size_t op, std::size_t lag) {
    return plan.ops[op].predecessor_instances[lag].front();
  };
  CHECK(waits_for(0, 0) == 0);
  CHECK(waits_for(0, 1) == 1);
  CHECK(waits_for(1, 0) == 1);
  CHECK(waits_for(2, 0) == 3);
  CHECK(waits_for(3, 0) == 2);
  CHECK(waits_for(3, 1) == 0);
  CHECK(plan.ops[1].successors[0] == std::vector{OpId{2U}, OpId{3U}});
  CHECK(plan.ops[3].successors[0].empty());
  CHECK(plan.ops[3].successors[1] == std::vector{OpId{0U}});

  CHECK(plan.ops[0].per_rank);
  CHECK_FALSE(plan.ops[2].per_rank);
  CHECK(plan.ops[2].ranks == 3);
  CHECK(plan.instances == std::vector<std::int32_t>{3 + 3 + 1 + 3});
  CHECK(plan.compute_total.front() == GpuTime::nanoseconds(3 * 7));
  CHECK(plan.foldable);
}

TEST_CASE("a collective may wait for ranks of another role, and for another collective") {
  // x ends on 2 ranks of a; c over b waits for both; d waits for c, which ends once.
  const Plan plan{
      graph_from_text("role a 2 | role b 3 | compute x a 1 | broadcast c b 1 | reduce d b 1 | x -> c | c -> d")};
  CHECK(plan.ops[1].predecessor_instances[0].front() == 2);
  CHECK(plan.ops[2].predecessor_instances[0].front() == 1);
}

TEST_CASE("ranks are numbered role by role") {
  const Plan plan{graph_from_text("role a 2 | role b 3 | role c 1 | compute x a 1 | compute y b 10 | compute z c 100")};
  CHECK(plan.ranks == 6);
  CHECK(plan.first_rank == std::vector{0, 2, 5});
  CHECK(plan.compute_per_rank.front() ==
        std::vector{Time::nanoseconds(1), Time::nanoseconds(10), Time::nanoseconds(100)});
  CHECK(plan.compute_total.front() == GpuTime::nanoseconds(2 + 30 + 100));
}

TEST_CASE("ranks can be folded unless messages or waits join single ranks") {
  CHECK(Plan{graph_from_text("role a 4 | compute x a 1 | all-reduce g a 1")}.foldable);
  CHECK(Plan{graph_from_text("role a 2 | role b 2 | compute x a 1 | compute y b 1")}.foldable);
  CHECK_FALSE(Plan{graph_from_text("role a 2 | role b 2 | compute x a 1 | compute y b 1 | x -> y")}.foldable);
  CHECK_FALSE(Plan{graph_from_text("role a 2 | compute x a 1 | message m a a 1")}.foldable);
}

TEST_CASE("a graph that can't be executed is not planned") {
  IterationGraph graph;
  graph.add_role("w", 1);
  CHECK_THROWS_AS(Plan{graph}, InputError);
}
