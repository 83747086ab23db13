// The jobs of a run: virtual clusters that take all others, lists that are scaled and sampled, limits that kill.
#include "scenarios/run/scenario_jobs.hpp"

#include "scenarios/keys/print.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kList =
    "job_id,submit_s,gpus,duration_s,vc\n"
    "a,0,4,100,vision\n"
    "b,0,4,100,video\n"
    "c,0,4,100,speech\n"
    "d,0,4,100,\n";

/// A scenario whose job list, in a folder of its own, is `list`.
struct Listed {
  TemporaryFolder folder;
  Scenario scenario;
  Listed(const std::string& list, const std::string& cluster, const std::string& more = "",
         const std::vector<std::string>& overrides = {}) {
    write_file(folder.path("jobs.csv"), list);
    scenario = parsed(fmt::format("{}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
                                  "workload: {{jobs: {}{}}}\n",
                                  cluster, folder.path("jobs.csv"), more),
                      overrides);
  }
  [[nodiscard]] std::vector<JobRequest> jobs(std::uint64_t seed = 1) const {
    JobLists lists;
    return scenario_jobs(scenario, seed, lists)->jobs;
  }
  [[nodiscard]] std::string complaints() const {
    try {
      static_cast<void>(check_scenario(scenario));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }
};

std::vector<std::int64_t> start_seconds(const RunResult& run) {
  std::vector<std::int64_t> all;
  for (const JobResult& job : run.jobs) all.push_back(job.start.ns() / 1'000'000'000);
  return all;
}

}  // namespace

TEST_CASE("a virtual cluster with others: true takes the jobs of those that are not listed, and those without one") {
  const Listed with{kList,
                    "cluster: {servers: 3, gpus_per_server: 4, vcs: [{name: vision, servers: 1}, "
                    "{name: rest, gpus: 4, others: true}]}"};
  CHECK(with.complaints().empty());
  const RunResult run = run_scenario(with.scenario, 1);
  CHECK(run.jobs[0].vc == "vision");
  for (const std::size_t j : {1U, 2U, 3U}) CHECK(run.jobs[j].vc == "rest");
  // The others share one quota of 4 GPUs, though there are 8.
  CHECK(start_seconds(run) == std::vector<std::int64_t>{0, 0, 100, 200});

  // Without a quota they use all servers without an owner.
  const Listed free{kList,
                    "cluster: {servers: 4, gpus_per_server: 4, vcs: [{name: vision, servers: 1}, "
                    "{name: rest, others: true}]}"};
  CHECK(start_seconds(run_scenario(free.scenario, 1)) == std::vector<std::int64_t>{0, 0, 0, 0});
  CHECK(contains(to_yaml(free.scenario), "others: true"));

  // Generated jobs, too.
  const Scenario like = parsed(
      "cluster: {servers: 40, gpus_per_server: 8, vcs: [{name: rest, others: true}]}\nworkload: {like: philly, jobs: "
      "50}\n");
  JobLists lists;
  const std::shared_ptr<const JobList> drawn = scenario_jobs(like, 1, lists);
  REQUIRE(drawn->jobs.size() == 50);
  for (const JobRequest& job : drawn->jobs) CHECK(job.vc == "rest");
}

TEST_CASE("a check refuses jobs like the jobs of a trace if a seed draws one that is too large, and warns otherwise") {
  const auto check = [](const std::string& more) {
    return check_scenario(
        parsed("cluster: {servers: 1, gpus_per_server: 4}\nworkload: {like: philly, jobs: 200" + more + "}\n"));
  };
  const auto too_large = [](const std::vector<std::string>& warnings) {
    return std::ranges::count_if(warnings, [](const std::string& each) { return contains(each, "too large"); });
  };
  CHECK(too_large(check(", scaling: {largest: 4}")) == 0);
  try {
    static_cast<void>(check(""));
    FAIL("a job of more than four GPUs is drawn");
  } catch (const InputError& error) {
    CHECK_MESSAGE(contains(error.what(), "workload.like: the largest job of seed 1, "), error.what());
    CHECK(contains(error.what(), "GPUs, the cluster has 4 (1 x 4); workload.scaling.largest: 4 leaves such jobs out"));
  }
  // The run fails for such jobs, and for no others: a single job of one GPU is no fault.
  Scenario one = parsed("cluster: {servers: 1, gpus_per_server: 4}\nworkload: {like: philly, jobs: 1}\n");
  JobLists lists;
  std::uint64_t small = 1;
  while (scenario_jobs(one, small, lists)->jobs.front().gpus > 4) ++small;
  one.seed = small;
  CHECK(too_large(check_scenario(one)) == 1);
}

TEST_CASE("a check refuses generated jobs that need more memory than a GPU has") {
  const auto complaints = [](const std::string& memory) {
    try {
      static_cast<void>(check_scenario(parsed("cluster: {gpu_memory: " + memory + "}\n")));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(complaints("80GiB").empty());
  CHECK(contains(complaints("1GiB"), "cluster.gpu_memory: job "));
}

TEST_CASE("a check warns of time slices that end before any work is saved") {
  const auto warnings = [](const std::string& policy, const std::string& costs) {
    std::vector<std::string> all =
        check_scenario(parsed("cluster: {servers: 40, gpus_per_server: 8}\nworkload: {like: philly, jobs: 200}\n"
                              "policies: {scheduling: " +
                              policy + ", placement: first-fit}\ncheckpoints: {" + costs + "}\n"));
    std::erase_if(all, [](const std::string& each) { return each.starts_with("workload.like: "); });
    return all;
  };
  const std::string costs = "policy: synchronous, period: 10min, restart_cost: 30s";
  // 3250 GPU seconds are 203.125 s for 16 GPUs.
  const std::vector<std::string> las = warnings("las", costs);
  REQUIRE(las.size() == 1);
  CHECK_MESSAGE(contains(las[0], "under `las` a job of 16 GPUs has time slices of 203.125 s"), las[0]);
  CHECK_MESSAGE(contains(las[0], "it needs 630 s before any work is saved"), las[0]);
  const std::vector<std::string> gittins = warnings("gittins", costs);
  REQUIRE(gittins.size() == 1);
  CHECK_MESSAGE(contains(gittins[0], "under `gittins`"), gittins[0]);
  CHECK(warnings("{policy: las, slice_s: 629, gpu_time: false}", costs).size() == 1);
  CHECK(warnings("{policy: las, slice_s: 630, gpu_time: false}", costs).empty());
  CHECK(warnings("las", "restart_cost: 1s").empty());
  const std::vector<std::string> none = warnings("las", "policy: none");
  REQUIRE(none.size() == 1);
  CHECK_MESSAGE(contains(none[0], "nothing of its work is saved before it ends (checkpoints.policy: none)"), none[0]);
  CHECK(warnings("dlas-gpu", costs).empty());  // in the last queue a job keeps its GPUs
  CHECK(warnings("srtf", costs).empty());
}

TEST_CASE("a check warns of limits that kill a job again and again before any of its work is saved") {
  // Back from a checkpoint, a job needs 30 + 60 s before the next one. Job b ends before its limit, c has none.
  const std::string list = "job_id,submit_s,gpus,duration_s,limit_s\na,0,1,500,89\nb,0,1,80,85\nc,0,1,500,\n";
  const auto warnings = [&](const std::string& rules, const std::string& jobs) {
    return check_scenario(Listed{jobs, "cluster: {servers: 1, gpus_per_server: 4}\nscheduling: {kill_at_limit: true, " +
                                           rules +
                                           "}\ncheckpoints: {policy: synchronous, period: 1min, restart_cost: 30s}"}
                              .scenario);
  };
  const std::string comes_back = "retries: {timeout: {times: 3, from: checkpoint}}";
  const std::vector<std::string> told = warnings(comes_back, list);
  REQUIRE(told.size() == 1);
  CHECK_MESSAGE(contains(told[0],
                         "job \"a\" is killed after 89 s (limit_s), and when it comes back from its last "
                         "checkpoint it needs 90 s before any work is saved"),
                told[0]);
  CHECK_MESSAGE(contains(told[0], "1 of 3 jobs"), told[0]);
  CHECK(warnings(comes_back, "job_id,submit_s,gpus,duration_s,limit_s\na,0,1,500,90\n").empty());
  CHECK(warnings("", list).empty());  // killed once, it ends
}

TEST_CASE("jobs of virtual clusters that are not listed are bad rows, whose message says what would help") {
  const std::string cluster = "cluster: {servers: 3, gpus_per_server: 4, vcs: [{name: vision, servers: 1}]}";
  const std::string complaints = Listed{kList, cluster}.complaints();
  CHECK_MESSAGE(contains(complaints, "jobs.csv:3: vc: cluster.vcs has no virtual cluster \"video\""), complaints);
  CHECK_MESSAGE(contains(complaints,
                         "2 of 4 rows are bad; list these virtual clusters in cluster.vcs, let one of them "
                         "take all others by `others: true`, or ignore the virtual clusters of jobs by "
                         "--set cluster.vcs=[]"),
                complaints);
  // What the message names works.
  const Listed ignored{kList, cluster, "", {"cluster.vcs=[]"}};
  CHECK(ignored.complaints().empty());
  CHECK(start_seconds(run_scenario(ignored.scenario, 1)) == std::vector<std::int64_t>{0, 0, 0, 100});
}

TEST_CASE("others: true is refused where it has no meaning") {
  const auto errors = [](const std::string& vcs) { return errors_of("cluster: {vcs: " + vcs + "}\n"); };
  CHECK(contains(errors("[{name: a, others: true}, {name: b, gpus: 1, others: true}]"),
                 "`a` and `b` both have `others: true`"));
  CHECK(contains(errors("[{name: a, others: true, borrow: true}]"), "`a` has no quota"));
  CHECK(
      contains(errors("[{name: a, others: true, gpus: 1, servers: 1}]"), "`a` needs servers or gpus, one of the two"));
  CHECK(contains(errors("[{name: a}]"), "`a` needs servers or gpus, one of the two"));
}

TEST_CASE("workload.scaling applies to job lists") {
  const char* const cluster = "cluster: {servers: 2, gpus_per_server: 4}";
  const char* const list =
      "job_id,submit_s,gpus,duration_s,limit_s,attempts_s,measured_wait_s\n"
      "a,10,2,100,200,40,5\nb,20,8,60,,,\nc,30,1,500,,,7\n";
  const Listed half{list, cluster, ", scaling: {durations: 0.5, longest: 100s, largest: 4, rate: 2}"};
  const std::vector<JobRequest> jobs = half.jobs();
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].submit == Time::seconds(10));
  CHECK(jobs[0].duration == Time::seconds(50));
  CHECK(jobs[0].limit == Time::seconds(100));
  CHECK(jobs[0].attempts == std::vector{Time::seconds(20)});
  CHECK_FALSE(jobs[0].measured_wait.has_value());
  CHECK(jobs[1].name == "c");
  CHECK(jobs[1].submit == Time::seconds(20));
  CHECK(jobs[1].duration == Time::seconds(100));
  CHECK(Listed{list, cluster}.jobs()[2].measured_wait == Time::seconds(7));

  // The load is 2 x 140 + 8 x 60 + 500 = 1260 GPU seconds on 8 GPUs: at half of that load they come in 315 s.
  const std::vector<JobRequest> loaded = Listed{list, cluster, ", scaling: {load: 0.5}"}.jobs();
  CHECK(loaded[0].submit == Time::seconds(10));
  CHECK((loaded[2].submit - loaded[0].submit).to_seconds() == near(315, 1e-9));
  CHECK((loaded[1].submit - loaded[0].submit).to_seconds() == near(157.5, 1e-9));
  // Spares take the places of other servers, and no load: with three of them the cluster has these 8 GPUs, too.
  const std::vector<JobRequest> beside_spares =
      Listed{list, "cluster: {servers: 5, gpus_per_server: 4}\nfailures: {spares: 2, cold_spares: 1}",
             ", scaling: {load: 0.5}"}
          .jobs();
  for (std::size_t j = 0; j < loaded.size(); ++j) CHECK(beside_spares[j].submit == loaded[j].submit);
  // Of two types the last servers are spares: 4 + 4 GPUs are left of 4 + 12.
  const std::vector<JobRequest> of_types =
      Listed{list,
             "cluster: {types: [{name: a, servers: 2, gpus_per_server: 2}, {name: b, servers: 3, "
             "gpus_per_server: 4}]}\nfailures: {spares: 2}",
             ", scaling: {load: 0.5}"}
          .jobs();
  for (std::size_t j = 0; j < loaded.size(); ++j) CHECK(of_types[j].submit == loaded[j].submit);
}

TEST_CASE("the complaint about a job of a scaled list names the line of that job") {
  const Listed long_list{"job_id,submit_s,gpus,duration_s\na,0,9,1\nb,0,1,3000000000\n",
                         "cluster: {servers: 2, gpus_per_server: 4}", ", scaling: {durations: 2, largest: 8}"};
  CHECK_MESSAGE(contains(long_list.complaints(), "jobs.csv:3: duration_s: job \"b\""), long_list.complaints());
}

TEST_CASE("a subset and a bootstrap of a list depend on the seed alone") {
  std::string list = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 40; ++i) list += fmt::format("job-{},{},1,{}\n", i, 10 * i, 100 + i);
  const char* const cluster = "cluster: {servers: 2, gpus_per_server: 4}";
  const Listed boot{list, cluster, ", scaling: {bootstrap: true}"};
  const std::vector<JobRequest> drawn = boot.jobs(1);
  REQUIRE(drawn.size() == 40);
  std::size_t own = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CHECK(drawn[i].name == fmt::format("job-{}", i));
    CHECK(drawn[i].submit == Time::seconds(10 * static_cast<std::int64_t>(i)));
    if (drawn[i].duration == Time::seconds(100 + static_cast<std::int64_t>(i))) ++own;
  }
  CHECK(own < 10);
  const auto durations = [](const std::vector<JobRequest>& jobs) {
    std::vector<std::int64_t> all;
    for (const JobRequest& job : jobs) all.push_back(job.duration->ns());
    return all;
  };
  CHECK(durations(boot.jobs(1)) == durations(drawn));
  CHECK(durations(boot.jobs(2)) != durations(drawn));
  CHECK(draws_jobs(boot.scenario.workload, boot.scenario.overlap));

  const std::vector<JobRequest> part = Listed{list, cluster, ", scaling: {subset: 0.25}"}.jobs();
  REQUIRE(part.size() == 10);
  for (const JobRequest& job : part)
    CHECK(job.submit.ns() / 10'000'000'000 == job.duration->ns() / 1'000'000'000 - 100);
  const Listed plain{list, cluster};
  CHECK_FALSE(draws_jobs(plain.scenario.workload, plain.scenario.overlap));
}

