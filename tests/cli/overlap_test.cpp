// `contend run` on the study of one iteration: --explain, its files, and factors of convergence.
#include "tests/cli/program.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kOverlapStudy =
    "schema_version: 1\n"
    "name: study\n"
    "network: {nic: 10Gbps, alpha: 50us}\n"
    "overlap:\n"
    "  model: resnet18\n"
    "  workers: [4]\n"
    "  fusion: [bsp, dear]\n"
    "  compression: [none, top-k, onebit-adam]\n";

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("every message of a study is explained, as text, JSON and a file") {
  const Workplace here;
  here.write("study.yaml", kOverlapStudy);
  const Outcome text = here.contend("run study.yaml --explain");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "4 workers, bsp: messages in the order"));
  CHECK(contains(text.out, "4 workers, onebit-adam with bsp, phase 1 (15 % of the iterations)"));
  CHECK(contains(text.out, "4 workers, onebit-adam with bsp, phase 2 (85 % of the iterations)"));
  CHECK(contains(text.out, "decompress [ms]"));
  CHECK_FALSE(contains(text.out, "top-k with dear, phase"));  // refused above
  CHECK_FALSE(contains(here.contend("run study.yaml").out, "decompress"));

  const Outcome json = here.contend("run study.yaml --explain --json");
  CHECK(json.code == 0);
  CHECK(contains(json.out, "\"phases\""));
  CHECK(contains(json.out, "\"decompress_s\""));
  CHECK_FALSE(contains(here.contend("run study.yaml --json").out, "\"phases\""));

  CHECK(here.contend("run study.yaml --explain -q -o out").code == 0);
  const std::string csv = here.read("out/overlap-messages.csv");
  CHECK(csv.starts_with("workers,compression,policy,phase,share,message,gradients,dense_bytes,"));
  // bsp: one message of none and top-k, and of each phase of onebit-adam; dear: some of none.
  CHECK(lines(csv) > 6);
  CHECK(contains(csv, "\n4,onebit-adam,bsp,2,0.85,"));
  CHECK(here.contend("run study.yaml -q -o plain").code == 0);
  CHECK_FALSE(std::filesystem::exists(here.path("plain/overlap-messages.csv")));
}

TEST_CASE("a cluster has no messages of an iteration to explain") {
  const Workplace here;
  here.write("jobs.yaml", "schema_version: 1\nworkload: {generate: {sizes: {1: 2}}}\n");
  const Outcome outcome = here.contend("run jobs.yaml --explain");
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "contend explain"));
}

TEST_CASE("progress is a column where somebody gave a factor, and an empty field where not") {
  const Workplace here;
  here.write("study.yaml", kOverlapStudy);
  CHECK_FALSE(contains(here.contend("run study.yaml").out, "progress"));
  here.write("factor.yaml", std::string{kOverlapStudy} +
                                "  iterations_to_target: [{compression: top-k, factor: 2, source: our own run}]\n");
  const Outcome text = here.contend("run factor.yaml -o out");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "progress [ms]"));
  const std::string csv = here.read("out/overlap.csv");
  CHECK(contains(csv, ",progress_s,"));
  const std::size_t adam = csv.find("\n4,onebit-adam,bsp,");
  REQUIRE(adam != std::string::npos);
  CHECK(contains(csv.substr(adam, csv.find('\n', adam + 1) - adam), ",,"));
  CHECK(contains(here.contend("run factor.yaml --json").out, "\"progress_s\": null"));
}

TEST_CASE("a sweep over methods keeps the factor of each") {
  const Workplace here;
  here.write("sweep.yaml", std::string{kOverlapStudy} +
                               "  iterations_to_target: [{compression: top-k, factor: 2, source: our own run}]\n"
                               "sweep: {grid: {network.nic: [1Gbps, 10Gbps]}}\n");
  const Outcome swept = here.contend("sweep sweep.yaml -o store.sqlite -q --set overlap.fusion=[bsp]");
  REQUIRE_MESSAGE(swept.code == 0, swept.err);
  const Outcome rows =
      here.contend("results store.sqlite --metric iteration_s,progress_s --group-by overlap.compression");
  REQUIRE_MESSAGE(rows.code == 0, rows.err);
  // Means over both networks: none 100 % and top-k 200 % of the iteration, no factor for onebit-adam.
  const auto figures = [&](const std::string& method) {
    const std::size_t at = rows.out.find("\n" + method);
    REQUIRE(at != std::string::npos);
    std::istringstream line{rows.out.substr(at + 1, rows.out.find('\n', at + 1) - at - 1)};
    std::string name, runs, iteration, progress;
    line >> name >> runs >> iteration >> progress;
    return std::pair{iteration, progress};
  };
  CHECK(figures("none").first == figures("none").second);
  CHECK(std::stod(figures("top-k").second) / std::stod(figures("top-k").first) == doctest::Approx(2).epsilon(1e-3));
  CHECK(figures("onebit-adam").second == "-");
}

TEST_CASE("a folder of a study is drawn as stacked bars, one drawing a number of workers") {
  const Workplace here;
  here.write("study.yaml", kOverlapStudy);
  CHECK(here.contend("run study.yaml -q -o out --set overlap.workers=[2,8]").code == 0);
  const Outcome drawn = here.contend("report out --svg figures");
  REQUIRE_MESSAGE(drawn.code == 0, drawn.err);
  CHECK(drawn.out == "figures/iteration-2-workers.svg\nfigures/iteration-8-workers.svg\n");
  const std::string svg = here.read("figures/iteration-8-workers.svg");
  // Four rows (dear refuses top-k and onebit-adam): a part of computing each, of exposed communication most.
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("fill=\"#0072b2\"") == 1 + 4);
  CHECK(count("fill=\"#d55e00\"") == 1 + 2);
  CHECK(contains(svg, ">onebit-adam, bsp</text>"));
  CHECK(here.contend("report out").out == "out/iteration-2-workers.svg\nout/iteration-8-workers.svg\n");
  CHECK(here.contend("report out -o page.html").code == 2);
  CHECK(here.contend("report out --seed 1").code == 2);
  here.write("out/overlap.csv", "workers,compression,policy,compute_s,compression_s,exposed_communication_s\n");
  CHECK(contains(here.contend("report out").err, "nothing to draw"));
}

TEST_CASE("two studies are compared iteration by iteration") {
  const Workplace here;
  here.write("study.yaml", kOverlapStudy);
  CHECK(here.contend("run study.yaml -q -o slow --set network.nic=1Gbps").code == 0);
  const Outcome text = here.contend("compare slow study.yaml");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "change [%]"));
  CHECK(contains(text.out, "onebit-adam  bsp"));
  const Outcome same = here.contend("compare study.yaml study.yaml --set-new 'overlap.compression=[none, fp16]'");
  CHECK(contains(same.out, "+0.00"));
  CHECK(contains(same.out, "only in BASE: 4 workers, top-k, bsp"));
  CHECK(contains(same.out, "only in NEW: 4 workers, fp16, bsp"));
  CHECK(contains(here.contend("compare slow study.yaml --json").out, "\"exposed_communication_s\""));
  CHECK(here.contend("compare slow study.yaml -q").out.empty());
  CHECK(here.contend("compare slow study.yaml --repeat 3").code == 3);
  CHECK(here.contend("compare slow slow --repeat 3").code == 2);
  CHECK(here.contend("compare slow study.yaml --worst 3").code == 2);
  CHECK(here.contend("compare slow study.yaml --fail-if 'avg_jct > 1%'").code == 2);
  CHECK(here.contend("compare slow study.yaml --set-new overlap.workers=[8]").code == 3);  // nothing in common
}
