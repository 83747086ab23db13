// Exit codes and messages for command lines that can't be meant, and the verbs that only print.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("usage errors: exit 2, nothing on stdout, the nearest name") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\n");
  const struct {
    const char* arguments;
    const char* message;
  } kCases[] = {
      {"", "expected a verb"},
      {"chekc", "unknown verb \"chekc\""},
      {"shwo", "unknown verb"},
      {"validat", "did you mean \"validate\"?"},
      {"run", "expected SCENARIO"},
      {"run --jsn s.yaml", "unknown option --jsn; did you mean \"--json\"?"},
      {"run --timel x s.yaml", "unknown option --timel"},  // no abbreviations
      {"run s.yaml --seed -1", "--seed: expected a whole number"},
      {"run s.yaml --seed=-1", "--seed: expected a whole number"},
      {"run s.yaml --repeat 0", "--repeat: expected a whole number from 1"},
      {"run s.yaml -j 2x", "--jobs: expected a whole number"},
      {"run s.yaml --seed 1 --seed 2", "--seed is given 2 times"},
      {"run s.yaml --progress maybe", "--progress: expected auto, always or never"},
      {"run s.yaml --repeat 2 --timeline t.json", "--timeline draws a single run"},
      {"run s.yaml --seed", "'--seed' is missing"},
      {"show s.yaml s.yaml", "unexpected argument \"s.yaml\""},
      {"schema stray", "unexpected argument \"stray\""},
      {"list polices", "did you mean \"policies\"?"},
      {"validate no-such-suite", "no suite \"no-such-suite\""},
  };
  for (const auto& each : kCases) {
    CAPTURE(each.arguments);
    const Outcome outcome = here.contend(each.arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_MESSAGE(contains(outcome.err, each.message), outcome.err);
  }
}

TEST_CASE("help opens with examples") {
  const Workplace here;
  const Outcome program = here.contend("--help");
  CHECK(program.code == 0);
  CHECK(program.out.find("Examples:") < program.out.find("Usage:"));
  for (const char* verb : {"run", "check", "show", "list", "schema", "validate"}) {
    const Outcome outcome = here.contend(std::string{verb} + " --help");
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "Examples:\n  contend "));
    CHECK(contains(program.out, std::string{"\n  "} + verb));
    CHECK(here.contend(std::string{"help "} + verb).out == outcome.out);
  }
  CHECK(here.contend("--version").out.starts_with("contend "));
}

TEST_CASE("invalid input: exit 3, every complaint of every file on stderr") {
  const Workplace here;
  here.write("a.yaml", "schema_version: 1\ncluster: {servres: 3}\n");
  here.write("b.yaml", "schema_version: 1\nseed: x\n");
  const Outcome outcome = here.contend("check a.yaml b.yaml missing.yaml");
  CHECK(outcome.code == 3);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "a.yaml:2:"));
  CHECK(contains(outcome.err, "servers"));
  CHECK(contains(outcome.err, "b.yaml:2:"));
  CHECK(contains(outcome.err, "missing.yaml"));
  CHECK(here.contend("run a.yaml").code == 3);

  here.write("jobs.csv", "job_id,submit_ms,model,gpus,iterations\na,0,vgg6,1,1\n");
  here.write("c.yaml", "schema_version: 1\nworkload: {jobs: jobs.csv}\n");
  const Outcome list = here.contend("check c.yaml");
  CHECK(list.code == 3);
  CHECK(contains(list.err, "jobs.csv:2: model: unknown model \"vgg6\"; did you mean \"vgg16\"?"));
}

TEST_CASE("what there is can be listed, for people and programs") {
  const Workplace here;
  for (const char* topic : {"policies", "models", "keys", "metrics", "suites"}) {
    CAPTURE(topic);
    CHECK(here.contend(std::string{"list "} + topic).code == 0);
    CHECK(here.contend(std::string{"list --json "} + topic).out.starts_with("["));
  }
  CHECK(contains(here.contend("list").out, "trace-formats"));
  CHECK(contains(here.contend("list devices").out, "A100-80GB"));
  CHECK(contains(here.contend("list policies").out, "ada-dual"));
  CHECK(contains(here.contend("list models --json").out, "\"model\": \"vgg16\""));
  CHECK(contains(here.contend("schema").out, "draft-07"));
  CHECK(contains(here.contend("schema --markdown").out, "cluster.servers"));
  CHECK(contains(here.contend("schema --columns").out, "`jct_s`"));
}

TEST_CASE("output that can't be written is an error") {
  const int status = std::system("\"$CONTEND_PROGRAM\" list keys >/dev/full 2>/dev/null");
  CHECK(WEXITSTATUS(status) == 3);
}

TEST_CASE("the exit code doesn't depend on whether messages can be written") {
  const Workplace here;
  here.write("bad.yaml", "schema_version: 1\ncluster: {servres: 3}\n");
  // A run that ends with a message: one job can never start.
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\nlarge,0,1000,1\n");
  here.write("failing.yaml", "schema_version: 1\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\n");
  const auto code = [&](const std::string& arguments) {
    const int status = std::system(fmt::format("cd '{}' && \"$CONTEND_PROGRAM\" {}", here.path(""), arguments).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const int failed = here.contend("run failing.yaml").code;
  CHECK(failed == 4);
  for (const char* err : {"2>&-", "2>/dev/full", "<&- 2>&-"}) {
    CAPTURE(err);
    CHECK(code(fmt::format("check bad.yaml >/dev/null {}", err)) == 3);
    CHECK(code(fmt::format("chekc >/dev/null {}", err)) == 2);
    CHECK(code(fmt::format("list keys >/dev/null {}", err)) == 0);
    CHECK(code(fmt::format("run failing.yaml >/dev/null {}", err)) == failed);
  }
  // Messages don't go into a file that took the place of the closed stream.
  CHECK(code("run failing.yaml -o out >/dev/null 2>&-") == failed);
  CHECK(!contains(here.read("out/jobs.csv") + here.read("out/manifest.json"), "contend: "));
  CHECK(code("list keys >&- 2>/dev/null") == 3);
}

TEST_CASE("what is no file is refused at once") {
  const Workplace here;
  CHECK(std::system(fmt::format("mkfifo '{}'", here.path("pipe")).c_str()) == 0);
  here.write("s.yaml", "schema_version: 1\nworkload: {jobs: pipe}\n");
  for (const char* arguments : {"check pipe", "check s.yaml", "import auto pipe", "results pipe", "run s.yaml"}) {
    CAPTURE(arguments);
    const Outcome outcome = here.contend(arguments, "timeout 20");
    CHECK(outcome.code == 3);
    CHECK_MESSAGE(contains(outcome.err, "pipe: can't"), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, "it is a named pipe, expected a file"), outcome.err);
  }
  CHECK(contains(here.contend("check /dev/zero", "timeout 20").err, "it is a device, expected a file"));
  // A pipe that the shell has opened is none of these.
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,1\n");
  const int status = std::system(
      fmt::format("cd '{}' && cat jobs.csv | \"$CONTEND_PROGRAM\" import jobs /dev/stdin -q -o copy.csv", here.path(""))
          .c_str());
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(here.read("copy.csv") == here.read("jobs.csv"));
}

TEST_SUITE_END();
