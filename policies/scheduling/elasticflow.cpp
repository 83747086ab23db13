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
// An admitted job that can no longer meet its deadline, because restarts took time that plans don't count, keeps the
// most GPUs that are free.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"
#include "policies/scheduling/gpu_plan.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace contend {

namespace {

class ElasticFlow final : public ElasticPolicy {
 public:
  ElasticFlow(Time period, bool most_first) : ElasticPolicy{period}, most_first_{most_first} {}

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> types, Time now) override {
    const int gpus = types.front();
    Division division;
    division.gpus.assign(jobs.size(), 0);
    now_ = now;
    order_.clear();
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].view.deadline && admitted_.contains(jobs[i].view.id)) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return *jobs[i].view.deadline; });
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (jobs[i].view.deadline && !admitted_.contains(jobs[i].view.id)) admit(jobs, i, gpus, division);
    plan(jobs, gpus, false);
    for (const auto& [job, steps] : plans_) {
      division.gpus[job] = steps.gpus_at(0);
      if (const double change = steps.change_after(0); change < kForever)
        division.next = std::min(division.next, now + Time::ceil_nanoseconds(std::max(1.0, change * 1e9)));
    }
    give_leftovers(jobs, division);
    return division;
  }

 private:
  static constexpr double kForever = GpuPlan::kForever;

  static double deadline_of(const ElasticJob& job, Time now) {
    return job.view.deadline ? (*job.view.deadline - now).to_seconds() : kForever;
  }

  /// Plans the jobs in order of their deadlines. Returns false where one can't meet its own, at once if `strict`; else
  /// that job takes the most GPUs that are free.
  bool plan(std::span<const ElasticJob> jobs, int gpus, bool strict) {
    plans_.clear();
    free_ = GpuPlan{gpus};
    bool all = true;
    for (const std::size_t i : order_) {
      GpuPlan steps{0};
      const bool meets = least_plan(jobs[i], jobs[i].left_s, free_, 0, deadline_of(jobs[i], now_), steps);
      if (!meets && strict) return false;
      if (!meets) steps = most_plan(jobs[i], jobs[i].left_s, free_, 0);
      all = all && meets;
      free_.subtract(steps);
      plans_.emplace_back(i, std::move(steps));
    }
    return all;
  }

  void admit(std::span<const ElasticJob> jobs, std::size_t i, int gpus, Division& division) {
    const auto at = std::ranges::upper_bound(order_, *jobs[i].view.deadline, {},
                                             [&](std::size_t other) { return *jobs[other].view.deadline; });
    const auto index = at - order_.begin();
    // Those that can't be saved any more must not keep others out.
    plan(jobs, gpus, false);
    std::set<std::size_t> late;
    for (const auto& [job, steps] : plans_)
      if (!does_in_time(jobs[job], steps)) late.insert(job);
    order_.insert(order_.begin() + index, i);
    plan(jobs, gpus, false);
    const bool holds = std::ranges::all_of(plans_, [&](const auto& each) {
      return late.contains(each.first) || does_in_time(jobs[each.first], each.second);
    });
    if (holds) {
      admitted_.insert(jobs[i].view.id);
      return;
    }
    order_.erase(order_.begin() + index);
    division.refused.emplace_back(i, "refused: no division of the GPUs meets its deadline and those of admitted jobs");
  }

  [[nodiscard]] bool does_in_time(const ElasticJob& job, const GpuPlan& steps) const {
    return steps.work(job, 0, deadline_of(job, now_)) >= job.left_s * (1 - kRounding);
  }

  void give_leftovers(std::span<const ElasticJob> jobs, Division& division) {
    struct Step {
      bool starts = false;
      double extra = 0;
      std::size_t job = 0;
      int gpus = 0;
      GpuPlan plan{0};
    };
    std::vector<GpuPlan> plans(jobs.size(), GpuPlan{0});
    for (const auto& [job, steps] : plans_) plans[job] = steps;
    GpuPlan without{0};
    while (free_.gpus_at(0) > 0) {
      std::optional<Step> best;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        const bool is_refused = jobs[i].view.deadline && !admitted_.contains(jobs[i].view.id);
        const int has = division.gpus[i], next = jobs[i].size_above(has);
        if (is_refused || next == 0 || next - has > free_.gpus_at(0)) continue;
        if (best && best->starts && has > 0) continue;  // jobs without GPUs go first
        if (jobs[i].speed_on(next) <= jobs[i].speed_on(has)) continue;
        Step step{has == 0, 0, i, next, GpuPlan{0}};
        without.assign_sum(free_, plans[i]);
        if (!grown_plan(jobs[i], without, next, step.plan)) continue;
        step.extra = (step.plan.gpu_seconds() - plans[i].gpu_seconds()) / (next - has);
        if (!best || goes_before(step, *best)) best = std::move(step);
      }
      if (!best) break;
      free_.add(plans[best->job]);
      free_.subtract(best->plan);
      plans[best->job] = best->plan;
      division.gpus[best->job] = best->gpus;
    }
  }

  template <class Step>
  [[nodiscard]] bool goes_before(const Step& a, const Step& b) const {
    if (a.starts != b.starts) return a.starts;
    return most_first_ ? a.extra > b.extra : a.extra < b.extra;
  }

  /// The plan of a job that has so many GPUs until the free GPUs change, and after that the fewest with which it is
  /// done in time. False if it isn't.
  [[nodiscard]] bool grown_plan(const ElasticJob& job, const GpuPlan& free, int gpus, GpuPlan& plan) const {
    const double end = std::min(free.change_after(0), deadline_of(job, now_));
    const double takes = job.left_s / job.speed_on(gpus);
    plan = GpuPlan{0};
    if (takes <= end || end >= kForever) {
      plan.set(0, takes, gpus);
      return takes <= deadline_of(job, now_);
    }
    const double left_s = job.left_s - end * job.speed_on(gpus);
    if (!job.view.deadline) {
      plan = most_plan(job, left_s, free, end);
    } else if (!least_plan(job, left_s, free, end, deadline_of(job, now_), plan)) {
      return false;
    }
    plan.set(0, end, gpus);
    return true;
  }

  static constexpr double kRounding = 1e-9;

  bool most_first_;
  Time now_;
  std::set<JobId> admitted_;        // once and for all: a failure may bring them back to the queue
  std::vector<std::size_t> order_;  // admitted jobs with a deadline, by it
  GpuPlan free_{0};
  std::vector<std::pair<std::size_t, GpuPlan>> plans_;
};

std::unique_ptr<SchedulingPolicy> make_elasticflow(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<ElasticFlow>(elastic_period(parameters), parameters.get<bool>("most_first"));
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
      .one_type = true};
}

}  // namespace contend
