// Slurm's backfilling on examples that were run on Slurm 22.05.8 with simulated nodes, or follow from its rules by
// hand. Servers 0 and 1 are the nodes n1 and n2. Minutes of limits are 60 s here. Unless a case says otherwise, a
// backfill pass follows every change at once and submissions wait for nothing, so that starts and plans follow
// the rules.

#include "validate/backfill/backfill_suite.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace contend;

namespace {

constexpr std::int64_t kMinute = 60;

/// Starts, then the first plans where there were any: `0@0:4, 60@0:2 planned 60`.
std::string outcome_of(const std::string& parameters, const char* placement, int servers, int per_server,
                       const std::vector<WaitingJob>& jobs) {
  BackfillCase made;
  made.policy = fmt::format("{{policy: slurm-backfill{}{}}}", parameters.empty() ? "" : ", ", parameters);
  made.placement = placement;
  made.servers = servers;
  made.per_server = per_server;
  made.jobs = jobs;
  const PlainOutcome found = engine_outcome(made);
  std::vector<std::string> texts = texts_of(found);
  for (std::size_t j = 0; j < texts.size(); ++j)
    if (found.first_plans[j] >= 0) texts[j] += fmt::format(" planned {}", found.first_plans[j]);
  return fmt::format("{}", fmt::join(texts, ", "));
}

const std::string kAtOnce = "bf_interval_s: 0, batch_sched_delay_s: 0";
const std::string kBySeconds = kAtOnce + ", bf_resolution_s: 1, end_window_s: 0";

}  // namespace

TEST_CASE("slurm-backfill, S1: jobs pass beside the plan of a job that needs a whole node") {
  // a leaves n1 at 100 min = 6,000 s, where big is planned. c would be there too long and takes n2; d ends before.
  CHECK(outcome_of(kAtOnce, "worst-fit", 2, 4,
                   {{0, 2, 100 * kMinute},
                    {0, 2, 1000 * kMinute},
                    {4, 4, 50 * kMinute},
                    {5, 2, 1000 * kMinute},
                    {6, 2, 90 * kMinute}}) == "0@0:2, 0@1:2, 6000@0:4 planned 6000, 5@1:2, 6@0:2");
}

TEST_CASE("slurm-backfill, S2: plans hold whole nodes, but jobs that share a node start together") {
  // p1 is planned on n1 when r ends at 60 min = 3,600 s. p2 would fit beside it, but n1 is held until 360 min = 21,600
  // s. p3 is planned on n2 when s ends. When r ends the main scheduler starts p1 and p2 together.
  CHECK(outcome_of(kAtOnce, "consolidated", 2, 4,
                   {{0, 4, 60 * kMinute},
                    {0, 4, 600 * kMinute},
                    {4, 2, 300 * kMinute},
                    {5, 2, 300 * kMinute},
                    {6, 2, 30 * kMinute}}) ==
        "0@0:4, 0@1:4, 3600@0:2 planned 3600, 3600@0:2 planned 21600, 21600@0:2 planned 36000");
}

TEST_CASE("slurm-backfill, S3: a limit that equals the gap doesn't fit") {
  // p1 is planned on n1 in [60, 360) min. At 4 s p2 (59 min) would end at 59:04 and starts; p3 (60 min) at 60:04, which
  // is inside; it is planned at 360 min = 21,600 s, and p4 (61 min) behind it at 420 min = 25,200 s.
  CHECK(outcome_of(kAtOnce, "consolidated", 2, 4,
                   {{0, 2, 60 * kMinute},
                    {0, 4, 600 * kMinute},
                    {4, 4, 300 * kMinute},
                    {4, 1, 59 * kMinute},
                    {4, 1, 60 * kMinute},
                    {4, 1, 61 * kMinute}}) ==
        "0@0:2, 0@1:4, 3600@0:4 planned 3600, 4@0:1, 21600@0:1 planned 21600, 21600@0:1 planned 25200");
}

TEST_CASE("slurm-backfill, S4: jobs behind bf_max_job_test are never looked at") {
  const std::vector<WaitingJob> jobs = {
      {0, 4, 100 * kMinute}, {0, 2, 1000 * kMinute}, {4, 4, 50 * kMinute}, {4, 4, 50 * kMinute}, {4, 1, 10 * kMinute}};
  // Two tests are used up by the two jobs in front of tiny until one of them starts at 6,000 s.
  CHECK(outcome_of(kAtOnce + ", bf_max_job_test: 2", "consolidated", 2, 4, jobs) ==
        "0@0:4, 0@1:2, 6000@0:4 planned 6000, 9000@0:4 planned 9000, 6000@1:1");
  CHECK(outcome_of(kAtOnce, "consolidated", 2, 4, jobs) ==
        "0@0:4, 0@1:2, 6000@0:4 planned 6000, 9000@0:4 planned 9000, 4@1:1");
}

