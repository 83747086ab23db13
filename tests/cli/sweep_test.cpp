// `contend sweep`, `merge` and `results` as a user meets them; killed, resumed, split and merged.

#include "scenarios/sweep/sweep_store.hpp"
#include "tests/cli/program.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

using namespace contend;

namespace {

constexpr const char* kScenario = R"(schema_version: 1
name: small
cluster: {servers: 4}
workload: {generate: {sizes: {1: 3, 2: 2, 4: 2, 8: 1}, iterations: [100, 500], arrivals: 10s}}
sweep:
  grid:
    network.nic: [1Gbps, 10Gbps]
    policies.placement: [lwf, first-fit]
  repeat: 3
  baseline: {policies.placement: first-fit}
)";

Outcome rows(const Workplace& here, const std::string& store) {
  return here.contend("results " + store + " --rows");
}

/// Runs of a store, 0 if there is none yet.
std::size_t recorded(const std::string& path) {
  return std::filesystem::exists(path) ? SweepStore::open(path).runs().size() : 0;
}

/// Starts the program in the folder of the store and kills it as soon as it has recorded `more` runs. Whether it was
/// killed before it ended by itself.
bool kill_after(const std::string& store, const std::vector<std::string>& words, std::size_t more) {
  const std::size_t before = recorded(store);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
    std::vector<char*> arguments{std::getenv("CONTEND_PROGRAM")};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (recorded(store) < before + more && ::waitpid(child, &status, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("a sweep from --list to results" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  const Outcome list = here.contend("sweep small.yaml --list");
  CHECK(list.code == 0);
  CHECK(contains(list.out, "4 points x 3 seeds = 12 runs"));
  CHECK_FALSE(std::filesystem::exists(here.path("small.sqlite")));

  const Outcome sweep = here.contend("sweep small.yaml");
  CHECK_MESSAGE(sweep.code == 0, sweep.err);
  CHECK(contains(sweep.out, "small.sqlite: 4 points x 3 seeds = 12 runs; 12 runs in "));
  const Outcome results = here.contend("results small.sqlite --group-by network.nic,policies.placement");
  CHECK(results.code == 0);
  CHECK(contains(results.out, "1.000 [1.000, 1.000]"));
  CHECK(contains(results.out, "\np: of a ratio of 1, by two-sided t tests"));
  CHECK(contains(results.out, "\n3 runs are few: take 20 or more for narrower and safer intervals.\n"));
  CHECK(count_lines(results.out) == 2 + 4 + 2);

  CHECK(here.contend("check small.yaml").out == "small.yaml: ok, 4 points x 3 seeds = 12 runs\n");
  const Outcome run = here.contend("run small.yaml");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "run it by `contend sweep`"));

  // A file that is there is not overwritten; --resume finds nothing to do.
  const Outcome again = here.contend("sweep small.yaml");
  CHECK(again.code == 3);
  CHECK(contains(again.err, "this store exists already, with 12 of 12 runs; --resume continues it"));
  const Outcome resumed = here.contend("sweep small.yaml --resume");
  CHECK(resumed.code == 0);
  CHECK(contains(resumed.err, "12 runs are done already, 0 remain"));
}

TEST_CASE("a point of a sweep runs alone, as the sweep runs it" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  CHECK(here.contend("sweep small.yaml -q").code == 0);
  const Outcome point = here.contend("run small.yaml --point 2 -o out -q");
  REQUIRE_MESSAGE(point.code == 0, point.err);
  CHECK(contains(here.read("out/scenario.yaml"), "name: small-point-2\n"));
  CHECK(contains(here.read("out/scenario.yaml"), "repeat: 3\n"));
  SweepStore store = SweepStore::open(here.path("small.sqlite"));
  const std::string manifest = here.read("out/manifest.json");
  std::size_t found = 0;
  for (const StoreRun& run : store.runs())
    if (run.point == 2 && contains(manifest, fmt::format("\"digest\": \"{:016x}\"", run.digest))) ++found;
  CHECK(found == 3);
  CHECK(contains(here.contend("run small.yaml --point 2 --repeat 1").out, "small-point-2 (seed 1)"));
  CHECK(contains(here.contend("show small.yaml --point 3").out, "placement: {policy: first-fit}"));
  CHECK(contains(here.contend("run small.yaml --point 4").err,
                 "small.yaml: --point: expected a number from 0 to 3, got 4"));
  const Outcome set = here.contend("run small.yaml --point 2 --set policies.placement=spread");
  CHECK(set.code == 3);
  CHECK(contains(set.err, "policies.placement: point 2 has a value of its own, because the sweep varies this key"));

  const Outcome whole = here.contend("run small.yaml --set 'sweep={}' --repeat 1");
  CHECK_MESSAGE(whole.code == 0, whole.err);
  here.write("single.yaml", "schema_version: 1\n");
  CHECK(contains(here.contend("run single.yaml --point 0").err, "single.yaml: --point picks a point of a sweep"));
}

TEST_CASE("a sweep that is killed five times in a row ends with the same results" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  const std::string options = "sweep " + here.path("small.yaml") + " --repeat 150 --per-job";
  CHECK(here.contend(options + " -o whole.sqlite").code == 0);
  const std::string store = here.path("killed.sqlite");
  for (int kill = 0; kill < 5; ++kill)
    CHECK(kill_after(store, {"sweep", here.path("small.yaml"), "--repeat", "150", "--per-job", "--resume", "-o", store},
                     20));
  const std::size_t survived = recorded(store);
  CHECK(survived >= 100);
  CHECK(survived < 600);
  const Outcome last = here.contend(options + " --resume -o killed.sqlite");
  CHECK(last.code == 0);
  CHECK(contains(last.err, fmt::format("{} runs are done already, {} remain", survived, 600 - survived)));
  const Outcome whole = rows(here, "whole.sqlite"), killed = rows(here, "killed.sqlite");
  CHECK(count_lines(whole.out) == 601);
  CHECK(killed.out == whole.out);
  // Every run has all of its jobs.
  SweepStore jobs = SweepStore::open(store);
  SqlStatement incomplete{
      jobs.database(),
      "SELECT count(*) FROM runs WHERE run NOT IN (SELECT run FROM jobs GROUP BY run HAVING count(*) = 8)"};
  REQUIRE(incomplete.step());
  CHECK(incomplete.integer(0) == 0);
  CHECK_FALSE(std::filesystem::exists(store + "-wal"));
}

TEST_CASE("a file of the user that has the name of the store's log is kept" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  CHECK(here.contend("sweep small.yaml -q -o done.sqlite").code == 0);
  for (const std::string verb : {"sweep small.yaml -q -o a.sqlite", "merge done.sqlite -o a.sqlite"}) {
    here.write("a.sqlite-shm", "my notes\n");
    const Outcome outcome = here.contend(verb);
    CHECK(outcome.code == 3);
    CHECK(contains(outcome.err, "a.sqlite-shm: this file would be taken for a log of the store a.sqlite"));
    CHECK(read_file(here.path("a.sqlite-shm")) == "my notes\n");
    for (const char* left : {"a.sqlite", "a.sqlite.lock"}) CHECK_FALSE(std::filesystem::exists(here.path(left)));
  }
}

TEST_CASE("shards merge to the same table" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  CHECK(here.contend("sweep small.yaml -q -j1").code == 0);
  for (const std::string shard : {"0", "1", "2"})
    CHECK(here.contend("sweep small.yaml -q --shard " + shard + "/3").code == 0);
  const Outcome half = here.contend("merge small-0-of-3.sqlite small-2-of-3.sqlite -o half.sqlite");
  CHECK(half.code == 4);
  CHECK(contains(half.err, "4 runs are in none of the stores: 1 4 7 10\n"));
  CHECK(here.contend("merge small-0-of-3.sqlite small-2-of-3.sqlite small-1-of-3.sqlite -o all.sqlite").code == 0);
  CHECK(rows(here, "all.sqlite").out == rows(here, "small.sqlite").out);
  CHECK(here.contend("merge small-0-of-3.sqlite -o all.sqlite").code == 3);
  CHECK(here.contend("merge small-0-of-3.sqlite").code == 2);
  for (const std::string shard : {"3/3", "1", "-1/3", "1/0", "1/3x"})
    CHECK(here.contend("sweep small.yaml --shard " + shard).code == 2);
}

TEST_CASE("--set adds a dimension, replaces one, or fixes it" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  const auto points = [&](const std::string& options) {
    const Outcome outcome = here.contend("sweep small.yaml --list --repeat 1 " + options);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    const std::string last = outcome.out.substr(outcome.out.rfind('\n', outcome.out.size() - 2) + 1);
    return last.substr(0, last.find(" point"));
  };
  CHECK(points("") == "4");
  CHECK(points("--set network.alpha=1us,2us,3us") == "12");
  CHECK(points("--set network.nic=1Gbps,2Gbps,3Gbps") == "6");
  CHECK(points("--set network.nic=3Gbps") == "2");
  CHECK(points("--set 'network.alpha={from: 1us, to: 1ms, points: 5, scale: log}'") == "20");
  const Outcome wrong = here.contend("sweep small.yaml --list --set network.nic=1Gbps,ten");
  CHECK(wrong.code == 3);
  CHECK(contains(wrong.err, "network.nic: expected a rate such as 10Gbps, got \"ten\" (at the point network.nic=ten"));
}

TEST_CASE("a failing run ends nothing and shows in the exit code" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("jobs.yaml", "schema_version: 1\nsweep: {grid: {workload.jobs: [good.csv, none.csv]}}\n");
  here.write("good.csv", "job_id,submit_s,gpus,iterations,model\na,0,1,10,resnet50\n");
  const Outcome outcome = here.contend("sweep jobs.yaml");
  CHECK(outcome.code == 4);
  CHECK(contains(outcome.err, "contend: 1 runs failed:\n  run 1, point 1, workload.jobs="));
  const Outcome results = here.contend("results jobs.sqlite --metric makespan_s");
  CHECK(results.code == 0);
  CHECK(contains(results.err, "1 runs failed and are left out"));
}

TEST_CASE("a sweep judges what its points expect" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", std::string{kScenario} + "expect: {finished: \">= 1\"}\n");
  CHECK(here.contend("sweep small.yaml -o met.sqlite -q").code == 0);
  const Outcome unmet = here.contend("sweep small.yaml -o unmet.sqlite -q --set 'expect.makespan=\"< 1ms\"'");
  CHECK(unmet.code == 1);
  CHECK(unmet.out.empty());
  CHECK(contains(unmet.err, "contend: point 0, "));
  CHECK(contains(unmet.err, ": expected makespan < 1ms: "));
  CHECK(contains(unmet.err, "over 3 replicas"));
  // What the store has already counts, too; a shard alone can't tell.
  CHECK(here.contend("sweep small.yaml -o unmet.sqlite --resume -q --set 'expect.makespan=\"< 1ms\"'").code == 1);
  const Outcome shard = here.contend("sweep small.yaml --shard 0/2 --set 'expect.makespan=\"< 1ms\"'");
  CHECK(shard.code == 0);
  CHECK(contains(shard.err, "note: `expect` needs the runs of all shards"));
}

TEST_CASE("quiet means no notes" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", std::string{kScenario} + "  exclude: [{network.nic: 3Gbps}]\n");
  CHECK(contains(here.contend("sweep small.yaml --list").err, "note: sweep.exclude[0] leaves out no point"));
  const Outcome first = here.contend("sweep small.yaml -o a.sqlite -q");
  CHECK(first.code == 0);
  CHECK(first.err.empty());
  const Outcome again = here.contend("sweep small.yaml -o a.sqlite -q --resume");
  CHECK(again.code == 0);
  CHECK(again.err.empty());
  CHECK(again.out.empty());
}

TEST_CASE("a run that never ends: --timeout stops it, and the others go on" * doctest::skip(!has_program())) {
  const Workplace here;
  // Every message of fidelity `flow` is executed or at least added up, so that 10^10 iterations take minutes.
  here.write("long.yaml",
             "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 1}\nnetwork: {fidelity: flow}\n"
             "workload: {generate: {sizes: {2: 1}, arrivals: 1ms}}\n"
             "sweep: {grid: {workload.generate.iterations: [[10, 10], [10000000000, 10000000000]]}, repeat: 2}\n");
  const Outcome outcome = here.contend("sweep long.yaml --timeout 300ms -j 1");
  CHECK(outcome.code == 4);
  CHECK(contains(outcome.err, "2 runs failed"));
  CHECK(contains(outcome.err, "stopped: it ran for longer than 300ms (--timeout)"));
  const Outcome rows = here.contend("results long.sqlite --rows");
  CHECK(contains(rows.out, "done"));
  CHECK(contains(rows.out, "failed"));
  // A search counts it as a point without value.
  const Outcome tuned = here.contend("tune long.yaml --minimise avg_jct_s --trials 2 --timeout 300ms -o t.sqlite -j 1");
  CHECK(tuned.code == 0);
  CHECK(contains(tuned.out, "1 point has no value:\n  point "));
  for (const char* wrong : {"0s", "5", "soon"}) {
    const Outcome refused = here.contend(std::string{"sweep long.yaml -o x.sqlite --timeout "} + wrong);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "--timeout: expected a duration above 0"));
  }
  here.write("study.yaml",
             "schema_version: 1\ntraining: {it: {model: resnet50}}\noverlap: {training: it, workers: [4, 8]}\n");
  CHECK(contains(here.contend("sweep study.yaml --timeout 1s").err, "only runs of jobs have one"));
}

