// contend compare, and the expectations that contend run enforces: outputs, exit codes, complaints.

#include "tests/cli/program.hpp"
#include "tests/earlier_folder.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kBase =
    "schema_version: 1\nname: base\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {1: 6, 2: 3, 4: 1}, iterations: [20, 90], arrivals: 2s}}\n";

Workplace& with_scenarios(Workplace& here) {
  here.write("base.yaml", kBase);
  here.write("fifo.yaml", "schema_version: 1\ninclude: base.yaml\nname: fifo\npolicies: {scheduling: fifo}\n");
  return here;
}

/// Whether a program of the system accepts the file.
bool reads(const Workplace& here, const char* python, const std::string& file) {
  return std::system(fmt::format("python3 -c '{}' '{}' >/dev/null", python, here.path(file)).c_str()) == 0;
}
constexpr const char* kJson = "import json, sys; json.load(open(sys.argv[1]))";
constexpr const char* kXml = "import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])";

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("two folders, in all forms") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  CHECK(here.contend("run base.yaml --repeat 12 -o a").code == 0);
  CHECK(here.contend("run fifo.yaml --repeat 12 -o b").code == 0);
  const Outcome text = here.contend("compare a b");
  CHECK(text.code == 0);
  CHECK_MESSAGE(text.err.empty(), text.err);
  CHECK(contains(text.out, "12 seeds, the first 1; changes of times are geometric means of the ratios seed by seed"));
  CHECK(contains(text.out, "average JCT [s]"));
  CHECK(contains(text.out, "120 jobs finished on both sides: "));
  CHECK(std::regex_search(text.out, std::regex{"\nWith NEW, jobs take [0-9.]+ (s|min|h) instead of [0-9.]+ (s|min|h) "
                                               "\\([+-][0-9.]+%, 95% interval \\[.*\\]%\\)"}));
  CHECK_FALSE(contains(here.contend("compare a a").out, "With NEW"));
  CHECK(here.contend("compare a b").out == text.out);
  // A run just now and the run that a folder keeps give equal texts.
  const Outcome run = here.contend("compare base.yaml fifo.yaml --repeat 12");
  CHECK(run.out.substr(run.out.find("12 seeds")) == text.out.substr(text.out.find("12 seeds")));
  CHECK(here.contend("compare a fifo.yaml").out.find("12 seeds, the first 1") != std::string::npos);

  const Outcome failed = here.contend(
      "compare a b --fail-if 'avg_jct > -90%' --fail-if 'finished < 0' --junit j.xml --markdown m.md --json --worst 2");
  CHECK(failed.code == 1);
  CHECK(reads(here, kJson, "stdout.txt"));
  CHECK(contains(failed.out, "\"failed\": true"));
  CHECK(reads(here, kXml, "j.xml"));
  CHECK(contains(here.read("j.xml"), "tests=\"2\" failures=\"1\""));
  CHECK(contains(here.read("j.xml"), "name=\"not avg_jct &gt; -90%\""));
  CHECK(contains(here.read("m.md"), "### contend compare: **1 of 2 rules failed**"));
  CHECK(contains(here.read("m.md"), "| average JCT [s] | "));
  CHECK(contains(here.read("m.md"), "\nWith NEW, jobs take "));
  const Outcome quiet = here.contend("compare a b -q --fail-if 'avg_jct > -90%'");
  CHECK(quiet.code == 1);
  CHECK(quiet.out.empty());
  CHECK(contains(quiet.err, "failed: avg_jct > -90%: avg_jct changed by"));
  CHECK(here.contend("compare a b -q --fail-if 'avg_jct > 900%'").code == 0);
}

