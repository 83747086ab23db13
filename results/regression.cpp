#include "results/regression.hpp"

#include "sim/check.hpp"
#include "sim/complaints.hpp"
#include "sim/statistics.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

std::vector<std::uint64_t> seeds_of(const StoredResults& side) {
  std::vector<std::uint64_t> seeds;
  for (const StoredReplica& replica : side.replicas) seeds.push_back(replica.seed);
  return seeds;
}

/// A list of seeds, written as `1 to 10` if they are consecutive.
std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
  if (seeds.size() > 1 && seeds.back() - seeds.front() == seeds.size() - 1 &&
      std::is_sorted(seeds.begin(), seeds.end()))
    return fmt::format("{} to {}", seeds.front(), seeds.back());
  std::vector<std::string> words;
  for (const std::uint64_t seed : seeds) words.push_back(fmt::format("{}", seed));
  return join(words);
}

void refuse_other_runs(const StoredResults& base, const StoredResults& other) {
  Complaints complaints;
  for (const auto& [word, side] : {std::pair{"BASE", &base}, std::pair{"NEW", &other}})
    if (side->exit_state == "interrupted" || side->exit_state == "policy failed")
      complaints.add({.reason = fmt::format("{} ({}) was interrupted, so its results are partial", word, side->name),
                      .hint = "run it again"});
  const auto before = seeds_of(base), after = seeds_of(other);
  if (before != after)
    complaints.add({.reason = fmt::format("BASE has the seeds {}, NEW has {}", seeds_text(before), seeds_text(after)),
                    .hint = "only runs under the same seeds can be compared; choose them with --seed and --repeat"});
  complaints.throw_if_any();
}

using JobsByName = std::unordered_map<std::string_view, const StoredJob*>;

JobsByName by_name(const StoredReplica& replica) {
  JobsByName jobs;
  for (const StoredJob& job : replica.jobs) jobs.emplace(job.name, &job);
  return jobs;
}

/// The first difference in the demands of two jobs of one name; empty if there is none.
std::string difference_of(const StoredJob& base, const StoredJob& other) {
  if (base.gpus != other.gpus) return fmt::format("{} GPUs in BASE, {} in NEW", base.gpus, other.gpus);
  if (base.model != other.model) return fmt::format("model {} in BASE, {} in NEW", base.model, other.model);
  if (base.submit != other.submit && !(base.follows && other.follows))
    return fmt::format("submitted at {} in BASE, at {} in NEW", print_quantity(base.submit),
                       print_quantity(other.submit));
  if (base.iterations != other.iterations && base.iterations > 0 && other.iterations > 0)
    return fmt::format("{} iterations in BASE, {} in NEW", base.iterations, other.iterations);
  return {};
}

/// Pairs the jobs of all replicas.
class JobPairing {
 public:
  JobPairing(const StoredResults& base, const StoredResults& other, Regression& result) : result_{result} {
    for (std::size_t i = 0; i < base.replicas.size(); ++i) pair(base.replicas[i], other.replicas[i]);
    refuse_other_jobs();
  }

  [[nodiscard]] const std::vector<JobChange>& changes() const { return changes_; }

 private:
  void pair(const StoredReplica& base, const StoredReplica& other) {
    const JobsByName before = by_name(base), after = by_name(other);
    for (const StoredJob& job : base.jobs) {
      const auto found = after.find(job.name);
      if (found == after.end() && !job.measured) continue;
      if (found == after.end())
        result_.only_in_base.push_back({base.seed, job.name, to_string(job.state), {}});
      else
        pair(base.seed, job, *found->second);
    }
    for (const StoredJob& job : other.jobs)
      if (!before.contains(job.name) && job.measured)
        result_.only_in_new.push_back({base.seed, job.name, {}, to_string(job.state)});
  }

