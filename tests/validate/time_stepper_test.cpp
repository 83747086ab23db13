// The time stepper by hand, each of the unwritten rules, and the engine against it.

#include "validate/ada_srsf/time_stepper.hpp"

#include "models/workload.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "validate/ada_srsf/ada_srsf.hpp"
#include "validate/ada_srsf/time_stepped.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Times = std::vector<std::int64_t>;

/// A MiB takes 1 ms alone, and 2.25 ms in one of two transfers. A GPU has the memory for `jobs_per_gpu` jobs.
SteppedStudy small_study(int servers, int gpus_per_server, int jobs_per_gpu) {
  return {.servers = servers,
          .gpus_per_server = gpus_per_server,
          .gpu_memory = Bytes{jobs_per_gpu},
          .beta_us_per_mib = 1000,
          .eta_us_per_mib = 250};
}

}  // namespace

TEST_CASE("transfers wait, share, or share only where AdaDUAL gains") {
  // Both jobs are on the one GPU of both servers. A computes from 0 to 2 and B from 2 to 4.
  SteppedStudy study = small_study(2, 1, 2);
  std::vector<SteppedJob> jobs(2, SteppedJob{.gpus = 2, .message = Bytes::mebibytes(10)});
  jobs[1].message = Bytes::mebibytes(4);
  // A sends from 2 to 12, and then B.
  CHECK(step_through(study, jobs) == Times{12, 16});
  // B joins at 4, when A has 8 MiB left: through at 4 + 4 x 2.25 = 13. A then has 4 MiB left.
  study.ways = 2;
  CHECK(step_through(study, jobs) == Times{17, 13});
  // AdaDUAL admits 0.4 x 8 = 3.2 MiB: not 4, but 3. They are through at 4 + 6.75, so at 11 on the grid. By then A has
  // sent 7 / 2.25 of its 8 MiB; the other 4.89 take until 15.89, so 16.
  study.ways.reset();
  CHECK(step_through(study, jobs) == Times{12, 16});
  jobs[1].message = Bytes::mebibytes(3);
  CHECK(step_through(study, jobs) == Times{16, 11});
}

TEST_CASE("the GPU takes the task of the job with the least remaining service") {
  // B (3 ms left) goes before A (6 ms left) at 2, when A's first forward has ended, and A goes on at 5.
  const std::vector<SteppedJob> jobs{{.iterations = 2, .forward_ms = 2, .backward_ms = 2},
                                     {.submit_ms = 1, .forward_ms = 1, .backward_ms = 2}};
  CHECK(step_through(small_study(1, 1, 2), jobs) == Times{11, 5});
}

TEST_CASE("late release: the memory of a job on one server is free a step after its end") {
  // The GPU has memory for one job. A ends at 5; B takes 6 ms.
  const std::vector<SteppedJob> jobs{{.forward_ms = 2, .backward_ms = 3}, {.forward_ms = 2, .backward_ms = 4}};
  const SteppedStudy study = small_study(1, 1, 1);
  CHECK(step_through(study, jobs) == Times{5, 11});
  CHECK(step_through(study, jobs, {.late_release = true}) == Times{5, 12});
  CHECK(step_through(study, jobs, {.skipped_job = true}) == Times{5, 11});

  // A on two servers ends with its all-reduce, at 5 + 4. Its memory is free at once, by either rule.
  const std::vector<SteppedJob> two_servers{
      {.gpus = 2, .forward_ms = 2, .backward_ms = 3, .message = Bytes::mebibytes(4)},
      {.submit_ms = 1, .forward_ms = 2, .backward_ms = 4}};
  CHECK(step_through(small_study(2, 1, 1), two_servers) == Times{9, 15});
  CHECK(step_through(small_study(2, 1, 1), two_servers, {.late_release = true}) == Times{9, 15});
}

TEST_CASE("skipped job: a step that places a job passes over the next one of the queue") {
  // Four jobs, each with a GPU of its own. The step at 0 places A, passes over B, places C and passes over D. The step
  // at 1 places B and passes over D again.
  const std::vector<SteppedJob> jobs{{.backward_ms = 1}, {.backward_ms = 2}, {.backward_ms = 3}, {.backward_ms = 4}};
  const SteppedStudy study = small_study(1, 4, 1);
  CHECK(step_through(study, jobs) == Times{2, 3, 4, 5});
  CHECK(step_through(study, jobs, {.skipped_job = true}) == Times{2, 4, 4, 7});
  CHECK(step_through(study, jobs, {.late_release = true}) == Times{2, 3, 4, 5});

  // A job that finds no place is not passed over for: at 1 A holds a GPU of two, B needs both, and C takes the other.
  const std::vector<SteppedJob> refused{
      {.backward_ms = 9}, {.submit_ms = 1, .gpus = 2}, {.submit_ms = 1, .backward_ms = 4}};
  CHECK(step_through(small_study(1, 2, 1), refused) == Times{10, 12, 6});
  CHECK(step_through(small_study(1, 2, 1), refused, {.skipped_job = true}) == Times{10, 12, 6});
}

