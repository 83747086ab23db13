// Servers that the same transfers touch are simulated as one: by the network, by hand, and by the engine, which must
// give the results that it gives server by server, also where other jobs begin on some of these servers.

#include "sim/random_stream.hpp"
#include "tests/network/contention_kit.hpp"

#include <algorithm>
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

std::string usage_of(const Driver& driver, std::uint32_t server, std::int64_t now) {
  const NetworkModel::Usage usage = driver.server(server, now);
  return fmt::format("{} {} {} {}", usage.active.ns(), usage.contended.ns(), usage.transfers, usage.bytes.count());
}

/// Counts how often a server is asked whether it takes a message.
class Counting final : public CommunicationPolicy {
 public:
  explicit Counting(std::size_t& asked) : asked_{asked} {}
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override {
    ++asked_;
    return true;
  }

 private:
  std::size_t& asked_;
};

}  // namespace

TEST_CASE("folded servers: one stands for all, and each has the totals of its own past") {
  // Two networks, beta 1, eta 1. In the second one, servers 1 to 3 are simulated as server 1 until 30; there, a
  // transfer of another job begins on server 2 alone and server 4.
  Driver plain{cost(0, 1, 1), true, 5, 3}, folding{cost(0, 1, 1), true, 5, 3};
  for (Driver* driver : {&plain, &folding}) {
    driver->start(0, 10, {2, 3}, 0);
    CHECK(driver->finish(10).size() == 1);
  }
  folding.network->fold(Driver::ids({1, 2, 3}));
  plain.start(1, 40, {0, 1, 2, 3}, 20);
  const std::vector<ServerId> all = Driver::ids({0, 1, 2, 3}), named = Driver::ids({0, 1});
  TransferRequest request = Driver::request(1, 40, all);
  request.interfaces = named;
  folding.network->start(request, Time::nanoseconds(20));
  const auto agree = [&](std::int64_t now) {
    for (std::uint32_t server = 0; server < 5; ++server)
      CHECK(usage_of(plain, server, now) == usage_of(folding, server, now));
    CHECK(plain.next() == folding.next());
  };
  agree(25);
  CHECK(usage_of(folding, 3, 25) == "15 0 2 50");  // 10 of the first, 5 of the second transfer
  CHECK(usage_of(folding, 1, 25) == "5 0 1 40");
  folding.network->unfold(Driver::ids({2}));
  for (Driver* driver : {&plain, &folding}) driver->start(2, 7, {2, 4}, 30);
  agree(35);
  CHECK(folding.network->active_count(ServerId{2U}) == 2);
  CHECK(folding.network->active_count(ServerId{1U}) == 1);
  // 7 bytes at 3 ns; of the 40, 30 are left at 30 and 23 at 51.
  CHECK(folding.next() == 51);
  for (Driver* driver : {&plain, &folding}) CHECK(driver->finish(51).size() == 1);
  agree(60);
  CHECK(folding.next() == 74);
  for (Driver* driver : {&plain, &folding}) CHECK(driver->finish(74).size() == 1);
  folding.network->unfold(Driver::ids({3}));
  agree(80);
}

TEST_CASE("a set of folded servers goes on without its first one") {
  Driver plain{cost(0, 1, 1), true, 4, 2}, folding{cost(0, 1, 1), true, 4, 2};
  for (Driver* driver : {&plain, &folding}) {
    driver->start(0, 3, {0, 2}, 0);
    CHECK(driver->finish(3).size() == 1);
  }
  folding.network->fold(Driver::ids({0, 1, 2, 3}));
  plain.start(1, 20, {0, 1, 2, 3}, 5);
  const std::vector<ServerId> all = Driver::ids({0, 1, 2, 3}), named = Driver::ids({0});
  TransferRequest request = Driver::request(1, 20, all);
  request.interfaces = named;
  folding.network->start(request, Time::nanoseconds(5));
  folding.network->unfold(Driver::ids({1, 2, 3}));  // 1 stands for 2 and 3
  for (std::uint32_t server = 0; server < 4; ++server)
    CHECK(usage_of(plain, server, 9) == usage_of(folding, server, 9));
  CHECK(folding.finish(25).size() == 1);
  CHECK(plain.finish(25).size() == 1);
  folding.network->unfold(Driver::ids({2}));
  folding.network->unfold(Driver::ids({3}));
  for (std::uint32_t server = 0; server < 4; ++server) {
    CHECK(usage_of(plain, server, 30) == usage_of(folding, server, 30));
    CHECK(folding.network->active_count(ServerId{server}) == 0);
  }
}

TEST_CASE("a pipeline asks as many servers whether it has 2 or 32 on each stage") {
  const auto asked_with = [](int ranks, bool leap) {
    std::size_t asked = 0;
    const std::vector<TestJob> jobs{{pipeline(3, ranks, 10, 4), gpus_from(0, 3 * ranks), 1}};
    const Setup setup{.servers = 3 * ranks};
    PolicySet policies = policies_of(setup, jobs);
    policies.communication = std::make_unique<Counting>(asked);
    SimulationOptions options;
    options.leap = leap;
    const auto servers = static_cast<std::size_t>(setup.servers);
    Simulation simulation{{setup.servers, 1, Bytes{100}},
                          workload_of(jobs),
                          std::move(policies),
                          make_contention_network(cost(1, 1, 1), servers, 1),
                          std::move(options)};
    CHECK(simulation.run().jobs[0].state == JobState::finished);
    return asked;
  };
  // Each of the 4 messages asks a server of both its stages, each all-reduce one of its stage. Those that go back
  // become ready with the all-reduce of their sender and ask once more when that has entered.
  constexpr std::size_t kQuestions = 2 * 4 + 3 + 2 * 2;
  CHECK(asked_with(2, true) == kQuestions);
  CHECK(asked_with(32, true) == kQuestions);
  CHECK(asked_with(32, false) == 32 * kQuestions);
}

TEST_CASE("random pipelines and jobs that begin on their servers: as server by server, whatever is folded") {
  RandomStream draws{5, "folded servers"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return draws.uniform_integer(low, high); };
  std::int64_t contended = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const int stages = static_cast<int>(in(2, 3)), ranks = static_cast<int>(in(2, 5)), per_server = 2;
    const int servers = stages * ranks + 2;
    std::vector<TestJob> jobs;
    // The pipeline has the first GPU of a server for each rank; others come on second GPUs, in any places.
    jobs.push_back(
        {pipeline(stages, ranks, in(5, 20), in(1, 30)), gpus_from(0, stages * ranks, per_server), in(1, 30)});
    for (std::int64_t more = in(0, 3); more > 0; --more) {
      std::vector<std::uint32_t> second = gpus_from(1, servers, per_server);
      for (std::size_t i = second.size(); i > 1; --i)
        std::swap(second[i - 1], second[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(i) - 1))]);
      const int workers = static_cast<int>(in(2, 4));
      second.resize(static_cast<std::size_t>(workers));
      jobs.push_back({fmt::format("role w {} | compute f w {} | all-reduce g w {} | f -> g | g => f", workers,
                                  in(1, 30), in(1, 60)),
                      second, in(1, 20), in(0, 400), 40});
    }
    INFO("trial ", trial);
    const Setup setup{.servers = servers, .gpus_per_server = per_server, .ways = static_cast<std::size_t>(in(1, 3))};
    const RunResult run = run_on(cost(in(0, 2), 1, 1), true, setup, jobs);
    for (const JobResult& job : run.jobs) {
      CHECK(job.state == JobState::finished);
      contended += job.contended.ns();
    }
  }
  CHECK(contended > 0);
}
