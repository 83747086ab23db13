#include "scenarios/study/study_run.hpp"

#include "models/overlap/phases.hpp"
#include "models/overlap/volume.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/iteration_ends.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_iteration.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_places.hpp"
#include "scenarios/training/entry_passes.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/planned_iteration.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

std::optional<double> iterations_to_target(const IterationStudy& study, const PolicyChoice& compression) {
  if (compression.name == "none") return 1;
  const auto& all = study.iterations_to_target;
  const auto is_this = [&](const IterationsToTarget& each) { return each.is_for(compression); };
  const auto given = std::find_if(all.begin(), all.end(), is_this);
  return given == all.end() ? std::nullopt : std::optional{given->factor};
}

/// A variant with everything that its iteration follows from.
struct PreparedVariant {
  OverlapProblem problem;
  StudyPolicies policies;  ///< `problem` refers to them
  PlannedIteration planned;
};

/// Throws InputError if the policies can't work together.
PreparedVariant prepare(const TrainingSystem& system, const TimedModel& model, OverlapProblem problem,
                        const StudyVariant& variant) {
  PreparedVariant made{
      std::move(problem),
      make_study_policies(system.network, system.overlap, system.seed, variant.compression, variant.fusion),
      {}};
  use_method(system, made.policies.method.get(), made.problem);
  made.planned = plan_messages(made.problem, *made.policies.fusion, variant.fusion, variant.compression, model.batch,
                               made.problem.workers);
  if (const auto loads = layer_loads(system.overlap.entry, made.problem.workers); loads)
    loads->apply(made.planned.fused);
  if (const auto launches = layer_launches(system.overlap.entry, 1); launches) launches->apply(made.planned.fused);
  return made;
}

/// The run of a cluster that has one job, of a variant, which repeats the graph so often.
StudyJob lone_job_of(const TrainingSystem& system, const StudyVariant& variant, const IterationGraph& graph,
                     std::int64_t iterations) {
  StudyJob made{default_scenario(), {}};
  Scenario& run = made.scenario;
  static_cast<TrainingSystem&>(run) = system;
  run.overlap = {};
  TrainingEntry entry = system.overlap.entry;
  entry.fusion = variant.fusion;
  entry.compression = variant.compression;
  const int per_server = run.cluster.gpus_per_server;
  if (!run.network.traits().has_topology)  // else the fabric has its servers
    run.cluster.servers = (variant.workers + per_server - 1) / per_server;
  run.placement = default_policy(policy_kind("placement"), "consolidated");
  JobSpec job;
  job.name = variant.name();
  job.model = entry.name;
  job.gpus = variant.workers;
  job.iterations = iterations;
  run.training = {std::move(entry)};
  made.workload.jobs = {std::move(job)};
  made.workload.graphs = {graph.with_ranks(variant.workers)};
  return made;
}

/// Keeps what the first GPU of a job does, and its transfers.
class JobSpans final : public IterationEnds {
 public:
  explicit JobSpans(const IterationGraph& graph) : IterationEnds{graph} {
    for (std::size_t i = 0; i < graph.ops().size(); ++i) ops_.emplace(graph.ops()[i].name, OpId{i});
  }
  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override {
    IterationEnds::compute(gpu, job, op, iteration, start, end);
    if (gpu == GpuId{0U}) spans.push_back({ops_.at(op.name), iteration, start, end});
  }
  void task(GpuId gpu, JobId, const Op& op, std::int64_t iteration, Time start, Time end) override {
    if (gpu == GpuId{0U}) spans.push_back({ops_.at(op.name), iteration, start, end});
  }
  void transfer(const TransferRequest&, const Op& op, std::int64_t iteration, Time start, Time end) override {
    spans.push_back({ops_.at(op.name), iteration, start, end});
  }

  std::vector<Span> spans;

 private:
  std::unordered_map<std::string, OpId> ops_;
};

