// What `contend capture` does with the answer of the program's Python, in whose place a script answers. Programs of
// PyTorch are captured in tests/capture/captured_programs.py.

#include "tests/cli/program.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Makes a Python of a line of shell, which finds the words behind the text of python/capture/ as "$*".
void make_python(const Workplace& here, const std::string& line) {
  here.write("python-test", "#!/bin/sh\nflag=$1\nshift 2\n" + line + "\n");
  std::filesystem::permissions(here.path("python-test"), std::filesystem::perms::owner_all);
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("capture: a table, a scenario and a summary come from the program's Python") {
  const Workplace here;
  make_python(
      here, R"(echo "{\"figures\": \"$flag\", \"summary\": \"$*: \", \"table\": \"a table\", \"scenario\": \"its\"}")");
  const std::string program = "capture -o net.csv --ranks 4 --steps 2 --real -- ./python-test train.py --lr 3";
  const Outcome captured = here.contend(program);
  CHECK_MESSAGE(captured.code == 0, captured.err);
  CHECK(captured.out ==
        "--table net.csv --ranks 4 --steps 2 --real -- train.py --lr 3: "
        "wrote net.csv and net.yaml; `contend run net.yaml` simulates it\n");
  CHECK(here.read("net.csv") == "a table");
  CHECK(here.read("net.yaml") == "its");
  CHECK(here.contend("capture --json -- ./python-test -m module").out == "-c");
  here.write("net.yaml", "mine\n");
  const Outcome kept = here.contend(program);
  CHECK(kept.code == 3);
  CHECK(contains(kept.err, "net.yaml: this file would be overwritten"));
}

TEST_CASE("capture: a program that fails ends with its own code, and leaves no files") {
  const Workplace here;
  make_python(here, "echo mine >&2; exit 7");
  const Outcome failed = here.contend("capture -- ./python-test train.py");
  CHECK(failed.code == 7);
  CHECK(failed.err == "mine\n");
  CHECK_FALSE(std::filesystem::exists(here.path("captured.csv")));
}

TEST_CASE("capture: a command that can't be started is wrong usage or wrong input") {
  const Workplace here;
  for (const char* words : {"torchrun train.py", "python3", "python3 -c 1", "python3 -u", "python3 -W ignore"}) {
    const Outcome refused = here.contend(std::string{"capture -- "} + words);
    CHECK_MESSAGE(refused.code == 2, words);
    CHECK_MESSAGE(contains(refused.err, "expected a Python and its script, such as `-- python3 train.py`"),
                  refused.err);
  }
  CHECK(contains(here.contend("capture -o net.txt -- python3 a.py").err, "expected a name that ends with .csv"));
  CHECK(contains(here.contend("capture -- ./python-none a.py").err, "./python-none: there is no such program"));
}

TEST_SUITE_END();