TEST_CASE("--github prints annotations, and adds the report to the summary of the workflow's run") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  const Outcome outcome = here.contend(
      "compare base.yaml fifo.yaml --repeat 3 --github --set-new 'expect={avg_jct: < 1s}' --fail-if 'avg_jct > -90%' "
      "--fail-if 'finished < 0'",
      "GITHUB_STEP_SUMMARY=summary.md");
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.out, "::error file=fifo.yaml,title=contend compare%3A avg_jct > -90%25::avg_jct changed by"));
  CHECK(contains(outcome.out, "::notice file=fifo.yaml,title=contend compare%3A not finished < 0::"));
  CHECK(contains(outcome.out, "::error file=fifo.yaml,title=contend compare%3A NEW expects avg_jct < 1s::"));
  const std::string once = here.read("summary.md");
  CHECK(contains(once, "### contend compare: **1 of 2 rules failed, 1 of 1 expectations not met**"));
  CHECK(here.contend("run base.yaml -o a").code == 0);
  const Outcome folders =
      here.contend("compare a a --github --fail-if 'finished < 0' -q", "GITHUB_STEP_SUMMARY=summary.md");
  CHECK(folders.code == 0);
  CHECK(folders.out.starts_with("::notice title=contend compare%3A not finished < 0::"));
  CHECK(here.read("summary.md").starts_with(once));
  CHECK(contains(here.read("summary.md"), "### contend compare: all 1 rules passed"));
  CHECK(here.contend("compare a a --github", "GITHUB_STEP_SUMMARY=no/such/file").code == 3);
  CHECK(contains(here.contend("compare a a --github --json").err, "--github and --json both print"));
}

TEST_CASE("--github points at a wrong input, and names files by their paths in the repository") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  here.write("wrong.yaml", "schema_version: 1\ninclude: base.yaml\nengine: {leap: perhaps}\n");
  const Outcome wrong = here.contend("compare base.yaml wrong.yaml --github");
  CHECK(wrong.code == 3);
  CHECK(contains(wrong.err, "wrong.yaml:3:16: "));
  CHECK(wrong.out.starts_with(
      "::error file=wrong.yaml,line=3,col=16,title=contend compare%3A wrong input::wrong.yaml:3:16: "));
  CHECK(std::ranges::count(wrong.out, '\n') == 1);
  // --set is no file of the repository.
  const Outcome set = here.contend("compare base.yaml fifo.yaml --github --set engine.leap=perhaps");
  CHECK(set.code == 3);
  CHECK(set.out.starts_with("::error title=contend compare%3A wrong input::"));
  CHECK(here.contend("compare base.yaml wrong.yaml").out.empty());
  const Outcome rule = here.contend("compare base.yaml fifo.yaml --github --fail-if 'avg_jct >> 1%'");
  CHECK(rule.code == 2);
  CHECK(
      rule.out.starts_with("::error title=contend compare%3A wrong input::--fail-if: expected a change such as 1%25"));

  const auto place_of = [&](const std::string& file, const std::string& environment) {
    const Outcome outcome = here.contend("compare base.yaml '" + file + "' --github", environment);
    const std::size_t begin = outcome.out.find("file=") + 5;
    return outcome.out.substr(begin, outcome.out.find(',', begin) - begin);
  };
  const std::string folder = here.path("");
  CHECK(place_of(here.path("wrong.yaml"), "") == "wrong.yaml");
  CHECK(place_of("wrong.yaml", fmt::format("GITHUB_WORKSPACE='{}..'", folder)) ==
        fmt::format("{}/wrong.yaml", std::filesystem::path{folder}.parent_path().filename().string()));
  CHECK(place_of(here.path("wrong.yaml"), "GITHUB_WORKSPACE=/usr") == here.path("wrong.yaml"));
}

TEST_CASE("a job list that has changed under the same name is a difference") {
  Workplace place;
  const Workplace& here = place;
  const std::string jobs = "job_id,submit_s,gpus,duration_s\na,0,1,100\nb,1,2,10\n";
  here.write("jobs.csv", jobs);
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 1, gpus_per_server: 2}\nworkload: {jobs: jobs.csv}\n");
  CHECK(here.contend("run run.yaml -q -o before").code == 0);
  CHECK(here.contend("run run.yaml -q -o again").code == 0);
  CHECK(contains(here.contend("compare before again").out, "the scenarios of BASE and NEW are the same\n"));
  here.write("jobs.csv", jobs + "c,2,1,5\n");
  CHECK(here.contend("run run.yaml -q -o after").code == 0);
  for (const char* sides : {"before after", "before run.yaml --as-is"}) {
    const Outcome outcome = here.contend(std::string{"compare "} + sides + " --markdown m.md");
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    const std::string before = sha256_hex(jobs).substr(0, 12), after = sha256_hex(here.read("jobs.csv")).substr(0, 12);
    CHECK(contains(outcome.out, "content of workload.jobs"));
    CHECK(outcome.out.find("SHA-256 " + before) < outcome.out.find("SHA-256 " + after));
    CHECK(contains(here.read("m.md"), "| content of workload.jobs | SHA-256 " + before));
  }
  CHECK(!contains(here.contend("compare after run.yaml --as-is").out, "content of"));
}

