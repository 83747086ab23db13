#include "scenarios/sweep/sweep_runner.hpp"

#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"
#include "sim/statistics.hpp"
#include "text/quantities.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// All complaints of an error, on one line.
std::string one_line(const std::exception& error) {
  std::string text;
  if (const auto* input = dynamic_cast<const InputError*>(&error)) {
    for (Complaint each : input->complaints()) {
      each.source_line.clear();
      text += (text.empty() ? "" : "; ") + each.format();
    }
  }
  return text.empty() ? error.what() : text;
}

}  // namespace

SweepExecutor::Outcome SweepExecutor::operator()(const std::function<const Scenario&()>& scenario, std::uint64_t seed,
                                                 const std::function<bool()>& interrupted) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.run.seed = seed;
  try {
    run(scenario(), interrupted, outcome);
  } catch (const std::exception& error) {
    outcome.run.status = RunStatus::failed;
    outcome.run.error = one_line(error);
  }
  if (outcome.run.status != RunStatus::done) outcome.run.metrics.assign(metrics().size(), kNaN);
  outcome.run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

void SweepExecutor::run(const Scenario& scenario, const std::function<bool()>& interrupted, Outcome& outcome) {
  RunHooks hooks;
  hooks.lists = &lists_;
  const auto begin = std::chrono::steady_clock::now();
  bool late = false;
  hooks.monitor = [&](const Progress&) {
    outcome.interrupted = outcome.interrupted || (interrupted && interrupted());
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    late = late || (timeout_ && passed.count() > timeout_->to_seconds());
    return !outcome.interrupted && !late;
  };
  const IterationStudy& study = scenario.overlap;
  if (study.given()) hooks.model = &model_of(study);
  RunResult result = run_scenario(scenario, outcome.run.seed, hooks);
  if (late && result.interrupted)
    throw InputError{fmt::format("stopped: it ran for longer than {} (--timeout)", print_quantity(*timeout_))};
  if (study.given() && !result.jobs.empty() && result.jobs.front().state == JobState::failed) {
    outcome.run.status = RunStatus::refused;
    outcome.run.error = result.jobs.front().reason;
    return;
  }
  outcome.run.metrics = figures_of_run(result, summarise(result));
  outcome.run.fingerprint = result.fingerprint;
  outcome.run.digest = result.digest;
  outcome.run.events = result.events;
  outcome.jobs = std::move(result.jobs);
}

/// A sweep repeats the model of a study at many points.
const TimedModel& SweepExecutor::model_of(const IterationStudy& study) {
  if (!timed_ || !same_model(*timed_, study.entry)) {
    timed_.reset();
    model_ = study_model(study);
    timed_ = study.entry;
  }
  return model_;
}

void run_sweep(const SweepPlan& plan, std::span<const std::int64_t> runs, std::int64_t manifest, SweepStore& store,
               const SweepHooks& hooks) {
  std::mutex mutex;
  const auto stop = [&] { return hooks.interrupted && hooks.interrupted(); };
  const auto make = [&] {
    // The scenario of a point serves all its seeds.
    return [&, executor = SweepExecutor{plan.lists(), hooks.timeout}, scenario = Scenario{},
            last = std::int64_t{-1}](std::size_t index) mutable {
      const std::int64_t run = runs[index];
      const std::int64_t point = plan.point_of(run);
      const auto scenario_of_point = [&]() -> const Scenario& {
        if (last != point) scenario = plan.scenario(point);
        last = point;
        return scenario;
      };
      SweepExecutor::Outcome outcome = executor(scenario_of_point, plan.seed_of(run), hooks.interrupted);
      if (outcome.interrupted) return;
      outcome.run.run = run;
      outcome.run.point = point;
      outcome.run.manifest = manifest;
      const std::scoped_lock lock{mutex};
      store.record(outcome.run, outcome.jobs);
      if (hooks.recorded) hooks.recorded(outcome.run);
    };
  };
  parallel_for(hooks.threads, runs.size(), make, stop);
}

}  // namespace contend
