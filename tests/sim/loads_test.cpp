// The work left on GPUs, by which placement policies choose the least loaded.

#include "sim/simulation.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Places as the test says, and writes down the loads of all GPUs, in ns, whenever a job is to be placed.
class Watcher final : public PlacementPolicy {
 public:
  Watcher(const std::vector<TestJob>& jobs, std::vector<std::string>& seen) : places_{jobs}, seen_{seen} {}
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    std::vector<std::int64_t> loads;
    for (std::size_t g = 0; g < cluster.gpus(); ++g) loads.push_back(cluster.load(GpuId{g}).ns());
    seen_.push_back(fmt::format("{}: {}", cluster.now().ns(), fmt::join(loads, " ")));
    places_.place(cluster, job, chosen);
  }

 private:
  ExplicitPlacement places_;
  std::vector<std::string>& seen_;
};

/// The loads of two servers of one GPU each at the instants at which the jobs are submitted.
std::vector<std::string> loads_seen(const std::vector<TestJob>& jobs, bool leap) {
  std::vector<std::string> seen;
  PolicySet policies = policies_of({}, jobs);
  policies.placement = std::make_unique<Watcher>(jobs, seen);
  SimulationOptions options;
  options.leap = leap;
  Simulation simulation{{2, 1, Bytes{100}},
                        workload_of(jobs),
                        std::move(policies),
                        std::make_unique<FixedNetwork>(1, 2, jobs.size()),
                        std::move(options)};
  simulation.run();
  return seen;
}

}  // namespace

TEST_CASE("loads: what is left of compute and communication, each falling when an operation ends") {
  const std::string probe = "role w 1 | compute f w 0";
  const auto after = [&](const std::string& graph, std::int64_t time) {
    const std::vector<TestJob> jobs{{graph, {0, 1}, 2}, {probe, {0}, 1, time}};
    const std::vector<std::string> seen = loads_seen(jobs, false);
    CHECK(loads_seen(jobs, true) == seen);
    return seen.back();
  };
  // Each iteration computes for 10 ns on GPU 0, sends for 5 ns and computes for 3 ns on GPU 1.
  const std::string sends =
      "role a 1 | role b 1 | compute f a 10 | message m a b 5 | compute x b 3 | f -> m | m -> x | x => f";
  CHECK(after(sends, 1) == "1: 30 16");
  CHECK(after(sends, 11) == "11: 20 16");
  CHECK(after(sends, 16) == "16: 15 11");
  CHECK(after(sends, 19) == "19: 15 8");
  CHECK(after(sends, 34) == "34: 0 3");
  const std::string reduces = "role w 2 | compute f w 10 | all-reduce c w 5 | f -> c | c => f";
  CHECK(after(reduces, 11) == "11: 20 20");
  CHECK(after(reduces, 16) == "16: 15 15");
}
