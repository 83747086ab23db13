#pragma once
// Runs jobs over the analytic or the contention model, with and without leaping.

#include "network/alpha_beta.hpp"
#include "tests/network/network_kit.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace contend::test {

/// Checks that both ways give the same result, and returns it.
inline RunResult run_on(const AlphaBeta& price, bool contention, const Setup& setup, const std::vector<TestJob>& jobs,
                        const Interference& interference = {}) {
  const auto once = [&](bool leap) {
    SimulationOptions options;
    options.leap = leap;
    options.interference = interference;
    const auto servers = static_cast<std::size_t>(setup.servers);
    Simulation simulation{{setup.servers, setup.gpus_per_server, Bytes{setup.gpu_memory}},
                          workload_of(jobs),
                          policies_of(setup, jobs),
                          contention ? make_contention_network(price, servers, jobs.size())
                                     : make_analytic_network(price, servers, jobs.size()),
                          std::move(options)};
    return simulation.run();
  };
  const RunResult slow = once(false);
  CHECK(difference(slow, once(true)) == "");
  return slow;
}

/// A pipeline of `stages` roles of `ranks` ranks: joint messages forward and back, then an all-reduce in each stage.
inline std::string pipeline(int stages, int ranks, std::int64_t compute, std::int64_t bytes) {
  std::string graph;
  for (int s = 0; s < stages; ++s) graph += fmt::format("role s{} {} | ", s, ranks);
  for (int s = 0; s < stages; ++s)
    graph += fmt::format(
        "compute f{0} s{0} {1} | compute b{0} s{0} {2} | all-reduce g{0} s{0} {3} | b{0} -> g{0} | "
        "g{0} => f{0} | ",
        s, compute + s, 2 * compute, 3 * bytes);
  for (int s = 0; s + 1 < stages; ++s)
    graph += fmt::format(
        "joint-message a{0} s{0} s{1} {2} | f{0} -> a{0} | a{0} -> f{1} | joint-message e{0} s{1} s{0} "
        "{2} | b{1} -> e{0} | e{0} -> b{0} | ",
        s, s + 1, bytes);
  return graph + fmt::format("f{0} -> b{0}", stages - 1);
}

/// So many GPUs from the first on, `apart` of each other.
inline std::vector<std::uint32_t> gpus_from(int first, int count, int apart = 1) {
  std::vector<std::uint32_t> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(static_cast<std::uint32_t>(first + i * apart));
  return gpus;
}

}  // namespace contend::test
