#include "scenarios/run/scenario_jobs.hpp"

#include "models/training_profile.hpp"
#include "models/workloads/closed_loop.hpp"
#include "models/workloads/scaling.hpp"
#include "models/workloads/synthetic.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/run/job_paces.hpp"
#include "scenarios/run/job_regimes.hpp"
#include "scenarios/run/job_sizes.hpp"
#include "scenarios/run/serving_jobs.hpp"
#include "scenarios/run/usable_gpus.hpp"
#include "scenarios/training/training_check.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/check.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/sharing_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::vector<JobRequest> drawn_jobs(const ClusterSetup& cluster, const FailureSetup& failures,
                                   const WorkloadSetup& workload, std::uint64_t seed) {
  if (!workload.like) return generate_jobs(workload.generate, seed);
  SyntheticWorkload synthetic = workload.synthetic;
  synthetic.like = find_fitted_workload(*workload.like);
  CONTEND_CHECK(synthetic.like != nullptr, "a scenario names a fitted workload");
  return generate_like(synthetic, gpus_of(cluster, failures), seed);
}

/// The virtual cluster that takes the jobs of those that are not listed, or nullptr.
const NamedVirtualCluster* others_of(const ClusterSetup& cluster) {
  const auto& vcs = cluster.vcs;
  const auto found = std::ranges::find_if(vcs, &NamedVirtualCluster::others);
  return found == vcs.end() ? nullptr : &*found;
}

std::vector<std::string> vc_names(const ClusterSetup& cluster) {
  std::vector<std::string> names;
  for (const NamedVirtualCluster& vc : cluster.vcs) names.push_back(vc.name);
  return names;
}

/// Throws InputError with the rows that name a virtual cluster that `cluster.vcs` lacks. Without `cluster.vcs`, the
/// virtual clusters of jobs have no effect.
void check_virtual_clusters(const ClusterSetup& cluster, const WorkloadSetup& workload, const JobList& list) {
  if (cluster.vcs.empty() || others_of(cluster) != nullptr) return;
  const std::vector<std::string> names = vc_names(cluster);
  RowReport report{*workload.jobs, false};
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    report.count_row();
    const std::string& vc = list.jobs[j].vc;
    if (vc.empty() || std::ranges::find(names, vc) != names.end()) continue;
    report.bad(list.lines[j], "vc", "cluster.vcs has no such virtual cluster",
               fmt::format("cluster.vcs has no virtual cluster {}", quote_for_message(vc)), did_you_mean(vc, names));
  }
  report.throw_if_bad(
      "list these virtual clusters in cluster.vcs, let one of them take all others by `others: true`, or ignore the "
      "virtual clusters of jobs by --set cluster.vcs=[]");
}

/// Throws InputError with the rows of jobs of iterations whose model is neither an entry of `training` nor a profile.
void check_models(const std::vector<TrainingEntry>& training, const WorkloadSetup& workload, const JobList& list) {
  const std::vector<std::string> names = trainable_names(training);
  RowReport report{*workload.jobs, false};
  std::string_view last;
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    const JobRequest& job = list.jobs[j];
    report.count_row();
    if (job.duration || job.model == last) continue;
    const std::string base{base_of(job.model)};
    if (std::ranges::find(names, base) == names.end())
      report_unknown_model(report, list.lines[j], base, names);
    else
      last = job.model;
  }
  report.throw_if_bad();
}

/// Throws InputError with the rows of jobs of iterations that say how much memory they take on each GPU.
void check_memory(const WorkloadSetup& workload, const JobList& list) {
  RowReport report{*workload.jobs, false};
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    report.count_row();
    if (!list.jobs[j].duration && list.jobs[j].gpu_memory > Bytes{})
      report.bad(list.lines[j], "gpu_memory", "has no effect on a job of iterations", {},
                 "leave the field empty; `memory` of its entry of training says how much it takes");
  }
  report.throw_if_bad();
}