TEST_CASE("what differs between the scenarios, in all forms") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  CHECK(here.contend("run base.yaml -o a --set network.nic=10Gbps").code == 0);
  CHECK(here.contend("run fifo.yaml -o b --set network.nic=25Gbps").code == 0);
  const Outcome text = here.contend("compare a b --markdown m.md");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "\nwhat differs         BASE    NEW\n"));
  CHECK(contains(text.out, "\nnetwork.nic          10Gbps  25Gbps\n"));
  CHECK(contains(text.out, "\npolicies.scheduling  srsf    fifo\n"));
  CHECK_FALSE(contains(text.out, "beta"));
  CHECK(
      contains(here.read("m.md"), "| what differs | BASE | NEW |\n|---|---|---|\n| network.nic | 10Gbps | 25Gbps |\n"));
  const Outcome json = here.contend("compare a b --json");
  CHECK(reads(here, kJson, "stdout.txt"));
  CHECK(contains(
      json.out,
      "\"differences\": [\n    {\n      \"key\": \"network.nic\",\n      \"base\": \"10Gbps\",\n      \"new\": "
      "\"25Gbps\"\n    },"));

  // A scenario beside a folder; several seeds of one scenario.
  CHECK(
      contains(here.contend("compare a base.yaml --set-new network.nic=1Gbps").out, "\nnetwork.nic   10Gbps  1Gbps\n"));
  CHECK(contains(here.contend("compare a base.yaml --seed 1").out, "\nthe scenarios of BASE and NEW are the same\n"));

  // A folder without a scenario that can be read has its figures still.
  as_of_earlier_version(here.path("b"));
  here.write("b/scenario.yaml", "schema_version: 1\nclutser: {servers: 3}\n");
  const Outcome unknown = here.contend("compare a b");
  CHECK(unknown.code == 0);
  CHECK(contains(unknown.out, "what differs is not known: b/scenario.yaml:2:1: clutser: unknown key"));
  CHECK(contains(here.contend("compare a b --json").out, "\"differences\": null"));
}

TEST_CASE("what differs between two studies") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\nnetwork: {nic: 10Gbps, alpha: 50us}\ntraining: {it: {model: resnet18}}\noverlap: "
             "{training: it, workers: [4], fusion: ["
             "bsp, dear]}\n");
  CHECK(here.contend("run s.yaml -o slow -q").code == 0);
  const Outcome text = here.contend("compare slow s.yaml --set-new network.nic=25Gbps --markdown m.md -j 2");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "\nwhat differs  BASE    NEW\n"));
  CHECK(contains(text.out, "\nnetwork.nic   10Gbps  25Gbps\n"));
  CHECK(contains(here.read("m.md"), "| network.nic | 10Gbps | 25Gbps |\n"));
  CHECK(contains(here.contend("compare slow s.yaml --set-new network.nic=25Gbps --json").out,
                 "\"key\": \"network.nic\""));
}

TEST_CASE("a sweep is many runs, of which one can be compared") {
  const Workplace here;
  here.write("sweep.yaml", std::string{kBase} + "sweep: {grid: {network.nic: [1Gbps, 10Gbps]}}\n");
  const Outcome refused = here.contend("compare sweep.yaml sweep.yaml");
  CHECK(refused.code == 3);
  CHECK(contains(refused.err, "the scenario \"base\" describes a sweep; run it by `contend sweep`"));
  const Outcome point = here.contend("compare sweep.yaml sweep.yaml --point 0 --set-new policies.scheduling=fifo");
  REQUIRE_MESSAGE(point.code == 0, point.err);
  CHECK(contains(point.out, "policies.scheduling  srsf  fifo"));
}

TEST_CASE("nothing changed") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  CHECK(here.contend("run base.yaml -o a").code == 0);
  const Outcome same = here.contend("compare a base.yaml --fail-if 'avg_jct > 0%'");
  CHECK(same.code == 0);
  CHECK(contains(same.out, "NEW is identical to BASE"));
  CHECK(contains(same.out, "one run a side has no intervals"));
  CHECK(contains(here.contend("compare base.yaml base.yaml --set-new network.nic=1Gbps").out, "20 seeds, the first 1"));
}

