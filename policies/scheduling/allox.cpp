// AlloX gives jobs of one GPU to types of GPUs so that the sum of completion times is least (Le et al., EuroSys 2020,
// section 4, as in Gavel's released code). On a GPU the k-th job from the last delays k jobs, itself included, so it
// costs k times its own time there. Waiting jobs and positions on free GPUs are matched at the least cost. Of the jobs
// of a GPU the first to run starts; the others are matched again at the next decision. Jobs that run are never moved.
// Which jobs of equal positions have the same GPU makes no difference to the sum; the oldest of them start first.
//
// With `round_s` it is the stand-in of Shockwave's released code (policies/allox.py, scheduler.py): jobs are matched
// when one has come or gone, but not before `reallocate_s` has passed (1,000 s there), and rounds make the outcome true
// (rounds.hpp). Gangs are matched as if they needed one GPU. The first job of each GPU has the share 1 and keeps it, a
// gang of s GPUs 1 / s, and is matched again. All others have 0: they run on GPUs that are left over.

#include "policies/registry.hpp"
#include "policies/scheduling/position_matching.hpp"
#include "policies/scheduling/rounds.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr double kSlowest = 1e-10;    // the rate where a job can't run
constexpr double kLeastLeft = 1e-12;  // seconds, of a job that is as good as done

/// Of jobs on types of GPUs: [job x types + type].
struct Times {
  std::vector<double> takes;
  std::vector<char> can_run;

  void add(double left_s, double rate) {
    takes.push_back(std::max(kLeastLeft, left_s) / (rate > 0 ? rate : kSlowest));
    can_run.push_back(rate > 0 ? 1 : 0);
  }
};

/// How many of so many jobs, the oldest first, a decision matches.
std::size_t matched_jobs(std::size_t jobs, std::size_t gpus, double alpha, std::size_t most) {
  const auto share = static_cast<std::size_t>(std::ceil(alpha * static_cast<double>(jobs)));
  return std::min({jobs, std::max(share, gpus), most});
}

/// The jobs that are the first to run on a GPU, and on which type; `gpus` as in match_positions().
std::vector<std::pair<std::size_t, std::size_t>> first_jobs(const Times& times, const std::vector<std::size_t>& gpus) {
  const std::vector<Position> positions = match_positions(times.takes, gpus);
  // By type and position, the first to run in front: the jobs there, of which the youngest share GPUs with the jobs
  // of the positions before.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>, std::greater<>> lists;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (times.can_run[i * gpus.size() + positions[i].type] != 0)
      lists[{positions[i].type, positions[i].from_last}].push_back(i);
  std::vector<std::size_t> taken(gpus.size());  // GPUs that have a first job
  std::vector<std::pair<std::size_t, std::size_t>> firsts;
  for (const auto& [place, jobs] : lists) {
    std::size_t& already = taken[place.first];
    for (std::size_t n = 0; n + already < jobs.size(); ++n) firsts.emplace_back(jobs[n], place.first);
    already = std::max(already, jobs.size());
  }
  return firsts;
}

class Allox final : public SchedulingPolicy {
 public:
  Allox(double alpha, std::size_t most) : alpha_{alpha}, most_{most} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }

  void queued(const JobView& job) override { (job.gpus == 1 ? waiting_ : gangs_)[{job.submit, job.tie}] = job.id; }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    for (auto at = gangs_.begin(); at != gangs_.end();)
      at = actions.start(at->second) ? gangs_.erase(at) : std::next(at);
    start_matched(cluster, actions);
    if (!actions.recording()) return;
    for (const auto* jobs : {&waiting_, &gangs_})
      for (const auto& [key, job] : *jobs) actions.blocked(job, Why::no_gpus);
  }

 private:
  /// Free GPUs of one type.
  struct Slot {
    std::int32_t type = 0;
    std::size_t gpus = 0;
  };

  void start_matched(const ClusterView& cluster, SchedulingActions& actions) {
    if (waiting_.empty()) return;
    std::vector<JobId> ids;
    for (const auto& [key, id] : waiting_) {
      if (cluster.quota_left(cluster.job(id).vc) > 0) ids.push_back(id);
    }
    std::vector<Slot> slots;
    const std::size_t free = free_places(cluster, ids, slots);
    if (free == 0) return;
    ids.resize(matched_jobs(ids.size(), free, alpha_, most_));
    if (ids.empty()) return;
    for (const auto& [job, type] : match(cluster, slots, ids)) {
      const JobView view = cluster.job(job);
      if (actions.start_on(job, type)) waiting_.erase({view.submit, view.tie});
    }
  }

  /// Fills `slots` with the GPUs that are free for these jobs, of types on which any of them may run, and returns their
  /// number.
  static std::size_t free_places(const ClusterView& cluster, const std::vector<JobId>& ids, std::vector<Slot>& slots) {
    std::size_t all = 0;
    const auto types = static_cast<std::int32_t>(cluster.types());
    for (std::int32_t t = 0; t < types && !ids.empty(); ++t) {
      const int free = cluster.free_gpus_on(cluster.job(ids.front()).vc, t);
      const auto may_run = [&](JobId id) { return cluster.speed_on(cluster.job(id), t) > 0; };
      if (free <= 0 || (types > 1 && std::ranges::none_of(ids, may_run))) continue;
      slots.push_back({t, static_cast<std::size_t>(free)});
      all += static_cast<std::size_t>(free);
    }
    return all;
  }

  static std::vector<std::pair<JobId, std::int32_t>> match(const ClusterView& cluster, const std::vector<Slot>& slots,
                                                           const std::vector<JobId>& ids) {
    Times times;
    for (const JobId id : ids) {
      const JobView job = cluster.job(id);
      for (const Slot& slot : slots) times.add(job.remaining_service.to_seconds(), cluster.speed_on(job, slot.type));
    }
    std::vector<std::size_t> gpus;
    for (const Slot& slot : slots) gpus.push_back(slot.gpus);
    std::vector<std::pair<JobId, std::int32_t>> starts;
    for (const auto& [job, slot] : first_jobs(times, gpus)) starts.emplace_back(ids[job], slots[slot].type);
    std::ranges::stable_sort(starts, {}, &std::pair<JobId, std::int32_t>::second);
    return starts;
  }

  double alpha_;
  std::size_t most_;
  std::map<std::pair<Time, std::int64_t>, JobId> waiting_, gangs_;  // by submission, then tie
};

