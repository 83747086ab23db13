#include "scenarios/run/explain_job.hpp"

#include "models/workload.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/run/account_recorder.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

/// The messages of the job as they were planned, and the time for which each of its iterations waits for data.
struct Plans {
  PhasedMessages messages;
  Time input;
};

Plans plans_of(const TrainingSystem& system, const JobSpec& job) {
  Plans plans;
  TrainingGraphs graphs{system};
  const std::optional<PlannedTraining> planned = graphs.planned(job.model, job.gpus);
  if (!planned) return plans;
  plans.messages = phased_messages(planned->planned.fused, planned->problem);
  plans.input = variant_entry(*find_entry(system.training, base_of(job.model)), job.model).input;
  return plans;
}

/// The account of the job and its messages, from what a run has shown.
StudyMessages iteration_of(AccountRecorder& recorder, Plans& plans, const ExplainedJob& explained) {
  const JobResult& result = explained.result.jobs[explained.job.index()];
  const auto iterations = static_cast<double>(result.iterations_done);
  StudyMessages job{.job = result.name, .phases = {}, .account = {}, .measured = true};
  job.account = recorder.take(explained.explanation.attempts, explained.result.end, result.iterations_done);
  // The wait for data is part of a task that begins with it.
  const auto computing = std::ranges::find(job.account, IterationPart::compute, &AccountRow::part);
  if (computing != job.account.end() && plans.input > Time{}) {
    const double input = std::min(plans.input.to_seconds(), computing->seconds);
    const auto known = std::ranges::find(job.account, IterationPart::input, &AccountRow::part);
    if (known == job.account.end()) {
      computing->seconds -= input;
      job.account.insert(computing + 1, {IterationPart::input, {}, input});
    }
  }
  PhasedMessages& messages = plans.messages;
  for (StudyPhase& phase : messages.phases)
    for (StudyMessage& message : phase.messages) message.transfer = Time{};
  for (const auto& [op, sent] : recorder.transfers()) {
    if (StudyMessage* const message = messages.of(op); message != nullptr)
      message->transfer += Time::nanoseconds(sent.time.ns() / sent.count);
  }
  for (const AccountRow& row : job.account) {
    StudyMessage* const message = row.part == IterationPart::exposed ? messages.of(row.what) : nullptr;
    if (message == nullptr) continue;
    const auto count = static_cast<double>(recorder.transfers().find(row.what)->second.count);
    message->exposed_s += row.seconds * iterations / count;
  }
  job.phases = std::move(messages.phases);
  return job;
}

}  // namespace

ExplainedJob explain_job(const Scenario& scenario, std::uint64_t seed, const std::string& name, const RunHooks& hooks,
                         ExplainWhat what) {
  Workload workload = scenario_workload(scenario, seed);
  ExplainedJob explained;
  std::vector<std::string> names;
  for (const JobSpec& job : workload.jobs) {
    if (job.name == name) explained.job = JobId{names.size()};
    names.push_back(job.name);
  }
  if (!explained.job.valid()) {
    const std::string nearest = did_you_mean(name, names);
    throw InputError{{.reason = fmt::format("there is no job \"{}\"", name),
                      .hint = nearest.empty() ? fmt::format("the first is \"{}\"", names.front()) : nearest}};
  }
  WaitRecorder recorder{explained.job, workload.jobs, scenario.cluster.gpus_per_server};
  RunHooks recording = hooks;
  recording.decisions = &recorder;
  recording.watched = explained.job;
  recording.stalls = [&](const std::vector<StalledTransfer>& stalls) {
    for (const StalledTransfer& each : stalls)
      if (each.job == explained.job && (!explained.stall || each.since < explained.stall->since))
        explained.stall = each;
  };
  const JobSpec& spec = workload.jobs[explained.job.index()];
  if (spec.level >= 0) explained.level = workload.levels[static_cast<std::size_t>(spec.level)];
  const bool watches = what == ExplainWhat::waits_and_iterations && !spec.duration;
  Plans plans;
  if (watches) plans = plans_of(scenario, spec);
  AccountRecorder account{explained.job, recorder, [&](const Op& op) { return plans.messages.kind_of(op); }};
  if (watches) recording.observer = &account;
  explained.result = run_workload(scenario, std::move(workload), seed, recording);
  explained.explanation = recorder.take(explained.result.end);
  if (watches && explained.result.jobs[explained.job.index()].iterations_done > 0)
    explained.iteration = iteration_of(account, plans, explained);
  return explained;
}

}  // namespace contend