/// An iteration on a topology, where rates are no closed form: the mean over some iterations of a job alone, after
/// others that let it settle. It has settled if the first and the second half of them take as long.
SteadyState settle_on_fabric(const TrainingSystem& system, const StudyVariant& variant, const IterationGraph& graph) {
  constexpr std::size_t kSettling = 4, kHalf = 4;
  constexpr double kRounding = 1e-6;
  StudyJob job = lone_job_of(system, variant, graph, kSettling + 2 * kHalf + 1);
  JobSpans seen{job.workload.graphs.front()};
  static_cast<void>(
      run_workload(job.scenario, std::move(job.workload), system.seed, {.observer = &seen, .monitor = {}}));
  CONTEND_CHECK(seen.ends.size() > kSettling + 2 * kHalf, "a job that is alone does all of its iterations");
  const auto mean = [&](std::size_t from) {
    return static_cast<double>((seen.ends[from + kHalf] - seen.ends[from]).ns()) / kHalf;
  };
  const double first = mean(kSettling - 1), second = mean(kSettling + kHalf - 1);
  SteadyState state;
  state.iteration_ns = (first + second) / 2;
  state.recurs = std::abs(first - second) <= kRounding * second;
  state.warm_up = kSettling;
  state.period = 2 * kHalf;
  state.ends = std::move(seen.ends);
  state.spans = std::move(seen.spans);
  return state;
}

/// A job that has done its one iteration, from 0 on.
void finish(const TrainingSystem& system, const StudyVariant& variant, const PreparedVariant& made, JobResult& job) {
  double iteration_ns = 0;
  bool settled = true;
  for (const SharedGraph& each : repeating_graphs(made.planned.fused.graph)) {
    const SteadyState state = system.network.traits().has_topology ? settle_on_fabric(system, variant, each.graph)
                                                                   : settle(system.overlap, made.problem, each.graph);
    iteration_ns += each.share * state.iteration_ns;
    settled = settled && state.recurs;
  }
  IterationPlan plan = *made.planned.notes.plan;
  plan.iterations_to_target = iterations_to_target(system.overlap, variant.compression);
  plan.settled = settled;
  job.state = JobState::finished;
  job.iterations_done = job.attempts = job.starts = 1;
  job.start = Time{};
  // Whole nanoseconds, as in other runs. Rounded times of kernels may exceed the mean of an iteration by less than one.
  constexpr double kRounding = 1e-3;
  const Time iteration = Time::nanoseconds(static_cast<std::int64_t>(iteration_ns + kRounding));
  job.held = std::max(iteration, plan.compute + plan.kernels);
  job.finish = job.held;
  job.compute = GpuTime{plan.compute + plan.kernels, job.gpus};
  job.gpu_time = GpuTime{job.held, job.gpus};
  const int per_server = std::min(system.cluster.gpus_per_server, variant.workers);
  job.traffic = iteration_traffic(made.planned.fused.graph.with_ranks(variant.workers), per_server);
  job.notes = made.planned.notes;
  job.notes.plan = std::make_shared<const IterationPlan>(std::move(plan));
}

JobResult run_variant(const TrainingSystem& system, const TimedModel& model, const OverlapProblem& problem,
                      const StudyVariant& variant) {
  JobResult job;
  job.name = variant.name();
  job.model = system.overlap.entry.name;
  job.gpus = variant.workers;
  job.servers = (variant.workers + system.cluster.gpus_per_server - 1) / system.cluster.gpus_per_server;
  job.iterations = 1;
  IterationPlan names;  // a job that fails has them, too
  names.fusion = policy_title("fusion", variant.fusion);
  names.compression = policy_title("compression", variant.compression);
  names.settled = false;
  job.notes.plan = std::make_shared<const IterationPlan>(std::move(names));
  try {
    finish(system, variant, prepare(system, model, problem, variant), job);
  } catch (const InputError& error) {
    job.state = JobState::failed;
    job.reason = error.complaints().front().reason;
  }
  return job;
}