TEST_CASE("jobs that preempt each other for ever: the run fails, and the others go on" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\nb,1,1,10\n");
  here.write("list.yaml",
             "schema_version: 1\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\nsweep: {grid: "
             "{policies.scheduling: [fifo, sjf]}}\n");
  const Outcome list = here.contend("sweep list.yaml --until-precise 2%");
  CHECK(list.code == 2);
  CHECK_MESSAGE(contains(list.err, "needs scenarios that draw their jobs"), list.err);
}

TEST_CASE("Ctrl-C keeps what has ended and says how to go on" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  const Outcome outcome = here.contend("sweep small.yaml --repeat 100000 -j1", "timeout --preserve-status -s INT 2");
  CHECK(outcome.code == 130);
  CHECK(contains(outcome.err, "sweep small.yaml --repeat 100000 -j1 --resume\n"));
  CHECK(recorded(here.path("small.sqlite")) > 0);
}

TEST_CASE("the lines of Python in docs/howto/sweep.md work" *
          doctest::skip(!has_program() || std::system("python3 -c 'import sqlite3' 2>/dev/null") != 0)) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  REQUIRE(here.contend("sweep small.yaml -q -o network-need.sqlite").code == 0);
  const std::string page = read_file("docs/howto/sweep.md");
  const std::size_t begin = page.find("import sqlite3\n");
  REQUIRE(begin != std::string::npos);
  here.write("lines.py", page.substr(begin, page.find("```", begin) - begin));
  const std::string command = fmt::format("cd '{}' && python3 lines.py >printed.txt 2>&1", here.path(""));
  CHECK(std::system(command.c_str()) == 0);
  CHECK(here.read("printed.txt").starts_with("[('1Gbps', "));
}