  void pair(std::uint64_t seed, const StoredJob& base, const StoredJob& other) {
    ++common_;
    if (const std::string difference = difference_of(base, other); !difference.empty()) {
      if (differing_++ == 0) first_difference_ = fmt::format("job \"{}\" (seed {}): {}", base.name, seed, difference);
      return;
    }
    const auto state_of = [](const StoredJob& job) {
      return job.measured ? std::string{to_string(job.state)} : "outside `measure`";
    };
    if (base.measured != other.measured)
      (base.measured ? result_.lost : result_.gained).push_back({seed, base.name, state_of(base), state_of(other)});
    if (!base.measured || !other.measured) return;
    const bool before = base.state == JobState::finished, after = other.state == JobState::finished;
    if (before && after) {
      JobChange& change = changes_.emplace_back();
      change = {seed, base.name, base.gpus, *base.finish - base.submit, *other.finish - other.submit, {}, {}};
      if (base.iteration.empty() || other.iteration.empty()) return;
      change.base_iteration = base.iteration;
      change.other_iteration = other.iteration;
    } else if (before != after) {
      (before ? result_.lost : result_.gained)
          .push_back({seed, base.name, to_string(base.state), to_string(other.state)});
    }
  }

  void refuse_other_jobs() const {
    if (common_ > 0 && differing_ == 0) return;
    std::string reason = common_ == 0 ? "different workloads: no job of BASE is in NEW"
                                      : fmt::format("different workloads: {}", first_difference_);
    if (differing_ > 1) reason += fmt::format(", and {} more jobs differ", differing_ - 1);
    throw InputError{{.reason = std::move(reason),
                      .hint = "the two sides must run the same jobs: compare scenarios with the same `workload`"}};
  }

  Regression& result_;
  std::vector<JobChange> changes_;
  std::size_t common_ = 0, differing_ = 0;
  std::string first_difference_;
};

std::vector<double> figures_of(const StoredResults& side, std::size_t metric) {
  std::vector<double> figures;
  for (const StoredReplica& replica : side.replicas) figures.push_back(replica.figures[metric]);
  return figures;
}

void compare_figures(const StoredResults& base, const StoredResults& other,
                     const std::optional<ResampledSides>& resampled, Regression& result) {
  for (std::size_t m = 0; m < metrics().size(); ++m) {
    const std::vector<double> before = figures_of(base, m), after = figures_of(other, m);
    result.metrics.push_back(
        {&metrics()[m], resampled ? resampled_change(before.front(), after.front(), figures_of(*resampled->base, m),
                                                     figures_of(*resampled->other, m), resampled->blocks)
                                  : paired_change(before, after, base.draws)});
  }
  std::vector<MetricChange*> all;
  for (MetricChange& each : result.metrics)
    if (each.metric->in_texts) all.push_back(&each);
  result.tests = test_together(all);
}

JobSpread spread_of(const std::vector<JobChange>& changes) {
  std::vector<double> relative;
  for (const JobChange& job : changes)
    if (job.base > Time{}) relative.push_back(job.relative());
  return {percentile(relative, 0.05), percentile(relative, 0.5), percentile(relative, 0.95)};
}

/// True if every run of a side has the same results, so that seeds make no difference.
bool seeds_are_idle(const StoredResults& side) {
  return std::all_of(side.replicas.begin(), side.replicas.end(),
                     [&](const StoredReplica& replica) { return replica.digest == side.replicas.front().digest; });
}

void keep_worst(std::vector<JobChange> changes, std::size_t worst, Regression& result) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const JobChange& a, const JobChange& b) { return a.difference() > b.difference(); });
  result.jobs = changes.size();
  result.spread = spread_of(changes);
  for (const JobChange& job : changes) {
    if (job.difference() > Time{}) ++result.slower_jobs;
    if (job.difference() < Time{}) ++result.faster_jobs;
  }
  const auto first = [&](std::size_t wanted) { return static_cast<std::ptrdiff_t>(std::min(wanted, worst)); };
  result.slowest.assign(changes.begin(), changes.begin() + first(result.slower_jobs));
  result.fastest.assign(changes.rbegin(), changes.rbegin() + first(result.faster_jobs));
}

void note_versions(const StoredResults& base, const StoredResults& other, std::vector<std::string>& notes) {
  if (base.version == other.version && base.git_hash == other.git_hash) return;
  const auto text = [](const StoredResults& side) {
    return side.git_hash.empty() ? side.version : fmt::format("{} ({})", side.version, side.git_hash);
  };
  notes.push_back(fmt::format("BASE was run by contend {}, NEW by contend {}: a change may come from the program",
                              text(base), text(other)));
}

