// scripts/calibrate_here.sh and scripts/calibration_plan.py on the CPU: they go on where an earlier call ended, and
// what they print was found.

#include "tests/cli/program.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string script(const std::string& name) {
  return (std::filesystem::current_path() / "scripts" / name).string();
}

}  // namespace

TEST_CASE("the plan prints what to expect beside what was found, and goes on" * doctest::skip(!has_program())) {
  const Workplace here;
  const std::string plan = "python3 " + script("calibration_plan.py") + " out --backend cpu --budget 2 --contend";
  const Outcome first = here.contend("--only 1,3", plan);
  CAPTURE(first.out);
  CAPTURE(first.err);
  CHECK(first.code == 0);
  CHECK(contains(first.out, "1. the device, and the tests of the kernels: not run: test_gpu needs a GPU"));
  CHECK(contains(first.out, "3. the rates of memory and of products: no expectation\n"));
  CHECK(contains(first.out, "found:    copy "));
  CHECK(contains(first.out, " GB/s, read "));
  // What was found is not measured again: the profile may be gone.
  std::filesystem::remove(here.path("out/anchors.yaml"));
  const Outcome second = here.contend("--only 3", plan);
  CHECK(second.code == 0);
  CHECK(contains(first.out, second.out));
  CHECK_FALSE(std::filesystem::exists(here.path("out/anchors.yaml")));
  // What another line writes is not there: the exit code says that the line was not run, and it is not kept.
  const Outcome alone = here.contend("--only 6", plan);
  CHECK(alone.code == 5);
  CHECK(contains(alone.out, "6. the same again: not run: quick.yaml is not there; line 5 writes it"));
  CHECK_FALSE(contains(here.read("out/plan.json"), "quick.yaml"));
  CHECK(here.contend("--only 13", plan).code == 2);
}

TEST_CASE("a calibration in pieces: what fits into no call is refused, and what is done is not done again" *
          doctest::skip(!has_program())) {
  const Workplace here;
  const auto call = [&](const std::string& piece) {
    return here.contend("quick", "bash -c 'PROGRAMS=$(dirname \"$0\") BACKEND=cpu QUICK_BUDGET=2 PIECE=" + piece +
                                     " bash " + script("calibrate_here.sh") + " out \"$@\"'");
  };
  const Outcome early = call("60");
  CAPTURE(early.err);
  CHECK(early.code == 2);
  CHECK(contains(early.err, "PIECE=60 is too short for quick: it must be at least 92 seconds"));
  CHECK_FALSE(std::filesystem::exists(here.path("out")));
  const Outcome whole = call("590");
  CAPTURE(whole.out);
  CAPTURE(whole.err);
  CHECK(whole.code == 0);
  CHECK(contains(whole.out, "quick "));
  CHECK(std::filesystem::exists(here.path("out/quick.yaml")));
  CHECK(std::filesystem::file_size(here.path("out.tar.gz")) > 1000);
  // It is done.
  const Outcome again = call("590");
  CHECK(again.code == 0);
  CHECK_FALSE(contains(again.out, "quick "));
}
