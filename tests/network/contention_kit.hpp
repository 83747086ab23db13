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

}  // namespace contend::test
