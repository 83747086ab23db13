// ElasticFlow (Gu et al., ASPLOS 2023, sections 4.1 and 4.2) admits a job only if all admitted jobs can meet their
// deadlines, and gives each the fewest GPUs with which it does.
//
// A plan is a step function of GPUs over time. Its smallest one for a job, the minimum satisfactory share, is found on
// the GPUs that jobs with earlier deadlines leave (algorithm 1, as in the released scheduler): for rising sizes q, go
// back from the deadline over the steps of the free GPUs and count what min(q, the largest size that fits) does there.
// Where that suffices for the work left, the steps from there on use q, and those before use the size below q.
//
// GPUs that no plan uses now go to jobs one size at a time, as far as each then still can meet its deadline: the step
// with the least (or, as in the released code, the most) further GPU time for each GPU more goes first, and jobs
// without GPUs go before all others. Jobs without a deadline come after the others and take part in this only.
//
// Numbers of GPUs alone promise too much: as jobs lie, the placement policy may have no place for a job though enough
// GPUs are free. So a job is admitted only if there is a place for every job at every time of the plans
// (kept_places.hpp), for which jobs may move, as in the paper (section 4.3). A job that then finds no place
// takes the one that is kept for it. New plans replace the old ones only if there are places for them
// and no job becomes late: jobs that have done more than was planned take other numbers of GPUs, which need not fit.
//
// With a period, or a quantum of the passes, nothing changes hands between decisions, so that plans have a job keep its
// GPUs until the next one.
//
// An admitted job that can no longer meet its deadline, because restarts took time that plans don't count, keeps the
// most GPUs that are free.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"
#include "policies/scheduling/gpu_plan.hpp"
#include "policies/scheduling/kept_places.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace contend {

