// contend run: outputs, exit codes, tables.

#include "tests/cli/program.hpp"
#include "text/sha256.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {
constexpr const char* kSmall =
    "schema_version: 1\nname: small\ncluster: {servers: 2, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {1: 3, 4: 2}, iterations: [2, 9], arrivals: 2s}}\n";
// Nothing but jobs of a size that the cluster does not have.
constexpr const char* kTooLarge =
    "schema_version: 1\nname: too-large\ncluster: {servers: 1, gpus_per_server: 2}\n"
    "workload: {generate: {sizes: {4: 1}, iterations: [2, 9], arrivals: 2s}}\n";

Workplace& prepared(Workplace& here) {
  here.write("small.yaml", kSmall);
  here.write("other.yaml", "schema_version: 1\ninclude: small.yaml\nname: other ±\npolicies: {placement: first-fit}\n");
  here.write("large.yaml", kTooLarge);
  return here;
}

bool is_json(const Workplace& here, const std::string& file) {
  return std::system(("python3 -m json.tool '" + here.path(file) + "' >/dev/null").c_str()) == 0;
}
}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("a single run prints a summary and writes a folder") {
  Workplace place;
  const Workplace& here = prepared(place);
  const Outcome outcome = here.contend("run small.yaml -o out --timeline t.json");
  CHECK(outcome.code == 0);
  CHECK_MESSAGE(outcome.err.empty(), outcome.err);
  CHECK(contains(outcome.out, "small (seed 1)\n"));
  CHECK(contains(outcome.out, "5 finished, 0 failed, 0 unfinished"));
  CHECK(contains(outcome.out, "average JCT"));
  for (const char* file : {"manifest.json", "scenario.yaml", "summary.json", "jobs.csv", "gpus.csv", "links.csv"})
    CHECK_MESSAGE(std::filesystem::exists(here.path(std::string{"out/"} + file)), file);
  CHECK(is_json(here, "out/manifest.json"));
  CHECK(is_json(here, "out/summary.json"));
  CHECK(is_json(here, "t.json"));
  CHECK(contains(here.read("out/manifest.json"), "\"exit_state\": \"finished\""));
  CHECK(here.contend("show small.yaml").out == here.read("out/scenario.yaml"));
}

TEST_CASE("a file of version 1 that has ideals gets one note, and version 2 with the ideals by name is the same run") {
  const Workplace here;
  here.write("old.yaml",
             "schema_version: 1\nname: old\ncluster: {servers: 2, gpus_per_server: 2}\n"
             "training: {a: {model: resnet50, device: A100-80GB}, b: {model: vgg16, device: A100-80GB}}\n"
             "workload: {generate: {models: [a, b], sizes: {1: 3, 4: 2}, iterations: [2, 9], arrivals: 2s}}\n");
  const std::string note =
      "contend: note: old.yaml: schema_version 1 has ideals where version 2 has what frameworks and libraries do: "
      "host: "
      "none, efficiency: flat, network.interference: none. Write `schema_version: 2`, or write these ideals too, which "
      "changes no figure\n";
  for (const char* const verb : {"run", "check", "show", "run old.yaml", "show --passes --json"})
    CHECK(here.contend(fmt::format("{} old.yaml", verb)).err == note);
  for (const char* const verb : {"check old.yaml --set 'sweep={grid: {network.nic: [1Gbps, 9Gbps]}}'",
                                 "sweep old.yaml --set network.nic=1Gbps,9Gbps --list"})
    CHECK(here.contend(verb).err == note);
  CHECK(here.contend("run old.yaml -q").err.empty());
  const auto digest = [&](const std::string& folder, const std::string& settings) {
    const Outcome outcome = here.contend("run old.yaml -q -o " + folder + settings);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    const std::string manifest = here.read(folder + "/manifest.json");
    const std::size_t at = manifest.find("\"digest\"");
    REQUIRE(at != std::string::npos);
    return manifest.substr(at, manifest.find('\n', at) - at);
  };
  const std::string old = digest("one", "");
  CHECK(digest("two", " --set schema_version=2") != old);
  const std::string ideals =
      " --set training.a.host=none --set training.b.host=none --set training.a.efficiency=flat"
      " --set training.b.efficiency=flat --set network.interference=none";
  CHECK(digest("named", " --set schema_version=2" + ideals) == old);
  CHECK(here.contend("run old.yaml" + ideals).err.empty());
}

