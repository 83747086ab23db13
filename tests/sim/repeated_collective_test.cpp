// A collective that runs several times, one after the other, is one transfer of as many times the bytes.

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"

using namespace contend;
using namespace contend::test;

TEST_CASE("a collective of 10 bytes that runs three times takes as long as three of them") {
  const std::string passes = "role w 2 | compute f w 5 | all-reduce g w 10 | f -> g | ";
  CHECK(simulate({.servers = 2}, {{passes + "repeat g 3", {0, 1}, 1}}).seen.network() == "A.g#0 5-35");
  CHECK(simulate({.servers = 2}, {{passes + "repeat g 1", {0, 1}, 1}}).seen.network() == "A.g#0 5-15");
}

TEST_CASE("only collectives run several times, and at least once") {
  const auto refused = [](const std::string& text) {
    try {
      static_cast<void>(graph_from_text(text));
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  CHECK(refused("role w 2 | all-reduce g w 10 | repeat g 0"));
  CHECK(refused("role w 2 | compute f w 10 | repeat f 2"));
  CHECK_FALSE(refused("role w 2 | all-reduce g w 10 | repeat g 2"));
}

TEST_CASE("a job that its place tears apart runs the other graph, until it has a better place") {
  // Pairs of ranks belong on one server. Four ranks on two servers of two GPUs, in order or crosswise.
  const auto end_on = [](std::vector<std::uint32_t> gpus) {
    TestJob job{"role w 4 | compute f w 5", std::move(gpus), 2};
    job.torn = "role w 4 | compute f w 5 | all-reduce g w 10 | groups g 1 2 | f -> g | g => f";
    job.torn_groups = {1, 2};
    const Run run = simulate({.servers = 2, .gpus_per_server = 2}, {job});
    CHECK(run.result.jobs[0].torn == (run.finish(0) > 10));
    return run.finish(0);
  };
  CHECK(end_on({0, 1, 2, 3}) == 10);
  CHECK(end_on({2, 3, 0, 1}) == 10);
  CHECK(end_on({0, 2, 1, 3}) == 30);
}