/// What is wrong with the members that a job has of its own; the key of a complaint ends with the member.
std::vector<Complaint> member_complaints(const std::vector<TrainingEntry>& training, TrainingGraphs& graphs,
                                         const JobRequest& job) {
  const std::string base{base_of(job.model)};
  const std::string first{job.members.front().first};
  const TrainingEntry* const entry = find_entry(training, base);
  if (entry == nullptr)
    return {{.key = first,
             .reason = fmt::format("{} is a training profile, which was measured as a whole", quote_for_message(base)),
             .hint = fmt::format("an entry of training: {{model: {}{}, {}: {}}}", kPublished, base, first,
                                 job.members.front().second)}};
  if (entry->parallel)
    return {{.key = first,
             .reason = fmt::format("training.{}.parallel says how this job trains", base),
             .hint = "an entry of its own for such jobs"}};
  try {
    for (const auto& member : job.members) {
      TrainingEntry bare = *entry;
      bare.given.clear();
      bare = variant_entry(bare, variant_of(base, {member}));
      if (bare.given.size() == 1 && bare.given.contains(member.first)) continue;
      return {{.key = std::string{member.first},
               .reason = fmt::format("{} is more than a value of {}", quote_for_message(member.second), member.first),
               .hint = "a map such as {policy: ddp, mib: 10} stands in braces"}};
    }
    const TrainingEntry own = variant_entry(*entry, job.model);
    if (std::vector<Complaint> complaints = entry_complaints(own); !complaints.empty()) return complaints;
    if (job.gpus == 1 && job.members.front().first != "batch")
      return {{.key = first, .reason = "has no effect: a job of 1 GPU sends nothing", .hint = "leave the field empty"}};
    static_cast<void>(graphs(job.model, job.gpus));
  } catch (const InputError& error) {
    return error.complaints();
  }
  return {};
}

/// Throws InputError with the rows of jobs with members of their own that can't be.
void check_members(const TrainingSystem& system, const WorkloadSetup& workload, const JobList& list) {
  RowReport report{*workload.jobs, false};
  TrainingGraphs graphs{system};
  std::map<std::pair<std::string_view, int>, std::vector<Complaint>> known;
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    const JobRequest& job = list.jobs[j];
    report.count_row();
    if (job.members.empty()) continue;
    const auto [found, is_new] = known.try_emplace({job.model, job.gpus});
    if (is_new) found->second = member_complaints(system.training, graphs, job);
    for (const Complaint& each : found->second) {
      const auto names = [&](const auto& member) {
        return each.key == member.first || each.key.ends_with(fmt::format(".{}", member.first));
      };
      const auto member = std::ranges::find_if(job.members, names);
      const std::string_view column = (member == job.members.end() ? job.members.front() : *member).first;
      report.bad(list.lines[j], column, each.reason, each.reason, each.hint);
    }
  }
  report.throw_if_bad();
}

/// What is wrong with the place of a job, or nothing.
std::string why_bad_place(const ClusterSetup& cluster, const JobRequest& job) {
  const auto servers = static_cast<std::uint32_t>(cluster.servers);
  const auto gpus = static_cast<std::uint32_t>(cluster.gpus_per_server);
  std::uint64_t named = 0;
  for (const PlacePart& part : job.place) {
    if (part.server >= servers)
      return fmt::format("the cluster has no server{}; its {} servers are numbered from 0", part.server, servers);
    if (part.last.value_or(0) >= gpus)
      return fmt::format("server{} has no GPU {}; its {} GPUs are numbered from 0", part.server, *part.last, gpus);
    named += part.last ? *part.last - part.first + 1 : gpus;
  }
  if (named != static_cast<std::uint64_t>(job.gpus))
    return fmt::format("expected as many GPUs as `gpus` says, {}, got {}", job.gpus, named);
  std::vector<GpuId> all = gpus_of_place(job.place, cluster.gpus_per_server);
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice == all.end()) return {};
  return fmt::format("GPU {} of server{} is named twice", twice->value() % gpus, twice->value() / gpus);
}

/// Throws InputError with the rows of jobs whose place the cluster does not have.
void check_places(const ClusterSetup& cluster, const WorkloadSetup& workload, const JobList& list) {
  RowReport report{*workload.jobs, false};
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    report.count_row();
    if (list.jobs[j].place.empty()) continue;
    const std::string reason = why_bad_place(cluster, list.jobs[j]);
    if (!reason.empty()) report.bad(list.lines[j], "place", "a place that the cluster does not have", reason);
  }
  report.throw_if_bad();
}