TEST_CASE("jobs like a trace that queue otherwise warn of rankings, once, wherever they are run; other jobs don't") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("like.yaml",
             "schema_version: 1\nname: like\ncluster: {servers: 2, gpus_per_server: 2}\n"
             "workload: {like: helios, jobs: 20, scaling: {largest: 4}}\n");
  here.write("again.yaml", "schema_version: 1\ninclude: like.yaml\nname: again\n");
  const std::string caveat = "warning: workload.like: don't rank policies by jobs like `helios`";
  const std::string run = here.contend("run like.yaml again.yaml").err;
  CHECK(contains(run, caveat));
  CHECK(run.find(caveat) == run.rfind(caveat));
  CHECK(contains(here.contend("check like.yaml").err, "workload.like: don't rank policies"));
  CHECK(contains(here.contend("compare like.yaml again.yaml").err, caveat));
  CHECK(contains(here.contend("sweep like.yaml --set policies.scheduling=fifo,sjf --list").err,
                 "workload.like: don't rank policies"));
  CHECK(contains(here.contend("tune like.yaml --set policies.scheduling=fifo,sjf --minimise avg_jct_s --trials 2").err,
                 "workload.like: don't rank policies"));
  CHECK_FALSE(contains(here.contend("run small.yaml").err, "don't rank"));
  CHECK_FALSE(contains(here.contend("sweep small.yaml --set policies.scheduling=fifo,sjf --list").err, "don't rank"));
}

TEST_CASE("a policy that weighs what no job and no server has: a warning that names the key" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s,deadline_s\na,0,1,10,\nb,0,1,10,\n");
  here.write("due.csv", "job_id,submit_s,gpus,duration_s,deadline_s\na,0,1,10,\nb,0,1,10,30\n");
  here.write(
      "s.yaml",
      "schema_version: 2\nname: s\nworkload: {jobs: jobs.csv}\npolicies: {scheduling: fifo}\n"
      "cluster: {types: [{name: a, servers: 1, gpus_per_server: 2}, {name: b, servers: 1, gpus_per_server: 2}]}\n");
  CHECK(here.contend("run s.yaml").err.empty());
  for (const std::string policy : {"edf", "hydra"}) {
    const std::string run = "run s.yaml --set policies.scheduling=" + policy;
    CHECK(contains(here.contend(run).err, policy + " weighs deadlines, and no job has one (`deadline_s` of the job"));
    CHECK(here.contend(run + " --set workload.jobs=due.csv").err.empty());
  }
  const std::string cost = "run s.yaml --set policies.scheduling=min-cost";
  CHECK(contains(here.contend(cost).err, "weighs prices, and no type of servers has one (`price` in `cluster.types`)"));
  const std::string a = "{name: a, servers: 1, price: 2}";
  CHECK(here.contend(cost + " --set 'cluster.types=[" + a + ", {name: b, servers: 1, price: 1}]'").err.empty());
}

TEST_CASE("a run overwrites no file that no run has written, and none that the scenario reads") {
  Workplace place;
  const Workplace& here = prepared(place);
  const std::string list = "job_id,submit_s,gpus,duration_s\na,0,1,5\n";
  here.write("jobs.csv", list);
  here.write("list.yaml", "schema_version: 1\nname: list\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\n");
  const Outcome here_itself = here.contend("run list.yaml -o .");
  CHECK(here_itself.code == 2);
  CHECK_MESSAGE(contains(here_itself.err, "./jobs.csv: this file is an input of the command"), here_itself.err);
  CHECK(here.read("jobs.csv") == list);
  CHECK_FALSE(std::filesystem::exists(here.path("manifest.json")));
  CHECK_FALSE(std::filesystem::exists(here.path(".lock")));

  std::filesystem::create_directory(here.path("theirs"));
  here.write("theirs/manifest.json", "{\"name\": \"an app\"}\n");
  CHECK(contains(
      here.contend("run small.yaml -o theirs").err,
      "theirs/manifest.json: this file would be overwritten or removed, and no run of contend has written it"));
  CHECK(contains(here.contend("run small.yaml other.yaml -o .").err, "contend: ") == false);  // a folder each

  REQUIRE(here.contend("run small.yaml -o out").code == 0);
  CHECK(here.contend("run small.yaml -o out").code == 0);
  CHECK(here.contend("run out/scenario.yaml -o out").code == 0);
  here.write("out/jobs.csv", list);  // a list of the user where a run wrote one
  here.write("in_out.yaml", "schema_version: 1\nname: list\ncluster: {servers: 1}\nworkload: {jobs: out/jobs.csv}\n");
  const Outcome own_input = here.contend("run in_out.yaml -o out");
  CHECK(own_input.code == 2);
  CHECK_MESSAGE(contains(own_input.err, "out/jobs.csv: this file is an input of the command"), own_input.err);
  CHECK(here.read("out/jobs.csv") == list);

  // Without a manifest nobody knows who has written it.
  std::filesystem::remove(here.path("out/manifest.json"));
  here.write("out/.lock", "1\n");
  CHECK(contains(here.contend("run small.yaml -o out").err, "out/summary.json: this file would be overwritten"));
  CHECK(here.read("out/jobs.csv") == list);
}

