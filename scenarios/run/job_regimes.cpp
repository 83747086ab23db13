#include "scenarios/run/job_regimes.hpp"

#include "scenarios/run/job_paces.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

bool can_run(const JobPace& pace) {
  return pace.together > 0;
}

void keep_common(std::vector<JobPace>& paces, std::span<const JobPace> others) {
  for (std::size_t t = 0; t < paces.size(); ++t)
    if (!can_run(others[t])) paces[t] = {.together = 0, .spread = 0, .graph = -1};
}

/// Paces and sizes of a job in each of its regimes, and of the whole job in front.
struct RegimePaces {
  std::vector<std::vector<JobPace>> paces;
  std::vector<std::vector<JobSize>> sizes;

  /// Takes out what can't run in one of them.
  void make_alike() {
    for (auto& each : paces)
      for (const auto& other : paces) keep_common(each, other);
    for (auto& each : sizes)
      for (std::size_t s = 0; s < each.size(); ++s)
        for (const auto& other : sizes) keep_common(each[s].paces, other[s].paces);
  }
};

RegimePaces paces_of(const ClusterSetup& cluster, const WorkloadSetup& workload, const ThroughputTable& table,
                     const std::vector<TrainingPart>& parts, const std::string& model, int gpus,
                     const std::vector<int>& sizes) {
  RegimePaces made;
  const auto add = [&](const std::string& name) {
    const double nominal = nominal_rate(cluster, workload, table, name, gpus);
    made.paces.push_back(paces_by_table(cluster, table, name, gpus, nominal));
    if (sizes.empty()) return;
    auto& own = made.sizes.emplace_back();
    for (const int size : sizes)
      own.push_back({.gpus = size, .paces = paces_by_table(cluster, table, name, size, nominal), .parts = 1});
  };
  add(model);
  for (const TrainingPart& part : parts) add(part.trains_as);
  made.make_alike();
  return made;
}

/// The numbers of GPUs between the bounds of an elastic job that its rows have; empty for any other job.
std::vector<int> sizes_in_table(const ThroughputTable& table, const JobRequest& job) {
  if (!job.elastic()) return {};
  std::vector<int> sizes = table.sizes(job.model);
  std::erase_if(sizes, [&](int size) { return size < job.min_gpus || size > job.max_gpus; });
  return sizes;
}

/// The parts of the training of the job; one alone without a rule.
std::vector<TrainingPart> training_parts(const std::optional<BatchRules>& rules, const JobRequest& job) {
  if (job.batch_rule.empty() || !rules) return {{1, job.model, 1}};
  return rules->parts_of(job.batch_rule, job.model, job.gpus, static_cast<double>(job.iterations));
}

/// Seconds that the training of the job takes at nominal rates, by part.
std::vector<double> seconds_of_parts(const ClusterSetup& cluster, const WorkloadSetup& workload,
                                     const ThroughputTable& table, const std::vector<TrainingPart>& parts,
                                     const JobRequest& job) {
  std::vector<double> seconds;
  double from = 0;
  for (const TrainingPart& part : parts) {
    const double rate = nominal_rate(cluster, workload, table, part.trains_as, job.gpus) * part.batch_factor;
    seconds.push_back((part.until - from) * static_cast<double>(job.iterations) / rate);
    from = part.until;
  }
  return seconds;
}

template <class T>
std::int32_t index_of(std::vector<T>& all, std::map<T, std::int32_t>& known, const T& each) {
  const auto [at, is_new] = known.try_emplace(each, static_cast<std::int32_t>(all.size()));
  if (is_new) all.push_back(each);
  return at->second;
}

}  // namespace

std::optional<BatchRules> batch_rules_of(const WorkloadSetup& workload) {
  if (!workload.regimes) return std::nullopt;
  return read_batch_rules(*workload.regimes);
}

