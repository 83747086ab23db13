// By whose traffic transfers are slowed down: by hand, and that all losses together are the time by which transfers
// took longer than alone.

#include "network/delay_ledger.hpp"

#include "network/alpha_beta.hpp"
#include "network/flow_network.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/flow_kit.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Delayed {
  RunResult run;
  Recorder seen;
  /// The time that the job lost to another one, over all links, in ns.
  [[nodiscard]] std::int64_t lost(std::uint32_t job, std::uint32_t by) const {
    Time sum;
    for (const SharedDelay& each : run.fabric.delays)
      if (each.job == JobId{job} && each.by == JobId{by}) sum += each.lost;
    return sum.ns();
  }
};

Delayed run_watched(const std::vector<TestJob>& jobs, int servers, int gpus_per_server, std::vector<bool> watched,
                    std::vector<LinkEvent> events = {}) {
  auto topology =
      std::make_unique<Topology>(build_topology(plain_fabric(spec("single-switch")), static_cast<std::size_t>(servers),
                                                static_cast<std::size_t>(gpus_per_server)));
  auto router = make_shortest_path_router(*topology);
  FlowNetworkOptions options = ring_options();
  options.watched = std::move(watched);
  options.events = std::move(events);
  const Setup setup{servers, gpus_per_server};
  Delayed delayed;
  SimulationOptions run;
  run.observer = &delayed.seen;
  Simulation simulation{{servers, gpus_per_server, Bytes{100}},
                        workload_of(jobs),
                        policies_of(setup, jobs),
                        make_flow_network(std::move(topology), std::move(router), options, jobs.size()),
                        std::move(run)};
  delayed.run = simulation.run();
  return delayed;
}

/// The same at `contention`: alpha and eta in ns, a byte takes a nanosecond alone.
Delayed run_contended(const std::vector<TestJob>& jobs, int servers, int gpus_per_server, std::vector<bool> watched,
                      std::int64_t alpha = 0, double eta = 0, bool leap = false) {
  AlphaBeta cost;
  cost.alpha = Time::nanoseconds(alpha);
  cost.beta = TimePerByte{1};
  cost.eta = TimePerByte{eta};
  const Setup setup{servers, gpus_per_server};
  Delayed delayed;
  SimulationOptions run;
  run.leap = leap;
  if (!leap) run.observer = &delayed.seen;
  Simulation simulation{
      {servers, gpus_per_server, Bytes{100}},
      workload_of(jobs),
      policies_of(setup, jobs),
      make_contention_network(cost, static_cast<std::size_t>(servers), jobs.size(), std::move(watched)),
      std::move(run)};
  delayed.run = simulation.run();
  return delayed;
}

/// Both ranks compute for so many ns and then send 100 bytes to each other, at a byte a nanosecond.
TestJob exchange(std::int64_t compute, std::vector<std::uint32_t> gpus, std::int64_t submit = 0) {
  return {fmt::format("role w 2 | compute f w {} | all-reduce g w 100 | f -> g | g => f", compute), std::move(gpus), 1,
          submit};
}

}  // namespace

TEST_CASE("delays: two jobs that send over the same interfaces lose the same time to each other") {
  const std::vector<TestJob> jobs{exchange(10, {0, 2}), exchange(10, {1, 3})};
  const Delayed both = run_watched(jobs, 2, 2, {true, true});
  CHECK(both.run.jobs[0].finish.ns() == 210);
  CHECK(both.lost(0, 1) == 100);
  CHECK(both.lost(1, 0) == 100);
  CHECK(both.lost(0, 0) == 0);
  for (const SharedDelay& each : both.run.fabric.delays) {
    const std::string& link = both.run.fabric.links[each.link].name;
    CHECK_MESSAGE(link.find("switch0") != std::string::npos, link);
  }
  // Only what is asked for is written down, and nothing else changes.
  const Delayed one = run_watched(jobs, 2, 2, {false, true});
  CHECK(one.lost(0, 1) == 0);
  CHECK(one.lost(1, 0) == 100);
  const Delayed none = run_watched(jobs, 2, 2, {});
  CHECK(none.run.fabric.delays.empty());
  CHECK(difference(none.run, both.run) == "");
}

