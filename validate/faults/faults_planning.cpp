// Paths and priorities that are planned with the traffic of all jobs, in runs of the engine: C4P's and Crux's tests.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "validate/faults/faults_suite.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kGigabit = 1e9 / 8;  // bytes

/// A job that computes and then exchanges, over and over. Its ranks are on these servers, which have one GPU each.
struct ExchangeJob {
  std::int64_t compute_ns = 1;
  std::int64_t bytes = 0;
  std::vector<GpuId> servers{};
};

/// Seconds of an iteration of each job; they start one after the other and have 50 iterations.
std::vector<double> iterations_s(const std::vector<ExchangeJob>& jobs, std::size_t servers, const std::string& network,
                                 std::uint64_t seed) {
  constexpr int kIterations = 50;
  Workload workload;
  for (const ExchangeJob& each : jobs) {
    workload.graphs.push_back(graph_from_text(
        fmt::format("role worker {} | compute work worker {} | all-reduce sum worker {} | work -> sum | sum => work",
                    each.servers.size(), each.compute_ns, each.bytes)));
    JobSpec job;
    job.name = fmt::format("job{}", workload.jobs.size());
    job.submit = Time::nanoseconds(static_cast<std::int64_t>(workload.jobs.size()));
    job.gpus = static_cast<int>(each.servers.size());
    job.iterations = kIterations;
    job.graph = workload.graphs.size() - 1;
    job.place = static_cast<std::int32_t>(workload.places.size());
    workload.places.push_back(each.servers);
    workload.jobs.push_back(std::move(job));
  }
  const Scenario scenario = parse_scenario(
      fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, "
                  "placement: first-fit, communication: {{policy: srsf, ways: 64}}}}\nnetwork: {{fidelity: flow, "
                  "alpha: 0s, {}}}\n",
                  servers, network),
      "validate faults");
  std::vector<double> seconds;
  for (const JobResult& job : run_workload(scenario, std::move(workload), seed).jobs)
    seconds.push_back(job.held.to_seconds() / kIterations);
  return seconds;
}

/// The bus bandwidth, as a share of the bandwidth of an interface of 400 Gbit/s, of eight jobs that exchange at once
/// between servers on two leaves, which eight spines join with as much: the mean over jobs and seeds.
double bus_share(const std::string& routing) {
  constexpr std::int64_t kBytes = 1'000'000'000;
  constexpr std::uint32_t kPairs = 8;
  constexpr std::uint64_t kSeeds = 40;
  std::vector<ExchangeJob> jobs;
  for (std::uint32_t j = 0; j < kPairs; ++j) jobs.push_back({1, kBytes, {GpuId{j}, GpuId{j + kPairs}}});
  const std::string network =
      "nic: 400Gbps, fabric: {kind: leaf-spine, servers_per_leaf: 8, spines: 8}, routing: " + routing;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const double s : iterations_s(jobs, 2 * std::size_t{kPairs}, network, seed))
      sum += static_cast<double>(kBytes) / s;  // of two ranks each sends all bytes once
  return sum / (400 * kGigabit * static_cast<double>(kSeeds) * kPairs);
}

/// Samples a second of GPT-22B on 64 servers of 8 GPUs where gradients are summed at 360 Gbit/s, if there are 74.82 at
/// 240 Gbit/s: one sample for each of 64 replicas, and 22e9 / 8 gradients of two bytes on each GPU.
double gpt_22b_per_second() {
  constexpr int kReplicas = 64;
  constexpr double kBefore = 74.82, kBytes = 22e9 / 8 * 2;
  std::vector<ExchangeJob> one{{1, static_cast<std::int64_t>(kBytes), {}}};
  for (std::uint32_t server = 0; server < kReplicas; ++server) one[0].servers.emplace_back(server);
  const auto run = [&](double gigabits) {
    const std::string network = fmt::format("nic: {}Gbps, fabric: {{kind: single-switch}}", gigabits);
    return iterations_s(one, kReplicas, network, 1)[0];
  };
  one[0].compute_ns = static_cast<std::int64_t>((kReplicas / kBefore - run(240)) * 1e9);
  return kReplicas / run(360);
}

/// Seconds of an iteration of GPT, 1.53 alone, beside a job on its links whose bytes go behind its own.
double gpt_beside_bert_s() {
  constexpr std::int64_t kGptBytes = 6'000'000'000, kBertBytes = 2'000'000'000;
  constexpr double kRate = 100 * kGigabit, kGptAlone = 1.53, kBertCompute = 0.1;
  const auto compute = static_cast<std::int64_t>((kGptAlone - static_cast<double>(kGptBytes) / kRate) * 1e9);
  const std::vector<ExchangeJob> jobs{
      {compute, kGptBytes, {GpuId{0U}, GpuId{2U}}},
      {static_cast<std::int64_t>(kBertCompute * 1e9), kBertBytes, {GpuId{1U}, GpuId{3U}}}};
  return iterations_s(jobs, 4,
                      "nic: 100Gbps, fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 1, oversubscription: 2}, "
                      "routing: planned, planning: {order: intensity, levels: 2}",
                      1)[0];
}

/// Seconds of an iteration of two jobs that compute and then send for so many ms each, over one link between two
/// leaves.
double in_turns_s(std::int64_t computes_ms, std::int64_t sends_ms, bool shifts) {
  constexpr double kRate = 100 * kGigabit;
  const auto bytes =
      static_cast<std::int64_t>(kRate * static_cast<double>(sends_ms) / 1e3);  // each of two ranks sends all
  const std::vector<ExchangeJob> jobs{{computes_ms * 1'000'000, bytes, {GpuId{0U}, GpuId{2U}}},
                                      {computes_ms * 1'000'000, bytes, {GpuId{1U}, GpuId{3U}}}};
  const std::vector<double> seconds = iterations_s(
      jobs, 4,
      fmt::format("nic: 100Gbps, fabric: {{kind: leaf-spine, servers_per_leaf: 2, spines: 1, oversubscription: 2}}, "
                  "routing: planned, planning: {{shifts: {}}}",
                  shifts),
      1);
  return (seconds[0] + seconds[1]) / 2;
}

}  // namespace

CheckedTable faults_planning() {
  CheckedTable table;
  table.title = "Paths and priorities planned with the traffic of all jobs: C4P and Crux";
  table.checks.push_back({"C4P: bus bandwidth of 8 jobs by ECMP, of 400 Gbit/s", 0.60, bus_share("ecmp"), 0.1, {}});
  table.checks.push_back({"C4P: bus bandwidth of 8 jobs on planned paths", 0.90, bus_share("planned"), 0.05, {}});
  table.checks.push_back({"C4P: GPT-22B, samples/s at 360 Gbit/s", 86.76, gpt_22b_per_second(), 0.02, {}});
  table.checks.push_back({"Crux: iteration of GPT beside BERT, as alone", 1.53, gpt_beside_bert_s(), 1e-3, {}});
  // 50 iterations; until the turns are found, up to two periods of one of the jobs are lost.
  table.checks.push_back({"CASSINI: iteration of two jobs that compute for 60 and send for 40 ms, ms",
                          140,
                          1e3 * in_turns_s(60, 40, false),
                          0.02,
                          {}});
  table.checks.push_back({"CASSINI: the same, shifted", 100, 1e3 * in_turns_s(60, 40, true), 0.02, {}});
  table.checks.push_back({"CASSINI: 40 and 60 ms, shifted", 120, 1e3 * in_turns_s(40, 60, true), 0.02, {}});
  table.notes.push_back("GPT's 1.70 s beside BERT without priorities need BERT's traffic, which isn't published");
  return table;
}

}  // namespace contend
