#include "tests/cli/program.hpp"
#include "tests/earlier_folder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {
constexpr const char* kReportScenario =
    "schema_version: 1\nname: small\nrepeat: 1\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "network: {nic: 10Gbps}\nworkload: {generate: {sizes: {1: 3, 4: 2}, iterations: [5, 20], arrivals: 2s}}\n";
}

TEST_CASE("contend report writes a page beside a run, and figures into the given folder" *
          doctest::skip(!has_program())) {
  const Workplace place;
  place.write("s.yaml", kReportScenario);
  REQUIRE(place.contend("run s.yaml -q -o out").code == 0);
  const Outcome page = place.contend("report out");
  CHECK(page.code == 0);
  CHECK(page.err.empty());
  CHECK(page.out == "out/report.html\n");
  CHECK(contains(place.read("out/report.html"), "id=\"spans\""));

  const Outcome figures = place.contend("report out --svg figures");
  CHECK(figures.code == 0);
  CHECK(contains(figures.out, "figures/jct-cdf.svg\n"));
  CHECK(contains(figures.out, "figures/topology.svg\n"));
  CHECK(!contains(figures.out, ".html"));
  CHECK(contains(place.read("figures/jct-cdf.csv"), "series,time_s,share_of_jobs\n"));

  REQUIRE(place.contend("report out --no-timeline -o plain.html").code == 0);
  CHECK(!contains(place.read("plain.html"), "id=\"spans\""));
  REQUIRE(place.contend("report out out -o both.html").code == 0);
  CHECK(contains(place.read("both.html"), "2 runs side by side"));
}

TEST_CASE("a run of more than 200,000 jobs is repeated only for those who ask for its timeline" *
          doctest::skip(!has_program())) {
  const Workplace place;
  std::string jobs = "job_id,submit_s,gpus,duration_s\n";
  for (int job = 0; job <= 200'000; ++job) jobs += fmt::format("j{0},{0},1,1\n", job);
  place.write("s.yaml", "schema_version: 2\ncluster: {servers: 1, gpus_per_server: 2}\nworkload: {jobs: jobs.csv}\n");
  place.write("jobs.csv", jobs);
  REQUIRE(place.contend("run s.yaml -q -o out").code == 0);
  const Outcome plain = place.contend("report out");
  CHECK(plain.code == 0);
  CHECK(contains(plain.err, "out: no timeline. To repeat a run of 200001 jobs for its timeline"));
  CHECK(!contains(place.read("out/report.html"), "id=\"spans\""));
  const Outcome asked = place.contend("report out --spans 1000");
  CHECK(asked.err.empty());
  CHECK(contains(place.read("out/report.html"), "id=\"spans\""));
}

TEST_CASE("contend report says what is wrong" * doctest::skip(!has_program())) {
  const Workplace place;
  place.write("s.yaml", kReportScenario);
  REQUIRE(place.contend("run s.yaml -q -o out").code == 0);
  CHECK(place.contend("report").code == 2);
  CHECK(contains(place.contend("report nowhere").err, "nowhere: no such file or folder"));
  CHECK(contains(place.contend("report .").err, "no manifest.json in it"));
  CHECK(place.contend("report s.yaml").code == 3);  // no store
  CHECK(contains(place.contend("report out s.yaml").err, "expected a single store of a sweep"));
  CHECK(contains(place.contend("report out --x network.nic").err, "--x applies to the report of a sweep"));
  CHECK(contains(place.contend("report out --relative-to a=b").err, "--relative-to applies to the report of a sweep"));
  CHECK(contains(place.contend("report out out --spans 9").err, "--spans applies to the report of one run"));
  CHECK(contains(place.contend("report out --spans 9 --no-timeline").err, "exclude each other"));
  CHECK(contains(place.contend("report out --from 5").err, "--from: expected a time such as"));
  CHECK(contains(place.contend("report out --from 5s --to 1s").err, "--from must be before --to"));
  CHECK(contains(place.contend("report out --seed 99").err, "no replica with seed 99"));
  const Outcome late = place.contend("report out --from 9000h");
  CHECK(late.code == 2);
  CHECK(contains(late.err, "--from: expected a time before "));
}

TEST_CASE("contend report does not write over its input" * doctest::skip(!has_program())) {
  const Workplace place;
  place.write("s.yaml", kReportScenario);
  REQUIRE(place.contend("run s.yaml -q -o out").code == 0);
  const std::string jobs = place.read("out/jobs.csv"), links = place.read("out/links.csv");
  const Outcome page = place.contend("report out -o out/../out/jobs.csv");
  CHECK(page.code == 3);
  CHECK(contains(page.err, "out/../out/jobs.csv: this file would be overwritten, and contend has not written it"));
  CHECK(contains(place.contend("report out out -o out/summary.json").err, "this file would be overwritten"));
  CHECK(place.read("out/jobs.csv") == jobs);
  CHECK(place.contend("report out").code == 0);
  CHECK(place.contend("report out").code == 0);  // over its own page

  place.write("sweep.yaml", std::string{kReportScenario} + "sweep: {grid: {network.nic: [1Gbps, 10Gbps]}}\n");
  REQUIRE(place.contend("sweep sweep.yaml -q -o s.sqlite").code == 0);
  const std::string store = place.read("s.sqlite");
  CHECK(contains(place.contend("report s.sqlite -o s.sqlite").err, "s.sqlite: this file is an input of the command"));
  CHECK(place.read("s.sqlite") == store);
  CHECK(place.contend("report s.sqlite --svg figures").code == 0);
  CHECK(contains(place.read("figures/sweep-lines.csv"), "series,network_nic_Bps,average_jct_s\n"));
}

TEST_CASE("a folder whose results its scenario no longer gives has a page without a timeline" *
          doctest::skip(!has_program())) {
  const Workplace place;
  place.write("s.yaml", kReportScenario);
  REQUIRE(place.contend("run s.yaml -q -o out").code == 0);
  as_of_earlier_version(place.path("out"));
  std::string yaml = place.read("out/scenario.yaml");
  yaml.replace(yaml.find("10Gbps"), 6, "20Gbps");
  place.write("out/scenario.yaml", yaml);
  const Outcome outcome = place.contend("report out");
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err, "no timeline. The scenario gives other results now"));
  CHECK(!contains(place.read("out/report.html"), "id=\"spans\""));
}

