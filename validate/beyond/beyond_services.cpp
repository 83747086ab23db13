// Services that training waits for, beside closed forms: exchanges over a store, cold starts, storage and its caches,
// aggregators of federated training. docs/models/services.md has the equations and their sources.

#include "models/federated/aggregation.hpp"
#include "models/overlap/exchange_cost.hpp"
#include "models/passes/graph_passes.hpp"
#include "models/services/data_reading.hpp"
#include "models/services/start_up.hpp"
#include "models/services/stored_exchange.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/random_stream.hpp"
#include "validate/beyond/beyond_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kServiceExact = 1e-9, kPrinted = 5e-4, kOfDraws = 0.03;

/// The seconds that a job of so many workers, each on a server of its own, takes for iterations of this graph.
double seconds_of(IterationGraph graph, int workers, std::int64_t iterations, const std::string& keys) {
  Workload workload;
  workload.graphs.push_back(std::move(graph));
  JobSpec job;
  job.name = "job";
  job.gpus = workers;
  job.iterations = iterations;
  workload.jobs.push_back(std::move(job));
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: 1}}\n"
                                 "policies: {{scheduling: fifo, placement: first-fit}}\n{}",
                                 workers, keys),
                     "validate beyond");
  return run_workload(scenario, std::move(workload), 1).jobs.front().finish.to_seconds();
}

/// LambdaML's case: 100 iterations that compute for 50 s on one worker, and gradients of 12 MB.
double lambda_seconds(int workers, const std::string& network, double start_s) {
  const std::int64_t compute_ns = 50'000'000'000 / workers;
  return seconds_of(graph_from_text(fmt::format("role worker {} | compute work worker {} | all-reduce sum worker "
                                                "12000000 | work -> sum | sum => work",
                                                workers, compute_ns)),
                    workers, 100,
                    fmt::format("network: {{fidelity: analytic, {}}}\ncheckpoints: {{start_up: {{mean: {:.0f}us}}}}\n",
                                network, start_s * 1e6));
}

/// The share of reads of the last of some epochs that a cache of the least recently used samples answers.
double simulated_lru(std::size_t samples, std::size_t room) {
  RandomStream order{1, "epochs"};
  std::list<std::size_t> used;  // the last one first
  std::vector<std::list<std::size_t>::iterator> at(samples, used.end());
  std::vector<std::size_t> epoch(samples);
  std::iota(epoch.begin(), epoch.end(), std::size_t{});
  std::size_t hits = 0;
  constexpr int kEpochs = 4;
  for (int e = 0; e < kEpochs; ++e) {
    for (std::size_t i = samples; i-- > 1;)
      std::swap(epoch[i], epoch[static_cast<std::size_t>(order.uniform_integer(0, static_cast<std::int64_t>(i)))]);
    hits = 0;
    for (const std::size_t sample : epoch) {
      if (at[sample] != used.end()) {
        ++hits;
        used.erase(at[sample]);
      } else if (used.size() == room) {
        at[used.back()] = used.end();
        used.pop_back();
      }
      used.push_front(sample);
      at[sample] = used.begin();
    }
  }
  return static_cast<double>(hits) / static_cast<double>(samples);
}

void add_check(CheckedTable& table, std::string name, double published, double ours, double tolerance) {
  table.checks.push_back({std::move(name), published, ours, tolerance, {}});
}

}  // namespace

CheckedTable services_exchange() {
  CheckedTable table;
  table.title = "LambdaML: exchanges over a store, seconds";
  const ChannelCost s3{Time::milliseconds(80), TimePerByte{1e9 / 65e6}, {}};
  const auto all_reduce = [&](bool scatters) {
    return stored_exchange(10, s3, Time{}, scatters).of(CollectiveKind::all_reduce).of(Bytes{12'000'000}).to_seconds();
  };
  add_check(table, "reduce of 12 MB by 10 workers", 13 * (12. / 65 + .08), all_reduce(false), kServiceExact);
  add_check(table, "as printed", 3.440, all_reduce(false), kPrinted / 3.44);
  add_check(table, "scatter-reduce", 28 * (1.2 / 65 + .08), all_reduce(true), kServiceExact);
  constexpr double kLoad = 8000. / 65;
  const std::string store = "formula: store-scatter, alpha: 80ms, nic: 520Mbps";
  const std::string machines = "formula: ring, alpha: 0.5ms, nic: 960Mbps";
  add_check(table, "10 functions, 100 iterations", 900.0, lambda_seconds(10, store, 1.2 + kLoad), .05 / 900);
  add_check(table, "10 machines", 774.0, lambda_seconds(10, machines, 132 + kLoad), .05 / 774);
  add_check(table, "100 functions", 2630.1, lambda_seconds(100, store, 18 + kLoad), .05 / 2630);
  add_check(table, "100 machines", 494.8, lambda_seconds(100, machines, 292 + kLoad), .05 / 494);
  return table;
}

