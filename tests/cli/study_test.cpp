// `contend run` on the study of one iteration: --explain, its files, and factors of convergence.
#include "tests/cli/program.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kStudy =
    "schema_version: 1\n"
    "name: study\n"
    "network: {nic: 10Gbps, alpha: 50us}\n"
    "training: {it: {model: resnet18}}\n"
    "overlap:\n"
    "  training: it\n"
    "  workers: [4]\n"
    "  fusion: [bsp, dear]\n"
    "  compression: [none, top-k, onebit-adam]\n";

}  // namespace

TEST_CASE("every message of a study is explained, as text, JSON and a file") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  const Outcome text = here.contend("run study.yaml --explain");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "none: overlapping is free"));
  CHECK(contains(text.out, "no copies around messages"));
  const Outcome costs = here.contend(
      "run study.yaml --explain --set network.interference=auto --set training.it.device=A100-80GB --set "
      "training.it.framework=horovod --set training.it.host_ns_per_value=54.2 --set training.it.optimizer=adam --set "
      "training.it.update_per_tensor=250us");
  REQUIRE_MESSAGE(costs.code == 0, costs.err);
  CHECK(contains(costs.out, "computing x 1.15, bytes x 1.15 beside each other"));
  CHECK(contains(costs.out, "auto, A100: "));
  // A figure of one's own has no source but its key.
  const Outcome own = here.contend("run study.yaml --explain --set network.interference=0.5");
  CHECK(contains(own.out, "computing x 1.5, bytes x 1.5 beside each other"));
  CHECK(!contains(own.out, "auto, "));
  CHECK(contains(costs.out, "8 bytes for 4 of gradient before a message, 8 after it, 2 launches a tensor"));
  CHECK(contains(costs.out, "54.2 ns a value before a message"));
  CHECK(contains(costs.out, "28 bytes a weight, at least 250 us a tensor"));
  CHECK(contains(text.out, "takes no time"));
  CHECK(contains(text.out, "4 workers, none, bsp: messages in the order"));
  CHECK(contains(text.out, "4 workers, onebit-adam, bsp, phase 1 (15 % of the iterations)"));
  CHECK(contains(text.out, "4 workers, onebit-adam, bsp, phase 2 (85 % of the iterations)"));
  CHECK(contains(text.out, "decompress [ms]"));
  CHECK_FALSE(contains(text.out, "top-k, dear: messages"));  // refused above
  CHECK_FALSE(contains(here.contend("run study.yaml").out, "decompress"));

  // What no GPU does has a column of its own where there is some. Of 46,758,048 bytes each way takes 11.69 ms.
  CHECK_FALSE(contains(text.out, "off GPU"));
  const std::string staged =
      "--set training.it.staging=4GB/s --set 'overlap.fusion=[bsp, horovod]' --set "
      "'overlap.compression=[none]'";
  const Outcome copies = here.contend("run study.yaml --explain -o staged " + staged);
  REQUIRE_MESSAGE(copies.code == 0, copies.err);
  CHECK(contains(copies.out, "off GPU [ms]"));
  CHECK(contains(copies.out, "agreement_us 0"));
  CHECK(contains(here.read("staged/messages.csv"), ",0,0.0233790"));

  const Outcome json = here.contend("run study.yaml --explain --json");
  CHECK(json.code == 0);
  CHECK(contains(json.out, "\"phases\""));
  CHECK(contains(json.out, "\"decompress_s\""));
  CHECK_FALSE(contains(here.contend("run study.yaml --json").out, "\"phases\""));

  CHECK(here.contend("run study.yaml --explain -q -o out").code == 0);
  const std::string csv = here.read("out/messages.csv");
  CHECK(csv.starts_with("job_id,phase,share,message,gradients,dense_bytes,"));
  // bsp: one message of none and top-k, and of each phase of onebit-adam; dear: some of none.
  CHECK(count_lines(csv) > 6);
  CHECK(contains(csv, "\n\"4 workers, onebit-adam, bsp\",2,0.85,"));
  CHECK(here.contend("run study.yaml -q -o plain").code == 0);
  CHECK_FALSE(std::filesystem::exists(here.path("plain/messages.csv")));
}