/// Names that jobs of iterations may give.
std::vector<std::string> known_models(const std::vector<TrainingEntry>& training,
                                      const std::optional<ThroughputTable>& table) {
  std::vector<std::string> names = trainable_names(training);
  if (table)
    for (std::string& name : table->models()) names.push_back(std::move(name));
  return names;
}

/// Throws InputError with the rows of elastic jobs of which nothing says how fast they are with other numbers of GPUs.
void check_elastic(const std::vector<TrainingEntry>& training, const WorkloadSetup& workload,
                   const std::optional<ThroughputTable>& table, const JobList& list) {
  if (std::ranges::none_of(list.jobs, &JobRequest::elastic)) return;
  RowReport report{workload.jobs.value_or("workload"), false};
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    report.count_row();
    const std::string reason = why_not_elastic(training, table, list.jobs[j]);
    if (!reason.empty())
      report.bad(list.lines.empty() ? 0 : list.lines[j], "max_gpus", "an elastic job that can't be timed",
                 fmt::format("job {}: {}", quote_for_message(list.jobs[j].name), reason));
  }
  report.throw_if_bad();
}

/// GPUs of the largest type of servers, or of the cluster.
std::int64_t most_gpus(const ClusterSetup& cluster, const FailureSetup& failures) {
  return std::ranges::max(usable_gpus(cluster, failures));
}

/// An elastic job that prefers more GPUs than there are prefers the most that it can have instead, with the same work.
void prefer_what_fits(const ClusterSetup& cluster, const WorkloadSetup& workload,
                      const std::optional<ThroughputTable>& table, std::int64_t most, JobRequest& job) {
  if (!job.elastic() || job.gpus <= most || job.min_gpus > most) return;
  const bool has_rows = table && table->has(job.model, job.gpus);
  if (!has_rows) {
    if (job.duration) return;  // nothing says how fast it is
    const auto gpus = static_cast<int>(std::min<std::int64_t>(most, job.max_gpus));
    job.iterations = (job.iterations * job.gpus + gpus - 1) / gpus;  // of as many samples on each GPU
    job.gpus = gpus;
    return;
  }
  const double preferred = nominal_rate(cluster, workload, *table, job.model, job.gpus);
  int best = 0;
  for (const int gpus : table->sizes(job.model))
    if (gpus >= job.min_gpus && gpus <= most && nominal_rate(cluster, workload, *table, job.model, gpus) > 0)
      best = gpus;
  if (best == 0) return;
  if (job.duration)
    job.duration = Time::ceil_nanoseconds(job.duration->to_seconds() * 1e9 * preferred /
                                          nominal_rate(cluster, workload, *table, job.model, best));
  job.gpus = best;
}

std::shared_ptr<const JobList> with_fitting_preferences(const ClusterSetup& cluster, const FailureSetup& failures,
                                                        const WorkloadSetup& workload,
                                                        const std::optional<ThroughputTable>& table,
                                                        std::shared_ptr<const JobList> list) {
  const std::int64_t most = most_gpus(cluster, failures);
  if (std::ranges::none_of(list->jobs, [&](const JobRequest& job) { return job.elastic() && job.gpus > most; }))
    return list;
  JobList fitting = *list;
  for (JobRequest& job : fitting.jobs) prefer_what_fits(cluster, workload, table, most, job);
  return std::make_shared<const JobList>(std::move(fitting));
}