TEST_CASE("scaling that a list does not allow is an error") {
  const char* const cluster = "cluster: {servers: 2, gpus_per_server: 4}";
  const char* const list = "job_id,submit_s,gpus,duration_s\na,5,4,100\nb,5,2,100\n";
  CHECK(contains(Listed(list, cluster, ", scaling: {load: 0.5}").complaints(),
                 "all jobs of the list are submitted at the same time"));
  CHECK(contains(Listed(list, cluster, ", scaling: {largest: 1}").complaints(), "no job of at most 1 GPUs"));
  CHECK(errors_of("workload: {like: philly, scaling: {subset: 0.5}}\n") ==
        "a.yaml:2:36: workload.scaling.subset: needs `a list of jobs (workload.jobs)`");
  CHECK(contains(errors_of("workload: {jobs: a.csv, scaling: {subset: 0}}\n"), "workload.scaling.subset: expected"));
}

TEST_CASE("scheduling.kill_at_limit ends jobs at their limits, and refuses limits of jobs of iterations") {
  const char* const cluster = "cluster: {servers: 1, gpus_per_server: 4}";
  const char* const list = "job_id,submit_s,gpus,duration_s,limit_s\na,0,4,100,60\nb,0,4,50,60\n";
  const Listed off{list, cluster};
  CHECK(start_seconds(run_scenario(off.scenario, 1)) == std::vector<std::int64_t>{0, 100});
  const Listed on{list, cluster, "", {"scheduling.kill_at_limit=true"}};
  const RunResult run = run_scenario(on.scenario, 1);
  CHECK(start_seconds(run) == std::vector<std::int64_t>{0, 60});
  CHECK(run.jobs[0].outcome == JobOutcome::timeout);
  CHECK(run.jobs[1].outcome == JobOutcome::completed);

  const Listed iterations{"job_id,submit_s,gpus,iterations,model,limit_s\na,0,1,10,vgg16,60\n",
                          cluster,
                          "",
                          {"scheduling.kill_at_limit=true"}};
  CHECK_MESSAGE(contains(iterations.complaints(), "jobs.csv:2: limit_s: job \"a\": it has a time limit and iterations"),
                iterations.complaints());
  CHECK_THROWS_AS(static_cast<void>(run_scenario(iterations.scenario, 1)), InputError);
}

