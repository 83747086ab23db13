// Meters in scenarios: keys and their faults, and what results say. Figures are worked out by hand.

#include "results/job_groups.hpp"
#include "results/result_columns.hpp"
#include "results/result_reader.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kMeteredJobs = "job_id,submit_s,gpus,duration_s,user\na,0,2,1000,ann\nb,0,2,500,bob\n";
constexpr const char* kPowers = "power: {idle: 50, waiting: 100, computing: 300}";

/// Two servers of two GPUs, and the job list.
struct MeteredScenario : ListedJobs {
  explicit MeteredScenario(const std::string& cluster, const std::string& more = "",
                           const std::string& jobs = kMeteredJobs) {
    scenario =
        parsed(fmt::format("cluster: {{servers: 2, gpus_per_server: 2{}}}\n"
                           "policies: {{scheduling: fifo, placement: first-fit}}\nworkload: {{jobs: {}}}\n{}",
                           cluster, file("jobs.csv", jobs), more));
  }
};

Replica replica_of(const RunResult& result) {
  return {1, result, summarise(result), {}};
}

}  // namespace

TEST_CASE("meters: energy of jobs and of the cluster, by hand, and nothing of what isn't known") {
  const MeteredScenario metered{fmt::format(", {}", kPowers)};
  const RunResult result = metered.run();
  // a: 2 GPUs x 1000 s x 300 W; b: half of it; its GPUs idle for the other 500 s at 50 W.
  CHECK(result.jobs[0].drawn->energy_j == 600'000);
  CHECK(result.jobs[1].drawn->energy_j == 300'000);
  CHECK(result.drawn->energy_j == 950'000);
  const Replica replica = replica_of(result);
  CHECK(replica.summary.job_energy_kwh == near(0.25));
  CHECK(replica.summary.energy_kwh == near(950 / 3600.0));
  CHECK(std::isnan(replica.summary.carbon_g));
  const std::string jobs = jobs_csv({&replica, 1});
  CHECK(jobs.find("host_s,energy_j\n") != std::string::npos);
  CHECK(gpus_csv({&replica, 1}).find("down_s,held_s,energy_j\n0,0,1000,1,0,1000,300000\n") != std::string::npos);
  CHECK(energy_csv({&replica, 1}) ==
        "hour,type,idle_gpu_s,waiting_gpu_s,computing_gpu_s,energy_j\n0,,1000,0,3000,950000\n");
  const std::string summary = summary_json("x", {&replica, 1});
  CHECK(summary.find("\"energy_kwh\"") != std::string::npos);
  CHECK(summary.find("carbon") == std::string::npos);
}

TEST_CASE("meters: without power nothing is metered, and nothing of a meter is in files") {
  const MeteredScenario plain{""};
  const RunResult result = plain.run();
  CHECK(result.uses.empty());
  CHECK(!result.jobs[0].drawn);
  const Replica replica = replica_of(result);
  for (const std::string& text : {jobs_csv({&replica, 1}), gpus_csv({&replica, 1}), summary_json("x", {&replica, 1})})
    CHECK(text.find("energy") == std::string::npos);
  const MeteredScenario metered{fmt::format(", {}", kPowers)};
  CHECK(metered.run().digest == result.digest);
}

TEST_CASE("meters: sites inline, carbon, water and money of jobs, and of groups of them") {
  const MeteredScenario metered{
      fmt::format(", {}", kPowers),
      "meter: {currency: EUR, sites: [{name: x, pue: 1.5, price: 0.2, carbon: 360, water: 1.8}]}\n"};
  const RunResult result = metered.run();
  const Consumption& a = *result.jobs[0].drawn;  // a sixth of a kWh
  CHECK(*a.carbon_g == near(1.5 * 360 / 6));
  CHECK(*a.water_l == near(0.3));
  CHECK(*a.price == near(0.05));
  CHECK(*result.jobs[0].cost == near(0.05));
  CHECK(result.currency == "EUR");
  const Replica replica = replica_of(result);
  CHECK(replica.summary.cost == near(0.075));
  CHECK(replica.summary.energy_cost == near(950 / 3600.0 * 1.5 * 0.2));
  CHECK(replica.summary.carbon_g == near(950 / 3600.0 * 1.5 * 360));
  CHECK(summary_json("x", {&replica, 1}).find("\"currency\": \"EUR\"") != std::string::npos);
  const StoredReplica stored = as_stored(replica);
  const std::vector<GroupFigures> users = group_figures({&stored, 1}, find_grouping("user"));
  REQUIRE(users.size() == 2);
  for (std::size_t m = 0; m < group_metrics().size(); ++m) {
    if (group_metrics()[m].name == "job_carbon_g") CHECK(users[0].figures[m] == near(90));
    if (group_metrics()[m].name == "cost") CHECK(users[1].figures[m] == near(0.025));
  }
}

TEST_CASE("meters: a table of sites by hour; types with a price, a site and a device") {
  const TemporaryFolder folder;
  write_file(folder.path("rates.csv"), "site,hour,USD_per_kwh,g_per_kwh\nx,0,0.1,100\nx,1,0.3,300\ny,0,1,10\n");
  const std::string types =
      "cluster: {types: [{name: old, servers: 1, gpus_per_server: 1, device: V100-SXM2, power: {}, site: x, price: 3}, "
      "{name: new, servers: 1, gpus_per_server: 1, power: {idle: 10, waiting: 20, computing: 100}, site: y}]}\n";
  write_file(folder.path("jobs.csv"), "job_id,submit_s,gpus,duration_s,gpu_type\na,0,1,7200,old\n");
  const Scenario scenario =
      parsed(types + fmt::format("policies: {{scheduling: fifo, placement: first-fit}}\nworkload: {{jobs: {}}}\n"
                                 "meter: {{rates: {}}}\n",
                                 folder.path("jobs.csv"), folder.path("rates.csv")));
  const RunResult result = run_scenario(scenario, 1);
  // 300 W, the limit of a V100 SXM2, for 0.3 kWh in either hour.
  CHECK(result.jobs[0].drawn->energy_j == 300.0 * 7200);
  CHECK(*result.jobs[0].drawn->carbon_g == near(0.3 * 100 + 0.3 * 300));
  CHECK(*result.jobs[0].cost == near(2 * 3 + 0.3 * 0.1 + 0.3 * 0.3));
  CHECK(result.types[1].drawn->energy_j == 10.0 * 7200);
  CHECK(*result.types[1].drawn->carbon_g == near(0.02 * 10));
  CHECK(result.currency == "USD");
  const Scenario again = parse_scenario(to_yaml(scenario), "b.yaml", {}, reader_of({}));
  CHECK(again.cluster.types == scenario.cluster.types);
  CHECK(to_yaml(again) == to_yaml(scenario));
}

TEST_CASE("meters: what can't be metered is refused when the scenario is read") {
  const auto refused = [](const std::string& text) { return errors_of(text); };
  CHECK(refused("cluster: {power: {computing: 300, idle: 400}}\n")
            .find("cluster.power: 150 W are less than the 400 W of an idle GPU") != std::string::npos);
  CHECK(refused("cluster: {power: {idle: 50}}\n").find("no power while computing is known") != std::string::npos);
  CHECK(refused("cluster: {types: [{name: a, servers: 1, power: {computing: 300}}, {name: b, servers: 1}]}\n")
            .find("type `b`: no power while computing is known") != std::string::npos);
  const std::string power = "cluster: {power: {computing: 300}, site: oslo}\n";
  CHECK(refused(power + "meter: {sites: [{name: olso, carbon: 20}]}\n").find("the meter has no site `oslo`") !=
        std::string::npos);
  CHECK(refused("cluster: {power: {computing: 300}}\nmeter: {sites: [{name: a, carbon: 1}, {name: b, carbon: 2}]}\n")
            .find("expected a `site`, one of a or b") != std::string::npos);
  CHECK(refused(power + "meter: {sites: [{name: oslo, carbon: 20}, {name: a, price: 1}]}\n").find("has no carbon") !=
        std::string::npos);
  CHECK(refused(power + "meter: {rates: none.csv}\n").find("none.csv") != std::string::npos);
  CHECK(refused("meter: {currency: EUR}\n").find("needs `cluster.power") != std::string::npos);
}
