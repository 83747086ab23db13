#include "sim/checkpoint_store.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>

namespace contend {

namespace {
constexpr double kRounding_ns = 1e-3;  // ends are whole nanoseconds, so less than this is an error of the arithmetic
}  // namespace

CheckpointStore::CheckpointStore(ByteRate rate, ByteRate of_job)
    : rate_{rate.bytes_per_second() * 1e-9}, of_job_{of_job.bytes_per_second() * 1e-9} {
  if (!(rate_ > 0) || of_job_ < 0) throw InputError{"a store of checkpoints has no rate"};
}

void CheckpointStore::begin(JobId job, double bytes, int gpus, Time now) {
  CONTEND_CHECK(bytes > 0 && gpus > 0 && !is_writing(job), "a job writes one checkpoint after the other");
  advance(now);
  writes_.push_back({job, bytes, static_cast<double>(gpus)});
  share();
}

void CheckpointStore::abandon(JobId job, Time now) {
  if (!is_writing(job)) return;
  advance(now);
  std::erase_if(writes_, [job](const Write& each) { return each.job == job; });
  share();
}

bool CheckpointStore::is_writing(JobId job) const {
  return std::ranges::find(writes_, job, &Write::job) != writes_.end();
}

void CheckpointStore::end_due(Time now, std::vector<JobId>& ended) {
  if (next_end_ > now) return;
  advance(now);
  std::erase_if(writes_, [&](const Write& each) {
    const bool is_complete = each.bytes <= each.rate * kRounding_ns;
    if (is_complete) ended.push_back(each.job);
    return is_complete;
  });
  share();
}

void CheckpointStore::advance(Time now) {
  const auto passed = static_cast<double>((now - since_).ns());
  for (Write& each : writes_) each.bytes -= each.rate * passed;
  since_ = now;
}

/// Gives each write its rate: raises the rate of a GPU until the store is full, and holds those jobs that reach their
/// own limit.
void CheckpointStore::share() {
  for (Write& each : writes_) each.rate = 0;
  double left = rate_;
  for (bool has_held = true; has_held;) {
    has_held = false;
    double gpus = 0;
    for (const Write& each : writes_) gpus += each.rate > 0 ? 0 : each.gpus;
    if (gpus == 0) break;
    const double of_gpu = left / gpus;
    for (Write& each : writes_) {
      if (of_job_ == 0 || each.rate > 0 || each.gpus * of_gpu < of_job_) continue;
      each.rate = of_job_;
      left -= of_job_;
      has_held = true;
    }
    if (has_held) continue;
    for (Write& each : writes_) each.rate = each.rate > 0 ? each.rate : each.gpus * of_gpu;
  }
  next_end_ = Time::never();
  for (const Write& each : writes_)
    next_end_ =
        std::min(next_end_, since_ + Time::ceil_nanoseconds(std::max(0.0, each.bytes / each.rate - kRounding_ns)));
}

}  // namespace contend
