// Jobs that are post-trained by RL, from scenarios, by hand: a token takes 1 us and nothing else takes time in the
// pool.

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/lone_job.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A server of two GPUs, and a job on both whose groups are of two answers of five tokens.
struct PostTrained : ListedJobs {
  explicit PostTrained(const std::string& mode, const std::string& pool = "", const std::string& training = "time: 4us",
                       const std::string& more = "") {
    scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: 2}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {}}}\nserving: {{pool: {{step: {{weights: 1us}}{}}}}}\n"
        "rl: {{math: {{rollout: pool, training: {{{}}}, trainings: 2, groups: 2, answers: 2, answer: {{mean: 5}}, "
        "reward: 500ns, weights: 1us, {}}}}}\n{}",
        file("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,math,2,\n"), pool, training, mode, more));
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

TEST_CASE("rl jobs: weights as bytes take their time at a rate, or over the network between both sides") {
  const RunResult result = PostTrained{"rollout_gpus: 1, weights_bytes: 1MB, weights_rate: 1000GB/s"}.run();
  CHECK(result.jobs[0].finish == us_tenths(2 * (50 + 5 + 40 + 10 + 10)));
  PostTrained far{"rollout_gpus: 1, weights_bytes: 1MB"};
  far.scenario.cluster.servers = 2;
  far.scenario.cluster.gpus_per_server = 1;
  far.scenario.network.nic = ByteRate{1e12};
  far.scenario.network.alpha = Time::microseconds(2);
  CHECK(far.run().jobs[0].finish == us_tenths(2 * (50 + 5 + 40 + 10 + 10 + 20)));
}

TEST_CASE("rl jobs: without answers of older weights both sides take turns, as in the synchronous mode") {
  const RunResult result = PostTrained{"rollout_gpus: 1, mode: asynchronous, eta: 0"}.run();
  CHECK(result.jobs[0].finish == us_tenths(2 * (50 + 5 + 40 + 10)));
  CHECK(summarise(result).answers.staleness_max == 0);
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

TEST_CASE("rl jobs: side by side, with groups that are a version old") {
  const RunResult result = PostTrained{"rollout_gpus: 1, mode: asynchronous"}.run();
  // Four groups begin, of which two are trained from 5.5 to 9.5 and two, with the new weights of 10.5, until 14.5.
  CHECK(result.jobs[0].finish == us_tenths(155));
  const ServiceFigures figures = summarise(result).answers;
  CHECK(figures.staleness_max == 1);
  CHECK(figures.staleness_mean == near(0.5));
  CHECK(figures.rl.trainer_wait_s == near(2.75e-6));
  CHECK(figures.rl.pool_wait_s == near(2.75e-6));  // from 5 to 10.5, then two more groups are begun
  CHECK(figures.rl.group_s == near(5.5e-6));
}

TEST_CASE("rl jobs: an entry of training says how long a token takes") {
  const PostTrained trained{
      "rollout_gpus: 1", "", "entry: tiny",
      "training: {tiny: {transformer: {layers: 2, hidden: 256, heads: 4, feed_forward: 1024, vocabulary: 1000}, "
      "sequence: 512, batch: 2, device: H100-SXM, parallel: {zero: 0}}}\n"};
  const Time iteration = lone_iteration(trained.scenario, "tiny", 1);
  // Four answers of 5 tokens to prompts of 1, of an iteration of 1,024 tokens.
  const Time training = Time::ceil_nanoseconds(static_cast<double>(iteration.ns()) / 1024 * 24);
  CHECK(trained.run().jobs[0].finish == 2 * (us_tenths(65) + training));
}

TEST_CASE("rl jobs: members of an entry stand in sweeps") {
  const PostTrained trained{"rollout_gpus: 1"};
  const auto key = std::ranges::find(scenario_keys(), "rl", &ScenarioKey::path);
  for (const auto& [part, text] :
       {std::pair{"math.training.time", "4us"}, {"math.rollout_gpus", "1"}, {"math.mode", "synchronous"}})
    CHECK(key->io->part(trained.scenario, part)->text == text);
}

TEST_CASE("rl jobs: what can't be is refused at its place") {
  const auto faults = [](const std::string& members) {
    return errors_of("serving: {pool: {step: {weights: 1us}, gpus_per_replica: 2}}\nrl: {math: {" + members + "}}");
  };
  const auto says = [&](const std::string& members, const std::string& words) {
    const std::string all = faults(members);
    INFO(all);
    CHECK(all.find(words) != std::string::npos);
  };
  const std::string whole = "rollout: pool, training: {time: 1s}";
  CHECK(faults(whole) == "");
  says("training: {time: 1s}", "rl.math: rollout is missing");
  says("rollout: pool", "rl.math: training is missing");
  says("rollout: chat, training: {time: 1s}", "rl.math.rollout: chat is no entry of serving");
  says(whole + ", rollout_gpus: 3", "rl.math.rollout_gpus: 3 GPUs are no whole replicas, each of which has 2");
  says(whole + ", eta: 2", "rl.math.eta: is for mode: asynchronous");
  CHECK(faults(whole + ", rollout_gpus: 2, mode: asynchronous, eta: 0") == "");
  says(whole + ", answer: {quantiles: [9, 3]}",
       "rl.math.answer.quantiles: expected at least two lengths that don't fall");
  says(whole + ", answer: {mean: 5, quantiles: [1, 3]}", "rl.math.answer: quantiles are the whole law");
  says(whole + ", mode: one-step-off", "rl.math: rollout_gpus is missing");
  says(whole + ", rollout_gpus: 2, switch: 1s", "rl.math.switch: no GPU changes sides");
  says(whole + ", rollout_gpus: 2, mode: asynchronous, partial: false, recompute: true",
       "rl.math.recompute: no answer");
  says("rollout: pool, training: {entry: big}", "rl.math.training.entry: big is no entry of training");
}

TEST_CASE("rl jobs: jobs that can't generate or train are refused at their row or entry") {
  const auto says = [](const PostTrained& trained, const std::string& words) {
    const std::string all = trained.refusals();
    INFO(all);
    CHECK(all.find(words) != std::string::npos);
  };
  says(PostTrained{"rollout_gpus: 2"}, "jobs.csv:2: gpus: rl.math.rollout_gpus, 2, are all that the job has");
  says(PostTrained{"rollout_gpus: 1", ", block: 1, blocks: 4"}, "rl.math: a request of 1 + 5 tokens doesn't fit");
  says(PostTrained{"switch: 0s", ", gpus_per_replica: 4"}, "jobs.csv:2: gpus: expected a multiple of 4");
  says(PostTrained{"rollout_gpus: 1", "", "entry: images", "training: {images: {model: resnet50, batch: 8}}\n"},
       "rl.math.training.entry: an iteration of training.images has no tokens");
}