TEST_CASE("sides that can't be compared") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  CHECK(here.contend("run base.yaml -o a").code == 0);
  CHECK(here.contend("run base.yaml -o two --repeat 2").code == 0);
  CHECK(here.contend("run base.yaml -o other --set workload.generate.iterations=[200,900]").code == 0);
  const auto complaint = [&](const std::string& arguments, int code) {
    const Outcome outcome = here.contend("compare " + arguments);
    CHECK_MESSAGE(outcome.code == code, outcome.err);
    CHECK_MESSAGE(outcome.out.empty(), outcome.out);
    return outcome.err;
  };
  CHECK(contains(complaint("a two", 3), "BASE has the seeds 1, NEW has 1 to 2"));
  CHECK(contains(complaint("a other", 3), "different workloads: job \""));
  const std::string both = complaint("nowhere nothing.yaml", 3);
  CHECK(contains(both, "nowhere: "));
  CHECK(contains(both, "nothing.yaml: "));
  std::filesystem::create_directory(here.path("empty"));
  CHECK(contains(complaint("a empty", 3), "empty: there is no manifest.json"));
  std::filesystem::create_directories(here.path("several/first"));
  here.write("several/first/manifest.json", "{}");
  CHECK(contains(complaint("a several", 3),
                 "several: there are results of several scenarios in it; name one of several/first"));
  CHECK(contains(complaint("a a --fail-if 'avg_jtc > 1%'", 2), "did you mean \"avg_jct\"?\n  avg_jtc > 1%\n  ^"));
  CHECK(contains(complaint("a a --junit j.xml", 2), "--junit needs a --fail-if"));
  CHECK(contains(complaint("a a --repeat 3", 2), "both sides are folders"));
  CHECK(contains(complaint("base.yaml a --set-new seed=3", 2), "NEW is a folder"));
  CHECK(contains(complaint("a", 2), "expected BASE NEW"));
  here.write("study.yaml", "schema_version: 1\ntraining: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(contains(complaint("study.yaml a", 3), "different workloads: no job of BASE is in NEW"));
  std::filesystem::rename(here.path("a/jobs.csv"), here.path("a/gone.csv"));
  CHECK(contains(complaint("a two", 3), "a/jobs.csv: "));
}

TEST_CASE("another version of the program is said") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  CHECK(here.contend("run base.yaml -o a").code == 0);
  as_of_earlier_version(here.path("a"));
  std::string manifest = here.read("a/manifest.json");
  const std::string key = "\"version\": \"";
  manifest.insert(manifest.find(key) + key.size(), "9.");
  here.write("a/manifest.json", manifest);
  const Outcome outcome = here.contend("compare a base.yaml");
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "note: BASE was run by contend 9."));
}

TEST_CASE("a side that is run must meet its own expectations") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  here.write("met.yaml", "schema_version: 1\ninclude: base.yaml\nexpect: {finished: 10}\n");
  const Outcome met = here.contend("compare met.yaml met.yaml --repeat 2");
  CHECK(met.code == 0);
  CHECK(contains(met.out, "BASE: expectations\nok    finished = 10: 10"));
  const Outcome unmet = here.contend("compare met.yaml met.yaml --repeat 2 --set-new expect.finished=11 -q");
  CHECK(unmet.code == 1);
  CHECK(unmet.out.empty());
  CHECK(contains(unmet.err, "contend: NEW: expected finished = 11: 10"));
}

