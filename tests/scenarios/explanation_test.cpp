// Why jobs waited: by hand, and for every job of random runs under every policy the intervals of its waits are its
// waiting time.
#include "scenarios/run/explain_job.hpp"

#include "policies/registry.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "text/decimal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace contend {
namespace {

struct Timed {
  const char* name;
  int submit_s, gpus, duration_s;
};

Workload timed_workload(const std::vector<Timed>& jobs) {
  Workload workload;
  for (const Timed& each : jobs) {
    JobSpec job;
    job.name = each.name;
    job.submit = Time::seconds(each.submit_s);
    job.gpus = each.gpus;
    job.duration = Time::seconds(each.duration_s);
    job.gpu_share = kWholeGpu;
    workload.jobs.push_back(job);
  }
  return workload;
}

/// Hands everything on to a recorder for each job.
class Recorders final : public DecisionObserver {
 public:
  Recorders(const Workload& workload, int gpus_per_server) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) all_.emplace_back(JobId{i}, workload.jobs, gpus_per_server);
  }
  void queued(Time now, JobId job) override {
    for (WaitRecorder& each : all_) each.queued(now, job);
  }
  void started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) override {
    for (WaitRecorder& each : all_) each.started(now, job, gpus, pause);
  }
  void preempted(Time now, JobId job, JobId by) override {
    for (WaitRecorder& each : all_) each.preempted(now, job, by);
  }
  void ended(Time now, JobId job, bool is_done) override {
    for (WaitRecorder& each : all_) each.ended(now, job, is_done);
  }
  void rejected(Time, JobId, std::string_view) override {}
  void blocked(Time now, JobId job, Why why, JobId by) override {
    for (WaitRecorder& each : all_) each.blocked(now, job, why, by);
  }
  void reserved(Time now, JobId job, Time start, std::span<const GpuId> gpus) override {
    for (WaitRecorder& each : all_) each.reserved(now, job, start, gpus);
  }
  std::vector<Explanation> take(Time end) {
    std::vector<Explanation> taken;
    for (WaitRecorder& each : all_) taken.push_back(each.take(end));
    return taken;
  }

 private:
  std::vector<WaitRecorder> all_;
};

struct Listened {
  RunResult result;
  std::vector<Explanation> jobs;
};
Listened listen(const Scenario& scenario, const Workload& workload) {
  Recorders recorders{workload, scenario.cluster.gpus_per_server};
  RunHooks hooks;
  hooks.decisions = &recorders;
  Listened heard;
  heard.result = run_workload(scenario, workload, 1, hooks);
  heard.jobs = recorders.take(heard.result.end);
  return heard;
}

/// `from-to why [by]`, one after the other.
std::string story(const Explanation& explanation) {
  std::string out;
  for (const WaitInterval& wait : explanation.waits) {
    out += fmt::format("{}{}-{} {}", out.empty() ? "" : ", ", format_seconds(wait.from), format_seconds(wait.to),
                       cause_name(wait.why));
    if (wait.by.valid()) out += fmt::format(" {}", wait.by.value());
  }
  return out;
}

