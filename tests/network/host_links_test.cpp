// What GPUs share of their servers besides interfaces: by hand, as a model of its own and in runs. One byte takes a
// nanosecond where a rate is 1 GB/s.

#include "network/host_links.hpp"
#include "tests/near.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr ByteRate kOne{1e9}, kTwo{2e9};

std::vector<GpuId> gpus(std::initializer_list<std::uint32_t> ids) {
  return {ids.begin(), ids.end()};
}

/// Ends what is due next, and returns when that was.
std::int64_t end_next(HostModel& hosts, std::size_t uses = 1) {
  const Time next = hosts.next_end();
  std::vector<HostUseId> ended;
  hosts.finish_due(next, ended);
  CHECK(ended.size() == uses);
  return next.ns();
}

/// When jobs end that share servers of two GPUs with these rates; by job. Leaping must give equal ends.
std::vector<std::int64_t> ends(const HostRates& rates, int servers, const std::vector<TestJob>& jobs) {
  const Setup setup{.servers = servers, .gpus_per_server = 2};
  const auto run = [&](bool leap) {
    SimulationOptions options;
    options.leap = leap;
    options.hosts = make_host_links(rates, static_cast<std::size_t>(servers), 2);
    Simulation simulation{{servers, 2, Bytes{100}},
                          workload_of(jobs),
                          policies_of(setup, jobs),
                          std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), jobs.size()),
                          std::move(options)};
    return simulation.run();
  };
  const RunResult result = run(false);
  CHECK(difference(result, run(true)) == "");
  std::vector<std::int64_t> finish;
  for (const JobResult& job : result.jobs) finish.push_back(job.finish.ns());
  return finish;
}

}  // namespace

TEST_CASE("a server limits what its rates name") {
  const auto hosts = make_host_links({.link = kOne, .memory = {}, .nvme = kTwo}, 1, 2);
  CHECK(hosts->limits({.out = Bytes{1}}));
  CHECK(hosts->limits({.in = Bytes{1}}));
  CHECK(hosts->limits({.nvme = Bytes{1}}));
  CHECK(!hosts->limits({.memory = Bytes{1}}));
  CHECK(!hosts->limits({}));
  CHECK(hosts->next_end() == Time::never());
}

TEST_CASE("GPUs of a server share a way, and each goes no faster than alone") {
  const auto hosts = make_host_links({.link = kTwo}, 2, 2);
  // Two GPUs of one server move 100 bytes each at up to 1.25 GB/s: together they have 2, so 1 each.
  hosts->start(gpus({0, 1}), {.out = Bytes{100}}, Time::nanoseconds(80), Time{});
  // The other direction is another way, and so is the way of the other server.
  hosts->start(gpus({0, 1}), {.in = Bytes{50}}, Time::nanoseconds(50), Time{});
  hosts->start(gpus({2}), {.out = Bytes{40}}, Time::nanoseconds(32), Time{});
  CHECK(end_next(*hosts) == 32);
  CHECK(end_next(*hosts) == 50);
  CHECK(end_next(*hosts) == 100);
}

TEST_CASE("a use goes at the pace of its fullest server") {
  const auto hosts = make_host_links({.link = kTwo}, 2, 2);
  // Both GPUs of server 0 and one of server 1: 100 bytes each take 100, though server 1 could do it in 50.
  hosts->start(gpus({0, 1, 2}), {.out = Bytes{100}}, Time::nanoseconds(50), Time{});
  // It leaves 1 GB/s of server 1 for the other GPU.
  hosts->start(gpus({3}), {.out = Bytes{60}}, Time::nanoseconds(30), Time{});
  CHECK(end_next(*hosts) == 60);
  CHECK(end_next(*hosts) == 100);
}

TEST_CASE("the longest of several ways says how long a use takes") {
  const auto hosts = make_host_links({.link = kTwo, .memory = kTwo, .nvme = kOne}, 1, 1);
  // 20 bytes to the GPU in 10, 100 of memory in 50, 80 of NVMe in 80.
  hosts->start(gpus({0}), {.in = Bytes{20}, .memory = Bytes{100}, .nvme = Bytes{80}}, Time::nanoseconds(1), Time{});
  CHECK(end_next(*hosts) == 80);
}

TEST_CASE("what is left when another use goes takes all of a way") {
  const auto hosts = make_host_links({.link = kOne}, 1, 2);
  const HostUseId first = hosts->start(gpus({0}), {.out = Bytes{100}}, Time::nanoseconds(100), Time{});
  hosts->start(gpus({1}), {.out = Bytes{100}}, Time::nanoseconds(100), Time::nanoseconds(20));
  hosts->cancel(first, Time::nanoseconds(60));  // the second has moved 20
  CHECK(end_next(*hosts) == 140);
}

TEST_CASE("jobs that offload to one server share its ways") {
  // Each computes for 10, then moves 40 bytes to the host, for which it waits.
  const std::string graph = "role w 1 | compute f w 10 | timer t w 40 | host t 40 0 0 0 | f -> t | t => f";
  CHECK(ends({.link = kTwo}, 1, {{graph, {0}, 3}, {graph, {1}, 3}}) == std::vector<std::int64_t>{150, 150});
  CHECK(ends({.link = kOne}, 1, {{graph, {0}, 3}, {graph, {1}, 3}}) == std::vector<std::int64_t>{270, 270});
  CHECK(ends({.link = kOne}, 2, {{graph, {0}, 3}, {graph, {2}, 3}}) == std::vector<std::int64_t>{150, 150});
  // The second moves from 40 on, when the first has 10 bytes left: both at half the rate until 60, and the second has
  // 30 left then.
  CHECK(ends({.link = kOne}, 1, {{graph, {0}, 1}, {graph, {1}, 1, 30}}) == std::vector<std::int64_t>{60, 90});
}

TEST_CASE("a job alone leaps over iterations that use the host") {
  const std::string graph = "role w 2 | compute f w 10 | timer t w 40 | host t 40 0 0 0 | f -> t | t => f";
  CHECK(ends({.link = kOne}, 1, {{graph, {0, 1}, 1000}}) == std::vector<std::int64_t>{90 * 1000});
}
