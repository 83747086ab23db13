// Jobs in the middle of their lives, and forecasts of starts.
#include "scenarios/twin/twin.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// A scenario of two servers of four GPUs with this policy and job list.
struct SnapshotCase : ListedJobs {
  SnapshotCase(const std::string& policy, const std::string& jobs) {
    const std::string list = file("now.csv", jobs);
    scenario = parse_scenario("schema_version: 2\ncluster: {servers: 2, gpus_per_server: 4}\npolicies: {scheduling: " +
                                  policy + ", placement: consolidated}\nworkload: {jobs: " + list + "}\n",
                              "now.yaml");
  }
};

/// The starts by job under `policy`, in seconds.
std::map<std::string, double> starts_under(const std::string& policy, const std::string& jobs) {
  std::map<std::string, double> starts;
  for (const JobResult& job : SnapshotCase{policy, jobs}.run().jobs) starts[job.name] = job.start.to_seconds();
  return starts;
}

TwinJobs twin_jobs_of(const ListedJobs& listed) {
  JobLists lists;
  return {.list = *scenario_jobs(listed.scenario, 1, lists)};
}

TEST_CASE("a job with elapsed_s runs at time 0 where it is, under any policy, for the rest of its duration") {
  // `short` is first under SJF and would fit on server 0, but `long` runs there, and ends after 300 s.
  const std::string jobs =
      "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,place\n"
      "short,0,4,10,10,,\nlong,0,4,1000,1200,700,server0\nother,0,4,500,500,100,server1\nlast,0,8,20,20,,\n";
  for (const char* const policy : {"fifo", "sjf", "easy", "conservative"}) {
    CAPTURE(policy);
    std::map<std::string, double> starts = starts_under(policy, jobs);
    CHECK(starts["long"] == 0);
    CHECK(starts["other"] == 0);
    CHECK(starts["short"] == 300);
    CHECK(starts["last"] == 400);  // `other` ends at 400
  }
}

TEST_CASE("a list with running jobs can't be scaled") {
  SnapshotCase listed("fifo", "job_id,submit_s,gpus,duration_s,elapsed_s\na,0,4,100,50\nb,0,4,10,\n");
  listed.scenario.workload.synthetic.durations = 2;
  CHECK(listed.refusals().find("elapsed_s: jobs that run at time 0 are of one instant") != std::string::npos);
}

TEST_CASE("without spread the twin gives the starts that Slurm plans: example S1 of a real slurmctld") {
  // Minutes: a 2 GPUs on server 0, limit 100; b 2 GPUs on server 1, 1000; big 4 GPUs 50, c 2 GPUs 1000, d 2 GPUs 90.
  // Slurm plans big at 100 on server 0 and starts c on server 1, d on server 0.
  const SnapshotCase listed("{policy: slurm-backfill, bf_interval_s: 1}",
                            "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,place\n"
                            "a,0,2,6000,6000,600,server0:0-1\nb,0,2,60000,60000,0,server1:0-1\n"
                            "big,0,4,3000,3000,,\nc,0,2,60000,60000,,\nd,0,2,5300,5300,,\n");
  const std::vector<StartForecast> forecasts = forecast_starts(listed.scenario, twin_jobs_of(listed), {.draws = 3});
  REQUIRE(forecasts.size() == 3);
  CHECK(forecasts[0].by_limits_s == 5400);  // a ends after the 90 minutes that it has left
  CHECK(forecasts[0].quantile(0.05) == 5400);
  CHECK(forecasts[0].quantile(0.95) == 5400);
  for (const std::size_t job : {1U, 2U}) {
    CHECK(forecasts[job].by_limits_s <= 2);
    CHECK(forecasts[job].quantile(0.5) == forecasts[job].by_limits_s);
  }
}

/// How often the durations of a job are drawn, by seconds.
std::map<double, double> shares_of(const RunHistory& history, const JobRequest& job) {
  std::map<double, double> shares;
  RandomStream random{1, "shares"};
  constexpr int kTimes = 20'000;
  for (int i = 0; i < kTimes; ++i) {
    const double of_user = random.uniform(), of_all = random.uniform();
    shares[std::round(history.draw(job, {of_user, of_all}).to_seconds())] += 1.0 / kTimes;
  }
  return shares;
}

JobRequest ended_job(const std::string& user, int duration_s, int limit_s) {
  JobRequest job;
  job.name = "j";
  job.user = user;
  job.duration = Time::seconds(duration_s);
  if (limit_s > 0) job.limit = Time::seconds(limit_s);
  return job;
}

