// Laws of failures by which a run would hardly get on, or hardly have a GPU.

#include "scenarios/run/run_notes.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/text_checks.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Of a cluster of 1024 GPUs.
std::string failures_of_1024(const std::string& failures) {
  return "cluster: {servers: 128, gpus_per_server: 8}\nfailures: {" + failures + "}\n";
}

std::string gpu_laws(const std::string& laws) {
  return failures_of_1024("components: [{name: gpu, of: gpu, " + laws + "}]");
}

}  // namespace

TEST_CASE("components that fail so often that a run would hardly get on are refused, with what would be right") {
  // Each of 1024 GPUs is down for 1 ns after 1 ns on average: 1024 / 2 ns = 5.12e11 failures a second. A mean of 1024 /
  // 10,000 s = 102.4 ms would be enough.
  const std::string each_ns = errors_of(gpu_laws("fails: {mean: 1ns}, repair: {mean: 1ns}"));
  CHECK_MESSAGE(contains(each_ns,
                         "failures.components: each `gpu` fails after 1e-09 s on average: that is 5.12e+11 "
                         "failures in each simulated second"),
                each_ns);
  CHECK_MESSAGE(contains(each_ns, "at most 10000 failures a second, such as a mean of 0.1024s"), each_ns);
  CHECK(
      contains(errors_of(gpu_laws("fails: {mean: 100ms}, repair: {mean: 1ms}")), "failures in each simulated second"));
  CHECK(errors_of(gpu_laws("fails: {mean: 102.4ms}, repair: {mean: 1ns}")).empty());
  // A long repair makes failures rare, and a law that says never has no rate.
  CHECK(errors_of(gpu_laws("fails: {mean: 1ms}, repair: {mean: 1h}")).empty());
  CHECK(errors_of(gpu_laws("fails: {per_day: 0}, repair: {mean: 1ns}")).empty());
  // 8 racks of 16 servers.
  CHECK(errors_of(failures_of_1024(
                      "components: [{name: rack, of: domain, servers: 16, fails: {mean: 800us}}], repair: {mean: "
                      "1us}"))
            .empty());
  CHECK(contains(
      errors_of(failures_of_1024("components: [{name: rack, of: domain, servers: 16, fails: {mean: 700us}}], repair: "
                                 "{mean: 1us}")),
      "each `rack` fails"));
  CHECK(
      contains(errors_of(failures_of_1024("jobs: {per_day: 1e9}")), "failures.jobs: each job fails after 8.64e-05 s"));
  CHECK(errors_of(failures_of_1024("jobs: {per_day: 8e8}")).empty());
}

TEST_CASE("a cluster whose GPUs are hardly ever in service is told, with the share of the time and the components") {
  const auto note = [](const std::string& failures) {
    const Scenario scenario = parsed(failures_of_1024(failures));
    return service_share_note(scenario.cluster, scenario.failures);
  };
  const std::string hopeless = "{name: part, of: gpu, drains: false, fails: {mean: 1s}, repair: {mean: 1h}}";
  // 1 / 3601 of the time.
  CHECK(note("components: [" + hopeless + "]") ==
        "failures: a GPU is in service for 0.0278% of the time: each `part` fails after 1s and is repaired in 1h on "
        "average; jobs wait for the rest of the time, and the run may take very long");
  // A rack works for 19 of 20 hours, and isn't to blame: 0.95 / 3601.
  CHECK(contains(note("components: [" + hopeless +
                      ", {name: rack, of: domain, servers: 16, fails: {mean: 19h}, repair: "
                      "{mean: 1h}}]"),
                 "a GPU is in service for 0.0264% of the time: each `part` fails after 1s and is repaired in 1h on "
                 "average; jobs"));
  // Half of the time each; a server works while all of its eight GPUs do: 1 / 256, and half of that with the server.
  const std::string both =
      "components: [{name: gpu, of: gpu, fails: {mean: 1h}, repair: {mean: 1h}}, {name: host, of: "
      "server, fails: {law: weibull, shape: 0.7, mean: 1h}, repair: {law: constant, mean: 60min}}]";
  CHECK(contains(note(both),
                 "in service for 0.195% of the time: each `gpu` fails after 1h and is repaired in 1h on "
                 "average, and takes its server with it; each `host` fails after 1h and is repaired in 1h "
                 "on average; jobs"));
  // Slow GPUs are in service, and so are those that work for a tenth of the time.
  CHECK(note("components: [{name: slow, of: gpu, slows: 2, fails: {mean: 1s}, repair: {mean: 1h}}]").empty());
  CHECK(note("components: [{name: host, fails: {mean: 1.01h}, repair: {mean: 9h}}]").empty());
  CHECK_FALSE(note("components: [{name: host, fails: {mean: 0.99h}, repair: {mean: 9h}}]").empty());
  CHECK(note("preset: rsc-1, repair: {mean: 6h}").empty());
  CHECK(note("jobs: {mean: 1h}").empty());
}
