// The plain schedulers, by hand. What they are worth is shown on real traces (contend validate schedulers).

#include "tests/near.hpp"
#include "validate/schedulers/reference.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Times = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("strict FIFO blocks, fit-first passes, SJF reorders") {
  // 4 GPUs. A holds 3 until 10; B needs 2 and C 1.
  const std::vector<ReferenceJob> jobs{{0, 10, 3}, {1, 5, 2}, {2, 4, 1}};
  const ReferenceCluster cluster{1, 4};
  CHECK(reference_queue(jobs, cluster, {}).finish == Times{10, 15, 14});
  CHECK(reference_queue(jobs, cluster, {.strict = false}).finish == Times{10, 15, 6});
  CHECK(reference_queue(jobs, cluster, {.order = ReferenceOrder::duration}).finish == Times{10, 15, 6});
  CHECK(reference_queue(jobs, cluster, {}).queued == Times{0, 9, 8});
}

TEST_CASE("SJF goes by duration, smallest first by GPUs") {
  // One server of 4. A ends at 10 and leaves B (long, small) and C (short, large), which exclude each other.
  const std::vector<ReferenceJob> jobs{{0, 10, 4}, {1, 8, 2}, {2, 6, 4}};
  CHECK(reference_queue(jobs, {1, 4}, {.order = ReferenceOrder::duration}).finish == Times{10, 24, 16});
  CHECK(reference_queue(jobs, {1, 4}, {.order = ReferenceOrder::gpus}).finish == Times{10, 18, 24});
}

TEST_CASE("with a quantum jobs start at its multiples and end where they end") {
  // One GPU, quantum 10. B arrives at 10 and is seen at 10; A ends at 5 and its GPU is used again at 10.
  const std::vector<ReferenceJob> jobs{{0, 5, 1}, {10, 7, 1}, {11, 1, 1}};
  CHECK(reference_queue(jobs, {1, 1}, {.quantum = 10}).finish == Times{5, 17, 21});
  CHECK(reference_queue(jobs, {1, 1}, {}).finish == Times{5, 17, 18});
}

TEST_CASE("placements: fullest server, first server, anywhere") {
  // Two servers of 8. A (4) goes to the first, B (6) to the second. C (2): consolidated fills the second, yarn takes
  // the first. D (4) fits on the first only if C is on the second; count needs no server.
  const std::vector<ReferenceJob> jobs{{0, 50, 4}, {0, 50, 6}, {0, 50, 2}, {0, 50, 4}};
  CHECK(reference_queue(jobs, {2, 8, ReferencePlacement::consolidated}, {}).finish == Times{50, 50, 50, 50});
  CHECK(reference_queue(jobs, {2, 8, ReferencePlacement::yarn}, {}).finish == Times{50, 50, 50, 100});
  CHECK(reference_queue(jobs, {2, 8}, {}).finish == Times{50, 50, 50, 50});
  // A (3), B (2) and C (8): spread puts A and B on a server each, and C finds no empty one.
  const std::vector<ReferenceJob> few{{0, 50, 3}, {0, 50, 2}, {0, 50, 8}};
  CHECK(reference_queue(few, {2, 8, ReferencePlacement::spread}, {}).finish == Times{50, 50, 100});
  CHECK(reference_queue(few, {2, 8, ReferencePlacement::yarn}, {}).finish == Times{50, 50, 50});
  // A (1) leaves 15 GPUs, enough for the count of B (12), but its whole server and half of another need 8 and 4.
  const std::vector<ReferenceJob> large{{0, 50, 1}, {0, 50, 12}, {0, 50, 8}};
  CHECK(reference_queue(large, {2, 8, ReferencePlacement::yarn}, {}).finish == Times{50, 50, 100});
  // A (5) leaves 3 on the first server: not the rest of B.
  const std::vector<ReferenceJob> stuck{{0, 50, 5}, {0, 30, 12}};
  CHECK(reference_queue(stuck, {2, 8, ReferencePlacement::consolidated}, {}).finish == Times{50, 80});
  CHECK(reference_queue(stuck, {2, 8}, {}).finish == Times{50, 80});
  const std::vector<ReferenceJob> spread{{0, 50, 5}, {0, 30, 11}};
  CHECK(reference_queue(spread, {2, 8, ReferencePlacement::consolidated}, {}).finish == Times{50, 30});
}