TEST_CASE("contend report draws maps relative to a value" * doctest::skip(!has_program())) {
  const Workplace place;
  place.write("map.yaml",
              "schema_version: 1\ntraining: {it: {model: resnet50, batch: 32}}\noverlap: {training: it, workers: [4, "
              "8], fusion: [bsp], "
              "compression: [none, sign-sgd]}\nsweep: {grid: {network.nic: [1Gbps, 10Gbps]}}\n");
  REQUIRE(place.contend("sweep map.yaml -q -o map.sqlite").code == 0);
  const std::string relative = "report map.sqlite --metric throughput_per_s --relative-to ";
  REQUIRE(place.contend(relative + "overlap.compression=none --svg maps").code == 0);
  const std::string csv = place.read("maps/ratio-map-sign-sgd.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);  // head, 2 x 2 cells
  CHECK(contains(place.read("maps/ratio-map-sign-sgd.svg"), "sign-sgd over none"));
  CHECK(place.contend(relative + "overlap.compression=none").code == 2);
  CHECK(place.contend(relative + "overlap.compression --svg maps").code == 2);
  CHECK(contains(place.contend(relative + "overlap.compression=nome --svg maps").err, "did you mean \"none\"?"));
}

TEST_CASE("contend report draws the Pareto front of a sweep as tune does" * doctest::skip(!has_program())) {
  const Workplace place;
  place.write("s.yaml",
              std::string{kReportScenario} + "sweep: {grid: {network.nic: [1Gbps, 10Gbps, 40Gbps]}, repeat: 2}\n");
  REQUIRE(place.contend("sweep s.yaml -q -o s.sqlite").code == 0);
  const std::string goals = " --minimise avg_jct_s --maximise network_utilisation ";
  const Outcome drawn = place.contend("report s.sqlite" + goals + "--svg figures -o page.html");
  INFO(drawn.err);
  REQUIRE(drawn.code == 0);
  CHECK(contains(drawn.out, "figures/front.svg\n"));
  CHECK(contains(place.read("page.html"), "Pareto front"));
  REQUIRE(
      place.contend("tune s.yaml" + goals + "--trials 3 --method random -o t.sqlite --csv t.csv --svg t.svg").code ==
      0);
  // The same dots: the search ran all points.
  const auto dots = [&](const std::string& file) {
    const std::string svg = place.read(file);
    return std::pair{std::count(svg.begin(), svg.end(), '<'), contains(svg, "dominated")};
  };
  CHECK(dots("figures/front.svg") == dots("t.svg"));
  // Points have the names of their settings.
  CHECK(contains(place.read("figures/front.csv"), "point 0: NIC = 1Gbps"));

  const auto refused = [&](const std::string& options) { return place.contend("report s.sqlite " + options).err; };
  CHECK(contains(refused("--minimise avg_jct_s"), "a front has two goals, and there is 1"));
  CHECK(contains(refused("--minimise avg_jct_s --maximise avg_jct_s"), "avg_jct_s is a goal twice"));
  CHECK(contains(refused("--minimise avg_jct_s --maximise gpu_utilization"), "did you mean \"gpu_utilisation\"?"));
  CHECK(contains(place.contend("report nowhere.yaml --minimise avg_jct_s").err, "no such file"));
}
