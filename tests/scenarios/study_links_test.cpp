#include "models/overlap/link_cost.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "traces/link_matrix_csv.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

constexpr const char* kThree =
    "from,to,latency_ms,mbps\n"
    "a,b,5,100\nb,a,5,200\nb,c,10,400\nc,b,10,300\na,c,20,50\nc,a,20,80\n";

Scenario study_of_sites(const std::string& links, const std::string& more = {}, const std::string& top = {},
                        const std::string& network = {}) {
  return parse_scenario("schema_version: 1\nnetwork: {sites: " + links + (network.empty() ? "" : ", " + network) +
                            "}\n" + top + "training: {it: {model: resnet18}}\noverlap: {training: it, fusion: [bsp]" +
                            (more.empty() ? "" : ", " + more) + "}\n",
                        "study");
}

std::vector<std::string> link_complaints(const std::string& links, const std::string& more, const std::string& top = {},
                                         const std::string& network = {}) {
  std::vector<std::string> found;
  try {
    static_cast<void>(study_of_sites(links, more, top, network));
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) found.push_back(each.key + ": " + each.reason);
  }
  return found;
}

}  // namespace

TEST_CASE("sites of a file: all are workers, or the first so many; the exposed time is the time of the collectives") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  write_file(file, kThree);
  const Scenario scenario = study_of_sites(file, "compression: [none, saps, {policy: saps, matched: false}, d-psgd]");
  CHECK(scenario.overlap.workers == std::vector<int>{3});
  CHECK(study_of_sites(file, "workers: [2]").overlap.workers == std::vector<int>{2});
  const std::string text = to_yaml(scenario);
  CHECK(text.find("nic") == std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "again")) == text);

  const std::vector<JobResult> rows = run_study(scenario).jobs;
  REQUIRE(rows.size() == 4);
  const LinkMatrix links = read_link_matrix(file);
  const Bytes all = study_problem(scenario, study_model(scenario.overlap), 3).gradient();
  const Time reduce = link_cost(links, {}, {}, 1).sized(all, CollectiveKind::all_reduce).of(all);
  CHECK(iteration_value(rows[0], "exposed_communication_s") == near(reduce.to_seconds()));
  // Pairs of three sites leave one out. Blocks of 5 rounds: four over b-c, the fastest; the last has to connect a, with
  // b by 100 Mbit/s and 5 ms rather than with c by 50 and 20.
  const double swapped = rows[1].traffic->sent_bytes;
  CHECK(swapped == near(0.01 * all.to_double(), 1e-5));
  const double fast = 0.010 + swapped * 8 / 300e6, slow = 0.005 + swapped * 8 / 100e6;
  CHECK(iteration_value(rows[1], "exposed_communication_s") == near((4 * fast + slow) / 5, 1e-7));
  CHECK(iteration_value(rows[2], "exposed_communication_s") > iteration_value(rows[1], "exposed_communication_s"));
  // Two rounds of the whole model: a to b, b to c, c to a at 80 Mbit/s; then c to b, b to a, a to c at 50.
  const double ring = 0.040 + all.to_double() * 8 * (1 / 80e6 + 1 / 50e6);
  CHECK(iteration_value(rows[3], "iteration_s") == near(ring + iteration_value(rows[3], "compression_s"), 1e-9));
}

TEST_CASE("what has no effect on links of their own, or without them, is refused") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  write_file(file, kThree);
  using Texts = std::vector<std::string>;
  CHECK(link_complaints(file, "", "", "alpha: 1ms") == Texts{"network.alpha: needs `no network.sites`"});
  CHECK(link_complaints(file, "", "", "beta: 1ns/B") ==
        Texts{"network.beta: needs `network.fidelity: analytic or contention, and no network.sites`"});
  CHECK(link_complaints(file, "", "cluster: {gpus_per_server: 2}\n") ==
        Texts{"cluster.gpus_per_server: each site of network.sites has one server of one GPU"});
  CHECK(link_complaints(file, "workers: [2, 4]") ==
        Texts{fmt::format("overlap.workers: 4 workers, but {} links 3 sites", file)});
  CHECK(link_complaints(file, "compression: [{policy: saps, matched: false, within: 5}]") ==
        Texts{"overlap.compression: within of saps has no effect without matched"});
  CHECK(link_complaints(file, "", "seed: 3\n").empty());
  CHECK(link_complaints(folder.path("none.csv"), "").size() == 1);
  try {
    static_cast<void>(
        parse_scenario("schema_version: 1\ntraining: {it: {model: resnet18}}\noverlap: {training: it, compression: "
                       "[{policy: saps, within: 5}]}\n",
                       "s"));
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    CHECK(error.complaints().front().reason == "within of saps has no effect: all links are the same");
  }
}

TEST_CASE("a method that finds no pairs has a row that says why") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  write_file(file, kThree);
  const std::vector<JobResult> rows =
      run_study(
          study_of_sites(file, "compression: [{policy: saps, threshold_mbps: 301}, {policy: saps, within: 2}, top-k]"))
          .jobs;
  CHECK(rows[0].reason == "no link reaches the threshold of 301 Mbit/s in both directions; the fastest has 300");
  CHECK(rows[1].reason == "2 rounds are too few to connect 3 sites: expected at least 3");
  CHECK(rows[2].reason.empty());
}

TEST_CASE("rings of the AWS regions: an all-reduce of 1 Gbit in three orders") {
  // Worked out by an exact program over all orders (least sum of 1 / rate; largest least rate), by the ring rule.
  const LinkMatrix links = read_link_matrix("scenarios/overlap/aws-regions.csv");
  const Bytes gbit{125'000'000};
  const auto seconds = [&](RingOrder order) {
    return link_cost(links, {}, {}, 1, order).sized(gbit, CollectiveKind::all_reduce).of(gbit).to_seconds();
  };
  CHECK(seconds(RingOrder::table) == near(5.379, 2e-4));
  CHECK(seconds(RingOrder::shortest) == near(3.812, 2e-4));
  CHECK(seconds(RingOrder::widest) == near(2.816, 2e-4));
}

TEST_CASE("links that are missing are said when a scenario is checked") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  write_file(file, "from,to,latency_ms,mbps\na,b,5,100\nb,a,5,200\nb,c,10,400\nc,b,10,300\n");
  const std::vector<std::string> warnings = check_scenario(study_of_sites(file, "compression: [none, saps]"));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("overlap: 3 workers, none, bsp: no link from c to a"));
  const std::string all =
      complaint_lines([&] { static_cast<void>(check_scenario(study_of_sites(file, "compression: [none, d-psgd]"))); });
  CHECK_MESSAGE(all.find("nothing of this study can be done here: bsp: no link from c to a") != std::string::npos, all);
}
