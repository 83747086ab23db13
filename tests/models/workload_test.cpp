#include "models/workload.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

bool same(const JobRequest& a, const JobRequest& b) {
  return a.name == b.name && a.submit == b.submit && a.model == b.model && a.gpus == b.gpus &&
         a.iterations == b.iterations;
}

}  // namespace

TEST_CASE("the default mix is the mix of the reference: 160 jobs, counts by size, ranges inclusive") {
  std::set<std::string> models;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<JobRequest> jobs = generate_jobs({}, seed);
    REQUIRE(jobs.size() == 160);
    std::map<int, int> by_size;
    int sum = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      ++by_size[jobs[i].gpus];
      sum += jobs[i].gpus;
      CHECK(jobs[i].iterations >= 1000);
      CHECK(jobs[i].iterations <= 6000);
      CHECK(jobs[i].submit >= Time{});
      CHECK(jobs[i].submit < Time::seconds(1200));
      CHECK(jobs[i].submit.ns() % 1'000'000 == 0);
      CHECK(jobs[i].name == "job-" + std::to_string(i));
      if (i > 0) CHECK(jobs[i - 1].submit <= jobs[i].submit);
      models.insert(jobs[i].model);
    }
    CHECK(by_size == std::map<int, int>{{1, 80}, {2, 14}, {4, 26}, {8, 30}, {16, 8}, {32, 2}});
    CHECK(sum == 644);
  }
  CHECK(models == std::set<std::string>{"inception-v3", "lstm", "resnet50", "vgg16"});
}

TEST_CASE("both ends of a range are drawn, a range of one value is that value") {
  GeneratedWorkload mix;
  mix.sizes = {{1, 400}};
  mix.min_iterations = 3;
  mix.max_iterations = 6;
  mix.arrival_window = Time::milliseconds(4);
  std::map<std::int64_t, int> iterations, submits;
  for (const JobRequest& job : generate_jobs(mix, 5)) {
    ++iterations[job.iterations];
    ++submits[job.submit.ns() / 1'000'000];
  }
  // 100 each expected, deviation sqrt(400 x 0.25 x 0.75) = 8.7.
  CHECK(iterations.size() == 4);
  CHECK(iterations.begin()->first == 3);
  CHECK(iterations.rbegin()->first == 6);
  CHECK(submits.size() == 4);
  CHECK(submits.begin()->first == 0);
  CHECK(submits.rbegin()->first == 3);
  for (const auto& entry : iterations) CHECK_MESSAGE(std::abs(entry.second - 100) < 44, entry.first);
  for (const auto& entry : submits) CHECK_MESSAGE(std::abs(entry.second - 100) < 44, entry.first);

  mix.max_iterations = 3;
  mix.arrival_window = Time{};
  for (const JobRequest& job : generate_jobs(mix, 5)) {
    CHECK(job.iterations == 3);
    CHECK(job.submit == Time{});
  }
}

TEST_CASE("the same seed gives the same jobs, another seed others") {
  const auto once = generate_jobs({}, 42), again = generate_jobs({}, 42), other = generate_jobs({}, 43);
  CHECK(std::equal(once.begin(), once.end(), again.begin(), again.end(), same));
  CHECK_FALSE(std::equal(once.begin(), once.end(), other.begin(), other.end(), same));
}