TEST_CASE("a run replaces and removes only files that runs have written, and writes through no link") {
  namespace fs = std::filesystem;
  Workplace place;
  const Workplace& here = prepared(place);
  REQUIRE(here.contend("run small.yaml -o out").code == 0);
  const auto refuses = [&](const std::string& file, const std::string& why) {
    const Outcome outcome = here.contend("run other.yaml -o out");
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, "out/" + file + ": this file would be overwritten or removed, and " + why),
                  outcome.err);
    CHECK(contains(outcome.err, "; write to another folder (-o), or move the file away"));
    CHECK(!fs::exists(here.path("out/.lock")));
  };
  for (const char* file : {"sharing.csv", "types.csv", "fabric.csv", "messages.csv"}) {
    here.write(std::string{"out/"} + file, "mine\n");
    refuses(file, "no run of contend has written it");
    CHECK(here.read(std::string{"out/"} + file) == "mine\n");
    fs::remove(here.path(std::string{"out/"} + file));
  }
  const std::string jobs = here.read("out/jobs.csv");
  here.write("out/jobs.csv", jobs + "a note\n");
  refuses("jobs.csv", "it was changed after its run");
  CHECK(here.read("out/jobs.csv") == jobs + "a note\n");
  here.write("kept.csv", jobs);
  fs::remove(here.path("out/jobs.csv"));
  fs::create_symlink(here.path("kept.csv"), here.path("out/jobs.csv"));
  refuses("jobs.csv", "it is a symbolic link");
  CHECK(here.read("kept.csv") == jobs);
  fs::remove(here.path("out/jobs.csv"));
  fs::create_symlink(here.path("nowhere.csv"), here.path("out/types.csv"));
  refuses("types.csv", "it is a symbolic link");
  CHECK(!fs::exists(here.path("nowhere.csv")));
  fs::remove(here.path("out/types.csv"));
  here.write("notes", "mine\n");
  fs::create_symlink(here.path("notes"), here.path("out/.lock"));
  CHECK(contains(here.contend("run other.yaml -o out").err, "out/.lock: is no lock of contend"));
  CHECK(here.read("notes") == "mine\n");
  fs::remove(here.path("out/.lock"));
  here.write("out/.lock", "mine\n");
  CHECK(contains(here.contend("run other.yaml -o out").err, "out/.lock: is no lock of contend"));
  fs::remove(here.path("out/.lock"));
  // A folder of results that has lost a file is written again.
  CHECK(here.contend("run other.yaml -o out").code == 0);
  CHECK(here.contend("results out").code == 0);
  // What a run leaves that is killed while it writes: a list of the files that are there, and no manifest.
  fs::rename(here.path("out/manifest.json"), here.path("out/.written"));
  CHECK(here.contend("results out").code == 3);
  here.write("out/sharing.csv", "mine\n");
  refuses("sharing.csv", "no run of contend has written it");
  fs::remove(here.path("out/sharing.csv"));
  CHECK(here.contend("run small.yaml -o out").code == 0);
  CHECK(!fs::exists(here.path("out/.written")));
}

TEST_CASE("a file that an option names is written through no link either") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("theirs", "mine\n");
  std::filesystem::create_symlink(here.path("theirs"), here.path("page.svg"));
  const Outcome outcome = here.contend("show --topology small.yaml --set network.fidelity=flow --svg page.svg");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "page.svg: can't be written: it is a symbolic link to "), outcome.err);
  CHECK(here.read("theirs") == "mine\n");
  CHECK(here.contend("show --topology small.yaml --set network.fidelity=flow --svg /dev/stdout").code == 0);
  // Standard output is a link, too, here to a file.
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,1\n");
  CHECK(here.contend("import jobs jobs.csv -o /dev/stdout").out == here.read("jobs.csv"));
}

