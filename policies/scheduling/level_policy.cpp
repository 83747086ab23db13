#include "policies/scheduling/level_policy.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

template <class Integer>
Integer divide_up(Integer n, Integer by) {
  return n / by + (n % by > 0 ? 1 : 0);
}

// The tiers order the jobs of a level.
constexpr std::int32_t kRunning = 0, kWaiting = 1, kJoining = 2;

}  // namespace

GpuTime LevelPolicy::attained(const WalkJob& job) const {
  const GpuTime gpu_time = job.attained(now()) - job.forgotten;
  return options_.gpu_time ? gpu_time : GpuTime{gpu_time.on_each_of(job.view.gpus), 1};
}

Time LevelPolicy::due(const WalkJob& job) const {
  const Int128 left = std::max<Int128>((limit(job.level) - attained(job)).ns(), 0);
  Int128 at = now().ns() + (options_.gpu_time ? divide_up<Int128>(left, job.view.gpus) : left);
  if (options_.rules.whole_seconds) at = divide_up<Int128>(at, kSecond) * kSecond;
  return at < Time::never().ns() ? Time::nanoseconds(static_cast<std::int64_t>(at)) : Time::never();
}

Time LevelPolicy::promotion(const WalkJob& job) const {
  const Time run = (job.view.attained_service - job.forgotten).on_each_of(job.view.gpus);
  if (options_.promote == 0 || job.level == 0 || run == Time{}) return Time::never();
  const double enough = options_.promote * static_cast<double>(run.ns());
  return enough > 9e18 ? Time::never() : job.view.since + Time::ceil_nanoseconds(enough) - job.waited;
}

void LevelPolicy::schedule(WalkJob& job) {
  unschedule(job);
  job.due = job.running ? due(job) : promotion(job);
  if (job.due == Time::never()) return;
  job.demotes = job.running;
  due_list(job.demotes).insert({job.due, job.view.id}, [&](const Due& entry) { return is_due(entry, job.demotes); });
  if (!options_.rules.late_wakeup || !job.running) return;
  const Time run = (job.view.attained_service - job.forgotten).on_each_of(job.view.gpus);
  job.late = (job.since + limit(job.level).on_each_of(1) - run).ns();
  late_[job.view.gpus].emplace(job.late, job.view.id);
}

void LevelPolicy::unschedule(WalkJob& job) {
  if (job.due != Time::never()) due_list(job.demotes).lose();
  job.due = Time::never();
  if (late_.empty()) return;
  const auto late = late_.find(job.view.gpus);
  if (late != late_.end()) late->second.erase({job.late, job.view.id});
}

std::int64_t LevelPolicy::next_label() {
  if (labelled_ != passes()) sequence_ = 0;
  labelled_ = passes();
  return passes() * kPass + sequence_++;
}

// With list_order a level is a list: first the running jobs, then the waiting jobs, then the jobs that joined in this
// pass. After the pass the running jobs come first again. The running and the waiting jobs each keep their order.
Rank LevelPolicy::waiting_rank(WalkJob& job) {
  const bool is_joining = job.is_new || std::find(moved_.begin(), moved_.end(), job.view.id) != moved_.end();
  if (job.is_new) {  // or queues for another attempt: service and waiting before that count
    if (const auto kept = kept_.extract(job.view.id)) {
      job.forgotten = kept.mapped().forgotten;
      job.waited = kept.mapped().waited;
      forget_width(job, kept.mapped().gpus, job.view);
    }
    job.level = level_at(attained(job), 0);
  }
  schedule(job);
  if (!options_.rules.list_order) return rank(job);
  const std::int64_t label = is_joining ? next_label() + kPass / 2 : next_label() - 2 * passes() * kPass;
  return {level_key(job.level), job.is_new ? kJoining : kWaiting, label, job.view.id};
}

MovingRank LevelPolicy::running_rank(WalkJob& job, const Rank& waiting) {
  const std::int64_t label = options_.rules.list_order ? next_label() : waiting.label;
  return {{waiting.key, kRunning, label, job.view.id}, 0};
}

void LevelPolicy::job_started(WalkJob& job) {
  // Before its first run a job has not waited, nor has one that counts as new again.
  job.waited = job.view.attained_service > job.forgotten ? job.waited + (now() - job.view.since) : Time{};
  schedule(job);
}

