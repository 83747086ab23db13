#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/sim/same_result.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("SRSF(n): transfers of at most n jobs on every server of the message") {
  for (std::int64_t ways = 1; ways <= 3; ++ways) {
    const auto policy = communication({"srsf", {{"ways", ways}}}, 1, 0);
    for (std::int64_t active = 0; active <= 4; ++active) {
      const std::vector<double> transfers(static_cast<std::size_t>(active), 1000.0);
      CHECK(may_start(*policy, 10, {transfers, {}}) == (active < ways));
      CHECK(may_start(*policy, 10, {{}, transfers}) == (active < ways));
    }
  }
}

TEST_CASE("messages of one job count as one: its own never stand in its way, messages of another job add up") {
  const JobId own{0U}, other{5U};
  for (const char* name : {"srsf", "ada-dual"}) {
    const auto policy = communication({name, {}}, 1, 0.25);
    CHECK(may_start(*policy, 1000, {{10, 10}, {10}}, own));
    CHECK_FALSE(may_start(*policy, 1000, {{10, 10}, {10}}, other));
  }
  const auto two = communication({"srsf", {{"ways", std::int64_t{2}}}}, 1, 0);
  CHECK(may_start(*two, 1000, {{10, 10, 10}}, other));
  // R must be at least 2.5 M: two messages of 125 bytes are 250.
  const auto ada_dual = communication({"ada-dual", {}}, 1, 0.25);
  CHECK(may_start(*ada_dual, 100, {{125, 125}}, other));
  CHECK_FALSE(may_start(*ada_dual, 100, {{125, 124}}, other));
}

TEST_CASE("SRSF and AdaDUAL order messages by the remaining service of their jobs") {
  JobView job;
  job.gpus = 4;
  job.total_service = GpuTime::nanoseconds(1000);
  job.remaining_service = GpuTime::nanoseconds(600);
  CHECK(communication({"srsf", {}}, 1, 0)->key(job) == 600);
  CHECK(communication({"ada-dual", {}}, 1, 0)->key(job) == 600);
}

TEST_CASE("AdaDUAL: an idle network takes everything, two transfers on a server nothing") {
  const auto policy = communication({"ada-dual", {}}, 0.856, 0.235);
  CHECK(may_start(*policy, 1'000'000, {{}, {}}));
  CHECK_FALSE(may_start(*policy, 1, {{1e9, 1e9}, {}}));
  CHECK_FALSE(may_start(*policy, 1, {{}, {1e9, 1e9}}));
}

TEST_CASE("AdaDUAL: the threshold M / R = b / (2 (b + e)), from both sides and at equality") {
  // b = 1, e = 0.25: R must be at least 2.5 M.
  const auto policy = communication({"ada-dual", {}}, 1, 0.25);
  CHECK(may_start(*policy, 100, {{250}, {}}));
  CHECK(may_start(*policy, 100, {{250.001}, {}}));
  CHECK_FALSE(may_start(*policy, 100, {{249.999}, {}}));
  CHECK_FALSE(may_start(*policy, 101, {{250}, {}}));

  // The sums of the two completion times on both sides of the threshold, from their definition in the docstring.
  for (const double remaining : {240.0, 260.0}) {
    const double wait = 2 * remaining + 100;  // the old one ends at R, the new one at R + M
    const double both = 2.25 * 100, start = both + (both + (remaining - 100));
    CHECK(may_start(*policy, 100, {{remaining}}) == (start < wait));
  }
}

TEST_CASE("AdaDUAL: the pairs of models of the reference") {
  // MiB: vgg16 526.4, resnet50 99.2, inception-v3 103.0, lstm 251.8. 2 (b + e) / b = 2.549.
  const auto policy = communication({"ada-dual", {}}, 0.856, 0.235);
  const auto start = [&](double new_mib, double left_mib) {
    return may_start(*policy, std::llround(new_mib * 1'048'576), {{left_mib * 1'048'576}});
  };
  CHECK(start(99.2, 526.4));
  CHECK(start(99.2, 252.9));
  CHECK_FALSE(start(99.2, 251.8));  // a full LSTM just fails
  CHECK(start(103.0, 262.6));
  CHECK_FALSE(start(103.0, 262.4));
  CHECK_FALSE(start(251.8, 526.4));
  CHECK_FALSE(start(526.4, 526.4));
}

TEST_CASE("AdaDUAL: every active transfer on every server is examined") {
  const auto policy = communication({"ada-dual", {}}, 1, 0.25);
  CHECK(may_start(*policy, 100, {{300}, {400}}));
  CHECK_FALSE(may_start(*policy, 100, {{300}, {200}}));
  CHECK_FALSE(may_start(*policy, 100, {{200}, {300}}));
  CHECK_FALSE(may_start(*policy, 100, {{}, {300}, {}, {200}}));
}

TEST_CASE("AdaDUAL by iteration: all that both jobs still send in their iterations is compared") {
  const auto by_message = communication({"ada-dual", {}}, 1, 0.25);
  const auto by_iteration = communication({"ada-dual", {{"per_iteration", true}}}, 1, 0.25);
  CHECK(by_iteration->decides_per_iteration());
  CHECK_FALSE(by_message->decides_per_iteration());
  // R must be at least 2.5 M: a small message passes by itself, and not with the 900 bytes that follow it.
  const JobId other{5U};
  CHECK(may_start(*by_message, 100, {{250}}, other, {900, 0}));
  CHECK_FALSE(may_start(*by_iteration, 100, {{250}}, other, {900, 0}));
  CHECK_FALSE(may_start(*by_iteration, 100, {{250}}, other, {900, 2249}));
  CHECK(may_start(*by_iteration, 100, {{250}}, other, {900, 2250}));
  // What a job sends later counts once, however many of its messages are on the interface.
  CHECK_FALSE(may_start(*by_iteration, 100, {{125, 125}}, other, {900, 2249}));
  CHECK(may_start(*by_iteration, 100, {{125, 125}}, other, {900, 2250}));
  CHECK(communication({"srsf", {{"per_iteration", true}}}, 1, 0)->decides_per_iteration());
}

TEST_CASE("a decision for an iteration is that for its message where it has only one, on random clusters") {
  std::size_t compared = 0, others = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{400}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    const bool single = std::ranges::all_of(cluster.graphs, [](const std::string& text) {
      const IterationGraph graph = graph_from_text(text);
      const auto sends = std::ranges::count_if(graph.ops(), [](const Op& op) { return op.sends(); });
      return sends == 0 || (sends == 1 && graph.roles().size() == 1);
    });
    const RunResult by_message = cluster.run(true);
    cluster.communication.parameters.emplace_back("per_iteration", true);
    INFO(cluster.describe());
    const RunResult by_iteration = cluster.run(true);
    if (single) {
      CHECK(difference(by_message, by_iteration) == "");
      ++compared;
    } else if (by_message.digest != by_iteration.digest) {
      ++others;
    }
  }
  CHECK(compared > effort(std::size_t{10}));
  CHECK(others > effort(std::size_t{10}) - (kSanitized ? 1U : 0U));  // a tenth of the rounds has one
}
