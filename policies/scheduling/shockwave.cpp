// Shockwave (Zheng et al., NSDI 2023, section 5 and the parameters of its released code) plans which jobs run in each
// of the next T rounds, again when a job has come or gone, and each time that so many rounds have passed, whenever it
// was that jobs came. With n_j rounds for job j it makes
//
//     sum_j w_j log~(share_j(n_j)) / (jobs T) - k max_j remaining_j(n_j)
//
// largest, with share the part of its training that the job has done by then if it goes on at its mean speed so far
// (interpolate_epoch_duration of the released code), remaining the seconds that it still needs,
// and sum_j gpus_j n_j <= G T. log~ is linear between 0, 0.2, ..., 1; at 0 it is log 10^-6. Each job must be able to
// end in time, by end of the plan + remaining_j / min(1, G / jobs) <= rho_max F_j, also if it is done within the plan.
// F_j is 0.9 times the mean over its life of the ends that an equal share promised, and 0.1 times the last; its life
// begins with its first round boundary. Where not all can, none has to, and a job that will end at r F_j with r >
// rho_max counts w_j = r^12, or r^100 if it needs less than a round (relax_finish_time_constraints), at most 10^9.
//
// The released code gives an integer program of jobs x rounds to a solver, up to a gap or a limit of time. All rounds
// are alike, so that only the number for each job counts: a multiple-choice knapsack for each bound on the longest job,
// which ConfigurationProgram solves (configurations.hpp). A second program of the released code then puts the rounds in
// order, so that the sum of w_j times the mean round of job j is least. Here each round takes jobs by falling
// w_j / (n_j gpus_j), which is best where no gang lacks room (Smith 1956), but for those that need all rounds left; a
// gang that finds no room in its rounds loses them. GPUs that the plan leaves go to other jobs, those with most time
// left first.
//
// G are the GPUs in service that the jobs may use. A virtual cluster whose jobs would have more than its quota is
// planned by itself (parts_within_quotas).
//
// Of a job whose batch changes while it trains (BatchRegime) the policy knows its batches and how fast it is with each,
// but not when they come. With o_b of the training seen with batch b, q in all, and M batches, each batch has the
// weight max(0, (1/M + o_b) / (1 + q) - o_b) in what is left (a Dirichlet posterior, section 5.1 and the released code,
// as shares in place of epochs).
//
// With `by_epoch` each regime is an epoch, and the policy sees them as the released code does (JobMetaData.py,
// scheduler.py): an epoch counts as progress when it has ended, but it is seen, and no longer part of what is left,
// from its beginning on. Epochs of unlike lengths are of unlike batches.

#include "policies/registry.hpp"
#include "policies/scheduling/configurations.hpp"
#include "policies/scheduling/decision_times.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/room_left.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace contend {

