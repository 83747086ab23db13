// What the verb `validate` says of suites without their data.
#include "tests/cli/program.hpp"

#include <filesystem>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a suite that finds none of its data has not passed" * doctest::skip(!has_program())) {
  const Workplace here;
  const Outcome traces = here.contend("validate schedulers", "CONTEND_DATA=/nonexistent");
  CHECK(traces.code == 5);
  CHECK(contains(traces.out, "there is no file /nonexistent/traces/"));
  CHECK(contains(traces.out, "schedulers: compared nothing"));
  CHECK(!contains(traces.out, "passed"));
  CHECK(contains(traces.err, "contend validate: schedulers compared nothing: the data named above are missing"));
  CHECK(contains(traces.err, "Reference data are looked for in CONTEND_DATA, /nonexistent"));
  const Outcome profiles = here.contend("validate calibration", "CONTEND_SHARE=/nothing");
  CHECK(profiles.code == 5);
  CHECK(contains(profiles.out, "h100-sxm5-80gb-pytorch.yaml in this folder or in /nothing (set CONTEND_SHARE)"));
  CHECK(contains(profiles.out, "calibration: compared nothing: 0 of 0 figures"));
}

TEST_CASE("a suite with a part of its data passes, and says what is missing" * doctest::skip(!has_program())) {
  const Workplace here;
  const Outcome outcome = here.contend("validate ada-srsf", "CONTEND_DATA=/nonexistent");
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "ada-srsf: passed, the part that needs data skipped"));
}

TEST_CASE("files of a suite are refused without the suite that has them" * doctest::skip(!has_program())) {
  const Workplace here;
  CHECK(contains(here.contend("validate parallel --rows rows.csv").err, "--rows"));
  const Outcome missing = here.contend("validate public --with nothing.csv", "CONTEND_DATA=/nonexistent");
  CHECK(missing.code == 3);
  CHECK(contains(missing.err, "can't read nothing.csv"));
  here.write("wrong.csv", "simulator,set,row,seconds\na,b,c,-1\n");
  CHECK(contains(here.contend("validate public --with wrong.csv", "CONTEND_DATA=/nonexistent").err,
                 "seconds: expected a number above 0, got \"-1\""));
  const Outcome none = here.contend("validate public", "CONTEND_DATA=/nonexistent");
  CHECK(none.code == 5);
  CHECK(contains(none.out, "public: compared nothing"));
}