TEST_CASE("a study gives the same on any number of threads") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  const Outcome one = here.contend("run study.yaml --set overlap.workers=[2,4,8] -j 1 -o one");
  REQUIRE_MESSAGE(one.code == 0, one.err);
  const Outcome four = here.contend("run study.yaml --set overlap.workers=[2,4,8] -j 4 -o four");
  CHECK(four.out == one.out);
  CHECK(here.read("four/jobs.csv") == here.read("one/jobs.csv"));
  CHECK(here.contend("run study.yaml -j 0").code == 2);
}

TEST_CASE("messages that start for free gain nothing by merging, which is said") {
  const Workplace here;
  here.write("free.yaml",
             "schema_version: 2\nname: free\nnetwork: {nic: 10Gbps}\ntraining: {it: {model: resnet18}}\noverlap: "
             "{training: it, workers: [4], fusion: ["
             "wfbp, mg-wfbp]}\n");
  const std::string warning = "network.alpha is 0s, so messages cost nothing to start";
  const Outcome check = here.contend("check free.yaml");
  CHECK(check.code == 0);
  CHECK(check.out == "free.yaml: ok\n");
  CHECK(contains(check.err, "contend: warning: free.yaml: " + warning));
  CHECK(contains(here.contend("run free.yaml").err, "contend: warning: free: " + warning));
  CHECK(here.contend("check free.yaml --set network.alpha=50us").err.empty());
  CHECK(here.contend("check free.yaml --set overlap.fusion=[wfbp]").err.empty());
  here.write("sweep.yaml",
             "schema_version: 1\nnetwork: {nic: 10Gbps}\ntraining: {it: {model: resnet18}}\noverlap: {training: it, "
             "workers: [4]}\n"
             "sweep: {grid: {overlap.fusion: [wfbp, mg-wfbp]}}\n");
  CHECK(contains(here.contend("check sweep.yaml").err, warning));
  CHECK(contains(here.contend("sweep sweep.yaml --list").err, "contend: note: " + warning));
}

TEST_CASE("the layers of a study as JSON") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  const Outcome json = here.contend("show study.yaml --layers --json");
  REQUIRE_MESSAGE(json.code == 0, json.err);
  TextSource source{json.out};
  const JsonValue root = read_json(source, "layers.json");
  REQUIRE(root.find("layers") != nullptr);
  CHECK(root.find("model")->text == "resnet18");
  const std::vector<JsonValue>& layers = root.find("layers")->items;
  CHECK(layers.size() == count_lines(here.contend("show study.yaml --layers").out) - 3);
  // The sum of the gradients is 4 bytes a parameter.
  double bytes = 0, seconds = 0;
  for (const JsonValue& layer : layers) {
    bytes += std::stod(layer.find("gradient_bytes")->text);
    seconds += std::stod(layer.find("forward_s")->text);
  }
  CHECK(bytes == 4 * std::stod(root.find("parameters")->text));
  CHECK(seconds == near(std::stod(root.find("forward_s")->text)));
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
  here.write("study.yaml", kStudy);
  CHECK_FALSE(contains(here.contend("run study.yaml").out, "progress"));
  here.write("factor.yaml",
             std::string{kStudy} + "  iterations_to_target: [{compression: top-k, factor: 2, source: our own run}]\n");
  const Outcome text = here.contend("run factor.yaml -o out");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "progress [ms]"));
  const std::string csv = here.read("out/jobs.csv");
  CHECK(contains(csv, ",progress_s,"));
  const std::size_t adam = csv.find("\n\"4 workers, onebit-adam, bsp\",");
  REQUIRE(adam != std::string::npos);
  const std::string row = csv.substr(adam, csv.find('\n', adam + 1) - adam);
  const std::string first_row = csv.substr(csv.find('\n'), csv.find('\n', csv.find('\n') + 1) - csv.find('\n'));
  // progress_s is empty only in the row without a factor. Names hold commas, so columns are counted from the end.
  const std::string header = csv.substr(0, csv.find('\n'));
  const auto behind =
      std::count(header.begin() + static_cast<std::ptrdiff_t>(header.find(",progress_s,")), header.end(), ',');
  const auto progress = [behind](const std::string& line) {
    std::size_t at = line.size();
    for (std::ptrdiff_t column = 0; column < behind; ++column) at = line.rfind(',', at - 1);
    return line.substr(at, line.find(',', at + 1) - at);
  };
  CHECK(progress(row) == ",");
  CHECK(progress(first_row) != ",");
  CHECK(contains(here.contend("run factor.yaml --json").out, "\"progress_s\": null"));
}

