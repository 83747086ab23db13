// Finish-time fairness, Jain's index, deadlines: worked by hand on jobs whose times are written down.

#include "sim/fairness.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Lived {
  int gpus;
  std::int64_t submit_s, own_s, finish_s;
};

/// Jobs that were submitted and finished then, on a cluster with so many GPUs.
RunResult lived(const ClusterSpec& cluster, Workload& workload, const std::vector<Lived>& jobs) {
  RunResult result;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    JobSpec spec;
    spec.gpus = jobs[j].gpus;
    spec.submit = Time::seconds(jobs[j].submit_s);
    spec.duration = Time::seconds(jobs[j].own_s);
    if (!workload.paces.empty()) spec.pace = 0;
    workload.jobs.push_back(spec);
    JobResult job;
    job.id = JobId{j};
    job.gpus = spec.gpus;
    job.state = JobState::finished;
    job.submit = job.start = spec.submit;
    job.finish = Time::seconds(jobs[j].finish_s);
    job.own = *spec.duration;
    result.jobs.push_back(job);
    result.end = std::max(result.end, job.finish);
  }
  add_finish_time_fairness(cluster, workload, result);
  return result;
}

ClusterSpec cluster_of_gpus(int number) {
  ClusterSpec cluster;
  cluster.gpus_per_server = number;
  cluster.gpu_memory = Bytes{1};
  return cluster;
}

}  // namespace

TEST_CASE("rho: two equal jobs side by side on two GPUs get exactly their share") {
  Workload workload;
  const RunResult result = lived(cluster_of_gpus(2), workload, {{1, 0, 10, 10}, {1, 0, 10, 10}});
  for (const JobResult& job : result.jobs) CHECK(*job.rho == near(1));
  const Summary summary = summarise(result);
  CHECK(summary.avg_rho == near(1));
  CHECK(summary.max_rho == near(1));
  CHECK(summary.unfair_share == 0);
  CHECK(summary.jain_index == near(1));
}

TEST_CASE("rho: n is the mean number of jobs over the life of each") {
  // One GPU. A runs 0-10, B waits and runs 10-20. A lives with 2 jobs: alone on half a GPU it takes 20. B lives with 2
  // jobs for half of its time and then with 1: on 1/1.5 of the GPU it takes 15.
  Workload workload;
  const RunResult result = lived(cluster_of_gpus(1), workload, {{1, 0, 10, 10}, {1, 0, 10, 20}});
  CHECK(*result.jobs[0].rho == near(10.0 / 20));
  CHECK(*result.jobs[1].rho == near(20.0 / 15));
  const Summary summary = summarise(result);
  CHECK(summary.unfair_share == near(0.5));
  CHECK(summary.max_rho == near(4.0 / 3));
  CHECK(summary.jain_index == near((2 + 0.75) * (2 + 0.75) / (2 * (4 + 0.75 * 0.75))));
}

TEST_CASE("rho: a share of more GPUs than the job asks for makes it no faster than it is") {
  Workload workload;
  const RunResult result = lived(cluster_of_gpus(8), workload, {{2, 0, 10, 10}, {1, 0, 10, 30}});
  CHECK(*result.jobs[0].rho == near(1));
  CHECK(*result.jobs[1].rho == near(3));
}

TEST_CASE("rho: on two types a share is one of each") {
  // One GPU each, the second three times as fast. Two jobs live together for 10 s: x = 1/2 on each type, which is 2 s
  // of work in a second. Alone in a share, 30 s of work take 15 s.
  ClusterSpec cluster = cluster_of_gpus(1);
  cluster.servers = 2;
  cluster.types = {{"slow", 1, 1, Bytes{1}, 0}, {"fast", 1, 1, Bytes{1}, 0}};
  Workload workload;
  workload.paces = {{{.together = kNominalPace}, {.together = kNominalPace / 3}}};
  const RunResult result = lived(cluster, workload, {{1, 0, 30, 10}, {1, 0, 10, 10}});
  CHECK(*result.jobs[0].rho == near(10.0 / 15, 1e-8));
  CHECK(*result.jobs[1].rho == near(10.0 / 5, 1e-8));
}

TEST_CASE("deadlines and costs count over the jobs that have them") {
  Workload workload;
  RunResult result = lived(cluster_of_gpus(2), workload, {{1, 0, 10, 10}, {1, 0, 10, 20}, {1, 5, 10, 30}});
  CHECK(std::isnan(summarise(result).deadlines_met));
  CHECK(std::isnan(summarise(result).cost));
  result.jobs[0].deadline = Time::seconds(10);
  result.jobs[1].deadline = Time::seconds(19);
  result.jobs[2].state = JobState::queued;  // the run stopped: it has not met it
  result.jobs[2].deadline = Time::seconds(99);
  CHECK(summarise(result).deadlines_met == near(1.0 / 3));
  result.jobs[0].cost = 1.5;
  result.jobs[2].cost = 0.25;
  CHECK(summarise(result).cost == near(1.75));
}