namespace {

constexpr double kUnits = 1e6;  // of the logarithms, as whole costs
constexpr double kLateness = 12, kLatenessAtEnd = 100, kMostWeight = 1e9;
constexpr double kMeanOfEnds = 0.9, kLastEnd = 0.1;

/// The logarithm, linear between multiples of 0.2.
double log_between(double share) {
  constexpr double kStep = 0.2, kAtZero = 1e-6;
  const double low = std::min(std::floor(share / kStep) * kStep, 1 - kStep);
  const auto at = [&](double base) { return portable_log(std::max(kAtZero, base)); };
  return at(low) + (share - low) / kStep * (at(low + kStep) - at(low));
}

/// What is known of a job whose batch changes.
struct Outlook {
  double left_s = 0;   ///< that it still needs at its own speed
  double total_s = 0;  ///< that, and the time that it has had for the progress that counts
  double done = 0;     ///< part of its training
  double pace_s = 0;   ///< seconds for all of the training at its mean speed so far
};

/// With what is left as a Dirichlet posterior over its batches forecasts it.
Outlook forecast(const JobView& view, std::span<const BatchRegime> regimes, bool by_epoch) {
  constexpr double kAlike = 1e-6;  // batches whose paces differ by less are one
  struct Batch {
    double pace = 0;                          // seconds for all of the training
    double seen = 0, share = 0, seconds = 0;  // of the training so far; of all of it
  };
  const double left_s = view.remaining_service.to_seconds() / view.preferred_gpus;
  const double done_s = view.total_service.to_seconds() / view.preferred_gpus - left_s;
  std::vector<Batch> batches;
  double from_s = 0, from = 0, seen = 0, seen_s = 0;
  double done = 0, done_for_s = 0, present = 0;  // progress, the time that it took, and the epoch that is seen but runs
  for (const BatchRegime& regime : regimes) {
    const double length_s = regime.until.to_seconds() - from_s, share = regime.progress - from;
    double part = std::clamp((done_s - from_s) / length_s, 0.0, 1.0);
    if (by_epoch && part < 1 && present == 0) {
      done = seen;
      done_for_s = seen_s;
      present = share;
      part = 1;
    } else if (by_epoch && part < 1) {
      part = 0;
    }
    auto batch = std::ranges::find_if(
        batches, [&](const Batch& each) { return std::abs(each.pace * share / length_s - 1) < kAlike; });
    if (batch == batches.end()) batch = batches.insert(batches.end(), {.pace = length_s / share});
    batch->share += share;
    batch->seconds += length_s;
    batch->seen += part * share;
    seen += part * share;
    seen_s += part * length_s;
    from_s = regime.until.to_seconds();
    from = regime.progress;
  }
  if (present == 0) {
    done = seen;
    done_for_s = seen_s;
  }
  double weights = present, seconds = 0;
  for (const Batch& batch : batches) {
    const double expected = (1.0 / static_cast<double>(batches.size()) + batch.seen) / (1 + seen);
    const double weight = std::max(0.0, expected - batch.seen);
    weights += weight;
    seconds += weight * batch.seconds / batch.share;
  }
  const double forecast_s = weights > 0 ? (1 - done) * seconds / weights : left_s;
  return {.left_s = forecast_s,
          .total_s = done_for_s + forecast_s,
          .done = done,
          .pace_s = seen > 0 ? seen_s / seen : batches.front().pace};
}

class Shockwave final : public SchedulingPolicy {
 public:
  Shockwave(const DecisionTimes& decisions, int rounds, int replan_rounds, double makespan_weight, double rho_max,
            double gap, bool forecasts, bool by_epoch)
      : decisions_{decisions},
        round_{decisions.period()},
        rounds_{rounds},
        replan_rounds_{std::min(rounds, replan_rounds)},
        makespan_weight_{makespan_weight},
        rho_max_{rho_max},
        gap_{gap},
        forecasts_{forecasts},
        by_epoch_{by_epoch} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) override {
    const auto [at, is_new] = ids_.try_emplace(view.id, view.tie);
    if (!is_new && at->second != view.tie) {
      jobs_[view.tie] = jobs_.at(at->second);
      jobs_.erase(at->second);
      at->second = view.tie;
    }
    jobs_[view.tie].id = view.id;
    has_changed_ = has_changed_ || is_new;
  }
  void left(JobId job) override {
    const auto at = ids_.find(job);
    if (at == ids_.end()) return;
    jobs_.erase(at->second);
    ids_.erase(at);
    has_changed_ = true;
  }
  [[nodiscard]] bool idle_passes() const override { return true; }
  [[nodiscard]] Time slice(int) const override { return round_; }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
    return jobs_.empty() ? Time::never() : decisions_.next_asked(cluster.now());
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    if (jobs_.empty()) return;
    if (decisions_.is_decision(cluster.now())) {
      look(cluster);
      if (has_changed_ || gpus_ != planned_gpus_ || round_count_ % replan_rounds_ == 0) plan(cluster);
      start_round(cluster, actions);
      --rounds_left_;
      ++round_count_;
    }
    if (!actions.recording()) return;
    for (const auto& [tie, job] : jobs_)
      if (!cluster.job(job.id).running)
        actions.blocked(job.id, job.is_taken     ? Why::no_place
                                : job.end_s == 0 ? Why::between_decisions  // look() hasn't seen it
                                                 : Why::passed_over);
  }

 private:
  struct Job {
    JobId id;
    std::int32_t vc = -1;
    int gpus = 1;
    double equal_share = 1;                    ///< the part of its time that it has if all of its part have as much
    double added_s = 0;                        ///< its first round boundary
    double left_s = 0, total_s = 0;            ///< at its own speed
    double done = 0, pace_s = 0;               ///< as in Outlook
    double ends_s = 0, end_s = 0, life_s = 0;  ///< promised ends times seconds, the last one, and seconds
    double weight = 1;                         ///< in the plan
    int planned = 0;                           ///< rounds of the plan
    int rounds = 0;                            ///< those still to come
    bool is_taken = false;                     ///< in this round

    [[nodiscard]] double promised_s() const {
      return life_s > 0 ? kMeanOfEnds * ends_s / life_s + kLastEnd * end_s : end_s;
    }
    [[nodiscard]] double remaining(double rounds_s) const {
      return std::max(0.0, left_s - std::min(rounds_s, (1 - done) * pace_s));
    }
    [[nodiscard]] double share(double rounds_s) const {
      return pace_s > 0 ? std::min(1.0, done + rounds_s / pace_s) : 1;
    }
  };

  /// Jobs that share GPUs.
  struct Part {
    int gpus = 0, most = 0;  ///< GPUs, and those that a job can hold at once
    std::vector<Job*> jobs{};
  };

  /// What is left of each job, and when an equal share would end it.
  void look(const ClusterView& cluster) {
    const double now_s = cluster.now().to_seconds();
    for (auto& [tie, job] : jobs_) {
      const JobView view = cluster.job(job.id);
      job.vc = view.vc;
      job.gpus = view.gpus;
      if (job.end_s == 0) job.added_s = now_s;
      const auto regimes = cluster.regimes_of(job.id);
      const double speed = cluster.speed_on(view, 0), per_s = speed > 0 ? speed : 1;  // all servers are of one type
      const double left_s = view.remaining_service.to_seconds() / view.gpus;
      const double all_s = view.total_service.to_seconds() / view.gpus;
      const Outlook outlook =
          forecasts_ && !regimes.empty()
              ? forecast(view, regimes, by_epoch_)
              : Outlook{
                    .left_s = left_s, .total_s = all_s, .done = all_s > 0 ? 1 - left_s / all_s : 1, .pace_s = all_s};
      job.left_s = outlook.left_s / per_s;
      job.done = outlook.done;
      job.pace_s = outlook.pace_s / per_s;
      job.total_s = outlook.total_s / per_s;
    }
    divide(cluster);
    for (auto& [tie, job] : jobs_) {
      const double passed_s = job.end_s > 0 ? now_s - looked_at_s_ : 0;
      job.ends_s += job.end_s * passed_s;
      job.life_s += passed_s;
      if (has_changed_) job.end_s = job.added_s + job.total_s / job.equal_share;
    }
    looked_at_s_ = now_s;
  }

  /// Which jobs share which GPUs.
  void divide(const ClusterView& cluster) {
    std::vector<Job*> jobs;
    std::vector<JobView> views;
    for (auto& [tie, job] : jobs_) {
      jobs.push_back(&job);
      views.push_back(cluster.job(job.id));
    }
    gpus_ = cluster.gpus_in_service(views.front().vc, -1);
    parts_.clear();
    for (const GpuPart& each : parts_within_quotas(cluster, views)) {
      parts_.push_back({.gpus = static_cast<int>(each.gpus.front()), .most = static_cast<int>(each.most.front())});
      Part& part = parts_.back();
      for (const std::size_t j : each.jobs) {
        part.jobs.push_back(jobs[j]);
        // Of a cluster that is out of service as a whole a job has what one GPU would give it.
        jobs[j]->equal_share = std::min(1.0, std::max(1, part.gpus) / static_cast<double>(each.jobs.size()));
      }
    }
  }

  [[nodiscard]] double end_after(const Job& job, double now_s, double rounds_s) const {
    const double remaining = job.remaining(rounds_s), plan_s = rounds_ * round_.to_seconds();
    return remaining > 0 ? now_s + plan_s + remaining / job.equal_share : now_s + plan_s;
  }

  /// The fewest rounds with which the job keeps its promise; none if it can't.
  [[nodiscard]] int promised_rounds(const Job& job, double now_s) const {
    for (int n = 0; n <= rounds_; ++n) {
      const double rounds_s = n * round_.to_seconds();
      if (end_after(job, now_s, rounds_s) <= rho_max_ * job.promised_s()) return n;
    }
    return rounds_ + 1;
  }

  void plan(const ClusterView& cluster) {
    has_changed_ = false;
    rounds_left_ = rounds_;
    planned_gpus_ = gpus_;
    for (const Part& part : parts_) plan(part, cluster.now().to_seconds());
  }

  void plan(const Part& part, double now_s) {
    std::vector<Job*> jobs = part.jobs;
    std::erase_if(jobs, [&](const Job* job) { return job->gpus > part.most; });
    if (jobs.empty()) return;
    std::vector<int> fewest;
    std::vector<double> weights(jobs.size(), 1);
    std::int64_t needed = 0;
    for (const Job* job : jobs) {
      fewest.push_back(promised_rounds(*job, now_s));
      needed += std::int64_t{job->gpus} * fewest.back();
    }
    if (needed > std::int64_t{part.gpus} * rounds_ || std::ranges::max(fewest) > rounds_) {
      std::ranges::fill(fewest, 0);
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        const double late = (now_s + jobs[j]->left_s / jobs[j]->equal_share) / jobs[j]->promised_s();
        const double power = jobs[j]->left_s < round_.to_seconds() ? kLatenessAtEnd : kLateness;
        if (late > rho_max_) weights[j] = std::min(kMostWeight, portable_exp(power * portable_log(late)));
      }
    }
    const std::vector<int> found = best_rounds(jobs, part.gpus, fewest, weights);
    for (Job* const job : part.jobs) {
      job->rounds = 0;
      job->weight = 1;
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      jobs[j]->rounds = jobs[j]->planned = found[j];
      jobs[j]->weight = weights[j];
    }
  }

  /// The best numbers of rounds under each bound on the longest job, from the smallest bound on, until a larger one
  /// can't pay any more.
  [[nodiscard]] std::vector<int> best_rounds(const std::vector<Job*>& jobs, int gpus, const std::vector<int>& fewest,
                                             const std::vector<double>& weights) const {
    const double round_s = round_.to_seconds();
    std::set<double> bounds;
    for (const Job* job : jobs)
      for (int n = 0; n <= rounds_; ++n) bounds.insert(job->remaining(n * round_s));
    std::vector<int> best(jobs.size(), 0);
    double most = -std::numeric_limits<double>::infinity();
    const double unbounded = value_within(jobs, gpus, fewest, weights, *bounds.rbegin(), nullptr);
    for (const double bound : bounds) {
      if (unbounded - makespan_weight_ * bound <= most) break;
      std::vector<int> found;
      const double value = value_within(jobs, gpus, fewest, weights, bound, &found) - makespan_weight_ * bound;
      if (value <= most) continue;
      most = value;
      best = found;
    }
    return best;
  }

  /// The largest sum of logarithms where no job has more than so many seconds left; minus infinity if that can't be.
  double value_within(const std::vector<Job*>& jobs, int gpus, const std::vector<int>& fewest,
                      const std::vector<double>& weights, double bound_s, std::vector<int>* found) const {
    const double round_s = round_.to_seconds(), parts = static_cast<double>(jobs.size()) * rounds_;
    std::int64_t left = std::int64_t{gpus} * rounds_;
    std::vector<int> first;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      int n = fewest[j];
      while (n <= rounds_ && jobs[j]->remaining(n * round_s) > bound_s) ++n;
      if (n > rounds_) return -std::numeric_limits<double>::infinity();
      first.push_back(n);
      left -= std::int64_t{jobs[j]->gpus} * n;
    }
    if (left < 0) return -std::numeric_limits<double>::infinity();
    // What each has at least is set aside; the knapsack is about further rounds.
    ConfigurationProgram program{{static_cast<int>(left)}};
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const auto cost = [&](int n) {
        return -std::llround(kUnits * weights[j] * log_between(jobs[j]->share(n * round_s)) / parts);
      };
      std::vector<Configuration> more;
      for (int n = first[j] + 1; n <= rounds_ && jobs[j]->share((n - 1) * round_s) < 1; ++n)
        more.push_back({0, (n - first[j]) * jobs[j]->gpus, cost(n)});
      program.add(more, cost(first[j]));
    }
    const ConfigurationChoice choice = program.solve(gap_);
    if (found != nullptr)
      for (std::size_t j = 0; j < jobs.size(); ++j) found->push_back(first[j] + choice.of_job[j] + 1);
    return -static_cast<double>(choice.cost) / kUnits;
  }

  void start_round(const ClusterView& cluster, SchedulingActions& actions) {
    std::vector<Job*> order;
    for (auto& [tie, job] : jobs_) {
      job.is_taken = false;
      order.push_back(&job);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](const Job* job) {
      const bool is_planned = job->rounds > 0;
      return std::tuple{is_planned, job->rounds >= rounds_left_,
                        is_planned ? job->weight / (job->planned * job->gpus) : 0.0, is_planned ? job->gpus : 0,
                        is_planned ? 0.0 : job->left_s};
    });
    std::vector<JobView> views;
    for (const Job* job : order) views.push_back(cluster.job(job->id));
    RoomLeft room{cluster, {gpus_}, views};
    QuotasLeft quotas{cluster};
    for (std::size_t i = 0; i < order.size(); ++i) {
      Job* const job = order[i];
      if (!room.take(0, {&views[i], 1}, quotas)) continue;
      job->is_taken = true;
      job->rounds = std::max(0, job->rounds - 1);
    }
    for (const Job* job : order)
      if (!job->is_taken && cluster.job(job->id).running) actions.preempt(job->id);
    std::ranges::stable_sort(order, std::ranges::greater{}, &Job::gpus);  // gangs need whole servers
    for (const Job* job : order)
      if (job->is_taken && !cluster.job(job->id).running) actions.start(job->id);
  }

  DecisionTimes decisions_;
  Time round_;
  int rounds_, replan_rounds_;
  double makespan_weight_, rho_max_, gap_;
  bool forecasts_, by_epoch_;
  std::map<std::int64_t, Job> jobs_;  // by JobView::tie
  std::map<JobId, std::int64_t> ids_;
  bool has_changed_ = false;
  std::vector<Part> parts_;  // of the present round
  int rounds_left_ = 0;
  int gpus_ = 0, planned_gpus_ = 0;  // in service, now and when the plan was made
  std::int64_t round_count_ = 0;
  double looked_at_s_ = 0;
};

