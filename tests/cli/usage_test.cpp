// Exit codes and messages for command lines that can't be meant, and the verbs that only print.

#include "tests/cli/program.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The number of bytes of the longest line.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", start), text.size());
    most = std::max(most, end - start);
    start = end + 1;
  }
  return most;
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("usage errors: exit 2, nothing on stdout, the nearest name") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\n");
  const struct {
    const char* arguments;
    const char* message;
  } kCases[] = {
      {"", "contend explain scenarios/ada-srsf/base.yaml job-3 "},
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
      {"run s.yaml -o ''", "contend run: --output: expected DIR, got an empty text"},
      {"show s.yaml --json", "--json needs --topology, --layers, --parallel, --passes or --model"},
      {"show s.yaml s.yaml", "unexpected argument \"s.yaml\""},
      {"schema stray", "unexpected argument \"stray\""},
      {"list polices", "did you mean \"policies\"?"},
      {"list policies eazy", "policies has no \"eazy\"; did you mean \"easy\"?"},
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

TEST_CASE("help has every variable of the environment, with its meaning in one column") {
  Workplace here;
  const std::string help = here.contend("--help").out;
  const std::string block = help.substr(help.find("\nEnvironment:\n") + 14);
  std::istringstream lines{block};
  std::set<std::string> names;
  std::set<std::size_t> columns;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const std::size_t end = line.find(' ', 2);
    names.insert(line.substr(2, end - 2));
    columns.insert(line.find_first_not_of(' ', end));
  }
  CHECK(columns.size() == 1);
  for (const char* name : {"CONTEND_DATA", "CONTEND_MAX_INFLATED", "CONTEND_PLUGIN", "CONTEND_SHARE",
                           "CONTEND_SIMGRID_PYTHON", "GITHUB_STEP_SUMMARY", "NO_COLOR"})
    CHECK_MESSAGE(names.contains(name), name);
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
  // A line for each policy; a word leaves those that have it, and a single one is shown whole.
  const std::string policies = here.contend("list policies").out;
  CHECK(widest(policies) <= 100);
  CHECK(contains(policies, "\nscheduling     easy  "));
  CHECK_FALSE(contains(policies, "estimate_factor"));
  const std::string nearest = here.contend("list policies LWF").out;
  CHECK(nearest.starts_with("policy         lwf\n"));
  CHECK(contains(nearest, "\nparameters     kappa=1 (1 to 1000000): "));
  CHECK(contains(nearest, "\nin a scenario  policies.placement: {policy: lwf, kappa: 1}\n"));
  const std::string fair = here.contend("list policies fair").out;
  CHECK(contains(fair, "fair-share"));
  CHECK_FALSE(contains(fair, "ada-dual"));
  CHECK(contains(here.contend("list keys network.alpha --json").out, "\"key\": \"network.alpha\""));
  const std::string sizes = here.contend("list transformers --json").out;
  CHECK(contains(sizes, "\"transformer\": \"mixtral-8x7b\""));
  CHECK(contains(sizes, "\"of_a_token\": \"12879925248\""));
  CHECK(contains(sizes, "\"experts\": \"2 of 8\""));
  CHECK(contains(here.contend("list devices").out, "A100-80GB"));
  CHECK(contains(here.contend("list policies").out, "ada-dual"));
  CHECK(contains(here.contend("list models --json").out, "\"model\": \"vgg16\""));
  CHECK(contains(here.contend("schema").out, "draft-07"));
  CHECK(contains(here.contend("schema --markdown").out, "cluster.servers"));
  CHECK(contains(here.contend("schema --columns").out, "`jct_s`"));
}

TEST_CASE("several seeds or values in a verb that takes one") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\n");
  const Outcome seeds = here.contend("run s.yaml --set seed=1,2");
  CHECK(seeds.code == 3);
  CHECK(contains(seeds.err, "got \"1,2\"; --repeat N runs the seeds seed, seed + 1, ..."));
  CHECK(contains(here.contend("sweep s.yaml --set seed=1,2").err, "; --repeat N runs the seeds"));
  const Outcome values = here.contend("run s.yaml --set cluster.servers=1,2");
  CHECK(values.code == 3);
  CHECK(contains(values.err, "got \"1,2\"; `contend sweep` takes several values of a key"));
}