TEST_CASE("a strict queue, by hand") {
  // Four GPUs. a has all of them until 10. b (2 GPUs) waits for it; c (4) may not pass b, and when b has started at 10
  // lacks the two GPUs of b until 15; d (1) is behind b, then behind c, then lacks the GPUs of c until 18.
  const Scenario scenario = parsed(
      "cluster: {servers: 2, gpus_per_server: 2}\n"
      "policies: {scheduling: {policy: fifo, strict: true}, placement: first-fit}\n");
  const Listened heard =
      listen(scenario, timed_workload({{"a", 0, 4, 10}, {"b", 1, 2, 5}, {"c", 2, 4, 3}, {"d", 3, 1, 1}}));
  CHECK(story(heard.jobs[0]).empty());
  CHECK(story(heard.jobs[1]) == "1-10 no_gpus");
  CHECK(story(heard.jobs[2]) == "2-10 behind 1, 10-15 no_gpus");
  CHECK(story(heard.jobs[3]) == "3-10 behind 1, 10-15 behind 2, 15-18 no_gpus");
  const WaitInterval& second = heard.jobs[2].waits[1];
  CHECK(second.running == 1);
  CHECK(second.held_gpus == 2);
  CHECK(second.started == 0);
  CHECK(heard.jobs[3].waits[0].started == 0);  // b starts when that wait ends
  REQUIRE(second.holders.size() == 1);
  CHECK(second.holders[0].job == JobId{1u});
  CHECK(second.holders[0].since == Time::seconds(10));
  CHECK(second.holders[0].until == Time::seconds(15));
  const auto totals = totals_by_cause(heard.jobs[3]);
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].why == Why::behind);
  CHECK(totals[0].intervals == 2);
  CHECK(totals[0].time == Time::seconds(12));
  CHECK(totals[1].time == Time::seconds(3));
  REQUIRE(heard.jobs[2].attempts.size() == 1);
  const JobAttempt& run = heard.jobs[2].attempts[0];
  CHECK(run.from == Time::seconds(15));
  CHECK(run.to == Time::seconds(18));
  CHECK(run.end == JobAttempt::End::ended);
  CHECK(run.servers == std::vector<std::pair<ServerId, int>>{{ServerId{0u}, 2}, {ServerId{1u}, 2}});
}

TEST_CASE("jobs that start while another waits hold it up, too, each by its GPU time in the wait") {
  // Two GPUs. a has one until 10, and c, which may pass b, has the other from 2 to 22. b needs both.
  const Scenario scenario =
      parsed("cluster: {servers: 1, gpus_per_server: 2}\npolicies: {scheduling: fit-first, placement: first-fit}\n");
  const Listened heard = listen(scenario, timed_workload({{"a", 0, 1, 10}, {"b", 1, 2, 5}, {"c", 2, 1, 20}}));
  CHECK(story(heard.jobs[1]) == "1-22 no_gpus");
  const WaitInterval& wait = heard.jobs[1].waits[0];
  CHECK(wait.running == 1);
  CHECK(wait.held_gpus == 1);
  CHECK(wait.started == 1);
  REQUIRE(wait.holders.size() == 2);
  CHECK(wait.holders[0].job == JobId{2u});
  CHECK(wait.holders[0].since == Time::seconds(2));
  CHECK(wait.holders[0].until == Time::seconds(22));
  CHECK(wait.holders[1].job == JobId{0u});
  CHECK(wait.holders[1].until == Time::seconds(10));
}

TEST_CASE("what backfilling keeps for a job, first and last, by hand") {
  // big needs all four GPUs of a server. By its limit a leaves server 0 at 100, but ends at 40. m runs there until 66,
  // n is longer and runs on server 1.
  for (const char* policy : {"easy", "conservative"}) {
    INFO(policy);
    const Scenario scenario = parsed(fmt::format(
        "cluster: {{servers: 2, gpus_per_server: 4}}\npolicies: {{scheduling: {}, placement: worst-fit}}\n", policy));
    Workload workload =
        timed_workload({{"a", 0, 3, 40}, {"b", 0, 3, 100}, {"big", 5, 4, 50}, {"m", 6, 1, 60}, {"n", 7, 1, 200}});
    for (JobSpec& job : workload.jobs) job.limit = job.name == "a" ? Time::seconds(100) : *job.duration;
    const Listened heard = listen(scenario, workload);
    const Explanation& big = heard.jobs[2];
    REQUIRE(big.reservations.size() == 1);
    const Reservations& kept = big.reservations[0];
    const GpusByServer server_0{{ServerId{0u}, 4}};
    CHECK(kept.first.made == Time::seconds(5));
    CHECK(kept.first.start == Time::seconds(100));
    CHECK(kept.first.servers == server_0);
    CHECK(kept.changes == 1);
    CHECK(kept.last.made == Time::seconds(40));
    CHECK(kept.last.start == Time::seconds(66));
    CHECK(kept.last.servers == server_0);
    CHECK(big.attempts[0].from == Time::seconds(66));
    for (const std::size_t other : {0U, 1U, 3U, 4U}) CHECK(heard.jobs[other].reservations.empty());
  }
}

