// `contend import` as a user meets it.
#include "cli/exit_code.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kTrace =
    "job_id,submission_time,duration,num_gpu\n"
    "a,0,100,1\n"
    "b,10,-5,1\n"
    "c,20,60,64\n"
    "d,30,60,0\n";

}  // namespace

TEST_CASE("import: bad rows are errors with their lines, and are counted if they are skipped" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("trace.csv", kTrace);
  const Outcome strict = here.contend("import trace.csv --max-gpus 32 -o jobs.csv");
  CHECK(strict.code == kExitInput);
  CHECK(strict.err ==
        "trace.csv:3: duration: expected a number >= 0, got \"-5\"\n"
        "trace.csv:4: job \"c\" needs 64 GPUs, the cluster has 32\n"
        "trace.csv: 2 of 4 rows are bad; --skip-bad-rows leaves them out\n");
  CHECK_THROWS(static_cast<void>(here.read("jobs.csv")));

  const Outcome skipping = here.contend("import itp trace.csv --max-gpus 32 --skip-bad-rows -o jobs.csv");
  CHECK(skipping.code == kExitOk);
  CHECK_MESSAGE(contains(skipping.out, "4: 1 jobs, 1 left out, 2 bad"), skipping.out);
  CHECK(here.read("jobs.csv") == "job_id,submit_s,gpus,duration_s\na,0,1,100\n");
  CHECK(contains(here.contend("import jobs.csv --json").out, "\"format\": \"jobs\""));
}

TEST_CASE("import: a table with own names says what is missing, and --column names its columns" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("own.csv", "job,arrival,accelerators,\"runtime\",queue\na,0,4,100,q1\nb,2.5,8,60,q2\n");
  const Outcome unknown = here.contend("import own.csv");
  CHECK(unknown.code == kExitInput);
  CHECK_MESSAGE(contains(unknown.err, "it needs job_id, submit_s (or submit_ms), gpus, and duration_s"), unknown.err);
  CHECK_MESSAGE(contains(unknown.err, "this file has job, arrival, accelerators"), unknown.err);
  const std::string most = "import own.csv -o jobs.csv --column job_id=job --column gpus=accelerators ";
  const Outcome mapped = here.contend(most + "--column submit_s=arrival --column duration_s=runtime");
  CHECK_MESSAGE(mapped.code == kExitOk, mapped.err);
  CHECK(here.read("jobs.csv") == "job_id,submit_s,gpus,duration_s\na,0,4,100\nb,2.5,8,60\n");
  CHECK_MESSAGE(contains(mapped.out, "queue"), mapped.out);  // the column that isn't used
  const Outcome wrong = here.contend(most + "--column submit_s=arival --column vc=elsewhere");
  CHECK(contains(wrong.err, "--column submit_s=arival: there is no column \"arival\"; did you mean \"arrival\"?"));
  CHECK(contains(wrong.err, "--column vc=elsewhere: there is no column \"elsewhere\"; it has job, arrival, "));
  CHECK(contains(here.contend("import own.csv --column queue=job").err, "the file has a column \"queue\", too"));
  CHECK(here.contend("import own.csv --column queue").code == kExitUsage);
}

TEST_CASE("import: wrong command lines and files without jobs" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("trace.csv", kTrace);
  CHECK(here.contend("import").code == kExitUsage);
  CHECK(here.contend("import trace.csv --from yesterday").code == kExitUsage);
  CHECK(here.contend("import trace.csv --origin last").code == kExitUsage);
  CHECK(contains(here.contend("import itq trace.csv").err, "did you mean \"itp\"?"));
  const Outcome none = here.contend("import trace.csv --skip-bad-rows --min-gpus 100 -o jobs.csv");
  CHECK(none.code == kExitInput);
  CHECK(contains(none.err, "the options leave no job"));
}
