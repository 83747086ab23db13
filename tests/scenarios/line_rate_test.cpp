// A property of hybrid sharding: the time of an iteration falls with the rate of the interfaces, and by no larger part
// than the rate rises.

#include "scenarios/run/run_scenario.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

TEST_CASE("hybrid sharding: the time falls steadily with the line rate, at analytic and flow") {
  RandomStream random{59, "line rates"};
  constexpr int kLineRates = 20;
  const int configurations = effort(20);
  constexpr double kMore = 1.06;
  int ran = 0;
  for (int i = 0; i < configurations; ++i) {
    const auto one_of = [&](const std::vector<int>& all) {
      return all[static_cast<std::size_t>(random.uniform_integer(0, std::ssize(all) - 1))];
    };
    const bool is_flow = i % 2 == 1;
    const int servers = one_of({2, 3, 4, 6, 8}), shards = one_of({2, 4, 8}),
              per_server = std::max(shards, one_of({4, 8}));
    const int batch = one_of({1, 2}), accumulate = one_of({1, 2, 4}), hidden = one_of({1024, 2048, 4096});
    const int layers = one_of({2, 4, 8, 16}), sequence = one_of({1024, 2048, 4096}), zero = one_of({1, 2, 3, 3});
    const int bucket = one_of({0, 10'000'000, 100'000'000});
    const std::string entry = fmt::format(
        "transformer: {{layers: {}, hidden: {}, heads: 16, feed_forward: {}, vocabulary: 32000}}, device: A100-80GB, "
        "dtype: bf16, sequence: {}, recompute: full, batch: {}, global_batch: {}, optimizer: adam, "
        "parallel: {{zero: {}, shards: {}, bucket: {}}}",
        layers, hidden, 4 * hidden, sequence, batch, batch * accumulate * servers * per_server, zero, shards, bucket);
    double rate = one_of({20, 50, 100, 150}), before = 0;
    for (int step = 0; step < kLineRates; ++step, rate *= kMore) {
      const Scenario scenario = parsed(fmt::format(
          "cluster: {{servers: {}, gpus_per_server: {}, gpu_memory: 200GiB}}\n"
          "network: {{fidelity: {}, nic: {:.3f}Gbps, alpha: 10us{}}}\n"
          "training: {{m: {{{}}}}}\n"
          "workload: {{generate: {{models: [m], sizes: {{{}: 1}}, iterations: [10, 10], arrivals: 1ms}}}}\n",
          servers, per_server, is_flow ? "flow" : "analytic", rate,
          is_flow ? "" : ", inside: {bandwidth: 2400Gbps, alpha: 3us}", entry, servers * per_server));
      const double end = run_scenario(scenario, 1).end.to_seconds();
      INFO(entry, " at ", rate, " Gbit/s");
      if (step > 0) CHECK(end <= before);
      if (step > 0) CHECK(end >= before / kMore * 0.99999);  // rates of 3 decimals
      before = end;
      ++ran;
    }
  }
  CHECK(ran == configurations * kLineRates);
}