TEST_CASE("the manifest knows every file that was read") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("jobs.csv", "job_id,submit_ms,model,gpus,iterations\na,0,vgg16,1,2\n");
  here.write("list.yaml", "schema_version: 1\ninclude: small.yaml\nworkload: {jobs: jobs.csv}\n");
  CHECK(here.contend("run list.yaml -o out").code == 0);
  const std::string manifest = here.read("out/manifest.json");
  for (const char* file : {"list.yaml", "small.yaml", "jobs.csv"}) CHECK_MESSAGE(contains(manifest, file), manifest);
  CHECK(here.read("out/jobs.csv").find("\na,vgg16,finished,") != std::string::npos);
}

namespace {

/// A summary.json without the members that tell how the run was simulated.
std::string without_folding(std::string text) {
  for (std::size_t at = text.find("\"folding\""); at != std::string::npos; at = text.find("\"folding\""))
    text.erase(at, text.find('}', at) - at);
  return text;
}

}  // namespace

TEST_CASE("results don't depend on the number of threads or on leaping") {
  Workplace place;
  const Workplace& here = prepared(place);
  CHECK(here.contend("run small.yaml other.yaml --repeat 5 -o a -j 1").code == 0);
  CHECK(here.contend("run small.yaml other.yaml --repeat 5 -o b -j 4").code == 0);
  CHECK(here.contend("run small.yaml other.yaml --repeat 5 -o c --no-leap").code == 0);
  for (const char* file :
       {"small/jobs.csv", "small/gpus.csv", "small/links.csv", "small/summary.json", "other ±/jobs.csv"})
    for (const char* folder : {"b/", "c/"})
      CHECK_MESSAGE(without_folding(here.read(std::string{"a/"} + file)) ==
                        without_folding(here.read(std::string{folder} + file)),
                    file);
  // Leaping folds where that is possible, and the summary says so.
  CHECK(contains(here.read("a/small/summary.json"), "\"folding\""));
  CHECK(contains(here.read("c/small/summary.json"), "\"run-does-not-fold\""));
  CHECK(here.read("a/small/summary.json") == here.read("b/small/summary.json"));
  CHECK(here.read("a/small/scenario.yaml") == here.read("b/small/scenario.yaml"));
}

TEST_CASE("jobs that are too long for the clock are refused, by check with their line and by run") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("list.yaml", "schema_version: 1\nname: long\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\n");
  here.write("jobs.csv", "job_id,submit_ms,model,gpus,iterations\nok,0,vgg16,1,2\nlong,0,resnet50,1,300000000000\n");
  const std::string reason = "its 300000000000 iterations compute for 589.8 years, a job may take at most 100";
  const Outcome check = here.contend("check list.yaml");
  CHECK(check.code == 3);
  CHECK_MESSAGE(contains(check.err, "jobs.csv:3: iterations: job \"long\": " + reason), check.err);
  const Outcome run = here.contend("run list.yaml");
  CHECK(run.code == 3);
  CHECK_MESSAGE(contains(run.err, "job `long`: " + reason), run.err);
  const Outcome generated =
      here.contend("check small.yaml --set 'workload.generate.iterations=[1000000000000, 1000000000001]'");
  CHECK(generated.code == 3);
}

TEST_CASE("names that a terminal or a table can't print as they are are refused with their place") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("odd.yaml", "schema_version: 1\nname: \"a\\e[31m\"\n");
  CHECK_MESSAGE(contains(here.contend("check odd.yaml").err,
                         "odd.yaml:2:7: name: expected a name of printable UTF-8 text "
                         "(byte 2 is the control character U+001B)"),
                here.contend("check odd.yaml").err);
  here.write("list.yaml", "schema_version: 1\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\n");
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\nok ±,0,1,1\n\xe9t\xe9,0,1,1\n\x07,0,1,1\n");
  const Outcome outcome = here.contend("check list.yaml");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "jobs.csv:3: job_id: expected a name of printable UTF-8 text"), outcome.err);
  CHECK_MESSAGE(contains(outcome.err, "byte 1 is not UTF-8"), outcome.err);
  CHECK_MESSAGE(contains(outcome.err, "byte 1 is the control character U+0007"), outcome.err);
}

