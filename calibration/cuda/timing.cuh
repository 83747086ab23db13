#pragma once
// Times executions by CUDA events around `launches` of them, back to back on one stream.
//
// The caches are not flushed in between. A tensor that fits into the second-level cache stays there, like a tensor that
// the operation before has just written; a larger one comes from memory. Sizes on both sides of the cache size are
// therefore worth measuring, and bandwidths of small tensors are those of the cache. Operations whose operands a
// training step finds in memory (Entry::cold) are executed on copies that take turns.
//
// If the host needs longer to launch a kernel than the device to run it, events would measure the host. A gate prevents
// that: a kernel that waits for a word in host memory holds the stream until all launches are enqueued. It gives up
// after 20 ms; then the times are thrown away and half as many executions are enqueued behind the next gate. If a
// library waits for the device, one execution is measured as fast as the host enqueues it. Only as many kernels wait
// behind a gate as the driver's queue has room for (launch_plan.hpp).

#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "creating an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  void wait() { check(cudaEventSynchronize(event_), "waiting for the device"); }
  /// True once the device has reached the recorded point.
  bool reached() const;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Seconds from `begin` to `end`, both of which the device has reached.
double seconds_between(const Event& begin, const Event& end);

/// A kernel that holds a stream from close() to open(), 20 ms at most.
class Gate {
 public:
  explicit Gate(Session& session);
  void close(cudaStream_t stream);
  void open();
  /// True if the device reached the end of the wait before open(). To be asked when the device has passed the gate.
  bool gave_up() const;

 private:
  PinnedMemory words_;  ///< two numbers: open, gave up
};

/// Keeps all multiprocessors busy for a while: an idle device runs at a fraction of its clock under load, and the clock
/// takes longer to rise than a short operation is measured.
void wake(Session& session);

/// Seconds of `launches` executions.
double time_executions(Session& session, const Operation& operation, int launches);
/// The same while `keep_busy`, which enqueues one piece of work on the stream that it is given, is executed over and
/// over until the last execution has ended. Of the two streams, session.background has the higher priority; the timed
/// operation runs there if `timed_in_front`, else the other work.
double time_beside(Session& session, const Operation& operation, bool timed_in_front, int launches,
                   const std::function<void(cudaStream_t)>& keep_busy);

}  // namespace contend::cuda
