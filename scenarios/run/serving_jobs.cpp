#include "scenarios/run/serving_jobs.hpp"

#include "policies/registry.hpp"
#include "scenarios/run/federated_jobs.hpp"
#include "scenarios/run/fleet_service.hpp"
#include "scenarios/run/rl_jobs.hpp"
#include "scenarios/run/service_power.hpp"
#include "scenarios/run/service_requests.hpp"
#include "scenarios/training/serving_steps.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "text/quantities.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// True if the policy plans with the places of running jobs until their ends, so that jobs keep them.
bool plans_places(std::string_view name) {
  const auto policies = scheduling_policies();
  const auto policy = std::ranges::find(policies, name, &PolicyRow<SchedulingPolicy>::name);
  return policy != policies.end() && policy->plans_places;
}

template <class Entry>
const Entry* entry_named(const std::vector<Entry>& entries, std::string_view name) {
  const auto entry = std::ranges::find(entries, name, &Entry::name);
  return entry == entries.end() ? nullptr : &*entry;
}

FleetSpec fleet_of(const ServingEntry& entry, int replicas, const ServingRun& run, std::string_view job) {
  FleetSpec fleet;
  fleet.replicas = entry.apart ? entry.apart->prefill : replicas;
  fleet.replica = entry.replica;
  fleet.replica.leaps = run.leaps;
  fleet.routing = entry.route;
  if (entry.drafts)
    fleet.speculation = {.drafts = entry.drafts->tokens,
                         .accepted = {},
                         .acceptance = entry.drafts->accepted,
                         .seed = RandomStream{run.seed, fmt::format("serving/{}/{}/drafts", entry.name, job)}.next()};
  fleet.scaling.by_owner = true;
  if (entry.scale) {
    fleet.scaling.period = entry.scale->period;
    fleet.scaling.up = entry.scale->up;
    fleet.scaling.down = entry.scale->down;
    fleet.scaling.cold = entry.scale->cold_start;
    fleet.scaling.least = entry.scale->min;
    fleet.scaling.most = entry.scale->max;
  }
  if (entry.apart) {
    fleet.decode.replicas = replicas - entry.apart->prefill;
    fleet.decode.latency = entry.apart->latency;
    fleet.decode.per_token = entry.apart->per_token;
  }
  return fleet;
}

/// The record of a request that has the fleet to itself.
RequestResult answered_alone(FleetSpec spec, ServedRequest request) {
  spec.scaling = {};
  Fleet fleet{spec};
  request.arrival = Time{};
  fleet.submit(request);
  for (Time next; (next = fleet.next()) != Time::never(); fleet.begin_steps()) fleet.advance(next);
  return fleet.record(0);
}

/// Throws InputError if even the request that is answered fastest misses a target on an idle replica.
void check_targets(const ServingEntry& entry, const ServicePlan& plan) {
  const auto refuse = [&](const char* target, Time wanted, Time least) {
    if (wanted >= least) return;
    throw InputError{{.key = fmt::format("serving.{}.targets.{}", entry.name, target),
                      .reason = fmt::format("no request can meet {}: the shortest takes {} on an idle replica",
                                            print_quantity(wanted), print_quantity(least)),
                      .hint = "a longer time, a faster step, or more GPUs for each replica"}};
  };
  std::int64_t least = INT64_MAX;  // tokens that a step must compute before an answer begins
  for (const ServedRequest& each : plan.requests)
    least = std::min(least, std::max<std::int64_t>(1, each.prompt - each.hits));
  if (entry.targets.ttft)
    refuse("ttft", *entry.targets.ttft,
           answered_alone(plan.fleet, {.arrival = Time{}, .prompt = least, .answer = 1}).ttft());
  // A transfer is paid once an answer, and drafts are accepted by chance: then the shortest request isn't the fastest.
  if (!entry.targets.tpot || entry.apart || entry.drafts) return;
  const auto cached = [](const ServedRequest& each) {
    return each.answer < 2 ? INT64_MAX : each.prompt + each.answer / 2;
  };
  const auto shortest = std::ranges::min_element(plan.requests, {}, cached);
  if (shortest->answer < 2) return;
  const RequestResult record = answered_alone(plan.fleet, *shortest);
  refuse("tpot", *entry.targets.tpot, Time::nanoseconds((record.end - record.first).ns() / (record.answer - 1)));
}

/// Makes the plans of jobs, each once.
class ServicePlans {
 public:
  ServicePlans(const TrainingSystem& system, const ServingRun& run) : system_{system}, run_{run} {}

