// Queues with servers that break down, and with several servers.

#include "models/reliability/availability.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/scenario.hpp"
#include "sim/random_stream.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kUnit_s = 1000;  // of time in the formulas
constexpr int kCustomers = 100'000;

struct Queue {
  int servers = 1;
  double arrival = 0, service = 1;  // rates
  double failure = 0, repair = 0;
};

RunResult serve(const Queue& queue, std::uint64_t seed) {
  RandomStream arrivals{seed, "arrivals"}, services{seed, "services"};
  Workload workload;
  Time now;
  for (int j = 0; j < kCustomers; ++j) {
    JobSpec job;
    job.name = fmt::format("job{}", j);
    now += Time::ceil_nanoseconds(arrivals.exponential(kUnit_s / queue.arrival) * 1e9);
    job.submit = now;
    job.duration = Time::ceil_nanoseconds(services.exponential(kUnit_s / queue.service) * 1e9);
    workload.jobs.push_back(std::move(job));
  }
  std::string keys = fmt::format(
      "schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 1}}\n"
      "policies: {{scheduling: fifo, placement: first-fit}}\n",
      queue.servers);
  if (queue.failure > 0)
    keys += fmt::format("failures: {{components: [{{name: server, fails: {{mean: {}s}}, repair: {{mean: {}s}}}}]}}\n",
                        kUnit_s / queue.failure, kUnit_s / queue.repair);
  return run_workload(parse_scenario(keys, "validate faults"), std::move(workload), seed);
}

/// The mean number of customers, by Little's law.
double mean_number(const RunResult& result) {
  double sojourn_s = 0;
  for (const JobResult& job : result.jobs) sojourn_s += job.jct().to_seconds();
  return sojourn_s / result.jobs.back().submit.to_seconds();
}

double share_that_waits(const RunResult& result) {
  double waiting = 0;
  for (const JobResult& job : result.jobs) waiting += job.queueing() > Time{} ? 1 : 0;
  return waiting / static_cast<double>(result.jobs.size());
}

/// The share of a long time in which a job of `needed` servers waits because too few of them and of the cold spares
/// work.
double share_without_spare(int needed, int spares, double failure_s, double repair_s) {
  Workload workload;
  JobSpec job;
  job.name = "endless";
  job.gpus = needed;
  job.duration = Time::seconds(static_cast<std::int64_t>(3e9));
  workload.jobs.push_back(std::move(job));
  constexpr double kUntil_s = 1e7;
  const std::string keys = fmt::format(
      "schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 1}}\nengine: {{until: {}s}}\n"
      "policies: {{scheduling: fifo, placement: first-fit}}\n"
      "failures: {{components: [{{name: server, fails: {{mean: {}s}}, repair: {{mean: {}s}}}}], cold_spares: {}}}\n",
      needed + spares, kUntil_s, failure_s, repair_s, spares);
  const RunResult result = run_workload(parse_scenario(keys, "validate faults"), std::move(workload), 1);
  return 1 - result.jobs[0].held.to_seconds() / kUntil_s;
}

}  // namespace

CheckedTable faults_queues() {
  CheckedTable table;
  table.title = "Queues of 100,000 customers: servers that break down, Erlang C";
  struct Row {
    Queue queue;
    double number;
  };
  for (const Row& row : {Row{{1, 0.5, 1, 0.05, 0.5}, 1.424242}, Row{{1, 0.6, 1, 0.01, 0.1}, 3.545455}}) {
    const Queue& queue = row.queue;
    const RunResult result = serve(queue, 1);
    const std::string name =
        fmt::format("M/M/1, arrival {}, failure {}, repair {}", queue.arrival, queue.failure, queue.repair);
    table.checks.push_back({name + ": number", row.number, mean_number(result), 0.06, {}});
    const double up = 1 - result.gpus[0].down.to_seconds() / result.end.to_seconds();
    table.checks.push_back({name + ": availability", queue.repair / (queue.failure + queue.repair), up, 0.01, {}});
  }
  table.checks.push_back(
      {"M/M/4, 3 erlangs: share that waits", 0.509434, share_that_waits(serve({4, 3, 1, 0, 0}, 1)), 0.02, {}});
  table.checks.push_back(
      {"M/M/16, 14 erlangs: share that waits", 0.508482, share_that_waits(serve({16, 14, 1, 0, 0}, 1)), 0.04, {}});
  for (const int spares : {0, 3}) {
    constexpr double kFailure_s = 1000, kRepair_s = 60;
    table.checks.push_back({fmt::format("20 servers, {} cold spares: share of the time with too few", spares),
                            spares_short_probability(20, spares, 1 / kFailure_s, 1 / kRepair_s),
                            share_without_spare(20, spares, kFailure_s, kRepair_s),
                            0.02,
                            {}});
  }
  return table;
}

}  // namespace contend