TEST_CASE("tables fit the width of the terminal") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\nname: small\ncluster: {servers: 2}\n"
             "workload: {generate: {sizes: {1: 4}, iterations: [10, 20], arrivals: 1s}}\n");
  const Outcome wide = here.contend("run s.yaml --repeat 2 --set name=a");
  CHECK(widest(wide.out) > 80);
  const Outcome narrow = here.contend("run s.yaml --repeat 2 --set name=a", "COLUMNS=80");
  CHECK(widest(narrow.out) <= 80);
  // The row has become a column.
  CHECK(contains(narrow.out, "scenario"));
  CHECK(contains(narrow.out, "\nmakespan [s] "));
  CHECK(here.contend("run s.yaml --repeat 2 --set name=a", "COLUMNS=1000").out == wide.out);
  CHECK(here.contend("run s.yaml --repeat 2 --set name=a", "COLUMNS=wide").out == wide.out);
  CHECK(widest(here.contend("list keys", "COLUMNS=80").out) <= 80);
  const std::string run =
      fmt::format("cd '{}' && unset COLUMNS && \"$CONTEND_PROGRAM\" run s.yaml --repeat 2", here.path(""));
  CHECK(widest(on_terminal(run, 80)) <= 80);
  CHECK(widest(on_terminal(run, 200)) > 80);
}

TEST_CASE("verdicts have colours on a terminal, unless NO_COLOR is set") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\nname: small\nexpect: {finished: 4, failed: 3}\n"
             "workload: {generate: {sizes: {1: 4}, iterations: [10, 20], arrivals: 1s}}\n");
  const auto run = [&](const std::string& variable) {
    return on_terminal(
        fmt::format("cd '{}' && unset NO_COLOR && {} \"$CONTEND_PROGRAM\" run s.yaml", here.path(""), variable), 100);
  };
  const std::string coloured = run("TERM=xterm");
  CHECK(contains(coloured, "\x1b[32mok  \x1b[0m  finished = 4"));
  CHECK(contains(coloured, "\x1b[31mFAIL\x1b[0m  failed = 3"));
  for (const char* plain : {"TERM=xterm NO_COLOR=1", "TERM=dumb"}) {
    CHECK(contains(run(plain), "FAIL  failed = 3"));
    CHECK_FALSE(contains(run(plain), "\x1b[3"));
  }
  CHECK(contains(here.contend("run s.yaml", "TERM=xterm").out, "\nFAIL  failed = 3"));
}

TEST_CASE("output that can't be written is an error") {
  const Workplace here;
  here.write("s.yaml", "schema_version: 1\n");
  const Outcome full = here.contend("show s.yaml", "sh -c '\"$0\" \"$@\" >/dev/full'");
  CHECK(full.code == 3);
  CHECK(contains(full.err, "standard output: the disk is full"));
  const Outcome file = here.contend("show s.yaml --set network.fidelity=flow --topology --svg /dev/full");
  CHECK(file.code == 3);
  CHECK(contains(file.err, "/dev/full: can't be written: the disk is full"));
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
  // The paths in what comes through a pipe start from the working directory.
  here.write("piped.yaml", "schema_version: 2\ncluster: {servers: 1}\nworkload: {jobs: jobs.csv}\n");
  const std::string piped =
      fmt::format("cd '{}' && cat piped.yaml | \"$CONTEND_PROGRAM\" run /dev/stdin -q", here.path(""));
  CHECK(WEXITSTATUS(std::system(piped.c_str())) == 0);
}

TEST_CASE("bytes of a file that no terminal should obey are escaped in messages") {
  const Workplace here;
  here.write("bytes.yaml", "schema_version: 1\nname: \"a\xff\"\ncluster: {servers: 1}\n");
  const Outcome outcome = here.contend("check bytes.yaml");
  CHECK(outcome.code == 3);
  CHECK_MESSAGE(contains(outcome.err, "bytes.yaml:2:9: not UTF-8 text\n  name: \"a\\xff\"\n"), outcome.err);
  here.write("control.csv", "job_id,submit_s,gpus,duration_s\na,0,1,\x1b[31m5\n");
  here.write("control.yaml", "schema_version: 1\nname: c\ncluster: {servers: 1}\nworkload: {jobs: control.csv}\n");
  const Outcome control = here.contend("run control.yaml");
  CHECK(control.code == 3);
  CHECK_MESSAGE(contains(control.err, "\\x1b[31m5"), control.err);
  CHECK(!contains(control.err, "\x1b"));
}

TEST_SUITE_END();