TEST_CASE("both rules: a job waits for the late release and then for its turn") {
  // Two GPUs with memory for one job each, which A and B hold until 5 and 6. C and D wait. By the rules C takes A's GPU
  // at 6, where the step passes over D, and B's GPU is free at 7.
  const std::vector<SteppedJob> jobs{
      {.backward_ms = 4}, {.backward_ms = 5}, {.submit_ms = 2, .backward_ms = 6}, {.submit_ms = 2, .backward_ms = 7}};
  const SteppedStudy study = small_study(1, 2, 1);
  CHECK(step_through(study, jobs) == Times{5, 6, 12, 14});
  // B itself is passed over at 0, so it ends at 7 and D starts at 8.
  CHECK(step_through(study, jobs, {.late_release = true, .skipped_job = true}) == Times{5, 7, 13, 16});
}

TEST_CASE("without the unwritten rules the engine ends each job at the nanosecond of the time stepper") {
  // Ten servers of two GPUs with memory for three or four jobs, so that jobs of up to 16 GPUs wait for memory.
  int sets = 0, moved = 0;
  for (std::uint64_t seed = 1; seed <= effort(10U); ++seed) {
    for (const TimeSteppedRow& row : time_stepped_policies()) {
      CAPTURE(seed);
      CAPTURE(row.policy());
      Scenario scenario = drawn_scenario(row, Time::milliseconds(1));
      scenario.cluster.servers = 10;
      scenario.cluster.gpus_per_server = 2;
      scenario.cluster.gpu_memory = Bytes::mebibytes(12288);
      GeneratedWorkload& mix = scenario.workload.generate;
      mix.sizes = {{1, 20}, {2, 10}, {4, 10}, {8, 6}, {16, 2}};
      mix.min_iterations = 2;
      mix.max_iterations = 12;
      mix.arrival_window = Time::seconds(1);
      const Workload workload = scenario_workload(scenario, seed);
      SteppedStudy study = stepped_study(row);
      study.servers = scenario.cluster.servers;
      study.gpus_per_server = scenario.cluster.gpus_per_server;
      study.gpu_memory = scenario.cluster.gpu_memory;
      const std::vector<SteppedJob> jobs = stepped_jobs(workload);
      const Times finish_ms = step_through(study, jobs);
      const RunResult engine = run_workload(scenario, workload, seed);
      REQUIRE(engine.jobs.size() == finish_ms.size());
      for (std::size_t i = 0; i < finish_ms.size(); ++i) {
        CAPTURE(i);
        CHECK(engine.jobs[i].finish == Time::milliseconds(finish_ms[i]));
      }
      ++sets;
      if (step_through(study, jobs, {.late_release = true, .skipped_job = true}) != finish_ms) ++moved;
    }
  }
  CHECK(moved > sets / 2);  // jobs do wait for memory: otherwise the rules would change nothing
}

TEST_CASE("the time stepper refuses scenarios that it can't run") {
  const auto refusal = [](const SteppedStudy& study, const SteppedJob& job) -> std::string {
    try {
      static_cast<void>(step_through(study, std::vector<SteppedJob>{job}));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  const SteppedStudy study = small_study(2, 1, 1);
  CHECK(refusal(study, {.gpus = 2}).empty());
  CHECK(refusal(study, {.gpus = 3}).find("needs 3 GPUs with 1 bytes; the cluster has 2 with 1") != std::string::npos);
  CHECK(refusal(study, {.memory = Bytes{2}}).find("needs 1 GPUs with 2 bytes") != std::string::npos);
  CHECK(refusal(study, {.forward_ms = 0}).find("must be at least 1") != std::string::npos);
  SteppedStudy wide = study;
  wide.ways = 5;
  CHECK(refusal(wide, {}).find("ways is 5; it must be from 1 to 4") != std::string::npos);

  const auto workload = [](const JobRequest& job) { return build_workload({job}); };
  CHECK(stepped_jobs(workload({.name = "a", .submit = Time::milliseconds(3), .model = "lstm"}))[0].submit_ms == 3);
  const JobRequest between_ms{.name = "a", .submit = Time::microseconds(3'500), .model = "lstm"};
  CHECK_THROWS_AS(static_cast<void>(stepped_jobs(workload(between_ms))), InputError);
  const JobRequest timed{.name = "a", .submit = Time{}, .model = "lstm", .duration = Time::seconds(1)};
  CHECK_THROWS_AS(static_cast<void>(stepped_jobs(workload(timed))), InputError);
}