TEST_CASE("delays: a loss lasts as long as both send, and is shared by the bytes of those in the way") {
  // A sends from 10, B from 60. A has 50 bytes left then, at half the rate, and B the last 50 alone.
  const Delayed two = run_watched({exchange(10, {0, 2}), exchange(60, {1, 3})}, 2, 2, {true, true});
  CHECK(two.run.jobs[0].finish.ns() == 160);
  CHECK(two.run.jobs[1].finish.ns() == 210);
  CHECK(two.lost(0, 1) == 50);
  CHECK(two.lost(1, 0) == 50);
  // Three at a third of the rate.
  const Delayed three =
      run_watched({exchange(10, {0, 3}), exchange(10, {1, 4}), exchange(10, {2, 5})}, 2, 3, {true, true, true});
  CHECK(three.run.jobs[2].finish.ns() == 310);
  for (const auto& [job, by] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 0U}, {1U, 2U}, {2U, 0U}, {2U, 1U}})
    CHECK(three.lost(job, by) == 100);
}

TEST_CASE("delays: a slow link is nobody's fault") {
  const Topology topology = build_topology(plain_fabric(spec("single-switch")), 2, 2);
  std::vector<LinkEvent> events;
  for (std::size_t l = 0; l < topology.links().size(); ++l)
    if (topology.link_name(LinkId{l}) == "switch0->server1/nic0")
      events.push_back({Time::nanoseconds(1), LinkId{l}, 0.5});
  REQUIRE(events.size() == 1);
  const Delayed slow = run_watched({exchange(10, {0, 2})}, 2, 2, {true}, events);
  CHECK(slow.run.jobs[0].finish.ns() == 210);
  CHECK(slow.run.fabric.delays.empty());
}

TEST_CASE("delays: all of a job's losses are the time by which its transfers took longer than alone") {
  std::int64_t shared = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{40}); ++seed) {
    CAPTURE(seed);
    RandomStream draws{seed, "delays"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return draws.uniform_integer(low, high); };
    std::vector<TestJob> jobs;
    std::vector<std::int64_t> alone;
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::int64_t bytes = in(20, 400);
      const auto from = static_cast<std::uint32_t>(in(0, 2)), to = (from + static_cast<std::uint32_t>(in(1, 2))) % 3;
      jobs.push_back({fmt::format("role w 2 | compute f w {} | all-reduce g w {} | f -> g | g => f", in(1, 300), bytes),
                      {from * 4 + j, to * 4 + j},
                      in(1, 6),
                      in(0, 500)});
      alone.push_back(bytes);
    }
    const Delayed run = run_watched(jobs, 3, 4, {true, true, true, true});
    for (std::uint32_t j = 0; j < 4; ++j) {
      std::int64_t longer = 0, transfers = 0, lost = 0;
      for (const Recorder::Span& span : run.seen.transfers) {
        if (span.text[0] != static_cast<char>('A' + static_cast<int>(j))) continue;
        longer += (span.end - span.start).ns() - alone[j];
        ++transfers;
      }
      for (std::uint32_t by = 0; by < 4; ++by) lost += run.lost(j, by);
      CHECK(std::abs(longer - lost) <= 2 * transfers + 8);
      shared += lost;
    }
  }
  CHECK(shared > effort(std::int64_t{40}) * 100);
}

