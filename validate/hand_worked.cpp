#include "validate/hand_worked.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr int kServers = 4;

/// Puts each job on its own two servers and on a GPU there that no other job uses: GPU j of a server is for job j.
class OwnGpus final : public PlacementPolicy {
 public:
  explicit OwnGpus(const std::vector<HandWorkedJob>& jobs) : jobs_{jobs} {}
  void place(const ClusterView&, const JobView& job, std::vector<GpuId>& chosen) override {
    for (const int server : jobs_[job.id.index()].servers) {
      chosen.emplace_back(static_cast<std::size_t>(server) * jobs_.size() + job.id.index());
    }
  }

 private:
  const std::vector<HandWorkedJob>& jobs_;
};

const std::vector<HandWorkedCase> kHandWorkedCases = {
    // 1000 of compute, then 10000 bytes at 1 ns.
    {"one message, alone", "{policy: srsf, ways: 1}", {{1000, 10000, {0, 1}, 11000}}},

    // Both enter at 1000 and need 2.25 ns a byte. B is through at 1000 + 4000 x 2.25 = 10000. A has sent 4000 by then;
    // the other 6000 take 1 ns each.
    {"two messages contend", "{policy: srsf, ways: 2}", {{1000, 10000, {0, 1}, 16000}, {1000, 4000, {0, 1}, 10000}}},

    // A is alone from 1000 to 6000 and sends 5000. Then B joins: through at 6000 + 2000 x 2.25 = 10500. A has sent 2000
    // more; the last 3000 take 1 ns each.
    {"one joins half-way", "{policy: srsf, ways: 2}", {{1000, 10000, {0, 1}, 13500}, {6000, 2000, {0, 1}, 10500}}},

    // The same two without contention: B waits until A is through at 11000.
    {"one waits instead", "{policy: srsf, ways: 1}", {{1000, 10000, {0, 1}, 11000}, {6000, 2000, {0, 1}, 13000}}},

    // Three at 3.5 ns: C is through at 1000 + 2000 x 3.5 = 8000. A and B have 4000 and 2000 left at 2.25: B is through
    // at 8000 + 4500 = 12500. A's last 2000 take 1 ns each.
    {"three messages contend",
     "{policy: srsf, ways: 3}",
     {{1000, 6000, {0, 1}, 14500}, {1000, 4000, {0, 1}, 12500}, {1000, 2000, {0, 1}, 8000}}},

    // A chain over four servers. B meets A on server 1 and C on server 2, but no server carries more than two: k is 2
    // for all, not 3. A and C are through at 1000 + 4000 x 2.25 = 10000; B's other 4000 take 1 ns each.
    {"k is the largest number on one server",
     "{policy: srsf, ways: 2}",
     {{1000, 4000, {0, 1}, 10000}, {1000, 8000, {1, 2}, 14000}, {1000, 4000, {2, 3}, 10000}}},

    // AdaDUAL. B is ready at 8500, when A has 10000 - 7500 = 2500 left: the threshold is 0.4 x 2500 = 1000 bytes.
    // Below: B starts, through at 8500 + 996 x 2.25 = 10741; A has 2500 - 996 left, through at 10741 + 1504 = 12245.
    // The sum is 22986; had B waited: 11000 + 11996 = 22996.
    {"AdaDUAL just below the threshold", "ada-dual", {{1000, 10000, {0, 1}, 12245}, {8500, 996, {0, 1}, 10741}}},

    // At the threshold either choice gives the sum 23000; the rule starts. B: 8500 + 2250 = 10750, A: + 1500 = 12250.
    {"AdaDUAL at the threshold", "ada-dual", {{1000, 10000, {0, 1}, 12250}, {8500, 1000, {0, 1}, 10750}}},

    // Above: B waits until A is through at 11000, then takes 1004. The sum is 23004; had it started: 10759 + 12255 =
    // 23014.
    {"AdaDUAL just above the threshold", "ada-dual", {{1000, 10000, {0, 1}, 11000}, {8500, 1004, {0, 1}, 12004}}},

    // A second message is on each server of C when C is ready at 8500: A with 18500 left (it started at 7000), B with
    // 2500 left. C may not start beside B: 1004 > 0.4 x 2500, however much A has left. When B ends at 11000, A has
    // 16000 left and C starts: it ends at 11000 + 1004 x 2.25 = 13259. A has 14996 left then and ends at 28255.
    {"AdaDUAL examines every server",
     "ada-dual",
     {{7000, 20000, {0, 1}, 28255}, {1000, 10000, {2, 3}, 11000}, {8500, 1004, {1, 2}, 13259}}},

    // A and B start together at 1000 (1000 <= 0.4 x 100000). C is tiny beside A, but two are there already: it waits
    // until B is through at 1000 + 2250 = 3250, then takes 400 x 2.25: 4150. A has sent 1000 + 400 by then; 98600 left.
    {"AdaDUAL never admits a third",
     "ada-dual",
     {{1000, 100000, {0, 1}, 102750}, {1000, 1000, {0, 1}, 3250}, {1500, 400, {0, 1}, 4150}}},
};

Workload workload_of(const HandWorkedCase& hand_worked) {
  Workload workload;
  for (const HandWorkedJob& each : hand_worked.jobs) {
    const std::string name = fmt::format("{}", static_cast<char>('A' + workload.jobs.size()));
    workload.jobs.push_back({.name = name,
                             .model = name,
                             .submit = Time{},
                             .gpus = 2,
                             .iterations = 1,
                             .memory_per_gpu = Bytes{1},
                             .graph = workload.graphs.size()});
    IterationGraph graph;
    const RoleId worker = graph.add_role("worker", 2);
    const OpId compute = graph.add_compute("compute", worker, Time::nanoseconds(each.compute_ns));
    const OpId reduce = graph.add_collective("all-reduce", CollectiveKind::all_reduce, worker, Bytes{each.bytes});
    graph.add_dependency(compute, reduce);
    workload.graphs.push_back(std::move(graph));
  }
  return workload;
}

}  // namespace

std::span<const HandWorkedCase> hand_worked_cases() {
  return kHandWorkedCases;
}

std::vector<std::int64_t> simulate_finishes(const HandWorkedCase& hand_worked) {
  Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\n"
                                 "network: {{fidelity: contention, alpha: 0ns, beta: 1ns/B, eta: 0.25ns/B}}\n"
                                 "policies: {{communication: {}}}\n",
                                 hand_worked.communication),
                     "hand-worked case");
  scenario.cluster.servers = kServers;
  scenario.cluster.gpus_per_server = static_cast<int>(hand_worked.jobs.size());
  const RunResult run =
      run_workload(scenario, workload_of(hand_worked), 1, {}, std::make_unique<OwnGpus>(hand_worked.jobs));
  std::vector<std::int64_t> finishes;
  for (const JobResult& job : run.jobs) {
    finishes.push_back(job.state == JobState::finished ? job.finish.ns() : -1);
  }
  return finishes;
}

}  // namespace contend