CheckedTable services_starts() {
  CheckedTable table;
  table.title = "cold starts: seconds until a job's slowest worker runs";
  const StartUp pooled{Time::milliseconds(3240), Time::milliseconds(7100)};
  const LogNormal law = log_of(pooled);
  add_check(table, "mu of the pooled law", .296, law.mu - std::log(1e9), 5e-4 / .296);
  add_check(table, "sigma", 1.326, law.sigma, 5e-4 / 1.326);
  for (const auto& [workers, published] : {std::pair{10, 14.5}, {100, 45.0}}) {
    add_check(table, fmt::format("{} workers, by integration", workers), published, mean_slowest_s(pooled, workers),
              .05 / published);
    double sum = 0;
    constexpr int kJobs = 20'000;
    for (int j = 0; j < kJobs; ++j)
      sum += slowest_start(pooled, workers, 1, fmt::format("start/{}/{}", workers, j)).to_seconds();
    add_check(table, fmt::format("{} workers, 20,000 jobs drawn", workers), mean_slowest_s(pooled, workers),
              sum / kJobs, kOfDraws);
  }
  // One short function that is kept for 60 s, and a request every 60 s in the mean.
  const AggregationTree kept{.start = Time::nanoseconds(1), .keep = Time::seconds(60)};
  WarmAggregators there;
  RandomStream gaps{1, "requests"};
  double now_s = 0;
  int cold = 0;
  constexpr int kRequests = 100'000;
  for (int r = 0; r < kRequests; ++r) {
    now_s -= 60 * std::log(1 - gaps.uniform());
    if (there.wait(kept, 2, Time::nanoseconds(std::llround(now_s * 1e9)), Time{}) > Time{}) ++cold;
  }
  add_check(table, "kept for 60 s, a request a minute: share that starts cold", cold_share(1. / 60, 60),
            static_cast<double>(cold) / kRequests, kOfDraws);
  return table;
}

CheckedTable services_storage() {
  CheckedTable table;
  table.title = "storage: shares of reads that caches answer, and of the sequential rate";
  const auto lru = [](double share) { return hit_share(share, CacheRule::lru, ReadOrder::random); };
  add_check(table, "LRU, 0.35 of the data", .0700, lru(.35), 5e-5 / .07);
  add_check(table, "LRU, 0.5 of the data", .1534, lru(.5), 5e-5 / .1534);
  constexpr std::size_t kSamples = 200'000;
  add_check(table, "LRU, 0.5, read by read", lru(.5), simulated_lru(kSamples, kSamples / 2), kOfDraws);
  add_check(table, "a cache that evicts nothing, 0.5", .5, hit_share(.5, CacheRule::keep, ReadOrder::random), 0);
  DataReading data{.sample = Bytes{100'000}, .seek = Time::milliseconds(7), .rate = ByteRate{150e6}};
  constexpr std::int64_t kMany = 100'000;
  const auto seconds_with = [&](ReadOrder order) {
    data.order = order;
    return fetch_time(data, kMany).to_seconds();
  };
  data.block = Bytes{10'000'000};
  const double sequential = seconds_with(ReadOrder::sequential);
  add_check(table, "CorgiPile, blocks of 10 MB", .905, sequential / seconds_with(ReadOrder::blocks), kPrinted / .905);
  add_check(table, "tuples of 100 KB", .087, sequential / seconds_with(ReadOrder::random), kPrinted / .087);
  // An epoch of 100 iterations of 10 samples: its first buffer, and the longer of reading and computing.
  for (const double compute_s : {.05, .2}) {
    data.order = ReadOrder::blocks;
    data.buffer = .1;
    IterationGraph graph = graph_from_text(
        fmt::format("role worker 1 | compute work worker {} | work => work", std::llround(compute_s * 1e9)));
    load_beside(graph, loading_time(data, 10), filling_time(data, 10));
    const double read_s = 100 * (1e6 / 10e6 * .007 + 1e6 / 150e6);
    add_check(table, fmt::format("an epoch that computes for {:g} s: seconds", 100 * compute_s),
              std::max(read_s, 100 * compute_s) + .1 * read_s, seconds_of(std::move(graph), 1, 100, ""), 1e-6);
  }
  return table;
}

CheckedTable services_aggregators() {
  CheckedTable table;
  table.title = "LIFL: trees of aggregators";
  AggregationTree tree{.fan_in = 4, .per_node = 16, .memory = ByteRate{1e9}, .link = ByteRate{1e8}};
  for (const auto& [updates, levels] : {std::pair{2, 1}, {4, 1}, {5, 2}, {16, 2}, {17, 3}, {64, 3}, {65, 4}})
    add_check(table, fmt::format("levels of {} updates, 4 each", updates), levels, tree_levels(tree, updates), 0);
  // By hand: 64 updates of 1 MB, 4 each: 16, 4 and 1 aggregators add up 4 MB each.
  constexpr Bytes kUpdate{1'000'000};
  add_check(table, "64 updates on one node, seconds", .012, tree_time(tree, 64, kUpdate).to_seconds(), kServiceExact);
  tree.per_node = 4;
  add_check(table, "4 aggregators a node: a level sends", .022, tree_time(tree, 64, kUpdate).to_seconds(),
            kServiceExact);
  tree.per_node = 1;
  add_check(table, "1 a node: two levels send", .032, tree_time(tree, 64, kUpdate).to_seconds(), kServiceExact);
  return table;
}

}  // namespace contend
