// A policy in another process that fails: exit code 6, and results until then, written and marked.

#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Runs jobs that these rows describe on four GPUs, under a scheduling policy that is this shell script.
Outcome run_script(const Workplace& here, const std::string& rows, const std::string& script) {
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\n" + rows);
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: jobs.csv}\n"
             "policies: {placement: first-fit, scheduling: {policy: external, command: ./policy.sh}}\n");
  here.write("policy.sh", script);
  std::filesystem::permissions(here.path("policy.sh"), std::filesystem::perms::owner_all);
  return here.contend("run s.yaml -o out");
}

}  // namespace

TEST_CASE("a policy that ends leaves partial results, a message and exit code 6") {
  if (!has_program()) return;
  const Workplace here;
  const Outcome outcome =
      run_script(here, "a,0,1,10\nb,20,1,10\nc,40,1,10\n",
                 "read hello; echo '{\"protocol\": 1, \"name\": \"mine\"}'\nread pass; echo '{\"start\": [0]}'\n"
                 "read pass; echo 'I am lost' >&2; exit 7\n");
  CHECK(outcome.code == 6);
  CHECK(contains(outcome.err, "I am lost\n"));
  CHECK(
      contains(outcome.err,
               "contend: s: seed 1: scheduling policy `mine` (command `./policy.sh`) ended with exit code 7 before it "
               "answered; the results end at 20 s\n"));
  CHECK(contains(here.read("out/manifest.json"), "\"exit_state\": \"policy failed\""));
  CHECK(contains(here.read("out/manifest.json"), "\"failure\": \"scheduling policy `mine`"));
  CHECK(contains(here.read("out/jobs.csv"), "a,"));
  CHECK(contains(here.contend("list policies").out, "external"));
  // Verbs that need whole results end with the same code.
  CHECK(here.contend("compare s.yaml s.yaml").code == 6);
}

TEST_CASE("a policy that starts nothing for ever: a sentence, partial results and exit code 6") {
  if (!has_program()) return;
  const Workplace here;
  const Outcome outcome = run_script(here, "a,0,1,10\nb,20,3,10\n",
                                     "read hello; echo '{\"protocol\": 1}'\nread pass; echo '{\"start\": [0]}'\n"
                                     "while read pass; do echo '{}'; done\n");
  CHECK(outcome.code == 6);
  CHECK(contains(outcome.err,
                 "scheduling policy `external`: the run ended at 20 s because nothing can happen any more: 4 GPUs are "
                 "free, 1 job waits, first `b` on 3 GPUs, and the policy starts none; the results end at 20 s\n"));
  CHECK(contains(here.read("out/manifest.json"), "\"exit_state\": \"policy failed\""));
  CHECK(contains(here.read("out/jobs.csv"), "a,"));
}

TEST_CASE("an exception in a policy in Python: its traceback, the job, and exit code 6") {
  if (!has_program() || std::system("python3 -c 0 2>/dev/null") != 0) return;
  const Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,10\nb,20,1,10\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: jobs.csv}\n"
             "policies: {scheduling: fifo, placement: {policy: external, command: python3 policy.py}}\n");
  here.write("policy.py",
             "import json, sys\nfor line in sys.stdin:\n    question = json.loads(line)\n"
             "    if question.get('job', {}).get('name') == 'b':\n        raise LookupError('what now')\n"
             "    print(json.dumps({'gpus': [0]} if 'job' in question else {'protocol': 1}), flush=True)\n");
  const Outcome outcome = here.contend("run s.yaml -o out");
  CHECK(outcome.code == 6);
  CHECK(contains(outcome.err, "Traceback (most recent call last):"));
  CHECK(contains(outcome.err, "line 5, in <module>"));
  CHECK(contains(outcome.err, "LookupError: what now"));
  CHECK(
      contains(outcome.err, "ended with exit code 1 before it answered, asked about job `b`; the results end at 20 s"));
  CHECK(contains(here.read("out/jobs.csv"), "a,"));
}

TEST_CASE("a command that is missing is a complaint about its key") {
  if (!has_program()) return;
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\npolicies: {scheduling: external}\n");
  const Outcome outcome = here.contend("run s.yaml");
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "policies.scheduling.command: the policy external needs a command; such as"));
}

TEST_CASE("a policy of Python that isn't in this process") {
  if (!has_program()) return;
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\nname: s\npolicies: {scheduling: {policy: external, command: \"inside:Mine\"}}\n");
  const Outcome outcome = here.contend("run s.yaml --repeat 1");
  CHECK(outcome.code == 6);
  CHECK(contains(outcome.err, "(command `inside:Mine`) is not in this process: only contend.run() of Python"));
}

TEST_CASE("a program without its scenarios says where they would be") {
  if (!has_program()) return;
  const Workplace here;
  const Outcome outcome = here.contend("run scenarios/ada-srsf/base.yaml", "CONTEND_SHARE=/nowhere");
  CHECK(outcome.code == 3);
  CHECK(
      contains(outcome.err, "No such file or directory; shipped scenarios are looked for in /nowhere, which has none"));
}
