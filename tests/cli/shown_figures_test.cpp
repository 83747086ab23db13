// What tables and pages of `run`, `results`, `show` and `check` say beside their figures, as a user meets it.
#include "cli/exit_code.hpp"
#include "cli/progress.hpp"
#include "tests/cli/program.hpp"
#include "tests/near.hpp"

#include <array>
#include <span>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kFailing =
    "schema_version: 1\n"
    "cluster: {servers: 4, gpus_per_server: 2}\n"
    "network: {nic: 200Gbps, alpha: 20us}\n"
    "failures: {components: [{name: server, of: server, fails: {mean: 4h}, repair: {mean: 10min}}]}\n"
    "checkpoints: {policy: synchronous, period: optimal, cost: 20s}\n"
    "workload: {jobs: jobs.csv}\n";
constexpr const char* kJobsThatFail =
    "job_id,submit_s,gpus,duration_s,user\na,0,2,20000,ann\nb,10,8,30000,ben\nc,20,2,9000,ann\n";

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("run: failures have their figures with several seeds, too, and the optimal period is shown") {
  const Workplace here;
  here.write("s.yaml", kFailing);
  here.write("jobs.csv", kJobsThatFail);
  const Outcome one = here.contend("run s.yaml -q -o out");
  CHECK(one.code == kExitOk);
  const Outcome table = here.contend("run s.yaml");
  CHECK_MESSAGE(contains(table.out, "checkpoint period"), table.out);
  // Young and Daly: about sqrt(2 x 20 s x the mean time between interruptions, 4 h for one server, 1 h for four).
  CHECK_MESSAGE(contains(table.out, " s for jobs of 2 GPUs, "), table.out);
  CHECK_MESSAGE(contains(table.out, " s for jobs of 8 GPUs (optimal)"), table.out);
  const Outcome several = here.contend("run s.yaml --repeat 3", "COLUMNS=250");
  for (const char* title : {"interruptions", "goodput [%]", "checkpoint period"})
    CHECK_MESSAGE(contains(several.out, title), several.out);
  here.write("plain.yaml",
             "schema_version: 1\ncluster: {servers: 4, gpus_per_server: 2}\nworkload: {jobs: jobs.csv}\n");
  CHECK_FALSE(contains(here.contend("run plain.yaml --repeat 3").out, "goodput"));
  const Outcome report = here.contend("report out -o page.html");
  CHECK(report.code == kExitOk);
  const std::string page = here.read("page.html");
  CHECK(contains(page, "nic 200Gbps, alpha 20us"));
  CHECK(contains(page, "period optimal"));
  CHECK(contains(page, "mean: 10min"));
}

TEST_CASE("show: the parts of an iteration are the whole of it, also where stages update at different times") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 2\nmachine: dgx-h100\ncluster: {servers: 1, gpu_memory: 100TiB}\n"
             "training: {m: {model: llama-3-8b, sequence: 4096, batch: 1, global_batch: 16, optimizer: adamw, "
             "host: none, parallel: {pipeline: 4, schedule: zb-h2, post_validation: true}}}\n"
             "workload: {generate: {models: [m], sizes: {8: 1}}}\n");
  const Outcome shown = here.contend("show s.yaml --parallel --json");
  REQUIRE_MESSAGE(shown.code == kExitOk, shown.err);
  const auto number_behind = [&](std::size_t place) {
    return std::stod(shown.out.substr(shown.out.find(':', place) + 1));
  };
  double sum = 0;
  const std::size_t begin = shown.out.find("\"parts\""), end = shown.out.find('}', begin);
  for (std::size_t at = shown.out.find("_s\"", begin); at < end; at = shown.out.find("_s\"", at + 1))
    sum += number_behind(at);
  CHECK(sum == near(number_behind(shown.out.find("\"iteration_s\"")), 1e-6));
}

TEST_CASE("a run in which GPUs are hardly ever in service says so before it begins, and goes on to its end") {
  // Each GPU works for 1 of 301 s, and a job of 1 s gets a whole second in the end.
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,1\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 1}\nworkload: {jobs: jobs.csv}\n"
             "failures: {components: [{name: part, of: gpu, fails: {mean: 1s}, repair: {mean: 5min}}]}\n");
  const std::string warning = "failures: a GPU is in service for 0.332% of the time: each `part` fails after 1s and";
  for (const std::string verb : {"run", "run -q", "check"}) {
    const Outcome outcome = here.contend(verb + " s.yaml");
    CHECK_MESSAGE(outcome.code == kExitOk, outcome.err);
    CHECK_MESSAGE(contains(outcome.err, warning), outcome.err);
  }
}