TEST_CASE(
    "property: exit code, text, Markdown, JUnit, JSON and annotations have one verdict, of rules and expectations") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  here.write("met.yaml", "schema_version: 1\ninclude: base.yaml\nexpect: {finished: 10}\n");
  for (int choice = 0; choice < 8; ++choice) {
    const bool rule_fails = (choice & 1) != 0, base_unmet = (choice & 2) != 0, new_unmet = (choice & 4) != 0;
    const int unmet = int{base_unmet} + int{new_unmet}, failures = int{rule_fails} + unmet;
    const std::string command = fmt::format(
        "compare met.yaml met.yaml --repeat 2 --set expect.finished={} --set-new expect.finished={} --fail-if "
        "'finished {} 0' ",
        base_unmet ? 11 : 10, new_unmet ? 11 : 10, rule_fails ? ">=" : "<");
    INFO(command);
    const Outcome text = here.contend(command + "--junit j.xml --markdown m.md --github");
    CHECK(text.code == (failures > 0 ? 1 : 0));
    CHECK(contains(text.out, fmt::format("BASE: expectations\n{}  finished = ", base_unmet ? "FAIL" : "ok  ")));
    CHECK(contains(text.out, fmt::format("NEW: expectations\n{}  finished = ", new_unmet ? "FAIL" : "ok  ")));
    CHECK(reads(here, kXml, "j.xml"));
    CHECK(contains(here.read("j.xml"), fmt::format("<testsuites tests=\"3\" failures=\"{}\"", failures)));
    CHECK(contains(here.read("j.xml"), fmt::format("name=\"NEW expects finished = {}\"", new_unmet ? 11 : 10)));
    const std::string failed =
        fmt::format("{}{}{}", rule_fails ? "1 of 1 rules failed" : "", rule_fails && unmet > 0 ? ", " : "",
                    unmet > 0 ? fmt::format("{} of 2 expectations not met", unmet) : "");
    const std::string head =
        failures > 0 ? fmt::format("**{}**", failed) : "all 1 rules passed, all 2 expectations met";
    CHECK(contains(here.read("m.md"), "### contend compare: " + head + "\n"));
    std::size_t errors = 0;
    for (std::size_t at = text.out.find("::error file=met.yaml,"); at != std::string::npos;
         at = text.out.find("::error file=met.yaml,", at + 1))
      ++errors;
    CHECK(errors == static_cast<std::size_t>(failures));
    const Outcome json = here.contend(command + "--json");
    CHECK(json.code == text.code);
    CHECK(reads(here, kJson, "stdout.txt"));
    CHECK(contains(json.out, fmt::format("\n  \"failed\": {}", failures > 0)));
  }
  // Expectations alone are test cases, too.
  const Outcome alone =
      here.contend("compare met.yaml base.yaml --repeat 2 --junit alone.xml --set expect.finished=11");
  CHECK(alone.code == 1);
  CHECK(contains(here.read("alone.xml"), "tests=\"2\" failures=\"2\""));
}

TEST_CASE("--github says of every kind of wrong input what is wrong") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  here.write("bad.csv", "job_id,submit_s,gpus,duration_s\na,0,1,x\n");
  here.write("list.yaml", "schema_version: 1\ncluster: {servers: 1, gpus_per_server: 2}\nworkload: {jobs: bad.csv}\n");
  CHECK(here.contend("run base.yaml -o a -q").code == 0);
  CHECK(here.contend("run base.yaml -o two --repeat 2 -q").code == 0);
  std::filesystem::create_directory(here.path("empty"));
  for (const char* sides :
       {"base.yaml nothing.yaml", "a two", "a empty", "base.yaml base.yaml --set-new cluster.server=3",
        "list.yaml list.yaml", "a a --markdown no/such/file"}) {
    const Outcome outcome = here.contend(std::string{"compare "} + sides + " --github");
    CHECK_MESSAGE(outcome.code == 3, sides);
    CHECK_MESSAGE(contains(outcome.out, "::error "), sides);
    CHECK_MESSAGE(contains(outcome.out, "title=contend compare%3A wrong input::"), sides);
  }
}

TEST_CASE("run enforces what a scenario expects") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  here.write("met.yaml", "schema_version: 1\ninclude: base.yaml\nexpect: {finished: 10, avg_jct: [1ms, 1h]}\n");
  const Outcome met = here.contend("run met.yaml");
  CHECK(met.code == 0);
  CHECK(contains(met.out, "base: expectations\nok    finished = 10: 10\nok    avg_jct in [1ms, 1h]: "));
  const Outcome both = here.contend("run met.yaml fifo.yaml --repeat 3 --set expect.finished='\"< 10\"'");
  CHECK(both.code == 1);
  CHECK(contains(both.out, "fifo: expectations\nFAIL  finished < 10: 10 ± 0 over 3 replicas"));
  const Outcome quiet = here.contend("run met.yaml -q --set expect.makespan='\"> 9d\"'");
  CHECK(quiet.code == 1);
  CHECK(contains(quiet.err, "contend: base: expected makespan > 9d: "));
  const Outcome json = here.contend("run met.yaml --json --set expect.makespan='\"> 9d\"'");
  CHECK(json.code == 1);
  CHECK(reads(here, kJson, "stdout.txt"));
  CHECK(contains(json.out, "\"expectation\": \"makespan > 9d\""));
  // An unmet expectation says more than jobs that the end of the run cut off.
  CHECK(here.contend("run met.yaml --until 1s").code == 1);
  CHECK(here.contend("run base.yaml --until 1s").code == 4);
  // The folder keeps the expectations with its scenario.
  CHECK(here.contend("run met.yaml -o kept -q").code == 0);
  CHECK(contains(here.read("kept/scenario.yaml"), "expect: {finished: 10, avg_jct: [1ms, 1h]}"));
}

