// Laws of failures by which a run would hardly get on.

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