TEST_CASE("a job that waits again has another reservation, by hand") {
  // Two GPUs. x has both until 5, then b until 25, when a can start. Its attempt fails at 30, and c, which has waited
  // longer than a for that, has the GPUs until 40.
  const Scenario scenario =
      parsed("cluster: {servers: 1, gpus_per_server: 2}\npolicies: {scheduling: conservative, placement: first-fit}\n");
  Workload workload = timed_workload({{"x", 0, 2, 5}, {"b", 0, 2, 20}, {"a", 1, 1, 7}, {"c", 2, 2, 10}});
  workload.jobs[2].attempts = {Time::seconds(5)};
  const Listened heard = listen(scenario, workload);
  const std::vector<Reservations>& kept = heard.jobs[2].reservations;
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].first.made == Time::seconds(1));
  CHECK(kept[0].first.start == Time::seconds(25));
  CHECK(kept[1].first.made == Time::seconds(30));
  CHECK(kept[1].first.start == Time::seconds(40));
  for (const Reservations& each : kept) CHECK(each.changes == 0);
  CHECK(heard.jobs[2].attempts.back().from == Time::seconds(40));
}

TEST_CASE("a queue by fair shares, by hand") {
  // As above: all jobs are of one user, so they keep their order, and a strict queue stops at the first that waits.
  const Scenario scenario = parsed(
      "cluster: {servers: 2, gpus_per_server: 2}\n"
      "policies: {scheduling: {policy: fair-share, strict: true}, placement: first-fit}\n");
  const Listened heard =
      listen(scenario, timed_workload({{"a", 0, 4, 10}, {"b", 1, 2, 5}, {"c", 2, 4, 3}, {"d", 3, 1, 1}}));
  CHECK(story(heard.jobs[1]) == "1-10 no_gpus");
  CHECK(story(heard.jobs[2]) == "2-10 behind 1, 10-15 no_gpus");
  CHECK(story(heard.jobs[3]) == "3-10 behind 1, 10-15 behind 2, 15-18 no_gpus");
}

TEST_CASE("a preemption, by hand") {
  // a (4 GPUs, 10 s) runs from 0. b (2 GPUs, 1 s) has less left to do at 2 and takes the GPUs; a goes on at 3.
  const Scenario scenario = parsed(
      "cluster: {servers: 1, gpus_per_server: 4}\n"
      "policies: {scheduling: {policy: srsf, preemptive: true}, placement: first-fit}\n");
  const Listened heard = listen(scenario, timed_workload({{"a", 0, 4, 10}, {"b", 2, 2, 1}}));
  const Explanation& a = heard.jobs[0];
  REQUIRE(a.attempts.size() == 2);
  CHECK(a.attempts[0].end == JobAttempt::End::preempted);
  CHECK(a.attempts[0].to == Time::seconds(2));
  CHECK(a.attempts[0].successors == std::vector{JobId{1u}});
  CHECK(a.attempts[1].from == Time::seconds(3));
  CHECK(a.waited() == Time::seconds(1));
  CHECK(a.waited_before_start() == Time{});
  REQUIRE(a.waits.size() == 1);
  CHECK(a.waits[0].why == Why::no_gpus);
  REQUIRE(a.waits[0].holders.size() == 1);
  CHECK(a.waits[0].holders[0].job == JobId{1u});
}