/// The jobs with the durations that `workload.throughputs` gives them. Throws InputError with the rows that it can't
/// time.
std::shared_ptr<const JobList> timed_by_table(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                              const std::optional<ThroughputTable>& table,
                                              std::shared_ptr<const JobList> list) {
  const bool has_rules = std::ranges::any_of(list->jobs, [](const JobRequest& job) { return !job.batch_rule.empty(); });
  if (!table && !has_rules) return list;
  const std::optional<BatchRules> rules = batch_rules_of(workload);
  JobList timed = *list;
  RowReport report{workload.jobs.value_or("workload"), false};
  for (std::size_t j = 0; j < timed.jobs.size(); ++j) {
    report.count_row();
    if (timed.jobs[j].serves) continue;
    if (const std::string why = why_no_regimes(cluster, workload, rules, table, timed.jobs[j]); !why.empty()) {
      report.bad(timed.lines.empty() ? 0 : timed.lines[j], "batch_rule", "a batch that can't change so",
                 fmt::format("job {}: {}", quote_for_message(timed.jobs[j].name), why));
      continue;
    }
    const std::string reason = table ? why_not_timed(cluster, workload, *table, timed.jobs[j]) : std::string{};
    if (reason.empty()) {
      if (table) time_by_table(cluster, workload, *table, rules, timed.jobs[j]);
    } else {
      report.bad(timed.lines.empty() ? 0 : timed.lines[j], "model", "no throughput",
                 fmt::format("job {}: {}", quote_for_message(timed.jobs[j].name), reason));
    }
  }
  report.throw_if_bad("add rows to workload.throughputs, or set workload.reference_type to the type of the durations");
  return std::make_shared<const JobList>(std::move(timed));
}

bool is_scaled(const WorkloadSetup& workload) {
  const WorkloadScaling& scaling = workload.synthetic;
  return scaling.rate != 1 || scaling.load || scaling.durations != 1 || scaling.longest || scaling.largest ||
         workload.sampling != ListSampling{};
}

/// The jobs as users submit them who wait for their jobs, if `workload.think_time` is given. Throws InputError if no
/// job comes after another then.
std::shared_ptr<const JobList> with_think_times(const WorkloadSetup& workload, std::shared_ptr<const JobList> list) {
  if (!workload.think_time) return list;
  JobList closed = *list;
  if (close_loop(closed.jobs, *workload.think_time) > 0) return std::make_shared<const JobList>(std::move(closed));
  const bool has_users = std::ranges::any_of(list->jobs, [](const JobRequest& job) { return !job.user.empty(); });
  throw InputError{
      {.key = "workload.think_time",
       .reason = has_users ? fmt::format("no user of {} submitted a job at most {} after the end of another with a "
                                         "duration, so it has no effect",
                                         *workload.jobs, print_quantity(*workload.think_time))
                           : fmt::format("{} has no users, so nobody waits for a job", *workload.jobs),
       .hint = has_users ? "choose a longer time, or leave it out" : "name them in the column `user`"}};
}

std::shared_ptr<const JobList> served(const Scenario& scenario, std::uint64_t seed,
                                      std::shared_ptr<const JobList> list) {
  const ServingRun run{seed, scenario.engine.leap, scenario.workload.jobs.value_or("workload"),
                       scenario.scheduling.name};
  return with_services(scenario, run, std::move(list));
}

std::shared_ptr<const JobList> listed_jobs(const Scenario& scenario, std::uint64_t seed, JobLists& lists) {
  const auto table = throughputs_of(scenario.cluster, scenario.workload);
  std::shared_ptr<const JobList> list = lists.read(*scenario.workload.jobs, known_models(scenario.training, table));
  check_elastic(scenario.training, scenario.workload, table, *list);
  list = with_fitting_preferences(scenario.cluster, scenario.failures, scenario.workload, table, std::move(list));
  list = timed_by_table(scenario.cluster, scenario.workload, table, std::move(list));
  list = served(scenario, seed, std::move(list));
  check_models(scenario.training, scenario.workload, *list);
  check_memory(scenario.workload, *list);
  check_members(scenario, scenario.workload, *list);
  check_virtual_clusters(scenario.cluster, scenario.workload, *list);
  check_places(scenario.cluster, scenario.workload, *list);
  list = with_think_times(scenario.workload, std::move(list));
  if (!is_scaled(scenario.workload)) return list;
  if (std::ranges::any_of(list->jobs, [](const JobRequest& job) { return job.elapsed.has_value(); }))
    throw InputError{{.file = *scenario.workload.jobs,
                      .key = "elapsed_s",
                      .reason = "jobs that run at time 0 are of one instant of one cluster, and workload.scaling and "
                                "workload.resample make other lists",
                      .hint = "leave these keys out, or the column"}};
  TrainingGraphs graphs{scenario};
  ScaledList scaled = scale_list(list->jobs, scenario.workload.synthetic, scenario.workload.sampling,
                                 gpus_of(scenario.cluster, scenario.failures), seed,
                                 [&](const std::string& model) { return graphs.iteration(model); });
  JobList jobs{.sha256 = list->sha256, .jobs = std::move(scaled.jobs), .lines = {}};
  for (const std::size_t row : scaled.rows) jobs.lines.push_back(list->lines[row]);
  return served(scenario, seed, std::make_shared<const JobList>(std::move(jobs)));  // requests aren't scaled
}

