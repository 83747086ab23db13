#pragma once
// Times executions by CUDA events around `launches` of them, back to back on one stream.
//
// The caches are not flushed in between. A tensor that fits into the second-level cache stays there, like a tensor that
// the operation before has just written; a larger one comes from memory. Sizes on both sides of the cache size are
// therefore worth measuring, and bandwidths of small tensors are those of the cache.
//
// If the host needs longer to launch a kernel than the device to run it, events would measure the host. A gate prevents
// that: a kernel that waits for a word in host memory holds the stream until all launches are enqueued. It opens by
// itself after 20 ms; if the driver's queue fills up before that, or a library waits for the device, the remaining
// launches are measured as fast as the host enqueues them.

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

/// A kernel that holds a stream from close() to open().
class Gate {
 public:
  explicit Gate(Session& session);
  void close(cudaStream_t stream);
  void open();

 private:
  PinnedMemory word_;
};

/// Keeps all multiprocessors busy for a while: an idle device runs at a fraction of its clock under load, and the clock
/// takes longer to rise than a short operation is measured.
void wake(Session& session);

/// Seconds of `launches` executions.
double time_executions(Session& session, const Operation& operation, int launches);
/// The same while `keep_busy`, which enqueues one piece of work on session.background, is called over and over until
/// the last execution has ended.
double time_beside(Session& session, const Operation& operation, int launches, const std::function<void()>& keep_busy);

}  // namespace contend::cuda