TEST_CASE("check and run name the job that the placement policy can never hold") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("cpus.yaml",
             "schema_version: 1\nname: cpus\ncluster: {servers: 2, gpus_per_server: 8, cpus: 96}\n"
             "workload: {jobs: jobs.csv}\npolicies: {scheduling: fifo, placement: consolidated}\n");
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s,cpus\na,0,8,100,15\nb,1,4,100,1\n");
  const std::string reason =
      " has no place under the placement policy `consolidated`, not even in the empty cluster: the CPUs of a server "
      "suffice for 6 of its 8 GPUs";
  const Outcome check = here.contend("check cpus.yaml");
  CHECK(check.code == 3);
  CHECK_MESSAGE(contains(check.err, "jobs.csv:2: gpus: job \"a\"" + reason), check.err);
  CHECK_MESSAGE(contains(here.contend("run cpus.yaml").err, "the first, a:" + reason), check.err);
}

TEST_CASE("several scenarios make one table, a row each, against the first") {
  Workplace place;
  const Workplace& here = prepared(place);
  const Outcome once = here.contend("run small.yaml other.yaml");
  CHECK(once.code == 0);
  CHECK(contains(once.out, "JCT / first"));
  CHECK(contains(once.out, "\nother ±  "));
  CHECK_FALSE(contains(once.out, "Means over"));

  const Outcome table = here.contend("run small.yaml other.yaml --repeat 3");
  CHECK(contains(table.out, " ± "));
  CHECK(contains(table.out, "Means over 3 replicas"));

  CHECK(here.contend("run small.yaml other.yaml --repeat 3 --json -q").code == 0);
  CHECK(is_json(here, "stdout.txt"));
  CHECK(contains(here.read("stdout.txt"), "jct_ratio_to_first"));
  CHECK(here.contend("run small.yaml -q").out.empty());
}

TEST_CASE("results --warm-up finds where the waits settle; a run notes it; with that window nothing is left") {
  const Workplace here;
  // A hundred jobs that never wait, then pairs of which the second waits 10 s: batches of five wait 4 and 6 s.
  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 100; ++i) list += fmt::format("a{},{},1,10\n", i, 10 * i);
  for (int i = 0; i < 400; ++i) list += fmt::format("b{},{},1,10\n", i, 1000 + 20 * (i / 2));
  here.write("jobs.csv", list);
  here.write("w.yaml",
             "schema_version: 1\nname: w\ncluster: {servers: 1, gpus_per_server: 1}\nworkload: {jobs: jobs.csv}\n");
  const Outcome run = here.contend("run w.yaml -o out");
  CHECK(run.code == 0);
  CHECK_MESSAGE(contains(run.err,
                         "note: w: the first 100 of 500 jobs look like a warm-up (MSER-5): the average waiting time is "
                         "4.0000 s over all of them, and 5.0000 s from then on; `measure: {from: 1000s}`"),
                run.err);
  CHECK(here.contend("run w.yaml -q").err.empty());
  const Outcome found = here.contend("results out --warm-up");
  CHECK(found.code == 0);
  CHECK_MESSAGE(contains(found.out, "averages of tenths of the jobs [s]: 0.0000, 0.0000, 5.0000, 5.0000,"), found.out);
  CHECK(contains(found.out, "\n  measure: {from: 1000s}\n"));
  const Outcome window = here.contend("run w.yaml --set measure.from=1000s -o window");
  CHECK_FALSE(contains(window.err, "warm-up"));
  CHECK(contains(here.contend("results window --warm-up").out, "no warm-up: the rule cuts away no job"));
  CHECK(contains(here.contend("run w.yaml --set workload.scaling.subset=0.1 -o few").out, "finished"));
  CHECK(contains(here.contend("results few --warm-up").out, "too few jobs to tell: the rule needs 100"));
  CHECK(here.contend("results out --warm-up --by size").code == 2);
  // Where nobody waits, completion times tell on request, and a run does not bring them up.
  list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 200; ++i) list += fmt::format("a{},{},1,{}\n", i, 100 * i, i < 40 ? 10 : 20 + i % 2);
  here.write("idle.csv", list);
  CHECK(here.contend("run w.yaml --set workload.jobs=idle.csv -o idle").err.empty());
  const Outcome idle = here.contend("results idle --warm-up");
  CHECK_MESSAGE(contains(idle.out, "warm-up by MSER-5 over the completion times of 200 jobs"), idle.out);
  CHECK(contains(idle.out, "\n  measure: {from: 4000s}\n"));
  // An override that takes another's meaning away says so.
  here.write(
      "like.yaml",
      "schema_version: 1\nname: l\ncluster: {servers: 1, gpus_per_server: 1}\nworkload: {like: philly, jobs: 9}\n");
  CHECK(contains(here.contend("check like.yaml --set workload.jobs=jobs.csv").err,
                 "note: --set workload.jobs=jobs.csv: workload.like no longer counts"));
}