std::shared_ptr<const JobList> with_others(const JobList& list, const ClusterSetup& cluster,
                                           const std::string& others) {
  JobList jobs = list;
  const std::vector<std::string> names = vc_names(cluster);
  for (JobRequest& job : jobs.jobs)
    if (std::ranges::find(names, job.vc) == names.end()) job.vc = others;
  return std::make_shared<const JobList>(std::move(jobs));
}

/// A time as people say it: one decimal of the largest unit of which there are two.
std::string about(Time time) {
  constexpr std::pair<double, const char*> kUnits[] = {{86'400, "d"}, {3'600, "h"}, {60, "min"}, {1, "s"}};
  for (const auto& [seconds, unit] : kUnits)
    if (time.to_seconds() >= 2 * seconds) return fmt::format("{:.1f}{}", time.to_seconds() / seconds, unit);
  return fmt::format("{:.3g}s", time.to_seconds());
}

/// Throws InputError if no job is submitted in the measured window.
void check_window(const Scenario& scenario, std::uint64_t seed, const JobList& list) {
  const MeasuredWindow window = measured_window(scenario.measure);
  if (!window.given() || list.jobs.empty()) return;
  if (std::ranges::any_of(list.jobs, [&](const JobRequest& job) {
        return !job.after.empty() || window.holds(job.submit);  // the former may come at any time
      }))
    return;
  const auto [first, last] = std::ranges::minmax(list.jobs, {}, &JobRequest::submit);
  const char* const hint = draws_jobs(scenario.workload, scenario.overlap)
                               ? "other seeds draw other jobs; choose a window in which all have some"
                               : "choose a window within these times";
  throw InputError{
      {.key = "measure",
       .reason = fmt::format("no job{} is submitted in the window; the jobs come from {} to {}",
                             draws_jobs(scenario.workload, scenario.overlap) ? fmt::format(" of seed {}", seed) : "",
                             about(first.submit), about(last.submit)),
       .hint = hint}};
}

}  // namespace

std::shared_ptr<const JobList> scenario_jobs(const Scenario& scenario, std::uint64_t seed, JobLists& lists) {
  std::shared_ptr<const JobList> jobs =
      scenario.workload.jobs
          ? listed_jobs(scenario, seed, lists)
          : served(scenario, seed,
                   std::make_shared<const JobList>(
                       JobList{.sha256 = {},
                               .jobs = drawn_jobs(scenario.cluster, scenario.failures, scenario.workload, seed),
                               .lines = {}}));
  check_window(scenario, seed, *jobs);
  const NamedVirtualCluster* const others = others_of(scenario.cluster);
  return others == nullptr ? jobs : with_others(*jobs, scenario.cluster, others->name);
}

std::vector<std::string> listed_models(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                       const std::vector<TrainingEntry>& training) {
  return known_models(training, throughputs_of(cluster, workload));
}

MeasuredWindow measured_window(const MeasureSetup& measure) {
  return {.from = measure.from, .until = measure.until.value_or(Time::never())};
}

ChosenBlock choose_block(const TrainingSystem& system, const WorkloadSetup& workload, JobLists& lists) {
  const auto table = throughputs_of(system.cluster, workload);
  const std::shared_ptr<const JobList> list =
      with_services(system, {.seed = system.seed, .leaps = true, .source = *workload.jobs},
                    timed_by_table(system.cluster, workload, table,
                                   lists.read(*workload.jobs, known_models(system.training, table))));
  check_models(system.training, workload, *list);
  TrainingGraphs graphs{system};
  return choose_block(list->jobs, [&](const std::string& model) { return graphs.iteration(model); });
}