TEST_CASE("durations are drawn from the user's own jobs that ran longer, then from all users', then it is the limit") {
  const std::vector<JobRequest> ended{ended_job("ann", 100, 0), ended_job("ann", 200, 0), ended_job("ann", 300, 0),
                                      ended_job("ben", 1000, 0)};
  const RunHistory history{ended};
  JobRequest job = ended_job("ann", 5000, 0);
  job.elapsed = Time::seconds(150);
  // Of ann's 200 and 300: 1/3 each; else, 1/3, one of 200, 300, 1000 and the job's own 5000.
  std::map<double, double> shares = shares_of(history, job);
  CHECK(shares.size() == 4);
  CHECK(std::abs(shares[200] - (1.0 / 3 + 1.0 / 12)) < 0.02);
  CHECK(std::abs(shares[300] - (1.0 / 3 + 1.0 / 12)) < 0.02);
  CHECK(std::abs(shares[1000] - 1.0 / 12) < 0.02);
  CHECK(std::abs(shares[5000] - 1.0 / 12) < 0.02);

  job.elapsed = Time::seconds(2000);  // longer than all
  CHECK(shares_of(history, job).size() == 1);
  CHECK(RunHistory{}.jobs() == 0);
}

TEST_CASE("with limits a duration is a part of the limit, and a job that has overrun it ends within a second") {
  const std::vector<JobRequest> ended{ended_job("ann", 50, 100), ended_job("ann", 300, 400)};
  JobRequest job = ended_job("ann", 2000, 2000);
  job.elapsed = Time::seconds(1200);  // a half of 2000 s is over; three quarters are not
  std::map<double, double> shares = shares_of(RunHistory{ended}, job);
  CHECK(shares.size() == 2);
  CHECK(std::abs(shares[1500] - 0.75) < 0.02);  // 1/2 of ann's, and 1/2 of the other half
  job.elapsed = Time::seconds(3000);
  CHECK(duration_by_limit(job) == Time::seconds(3001));
}

TEST_CASE("intervals follow from the draws, and arrivals of more urgent users come before a job that waits") {
  const std::string jobs =
      "job_id,submit_s,gpus,duration_s,elapsed_s,user,priority\nrun,0,8,1000,0,ann,1\nwait,0,8,50,,ben,1\n";
  const SnapshotCase listed("fifo", jobs);
  TwinJobs twin = twin_jobs_of(listed);
  twin.history = RunHistory{std::vector<JobRequest>{ended_job("ann", 100, 0), ended_job("ann", 300, 0)}};
  const std::vector<StartForecast> forecasts =
      forecast_starts(listed.scenario, twin, {.draws = 300, .seed = 5, .threads = 2});
  REQUIRE(forecasts.size() == 1);
  CHECK(forecasts[0].by_limits_s == near(1000));
  CHECK(forecasts[0].quantile(0.25) == 100);  // 100 and 300 with 4/9 each, 1000 with 1/9
  CHECK(forecasts[0].quantile(0.75) == 300);
  CHECK(forecasts[0].quantile(1) == near(1000));
  CHECK(forecast_starts(listed.scenario, twin, {.draws = 300, .seed = 5})[0].draws_s == forecasts[0].draws_s);

  // Under shortest-first an arrival of 10 s overtakes `wait`; the two arrivals come 0 and 40 s after the snapshot.
  const SnapshotCase sjf("sjf", jobs);
  TwinJobs behind = twin_jobs_of(sjf);
  JobRequest short_job = ended_job("cy", 10, 0);
  short_job.gpus = 8;
  JobRequest later_job = short_job;
  later_job.submit = Time::seconds(40);
  behind.arrivals = arrivals_like(sjf.scenario.cluster, behind.list, {short_job, later_job}, "arrivals.csv");
  CHECK(behind.arrivals[0].priority == 1);
  CHECK(forecast_starts(sjf.scenario, behind, {.draws = 2})[0].quantile(0.5) == near(1020));
}

TEST_CASE("the jobs of a user are long or short together") {
  // Three jobs of 8 GPUs follow each other: `last` starts after two of 100 or 1000 s, half of the time each. Together:
  // 200 or 2000; apart: also 1100, in half of the draws. The base of the process takes a third of each.
  const SnapshotCase listed("fifo",
                            "job_id,submit_s,gpus,duration_s,elapsed_s,user\nrun,0,8,1000,0,ann\nnext,0,8,1000,,ann\n"
                            "last,0,8,10,,ben\n");
  TwinJobs twin = twin_jobs_of(listed);
  twin.history = RunHistory{std::vector<JobRequest>{ended_job("ann", 100, 0), ended_job("ann", 1000, 0)}};
  const auto mixed = [&](bool alike) {
    const auto forecasts = forecast_starts(listed.scenario, twin, {.draws = 400, .seed = 3, .alike = alike});
    const auto& draws = forecasts.back().draws_s;
    return std::ranges::count_if(draws, [](double start) { return start > 300 && start < 1900; });
  };
  CHECK(mixed(true) == 0);
  CHECK(mixed(false) > 100);
}

TEST_CASE("a job that never starts in some draws has no upper end of its interval") {
  StartForecast forecast{.draws_s = {1, 2, 3, std::numeric_limits<double>::infinity()}};
  CHECK(forecast.quantile(0) == 1);
  CHECK(forecast.quantile(0.5) == 2.5);
  CHECK(std::isinf(forecast.quantile(0.9)));
}

}  // namespace
}  // namespace contend