/// The row of the same part and operation, which is added if it isn't there.
AccountRow& row_for(std::vector<AccountRow>& rows, const AccountRow& like) {
  const auto found = std::ranges::find_if(
      rows, [&](const AccountRow& each) { return each.part == like.part && each.what == like.what; });
  if (found != rows.end()) return *found;
  return rows.emplace_back(AccountRow{like.part, like.what, 0});
}

/// For what a job spends its mean iteration. Adds to the messages what they cost, per iteration that has them.
void account(const TrainingSystem& system, const StudyVariant& variant, const PreparedVariant& made,
             PhasedMessages& messages, StudyMessages& job) {
  const auto kind_of = [&](const Op& op) { return messages.kind_of(op); };
  job.measured = system.network.traits().has_topology;
  for (const SharedGraph& each : repeating_graphs(made.planned.fused.graph)) {
    const SteadyState state = job.measured ? settle_on_fabric(system, variant, each.graph)
                                           : steady_state(each.graph, made.problem.cost, {.spans = true});
    const auto end_of = [&](std::int64_t count) { return state.ends[static_cast<std::size_t>(count - 1)]; };
    const Time from = end_of(state.warm_up), to = end_of(state.warm_up + state.period);
    const auto iterations = static_cast<double>(state.period);
    // Where phases take turns, a message is in some of the iterations of the graph only.
    const auto of_those_with_it = [&](std::string_view op) {
      return each.graph.phases().cycle_length() > 1 ? messages.phase_of(op)->share : 1;
    };
    for (AccountRow row : account_of(each.graph, state.spans, from, to, state.period, kind_of)) {
      // Timers are not among the spans of a run.
      if (job.measured && row.part == IterationPart::other) row.part = IterationPart::timer;
      StudyMessage* const message = messages.of(row.what);
      if (row.part == IterationPart::exposed && message != nullptr)
        message->exposed_s += row.seconds / of_those_with_it(row.what);
      row_for(job.account, row).seconds += each.share * row.seconds;
    }
    if (!job.measured) continue;
    std::map<std::string, double, std::less<>> transfers;
    for (const Span& span : state.spans) {
      const Op& op = each.graph.ops()[span.op.index()];
      if (op.kind == OpKind::collective && span.end > from && span.end <= to && messages.of(op.name) != nullptr)
        transfers[op.name] += static_cast<double>((span.end - span.start).ns());
    }
    std::map<StudyMessage*, double> sums;
    for (const auto& [op, ns] : transfers) sums[messages.of(op)] += ns / iterations / of_those_with_it(op);
    for (const auto& [message, ns] : sums) message->transfer = Time::nanoseconds(std::llround(ns));
  }
  std::ranges::stable_sort(job.account, {}, &AccountRow::part);
}

/// With `explained`, also for what the job spends its time.
StudyMessages messages_of(const TrainingSystem& system, const TimedModel& model, const OverlapProblem& problem,
                          const StudyVariant& variant, bool explained) {
  const PreparedVariant made = prepare(system, model, problem, variant);
  PhasedMessages messages = phased_messages(made.planned.fused, made.problem);
  StudyMessages job{variant.name(), {}};
  if (explained) account(system, variant, made, messages, job);
  job.phases = std::move(messages.phases);
  return job;
}

/// Calls `run` with each variant and its problem on several threads. Returns the results of `run`, up to the first that
/// is missing because `ended`, called after each of them, was false. If some throw, the first of them is rethrown.
template <class Given, class Run, class Ended>
std::vector<Given> for_each_variant(const TrainingSystem& system, const TimedModel& model, unsigned threads,
                                    const Run& run, const Ended& ended) {
  std::vector<OverlapProblem> problems;
  for (const int workers : system.overlap.workers) problems.push_back(study_problem(system, model, workers));
  const std::vector<StudyVariant> variants = study_variants(system.overlap);
  const std::size_t each = variants.size() / problems.size();
  struct Outcome {
    std::optional<Given> given;
    std::exception_ptr error;
  };
  std::vector<Outcome> outcomes(variants.size());
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  const auto body = [&](std::size_t item) {
    try {
      outcomes[item].given = run(variants[item], problems[item / each]);
    } catch (...) {
      outcomes[item].error = std::current_exception();
      stopped = true;
      return;
    }
    const std::scoped_lock lock{mutex};
    if (!ended()) stopped = true;
  };
  parallel_for(
      threads, outcomes.size(), [&] { return body; }, [&] { return stopped.load(); });
  std::vector<Given> all;
  for (Outcome& outcome : outcomes) {
    // Items are taken in order, so the first error is the same whatever the number of threads.
    if (outcome.error) std::rethrow_exception(outcome.error);
    if (!outcome.given) break;
    all.push_back(*std::move(outcome.given));
  }
  return all;
}

}  // namespace