TEST_CASE("SRTF preempts every job that no longer fits") {
  // 2 GPUs. At 2 A has 8 left and B (3) takes one GPU: A stops. At 3 C (4) takes the other. C ends at 7; A's 8 follow.
  const std::vector<ReferenceJob> jobs{{0, 10, 2}, {2, 3, 1}, {3, 4, 1}};
  const ReferenceSchedule schedule = reference_walk(jobs, {1, 2}, ReferenceOrder::remaining);
  CHECK(schedule.finish == Times{15, 5, 7});
  CHECK(schedule.queued == Times{5, 0, 0});
  CHECK(schedule.preemptions == 1);
  CHECK(average_jct(jobs, schedule) == near((15 + 3 + 4) / 3.0));
  CHECK(average_queueing(schedule) == near(5 / 3.0));
}

TEST_CASE("SRSF weighs the remaining time with the GPUs") {
  // 2 GPUs. At 1 A has 9 x 1 left; B's 5 x 2 = 10 is more: it waits until 10. By SRTF it goes first.
  const std::vector<ReferenceJob> jobs{{0, 10, 1}, {1, 5, 2}};
  CHECK(reference_walk(jobs, {1, 2}, ReferenceOrder::remaining_service).finish == Times{10, 15});
  CHECK(reference_walk(jobs, {1, 2}, ReferenceOrder::remaining).finish == Times{15, 6});
  // Smallest first never lets B in front.
  CHECK(reference_walk(jobs, {1, 2}, ReferenceOrder::gpus).finish == Times{10, 15});
}

TEST_CASE("DLAS-GPU demotes at the limit, or late as Tiresias does") {
  // 2 GPUs, limits 4 and 8 GPU-ticks. A (2 GPUs) has its 4 at 2 and gives way to B, which runs 2..5.
  const std::vector<ReferenceJob> jobs{{0, 10, 2}, {1, 3, 1}};
  const ReferenceSchedule exact = reference_dlas(jobs, 2, {.limits = {4, 8}});
  CHECK(exact.finish == Times{13, 5});
  CHECK(exact.preemptions == 1);
  // Late: at B's arrival A has run 1, so it is looked at (4 - 1) / 2, rounded up 2, later: B runs 3..6.
  CHECK(reference_dlas(jobs, 2, {.limits = {4, 8}, .late_wake_up = true}).finish == Times{13, 6});
  // DLAS counts ticks: A reaches 4 at 4, B runs 4..7.
  CHECK(reference_dlas(jobs, 2, {.limits = {4, 8}, .gpu_time = false}).finish == Times{13, 7});
}

TEST_CASE("stale ends: a job that was preempted is taken for finished") {
  // One GPU, limit 3. At 1 A is to end at 4, when C arrives. At 3 it is demoted and B runs. The defect ends A at 4.
  // Without it: B reaches the limit at 6, C runs 6..7, A's last tick 7..8, B's last two 8..10.
  const std::vector<ReferenceJob> jobs{{0, 4, 1}, {1, 5, 1}, {4, 1, 1}};
  CHECK(reference_dlas(jobs, 1, {.limits = {3}}).finish == Times{8, 10, 7});
  CHECK(reference_dlas(jobs, 1, {.limits = {3}, .stale_ends = true}).finish == Times{4, 9, 7});
}

TEST_CASE("Helios SRTF: one tick late, and a cost for each preemption") {
  // 8 GPUs. At 3 B has 2 left and A 7: A is preempted and gets 30 more. B ends at 3 + 2 + 1; A runs 37 + 1 from 6.
  const std::vector<ReferenceJob> jobs{{0, 10, 8}, {3, 2, 4}};
  const ReferenceSchedule schedule = reference_helios_srtf(jobs, 1);
  CHECK(schedule.finish == Times{44, 6});
  CHECK(schedule.queued == Times{3, 0});
  CHECK(schedule.preemptions == 1);
}

TEST_CASE("Gittins rank of three sizes") {
  // Sizes 2, 4, 8 and delta 3. At 0: two of three would end by 1 + 3, and the three get 2 + 4 + 3 until then: 2/3
  // over 3. From 2 on: one of two, after (4 + 3) / 2. From 4 on none would end in time; from 8 on nothing is known.
  const std::vector<std::int64_t> sizes{2, 4, 8};
  CHECK(reference_gittins_rank(sizes, 3, 0) == near(222223.3333));
  CHECK(reference_gittins_rank(sizes, 3, 2) == near(142857.1429));
  CHECK(reference_gittins_rank(sizes, 3, 4) == 0);
  CHECK(reference_gittins_rank(sizes, 3, 8) == 0);
  // It reorders a queue: at 1 A has attained 4 and B nothing.
  const std::vector<ReferenceJob> jobs{{0, 9, 4}, {1, 1, 4}};
  const auto rank = [&](std::int64_t attained) { return reference_gittins_rank(sizes, 3, attained); };
  CHECK(reference_dlas(jobs, 4, {.limits = {100}}).finish == Times{9, 10});
  CHECK(reference_dlas(jobs, 4, {.limits = {100}, .rank = rank}).finish == Times{10, 2});
}