TEST_CASE("attempts that fail, and the end of the run") {
  const Scenario scenario = parsed(
      "cluster: {servers: 1, gpus_per_server: 4}\nengine: {until: 20s}\n"
      "policies: {scheduling: fifo, placement: first-fit}\n");
  Workload workload = timed_workload({{"a", 0, 4, 5}, {"b", 1, 4, 60}, {"c", 2, 4, 1}});
  workload.jobs[0].attempts = {Time::seconds(3)};
  const Listened heard = listen(scenario, workload);
  REQUIRE(heard.jobs[0].attempts.size() >= 1);
  CHECK(heard.jobs[0].attempts[0].end == JobAttempt::End::failed);
  CHECK(heard.jobs[0].attempts[0].to == Time::seconds(3));
  const auto& last = heard.jobs[1].attempts;
  REQUIRE(last.size() == 1);
  CHECK(last[0].end == JobAttempt::End::open);
  CHECK(heard.jobs[2].attempts.empty());
  CHECK(heard.jobs[2].waited() == Time::seconds(18));
}

TEST_CASE("every policy: a job that waits for the quota alone has that reason") {
  // Of 8 GPUs, VC a may hold 4, which its first job has until 10. Its second and third wait for them, and nothing else;
  // the fourth job, without a virtual cluster, shows that GPUs are free. Strict or not, preemptive or not.
  Workload workload = timed_workload({{"a1", 0, 4, 10}, {"a2", 1, 2, 20}, {"a3", 2, 4, 30}, {"free", 3, 2, 1}});
  workload.vcs = {"a"};
  for (std::size_t j = 0; j < 3; ++j) workload.jobs[j].vc = 0;
  const PolicyKind& kind = policy_kind("scheduling");
  const auto has_rounds = [](const PolicyInfo& policy) {
    return std::ranges::any_of(policy.parameters, [](const ParameterInfo& each) {
      return each.name == "round_s" || each.name == "sched_interval_s" ||
             (each.name == "period_s" && std::get<double>(each.default_value) > 0);
    });
  };
  for (const PolicyInfo& policy : kind.policies) {
    if (policy.name == "external") continue;  // a program of the user says no reasons
    if (has_rounds(policy)) continue;         // its jobs wait for the next round or period as well
    for (const bool flag : {false, true}) {
      Scenario scenario = parsed(
          "cluster: {servers: 1, gpus_per_server: 8, vcs: [{name: a, gpus: 4}]}\npolicies: {placement: first-fit}\n");
      PolicyChoice choice = default_policy(kind, policy.name);
      auto values = choice.parameters.values();
      for (auto& [name, value] : values)
        if (std::holds_alternative<bool>(value)) value = flag;
      choice.parameters = Parameters{std::move(values)};
      scenario.scheduling = choice;
      CAPTURE(policy.name);
      CAPTURE(flag);
      const Listened heard = listen(scenario, workload);
      CHECK(heard.jobs[3].waits.empty());
      for (const std::size_t j : {0u, 1u, 2u}) {
        for (const WaitInterval& wait : heard.jobs[j].waits) {
          CHECK(std::string{cause_name(wait.why)} == "quota");
          for (const GpuHolder& holder : wait.holders) CHECK(holder.job != JobId{3u});
        }
      }
      CHECK_FALSE(heard.jobs[2].waits.empty());
    }
  }
}

TEST_CASE("policies that never preempt don't say that somebody isn't pushed out") {
  const Workload workload = timed_workload({{"a", 0, 4, 10}, {"b", 1, 2, 5}});
  for (const char* policy : {"fit-first", "{policy: smallest-first, preemptive: false}", "fair-share", "drf"}) {
    CAPTURE(policy);
    const Scenario scenario =
        parsed(fmt::format("cluster: {{servers: 2, gpus_per_server: 2}}\npolicies: {{scheduling: {}, placement: "
                           "first-fit}}\n",
                           policy));
    CHECK(story(listen(scenario, workload).jobs[1]) == "1-10 no_gpus");
  }
}