void LevelPolicy::job_stopped(WalkJob& job) {
  unschedule(job);
}

void LevelPolicy::job_left(const WalkJob& job) {
  const bool is_resized = !options_.gpu_time && job.view.gpus != job.view.preferred_gpus;
  if (options_.promote > 0 || job.forgotten != GpuTime{} || is_resized)
    kept_[job.view.id] = {job.forgotten, job.waited, job.view.gpus};
}

void LevelPolicy::width_changes(WalkJob& job, const JobView& next) {
  forget_width(job, job.view.gpus, next);
}

void LevelPolicy::forget_width(WalkJob& job, int gpus, const JobView& next) const {
  if (options_.gpu_time || gpus == next.gpus) return;
  const GpuTime on_all = next.attained_service;
  job.forgotten = on_all - GpuTime{(on_all - job.forgotten).on_each_of(gpus), next.gpus};
}

Rank LevelPolicy::rank(const WalkJob& job) const {
  const std::int32_t tier = job.running ? kRunning : kWaiting;
  return {level_key(job.level), tier, job.view.tie, job.view.id};
}

/// Demotes a running job or promotes a waiting job.
void LevelPolicy::move(WalkJob& job) {
  if (job.running) {
    job.level = options_.rules.single_step ? job.level + 1 : level_at(attained(job), job.level);
  } else {
    job.level = 0;
    job.forgotten = job.view.attained_service;
    job.waited = Time{} - (now() - job.view.since);
  }
  schedule(job);
  Rank to = rank(job);
  if (options_.rules.list_order) {
    to.tier = kJoining;
    to.label = next_label() + kPass / 2;
    moved_.push_back(job.view.id);
  }
  rerank(job, {to, 0});
}

void LevelPolicy::before_walks(const ClusterView& cluster) {
  std::vector<std::pair<std::int64_t, JobId>> moving;  // in order of arrival
  for (const bool demotes : {true, false}) {
    for (const Due* first = first_due(demotes); first != nullptr && first->first <= now(); first = first_due(demotes)) {
      WalkJob& due = job(first->second);
      due_list(demotes).pop();
      due.due = Time::never();
      moving.emplace_back(due.view.tie, due.view.id);
    }
  }
  std::sort(moving.begin(), moving.end());
  for (const auto& [tie, id] : moving) move(job(id));
  if (!keys_changed(cluster)) return;
  for_each_job([this](WalkJob& ranked) {
    Rank to = place_of(ranked);
    to.key = level_key(ranked.level);
    rerank(ranked, {to, 0});
  });
}

void LevelPolicy::after_walks(const ClusterView&) {
  if (options_.rules.list_order) {
    const auto settle = [&](JobId id) {
      WalkJob& joined = job(id);
      Rank to = place_of(joined);
      to.tier = joined.running ? kRunning : kWaiting;
      if (joined.running) to.label = next_label() + kPass / 2;
      rerank(joined, {to, 0});
    };
    for (const JobId id : moved_) {
      if (place_of(job(id)).tier == kJoining) settle(id);
    }
    for (const JobId id : newcomers()) settle(id);  // one that gave way in this pass stands right already
  }
  moved_.clear();
}

Time LevelPolicy::late_wakeup() const {
  Time first = Time::never();
  for (const auto& [gpus, jobs] : late_) {
    if (jobs.empty()) continue;
    const std::int64_t seconds = divide_up<std::int64_t>(jobs.begin()->first - now().ns(), gpus * kSecond);
    first = std::min(first, now() + Time::seconds(seconds));
  }
  return first;
}

Time LevelPolicy::slice(int gpus) const {
  const std::optional<GpuTime> width = level_width();
  return width ? width->on_each_of(options_.gpu_time ? gpus : 1) : Time::never();
}

Time LevelPolicy::next_decision(const ClusterView& cluster) {
  if (!has_waiting() && !sees_every_event()) return Time::never();
  const auto first = [this](bool demotes) {
    const Due* const due = first_due(demotes);
    return due == nullptr ? Time::never() : due->first;
  };
  const Time demotion = options_.rules.late_wakeup && options_.gpu_time ? late_wakeup() : first(true);
  return std::max(std::min(demotion, first(false)), cluster.now() + Time::nanoseconds(1));
}

}  // namespace contend