TEST_CASE("two scenarios with one job list are compared on resamples of it, and on the list as it is") {
  const Workplace here;
  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 600; ++i)  // 25 days of 24 jobs, some of which wait
    list += fmt::format("j{},{},{},{}\n", i, 3600 * i, 1 + i % 4, 1000 + 7919 * i % 9000);
  here.write("jobs.csv", list);
  here.write("base.yaml",
             "schema_version: 1\nname: base\ncluster: {servers: 2, gpus_per_server: 2}\npolicies: {scheduling: fifo}\n"
             "workload: {jobs: jobs.csv}\n");
  const std::string both = "compare base.yaml base.yaml --set-new policies.scheduling=sjf";
  const Outcome text = here.contend(both + " --markdown m.md");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "one job list; 95% intervals by 20 resamples of it"));
  CHECK(
      contains(text.out, "blocks of 1d are drawn with replacement: the GPU time of 25 days has the rank correlation "));
  CHECK(contains(text.out, "this takes 42 runs instead of 2, and --as-is compares the list alone"));
  CHECK_FALSE(contains(text.out, "~"));  // the jobs that changed most are jobs of the list
  CHECK(contains(here.read("m.md"), "| metric | BASE | NEW | change | 95% interval | p | detectable |"));
  const Outcome alone = here.contend(both + " --as-is --json");
  CHECK(contains(alone.out, "\"pairs\": 1"));
  const Outcome json = here.contend(both + " --json");
  CHECK(reads(here, kJson, "stdout.txt"));
  CHECK(contains(json.out, "\"resampled\": true"));
  CHECK(here.contend(both + " --repeat 1 --json").out == alone.out);
  // The figures describe the list alone.
  const auto relative = [](const std::string& out) {
    const std::string key = "\"relative\": ";
    const std::size_t at = out.find(key, out.find("\"avg_jct_s\": {")) + key.size();
    return out.substr(at, out.find_first_of(",\n", at) - at);
  };
  CHECK(relative(json.out) == relative(alone.out));
  CHECK(contains(json.out, "\"about_list\": true"));
  CHECK(contains(here.contend(both + " --fail-if 'avg_jct[size=3-4] > -99%'").out, "avg_jct[size=3-4] changed by "));

  // Folders of resamples know that they are: their intervals don't shrink with the number of seeds.
  CHECK(here.contend("run base.yaml --set workload.resample.block=1d --repeat 20 -q -o a").code == 0);
  CHECK(here.contend("run base.yaml --set workload.resample.block=1d --repeat 20 -q -o b --set "
                     "policies.scheduling=sjf")
            .code == 0);
  const Outcome folders = here.contend("compare a b --json");
  CHECK(contains(folders.out, "\"about_list\": false"));
  CHECK(contains(folders.out, "\"resampled\": true"));
  CHECK(contains(
      here.contend("check base.yaml --set workload.resample.block=1d --set workload.scaling.bootstrap=true").err,
      "blocks of jobs can't be drawn together with single jobs"));
  CHECK(contains(here.contend("run base.yaml --set workload.resample.block=30d").err,
                 "30 days are too long: the list has submissions of 25 days"));
  CHECK(contains(here.contend("check base.yaml --set workload.resample.replace=false").err,
                 "workload.resample.replace: needs `workload.resample.block`"));

  // Jobs that all come at once can't be resampled.
  here.write("once.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\nb,0,4,20\n");
  const Outcome once = here.contend(both + " --set workload.jobs=once.csv");
  REQUIRE_MESSAGE(once.code == 0, once.err);
  CHECK(contains(once.out, "one run a side"));
  // Nor are jobs of less than two days.
  here.write("hours.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\nb,9000,4,20\nc,18000,2,20\n");
  const Outcome hours = here.contend(both + " --set workload.jobs=hours.csv");
  REQUIRE_MESSAGE(hours.code == 0, hours.err);
  CHECK(contains(hours.out, "one run a side"));
  CHECK(contains(hours.out, "the job list covers less than two whole days, too little to draw others like it"));
}