/// Jobs that never came into play are in no figure but their number.
void note_not_submitted(const StoredResults& side, const char* name, std::vector<std::string>& notes) {
  std::size_t all = 0, not_submitted = 0;
  for (const StoredReplica& replica : side.replicas)
    for (const StoredJob& job : replica.jobs) {
      all += job.measured ? 1 : 0;
      not_submitted += job.measured && job.state == JobState::submitted ? 1 : 0;
    }
  if (not_submitted > 0)
    notes.push_back(
        fmt::format("{}: {} of {} jobs were not submitted yet when the runs stopped", name, not_submitted, all));
}

/// Jobs that were given up are in no average either. Where failures come more often, those that survive are often the
/// short ones, and the others no longer wait for the rest.
void note_given_up(const StoredResults& side, const char* name, std::vector<std::string>& notes) {
  std::size_t all = 0, given_up = 0;
  for (const StoredReplica& replica : side.replicas)
    for (const StoredJob& job : replica.jobs) {
      all += job.measured ? 1 : 0;
      given_up += job.measured && job.state == JobState::given_up ? 1 : 0;
    }
  if (given_up > 0)
    notes.push_back(
        fmt::format("{}: {} of {} jobs were given up after failures; times of jobs are over the others, so "
                    "that shorter ones are no improvement",
                    name, given_up, all));
}

void note_pairs(Regression& result) {
  if (result.is_of_studies) return;
  const char* const what = result.about_list ? "resamples" : "seeds";
  if (result.pairs == 1)
    result.notes.emplace_back(
        "one run a side has no intervals: its changes hold for these jobs, and other weeks may change otherwise");
  else if (std::string few = few_pairs_note(result.pairs, what); !few.empty())
    result.notes.push_back(std::move(few));
  if (result.same_jobs_finished()) return;
  result.notes.emplace_back(
      "figures marked * are over different jobs on the two sides: others finished, or `measure` chose others; let the "
      "jobs "
      "end, or choose the same ones that do by `measure`");
}

bool is_of_study(const StoredResults& side) {
  return std::ranges::all_of(
      side.replicas, [](const StoredReplica& each) { return std::ranges::all_of(each.jobs, &StoredJob::is_variant); });
}

StoredResults first_run(const StoredResults& side) {
  StoredResults first = side;
  first.replicas.resize(1);
  return first;
}

Regression compare_runs(const StoredResults& base, const StoredResults& other, std::size_t worst,
                        const std::optional<ResampledSides>& resampled) {
  Regression result;
  result.base_name = base.name;
  result.other_name = other.name;
  result.seeds = seeds_of(base);
  const StoredResults& pairs = resampled ? *resampled->base : base;
  result.about_list = resampled.has_value();
  result.draws = pairs.draws;
  result.pairs = pairs.replicas.size();
  result.identical = std::equal(base.replicas.begin(), base.replicas.end(), other.replicas.begin(),
                                [](const auto& a, const auto& b) { return a.digest == b.digest; });
  result.is_of_studies = is_of_study(base) && is_of_study(other);
  const JobPairing jobs{base, other, result};
  compare_figures(base, other, resampled, result);
  keep_worst(jobs.changes(), worst, result);
  note_versions(base, other, result.notes);
  note_not_submitted(base, "BASE", result.notes);
  note_not_submitted(other, "NEW", result.notes);
  note_given_up(base, "BASE", result.notes);
  note_given_up(other, "NEW", result.notes);
  note_pairs(result);
  return result;
}

}  // namespace

bool Regression::same_jobs_finished() const {
  return lost.empty() && gained.empty() && only_in_base.empty() && only_in_new.empty();
}

const MetricChange& Regression::of(const Metric& metric) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const MetricChange& m) { return m.metric == &metric; });
  CONTEND_CHECK(found != metrics.end(), "a comparison holds every metric");
  return *found;
}

Regression find_regression(const StoredResults& base, const StoredResults& other, std::size_t worst,
                           const std::optional<ResampledSides>& resampled) {
  refuse_other_runs(base, other);
  CONTEND_CHECK(!resampled || base.replicas.size() == 1, "a list as it is runs once");
  const bool idle = base.replicas.size() > 1 && seeds_are_idle(base) && seeds_are_idle(other);
  if (!idle) return compare_runs(base, other, worst, resampled);
  Regression result = compare_runs(first_run(base), first_run(other), worst, {});
  result.seeds = seeds_of(base);
  result.notes.emplace_back("the seeds make no difference: each gives the same results");
  return result;
}

}  // namespace contend