TEST_CASE("a sweep over methods keeps the factor of each") {
  const Workplace here;
  here.write("sweep.yaml", std::string{kStudy} +
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
  CHECK(std::stod(figures("top-k").second) / std::stod(figures("top-k").first) == near(2, 1e-3));
  CHECK(figures("onebit-adam").second == "-");
}

TEST_CASE("a folder of a study is drawn as stacked bars, one drawing a number of workers") {
  const Workplace here;
  here.write("study.yaml", kStudy);
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
  // A long name widens the drawing: it begins inside.
  CHECK(here.contend("run study.yaml -q -o long --set overlap.workers=[8] --set 'overlap.compression=[{policy: diloco, "
                     "period: 30, fragments: 8, late: true, bits: 4}]'")
            .code == 0);
  CHECK(here.contend("report long --svg long").code == 0);
  const std::string wide = here.read("long/iteration-8-workers.svg");
  std::smatch name;
  REQUIRE(
      std::regex_search(wide, name, std::regex{"<text x=\"([0-9.]+)\"[^>]*text-anchor=\"end\">(diloco[^<]*)</text>"}));
  CHECK(name[2].length() > 46);
  CHECK(std::stod(name[1]) >= 6.1 * static_cast<double>(name[2].length()));
  CHECK(here.contend("report out").out == "out/report.html\n");
  const std::string page = here.read("out/report.html");
  CHECK(contains(page, "\"study\": true"));
  CHECK(contains(page, "An iteration of 8 workers"));
  CHECK(contains(page, "\"name\": \"exposed_communication_s\""));
  CHECK(contains(here.contend("report out -o out/jobs.csv").err, "out/jobs.csv: this file would be overwritten"));
  CHECK(contains(here.read("out/report.html"), "\"kind\": \"run\""));
}

TEST_CASE("the jobs of a cluster have the figures of a study: in the page, in rules and in comparisons") {
  const Workplace here;
  here.write("cluster.yaml",
             "schema_version: 1\ncluster: {servers: 4, gpus_per_server: 1}\nnetwork: {nic: 10Gbps, alpha: 50us}\n"
             "training: {mine: {model: resnet18, fusion: wfbp}}\n"
             "workload: {generate: {models: [mine], sizes: {2: 2, 4: 1}, iterations: [100, 200], arrivals: 1s}}\n");
  REQUIRE(here.contend("run cluster.yaml -q -o out").code == 0);
  const Outcome drawn = here.contend("report out --no-timeline --svg figures");
  CHECK(contains(drawn.out, "figures/iterations.svg\n"));
  const std::string svg = here.read("figures/iterations.svg");
  for (const char* part : {"An iteration of each job", ">job-0</text>", ">job-2</text>", ">computing</text>"})
    CHECK(contains(svg, part));
  const std::string jobs = here.read("out/jobs.csv");
  CHECK(contains(jobs, ",wfbp,none,"));
  const Outcome slower = here.contend(
      "compare out cluster.yaml --set-new network.nic=5Gbps --fail-if 'iteration > 1%' --fail-if 'compute > 0%'");
  CHECK(slower.code == 1);
  CHECK(contains(slower.out, "FAIL  iteration > 1%: iteration changed by +"));
  CHECK(contains(slower.out, "ok    compute > 0%: compute changed by 0%"));
  CHECK(contains(slower.out, "exposed [ms]"));
  CHECK(contains(slower.out, "what changed of an iteration"));
}

TEST_CASE("the folder of a study equals a run's folder, and its manifest tells the digest of the same jobs") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  CHECK(here.contend("run study.yaml -q -o one").code == 0);
  CHECK(here.contend("run study.yaml -q -o two -j 3").code == 0);
  const auto digest = [&](const std::string& folder) {
    const std::string manifest = here.read(folder + "/manifest.json");
    return manifest.substr(manifest.find("\"digest\""), 28);
  };
  CHECK(digest("one") == digest("two"));
  CHECK(here.contend("run study.yaml -q -o slow --set network.nic=1Gbps").code == 0);
  CHECK(digest("one") != digest("slow"));
  const Outcome groups = here.contend("results one --by compression");
  REQUIRE_MESSAGE(groups.code == 0, groups.err);
  for (const char* method : {"\nnone ", "\ntop-k ", "\nonebit-adam "}) CHECK(contains(groups.out, method));
  CHECK(here.contend("compare one slow --fail-if 'avg_jct[compression=none] > 1%'").code == 1);
  const std::string jobs = here.read("one/jobs.csv");
  CHECK(contains(jobs, "\n\"4 workers, none, bsp\",it,finished,,4,4,1,1,"));
  CHECK(contains(jobs, "\n\"4 workers, top-k, dear\",it,failed,"));
  const std::string summary = here.read("one/summary.json");
  CHECK(contains(summary, "\"finished\": 4"));
  CHECK(contains(summary, "\"failed\": 2"));
}