  const std::shared_ptr<const ServicePlan>& of(const ServingEntry& entry, const JobRequest& job) {
    auto& plan = plans_[{entry.name, job.gpus, job.gpu_type, entry.requests.trace && !entry.drafts ? "" : job.name}];
    if (!plan) plan = std::make_shared<const ServicePlan>(make(entry, job));
    return plan;
  }

 private:
  [[nodiscard]] ServicePlan make(const ServingEntry& entry, const JobRequest& job) const {
    RequestList list = requests_of(entry, run_.seed, job.name);
    ServicePlan plan{.fleet = fleet_of(entry, job.gpus / entry.gpus(), run_, job.name),
                     .gpus_per_replica = entry.gpus(),
                     .requests = std::move(list.requests),
                     .targets = entry.targets,
                     .power = row_place(system_, entry),
                     .keeps_gpus = plans_places(run_.scheduling)};
    if (entry.scale && plan.keeps_gpus)
      throw InputError{{.key = fmt::format("serving.{}.scale", entry.name),
                        .reason = fmt::format("{} plans with the GPUs that a job has until it ends, and replicas would "
                                              "come and go",
                                              run_.scheduling),
                        .hint = "another policies.scheduling"}};
    const Fleet fleet{plan.fleet};
    for (const ServedRequest& each : plan.requests) {
      try {
        fleet.check(each);
      } catch (const InputError& error) {
        const auto number = &each - plan.requests.data();
        Complaint complaint{
            .key = fmt::format("serving.{}.requests", entry.name),
            .reason = error.complaints().front().reason,
            .hint = fmt::format("more blocks or tokens in serving.{}, or shorter requests", entry.name)};
        if (entry.requests.trace) {
          complaint.file = *entry.requests.trace;
          complaint.line = static_cast<int>(number) + list.first_line;
          complaint.key.clear();
        }
        throw InputError{{std::move(complaint)}};
      }
    }
    check_targets(entry, plan);
    return plan;
  }

  const TrainingSystem& system_;
  const ServingRun& run_;
  std::map<std::tuple<std::string, int, std::string, std::string>, std::shared_ptr<const ServicePlan>> plans_;
};

/// A fault of a job that names an entry: its column, the reason, and a hint.
struct Fault {
  std::string_view column, reason;
  std::string message, hint;
};

/// What no job may have that serves others.
std::optional<Fault> fault_of_service(const JobRequest& job) {
  if (job.gpu_share > 0 && job.gpu_share < kWholeGpu)
    return Fault{"gpu_share",
                 "a part of a GPU for a job that serves others, whose steps hold on whole ones",
                 {},
                 "leave the field empty"};
  if (job.outcome != JobOutcome::completed)
    return Fault{
        "outcome", "an outcome of a job that serves others, and ends when it has", {}, "leave the field empty"};
  if (job.elastic())
    return Fault{"min_gpus", "other numbers of GPUs of a job that serves others", {}, "leave the fields empty"};
  return std::nullopt;
}

/// `gpus` are those whose replicas answer.
std::optional<Fault> fault_of(const TrainingSystem& system, const ServingEntry& entry, const JobRequest& job,
                              int gpus) {
  const int each = entry.gpus(), replicas = gpus / each;
  if (gpus % each != 0)
    return Fault{
        "gpus",
        "GPUs that are no whole replicas",
        fmt::format("expected a multiple of {}, the GPUs of a replica of serving.{}, got {}", each, entry.name, gpus),
        {}};
  if (entry.apart && replicas <= entry.apart->prefill)
    return Fault{
        "gpus", "no GPUs to decode",
        fmt::format("{} are for prefill (serving.{}.apart), and no other to decode",
                    replicas == 1 ? "the only replica is" : fmt::format("all {} replicas", replicas), entry.name),
        "more GPUs, or fewer replicas for prefill"};
  if (entry.scale && (replicas < entry.scale->min || replicas > entry.scale->max))
    return Fault{"gpus", "other numbers of replicas than may be",
                 fmt::format("{} make {} of serving.{}, which has {} to {} (scale)", gpus,
                             replicas == 1 ? "1 replica" : fmt::format("{} replicas", replicas), entry.name,
                             entry.scale->min, entry.scale->max),
                 "GPUs with which the job begins"};
  if (auto fault = fault_of_service(job)) return fault;
  const bool names_type =
      std::ranges::find(system.cluster.types, job.gpu_type, &NamedServerType::name) != system.cluster.types.end();
  if (system.cluster.types.size() > 1 && !names_type)
    return Fault{"gpu_type", "no type on which the steps of a replica hold",
                 fmt::format("the step of serving.{} holds on one type of GPU, and the cluster has {}", entry.name,
                             system.cluster.types.size()),
                 "name a type of cluster.types"};
  return std::nullopt;
}