TEST_CASE("results: a complaint about an unknown name suggests the nearest" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kScenario);
  REQUIRE(here.contend("sweep small.yaml -q").code == 0);
  CHECK(contains(here.contend("results small.sqlite --metric avg_jct").err, "did you mean \"avg_jct_s\"?"));
  CHECK(contains(here.contend("results small.sqlite --group-by network.nik").err, "did you mean \"network.nic\"?"));
  CHECK(here.contend("results small.sqlite --where network.nic=7Gbps").code == 3);
  CHECK(here.contend("results small.sqlite --rows --metric avg_jct_s").code == 2);
  CHECK(here.contend("results small.yaml").code == 3);
  const Outcome csv = here.contend("results small.sqlite --where network.nic=1Gbps --metric avg_jct_s --csv -");
  CHECK(
      csv.out.starts_with("network_nic,network_nic_Bps,policies_placement,runs,avg_jct_s,avg_jct_s_ci95,"
                          "avg_jct_s_ratio,avg_jct_s_ratio_low,avg_jct_s_ratio_high,avg_jct_s_ratio_of_means,"
                          "avg_jct_s_ratio_of_means_low,avg_jct_s_ratio_of_means_high,avg_jct_s_p,avg_jct_s_"
                          "detectable\n1Gbps,125000000,lwf,3,"));
  CHECK(count_lines(csv.out) == 3);
}