TEST_CASE("a job of a study is explained by its name, as a scenario and as a folder") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  CHECK(here.contend("run study.yaml -q -o out").code == 0);
  const Outcome text = here.contend("explain study.yaml '4 workers, none, bsp'");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "4 workers, none, bsp: messages in the order"));
  CHECK_FALSE(contains(text.out, "top-k"));
  CHECK(here.contend("explain out '4 workers, none, bsp'").out == text.out);
  CHECK(contains(here.contend("explain out '4 workers, none, bsp' --json").out, "\"phases\""));
  const Outcome unknown = here.contend("explain out '4 workers, none, bps'");
  CHECK(unknown.code == 3);
  CHECK(contains(unknown.err, "did you mean \"4 workers, none, bsp\"?"));
  CHECK(contains(here.contend("explain out '4 workers, top-k, dear'").err, "is not possible here: "));
}

TEST_CASE("two studies are compared iteration by iteration") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  CHECK(here.contend("run study.yaml -q -o slow --set network.nic=1Gbps").code == 0);
  const Outcome text = here.contend("compare slow study.yaml");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "faster jobs"));
  CHECK(contains(text.out, "exposed [ms]"));
  CHECK(contains(text.out, "4 workers, onebit-adam, bsp"));
  CHECK(contains(text.out, "4 jobs finished on both sides: 0 slower, 4 faster, 0 the same"));
  const Outcome same = here.contend("compare study.yaml study.yaml --set-new 'overlap.compression=[none, fp16]'");
  CHECK(contains(same.out, "0 slower, 0 faster, 2 the same"));
  CHECK(contains(same.out, "only in BASE: 4: 4 workers, top-k, bsp"));
  CHECK(contains(same.out, "only in NEW: 2: 4 workers, fp16, bsp"));
  CHECK(contains(here.contend("compare slow study.yaml --json").out, "\"exposed_communication_s\""));
  // A progress line says nothing before a second has passed, and never changes what is printed.
  const Outcome shown = here.contend("compare slow study.yaml --progress always");
  CHECK(shown.code == 0);
  CHECK(shown.out == text.out);
  CHECK(here.contend("run study.yaml --progress always").code == 0);
  CHECK(here.contend("compare slow study.yaml --progress sometimes").code == 2);
  CHECK(here.contend("compare slow study.yaml -q").out.empty());
  CHECK(here.contend("compare slow study.yaml --repeat 3").code == 3);
  CHECK(here.contend("compare slow slow --repeat 3").code == 2);
  CHECK_FALSE(contains(here.contend("compare slow study.yaml --worst 0").out, "faster jobs"));
  CHECK(here.contend("compare slow study.yaml --measured --fail-if 'iteration > 1%'").code == 0);
  CHECK(here.contend("compare slow study.yaml --set-new overlap.workers=[8]").code == 3);  // nothing in common
}

