// Jobs that are post-trained by RL, from scenarios, by hand: a token takes 1 us and nothing else takes time in the
// pool.

#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A server of two GPUs, and a job on both whose groups are of two answers of five tokens.
struct PostTrained : ListedJobs {
  explicit PostTrained(const std::string& mode) {
    scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: 2}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {}}}\nserving: {{pool: {{step: {{weights: 1us}}}}}}\n"
        "rl: {{math: {{rollout: pool, training: {{time: 4us}}, trainings: 2, groups: 2, answers: 2, answer: {{mean: "
        "5}},"
        " reward: 500ns, weights: 1us, {}}}}}\n",
        file("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,math,2,\n"), mode));
  }
};

Time us_tenths(std::int64_t tenths) {
  return Time::nanoseconds(100 * tenths);
}

}  // namespace

TEST_CASE("rl jobs: in turn on GPUs of their own for each side") {
  const RunResult result = PostTrained{"rollout_gpus: 1"}.run();
  CHECK(result.jobs[0].finish == us_tenths(2 * (50 + 5 + 40 + 10)));
  CHECK(result.gpus[0].busy == us_tenths(100));  // answers
  CHECK(result.gpus[1].busy == us_tenths(80));   // trains
  const ServiceFigures figures = summarise(result).answers;
  CHECK(figures.rl.step_s == near(10.5e-6));
  CHECK(figures.rl.group_s == near(5.5e-6));
  CHECK(figures.rl.trainer_wait_s == near(5.5e-6));
  CHECK(figures.rl.pool_wait_s == near(5.5e-6));
  CHECK(figures.staleness_max == 0);
}

TEST_CASE("rl jobs: in turn on all GPUs, which change sides") {
  const RunResult result = PostTrained{"switch: 700ns"}.run();
  CHECK(result.jobs[0].finish == us_tenths(2 * (50 + 5 + 7 + 40 + 10 + 7)));
  CHECK(result.gpus[0].busy == us_tenths(180));
}

TEST_CASE("rl jobs: one step off, the second batch is generated while the first is trained") {
  const RunResult result = PostTrained{"rollout_gpus: 1, mode: one-step-off"}.run();
  // 5.5 generate; 5.5 the next one beside the training of 4; 1 weights, 4 training, 1 weights.
  CHECK(result.jobs[0].finish == us_tenths(55 + 55 + 10 + 40 + 10));
  CHECK(summarise(result).answers.staleness_max == 1);
  CHECK(summarise(result).answers.staleness_mean == near(0.5));
}
