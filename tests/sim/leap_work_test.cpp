// How many events a run executes and how many leaps it makes. That it ends the same is tested elsewhere; here it's the
// rules by which states are saved, compared and left that decide, and a rule that changes changes these counts.

#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Case {
  const char* name;
  Setup setup;
  std::vector<TestJob> jobs;
  std::uint64_t events, leaps;
};

Setup setup_of(int servers, int each, Key key = by_submit, std::size_t ways = 1000) {
  Setup setup{servers, each, 100, std::move(key)};
  setup.ways = ways;
  return setup;
}

std::vector<TestJob> taking_turns(std::uint32_t count, std::int64_t iterations) {
  std::vector<TestJob> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back({"role w 2 | compute f w 10 | all-reduce g w 3 | f -> g | g => f", {i, count + i}, iterations});
  }
  return all;
}

PolicyKey same(const JobView&) {
  return 7;
}
PolicyKey by_id(const JobView& job) {
  return static_cast<std::int64_t>(job.id.value());
}
PolicyKey by_id_far_apart(const JobView& job) {  // by more than kKeyRounding
  return 100 * by_id(job);
}

}  // namespace

TEST_CASE("how many events are executed, and how many leaps made") {
  const std::string layers =
      "role w 2 | compute f w 36 | compute b w 54 | all-reduce g w 99 | f -> b | b -> g | g => f";
  const std::string a = "role w 2 | compute f w 10 | all-reduce g w 30 | f -> g | g => f";
  const std::string b = "role w 2 | compute f w 7 | all-reduce g w 5 | f -> g | g => f";
  const std::string stages =
      "role s 1 | role t 1 | compute f s 5 | message m s t 2 | compute x t 7 | f -> m | m -> x | x => f";
  const std::string channel =
      "role w 2 | compute f w 9 | compute b w 4 | compute c w 6 | all-reduce g w 20 | all-reduce h w 11 | "
      "channel s 1 15 | put g s 1 | put h s 0 | f -> b | b -> c | b -> g | c -> h | h => f | g => b";
  const std::string one = "role w 1 | compute a w 10 | a => a";
  constexpr std::int64_t kMany = 1'000'000;
  const Case cases[] = {
      {"jobs of their own",
       setup_of(5, 2),
       {{layers, {0, 1}, kMany}, {a, {2, 4}, kMany}, {stages, {6, 8}, kMany}},
       33,
       3},
      {"a shared GPU and a shared interface",
       setup_of(2, 2, by_submit, 1),
       {{a, {0, 2}, kMany}, {b, {0, 3}, kMany}},
       32,
       1},
      {"three jobs on two GPUs",
       setup_of(2, 1),
       {{a, {0, 1}, kMany}, {b, {0, 1}, kMany}, {layers, {0, 1}, kMany}},
       136,
       3},
      {"turns of two", setup_of(2, 2, same, 1), taking_turns(2, kMany), 22, 1},
      {"turns of nine", setup_of(2, 9, same, 1), taking_turns(9, kMany), 137, 2},
      {"turns of twenty", setup_of(2, 20, same, 1), taking_turns(20, kMany), 360, 4},
      {"a queue in front of the network", setup_of(2, 1), {{channel, {0, 1}, kMany}}, 26, 1},
      {"two queues", setup_of(2, 2, by_submit, 1), {{channel, {0, 2}, kMany}, {channel, {1, 3}, kMany}}, 67, 2},
      {"keys that cross",
       setup_of(2, 1, by_remaining_service),
       {{one, {0}, kMany}, {"role w 2 | compute b w 11 | all-reduce g w 4 | b -> g | g => b", {0, 1}, kMany * 8 / 10}},
       20,
       2},
      {"keys that come close",
       setup_of(1, 1, by_remaining_service),
       {{one, {0}, kMany}, {"role w 1 | compute b w 9 | b => b", {0}, kMany}},
       12,
       2},
      {"one that dominates",
       setup_of(1, 2, by_id),
       {{one, {0}, kMany},
        {"role w 2 | compute b w 7 | all-reduce g w 1 | b -> g | g => b", {0, 1}, kMany},
        {one, {1}, kMany}},
       21,
       2},
      {"two jobs inside one server, which don't meet in the network",
       setup_of(1, 4),
       {{"role w 2 | compute f w 997 | all-reduce g w 3 | f -> g | g => f", {0, 1}, kMany},
        {"role w 2 | compute f w 991 | all-reduce g w 3 | f -> g | g => f", {2, 3}, kMany}},
       12,
       2},
      {"one that is stuck, and joins nobody",
       setup_of(1, 3, by_id_far_apart),
       {{one, {0}, kMany},
        {"role w 3 | compute b w 7 | all-reduce g w 1 | b -> g | g => b", {0, 1, 2}, 10},
        {"role w 1 | compute a w 997 | a => a", {1}, kMany},
        {"role w 1 | compute a w 991 | a => a", {2}, kMany}},
       579,
       5},
      {"arrivals, and one that queues for memory",
       setup_of(2, 2),
       {{a, {0, 2}, kMany, 0, 60},
        {b, {1, 3}, kMany, 123'456, 60},
        {one, {1}, kMany, 7'654'321, 60},
        {b, {0, 3}, 1000, 99, 60}},
       142,
       8},
      {"few iterations", setup_of(2, 1), {{a, {0, 1}, 9}}, 11, 1},
      {"a few more", setup_of(2, 1), {{a, {0, 1}, 40}}, 11, 1},
      {"a long way to what recurs",
       setup_of(2, 2, by_submit, 1),
       {{"role w 2 | compute f w 97 | all-reduce g w 30 | f -> g | g => f", {0, 2}, kMany},
        {"role w 2 | compute f w 101 | all-reduce g w 41 | f -> g | g => f", {1, 3}, kMany}},
       46,
       1},
      {"a longer one",
       setup_of(2, 1, by_submit, 1),
       {{"role w 2 | compute f w 991 | all-reduce g w 300 | f -> g | g => f", {0, 1}, kMany},
        {"role w 2 | compute f w 1013 | all-reduce g w 417 | f -> g | g => f", {0, 1}, kMany}},
       22,
       1},
      {"until the middle of an iteration", setup_of(2, 1), {{a, {0, 1}, kMany}}, 5, 1},
  };
  for (Case each : cases) {
    if (std::string{each.name}.starts_with("until")) each.setup.until = Time::nanoseconds(30'000'007);
    const RunResult run = simulate_once(each.setup, each.jobs, true);
    CAPTURE(std::string{each.name});
    CHECK(run.events == each.events);
    CHECK(run.leaps == each.leaps);
  }
}