namespace {

class ElasticFlow final : public ElasticPolicy {
 public:
  ElasticFlow(const DecisionTimes& decisions, bool most_first)
      : ElasticPolicy{decisions}, most_first_{most_first}, maker_{decisions} {}

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> types, Time now) override {
    const int gpus = types.front();
    Division division;
    division.gpus.assign(jobs.size(), 0);
    now_ = now;
    maker_.begin_at(now);
    order_.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].view.deadline && admitted_.contains(jobs[i].view.id)) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return *jobs[i].view.deadline; });
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].view.deadline && !admitted_.contains(jobs[i].view.id)) admit(jobs, i, gpus, division);
    plan(jobs, gpus);
    keep_places(jobs, gpus);
    division.promised = kept_.at(now);
    for (const auto& [job, steps] : plans_) {
      division.gpus[job] = steps.gpus_at(0);
      if (const double change = steps.change_after(0); change < kForever)
        division.next = std::min(division.next, std::max(maker_.times().instant(change), now + Time::nanoseconds(1)));
    }
    give_leftovers(jobs, division);
    return division;
  }

 private:
  static constexpr double kForever = GpuPlan::kForever;

  static double deadline_of(const ElasticJob& job, Time now) {
    return job.view.deadline ? (*job.view.deadline - now).to_seconds() : kForever;
  }

  /// Plans the jobs in order of their deadlines. One that can't meet its own takes the most GPUs that are free.
  void plan(std::span<const ElasticJob> jobs, int gpus) {
    plans_.clear();
    free_ = GpuPlan{gpus};
    for (const std::size_t i : order_) {
      GpuPlan steps{0};
      maker_.look_at(jobs[i], free_, 0, deadline_of(jobs[i], now_));
      if (!maker_.least(jobs[i].left_s, steps)) {
        maker_.look_at(jobs[i], free_, 0, kForever);
        maker_.most(jobs[i].left_s, steps);
      }
      free_.subtract(steps);
      plans_.emplace_back(i, std::move(steps));
    }
  }

  void admit(std::span<const ElasticJob> jobs, std::size_t i, int gpus, Division& division) {
    const auto at = std::ranges::upper_bound(order_, *jobs[i].view.deadline, {},
                                             [&](std::size_t other) { return *jobs[other].view.deadline; });
    const auto index = at - order_.begin();
    // Those that can't be saved any more must not keep others out.
    plan(jobs, gpus);
    std::set<std::size_t> late;
    for (const auto& [job, steps] : plans_)
      if (!does_in_time(jobs[job], steps) && !is_kept_in_time(jobs[job])) late.insert(job);
    order_.insert(order_.begin() + index, i);
    plan(jobs, gpus);
    const bool holds = std::ranges::all_of(plans_, [&](const auto& each) {
      return late.contains(each.first) || does_in_time(jobs[each.first], each.second);
    });
    if (auto places = holds ? places_for_plans(jobs) : std::nullopt) {
      kept_ = std::move(*places);
      admitted_.insert(jobs[i].view.id);
      return;
    }
    order_.erase(order_.begin() + index);
    division.refused.emplace_back(
        i, "refused: no division of the GPUs meets its deadline and the deadlines of admitted jobs");
  }

  /// Places for the plans of the jobs that meet their deadlines.
  [[nodiscard]] std::optional<KeptPlaces> places_for_plans(std::span<const ElasticJob> jobs) {
    std::vector<PlannedJobGpus> planned;
    for (const auto& [job, steps] : plans_)
      if (does_in_time(jobs[job], steps)) planned.push_back({&jobs[job], &steps});
    std::vector<SizedClaim> running;
    for (const ElasticJob& job : jobs) {
      const auto gpus = gpus_of(job.view.id);
      if (job.held > 0) running.push_back({job.view.id, job.held, {gpus.begin(), gpus.end()}});
    }
    return KeptPlaces::find(planned, running, maker_.times(),
                            [this](std::span<SizedClaim> claims) { return find_places(claims); });
  }

  /// Keeps places for the present plans. If there are none, or a job would be late that isn't by the plans for which
  /// places were kept, these go on, unless GPUs of theirs have gone out of service.
  void keep_places(std::span<const ElasticJob> jobs, int gpus) {
    const bool is_as_good = std::ranges::all_of(plans_, [&](const auto& each) {
      return does_in_time(jobs[each.first], each.second) || !is_kept_in_time(jobs[each.first]);
    });
    if (auto places = is_as_good ? places_for_plans(jobs) : std::nullopt) {
      kept_ = std::move(*places);
      return;
    }
    std::set<JobId> present;
    for (const ElasticJob& job : jobs) present.insert(job.view.id);
    kept_.keep_only(present);
    std::vector<SizedClaim> claims = kept_.at(now_);
    for (const ElasticJob& job : jobs)
      if (job.held > 0 && std::ranges::find(claims, job.view.id, &SizedClaim::job) == claims.end())
        claims.push_back({job.view.id});
    if (!find_places(claims)) {
      kept_ = {};
      return;
    }
    free_ = GpuPlan{gpus};
    for (auto& [job, steps] : plans_) {
      steps = kept_.plan_of(jobs[job].view.id, now_);
      free_.subtract(steps);
    }
  }

  /// True if the job is done in time by the plan for which places are kept.
  [[nodiscard]] bool is_kept_in_time(const ElasticJob& job) const {
    return does_in_time(job, kept_.plan_of(job.view.id, now_));
  }

  [[nodiscard]] bool does_in_time(const ElasticJob& job, const GpuPlan& steps) const {
    return steps.work(job, 0, deadline_of(job, now_)) >= job.left_s * (1 - kRounding);
  }

  /// A job that may have more GPUs.
  struct Open {
    std::size_t job = 0;
    int has = 0, next = 0;  ///< GPUs now; the next larger size, 0 if there is none on which it is faster
    GpuPlan plan{0};
    double gpu_s = 0;     ///< of the plan
    double per_work = 0;  ///< the least GPU time for a unit of work
    double bound = 0;     ///< the least GPU time more for each GPU more
  };

  [[nodiscard]] std::vector<Open> open_jobs(std::span<const ElasticJob> jobs, const Division& division) {
    std::vector<Open> open;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].view.deadline && !admitted_.contains(jobs[i].view.id)) continue;
      double per_work = kForever;
      for (std::size_t k = 0; k < jobs[i].sizes.size(); ++k)
        if (jobs[i].speeds[k] > 0) per_work = std::min(per_work, jobs[i].sizes[k] / jobs[i].speeds[k]);
      open.push_back({.job = i, .per_work = per_work});
      give(jobs[i], division.gpus[i], open.back());
    }
    for (auto& [job, steps] : plans_) {
      Open& own = *std::ranges::lower_bound(open, job, {}, &Open::job);
      own.plan = std::move(steps);
      own.gpu_s = own.plan.gpu_seconds();
    }
    return open;
  }

  static void give(const ElasticJob& job, int gpus, Open& own) {
    own.has = gpus;
    own.next = job.size_above(gpus);
    if (own.next > 0 && job.speed_on(own.next) <= job.speed_on(gpus)) own.next = 0;
  }

  /// The least GPU time more for each GPU more that any plan can take that begins with the next size, but for rounding.
  [[nodiscard]] double least_extra(const ElasticJob& job, const Open& own) const {
    constexpr double kPlanRounding = 1e-6;  // far above the rounding of plans
    const double speed = job.speed_on(own.next), takes = job.left_s / speed;
    const double first = std::min({GpuPlan::sum_changes(free_, own.plan), deadline_of(job, now_), takes});
    const double gpu_s = first * own.next + std::max(0.0, job.left_s - first * speed) * own.per_work;
    return (gpu_s * (1 - kPlanRounding) - own.gpu_s * (1 + kPlanRounding)) / (own.next - own.has);
  }

  void give_leftovers(std::span<const ElasticJob> jobs, Division& division) {
    std::vector<Open> open = open_jobs(jobs, division);
    std::vector<Open*> order;
    GpuPlan plan{0}, best_plan{0};
    while (free_.gpus_at(0) > 0) {
      const int left = free_.gpus_at(0);
      order.clear();
      for (Open& own : open) {
        if (own.next == 0 || own.next - own.has > left) continue;
        own.bound = most_first_ ? 0 : least_extra(jobs[own.job], own);
        order.push_back(&own);
      }
      // Jobs without GPUs go first. Those that can't win need no plan.
      std::ranges::stable_sort(order, {}, [](const Open* own) { return std::pair{own->has > 0, own->bound}; });
      Open* wins = nullptr;
      double best = 0;
      for (Open* const own : order) {
        if (wins != nullptr && wins->has == 0 && own->has > 0) break;
        if (wins != nullptr && !most_first_ && own->bound > best) break;
        if (!grown_plan(jobs[own->job], own->plan, own->next, plan)) continue;
        const double extra = (plan.gpu_seconds() - own->gpu_s) / (own->next - own->has);
        const bool is_better = most_first_ ? extra > best : extra < best;
        if (wins != nullptr && !is_better && (extra != best || own > wins)) continue;
        std::swap(best_plan, plan);
        best = extra;
        wins = own;
      }
      if (wins == nullptr) break;
      free_.add(wins->plan);
      free_.subtract(best_plan);
      std::swap(wins->plan, best_plan);
      wins->gpu_s = wins->plan.gpu_seconds();
      division.gpus[wins->job] = wins->next;
      give(jobs[wins->job], wins->next, *wins);
    }
  }

  /// The plan of a job that has so many GPUs until the GPUs that it can use change, which are those that are free and
  /// the GPUs of its plan up to now, and after that the fewest with which it is done in time. False if it isn't.
  [[nodiscard]] bool grown_plan(const ElasticJob& job, const GpuPlan& own, int gpus, GpuPlan& plan) {
    const double deadline = deadline_of(job, now_);
    const double end = std::min(GpuPlan::sum_changes(free_, own), deadline);
    const double speed = job.speed_on(gpus), takes = job.left_s / speed;
    plan.clear();
    if (takes <= end || end >= kForever) {
      plan.append(0, takes, gpus);
      return takes <= deadline;
    }
    plan.append(0, end, gpus);
    const double left_s = job.left_s - end * speed;
    maker_.look_at(job, free_, own, end, deadline);
    if (job.view.deadline) return maker_.least(left_s, plan);
    maker_.most(left_s, plan);
    return true;
  }

  static constexpr double kRounding = 1e-9;

  bool most_first_;
  Time now_;
  std::set<JobId> admitted_;        // once and for all: a failure may bring them back to the queue
  std::vector<std::size_t> order_;  // admitted jobs with a deadline, by it
  KeptPlaces kept_;
  GpuPlan free_{0};
  PlanMaker maker_;
  std::vector<std::pair<std::size_t, GpuPlan>> plans_;
};

std::unique_ptr<SchedulingPolicy> make_elasticflow(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<ElasticFlow>(elastic_decisions(parameters, context), parameters.get<bool>("most_first"));
}

}  // namespace

PolicyRow<SchedulingPolicy> elasticflow_scheduling() {
  static constexpr ParameterInfo kParameters[] = {elastic_period_parameter(60),
                                                  {"most_first", false, 0, 0,
                                                   "spare GPUs go first where they cost most further GPU time, as in "
                                                   "the released code; else where they cost least"}};
  return {
      .name = "elasticflow",
      .summary = "admits jobs whose deadlines can be met, and gives each the fewest GPUs that do; jobs grow and shrink",
      .source = "Gu et al., ASPLOS 2023",
      .parameters = kParameters,
      .make = make_elasticflow,
      .one_type = true,
      .weighs = Weighs::deadlines};
}

}  // namespace contend