/// Gives a job the service of RL post-training, on such replicas.
void post_train(const TrainingSystem& system, const RlEntry& entry, const ServingEntry& rollout, const FleetSpec& pool,
                std::uint64_t seed, JobRequest& job) {
  RlEntry timed = entry;
  timed.weights = weights_time(system, entry, entry.rollout_gpus.value_or(0), job.gpus);
  RlPlan made = rl_plan(system, timed, pool, job.gpus, seed, job.name);
  made.gpus_per_replica = rollout.gpus();
  const auto plan = std::make_shared<const RlPlan>(std::move(made));
  job.duration = std::max(Time::nanoseconds(1), plan->alone);
  job.service = std::make_shared<const ServiceMaker>(
      [plan](Time submitted) { return std::make_unique<RlService>(plan, submitted); });
}

/// Makes a job the server of federated training.
void serve_clients(const FederatedEntry& entry, std::uint64_t seed, JobRequest& job) {
  const auto plan = std::make_shared<const FederatedPlan>(federated_plan(entry, job.gpus, seed, job.name, job.submit));
  job.serves = true;
  job.iterations = 1;
  job.duration = std::max(Time::nanoseconds(1), plan->alone);
  job.service = std::make_shared<const ServiceMaker>(
      [plan](Time /*submitted*/) { return std::make_unique<FederatedService>(plan); });
}

}  // namespace

std::shared_ptr<const JobList> with_services(const TrainingSystem& system, const ServingRun& run,
                                             std::shared_ptr<const JobList> list) {
  const auto names_entry = [&](const JobRequest& job) {
    const bool is_named = entry_named(system.serving, job.model) != nullptr ||
                          entry_named(system.rl, job.model) != nullptr ||
                          entry_named(system.federated, job.model) != nullptr;
    return job.serves || (job.service == nullptr && !job.duration && is_named);
  };
  if (std::ranges::none_of(list->jobs, names_entry)) return list;
  JobList jobs = *list;
  RowReport report{run.source, false};
  ServicePlans plans{system, run};
  std::map<std::pair<std::string, std::string>, ServingEntry> timed;  // by name and type
  for (std::size_t j = 0; j < jobs.jobs.size(); ++j) {
    JobRequest& job = jobs.jobs[j];
    report.count_row();
    if (!names_entry(job)) continue;
    const int line = jobs.lines.empty() ? 0 : jobs.lines[j];
    if (const FederatedEntry* const federated = entry_named(system.federated, job.model)) {
      if (const auto fault = fault_of_service(job))
        report.bad(line, fault->column, fault->reason, fault->message, fault->hint);
      else
        serve_clients(*federated, run.seed, job);
      continue;
    }
    const RlEntry* const rl = entry_named(system.rl, job.model);
    const ServingEntry* const named = entry_named(system.serving, rl != nullptr ? rl->rollout : job.model);
    if (named == nullptr) continue;  // no model at all: the check of models names it
    const int gpus = rl != nullptr ? rollout_gpus(*rl, job.gpus) : job.gpus;
    if (rl != nullptr && rl->rollout_gpus && gpus >= job.gpus) {
      report.bad(line, "gpus", "no GPUs to train",
                 fmt::format("rl.{}.rollout_gpus, {}, are all that the job has", rl->name, gpus));
      continue;
    }
    if (const auto fault = fault_of(system, *named, job, gpus)) {
      report.bad(line, fault->column, fault->reason, fault->message, fault->hint);
      continue;
    }
    const auto [at, is_new] = timed.try_emplace({named->name, job.gpu_type}, *named);
    const ServingEntry& entry = at->second;
    if (is_new) {
      at->second.replica = replica_of(system, *named, job.gpu_type);
      give_clocks(system, *named, job.gpu_type, at->second.replica);
    }
    job.serves = true;
    job.iterations = 1;
    if (rl != nullptr) {
      post_train(system, *rl, entry, fleet_of(entry, gpus / entry.gpus(), run, job.name), run.seed, job);
      continue;
    }
    const std::shared_ptr<const ServicePlan> plan = plans.of(entry, job);
    job.duration = std::max(Time::nanoseconds(1), plan->requests.back().arrival);
    job.service = std::make_shared<const ServiceMaker>(
        [plan](Time submitted) { return std::make_unique<FleetService>(plan, submitted); });
  }
  report.throw_if_bad();
  return std::make_shared<const JobList>(std::move(jobs));
}

}  // namespace contend
