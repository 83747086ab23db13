// What every scheduling policy makes of two workloads where gangs need whole servers. Ties, deadlines and searches for
// jobs that give way decide these figures; whoever changes a policy on purpose changes its line.

#include "sim/random_stream.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Counts how often it is asked.
class CountedPlacement final : public PlacementPolicy {
 public:
  CountedPlacement(std::unique_ptr<PlacementPolicy> policy, std::int64_t& asked)
      : policy_{std::move(policy)}, asked_{asked} {}
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    ++asked_;
    policy_->place(cluster, job, chosen);
  }
  [[nodiscard]] bool refuses_alike() const override { return policy_->refuses_alike(); }
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    return policy_->room_needed(job, gpus_per_server);
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return policy_->next_decision(cluster); }

 private:
  std::unique_ptr<PlacementPolicy> policy_;
  std::int64_t& asked_;
};

std::vector<JobSpec> mixed_jobs(int vcs) {
  RandomStream stream{5, "figures"};
  std::vector<JobSpec> jobs;
  std::int64_t submit = 0;
  for (int j = 0; j < 120; ++j) {
    submit += stream.uniform() < 0.3 ? 0 : stream.uniform_integer(1, 20);
    const auto gpus = static_cast<int>(std::int64_t{1} << stream.uniform_integer(0, 3));
    const std::int64_t duration = stream.uniform_integer(5, 80);
    JobSpec job = timed_job(submit, stream.uniform() < 0.2 ? gpus + 1 : gpus, duration);
    if (stream.uniform() < 0.3) job.limit = *job.duration + Time::seconds(stream.uniform_integer(0, 60));
    job.priority = static_cast<std::int32_t>(stream.uniform_integer(0, 3));
    job.user = static_cast<std::int32_t>(stream.uniform_integer(0, 3));
    job.vc = vcs > 0 ? static_cast<std::int32_t>(stream.uniform_integer(0, vcs - 1)) : -1;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string figures(const Choice& choice, bool shared) {
  ClusterSpec cluster{6, 4, Bytes{100}};
  // One virtual cluster owns two servers, two have quotas in the others, from which they may borrow.
  SchedulingRules rules;
  if (shared) {
    cluster.vcs = {{{0, 2}, 8, false}, {{}, 10, true}, {{}, 6, true}};
    rules.preemption.checkpoint_interval = Time::seconds(2);
  }
  std::int64_t asked = 0;
  const Played played = play(choice, cluster, mixed_jobs(shared ? 3 : 0),
                             std::make_unique<CountedPlacement>(placement({"consolidated", {}}), asked), rules);
  Time sum;
  for (const JobResult& job : played.result.jobs) {
    if (job.state == JobState::finished) sum += job.jct();
  }
  return fmt::format("{} s, {} preempted, {} asked, {} reasons", sum.ns() / 1'000'000'000, played.total_preemptions(),
                     asked, played.waits.size());
}

struct Line {
  Choice choice;
  std::string alone, shared;
};

}  // namespace

TEST_CASE("the figures of every scheduling policy: times in all, preemptions, questions to the placement policy") {
  const Line lines[] = {
      {{"fifo", {}}, "13923 s, 0 preempted, 152 asked, 537 reasons", "20558 s, 0 preempted, 148 asked, 660 reasons"},
      {{"fit-first", {}}, "9468 s, 0 preempted, 132 asked, 109 reasons", "11294 s, 0 preempted, 141 asked, 97 reasons"},
      {{"smallest-first", {}},
       "9255 s, 0 preempted, 132 asked, 124 reasons",
       "11876 s, 0 preempted, 140 asked, 74 reasons"},
      {{"smallest-first", {{"preemptive", true}}},
       "9863 s, 23 preempted, 257 asked, 384 reasons",
       "14948 s, 28 preempted, 279 asked, 540 reasons"},
      {{"sjf", {}}, "8464 s, 0 preempted, 186 asked, 122 reasons", "9820 s, 0 preempted, 152 asked, 78 reasons"},
      {{"srtf", {}}, "8464 s, 0 preempted, 186 asked, 122 reasons", "9820 s, 0 preempted, 152 asked, 78 reasons"},
      {{"srtf", {{"rewalk", true}}},
       "7990 s, 35 preempted, 316 asked, 292 reasons",
       "9524 s, 32 preempted, 285 asked, 269 reasons"},
      {{"srtf", {{"preemptive", true}}},
       "7984 s, 41 preempted, 411 asked, 96 reasons",
       "9524 s, 32 preempted, 297 asked, 71 reasons"},
      {{"srsf", {{"rewalk", true}, {"list_order", true}}},
       "8440 s, 25 preempted, 276 asked, 300 reasons",
       "10120 s, 29 preempted, 286 asked, 316 reasons"},
      {{"priority", {{"preemptive", true}}},
       "8541 s, 52 preempted, 400 asked, 330 reasons",
       "12937 s, 50 preempted, 376 asked, 479 reasons"},
      {{"priority", {{"preemptive", false}}},
       "8678 s, 0 preempted, 130 asked, 96 reasons",
       "11262 s, 0 preempted, 140 asked, 82 reasons"},
      {{"priority", {{"aging_s", 10.0}}},
       "9208 s, 24 preempted, 237 asked, 302 reasons",
       "11015 s, 29 preempted, 276 asked, 301 reasons"},
      {{"las", {{"slice_s", 40.0}}},
       "12716 s, 203 preempted, 1238 asked, 2181 reasons",
       "18290 s, 255 preempted, 1481 asked, 2313 reasons"},
      {{"las", {{"slice_s", 40.0}, {"migrate", true}}},
       "12772 s, 949 preempted, 2745 asked, 2195 reasons",
       "20112 s, 679 preempted, 1713 asked, 2755 reasons"},
      {{"las", {{"slice_s", 5.0}, {"gpu_time", false}}},
       "12725 s, 279 preempted, 1476 asked, 2200 reasons",
       "17195 s, 416 preempted, 2037 asked, 2658 reasons"},
      {{"dlas", {{"limit_1_s", 12.0}, {"limit_2_s", 40.0}, {"promote", 2.0}}},
       "10781 s, 252 preempted, 1279 asked, 1130 reasons",
       "12602 s, 258 preempted, 1248 asked, 1050 reasons"},
      {{"dlas-gpu", {{"limit_1_s", 24.0}, {"limit_2_s", 80.0}, {"list_order", true}, {"late_wakeup", true}}},
       "10030 s, 106 preempted, 711 asked, 715 reasons",
       "13606 s, 154 preempted, 892 asked, 885 reasons"},
      {{"dlas-gpu", {{"limit_1_s", 24.0}, {"limit_2_s", 80.0}, {"single_step", true}, {"promote", 1.0}}},
       "9970 s, 638 preempted, 3439 asked, 2055 reasons",
       "18063 s, 851 preempted, 4509 asked, 3036 reasons"},
      {{"gittins", {{"quantum_s", 30.0}, {"warm_up", std::int64_t{10}}}},
       "11664 s, 85 preempted, 593 asked, 1648 reasons",
       "18488 s, 190 preempted, 1141 asked, 2477 reasons"},
      {{"easy", {}}, "10073 s, 0 preempted, 322 asked, 168 reasons", "11264 s, 0 preempted, 288 asked, 138 reasons"},
      {{"easy", {{"use_limit", false}, {"estimate_factor", 3.0}}},
       "9428 s, 0 preempted, 302 asked, 126 reasons",
       "10893 s, 0 preempted, 314 asked, 134 reasons"},
      {{"conservative", {}},
       "10312 s, 0 preempted, 532 asked, 121 reasons",
       "12414 s, 0 preempted, 564 asked, 108 reasons"},
      {{"conservative", {{"use_limit", false}, {"estimate_factor", 0.4}}},
       "10148 s, 0 preempted, 1877 asked, 142 reasons",
       "11368 s, 0 preempted, 1587 asked, 127 reasons"},
      {{"fair-share", {}},
       "9468 s, 0 preempted, 168 asked, 95 reasons",
       "11601 s, 15 preempted, 229 asked, 90 reasons"},
      {{"fair-share", {{"by_user", true}, {"half_life_s", 20.0}}},
       "9046 s, 0 preempted, 154 asked, 87 reasons",
       "12458 s, 14 preempted, 226 asked, 74 reasons"},
      {{"fair-share", {{"strict", true}}},
       "13923 s, 0 preempted, 152 asked, 537 reasons",
       "14054 s, 5 preempted, 196 asked, 291 reasons"},
      {{"drf", {}}, "9468 s, 0 preempted, 168 asked, 95 reasons", "11613 s, 16 preempted, 235 asked, 91 reasons"},
      {{"drf", {{"by_user", true}}},
       "9518 s, 0 preempted, 172 asked, 98 reasons",
       "12034 s, 15 preempted, 230 asked, 76 reasons"},
  };
  for (const Line& line : lines) {
    CAPTURE(line.choice.name);
    CHECK(figures(line.choice, false) == line.alone);
    CHECK(figures(line.choice, true) == line.shared);
  }
}