std::string why_no_regimes(const ClusterSetup& cluster, const WorkloadSetup& workload,
                           const std::optional<BatchRules>& rules, const std::optional<ThroughputTable>& table,
                           const JobRequest& job) {
  if (job.batch_rule.empty()) return {};
  if (!rules) return "it names a batch_rule, but the scenario has no workload.regimes";
  const std::vector<std::string> names = rules->names();
  if (std::ranges::find(names, job.batch_rule) == names.end())
    return fmt::format("{} has no rule {}; {}", *workload.regimes, quote_for_message(job.batch_rule),
                       names.empty() ? "" : fmt::format("it has {}", fmt::join(names, ", ")));
  if (!table || !table->has(job.model, job.gpus))
    return fmt::format("it has a batch_rule, but workload.throughputs has no rate of {} on {} GPUs",
                       quote_for_message(job.model), job.gpus);
  const std::vector<TrainingPart> parts = training_parts(rules, job);
  for (const TrainingPart& part : parts) {
    std::vector<int> sizes = sizes_in_table(*table, job);
    if (sizes.empty()) sizes.push_back(job.gpus);
    for (const int size : sizes)
      if (!table->has(part.trains_as, size))
        return fmt::format("by rule {} it comes to train as {}, which has no row for {} GPUs in the table",
                           quote_for_message(job.batch_rule), quote_for_message(part.trains_as), size);
  }
  const RegimePaces paces = paces_of(cluster, workload, *table, parts, job.model, job.gpus, {});
  if (std::ranges::none_of(paces.paces.front(), can_run))
    return fmt::format("no type of server can run all batches of rule {}", quote_for_message(job.batch_rule));
  return {};
}

void time_by_table(const ClusterSetup& cluster, const WorkloadSetup& workload, const ThroughputTable& table,
                   const std::optional<BatchRules>& rules, JobRequest& job) {
  constexpr double kSecond_ns = 1e9;
  if (job.duration || !table.has(job.model, job.gpus)) return;
  double seconds = 0;
  for (const double part : seconds_of_parts(cluster, workload, table, training_parts(rules, job), job)) seconds += part;
  job.duration = Time::nanoseconds(std::llround(seconds * kSecond_ns));
  job.tells_iterations = true;
}

void add_regimes(const ClusterSetup& cluster, const WorkloadSetup& setup, const ThroughputTable& table,
                 const std::vector<JobRequest>& requests, Workload& workload) {
  const std::optional<BatchRules> rules = batch_rules_of(setup);
  if (!rules) return;
  std::map<std::vector<JobPace>, std::int32_t> known_paces;
  std::map<std::vector<JobSize>, std::int32_t> known_sizes;
  for (std::size_t j = 0; j < requests.size(); ++j) {
    const JobRequest& request = requests[j];
    JobSpec& job = workload.jobs[j];
    if (request.batch_rule.empty() || *job.duration == Time{}) continue;
    const std::vector<TrainingPart> parts = training_parts(rules, request);
    const RegimePaces made =
        paces_of(cluster, setup, table, parts, request.model, request.gpus, sizes_in_table(table, request));
    job.pace = index_of(workload.paces, known_paces, made.paces.front());
    if (!made.sizes.empty()) job.sizes = index_of(workload.sizes, known_sizes, made.sizes.front());
    const std::vector<double> seconds = seconds_of_parts(cluster, setup, table, parts, request);
    double all = 0, passed = 0;
    for (const double each : seconds) all += each;
    std::vector<BatchRegime> regimes;
    Time before;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      passed += seconds[p];
      const bool is_last = p + 1 == parts.size();
      const Time until =
          is_last ? *job.duration
                  : Time::nanoseconds(std::llround(static_cast<double>(job.duration->ns()) * (passed / all)));
      if (until <= before) continue;  // a part of less than a nanosecond
      if (until == *job.duration && !is_last) continue;
      regimes.push_back({.until = until,
                         .progress = is_last ? 1 : parts[p].until,
                         .pace = index_of(workload.paces, known_paces, made.paces[p + 1]),
                         .sizes = made.sizes.empty() ? -1 : index_of(workload.sizes, known_sizes, made.sizes[p + 1])});
      before = until;
    }
    job.regimes = static_cast<std::int32_t>(workload.regimes.size());
    workload.regimes.push_back(std::move(regimes));
  }
}

}  // namespace contend