TEST_CASE("slurm-backfill, S5: nothing is kept for a job that starts behind bf_window") {
  // big could start on both nodes at 6,000 s, which is more than 60 min ahead; filler takes n2 for 200 min at 5 s.
  CHECK(outcome_of(kAtOnce + ", bf_window_min: 60", "consolidated", 2, 4,
                   {{0, 4, 100 * kMinute}, {4, 8, 50 * kMinute}, {5, 4, 200 * kMinute}}) ==
        "0@0:4, 12005@0:4 1:4, 5@1:4");
  // With a window of a day big is planned, filler behind it at 150 min, and a job of 99 min passes.
  CHECK(outcome_of(kAtOnce, "consolidated", 2, 4,
                   {{0, 4, 100 * kMinute}, {4, 8, 50 * kMinute}, {5, 4, 200 * kMinute}, {6, 4, 99 * kMinute}}) ==
        "0@0:4, 6000@0:4 1:4 planned 6000, 9000@0:4 planned 9000, 6@1:4");
}

TEST_CASE("slurm-backfill, S9: of each user a pass considers bf_max_job_user jobs") {
  // u1 and u2 are of one user, v1 of another; one GPU of n2 is free. u2 isn't looked at until u1 has started.
  CHECK(outcome_of(kAtOnce + ", bf_max_job_user: 1", "consolidated", 2, 4,
                   {{0, 4, 100 * kMinute, 0, 2},
                    {0, 3, 1000 * kMinute, 0, 2},
                    {4, 4, 50 * kMinute, 0, 0},
                    {4, 1, 10 * kMinute, 0, 0},
                    {4, 1, 10 * kMinute, 0, 1}}) == "0@0:4, 0@1:3, 6000@0:4 planned 6000, 6000@1:1, 4@1:1");
}

TEST_CASE("slurm-backfill, S10: a job beyond a limit of its user waits, has no plan and blocks no other") {
  // q1 and q2 hold the two GPUs that a user may have, until 6,000 s; q3 waits for them, the job of another user
  // doesn't.
  const std::vector<WaitingJob> jobs = {
      {0, 1, 100 * kMinute, 0, 0}, {0, 1, 100 * kMinute, 0, 0}, {4, 1, 10 * kMinute, 0, 0}, {5, 1, 10 * kMinute, 0, 1}};
  for (const char* const limit : {", max_gpus_per_user: 2", ", max_jobs_per_user: 2"})
    CHECK(outcome_of(kAtOnce + limit, "consolidated", 2, 4, jobs) == "0@0:1, 0@0:1, 6000@0:1, 5@0:1");
}

TEST_CASE("slurm-backfill, B1 to B5: places") {
  CHECK(outcome_of(kBySeconds, "worst-fit", 2, 2, {{0, 1, 100}, {0, 1, 1000}, {1, 2, 50}, {2, 1, 1000}, {3, 1, 90}}) ==
        "0@0:1, 0@1:1, 100@0:2 planned 100, 2@1:1, 3@0:1");
  CHECK(outcome_of(kBySeconds, "consolidated", 2, 4, {{0, 4, 60}, {0, 4, 600}, {1, 2, 300}, {2, 2, 300}, {3, 2, 30}}) ==
        "0@0:4, 0@1:4, 60@0:2 planned 60, 60@0:2 planned 360, 360@0:2 planned 600");
  // B3: w is planned on servers 0 and 2 in [200, 250). z would end at exactly 200, which is too late for Slurm: x is
  // planned on server 2 from 250 s on, and z on server 0. When w has ended both start on server 0.
  CHECK(outcome_of(kBySeconds, "consolidated", 3, 4,
                   {{0, 2, 100}, {0, 4, 300}, {0, 3, 200}, {1, 8, 50}, {2, 1, 500}, {3, 2, 99}, {4, 1, 196}}) ==
        "0@0:2, 0@1:4, 0@2:3, 200@0:4 2:4 planned 200, 250@0:1 planned 250, 3@0:2, 250@0:1 planned 250");
  // B4: a ends at 40 s, 60 s before its limit; then m is in the way of big on server 0 until 66 s.
  CHECK(
      outcome_of(kBySeconds, "worst-fit", 2, 4, {{0, 3, 40, 100}, {0, 3, 100}, {5, 4, 50}, {6, 1, 60}, {7, 1, 200}}) ==
      "0@0:3, 0@1:3, 66@0:4 planned 100, 6@0:1, 7@1:1");
  // B5: b is planned at 100 s and holds all four servers until 150 s. c would end at 101 s and waits, d ends at 63 s.
  CHECK(outcome_of(kBySeconds, "spread", 4, 2, {{0, 4, 100}, {1, 6, 50}, {2, 2, 99}, {3, 3, 60}, {4, 1, 500}}) ==
        "0@0:1 1:1 2:1 3:1, 100@0:2 1:2 2:1 3:1 planned 100, 100@2:1 3:1 planned 150, 3@0:1 1:1 2:1, 150@0:1 planned "
        "150");
}