TEST_CASE("jobs that were preempted: that it was free is said, and tables show all of their waits") {
  // b is shorter than what is left of a: it takes the only GPU from 10 s to 15 s, and a waits for 5 s in mid-life. So
  // both begin at once, and wait for 2.5 s on average.
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,100\nb,10,1,5\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 1}\n"
             "policies: {scheduling: {policy: srtf, preemptive: true}}\nworkload: {jobs: jobs.csv}\n");
  here.write("fifo.yaml", "schema_version: 1\ninclude: s.yaml\nname: fifo\npolicies: {scheduling: fifo}\n");
  const std::string free =
      "s: preemption is free here (1 preemption): a preempted job goes on at once, and loses no more than an iteration "
      "in flight; "
      "`checkpoints.restart_cost` sets the time that it takes to restart, `checkpoints.policy` what it loses\n";
  const Outcome one = here.contend("run s.yaml");
  REQUIRE_MESSAGE(one.code == kExitOk, one.err);
  CHECK(contains(one.err, "contend: note: " + free));
  CHECK(contains(one.out, "  average queueing        0.0000 s\n  average waiting         2.5000 s\n"));
  const Outcome both = here.contend("run s.yaml fifo.yaml", "COLUMNS=250");
  CHECK(contains(both.out, "queueing [s]  waiting [s]"));
  CHECK(contains(both.err, free));
  CHECK_FALSE(contains(both.err, "fifo: "));
  // A cost, no preemption, or the option -q: nothing is said.
  CHECK(here.contend("run s.yaml --set checkpoints.restart_cost=1s").err.empty());
  CHECK(here.contend("run s.yaml --set checkpoints.policy=none").err.empty());
  CHECK(here.contend("run s.yaml -q").err.empty());
  const Outcome fifo = here.contend("run fifo.yaml fifo.yaml --set name=other");
  CHECK_FALSE(contains(fifo.out, "waiting [s]"));
  CHECK(fifo.err.empty());
  // A comparison says it of its sides, and the changes of groups have all waits.
  const Outcome compared = here.contend("compare fifo.yaml s.yaml --as-is --by size");
  REQUIRE_MESSAGE(compared.code == kExitOk, compared.err);
  CHECK(contains(compared.out, "note: NEW: preemption is free here"));
  CHECK_FALSE(contains(compared.out, "note: BASE: "));
  CHECK(contains(compared.out, "  waiting [s]"));  // beside the line `average waiting [s]` of the figures
  CHECK_FALSE(contains(here.contend("compare fifo.yaml fifo.yaml --as-is --by size").out, "  waiting [s]"));
}

TEST_CASE("results --by: averages over several runs have intervals") {
  const Workplace here;
  here.write("s.yaml", kFailing);
  here.write("jobs.csv", kJobsThatFail);
  CHECK(here.contend("run s.yaml --repeat 4 -q -o out").code == kExitOk);
  const Outcome table = here.contend("results out --by user");
  CHECK_MESSAGE(contains(table.out, " ± "), table.out);
  CHECK(contains(table.out, "Means over 4 runs; ± are 95% Student-t intervals"));
  CHECK(here.contend("run s.yaml -q -o single").code == kExitOk);
  CHECK_FALSE(contains(here.contend("results single --by user").out, "±"));
}

TEST_CASE("check: a scenario without jobs says that the usual ones don't fit") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\ncluster: {servers: 1, gpus_per_server: 2}\n");
  CHECK(
      here.contend("check s.yaml").err ==
      "s.yaml: workload.generate.sizes: the largest job of the default sizes needs 32 GPUs, the cluster has 2 (1 x 2); "
      "other sizes, such as {1: 20, 2: 10}, or workload.jobs\n");
}

TEST_CASE("check and run: the batch that nothing says is told") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\ncluster: {servers: 1, gpus_per_server: 8, gpu_memory: 80GiB}\n"
             "network: {nic: 200Gbps, inside: {bandwidth: 450GB/s}}\n"
             "training: {gpt: {model: gpt2-xl, device: H100-SXM, parallel: {pipeline: 2}}}\n"
             "workload: {generate: {models: [gpt], sizes: {8: 1}, iterations: [2, 2]}}\n");
  for (const char* verb : {"check", "run"}) {
    const Outcome outcome = here.contend(std::string{verb} + " s.yaml");
    CHECK_MESSAGE(contains(outcome.err, "one micro-batch of 1 sample on each data-parallel rank (4 on 8 GPUs)"),
                  outcome.err);
  }
  CHECK_FALSE(contains(here.contend("run s.yaml -q").err, "micro-batch"));
  CHECK_FALSE(contains(here.contend("run s.yaml --set training.gpt.global_batch=64").err, "micro-batch"));
}