TEST_CASE("scenarios are tested together") {
  Workplace place;
  const Workplace& here = prepared(place);
  here.write("third.yaml", "schema_version: 1\ninclude: small.yaml\nname: third\npolicies: {scheduling: fifo}\n");
  const Outcome two = here.contend("run small.yaml other.yaml --repeat 3");
  const Outcome three = here.contend("run small.yaml other.yaml third.yaml --repeat 3");
  CHECK(contains(three.out,
                 "p: of a ratio of 1, by two-sided t tests, corrected by Holm for 2 scenarios (the intervals "
                 "are not: each is of its ratio alone); significant"));
  CHECK_FALSE(contains(two.out, "corrected by Holm"));
  CHECK(contains(three.out, "\n3 seeds are few: take 20 or more for narrower and safer intervals.\n"));
  CHECK_FALSE(contains(here.contend("run small.yaml other.yaml --repeat 20").out, "are few"));
  CHECK_FALSE(contains(here.contend("run small.yaml --repeat 3").out, "are few"));
  CHECK(contains(here.contend("run small.yaml other.yaml --repeat 3 --json").out, "\"jct_ratio_p_value\": "));
}

TEST_CASE("runs say the smallest change that they could have seen, where the interval contains none") {
  Workplace place;
  const Workplace& here = prepared(place);
  // All jobs get the same GPUs whether the two policies differ or not, so only some seeds have another average.
  const Outcome apart = here.contend("run small.yaml other.yaml --repeat 3");
  REQUIRE(apart.code == 0);
  CHECK_MESSAGE(contains(apart.out, "detectable"), apart.out);
  CHECK(contains(apart.out, "the smallest change that these seeds show in four of five comparisons"));
  CHECK(contains(here.contend("run small.yaml other.yaml --repeat 3 --json").out, "\"jct_ratio_detectable\": 0."));
  CHECK_FALSE(contains(here.contend("run small.yaml other.yaml").out, "detectable"));
}

TEST_CASE("--until-precise adds seeds to runs, and the folder equals one of so many seeds") {
  Workplace place;
  const Workplace& here = prepared(place);
  const Outcome wide = here.contend("run small.yaml --until-precise 90%");
  CHECK(wide.code == 0);
  CHECK(contains(wide.out, "Means over 20 replicas"));
  CHECK(contains(wide.err, "note: 20 seeds: the 95% interval of the average JCT is within "));
  CHECK_FALSE(contains(wide.err, "asked for"));

  const Outcome most =
      here.contend("run small.yaml other.yaml --repeat 3 --until-precise 0.001% --most-seeds 7 -o out");
  CHECK(contains(most.err, "note: 7 seeds: the 95% interval of the average JCT is within "));
  CHECK(contains(most.err, ", not within the 0.001% asked for"));
  CHECK(most.out == here.contend("run small.yaml other.yaml --repeat 7 -o seven").out);
  for (const char* file : {"scenario.yaml", "jobs.csv", "summary.json"})
    CHECK_MESSAGE(here.read(std::string{"out/small/"} + file) == here.read(std::string{"seven/small/"} + file), file);

  const Outcome tail = here.contend("run small.yaml --repeat 4 --until-precise p95_jct=30%");
  CHECK(contains(tail.err, "seeds: the 95% interval of the 95th percentile JCT is within "));
  CHECK_FALSE(contains(tail.err, "asked for"));
  CHECK_FALSE(contains(tail.err, "note: 4 seeds"));

  const auto refused = [&](const std::string& options, const std::string& why) {
    const Outcome outcome = here.contend("run small.yaml " + options);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, why), outcome.err);
  };
  refused("--until-precise 2", "--until-precise: expected a share such as 2%, got \"2\"");
  refused("--until-precise p96_jct=2%", "unknown metric \"p96_jct\"; did you mean \"p95_jct\"?");
  refused("--most-seeds 9", "--most-seeds needs --until-precise");
  refused("--until-precise 2% --most-seeds 9", "expected at least the 20 seeds with which it begins, got 9");
  refused("--until-precise 2% --timeline t.json", "--timeline draws one");
  here.write("later.yaml", "schema_version: 1\ninclude: small.yaml\nname: later\nseed: 5\n");
  refused("later.yaml --until-precise 2%", "under the same seeds, but they have others: set --seed and --repeat");
}

