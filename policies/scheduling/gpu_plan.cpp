#include "policies/scheduling/gpu_plan.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr double kWorkRounding = 1e-9;  // a part of the work that counts as done

/// Follows the plan whose number of GPUs at each time `gpus_from` gives, until the work is done.
template <class GpusFrom>
GpuPlan until_done(const ElasticJob& job, const std::vector<std::pair<double, int>>& steps, double deadline_s,
                   const GpusFrom& gpus_from) {
  GpuPlan plan{0};
  double left = job.left_s;
  for (std::size_t i = 0; i < steps.size() && steps[i].first < deadline_s; ++i) {
    const double from = steps[i].first;
    const double to = std::min(deadline_s, i + 1 < steps.size() ? steps[i + 1].first : GpuPlan::kForever);
    const int gpus = gpus_from(i);
    if (gpus == 0) continue;
    const double speed = job.speed_on(gpus);
    if (speed * (to - from) >= left * (1 - kWorkRounding)) {
      plan.append(from, std::min(to, from + left / speed), gpus);
      return plan;
    }
    plan.append(from, to, gpus);
    left -= speed * (to - from);
  }
  return plan;
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

void GpuPlan::combine(const GpuPlan& other, int sign) {
  std::vector<std::pair<double, int>> made;
  made.reserve(steps_.size() + other.steps_.size());
  std::size_t a = 0, b = 0;
  int mine = 0, theirs = 0;
  while (a < steps_.size() || b < other.steps_.size()) {
    const double next = std::min(a < steps_.size() ? steps_[a].first : kForever,
                                 b < other.steps_.size() ? other.steps_[b].first : kForever);
    if (a < steps_.size() && steps_[a].first == next) mine = steps_[a++].second;
    if (b < other.steps_.size() && other.steps_[b].first == next) theirs = other.steps_[b++].second;
    const int sum = mine + sign * theirs;
    if (made.empty() || made.back().second != sum) made.emplace_back(next, sum);
  }
  steps_ = std::move(made);
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

bool least_plan(const ElasticJob& job, const GpuPlan& free, double deadline_s, GpuPlan& plan) {
  const auto& steps = free.steps();
  int below = 0;  // the size before
  for (const int size : job.sizes) {
    const auto fits = [&](std::size_t i, int most) { return job.size_within(std::min(most, steps[i].second)); };
    double done = 0;
    for (std::size_t i = steps.size(); i-- > 0;) {
      const double from = steps[i].first;
      if (from >= deadline_s) continue;
      const double to = std::min(deadline_s, i + 1 < steps.size() ? steps[i + 1].first : GpuPlan::kForever);
      if (const int gpus = fits(i, size); gpus > 0) done += job.speed_on(gpus) * (to - from);
      if (done < job.left_s * (1 - kWorkRounding)) continue;
      plan = until_done(job, steps, deadline_s, [&](std::size_t at) { return fits(at, at >= i ? size : below); });
      return true;
    }
    below = size;
  }
  return false;
}

GpuPlan most_plan(const ElasticJob& job, const GpuPlan& free) {
  return until_done(job, free.steps(), GpuPlan::kForever,
                    [&](std::size_t i) { return job.size_within(free.steps()[i].second); });
}

}  // namespace contend