TEST_CASE("show --parallel: an entry that no job trains is shown on the cluster") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\ncluster: {servers: 3, gpus_per_server: 8}\nnetwork: {nic: 200Gbps}\n"
             "training:\n  gpt: {model: gpt2-xl, device: H100-SXM, parallel: {pipeline: 2}}\n"
             "  gpt-64: {model: gpt2-xl, device: H100-SXM, global_batch: 64, parallel: {pipeline: 2}}\n");
  const Outcome text = here.contend("show s.yaml --parallel");
  CHECK_MESSAGE(contains(text.out, "gpt: gpt2-xl in fp32 on 24 GPUs"), text.err);
  CHECK(contains(text.out, "gpt-64: gpt2-xl in fp32 on 16 GPUs"));  // 12 data-parallel ranks don't divide 64
  CHECK(contains(here.contend("show s.yaml --parallel --json").out, "\"entry\": \"gpt-64\""));
  here.write("none.yaml", "schema_version: 1\ntraining: {a: {model: resnet50}}\n");
  CHECK(contains(here.contend("show none.yaml --parallel").err, "training: has no entry with parallel"));
}

TEST_CASE("show --parallel: how many parameters are trained where not all are") {
  const Workplace here;
  here.write(
      "s.yaml",
      "schema_version: 2\nmachine: dgx-h100\ncluster: {servers: 1}\ntraining:\n"
      "  lora: {model: llama-2-70b, device: H100-SXM, dtype: fp8, sequence: 8192, batch: 1, optimizer: adamw,\n"
      "    adapter: {kind: lora, rank: 16, targets: [qkv, o]}, parallel: {tensor: 4, sequence_parallel: true}}\n");
  const Outcome text = here.contend("show s.yaml --parallel");
  CHECK_MESSAGE(contains(text.out, "44564480 parameters are trained, the model has 68976648192"), text.err);
  CHECK(contains(text.out, "tables of tokens have 32256 rows: 32000 of the vocabulary"));
  const Outcome whole =
      here.contend("show s.yaml --parallel --set training.lora.adapter=none --set cluster.gpu_memory=2TB");
  CHECK_MESSAGE(contains(whole.out, "lora: llama-2-70b in fp8 on 8 GPUs"), whole.err);
  CHECK_FALSE(contains(whole.out, "are trained"));
}

TEST_CASE("list devices: an entry by itself has its source") {
  const Outcome devices = Workplace{}.contend("list devices H200", "COLUMNS=120");
  CHECK_MESSAGE(contains(devices.out, "NVIDIA H200 data sheet (2023),"), devices.out);
}

TEST_CASE("progress: the total of several runs doesn't grow as they begin") {
  std::array<Progress, 2> runs{};
  runs[0].jobs = 10;
  runs[0].jobs_ended = 5;
  CHECK(progress_text(runs, Time::seconds(60), 1) == "run 0/2  25 % of the jobs  simulated 60.0 s  0.00 M events/s");
  runs[0].jobs_ended = 10;
  runs[1].jobs = 200;
  CHECK(contains(progress_text(runs, Time::seconds(60), 1), "run 1/2  50 % of the jobs"));
  CHECK(contains(progress_text(std::span{runs}.first(1), Time::seconds(60), 1), "jobs 10/10  simulated"));
}

TEST_CASE("run and show --parallel: predicted iterations have an interval of 90%, measured layers have none") {
  const Workplace here;
  const std::string base = "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 8}\nnetwork: {nic: 200Gbps}\n";
  here.write("s.yaml", base +
                           "training: {gpt: {model: gpt2-medium, device: H100-SXM, global_batch: 64, "
                           "parallel: {tensor: 2, pipeline: 2}}}\n"
                           "workload: {generate: {models: [gpt], sizes: {16: 1}, iterations: [3, 3]}}\n");
  const std::string shown = here.contend("show s.yaml --parallel").out;
  CHECK_MESSAGE(contains(shown, "  90% interval "), shown);
  for (const char* part : {"matrix products ", "transfers between servers ",
                           "from run to run and from site to site 2.0%", "what none of these explains "})
    CHECK_MESSAGE(contains(shown, part), shown);
  const std::string run = here.contend("run s.yaml").out;
  CHECK_MESSAGE(contains(run, "  iteration of gpt        "), run);
  CHECK_MESSAGE(contains(run, " s alone on 16 GPUs, 90% interval "), run);
  CHECK(contains(here.contend("run s.yaml --repeat 2").out, " s alone on 16 GPUs, 90% interval "));
  here.write("layers.csv", "layer,tensors,forward_us,backward_us\nall,weight=[8x8],30,60\n");
  here.write("measured.yaml", base +
                                  "training: {it: {layers: layers.csv}}\n"
                                  "workload: {generate: {models: [it], sizes: {16: 1}, iterations: [3, 3]}}\n");
  const Outcome measured = here.contend("run measured.yaml");
  CHECK(measured.code == kExitOk);
  CHECK_FALSE(contains(measured.out, "90% interval"));
}

TEST_SUITE_END();