TEST_CASE("folders of several scenarios must differ") {
  Workplace place;
  const Workplace& here = prepared(place);
  const Outcome outcome = here.contend("run small.yaml small.yaml -o out");
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "two scenarios are named \"small\""));
  here.write("evil.yaml", std::string{kSmall} + "description: x\n");
  CHECK(here.contend("run small.yaml evil.yaml --set name=../../up -o out").code == 3);
  CHECK(here.contend("run evil.yaml other.yaml -o /dev/null/x").code == 3);
}

TEST_CASE("jobs that do not finish: exit 4 and a message") {
  Workplace place;
  const Workplace& here = prepared(place);
  const Outcome failed = here.contend("run large.yaml");
  CHECK(failed.code == 4);
  CHECK(contains(failed.err, "too-large: 1 of 1 jobs failed"));
  const Outcome cut = here.contend("run small.yaml --until 1ms -o out");
  CHECK(cut.code == 4);
  CHECK(contains(cut.err, "small: 5 of 5 jobs did not finish"));
  CHECK(contains(here.read("out/manifest.json"), "\"exit_state\": \"unfinished jobs\""));
}

TEST_CASE("the manifest has every file that a scenario names, with its digest") {
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,model,gpus,duration_s\na,0,m,1,100\nb,0,m,1,50\n");
  here.write("down.csv", "component,down_s,up_s\nserver0,60,70\n");
  here.write("lent.csv", "time_s,lent\n0,1\n");
  here.write("pairs.csv", "model,with_model,speed,with_speed\nm,m,0.5,0.5\n");
  here.write("stages.csv", "model,storage,cpu,gpu,network\nm,1,1,1,1\n");
  here.write("rates.csv", "model,type,gpus,iterations_per_s\nm,v,1,2\n");
  here.write("part.yaml",
             "schema_version: 1\ncluster: {types: [{name: v, servers: 2, gpus_per_server: 1}]}\n"
             "policies: {scheduling: fifo, placement: first-fit}\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ninclude: part.yaml\nworkload: {jobs: jobs.csv, throughputs: rates.csv}\n"
             "failures: {events: down.csv}\n"
             "scheduling: {sharing: {law: pairs, pairs: pairs.csv, profiles: stages.csv}}\n");
  here.write("lending.yaml",
             "schema_version: 1\nname: lending\ninclude: part.yaml\nworkload: {jobs: jobs.csv}\n"
             "loans: {servers: 1, events: lent.csv}\n");
  const Outcome lending = here.contend("run lending.yaml -q -o lending");
  CHECK_MESSAGE(lending.code == 0, lending.err);
  CHECK(contains(here.read("lending/manifest.json"), "\"path\": \"lent.csv\""));
  const Outcome run = here.contend("run s.yaml -q -o out");
  CHECK_MESSAGE(run.code == 0, run.err);
  const std::string manifest = here.read("out/manifest.json");
  for (const char* file : {"s.yaml", "part.yaml", "jobs.csv", "down.csv", "pairs.csv", "stages.csv", "rates.csv"}) {
    CHECK_MESSAGE(contains(manifest, fmt::format("\"path\": \"{}\"", file)), manifest);
    CHECK_MESSAGE(contains(manifest, sha256_hex(here.read(file))), file);
  }
  // The manifest of a sweep has the files of all its points.
  here.write("other.csv", "component,down_s,up_s\nserver0,10,20\n");
  const Outcome swept = here.contend("sweep s.yaml -q -o s.sqlite --set failures.events=down.csv,other.csv");
  CHECK_MESSAGE(swept.code == 0, swept.err);
  const std::string store = here.read("s.sqlite");
  for (const char* file : {"rates.csv", "down.csv", "other.csv"})
    CHECK_MESSAGE(contains(store, sha256_hex(here.read(file))), file);
}

