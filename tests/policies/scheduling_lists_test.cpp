// These tests compare the preemptive policies with `list_order` with a slow implementation of the rules of Tiresias'
// released simulator, which walks and sorts lists again at every event.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct ListedJob {
  std::int64_t submit = 0, gpus = 0, duration = 0;
  bool running = false;
  std::int64_t executed = 0, last = 0, finish = -1, preemptions = 0;
  std::size_t queue = 0;
};

enum class Rule { srtf, srsf, dlas, dlas_gpu };

class Lists {
 public:
  Lists(std::vector<ListedJob> jobs, std::int64_t gpus, Rule rule) : jobs_{std::move(jobs)}, gpus_{gpus}, rule_{rule} {}

  const std::vector<ListedJob>& run() {
    while (arrived_ < jobs_.size() || !active_.empty()) event();
    return jobs_;
  }
  static constexpr std::int64_t kLimits[] = {7, 30};

 private:
  [[nodiscard]] bool has_queues() const { return rule_ == Rule::dlas || rule_ == Rule::dlas_gpu; }
  [[nodiscard]] std::int64_t left(std::size_t j) const { return jobs_[j].duration - jobs_[j].executed; }

  void event() {
    std::int64_t now = arrived_ < jobs_.size() ? jobs_[arrived_].submit : INT64_MAX;
    for (const std::size_t j : active_) {
      if (jobs_[j].running) now = std::min(now, jobs_[j].last + left(j));
    }
    now = std::min(now, demotion_);
    for (const std::size_t j : active_) {
      if (jobs_[j].running) jobs_[j].executed += now - jobs_[j].last;
      jobs_[j].last = now;
      if (left(j) == 0) jobs_[j].finish = now;
    }
    const auto has_ended = [&](std::size_t j) { return jobs_[j].finish >= 0; };
    std::erase_if(active_, has_ended);
    for (auto& queue : queues_) std::erase_if(queue, has_ended);
    for (; arrived_ < jobs_.size() && jobs_[arrived_].submit == now; ++arrived_) {
      jobs_[arrived_].last = now;
      active_.push_back(arrived_);
      queues_[0].push_back(arrived_);
    }
    if (has_queues()) {
      demote();
    } else {
      std::stable_sort(queues_[0].begin(), queues_[0].end(),
                       [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    }
    walk();
    find_demotion(now);
  }

  [[nodiscard]] std::int64_t key(std::size_t j) const { return left(j) * (rule_ == Rule::srsf ? jobs_[j].gpus : 1); }

  void demote() {
    for (const std::size_t j : active_) {
      ListedJob& job = jobs_[j];
      const std::int64_t service = job.executed * (rule_ == Rule::dlas_gpu ? job.gpus : 1);
      if (!job.running || job.queue == 2 || service < kLimits[job.queue]) continue;
      std::erase(queues_[job.queue], j);
      queues_[++job.queue].push_back(j);
    }
  }

  void walk() {
    std::int64_t free = gpus_;
    for (auto& queue : queues_) {
      for (const std::size_t j : queue) {
        ListedJob& job = jobs_[j];
        const bool fits = job.gpus <= free;
        if (fits) free -= job.gpus;
        if (job.running && !fits) ++job.preemptions;
        job.running = fits;
      }
      if (has_queues()) {
        std::stable_partition(queue.begin(), queue.end(), [&](std::size_t j) { return jobs_[j].running; });
      }
    }
  }

  void find_demotion(std::int64_t now) {
    demotion_ = INT64_MAX;
    if (!has_queues()) return;
    for (const std::size_t j : active_) {
      const ListedJob& job = jobs_[j];
      if (!job.running || job.queue == 2) continue;
      const std::int64_t seconds = kLimits[job.queue] - job.executed;
      const std::int64_t by = rule_ == Rule::dlas_gpu ? job.gpus : 1;
      demotion_ = std::min(demotion_, now + (seconds + by - 1) / by);
    }
  }

  std::vector<ListedJob> jobs_;
  std::int64_t gpus_;
  Rule rule_;
  std::size_t arrived_ = 0;
  std::vector<std::size_t> active_;
  std::vector<std::size_t> queues_[3];
  std::int64_t demotion_ = INT64_MAX;
};

Choice choice_of(Rule rule) {
  if (rule == Rule::srtf || rule == Rule::srsf) {
    return {rule == Rule::srtf ? "srtf" : "srsf", {{"rewalk", true}, {"list_order", true}}};
  }
  return {rule == Rule::dlas ? "dlas" : "dlas-gpu",
          {{"list_order", true},
           {"late_wakeup", true},
           {"whole_seconds", true},
           {"single_step", true},
           {"limit_1_s", static_cast<double>(Lists::kLimits[0])},
           {"limit_2_s", static_cast<double>(Lists::kLimits[1])}}};
}

}  // namespace

TEST_CASE("list_order: the same ends and preemptions as lists that are walked again at every event") {
  for (const Rule rule : {Rule::srtf, Rule::srsf, Rule::dlas, Rule::dlas_gpu}) {
    std::int64_t preemptions = 0;
    for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
      RandomStream stream{seed, "scheduling-lists"};
      const std::int64_t gpus = stream.uniform_integer(3, 12);
      std::vector<ListedJob> jobs;
      std::vector<JobSpec> specs;
      std::int64_t submit = 0;
      for (int j = 0; j < 60; ++j) {
        submit += stream.uniform() < 0.3 ? 0 : stream.uniform_integer(1, 9);
        ListedJob job;
        job.submit = submit;
        job.gpus = std::min(gpus, std::int64_t{1} << stream.uniform_integer(0, 3));
        job.duration = stream.uniform_integer(1, stream.uniform() < 0.3 ? 60 : 6);
        jobs.push_back(job);
        specs.push_back(timed_job(job.submit, static_cast<int>(job.gpus), job.duration));
      }
      const Played played = play(choice_of(rule), static_cast<int>(gpus), specs);
      Lists lists{jobs, gpus, rule};
      const std::vector<ListedJob>& expected = lists.run();
      INFO("rule ", static_cast<int>(rule), ", seed ", seed);
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        CHECK(played.result.jobs[j].finish == Time::seconds(expected[j].finish));
        CHECK(played.result.jobs[j].preemptions == expected[j].preemptions);
        preemptions += expected[j].preemptions;
      }
    }
    INFO("rule ", static_cast<int>(rule));
    CHECK(preemptions > effort(std::int64_t{100}));
  }
}