std::string few_blocks_note(const ClusterSetup& cluster, const WorkloadSetup& workload,
                            const std::vector<TrainingEntry>& training, JobLists& lists) {
  if (!workload.jobs || !workload.sampling.block) return {};
  const Time block = *workload.sampling.block;
  const std::size_t blocks =
      blocks_of(lists.read(*workload.jobs, known_models(training, throughputs_of(cluster, workload)))->jobs, block)
          .jobs.size();
  if (blocks >= kFewestBlocks) return {};
  return fmt::format(
      "workload.resample.block: {} has {} whole blocks of {}; with fewer than {} intervals are too narrow",
      *workload.jobs, blocks, print_quantity(block), kFewestBlocks);
}

namespace {

/// The models that jobs name.
std::set<std::string, std::less<>> named_models(const ClusterSetup& cluster, const WorkloadSetup& work,
                                                const std::vector<TrainingEntry>& training, JobLists& lists) {
  std::set<std::string, std::less<>> names;
  if (work.jobs) {
    for (const JobRequest& job : lists.read(*work.jobs, known_models(training, throughputs_of(cluster, work)))->jobs)
      names.emplace(base_of(job.model));
  } else if (!work.like) {
    names.insert(work.generate.models.begin(), work.generate.models.end());
  }
  return names;
}

}  // namespace

std::string think_time_note(const ClusterSetup& cluster, const WorkloadSetup& workload,
                            const std::vector<TrainingEntry>& training, JobLists& lists) {
  if (!workload.jobs || !workload.think_time) return {};
  const auto table = throughputs_of(cluster, workload);
  JobList list = *timed_by_table(cluster, workload, table, lists.read(*workload.jobs, known_models(training, table)));
  const std::size_t following = close_loop(list.jobs, *workload.think_time);
  if (following == 0) return {};  // which is refused
  return fmt::format(
      "workload.think_time: {} of {} jobs of {} come after another job, so their submission depends on it", following,
      list.jobs.size(), *workload.jobs);
}

std::string untrained_entries_note(const TrainingSystem& system, const WorkloadSetup& workload, JobLists& lists) {
  if (system.training.empty()) return {};
  auto named = named_models(system.cluster, workload, system.training, lists);
  for (const RlEntry& each : system.rl)
    if (each.training.entry) named.insert(*each.training.entry);
  std::vector<std::string> idle;
  bool any = false;
  for (const TrainingEntry& each : system.training) {
    if (each.name == kDefaultEntry) continue;
    if (named.contains(each.name))
      any = true;
    else
      idle.push_back("training." + each.name);
  }
  if (!any) {
    return fmt::format("training: no job trains an entry of it, so nothing in it has an effect{}; name an entry in {}",
                       idle.empty() ? ", and the default entry is for the others alone" : "",
                       workload.jobs ? "the column `model` of the job list" : "workload.generate.models");
  }
  return idle.empty() ? std::string{}
                      : fmt::format("{}: no job names {}", join(idle), idle.size() == 1 ? "it" : "them");
}

std::string unserved_entries_note(const TrainingSystem& system, const WorkloadSetup& workload, JobLists& lists) {
  if (system.serving.empty() && system.rl.empty() && system.federated.empty()) return {};
  const auto named = named_models(system.cluster, workload, system.training, lists);
  std::vector<std::string> idle;
  for (const ServingEntry& each : system.serving)
    if (!named.contains(each.name) && std::ranges::find(system.rl, each.name, &RlEntry::rollout) == system.rl.end())
      idle.push_back("serving." + each.name);
  for (const RlEntry& each : system.rl)
    if (!named.contains(each.name)) idle.push_back("rl." + each.name);
  for (const FederatedEntry& each : system.federated)
    if (!named.contains(each.name)) idle.push_back("federated." + each.name);
  if (idle.empty()) return {};
  return fmt::format("{}: no job names {} as its model", join(idle), idle.size() == 1 ? "it" : "them");
}

