#include "policies/scheduling/gpu_plan.hpp"

#include <algorithm>

namespace contend {

namespace {

/// What remains of a job by rounding alone: of sums of doubles, and where steps of plans lie between nanoseconds.
constexpr double kRoundingOfSums = 0x1p-47, kWorkRounding = 1e-9;
constexpr double kRoundingOfTimes = 1e-14;  // a part, of nanoseconds as seconds and back

std::size_t sizes_within(const ElasticJob& job, int gpus) {
  if (job.sizes.empty() || gpus >= job.sizes.back()) return job.sizes.size();
  return static_cast<std::size_t>(std::ranges::upper_bound(job.sizes, gpus) - job.sizes.begin());
}

/// Calls visit(begin, end, GPUs) for each step of a + sign * b that ends after `from`, in order, as long as it returns
/// true. The end of the last one is kForever.
template <class Visit>
void visit_sum(const std::vector<std::pair<double, int>>& a, const std::vector<std::pair<double, int>>& b, int sign,
               const Visit& visit) {
  constexpr double kForever = GpuPlan::kForever;
  std::size_t i = 1, j = 1;  // all plans begin at 0
  double begin = 0;
  int sum = a.front().second + sign * b.front().second;
  while (true) {
    double next = kForever;
    int then = sum;
    while (then == sum && (i < a.size() || j < b.size())) {
      const double in_a = i < a.size() ? a[i].first : kForever, in_b = j < b.size() ? b[j].first : kForever;
      next = std::min(in_a, in_b);
      if (in_a == next) ++i;
      if (in_b == next) ++j;
      then = a[i - 1].second + sign * b[j - 1].second;
    }
    if (then == sum) next = kForever;
    if (!visit(begin, next, sum) || next == kForever) return;
    begin = next;
    sum = then;
  }
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
  made.reserve(steps_.size() + other.steps_.size());
  visit_sum(steps_, other.steps_, sign, [&](double begin, double, int gpus) {
    made.emplace_back(begin, gpus);
    return true;
  });
  steps_ = std::move(made);
}

double GpuPlan::sum_changes(const GpuPlan& a, const GpuPlan& b) {
  double changes = kForever;
  visit_sum(a.steps_, b.steps_, 1, [&](double, double end, int) {
    changes = end;
    return false;
  });
  return changes;
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

double PlanTimes::hands_over(double from_s, double end_s) const {
  if (are_anywhere()) return end_s;
  const Time end = now_ + Time::ceil_nanoseconds(std::max(from_s, end_s) * 1e9);
  const Time begin = now_ + Time::nanoseconds(static_cast<std::int64_t>(from_s * 1e9 * (1 + kRoundingOfTimes)));
  const Time handed = decisions_.first_from(std::max(end, begin + Time::nanoseconds(1)));
  return decisions_.seconds(now_, handed);
}

Time PlanTimes::instant(double step_s) const {
  const double ns = step_s * 1e9;
  if (are_anywhere()) return now_ + Time::ceil_nanoseconds(ns);
  const Time at_least = Time::nanoseconds(static_cast<std::int64_t>(ns * (1 - kRoundingOfTimes)));
  return decisions_.first_from(now_ + at_least);
}

void PlanMaker::look_at(const ElasticJob& job, const GpuPlan& free, const GpuPlan& own, double from_s, double until_s) {
  job_ = &job;
  room_.clear();
  visit_sum(free.steps(), own.steps(), 1, [&](double begin, double end, int gpus) {
    if (begin >= until_s) return false;
    const Room room{std::max(from_s, begin), std::min(until_s, end), 0};
    if (room.from < room.to) room_.push_back({room.from, room.to, sizes_within(job, gpus)});
    return end < until_s;
  });
}

/// Whether `most` sizes, the smallest ones, may do so much work, which a sum in any order tells but for rounding. It is
/// asked about 1, 2, 3, ... sizes.
bool PlanMaker::may_suffice(std::size_t most, double needed) {
  constexpr double kOrderOfSums = 1e-9;
  if (most == 1) {
    time_.assign(job_->sizes.size() + 1, 0);
    for (const Room& room : room_) time_[room.sizes] += room.to - room.from;
    wide_s_ = narrow_ = 0;
    for (std::size_t sizes = 1; sizes < time_.size(); ++sizes) wide_s_ += time_[sizes];
  } else {
    narrow_ += time_[most - 1] * job_->speeds[most - 2];
    wide_s_ -= time_[most - 1];
  }
  return narrow_ + wide_s_ * job_->speeds[most - 1] >= needed * (1 - kOrderOfSums);
}

/// Of so much work, what may be left at the deadline of a job that is done in time.
double PlanMaker::rounding(double left_s) const {
  if (times_.are_anywhere()) return left_s * kWorkRounding;
  constexpr double kNanosecond = 1e-9;  // of work that a job has begun, JobView::remaining_service has a part too much
  return left_s * kRoundingOfSums + (job_->starts > 0 ? kNanosecond : 0);
}

bool PlanMaker::least(double left_s, GpuPlan& plan) {
  const double needed = left_s - rounding(left_s);
  for (std::size_t most = 1; most <= job_->sizes.size(); ++most) {  // so many sizes are used, the smallest ones
    if (!may_suffice(most, needed)) continue;
    double done = 0;
    for (std::size_t i = room_.size(); i-- > 0;) {
      const Room& room = room_[i];
      if (const std::size_t used = std::min(most, room.sizes); used > 0)
        done += job_->speeds[used - 1] * (room.to - room.from);
      if (done < needed) continue;
      until_done(
          left_s, [&](std::size_t at) { return std::min(at >= i ? most : most - 1, room_[at].sizes); }, plan);
      return true;
    }
  }
  return false;
}

void PlanMaker::most(double left_s, GpuPlan& plan) {
  until_done(
      left_s, [&](std::size_t at) { return room_[at].sizes; }, plan);
}

/// Follows the plan that gives the sizes_at(i) smallest sizes of the job, of which it takes the largest, in the room i,
/// until the work is done.
template <class SizesAt>
void PlanMaker::until_done(double left_s, const SizesAt& sizes_at, GpuPlan& plan) const {
  // A job that isn't quite done at a decision has its GPUs until the next one.
  const bool is_exact = !times_.are_anywhere();
  const double exact_rounding = left_s * kRoundingOfSums;
  double from_s = 0, until_s = 0;  // of the last part
  int last = 0;
  for (std::size_t i = 0; i < room_.size(); ++i) {
    const auto [from, to, all] = room_[i];
    const std::size_t sizes = sizes_at(i);
    if (sizes == 0) continue;
    const int gpus = job_->sizes[sizes - 1];
    const double speed = job_->speeds[sizes - 1];
    if (speed * (to - from) >= (is_exact ? left_s - exact_rounding : left_s * (1 - kWorkRounding))) {
      const double end = std::min(to, from + left_s / speed);
      return plan.append(from, times_.hands_over(from, end), gpus);
    }
    plan.append(from, to, gpus);
    left_s -= speed * (to - from);
    from_s = from;
    until_s = to;
    last = gpus;
  }
  if (is_exact && last > 0) plan.append(until_s, times_.hands_over(from_s, until_s), last);
}

}  // namespace contend
