// These tests check the properties of all scheduling policies, and the promises of single policies, on random
// workloads.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

using namespace contend;
using namespace contend::test;

namespace {

/// The workload has few sizes and whole seconds, so that ties are common.
std::vector<JobSpec> random_jobs(std::uint64_t seed, int gpus, int vcs) {
  RandomStream stream{seed, "scheduling-property"};
  std::vector<JobSpec> jobs;
  std::int64_t submit = 0;
  for (int j = 0; j < 70; ++j) {
    submit += stream.uniform() < 0.4 ? 0 : stream.uniform_integer(1, 12);
    const std::int64_t wanted = std::int64_t{1} << stream.uniform_integer(0, 3);
    const auto size = static_cast<int>(std::min<std::int64_t>(wanted + (stream.uniform() < 0.2 ? 1 : 0), gpus));
    const std::int64_t duration =
        stream.uniform() < 0.05 ? 0 : stream.uniform_integer(1, stream.uniform() < 0.2 ? 90 : 9);
    JobSpec job = timed_job(submit, size, duration);
    if (stream.uniform() < 0.3) job.limit = Time::seconds(duration + stream.uniform_integer(0, 20));
    if (stream.uniform() < 0.05) job.limit = Time::seconds(1);  // too short: estimates may be wrong
    if (stream.uniform() < 0.1) job.attempts = {Time::seconds(stream.uniform_integer(1, 5))};
    job.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 2));
    job.user = static_cast<std::int32_t>(stream.uniform_integer(0, 4));
    if (vcs > 0) job.vc = static_cast<std::int32_t>(stream.uniform_integer(0, vcs - 1));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// All policies; a policy with important parameters appears more than once.
std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const auto& row : scheduling_policies())
    if (!row.is_outside) all.push_back({std::string{row.name}, {}});
  const std::vector<std::pair<std::string, ParameterValue>> tiresias = {
      {"list_order", true}, {"late_wakeup", true}, {"whole_seconds", true}, {"single_step", true}};
  for (const char* name : {"dlas", "dlas-gpu"}) {
    all.push_back({name, {{"limit_1_s", 6.0}, {"limit_2_s", 25.0}, {"promote", 2.0}}});
    all.push_back({name, tiresias});
    all.back().parameters.emplace_back("limit_1_s", 6.0);
    all.back().parameters.emplace_back("limit_2_s", 25.0);
  }
  for (const char* name : {"srtf", "srsf"}) {
    all.push_back({name, {{"rewalk", true}}});
    all.push_back({name, {{"rewalk", true}, {"list_order", true}}});
    all.push_back({name, {{"preemptive", true}}});
    all.push_back({name, {{"rewalk", true}, {"migrate", true}}});
    all.push_back({name, {{"rewalk", true}, {"list_order", true}, {"migrate", true}}});
  }
  for (const char* name : {"las", "dlas", "dlas-gpu", "gittins"}) all.push_back({name, {{"migrate", true}}});
  all.push_back({"las", {{"slice_s", 3.0}, {"migrate", true}}});
  all.push_back({"dlas", {{"limit_1_s", 6.0}, {"limit_2_s", 25.0}, {"promote", 2.0}, {"migrate", true}}});
  all.push_back({"dlas-gpu", tiresias});
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, ParameterValue>>{{"limit_1_s", 6.0}, {"limit_2_s", 25.0}, {"migrate", true}})
    all.back().parameters.emplace_back(key, value);
  all.push_back({"las", {{"slice_s", 3.0}, {"promote", 1.0}}});
  all.push_back({"las", {{"slice_s", 5.0}, {"gpu_time", false}}});
  all.push_back({"gittins", {{"quantum_s", 4.0}, {"warm_up", std::int64_t{5}}}});
  all.push_back({"smallest-first", {{"preemptive", true}}});
  all.push_back({"smallest-first", {{"preemptive", true}, {"migrate", true}}});
  all.push_back({"edf", {{"preemptive", true}}});
  all.push_back({"priority", {{"preemptive", false}}});
  all.push_back({"priority", {{"aging_s", 10.0}}});
  all.push_back({"easy", {{"use_limit", false}, {"estimate_factor", 3.0}}});
  all.push_back({"conservative", {{"use_limit", false}, {"estimate_factor", 3.0}}});
  all.push_back({"conservative", {{"use_limit", false}, {"estimate_factor", 0.4}}});
  const std::vector<std::pair<std::string, ParameterValue>> limits = {{"depth", std::int64_t{3}},
                                                                      {"per_user", std::int64_t{2}},
                                                                      {"window_s", 30.0},
                                                                      {"resolution_s", 5.0},
                                                                      {"whole_servers", true}};
  for (const char* name : {"easy", "conservative"}) all.push_back({name, limits});
  all.push_back({"slurm-backfill",
                 {{"bf_interval_s", 4.0},
                  {"bf_resolution_s", 1.0},
                  {"bf_test_s", 0.5},
                  {"weight_age", 1000.0},
                  {"max_age_s", 60.0},
                  {"weight_fairshare", 1000.0},
                  {"half_life_s", 60.0},
                  {"weight_qos", 500.0},
                  {"calc_period_s", 7.0}}});
  all.push_back({"fair-share", {{"by_user", true}, {"half_life_s", 20.0}}});
  all.push_back({"fair-share", {{"strict", true}}});
  all.push_back({"drf", {{"by_user", true}}});
  return all;
}