TEST_CASE("slurm-backfill: by default starts lag by the intervals of its schedulers") {
  // big blocks the queue at 10 s. small comes 1 s later, 3 s after which a main pass doesn't get beyond big; the first
  // backfill pass is at 30 s.
  const std::vector<WaitingJob> jobs = {
      {0, 4, 100 * kMinute}, {0, 2, 1000 * kMinute}, {10, 4, 50 * kMinute}, {11, 1, 10 * kMinute}};
  CHECK(outcome_of("", "consolidated", 2, 4, jobs) == "0@0:4, 0@1:2, 6000@0:4 planned 6000, 30@1:1");
  // Without big, small starts when the last main pass, at 0 s, is 3 s ago.
  CHECK(outcome_of("", "consolidated", 2, 4, {jobs[0], jobs[1], {1, 1, 600}}) == "0@0:4, 0@1:2, 3@1:1");
  // With `defer` it waits for the first backfill pass, which comes sooner than the main pass over all jobs at 60 s.
  CHECK(outcome_of("defer: true", "consolidated", 2, 4, {jobs[0], jobs[1], {1, 1, 600}}) == "0@0:4, 0@1:2, 30@1:1");
}

TEST_CASE("slurm-backfill: running jobs that end within half a minute are taken to end together") {
  // The first job leaves its server at 100 s, the second at 120 s. As both are taken to leave at 120 s, the third is
  // planned then, on server 0; it starts as soon as the first has ended.
  const std::vector<WaitingJob> jobs = {{0, 4, 100}, {0, 4, 120}, {1, 4, 50}};
  CHECK(outcome_of(kAtOnce + ", bf_resolution_s: 1", "consolidated", 2, 4, jobs) ==
        "0@0:4, 0@1:4, 100@0:4 planned 120");
  CHECK(outcome_of(kBySeconds, "consolidated", 2, 4, jobs) == "0@0:4, 0@1:4, 100@0:4 planned 100");
}

TEST_CASE("slurm-backfill: a pass that takes time ends when anything changes, unless bf_continue is set") {
  // A test takes 1 s, so that a pass pauses for 0.5 s after two tests. It begins at 30 s and looks at the last job,
  // which fits, at 35 s: two tests, until 32; 32.5, two tests, until 34.5; 35.
  std::vector<WaitingJob> jobs = {{0, 3, 1000}, {1, 4, 600}, {1, 4, 600}, {1, 4, 600}, {1, 4, 600}, {1, 1, 60}};
  const auto tiny = [&](const std::string& parameters) {
    const std::string found = outcome_of(parameters, "consolidated", 1, 4, jobs);
    return found.substr(found.rfind(", ", jobs.size() > 6 ? found.rfind(", ") - 1 : std::string::npos) + 2);
  };
  CHECK(tiny("bf_test_s: 1") == "35@0:1");
  // A job that comes at 31 s ends the pass at 32.5 s. The next one begins 30 s later and gets there after 5 s: 67.5 s.
  // The starts of this kit are whole seconds, so that this one shows as -2.
  jobs.push_back({31, 4, 600});
  CHECK(tiny("bf_test_s: 1").starts_with("-2@0:1"));
  CHECK(tiny("bf_test_s: 1, bf_continue: true").starts_with("35@0:1"));
}

TEST_CASE("backfilling of the program plays as plain loops do, and so does Slurm's") {
  int waited = 0, planned = 0;
  for (std::uint64_t seed = 1; seed <= kBackfillCasesOfGate; ++seed)
    for (const BackfillCase& each : backfill_cases(seed)) {
      const PlainOutcome engine = engine_outcome(each);
      INFO(seed, " ", each.policy, " ", each.placement);
      CHECK(first_difference(each, engine) == "");
      for (std::size_t j = 0; j < each.jobs.size(); ++j) {
        waited += engine.starts[j] > each.jobs[j].submit ? 1 : 0;
        planned += engine.first_plans[j] >= 0 ? 1 : 0;
      }
    }
  CHECK(waited > 1000);
  CHECK(planned > 500);
}

TEST_CASE("a start or a first plan that isn't right is a difference") {
  const BackfillCase each = backfill_cases(1)[2];
  PlainOutcome engine = each.plain;
  CHECK(first_difference(each, engine) == "");
  ++engine.starts[3];
  CHECK(first_difference(each, engine).starts_with("job 3: "));
  engine = each.plain;
  engine.first_plans[5] += 1;
  CHECK(first_difference(each, engine).starts_with("job 5: planned at "));
  engine = each.plain;
  engine.places[0].front() += 1;
  CHECK(first_difference(each, engine).starts_with("job 0: "));
}