TEST_CASE("servers of a virtual cluster stay its own though no job of the list is its") {
  // x owns server 0 of 2; y's 8 GPUs and the job without a virtual cluster take turns on server 1.
  const Scenario scenario = parsed(
      "cluster: {servers: 2, gpus_per_server: 8, vcs: [{name: x, servers: 1}, {name: y, gpus: 16}]}\n"
      "policies: {scheduling: fifo, placement: first-fit}\n");
  Workload workload = timed_workload({{"y1", 0, 8, 10}, {"y2", 0, 16, 10}, {"none", 1, 8, 10}});
  workload.vcs = {"y"};
  workload.jobs[0].vc = workload.jobs[1].vc = 0;
  const Listened heard = listen(scenario, workload);
  CHECK(story(heard.jobs[2]) == "1-10 no_gpus");
  CHECK(heard.jobs[0].attempts.at(0).servers == std::vector<std::pair<ServerId, int>>{{ServerId{1u}, 8}});
  CHECK(heard.result.jobs[1].reason == "needs 16 GPUs, the servers that no virtual cluster owns have 8");
}

Workload random_workload(RandomStream& random, int gpus) {
  Workload workload;
  workload.vcs = {"a", "b"};
  const std::int64_t jobs = random.uniform_integer(2, 40);
  for (std::int64_t i = 0; i < jobs; ++i) {
    JobSpec job;
    job.name = fmt::format("job-{}", i);
    job.submit = Time::milliseconds(random.uniform_integer(0, 60) * 500);
    job.gpus = static_cast<int>(std::min<std::int64_t>(gpus, std::int64_t{1} << random.uniform_integer(0, 4)));
    job.duration = Time::milliseconds(random.uniform_integer(0, 20) * 700);
    job.gpu_share = kWholeGpu;
    job.priority = static_cast<std::int32_t>(random.uniform_integer(0, 2));
    job.vc = static_cast<std::int32_t>(random.uniform_integer(-1, 1));
    job.limit = *job.duration + Time::seconds(random.uniform_integer(0, 5));
    if (random.uniform() < 0.2) job.attempts = {Time::milliseconds(300)};
    workload.jobs.push_back(job);
  }
  return workload;
}

/// What must be true of the explanation of any job. Returns the number of its waits.
std::size_t check_explanation(const Explanation& explanation, const JobResult& job, Time end) {
  Time at = job.submit;
  std::size_t attempt = 0;
  for (const WaitInterval& wait : explanation.waits) {
    CHECK(wait.from < wait.to);
    // Waits and attempts meet end to end.
    while (attempt < explanation.attempts.size() && explanation.attempts[attempt].from == at &&
           explanation.attempts[attempt].to <= wait.from)
      at = explanation.attempts[attempt++].to;
    CHECK(wait.from == at);
    const auto in_wait = [&](const GpuHolder& holder) {
      return GpuTime{std::min(holder.until, wait.to) - std::max(holder.since, wait.from), holder.gpus};
    };
    CHECK(std::is_sorted(wait.holders.begin(), wait.holders.end(),
                         [&](const GpuHolder& a, const GpuHolder& b) { return in_wait(a) > in_wait(b); }));
    for (const GpuHolder& holder : wait.holders) {
      CHECK(holder.since <= wait.to);
      CHECK(holder.until >= wait.from);
    }
    at = wait.to;
  }
  Time held;
  for (const JobAttempt& each : explanation.attempts) held += std::min(each.to, end) - each.from;
  if (job.start != Time::never()) {
    REQUIRE_FALSE(explanation.attempts.empty());
    CHECK(explanation.attempts.front().from == job.start);
    CHECK(explanation.waited_before_start() == job.queueing());
  }
  if (job.state == JobState::failed) return explanation.waits.size();
  const Time last = job.finish == Time::never() ? end : job.finish;
  CHECK(explanation.waited() == job.waited);
  CHECK(explanation.waited() + held == last - job.submit);
  CHECK(explanation.attempts.size() >= static_cast<std::size_t>(job.preemptions));
  Time sum;
  for (const CauseTotal& total : totals_by_cause(explanation)) sum += total.time;
  CHECK(sum == explanation.waited());
  return explanation.waits.size();
}