/// Every job ends because it was served, in runs that add up to its duration. Each GPU is held by one job at a time.
void check_accounts(const Played& played, const std::vector<JobSpec>& jobs) {
  CHECK(played.faults == std::vector<std::string>{});
  std::vector<Time> served(jobs.size());
  for (const Hold& hold : played.runs) {
    CHECK(hold.start >= jobs[hold.job.index()].submit);
    CHECK(hold.end >= hold.start);
    CHECK(hold.end != Time::never());
    served[hold.job.index()] += hold.end - hold.start;
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Time asked = *jobs[j].duration;
    for (const Time attempt : jobs[j].attempts) asked += attempt;
    CHECK(played.result.jobs[j].state == JobState::finished);
    CHECK(served[j] == asked);  // preemption costs nothing here, so no work is lost
    CHECK(played.result.jobs[j].compute == GpuTime{asked, jobs[j].gpus});
  }
}

const PolicyRow<SchedulingPolicy>& row_of(const Choice& choice) {
  return *std::ranges::find_if(scheduling_policies(), [&](const auto& each) { return each.name == choice.name; });
}

bool conserves_work(const Choice& choice) {
  const auto is = [&](const char* name) { return choice.name == name; };
  const auto strict = std::find_if(choice.parameters.begin(), choice.parameters.end(),
                                   [](const auto& parameter) { return parameter.first == "strict"; });
  // In rounds and periods, GPUs wait for the next one.
  const bool has_rounds = std::ranges::any_of(row_of(choice).parameters, [](const ParameterInfo& parameter) {
    return parameter.name == "round_s" || parameter.name == "period_s";
  });
  // The first guaranteed job of antman that waits holds back those behind it.
  // Slurm backfills in passes of its own. A job that Volcano has let in may keep others out though it doesn't fit.
  return !is("fifo") && !is("easy") && !is("conservative") && !is("slurm-backfill") && !is("volcano") &&
         !is("antman") && !has_rounds && strict == choice.parameters.end();
}

}  // namespace

TEST_CASE("every policy, random workloads: all jobs are served in full, GPUs and gangs kept, no room left idle") {
  const std::uint64_t seeds = kSanitized && effort_factor() == 1 ? 2 : 6;
  for (const Choice& choice : choices()) {
    std::int64_t waits = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const int gpus = seed % 2 == 0 ? 8 : 13;
      const std::vector<JobSpec> jobs = random_jobs(seed, gpus, 0);
      const Played played = play(choice, gpus, jobs);
      INFO(choice.name, " ", choice.parameters.size(), ", seed ", seed);
      check_accounts(played, jobs);
      if (conserves_work(choice)) CHECK(played.passes_with_idle_room == 0);
      for (const JobResult& job : played.result.jobs) waits += job.waited > Time{} ? 1 : 0;
    }
    INFO(choice.name, " ", choice.parameters.size());
    CHECK(waits > 16 * static_cast<std::int64_t>(seeds));  // of 70 jobs a seed: there was something to decide
  }
}

TEST_CASE("srtf and srsf with rewalk, random workloads: no job waits for one with more left, whatever stops cost") {
  std::int64_t preemptions = 0, played_runs = 0;
  for (const Choice& choice : choices()) {
    const auto has = [&](const char* name) {
      return std::ranges::any_of(choice.parameters, [&](const auto& each) { return each.first == name; });
    };
    // In a list a job that gives way may stand before the one that took its place; one that moves loses work.
    const bool is_exact = has("rewalk") && !has("list_order") && !has("migrate");
    if ((choice.name != "srtf" && choice.name != "srsf") || !is_exact) continue;
    for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{8}); ++seed) {
      SchedulingRules rules;
      if (seed % 3 != 0) rules.preemption.restart = Time::seconds(1 + static_cast<std::int64_t>(seed % 4));
      if (seed % 3 != 1) {
        rules.preemption.checkpoint_interval = Time::seconds(5);
        rules.preemption.checkpoint = Time::seconds(2);
      }
      ClusterSpec cluster;
      cluster.gpus_per_server = 8;
      cluster.gpu_memory = Bytes{1};
      const Played played = play(choice, cluster, random_jobs(seed, 8, 0), nullptr, rules);
      INFO(choice.name, " ", choice.parameters.size(), ", seed ", seed);
      CHECK(played.passes_out_of_order == 0);
      preemptions += played.total_preemptions();
      ++played_runs;
    }
  }
  CHECK(played_runs > 0);
  CHECK(preemptions > 10 * played_runs);
}