TEST_CASE("whatever key or member of a key names a file that a sweep varies, it is found beside the scenario" *
          doctest::skip(!has_program())) {
  const Workplace here;
  std::filesystem::create_directory(here.path("lab"));
  here.write("lab/pair.yaml", "{nodes: [leaf], links: [{from: leaf, to: server0}, {from: leaf, to: server1}]}\n");
  here.write("lab/plain.yaml",
             "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 1}\n"
             "network: {fidelity: flow, nic: 10Gbps, fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 1}}\n"
             "workload: {generate: {sizes: {1: 1}, iterations: [1, 1]}}\n");
  // A point, or the complaint about it, names the file from the working directory.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{training.it.parallel: {documents: {file: a.csv}}}", "{documents: {file: lab/a.csv}}"},
      {"{training.it.parallel.documents.file: a.csv}", "documents.file=lab/a.csv"},
      {"{training.it.parallel.expert_load.counts: a.csv}", "expert_load.counts=lab/a.csv"},
      {"{training.it: {parallel: {expert_load: {counts: a.csv}}}}", "{counts: lab/a.csv}"},
      {"{training.it.device: {sheet: gpu.yaml}}", "{sheet: lab/gpu.yaml}"},
      {"{training.it.config: c.json}", "config=lab/c.json"},
      {"{network.events: a.csv}", "lab/a.csv"},
      {"{workload.jobs: a.csv}", "lab/a.csv"},
      {"{network.fabric: {kind: custom, graph: pair.yaml}}", "graph: {nodes: [leaf]"},
      {"{network.fabric: {kind: custom, graph: none.yaml}}", "can't read lab/none.yaml"},
  };
  for (const std::pair<std::string, std::string>& each : cases) {
    here.write("lab/sweep.yaml", "schema_version: 1\ninclude: plain.yaml\nsweep: {list: [" + each.first + "]}\n");
    const Outcome outcome = here.contend("sweep lab/sweep.yaml --list");
    CHECK_MESSAGE(contains(outcome.out + outcome.err, each.second), each.first << outcome.out << outcome.err);
  }
}

TEST_CASE("job lists that a sweep varies are found beside its scenario" * doctest::skip(!has_program())) {
  const Workplace here;
  std::filesystem::create_directory(here.path("lab"));
  here.write("lab/a.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\n");
  here.write("lab/b.csv", "job_id,submit_s,gpus,duration_s\na,0,1,20\n");
  here.write("lab/jobs.yaml",
             "schema_version: 1\ncluster: {servers: 1}\nworkload: {jobs: a.csv}\n"
             "policies: {scheduling: fifo, placement: first-fit}\nsweep: {grid: {workload.jobs: [a.csv, b.csv]}}\n");
  const Outcome lists = here.contend("sweep lab/jobs.yaml -o lists.sqlite");
  INFO(lists.err);
  CHECK(lists.code == 0);
}