TEST_CASE("list_order: a job that came and waits stands before one that is promoted after it") {
  // One GPU. A runs until B comes at 13, when it has left the first queue (10 s). C comes at 15 and waits for B. A has
  // waited for half of its running time at 19.5 and joins the first queue behind C. B leaves that queue at 23: C 23-25,
  // A 25-32, and B 32-122.
  const Choice queues{"dlas-gpu",
                      {{"queues", std::int64_t{2}}, {"limit_1_s", 10.0}, {"promote", 0.5}, {"list_order", true}}};
  const Played played = play(queues, 1, {timed_job(0, 1, 20), timed_job(13, 1, 100), timed_job(15, 1, 2)});
  CHECK(played.finishes() == "A32 B122 C25");
  CHECK(played.preemptions() == "A1 B1");
}

TEST_CASE("list_order: a job that is promoted stands before one that comes after it") {
  // As above, but C comes at 20, when A has been in the first queue for half a second. B leaves that queue at 23: A
  // 23-30, C 30-32, and B 32-122.
  const Choice queues{"dlas-gpu",
                      {{"queues", std::int64_t{2}}, {"limit_1_s", 10.0}, {"promote", 0.5}, {"list_order", true}}};
  const Played played = play(queues, 1, {timed_job(0, 1, 20), timed_job(13, 1, 100), timed_job(20, 1, 2)});
  CHECK(played.finishes() == "A30 B122 C32");
  CHECK(played.preemptions() == "A1 B1");
}
