#pragma once
// CheckpointStore is what all jobs write their checkpoints to, such as a parallel file system. Its rate is shared: each
// GPU that writes has the same rate, but a job never writes faster than jobs can. So the rates are max-min fair with
// the GPUs of the jobs as weights. A write ends at the first whole nanosecond at which all its bytes are there.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <vector>

namespace contend {

class CheckpointStore {
 public:
  /// Takes the rate of the store, > 0, and the rate of one job, 0 if only the store limits it.
  CheckpointStore(ByteRate rate, ByteRate of_job);

  /// The job begins to write that many bytes, > 0, from `gpus` GPUs. It must not be writing.
  void begin(JobId job, double bytes, int gpus, Time now);
  /// The job writes no further; nothing if it doesn't write.
  void abandon(JobId job, Time now);
  [[nodiscard]] bool is_writing(JobId job) const;
  /// The time at which the next write ends if none begins or is abandoned before; never() if there is none.
  [[nodiscard]] Time next_end() const { return next_end_; }
  /// Ends the writes that are complete at `now` and appends their jobs to `ended`, in the order in which they began.
  void end_due(Time now, std::vector<JobId>& ended);

 private:
  struct Write {
    JobId job;
    double bytes = 0;  // left at since_
    double gpus = 1;
    double rate = 0;  // bytes per nanosecond
  };
  void advance(Time now);
  void share();

  double rate_, of_job_;  // bytes per nanosecond; of_job_ 0: no limit
  std::vector<Write> writes_;
  Time since_, next_end_ = Time::never();
};

}  // namespace contend
