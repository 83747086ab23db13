#include "scenarios/run/batch.hpp"

#include "scenarios/run/run_scenario.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace contend {
namespace {

struct Task {
  std::size_t scenario = 0;
  std::uint64_t seed = 0;
  std::optional<Replica> replica;
  std::exception_ptr error;
};

Replica run_one(const Scenario& scenario, std::uint64_t seed, std::size_t run, unsigned threads, JobLists& lists,
                const BatchHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  RunHooks run_hooks;
  run_hooks.observer = hooks.observer;
  run_hooks.lists = &lists;
  run_hooks.threads = threads;
  run_hooks.monitor = [&](const Progress& progress) {
    if (hooks.progress) hooks.progress(run, progress);
    return !hooks.interrupted || !hooks.interrupted();
  };
  Replica replica;
  replica.seed = seed;
  if (hooks.certify) run_hooks.logs = &replica.logs;
  if (hooks.keep_failed) run_hooks.failure = &replica.failure;
  replica.result = run_scenario(scenario, seed, run_hooks);
  replica.summary = summarise(replica.result);
  replica.draws = draws_of(scenario.workload);
  replica.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Summary& summary = replica.summary;
  if (hooks.progress)
    hooks.progress(run, {.now = replica.result.end,
                         .jobs_ended = summary.finished + summary.failed + summary.given_up,
                         .jobs = summary.jobs,
                         .events = replica.result.events});
  return replica;
}

}  // namespace

std::size_t batch_size(std::span<const Scenario> scenarios) {
  std::size_t runs = 0;
  for (const Scenario& scenario : scenarios) runs += static_cast<std::size_t>(scenario.repeat);
  return runs;
}

std::vector<std::vector<Replica>> run_batch(std::span<const Scenario> scenarios, const BatchHooks& hooks) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    for (int replica = 0; replica < scenarios[i].repeat; ++replica)
      tasks.push_back({.scenario = i,
                       .seed = scenarios[i].seed + static_cast<std::uint64_t>(replica),
                       .replica = std::nullopt,
                       .error = nullptr});
  CONTEND_CHECK(hooks.observer == nullptr || tasks.size() == 1, "an observer follows a single run");

  JobLists own;
  JobLists& lists = hooks.lists != nullptr ? *hooks.lists : own;
  const unsigned each = std::max(1U, hooks.threads / static_cast<unsigned>(std::max<std::size_t>(1, tasks.size())));
  // Tasks are taken in order, so all tasks before a failing one have been taken too, and the first error is found.
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (;;) {
      if (failed || (hooks.interrupted && hooks.interrupted())) return;
      const std::size_t run = next++;
      if (run >= tasks.size()) return;
      Task& task = tasks[run];
      try {
        task.replica = run_one(scenarios[task.scenario], task.seed, run, each, lists, hooks);
      } catch (...) {
        task.error = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads = std::min<std::size_t>(std::max(1U, hooks.threads), tasks.size());
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }

  std::vector<std::vector<Replica>> results(scenarios.size());
  for (Task& task : tasks) {
    if (task.error) std::rethrow_exception(task.error);
    if (task.replica) results[task.scenario].push_back(*std::move(task.replica));
  }
  return results;
}

}  // namespace contend