TEST_CASE("for every job of random runs the intervals add up to its queueing time") {
  RandomStream random{11, "explanations"};
  std::map<std::string, std::size_t, std::less<>> waits;
  const PolicyKind& kind = policy_kind("scheduling");
  for (int round = 0; round < effort(60); ++round) {
    const int servers = static_cast<int>(random.uniform_integer(1, 4));
    for (const PolicyInfo& policy : kind.policies) {
      if (policy.name == "external") continue;
      Scenario scenario = parsed("policies: {placement: first-fit}\n");
      scenario.cluster.servers = servers;
      PolicyChoice choice = default_policy(kind, policy.name);
      auto values = choice.parameters.values();
      for (auto& [name, value] : values)
        if (std::holds_alternative<bool>(value)) value = random.uniform() < 0.5;
      const auto has = [&](std::string_view name) {
        return std::ranges::any_of(
            values, [&](const auto& each) { return each.first == name && each.second == ParameterValue{true}; });
      };
      // These are errors without the one that they change.
      for (auto& [name, value] : values)
        if (name == "bf_test_s" || name == "weight_job_size") value = 0.5;
      const std::string_view base = policy.name == "smallest-first" ? "preemptive" : "rewalk";
      const bool is_idle =
          (policy.name == "smallest-first" || policy.name == "srtf" || policy.name == "srsf") && !has(base);
      for (auto& [name, value] : values)
        if (is_idle && (name == "list_order" || name == "migrate")) value = false;
      for (auto& [name, value] : values)
        if (name == "by_epoch" && !has("forecast")) value = false;
      choice.parameters = Parameters{std::move(values)};
      scenario.scheduling = choice;
      if (random.uniform() < 0.3) scenario.engine.until = Time::seconds(random.uniform_integer(5, 60));
      const Workload workload = random_workload(random, servers * scenario.cluster.gpus_per_server);
      CAPTURE(policy.name);
      CAPTURE(round);
      const Listened heard = listen(scenario, workload);
      // Nobody is moved by being listened to.
      CHECK(heard.result.digest == run_workload(scenario, workload, 1).digest);
      for (const JobResult& job : heard.result.jobs) {
        CAPTURE(job.name);
        if (job.submit > heard.result.end) continue;
        waits[std::string{policy.name}] += check_explanation(heard.jobs[job.id.index()], job, heard.result.end);
      }
    }
  }
  for (const PolicyInfo& policy : kind.policies) {
    if (policy.name == "external") continue;
    CAPTURE(policy.name);
    CHECK(waits[std::string{policy.name}] > effort(std::size_t{150}));
  }
}

TEST_CASE("jobs with iterations, which share GPUs and leap, explain themselves too") {
  RandomStream random{12, "explanations of graphs"};
  std::size_t waits = 0;
  for (int round = 0; round < 12; ++round) {
    Scenario scenario = parsed(
        "cluster: {servers: 2, gpus_per_server: 2, gpu_memory: 12GiB}\n"
        "workload: {generate: {sizes: {1: 8, 2: 4, 4: 3}, iterations: [3, 60], arrivals: 5s}}\n");
    scenario.scheduling.parameters = default_policy(policy_kind("scheduling"), "srsf").parameters;
    const auto seed = static_cast<std::uint64_t>(round);
    const Workload workload = scenario_workload(scenario, seed);
    const Listened heard = listen(scenario, workload);
    CHECK(heard.result.digest == run_workload(scenario, workload, 1).digest);
    for (const JobResult& job : heard.result.jobs)
      waits += check_explanation(heard.jobs[job.id.index()], job, heard.result.end);
  }
  CHECK(waits > 50);
}

TEST_CASE("a job by its name") {
  const Scenario scenario = parsed("workload: {generate: {sizes: {1: 3}, iterations: [2, 3], arrivals: 1s}}\n");
  const ExplainedJob explained = explain_job(scenario, 4, "job-2");
  CHECK(explained.result.jobs[explained.job.index()].name == "job-2");
  CHECK(explained.result.digest == run_scenario(scenario, 4).digest);
  try {
    static_cast<void>(explain_job(scenario, 4, "jbo-2"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()} == "there is no job \"jbo-2\"; did you mean \"job-2\"?");
  }
}

}  // namespace
}  // namespace contend