class AlloxInRounds final : public RoundPolicy {
 public:
  AlloxInRounds(double alpha, std::size_t most, Time round, Time reallocate_after)
      : RoundPolicy{round, reallocate_after}, alpha_{alpha}, most_{most} {}

  void left(JobId job) override {
    type_of_.erase(job);
    RoundPolicy::left(job);
  }

 private:
  [[nodiscard]] TimeShares divide(const TypedCluster& cluster, const ClusterView&) override {
    const std::size_t types = cluster.capacity.size();
    TimeShares shares;
    shares.x.assign(cluster.jobs.size() * types, 0);
    std::vector<double> free = cluster.capacity;
    std::vector<std::size_t> open;
    std::map<JobId, std::size_t> firsts;  // by job, its type
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
      const TypedJob& job = cluster.jobs[i];
      const auto known = type_of_.find(job.id);
      if (known != type_of_.end()) firsts.insert(*known);
      if (known == type_of_.end() || job.gpus > 1)
        open.push_back(i);
      else
        --free[known->second];
    }
    std::vector<std::size_t> gpus;
    std::vector<std::size_t> slots;  // types with free GPUs
    std::size_t all = 0;
    for (std::size_t t = 0; t < types; ++t) {
      if (free[t] < 1) continue;
      slots.push_back(t);
      gpus.push_back(static_cast<std::size_t>(free[t]));
      all += gpus.back();
    }
    open.resize(matched_jobs(open.size(), all, alpha_, most_));
    if (all > 0 && !open.empty()) {
      Times times;
      for (const std::size_t i : open)
        for (const std::size_t t : slots) times.add(cluster.jobs[i].left, rate_on(cluster, cluster.jobs[i], t));
      for (const auto& [job, slot] : first_jobs(times, gpus)) firsts[cluster.jobs[open[job]].id] = slots[slot];
    }
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
      const auto first = firsts.find(cluster.jobs[i].id);
      if (first != firsts.end()) shares.x[i * types + first->second] = 1 / cluster.jobs[i].gpus;
    }
    for (const TypedJob& job : cluster.jobs) type_of_.erase(job.id);
    type_of_.merge(firsts);  // jobs of other parts keep theirs
    return shares;
  }

  double alpha_;
  std::size_t most_;
  std::map<JobId, std::size_t> type_of_;  // of the jobs with a share
};

std::unique_ptr<SchedulingPolicy> make_allox(const Parameters& parameters, const PolicyContext&) {
  const auto alpha = parameters.get<double>("alpha"), round_s = parameters.get<double>("round_s");
  const auto most = static_cast<std::size_t>(parameters.get<std::int64_t>("window"));
  const auto reallocate_s = parameters.get<double>("reallocate_s");
  if (round_s > 0)
    return std::make_unique<AlloxInRounds>(alpha, most, Time::ceil_nanoseconds(round_s * 1e9),
                                           Time::ceil_nanoseconds(reallocate_s * 1e9));
  if (reallocate_s > 0)
    throw InputError{Complaint{
        .key = "policies.scheduling.reallocate_s",
        .reason =
            fmt::format("{} has an effect only in rounds; give `round_s` more than 0, or leave it out", reallocate_s)}};
  return std::make_unique<Allox>(alpha, most);
}

}  // namespace

PolicyRow<SchedulingPolicy> allox_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"alpha", 1.0, 0, 1,
       "share of the waiting jobs, the oldest first, that a decision matches; or as many as GPUs are free"},
      {"window", std::int64_t{500}, 1, 100'000,
       "the most jobs that a decision matches; its time grows with more than the square of this number"},
      {"round_s", 0.0, 0, 1e6,
       "length of a round, in seconds, in which gangs are matched too and jobs may be preempted; 0: no rounds"},
      {"reallocate_s", 0.0, 0, 1e7,
       "the shortest time between two decisions, in seconds; more than 0 only with round_s"}};
  return {.name = "allox",
          .summary = "jobs of one GPU on the types that make the sum of completion times least",
          .source = "Le et al., EuroSys 2020",
          .parameters = kParameters,
          .make = make_allox,
          .names_types = true};
}

}  // namespace contend