TEST_CASE(
    "every policy: virtual clusters with servers of their own, with quotas, and with quotas that may be exceeded") {
  int over_quota = 0;
  for (const Choice& choice : choices()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      if (!is_played(seed, 3)) continue;
      ClusterSpec cluster;
      cluster.servers = 4;
      cluster.gpus_per_server = 4;
      cluster.gpu_memory = Bytes{1};
      INFO(choice.name, " ", choice.parameters.size(), ", seed ", seed);
      cluster.vcs = {{{0, 1}}, {{1, 4}}};
      std::vector<JobSpec> jobs = random_jobs(seed, 4, 2);
      Played played = play(choice, cluster, jobs);
      check_accounts(played, jobs);
      for (const Hold& hold : played.runs) {
        for (const GpuId gpu : hold.gpus) CHECK((gpu.value() < 4) == (jobs[hold.job.index()].vc == 0));
      }
      cluster.vcs = {{{}, 5, false}, {{}, 11, false}};
      jobs = random_jobs(seed, 5, 2);
      played = play(choice, cluster, jobs);
      check_accounts(played, jobs);
      CHECK(played.most_of_vc[0] <= 5);
      CHECK(played.most_of_vc[1] <= 11);
      const bool knows_quotas = choice.name != "themis";     // elastic policies divide GPUs as if there were none
      const bool scatters_gangs = choice.name != "gandiva";  // which has them on as few servers as can be
      if (conserves_work(choice) && knows_quotas && scatters_gangs) CHECK(played.passes_with_idle_room == 0);
      cluster.vcs = {{{}, 5, true}, {{}, 11, true}};
      played = play(choice, cluster, jobs);
      check_accounts(played, jobs);
      over_quota += played.most_of_vc[0] > 5 || played.most_of_vc[1] > 11 ? 1 : 0;
    }
  }
  CHECK(over_quota > 0);
}

TEST_CASE("every policy, every placement: no job starts at an instant at which it is stopped") {
  std::int64_t preemptions = 0;
  std::uint64_t seed = 0;
  for (std::size_t first = 0; const Choice& choice : choices()) {
    for (std::size_t turn = first++; const PolicyRow<PlacementPolicy>& row : placement_policies()) {
      if (row.is_outside || row.name == "vclos") continue;  // it needs a fabric
      if (!is_played(turn++, 5)) continue;
      for (std::uint64_t n = 0; n < effort(std::uint64_t{1}); ++n) {
        std::vector<JobSpec> jobs = random_jobs(++seed, 8, 0);
        RandomStream stream{seed, "vain-starts"};
        for (JobSpec& job : jobs) {
          if (job.duration == Time{}) job.duration = Time::seconds(1);  // or its end would bring a second pass
          if (stream.uniform() < 0.7) job.deadline = job.submit + Time::seconds(stream.uniform_integer(10, 400));
        }
        ClusterSpec cluster;
        cluster.servers = 5;
        cluster.gpus_per_server = 2;
        cluster.gpu_memory = Bytes{1};
        std::vector<std::vector<JobPace>> paces;
        if (seed % 2 == 0 && !row_of(choice).one_type) {
          cluster.types = {{.name = "slow", .servers = 4, .gpus_per_server = 2, .gpu_memory = Bytes{1}},
                           {.name = "fast", .servers = 4, .gpus_per_server = 2, .gpu_memory = Bytes{1}}};
          cluster.servers = 8;
          paces = {{{.together = 2 * kNominalPace}, {.together = kNominalPace}}};
          for (JobSpec& job : jobs) job.pace = 0;
        }
        const Played played =
            play(choice, cluster, jobs, placement({std::string{row.name}, {}}, seed), {}, {}, {}, {}, std::move(paces));
        INFO(choice.name, " ", choice.parameters.size(), ", ", row.name, ", seed ", seed);
        CHECK(fmt::format("{}", fmt::join(played.vain_starts, ", ")) == "");
        preemptions += played.total_preemptions();
      }
    }
  }
  CHECK(preemptions > 1000);
}