TEST_CASE("rules about two studies hold if they do for any iteration") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  CHECK(here.contend("run study.yaml -q -o fast").code == 0);
  CHECK(here.contend("run study.yaml -q -o slow --set network.nic=1Gbps").code == 0);
  const Outcome worse = here.contend(
      "compare fast slow --fail-if 'iteration > 1%' --fail-if 'throughput_per_s < -99%' --junit j.xml --markdown m.md");
  CHECK(worse.code == 1);
  CHECK(contains(worse.out, "FAIL  iteration > 1%: iteration changed by +"));
  CHECK(contains(worse.out, " (at worst: 4 workers, "));
  CHECK(contains(worse.out, "ok    throughput_per_s < -99%: throughput changed by -"));
  CHECK(contains(here.read("j.xml"), "tests=\"2\" failures=\"1\""));
  CHECK(contains(here.read("m.md"), "### contend compare: **1 of 2 rules failed**"));
  CHECK(contains(here.read("m.md"), "| 4 workers, none, bsp | 1 | 4 | "));
  // The other way round everything is faster; nothing changed is no regression either.
  CHECK(here.contend("compare slow fast --fail-if 'iteration_s > 0%' --fail-if 'exposed_communication > 0s'").code ==
        0);
  CHECK(here.contend("compare fast study.yaml --fail-if 'iteration > 0%' --fail-if 'messages > 0'").code == 0);
  const Outcome quiet = here.contend("compare fast slow -q --fail-if 'exposed_communication > 1ms'");
  CHECK(quiet.code == 1);
  CHECK(quiet.out.empty());
  CHECK(contains(quiet.err, "contend: failed: exposed_communication > 1ms: exposed_communication changed by +"));
  CHECK(contains(here.contend("compare fast slow --json --fail-if 'iteration > 1%'").out, "\"failed\": true"));
  // onebit-adam has no factor, so no progress.
  const Outcome none = here.contend("compare fast slow --fail-if 'progress > 1%'");
  CHECK(none.code == 1);
  CHECK(contains(none.out, "FAIL  progress > 1%: progress has no value in BASE (4 workers, "));
  // The mean over all jobs, too: each takes one iteration.
  CHECK(here.contend("compare fast slow --fail-if 'avg_jct > 1%'").code == 1);
  CHECK(contains(here.contend("compare fast slow --fail-if 'iteratoin > 1%'").err, "did you mean \"iteration\"?"));
}

TEST_CASE("one map of factors serves a grid over methods") {
  const Workplace here;
  here.write("sweep.yaml", std::string{kStudy} +
                               "  iterations_to_target: {top-k: 2, onebit-adam: 1.5, source: our own run}\n"
                               "sweep: {grid: {overlap.compression: [none, top-k, fp16]}}\n");
  const Outcome swept = here.contend("sweep sweep.yaml -o store.sqlite -q --set overlap.fusion=[bsp]");
  REQUIRE_MESSAGE(swept.code == 0, swept.err);
  CHECK(swept.err.empty());
  const Outcome rows = here.contend("results store.sqlite --metric progress_s --group-by overlap.compression");
  CHECK(contains(rows.out, "fp16"));
  CHECK(here.contend("results store.sqlite --rows --csv rows.csv").code == 0);
  CHECK(count_lines(here.read("rows.csv")) == 1 + 3);
}

TEST_CASE("what can't be done at all names file, line and key; a reason that several share is said once") {
  const Workplace here;
  here.write("study.yaml", kStudy);
  const Outcome outcome = here.contend("run study.yaml --set overlap.fusion=[dear] --set overlap.compression=[top-k]");
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "--set: overlap.compression: nothing of this study can be done here: top-k "));
  const Outcome some = here.contend("run study.yaml");
  CHECK(some.code == 0);
  CHECK(contains(some.out, "top-k with dear, onebit-adam with dear: not possible here: "));
}

TEST_CASE("every verb reports, at its place, a batch that a file of layer times contradicts") {
  const Workplace here;
  here.write("times.csv", "layer,parameters,forward_us,backward_us,batch\nconv,9408,123,456,8\n");
  const std::string study =
      "schema_version: 1\nname: s\noverlap: {training: it, fusion: [bsp]}\ntraining: {it: {layers: times.csv";
  here.write("s.yaml", study + ", batch: 3}}\n");
  const std::string place = "s.yaml:4:43: training.it.batch: times.csv: a file in format timed-layers states its own";
  for (const char* verb : {"check s.yaml", "run s.yaml", "show s.yaml --layers", "compare s.yaml s.yaml"}) {
    const Outcome outcome = here.contend(verb);
    CHECK(outcome.code == 3);
    CHECK_MESSAGE(contains(outcome.err, place), outcome.err);
  }
  here.write("sweep.yaml", study + "}}\nsweep: {grid: {training.it.batch: [3]}}\n");
  const Outcome swept = here.contend("sweep sweep.yaml");
  CHECK(swept.code == 4);
  CHECK_MESSAGE(contains(swept.err, "sweep.yaml:5:36: training.it.batch: times.csv: "), swept.err);
}