std::vector<std::string> unused_tables_notes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                             const SharingSetup& sharing, const std::vector<TrainingEntry>& training,
                                             JobLists& lists) {
  std::vector<std::string> notes;
  if (workload.throughputs && !cluster.types.empty()) {
    for (const std::string& type : read_throughputs(*workload.throughputs).types())
      if (std::ranges::find(cluster.types, type, &NamedServerType::name) == cluster.types.end())
        notes.push_back(
            fmt::format("workload.throughputs: the rates on {} change nothing: cluster.types has no such type",
                        quote_for_message(type)));
  }
  if (!sharing.profiles) return notes;
  const auto named = named_models(cluster, workload, training, lists);
  const StageTable table = read_stages(*sharing.profiles);
  if (std::ranges::none_of(table, [&](const auto& row) { return named.contains(row.first.first); }))
    notes.emplace_back(
        "scheduling.sharing.profiles: no job is of a model in it; the column `model` of the job list names it");
  return notes;
}

std::string free_tensor_note(const NetworkSetup& network, const std::vector<TrainingEntry>& training) {
  if (network.traits().has_topology || network.inside.given()) return {};
  if (network.formula != kAutoFormula && cost_formula(network).basis != CostBasis::link) return {};
  for (const TrainingEntry& each : training) {
    if (!each.parallel || each.parallel->tensor == 1) continue;
    return fmt::format(
        "training.{}: tensor-parallel ranks share a server, and their messages take no time, because "
        "network.inside doesn't say how fast transfers inside a server are; give network.inside.bandwidth, such as "
        "450GB/s for NVLink 4",
        each.name);
  }
  return {};
}

std::vector<std::string> taken_batch_notes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                           const std::vector<TrainingEntry>& training, JobLists& lists) {
  std::vector<std::string> notes;
  const auto is_silent = [](const TrainingEntry& entry) {
    return entry.name != kDefaultEntry && entry.parallel && !entry.global_batch && !entry.says("accumulate");
  };
  if (std::ranges::none_of(training, is_silent)) return notes;
  std::map<std::string, std::set<int>, std::less<>> gpus;  // of the jobs that train an entry
  const WorkloadSetup& work = workload;
  if (work.jobs) {
    for (const JobRequest& job :
         lists.read(*work.jobs, known_models(training, throughputs_of(cluster, workload)))->jobs)
      gpus[std::string{base_of(job.model)}].insert(job.gpus);
  } else if (!work.like) {
    for (const std::string& model : work.generate.models)
      for (const auto& [size, jobs] : work.generate.sizes) gpus[model].insert(size);
  }
  for (const TrainingEntry& entry : training) {
    const auto sizes = gpus.find(entry.name);
    if (!is_silent(entry) || sizes == gpus.end()) continue;
    const ParallelSetup& setup = *entry.parallel;
    const std::int64_t batch = entry.batch.value_or(1);
    const std::int64_t ranks = std::int64_t{setup.tensor} * setup.context * setup.pipeline;
    const auto samples = [&](int size) { return batch * (size / ranks); };
    std::string taken = fmt::format("{} on {} GPUs", samples(*sizes->second.begin()), *sizes->second.begin());
    if (const int most = *sizes->second.rbegin(); most != *sizes->second.begin())
      taken += fmt::format(" and {} on {}", samples(most), most);
    const std::string idle =
        setup.pipeline == 1 ? "" : fmt::format(", and only one of {} pipeline ranks works at a time", setup.pipeline);
    notes.push_back(fmt::format(
        "training.{}: global_batch is auto, so an iteration has one micro-batch of {} {} on each data-parallel rank "
        "({}){}; global_batch says how many samples all GPUs train between two exchanges",
        entry.name, batch, batch == 1 ? "sample" : "samples", taken, idle));
  }
  return notes;
}

Draws draws_of(const WorkloadSetup& workload) {
  const ListSampling& sampling = workload.sampling;
  return workload.jobs && (sampling.block || sampling.bootstrap) ? Draws::resamples : Draws::independent;
}

bool draws_jobs(const WorkloadSetup& workload, const IterationStudy& study) {
  if (study.given()) return false;
  return !workload.jobs || workload.sampling != ListSampling{};
}

}  // namespace contend