TEST_CASE("delays at contention: an interface that two share costs each the other's time, and the penalty") {
  const std::vector<TestJob> jobs{exchange(10, {0, 2}), exchange(10, {1, 3})};
  const Delayed both = run_contended(jobs, 2, 2, {true, true});
  CHECK(both.run.jobs[0].finish.ns() == 210);
  CHECK(both.lost(0, 1) == 100);
  CHECK(both.lost(1, 0) == 100);
  REQUIRE(both.run.fabric.delays.size() == 2);
  CHECK(place_of(both.run, both.run.fabric.delays[0]) == "server0/nic");
  // The start-up of 7 ns is nobody's fault; a byte takes 2.5 ns instead of 1.
  const Delayed slow = run_contended(jobs, 2, 2, {true, false}, 7, 0.5);
  CHECK(slow.run.jobs[0].finish.ns() == 10 + 7 + 250);
  CHECK(slow.lost(0, 1) == 150);
  CHECK(slow.lost(1, 0) == 0);
  // Nothing else changes.
  const Delayed none = run_contended(jobs, 2, 2, {}, 7, 0.5);
  CHECK(none.run.fabric.delays.empty());
  CHECK(difference(none.run, slow.run) == "");
}

TEST_CASE("delays at contention: those on the fullest of a transfer's servers share the loss") {
  // B shares server 0 with A, and A shares server 1 with C and D. A has 3 on server 1 and loses two thirds of its time
  // there, to C and D alike; B has two on server 0 and loses a half to A.
  const std::vector<TestJob> jobs{exchange(10, {0, 4}), exchange(10, {1, 8}), exchange(10, {5, 9}),
                                  exchange(10, {6, 12})};
  const Delayed run = run_contended(jobs, 4, 4, {true, true, true, true});
  // B is done at 210 with 100 ns lost. C and D lose two thirds, too, on server 1, until all three are done at 310.
  CHECK(run.run.jobs[1].finish.ns() == 210);
  CHECK(run.lost(1, 0) == 100);
  CHECK(run.run.jobs[0].finish.ns() == 310);
  CHECK(run.lost(0, 1) == 0);
  CHECK(run.lost(0, 2) == 100);
  CHECK(run.lost(0, 3) == 100);
  for (const SharedDelay& each : run.run.fabric.delays)
    CHECK(place_of(run.run, each) == (each.job == JobId{1U} ? "server0/nic" : "server1/nic"));
}

TEST_CASE("delays at contention: all losses are the time by which transfers took longer, leapt over or not") {
  std::int64_t shared = 0, leaps = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{40}); ++seed) {
    CAPTURE(seed);
    RandomStream draws{seed, "delays at contention"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return draws.uniform_integer(low, high); };
    const double eta = static_cast<double>(in(0, 2)) / 2;
    const std::int64_t alpha = in(0, 1) * 5;
    std::vector<TestJob> jobs;
    std::vector<std::int64_t> alone;
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::int64_t bytes = 10 * in(2, 40);
      const auto from = static_cast<std::uint32_t>(in(0, 2)), to = (from + static_cast<std::uint32_t>(in(1, 2))) % 3;
      jobs.push_back(
          {fmt::format("role w 2 | compute f w {} | all-reduce g w {} | f -> g | g => f", 10 * in(1, 30), bytes),
           {from * 4 + j, to * 4 + j},
           in(1, 200),
           in(0, 50) * 10});
      alone.push_back(bytes + alpha);
    }
    const Delayed run = run_contended(jobs, 3, 4, {true, true, true, true}, alpha, eta);
    const Delayed leapt = run_contended(jobs, 3, 4, {true, true, true, true}, alpha, eta, true);
    CHECK(difference(run.run, leapt.run) == "");
    leaps += static_cast<std::int64_t>(leapt.run.leaps);
    for (std::uint32_t j = 0; j < 4; ++j) {
      std::int64_t longer = 0, transfers = 0, lost = 0;
      for (const Recorder::Span& span : run.seen.transfers) {
        if (span.text[0] != static_cast<char>('A' + static_cast<int>(j))) continue;
        longer += (span.end - span.start).ns() - alone[j];
        ++transfers;
      }
      for (std::uint32_t by = 0; by < 4; ++by) {
        lost += run.lost(j, by);
        CHECK(std::abs(run.lost(j, by) - leapt.lost(j, by)) <= 1);
      }
      CHECK(std::abs(longer - lost) <= 4 * transfers + 8);
      shared += lost;
    }
  }
  CHECK(shared > effort(std::int64_t{40}) * 100);
  CHECK(leaps > effort(std::int64_t{10}));
}