TEST_CASE("changing one range leaves the other columns as they are") {
  // Arrivals decide the order, so jobs are compared before it matters: with equal windows the order is the same.
  GeneratedWorkload longer, others;
  longer.min_iterations = 10;
  longer.max_iterations = 70'000;
  others.models = {"lstm", "vgg16"};
  const auto base = generate_jobs({}, 7), with_longer = generate_jobs(longer, 7),
             with_others = generate_jobs(others, 7);
  int iterations_changed = 0, models_changed = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    CHECK(with_longer[i].submit == base[i].submit);
    CHECK(with_longer[i].model == base[i].model);
    CHECK(with_longer[i].gpus == base[i].gpus);
    iterations_changed += with_longer[i].iterations != base[i].iterations ? 1 : 0;
    CHECK(with_others[i].submit == base[i].submit);
    CHECK(with_others[i].iterations == base[i].iterations);
    CHECK(with_others[i].gpus == base[i].gpus);
    models_changed += with_others[i].model != base[i].model ? 1 : 0;
  }
  CHECK(iterations_changed > 150);
  CHECK(models_changed > 50);

  // Another window: models and iterations are the same as a set.
  GeneratedWorkload dense;
  dense.arrival_window = Time::seconds(10);
  const auto columns = [](const std::vector<JobRequest>& jobs) {
    std::multiset<std::tuple<std::string, int, std::int64_t>> result;
    for (const JobRequest& job : jobs) result.emplace(job.model, job.gpus, job.iterations);
    return result;
  };
  CHECK(columns(generate_jobs(dense, 7)) == columns(base));
}

TEST_CASE("build_workload: jobs keep their order, and jobs of one model and size share a graph") {
  const std::vector<JobRequest> requests{{"a", Time::seconds(1), "vgg16", 4, 10},
                                         {"b", Time::seconds(2), "lstm", 4, 20},
                                         {"c", Time::seconds(3), "vgg16", 4, 30},
                                         {"d", Time::seconds(4), "vgg16", 8, 40}};
  const Workload workload = build_workload(requests);
  REQUIRE(workload.jobs.size() == 4);
  CHECK(workload.graphs.size() == 3);
  CHECK(workload.jobs[0].graph == workload.jobs[2].graph);
  CHECK(workload.jobs[0].graph != workload.jobs[1].graph);
  CHECK(workload.jobs[0].graph != workload.jobs[3].graph);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const JobSpec& job = workload.jobs[i];
    CHECK(job.name == requests[i].name);
    CHECK(job.model == requests[i].model);
    CHECK(job.submit == requests[i].submit);
    CHECK(job.gpus == requests[i].gpus);
    CHECK(job.iterations == requests[i].iterations);
    CHECK(job.memory_per_gpu == find_training_profile(requests[i].model)->memory);
    CHECK(workload.graphs[job.graph].ranks() == job.gpus);
    CHECK(workload.graphs[job.graph].ops()[0].duration == find_training_profile(requests[i].model)->forward);
  }
}

TEST_CASE("build_workload: an unknown model is named with its job") {
  try {
    build_workload({{"j7", Time{}, "resnet", 1, 1}});
    FAIL("accepted");
  } catch (const InputError& error) {
    const std::string text = error.what();
    CHECK(text.find("`j7`") != std::string::npos);
    CHECK(text.find("`resnet`") != std::string::npos);
  }
}

TEST_CASE("jobs submitted at the same time keep the order in which the mix lists their sizes") {
  GeneratedWorkload mix;
  mix.sizes = {{4, 3}, {1, 2}, {2, 40}};
  mix.arrival_window = Time::milliseconds(1);
  const std::vector<JobRequest> jobs = generate_jobs(mix, 1);
  REQUIRE(jobs.size() == 45);
  for (std::size_t i = 0; i < jobs.size(); ++i) CHECK(jobs[i].gpus == (i < 3 ? 4 : i < 5 ? 1 : 2));
}

TEST_CASE("the GPU time of a job counts its failed attempts, its GPUs and its share of one") {
  JobRequest job;
  job.model = "vgg16";  // 36 ms forward, 54 ms backward
  job.iterations = 100;
  job.gpus = 2;
  CHECK(profile_iteration(job.model) == Time::milliseconds(90));
  CHECK(gpu_seconds_of(job) == near(18));
  job.duration = Time::seconds(10);
  job.attempts = {Time::seconds(3), Time::seconds(1)};
  CHECK(gpu_seconds_of(job) == near(28));
  job.gpus = 1;
  job.gpu_share = 250;
  CHECK(gpu_seconds_of(job) == near(3.5));
}
