// contend new and contend doctor.

#include "tests/cli/program.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("new: each kind of scenario runs as it is written") {
  const Workplace here;
  // 2 servers of 4 GPUs: 8 GPUs, 16 sequences a step for each, 1 request a second for each server.
  const struct {
    const char* kind;
    const char* line;
    const char* result;
  } kCases[] = {{"queue", "scaling: {load: 0.9, largest: 8}", "2000 finished, 0 failed, 0 unfinished"},
                {"training", "global_batch: 128 ", "1 finished, 0 failed, 0 unfinished"},
                {"serving", "rate: 2 ", "answered requests"}};
  for (const auto& each : kCases) {
    CAPTURE(each.kind);
    const std::string name = each.kind;
    const Outcome made = here.contend("new " + name + " --machine alps --servers 2 --kind " + name);
    CHECK_MESSAGE(made.code == 0, made.err);
    CHECK(made.out == name + ".yaml: 2 servers of alps, 8 GPUs in all\n  contend run " + name + ".yaml\n");
    const std::string text = here.read(name + ".yaml");
    CHECK(contains(text, each.line));
    CHECK(contains(text, "name: " + name + "\n"));
    CHECK(!contains(text, "@"));
    const Outcome run = here.contend("run " + name + ".yaml --repeat 1");
    CHECK_MESSAGE(run.code == 0, run.err);
    CHECK_MESSAGE(contains(run.out, each.result), run.out);
  }
  // Without a terminal nothing is asked: the answers are those that the help names.
  CHECK(contains(here.contend("new usual.yaml").out, "usual.yaml: 4 servers of dgx-h100, 32 GPUs in all\n"));
}

TEST_CASE("new: on a terminal it asks for what the options leave open") {
  const Workplace here;
  const std::string program = fmt::format("cd '{}' && '{}' new asked ", here.path(""), std::getenv("CONTEND_PROGRAM"));
  const std::string out = on_terminal(program, 80, "training\n\n2\n");
  CHECK_MESSAGE(contains(out, "What runs: a queue of jobs, one training job, or serving? [queue] "), out);
  CHECK_MESSAGE(contains(out, "asked.yaml: 2 servers of dgx-h100, 16 GPUs in all"), out);
  CHECK(contains(here.read("asked.yaml"), "global_batch: 256 "));  // 16 sequences for each of 16 GPUs
  const std::string given = on_terminal(program + "--kind queue --servers 3", 80, "alps\n");
  CHECK(!contains(given, "What runs"));
  CHECK(contains(given, "asked.yaml: 3 servers of alps, 12 GPUs in all"));
}

TEST_CASE("new: what can't be, and files that a user has changed") {
  const Workplace here;
  CHECK(contains(here.contend("new x --kind quene").err, "--kind: expected queue, training or serving, got \"quene\""));
  CHECK(contains(here.contend("new x --machine dgx-h10").err, "did you mean \"dgx-h100\"?"));
  CHECK(contains(here.contend("new x --servers 0").err, "--servers: expected a whole number from 1"));
  here.write("mine.yaml", "schema_version: 2\n");
  const Outcome foreign = here.contend("new mine");
  CHECK(foreign.code == 3);
  CHECK(here.read("mine.yaml") == "schema_version: 2\n");
}

TEST_CASE("doctor: what is here, what is missing, and the exit code for scripts") {
  const Workplace here;
  const Outcome all = here.contend("doctor", "env PATH=/nonexistent CONTEND_DATA=/nonexistent");
  CHECK_MESSAGE(all.code == 0, all.err);
  CHECK(all.out.starts_with("contend "));
  CHECK(contains(all.out, "ok      cores "));
  CHECK(contains(all.out, "\nmissing compiler            no version from c++ g++ clang++ on the path\n"));
  CHECK(contains(all.out, "to get it: apt-get install g++\n"));
  CHECK(contains(all.out, "\nmissing numpy               python3 imports no numpy\n"));
  CHECK(contains(all.out, "\nmissing data                there is no /nonexistent\n"));
  CHECK(here.contend("doctor cores folder").code == 0);
  CHECK(here.contend("doctor cores data", "env CONTEND_DATA=/nonexistent").code == 5);
  CHECK(contains(here.contend("doctor data", "env CONTEND_DATA=.").out, "ok      data                .\n"));
  const Outcome unknown = here.contend("doctor pyton");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err, "there is no facility \"pyton\"; did you mean \"python\"?"));
}

TEST_SUITE_END();
