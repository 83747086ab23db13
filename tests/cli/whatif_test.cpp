// `contend whatif` as an operator meets it: a log, a cluster, and who waits.
#include "cli/exit_code.hpp"
#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Three days alike on a server of 8 GPUs: `a` has all of them from 00:00 to 06:00; `b` and `c` come at 01:00 and 02:00
/// for half of them and run for 3 h. So they wait 5 h and 4 h, on two servers not at all.
std::string log_of_three_days() {
  constexpr int kDays = 3, kDay = 86'400;
  std::string log = "job_id,submit_s,gpus,duration_s,limit_s,user,measured_wait_s\n";
  for (int day = 0; day < kDays; ++day) {
    log += fmt::format("a{0},{1},8,21600,21600,ann,0\nb{0},{2},4,10800,10800,ben,3600\nc{0},{3},4,10800,10800,ben,\n",
                       day, day * kDay, day * kDay + 3600, day * kDay + 7200);
  }
  return log;
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("whatif says who waits, and in how many other logs each way is better") {
  const Workplace here;
  here.write("log.csv", log_of_three_days());
  const Outcome told = here.contend("whatif log.csv --gpus 8 --max-time 1h --weeks 4");
  CHECK(told.code == kExitOk);
  CHECK_MESSAGE(told.err.empty(), told.err);
  CHECK_MESSAGE(contains(told.out, "log.csv: 9 jobs, on 8 GPUs on 1 server under easy\n"), told.out);
  CHECK_MESSAGE(
      contains(told.out, "Jobs wait 3 h on average, half of them at most 4 h, and one in twenty more than 5 h"),
      told.out);
  // The log has waits of a and b alone: 0 and 1 h, simulated 0 and 5 h.
  CHECK_MESSAGE(contains(told.out, "The log itself says 30 min, where the simulation of these 6 jobs says 2.5 h."),
                told.out);
  // Days are alike, so all other logs are, too. With jobs of 1 h nobody waits: a ends as b comes, b as c does.
  CHECK_MESSAGE(contains(told.out, "16 GPUs, not 8: 0 s instead of 3 h; in 4 of 4 other logs they wait less.\n"),
                told.out);
  CHECK_MESSAGE(contains(told.out, "fifo: 3 h instead of 3 h; in 0 of 4 other logs they wait less.\n"), told.out);
  CHECK_MESSAGE(contains(told.out, "no job over 1h: 0 s instead of 3 h; in 4 of 4 other logs they wait less.\n"),
                told.out);
  CHECK_MESSAGE(contains(told.out, "\n00:00 to 04:00     9"), told.out);
}

TEST_CASE("whatif takes the cluster of a scenario, whatever its workload, and settings of one's own") {
  const Workplace here;
  here.write("log.csv", log_of_three_days());
  here.write("two.yaml",
             "schema_version: 2\ncluster: {types: [{name: x, servers: 1, gpus_per_server: 8}]}\n"
             "policies: {scheduling: fifo, placement: consolidated}\nworkload: {jobs: missing.csv}\n");
  const Outcome told = here.contend(
      "whatif log.csv two.yaml --weeks 0 --more 100 --policies easy --json "
      "--try 'cluster.types=[{name: x, servers: 3, gpus_per_server: 4}]'");
  CHECK(told.code == kExitOk);
  CHECK_MESSAGE(contains(told.out, "8 GPUs on 1 server under fifo"), told.out);
  CHECK_MESSAGE(contains(told.out, "\"way\": \"16 GPUs, not 8\""), told.out);
  CHECK_MESSAGE(contains(told.out, "\"wait_mean_s\": 10800"), told.out);
  CHECK_MESSAGE(contains(told.out, "\"weeks\": 0"), told.out);
}

TEST_SUITE_END();
