#include "policies/scheduling/gpu_plan.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr double kWorkRounding = 1e-9;  // a part of the work that counts as done

/// Follows the plan that gives the sizes_at(i) smallest sizes of the job, of which it takes the largest, in the step i,
/// from then on until the work is done.
template <class SizesAt>
GpuPlan until_done(const ElasticJob& job, double left, const std::vector<std::pair<double, int>>& steps, double from_s,
                   double deadline_s, const SizesAt& sizes_at) {
  GpuPlan plan{0};
  for (std::size_t i = 0; i < steps.size() && steps[i].first < deadline_s; ++i) {
    const double from = std::max(from_s, steps[i].first);
    const double to = std::min(deadline_s, i + 1 < steps.size() ? steps[i + 1].first : GpuPlan::kForever);
    if (!(from < to)) continue;
    const std::size_t sizes = sizes_at(i);
    if (sizes == 0) continue;
    const int gpus = job.sizes[sizes - 1];
    const double speed = job.speeds[sizes - 1];
    if (speed * (to - from) >= left * (1 - kWorkRounding)) {
      plan.append(from, std::min(to, from + left / speed), gpus);
      return plan;
    }
    plan.append(from, to, gpus);
    left -= speed * (to - from);
  }
  return plan;
}

std::size_t sizes_within(const ElasticJob& job, int gpus) {
  return static_cast<std::size_t>(std::ranges::upper_bound(job.sizes, gpus) - job.sizes.begin());
}

}  // namespace

int GpuPlan::gpus_at(double time) const {
  const auto after = std::ranges::upper_bound(steps_, time, {}, &std::pair<double, int>::first);
  return std::prev(after)->second;
}

double GpuPlan::change_after(double time) const {
  const auto after = std::ranges::upper_bound(steps_, time, {}, &std::pair<double, int>::first);
  return after == steps_.end() ? kForever : after->first;
}

void GpuPlan::set(double from, double to, int gpus) {
  if (!(from < to)) return;
  const int then = to < kForever ? gpus_at(to) : 0;
  std::vector<std::pair<double, int>> made;
  for (const auto& step : steps_)
    if (step.first < from) made.push_back(step);
  made.emplace_back(from, gpus);
  if (to < kForever) made.emplace_back(to, then);
  for (const auto& step : steps_)
    if (step.first > to) made.push_back(step);
  steps_.clear();
  for (const auto& step : made)
    if (steps_.empty() || steps_.back().second != step.second) steps_.push_back(step);
}

void GpuPlan::append(double from, double to, int gpus) {
  if (!(from < to)) return;
  if (steps_.back().first == from) steps_.pop_back();
  if (steps_.empty() || steps_.back().second != gpus) steps_.emplace_back(from, gpus);
  if (to < kForever) steps_.emplace_back(to, 0);
}

void GpuPlan::add(const GpuPlan& other, int sign) {
  Steps made;
  combine(*this, other, sign, made);
  steps_ = std::move(made);
}

void GpuPlan::combine(const GpuPlan& a, const GpuPlan& b, int sign, Steps& made) {
  made.clear();
  made.reserve(a.steps_.size() + b.steps_.size());
  std::size_t i = 0, j = 0;
  int mine = 0, theirs = 0;
  while (i < a.steps_.size() || j < b.steps_.size()) {
    const double next = std::min(i < a.steps_.size() ? a.steps_[i].first : kForever,
                                 j < b.steps_.size() ? b.steps_[j].first : kForever);
    if (i < a.steps_.size() && a.steps_[i].first == next) mine = a.steps_[i++].second;
    if (j < b.steps_.size() && b.steps_[j].first == next) theirs = b.steps_[j++].second;
    const int sum = mine + sign * theirs;
    if (made.empty() || made.back().second != sum) made.emplace_back(next, sum);
  }
}

double GpuPlan::gpu_seconds() const {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) sum += steps_[i].second * (steps_[i + 1].first - steps_[i].first);
  return sum;
}

double GpuPlan::work(const ElasticJob& job, double from, double to) const {
  double sum = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double begin = std::max(from, steps_[i].first);
    const double end = std::min(to, i + 1 < steps_.size() ? steps_[i + 1].first : kForever);
    if (begin < end && steps_[i].second > 0) sum += job.speed_on(steps_[i].second) * (end - begin);
  }
  return sum;
}

bool least_plan(const ElasticJob& job, double left_s, const GpuPlan& free, double from_s, double deadline_s,
                GpuPlan& plan) {
  const auto& steps = free.steps();
  // By step before the deadline: how many of the job's sizes fit, and for how long.
  std::vector<std::pair<std::size_t, double>> room;
  room.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size() && steps[i].first < deadline_s; ++i) {
    const double to = std::min(deadline_s, i + 1 < steps.size() ? steps[i + 1].first : GpuPlan::kForever);
    const double length = to - std::max(from_s, steps[i].first);
    room.emplace_back(length > 0 ? sizes_within(job, steps[i].second) : 0, length);
  }
  const double needed = left_s * (1 - kWorkRounding);
  for (std::size_t most = 1; most <= job.sizes.size(); ++most) {  // so many sizes are used, the smallest ones
    double done = 0;
    for (std::size_t i = room.size(); i-- > 0;) {
      const auto& [fit, length] = room[i];
      if (const std::size_t used = std::min(most, fit); used > 0) done += job.speeds[used - 1] * length;
      if (done < needed) continue;
      plan = until_done(job, left_s, steps, from_s, deadline_s,
                        [&](std::size_t at) { return std::min(at >= i ? most : most - 1, room[at].first); });
      return true;
    }
  }
  return false;
}

GpuPlan most_plan(const ElasticJob& job, double left_s, const GpuPlan& free, double from_s) {
  return until_done(job, left_s, free.steps(), from_s, GpuPlan::kForever,
                    [&](std::size_t i) { return sizes_within(job, free.steps()[i].second); });
}

}  // namespace contend