TEST_CASE("figures over jobs that finished are marked where others did not") {
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,4,100\nb,0,4,10\nc,1,4,10\nd,200,4,1\n");
  here.write("base.yaml",
             "schema_version: 1\nname: base\ncluster: {servers: 1, gpus_per_server: 4}\npolicies: {scheduling: fifo}\n"
             "workload: {jobs: jobs.csv}\nengine: {until: 50s}\n");
  const Outcome run = here.contend("run base.yaml --set policies.scheduling=sjf");
  CHECK(run.code == 4);
  CHECK(contains(run.out, "2 finished, 0 failed, 1 unfinished, 1 not submitted yet\n"));
  CHECK(contains(run.out, "average JCT             14.500 s *\n"));
  CHECK(contains(run.out, "* over the finished jobs alone"));
  // SJF looks much better only because FIFO finishes nothing, or another job.
  const Outcome compared = here.contend(
      "compare base.yaml base.yaml --as-is --set engine.until=105s --set-new policies.scheduling=sjf --fail-if "
      "'avg_jct > 0%'");
  CHECK(compared.code == 1);
  CHECK(contains(compared.out, "average JCT [s] *"));
  CHECK(contains(compared.out, "over different jobs: 1 count in BASE only, 2 in NEW only"));
  // With a window over submissions every job that counts ends.
  const Outcome window = here.contend(
      "compare base.yaml base.yaml --as-is --set engine.until=1h --set measure.until=150s --set-new "
      "policies.scheduling=sjf "
      "--fail-if 'avg_jct > 0%'");
  CHECK(window.code == 0);
  CHECK_FALSE(contains(window.out, " *"));
}

TEST_CASE("a side whose jobs were given up is no improvement, and says so") {
  // With failures the long job a is given up at 60 s, and the mean over what is left falls from 125 to 120 s.
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,100\nb,0,1,50\n");
  here.write("down.csv", "component,down_s,up_s\nserver0,60,70\n");
  here.write("base.yaml",
             "schema_version: 1\nname: base\ncluster: {servers: 1, gpus_per_server: 1}\npolicies: {scheduling: fifo}\n"
             "workload: {jobs: jobs.csv}\n");
  const Outcome compared = here.contend(
      "compare base.yaml base.yaml --as-is --set-new failures.events=down.csv --set-new failures.retries=0 --fail-if "
      "'avg_jct > 0%' --fail-if 'avg_rho > 0%' --fail-if 'given_up > 0'");
  CHECK(compared.code == 1);
  CHECK_MESSAGE(contains(compared.out, "average JCT [s] *"), compared.out);
  CHECK(contains(compared.out, "finished in BASE only: 1: a\n"));
  CHECK(contains(compared.out, "note: NEW: 1 of 2 jobs were given up after failures; "));
  CHECK(contains(compared.out, "FAIL  given_up > 0"));
  CHECK(contains(compared.out, "FAIL  avg_jct > 0%"));
  CHECK(contains(compared.out, "FAIL  avg_rho > 0%"));
  CHECK(contains(compared.out, "over different jobs: 1 count in BASE only, 0 in NEW only"));
}

TEST_CASE("--until-precise adds seeds until the interval is narrow enough, or the most are run") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  const Outcome few = here.contend("compare base.yaml fifo.yaml --repeat 5 --json");
  const Outcome wide = here.contend("compare base.yaml fifo.yaml --repeat 5 --until-precise 90% --json");
  CHECK(contains(wide.out, "\"pairs\": 5"));
  CHECK(contains(wide.out, "5 seeds: the 95% interval of the average JCT is within "));
  const Outcome most = here.contend("compare base.yaml fifo.yaml --repeat 5 --until-precise 0.001% --most-seeds 12");
  REQUIRE_MESSAGE(most.code == 0, most.err);
  CHECK(contains(most.out, "note: 12 seeds: the 95% interval"));
  CHECK(contains(most.out, ", not within the 0.001% asked for"));
  // The seeds that were added are those that a longer run has.
  const Outcome twelve = here.contend("compare base.yaml fifo.yaml --repeat 12");
  const auto jct_line = [](const std::string& out) { return out.substr(out.find("average JCT"), 60); };
  CHECK(jct_line(most.out) == jct_line(twelve.out));
  // Expectations are judged by all seeds.
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --repeat 5 --until-precise 0.001% --most-seeds 12 --set "
                              "'expect={finished: 10}'")
                     .out,
                 "over 12 replicas"));
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --repeat 9 --until-precise 2% --most-seeds 5").err,
                 "--most-seeds: expected at least the 9 seeds with which it begins, got 5"));
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --until-precise 2").err,
                 "expected a share such as 2%, got \"2\""));
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --most-seeds 9").err, "--most-seeds needs --until-precise"));
}