TEST_CASE("jobs that are given up after failures: exit 4 and their number; killed and failed ones: exit 0") {
  // The server fails at 60 s and is back at 70 s. a may not start again, and b runs from 70 to 120 s.
  const Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,deadline_s,limit_s,outcome\na,0,1,100,1000,,\nb,0,1,50,1000,,\n");
  here.write("down.csv", "component,down_s,up_s\nserver0,60,70\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 1}\n"
             "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: jobs.csv}\n"
             "failures: {events: down.csv, retries: 0}\n");
  const Outcome run = here.contend("run s.yaml -o out");
  CHECK(run.code == 4);
  CHECK_MESSAGE(contains(run.out, "1 finished, 0 failed, 0 unfinished, 1 given up after failures\n"), run.out);
  CHECK_MESSAGE(contains(run.out, "average JCT             120.00 s *\n"), run.out);
  const Outcome swept = here.contend("sweep s.yaml --set failures.retries=0,1 -o s.sqlite");
  CHECK_MESSAGE(contains(swept.err,
                         "in 1 runs not all jobs finished (columns `jobs`, `finished`, `failed`, `given_up`, "
                         "`unfinished`)\n"),
                swept.err);
  CHECK(contains(here.contend("results s.sqlite").err,
                 "in 1 of 2 runs not all jobs finished, and their averages are over the finished jobs alone"));
  CHECK_MESSAGE(contains(run.out, "deadlines met           50.000 %\n"), run.out);
  CHECK_MESSAGE(contains(run.err,
                         "contend: s: 1 of 2 jobs were given up; the first, a: failures interrupted it 1 time, and "
                         "failures.retries lets it start again 0 times\n"),
                run.err);
  CHECK(contains(here.read("out/jobs.csv"), "\na,,given_up,"));
  CHECK(contains(here.read("out/summary.json"), "\"given_up\": 1"));
  // The folder gives the same figures.
  CHECK(contains(here.contend("results out --by outcome").out, "given up"));

  // Both end, one at its limit and the other without success: they count in the times of jobs, and meet no deadline.
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,deadline_s,limit_s,outcome\na,0,1,100,1000,20,\nb,0,1,50,1000,,failed\n");
  const Outcome ended = here.contend("run s.yaml --set failures={} --set scheduling.kill_at_limit=true -o ended");
  CHECK_MESSAGE(ended.code == 0, ended.err);
  CHECK_MESSAGE(contains(ended.out, "of the finished         1 failed, 1 timeout by outcome, the others completed\n"),
                ended.out);
  CHECK_MESSAGE(contains(ended.out, "average JCT             45.000 s\n"), ended.out);  // 20 and 70
  CHECK_MESSAGE(contains(ended.out, "deadlines met           0.0000 %\n"), ended.out);
  CHECK(contains(here.read("ended/summary.json"), "\"killed\": 1"));
  CHECK(contains(here.read("ended/summary.json"), "\"failed_outcome\": 1"));
}

TEST_CASE("a timeline shows jobs that reserve parts of a GPU, each in a lane of its own") {
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s,gpu_share\na,0,1,100,0.5\nb,10,1,50,0.5\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 1}\n"
             "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: jobs.csv}\n");
  CHECK(here.contend("run s.yaml --timeline t.json").code == 0);
  const std::string trace = here.read("t.json");
  CHECK_MESSAGE(contains(trace, "\"ts\":0.000,\"dur\":100000000.000"), trace);
  CHECK_MESSAGE(contains(trace, "\"ts\":10000000.000,\"dur\":50000000.000"), trace);
  CHECK_MESSAGE(contains(trace, "GPU 0 #2"), trace);
}

TEST_CASE("an interrupt leaves partial results, marked, and exit 130") {
  Workplace place;
  const Workplace& here = prepared(place);
  // Far more work than fits into the second after which `timeout` sends SIGINT.
  const Outcome outcome =
      here.contend("run small.yaml --no-leap --set workload.generate.iterations=[1000000000,1000000000] -o out",
                   "timeout --preserve-status -s INT 1");
  CHECK(outcome.code == 130);
  CHECK(contains(outcome.err, "interrupted"));
  CHECK(contains(here.read("out/manifest.json"), "\"exit_state\": \"interrupted\""));
  CHECK(contains(here.read("out/summary.json"), "\"interrupted\": true"));
}

TEST_CASE("an error because of loans alone names loans, not failures") {
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,100\n");
  here.write("loans.csv", "time_s,lent\n0,1\n10,0\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 1, gpus_per_server: 1}\nworkload: {jobs: jobs.csv}\n"
             "loans: {servers: 1, events: loans.csv, period: 20s}\ncheckpoints: {policy: none}\n");
  const Outcome in_vain = here.contend("run run.yaml");
  CHECK(in_vain.code == 3);
  CHECK_MESSAGE(in_vain.err.starts_with("contend: loans: the last 100000 interruptions"), in_vain.err);
  CHECK(contains(in_vain.err, "a shorter restart or longer loans would end this"));
  // A round of a minute begins when no server is lent.
  const Outcome never = here.contend("run run.yaml --set policies.scheduling=gandiva-fair");
  CHECK(never.code == 3);
  CHECK_MESSAGE(never.err.starts_with("contend: loans: no job ran during the last 1000000 instants"), never.err);
}

TEST_SUITE_END();
