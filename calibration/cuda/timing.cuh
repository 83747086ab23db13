#pragma once
// How executions are timed: CUDA events around `launches` of them, back to back on one stream.
//
// The caches are not flushed in between. What fits into the second-level cache stays there, as a tensor does that the
// operation before has just written; what is larger comes from memory. So sizes on both sides of the cache's are worth
// measuring, and bandwidths of small tensors are those of the cache.
//
// A host that takes longer to launch a kernel than the device to run it would be measured instead of the device.
// Therefore a gate, a kernel that waits for a word in host memory, holds the stream until all is enqueued. It opens by
// itself after 20 ms: where the queue of the driver is full before that, or a library waits for the device, the rest
// is measured as fast as the host enqueues it.

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
  /// Whether what was recorded has been reached.
  bool reached() const;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// From `begin` to `end`, both reached.
double seconds_between(const Event& begin, const Event& end);

class Gate {
 public:
  explicit Gate(Session& session);
  void close(cudaStream_t stream);
  void open();

 private:
  PinnedMemory word_;
};

/// Keeps all multiprocessors busy for a while: the clocks of an idle device are a fraction of those under load, and
/// take longer to rise than a short operation is measured.
void wake(Session& session);

/// Seconds of `launches` executions.
double time_executions(Session& session, const Operation& operation, int launches);
/// The same, while `keep_busy` is called over and over until the last execution has ended: it enqueues one piece of
/// work on session.background.
double time_beside(Session& session, const Operation& operation, int launches, const std::function<void()>& keep_busy);

}  // namespace contend::cuda