TEST_CASE("sides that measure other jobs are not the same jobs, and few blocks are few") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  const Outcome windows = here.contend(
      "compare base.yaml base.yaml --repeat 4 --set-new measure.from=1s --fail-if 'avg_jct > 900%' --fail-if 'avg_jct "
      "< -90%'");
  CHECK(windows.code == 1);
  CHECK(contains(windows.out, "average JCT [s] *"));
  CHECK(contains(windows.out, "FAIL  avg_jct > 900%: "));
  CHECK(contains(windows.out, "FAIL  avg_jct < -90%: "));
  CHECK(contains(windows.out, "over different jobs: "));

  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 40; ++i) list += fmt::format("j{},{},1,1000\n", i, 86'400 * i / 10);
  here.write("jobs.csv", list);
  here.write("list.yaml",
             "schema_version: 1\nname: l\ncluster: {servers: 1, gpus_per_server: 2}\nworkload: {jobs: jobs.csv}\n");
  const Outcome few = here.contend("run list.yaml --set workload.resample.block=1d --repeat 2");
  CHECK(few.code == 0);
  CHECK(contains(few.err, "warning: workload.resample.block: jobs.csv has 4 whole blocks of 1d; with fewer than 12"));
  CHECK(contains(here.contend("compare list.yaml list.yaml --set-new policies.scheduling=fifo").out,
                 "; a list of 4 whole days says little about others"));
  CHECK(
      contains(here.contend("compare base.yaml fifo.yaml --as-is").err, "--as-is is about scenarios with a job list"));
  CHECK(contains(here.contend("compare list.yaml list.yaml --as-is --until-precise 5%").err,
                 "--until-precise needs scenarios that draw their jobs"));
  const Outcome cut = here.contend("compare list.yaml list.yaml --as-is --set engine.until=1d");
  CHECK(contains(cut.out, "note: BASE: 29 of 40 jobs were not submitted yet when the runs stopped"));
  CHECK(contains(here.contend("run list.yaml --set engine.until=1d --by size --set cluster.gpus_per_server=1").out,
                 "avg JCT [s]"));
}

TEST_CASE("figures and groups have corrected tests; --worst 0, -q and --set-new say what they should") {
  Workplace place;
  const Workplace& here = with_scenarios(place);
  const Outcome text = here.contend("compare base.yaml fifo.yaml --repeat 12 --by size --worst 0 --markdown m.md");
  REQUIRE_MESSAGE(text.code == 0, text.err);
  CHECK(contains(text.out, "p: of no change, by two-sided t tests, corrected by Holm for the "));
  CHECK(contains(text.out,
                 "in brackets 95% intervals; !: significant by a two-sided t test, corrected by Holm for the "));
  CHECK(contains(text.out, "not submitted "));
  CHECK_FALSE(contains(here.read("m.md"), "<details>"));
  CHECK(contains(here.read("m.md"), "jobs finished on both sides"));
  CHECK(contains(here.read("m.md"), "corrected by Holm"));
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --repeat 3 --by size --json").out, "\"p_value\": "));
  CHECK(contains(here.contend("compare base.yaml base.yaml --repeat 2 --fail-if 'not_submitted > 0'").out,
                 "ok    not_submitted > 0"));

  const Outcome misspelt = here.contend("compare base.yaml fifo.yaml --set-new cluster.server=3");
  CHECK_MESSAGE(contains(misspelt.err, "--set-new: cluster.server: unknown key"), misspelt.err);
  CHECK(contains(here.contend("compare base.yaml fifo.yaml --set cluster.server=3").err, "--set: cluster.server"));
  const Outcome group = here.contend("compare base.yaml fifo.yaml --repeat 2 --fail-if 'avg_jct[size=3] > 1%'");
  CHECK_MESSAGE(contains(group.err, "no job of either side has the GPUs \"3\"; there are \"1\", \"2\", \"3-4\""),
                group.err);

  const Outcome quiet =
      here.contend("compare base.yaml base.yaml --repeat 2 -q --set-new cluster.servers=1 --fail-if 'avg_jct > 900%'");
  CHECK(quiet.out.empty());
  CHECK_MESSAGE(contains(quiet.err, "contend: NEW: 2 of 20 jobs failed\n"), quiet.err);
  CHECK_FALSE(contains(quiet.err, "BASE: "));
}
