// Figures of iterations as metrics of cluster runs: in summary.json, bounds, rules, JUnit and sweeps.
#include "tests/cli/program.hpp"
#include "tests/text_checks.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kCluster =
    "schema_version: 1\n"
    "name: cluster\n"
    "cluster: {servers: 2, gpus_per_server: 4}\n"
    "network: {nic: 10Gbps, alpha: 20us}\n"
    "training: {net: {model: resnet18, device: V100-SXM2, batch: 32, fusion: wfbp}}\n"
    "workload: {generate: {models: [net], sizes: {8: 2}, iterations: [20, 30], arrivals: 1s}}\n";

}  // namespace

TEST_CASE("a run of jobs with iterations has their figures, as means over the jobs") {
  Workplace here;
  here.write("cluster.yaml", kCluster);
  const Outcome json = here.contend("run cluster.yaml --json -o out");
  REQUIRE_MESSAGE(json.code == 0, json.err);
  for (const char* name : {"\"iteration_s\"", "\"exposed_communication_s\"", "\"throughput_per_s\""})
    CHECK_MESSAGE(contains(json.out, name), name);
  CHECK_FALSE(contains(json.out, "\"mfu\""));
  CHECK_FALSE(contains(json.out, "\"tokens_per_second\""));
  CHECK(std::system(("python3 -c 'import csv, json, sys; d = json.load(open(sys.argv[1]))[\"replicas\"][0]; "
                     "rows = list(csv.DictReader(open(sys.argv[2]))); "
                     "mean = sum(float(r[\"iteration_s\"]) for r in rows) / len(rows); "
                     "sys.exit(len(rows) != 2 or abs(d[\"iteration_s\"] / mean - 1) > 1e-12 or "
                     "d[\"groups\"][\"model\"][0][\"iteration_s\"] != d[\"iteration_s\"])' '" +
                     here.path("out/summary.json") + "' '" + here.path("out/jobs.csv") + "'")
                        .c_str()) == 0);
  const Outcome text = here.contend("run cluster.yaml --by model");
  CHECK_MESSAGE(contains(text.out, "\n  exposed  "), text.out);
  CHECK_MESSAGE(contains(text.out, "samples/s"), text.out);
}

TEST_CASE("jobs without iterations have no such figures") {
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\n");
  here.write("run.yaml", "schema_version: 1\nworkload: {jobs: jobs.csv}\nexpect: {iteration: < 1h}\n");
  const Outcome run = here.contend("run run.yaml -o out");
  CHECK(run.code == 1);
  CHECK_MESSAGE(contains(run.out, "FAIL  iteration < 1h: no value, because no job that has it finished"), run.out);
  CHECK_FALSE(contains(here.read("out/summary.json"), "iteration_s"));
}

TEST_CASE("bounds, rules, JUnit and sweeps name figures of iterations of cluster runs") {
  Workplace here;
  here.write("cluster.yaml", kCluster);
  CHECK(here.contend("run cluster.yaml -q --set 'expect={iteration: < 1h, exposed_communication: \"> 1us\"}'").code ==
        0);
  CHECK(here.contend("run cluster.yaml -q --set 'expect={throughput: < 1}'").code == 1);
  const std::string compare = "compare cluster.yaml cluster.yaml --seed 1 --repeat 1 --set-new network.nic=1Gbps ";
  const Outcome slower = here.contend(compare + "--fail-if 'iteration > 1%' --fail-if 'throughput > 0%' --junit r.xml");
  CHECK_MESSAGE(slower.code == 1, slower.err);
  CHECK_MESSAGE(contains(slower.out, "FAIL  iteration > 1%: iteration changed by +"), slower.out);
  CHECK_MESSAGE(contains(slower.out, "ok    throughput > 0%: throughput changed by -"), slower.out);
  CHECK_MESSAGE(contains(slower.out, "\nexposed [s] "), slower.out);
  CHECK(contains(here.read("r.xml"), "iteration &gt; 1%"));
  CHECK(here.contend(compare + "-q --fail-if 'exposed_communication[model=net] > 1ms'").code == 1);
  CHECK(here.contend(compare + "-q --fail-if 'iteration[any job] < 0%'").code == 0);
}

TEST_CASE("transformers that are spread over GPUs have tokens a second and MFU as metrics") {
  Workplace here;
  here.write("spread.yaml",
             "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 2, gpu_memory: 80GiB}\n"
             "network: {nic: 100Gbps, inside: {bandwidth: 200GB/s}}\n"
             "training: {gpt: {model: gpt-3-125m, device: A100-80GB, batch: 4, parallel: {tensor: 2}}}\n"
             "workload: {generate: {models: [gpt], sizes: {4: 1}, iterations: [10, 10]}}\n"
             "expect: {mfu: [1%, 100%], tokens_per_second: '> 1', hfu: '> 1%'}\n");
  const Outcome run = here.contend("run spread.yaml");
  CHECK_MESSAGE(run.code == 0, run.out, run.err);
  CHECK_MESSAGE(contains(run.out, "tokens/s"), run.out);
  const Outcome sweep = here.contend("sweep spread.yaml --set training.gpt.batch=2,4 -q -o s.sqlite");
  CHECK_MESSAGE(sweep.code == 0, sweep.err);
  const Outcome results = here.contend("results s.sqlite --metric mfu,tokens_per_second --csv points.csv");
  REQUIRE_MESSAGE(results.code == 0, results.err);
  CHECK(contains(here.read("points.csv"), "mfu"));
}