std::unique_ptr<SchedulingPolicy> make_shockwave(const Parameters& parameters, const PolicyContext& context) {
  const bool forecasts = parameters.get<bool>("forecast"), by_epoch = parameters.get<bool>("by_epoch");
  if (by_epoch && !forecasts)
    throw InputError{
        Complaint{.key = "policies.scheduling.by_epoch", .reason = "it has an effect only with `forecast: true`"}};
  const Time round = Time::ceil_nanoseconds(parameters.get<double>("round_s") * 1e9);
  return std::make_unique<Shockwave>(
      DecisionTimes{round, context.quantum}, static_cast<int>(parameters.get<std::int64_t>("rounds")),
      static_cast<int>(parameters.get<std::int64_t>("replan_rounds")), parameters.get<double>("makespan_weight"),
      parameters.get<double>("rho_max"), parameters.get<double>("gap"), forecasts, by_epoch);
}

}  // namespace

PolicyRow<SchedulingPolicy> shockwave_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"round_s", 120.0, 1, 1e6, "length of a round, in seconds"},
      {"rounds", std::int64_t{20}, 1, 1000, "rounds of a plan"},
      {"replan_rounds", std::int64_t{8}, 1, 1000,
       "a plan is made each time that so many rounds have passed, and when a job comes or goes; at most `rounds`"},
      {"makespan_weight", 1e-3, 0, 1e6,
       "what a second of the longest job counts beside the mean logarithm of progress"},
      {"rho_max", 1.0, 0.01, 1e6, "largest end of a job over that which an equal share promised"},
      {"gap", 1e-3, 0, 1, "the search ends with a plan this near to the best, relative to its cost"},
      {"forecast", true, 0, 0,
       "when the batch of a job changes (workload.regimes) is not known, but forecast; false: it is known"},
      {"by_epoch", false, 0, 0,
       "each row of workload.regimes is an epoch: it counts as progress when it has ended, and as what is left until "
       "it "
       "begins"}};
  return {.name = "shockwave",
          .summary = "rounds planned ahead for progress, the longest job and the ends that a share promised",
          .source = "Zheng et al., NSDI 2023",
          .parameters = kParameters,
          .make = make_shockwave,
          .one_type = true};
}

}  // namespace contend