TEST_CASE("scheduling.retries brings jobs back, and refuses retries that can't be carried out") {
  const char* const cluster = "cluster: {servers: 1, gpus_per_server: 4}";
  const char* const list = "job_id,submit_s,gpus,duration_s,outcome\na,0,4,100,failed\nb,1,4,50,completed\n";
  const Listed never{list, cluster};
  CHECK(run_scenario(never.scenario, 1).jobs[0].finish == Time::seconds(100));
  // a fails at 100; b runs until 150. Original: a again 150-250 and, 20 s after that, 270-370.
  const Listed twice{list, cluster, "", {"scheduling.retries.failed={times: 2, delay: 10s, factor: 2}"}};
  const RunResult run = run_scenario(twice.scenario, 1);
  CHECK(run.jobs[0].finish == Time::seconds(370));
  CHECK(run.jobs[0].attempts == 3);
  CHECK(run.jobs[0].lost == GpuTime{Time::seconds(200), 4});
  CHECK(run.jobs[1].finish == Time::seconds(150));

  CHECK(errors_of("scheduling: {retries: {failed: {from: checkpoint}}}\n") ==
        "a.yaml:2:33: scheduling.retries.failed.from: needs `a number for scheduling.retries.failed.times`");
  CHECK(errors_of("scheduling: {retries: {timeout: {times: 3}}}\n") ==
        "a.yaml:2:34: scheduling.retries.timeout.times: needs `scheduling.kill_at_limit: true`");
  CHECK(contains(errors_of("scheduling: {retries: {failed: {factor: 0.5}}}\n"), "factor: expected"));
  const Listed iterations{"job_id,submit_s,gpus,iterations,model,outcome\na,0,1,10,vgg16,failed\n",
                          cluster,
                          "",
                          {"scheduling.retries.failed.times=1"}};
  CHECK_MESSAGE(contains(iterations.complaints(), "jobs.csv:2: outcome: job \"a\": it fails and has iterations"),
                iterations.complaints());
  CHECK_THROWS_AS(static_cast<void>(run_scenario(iterations.scenario, 1)), InputError);
}
