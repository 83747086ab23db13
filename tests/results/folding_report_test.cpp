// What a run says about folding: how many GPUs and servers stood for how many, and why no fewer.

#include "results/folding_report.hpp"

#include "tests/network/contention_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("a run says how many GPUs and servers were simulated for how many, and why no fewer") {
  // Three stages on four servers each: a GPU and, by what sends through it, a server for each stage.
  const TestJob pipe{pipeline(3, 4, 10, 4), gpus_from(0, 12, 2), 9};
  const auto folding_with = [&](const std::vector<TestJob>& jobs, bool leap) {
    const Setup setup{.servers = 14, .gpus_per_server = 2, .ways = 3};
    SimulationOptions options;
    options.leap = leap;
    Simulation simulation{{14, 2, Bytes{100}},
                          workload_of(jobs),
                          policies_of(setup, jobs),
                          make_contention_network(cost(1, 1, 1), 14, jobs.size()),
                          std::move(options)};
    const RunResult run = simulation.run();
    return std::pair{*run.jobs[0].folding, folding_of(run)};
  };
  const auto [alone, run] = folding_with({pipe}, true);
  CHECK(folding_text(alone) == "12 GPUs as 3, 12 servers as 3");
  CHECK(folding_text(run) == folding_text(alone));
  CHECK(alone.roles == 3);
  CHECK(folding_text(folding_with({pipe}, false).first) ==
        "12 GPUs as 12, 12 servers as 12; all: nothing is folded without leaping, under a timeline, with jitter, or "
        "where transfers run out of time");

  // Another job begins to send through two servers of the second stage and one outside, on their second GPUs.
  const TestJob other{"role w 3 | compute f w 5 | all-reduce g w 7 | f -> g | g => f", {9, 13, 25}, 3, 40};
  const auto [first, both] = folding_with({pipe, other}, true);
  CHECK(folding_text(first) == "12 GPUs as 3, 12 servers as 5; servers: other jobs send through 2 of them");
  CHECK(both.gpus == 15);
  CHECK(both.simulated_servers == 8);  // of the other job, two are shared, and the third is nobody's equal
  CHECK(both.unfolded.shared_servers == 4);

  // One of the four GPUs of the first stage is shared: it is in a state of its own.
  const TestJob beside{"role w 1 | compute f w 5 | f => f", {2}, 3, 40, 10};
  CHECK(folding_text(folding_with({pipe, beside}, true).first) ==
        "12 GPUs as 4, 12 servers as 3; GPUs: other jobs are on some of them");
}

TEST_CASE("the JSON has the counts and the names of the reasons") {
  FoldingCounts counts;
  counts.gpus = 16;
  counts.roles = 2;
  counts.simulated_gpus = 3;
  counts.servers = counts.simulated_servers = 2;
  counts.unfolded.slow_gpus = true;
  counts.unfolded.network_with_routes = true;
  JsonWriter json;
  json.begin_object();
  write_folding(json, counts);
  json.end_object();
  std::string text = json.take();
  std::erase_if(text, [](char each) { return each == ' ' || each == '\n'; });
  CHECK(
      text ==
      R"({"folding":{"gpus":16,"simulated_gpus":3,"servers":2,"simulated_servers":2,"unfolded":["slow-gpus","routes"]}})");
  CHECK(folding_text(counts) ==
        "16 GPUs as 3, 2 servers as 2; GPUs: some are slower than others; servers: their places in the fabric differ");
}