std::string policies_of(const JobResult& job) {
  const IterationPlan& plan = *job.notes.plan;
  return plan.compression == "none" ? plan.fusion : plan.compression + " with " + plan.fusion;
}

std::string StudyVariant::name() const {
  return fmt::format("{} workers, {}, {}", workers, policy_title("compression", compression),
                     policy_title("fusion", fusion));
}

std::vector<StudyVariant> study_variants(const IterationStudy& study) {
  std::vector<StudyVariant> variants;
  for (const int workers : study.workers)
    for (const PolicyChoice& compression : study.compression)
      for (const PolicyChoice& fusion : study.fusion) variants.push_back({workers, compression, fusion});
  return variants;
}

RunResult run_study(const TrainingSystem& system, const StudyHooks& hooks) {
  std::optional<TimedModel> own;
  if (hooks.model == nullptr) own = study_model(system.overlap);
  const TimedModel& model = own ? *own : *hooks.model;
  Progress progress;
  progress.jobs = study_variants(system.overlap).size();
  RunResult result;
  result.jobs = for_each_variant<JobResult>(
      system, model, hooks.threads,
      [&](const StudyVariant& variant, const OverlapProblem& problem) {
        return run_variant(system, model, problem, variant);
      },
      [&] {
        ++progress.jobs_ended;
        return !hooks.monitor || hooks.monitor(progress);
      });
  result.interrupted = result.jobs.size() < progress.jobs;
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    result.jobs[i].id = JobId{i};
    if (result.jobs[i].state == JobState::finished) result.end = std::max(result.end, result.jobs[i].finish);
  }
  result.digest = digest_of(result);
  return result;
}

StudyJob study_job(const TrainingSystem& system, const StudyVariant& variant, std::int64_t iterations) {
  const IterationStudy& study = system.overlap;
  const TimedModel model = study_model(study);
  const auto prepared = [&] {
    try {
      return prepare(system, model, study_problem(system, model, variant.workers), variant);
    } catch (const InputError& error) {
      throw InputError{placed(study, refusing_key(study), error.complaints())};
    }
  };
  const PreparedVariant made = prepared();
  StudyJob job = lone_job_of(system, variant, made.planned.fused.graph, iterations);
  job.workload.notes = {made.planned.notes};
  return job;
}

std::vector<Complaint> why_impossible(const IterationStudy& study, const RunResult& result) {
  const auto failed = [](const JobResult& job) { return job.state == JobState::failed; };
  if (result.jobs.empty() || !std::ranges::all_of(result.jobs, failed)) return {};
  const JobResult& first = result.jobs.front();
  return {
      study_complaint(study, refusing_key(study),
                      fmt::format("nothing of this study can be done here: {}: {}", policies_of(first), first.reason))};
}

std::vector<StudyMessages> messages_of_study(const TrainingSystem& system, unsigned threads, bool explained) {
  const TimedModel model = study_model(system.overlap);
  std::vector<StudyMessages> all = for_each_variant<StudyMessages>(
      system, model, threads,
      [&](const StudyVariant& variant, const OverlapProblem& problem) {
        try {
          return messages_of(system, model, problem, variant, explained);
        } catch (const InputError&) {
          return StudyMessages{variant.name(), {}};  // its run says why
        }
      },
      [] { return true; });
  std::erase_if(all, [](const StudyMessages& each) { return each.phases.empty(); });
  return all;
}

}  // namespace contend
