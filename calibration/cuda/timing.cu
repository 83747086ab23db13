#include "calibration/cuda/timing.cuh"

#include "calibration/cuda/launch_plan.hpp"

namespace contend::cuda {

namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Waits until gate[0] isn't zero, and sets gate[1] if that takes longer than `most` ns.
__global__ void wait_at_gate(volatile unsigned* gate, unsigned long long most) {
  const unsigned long long begin = nanoseconds();
  while (gate[0] == 0) {
    if (nanoseconds() - begin >= most) {
      gate[1] = 1;
      return;
    }
    __nanosleep(500);
  }
}

__global__ void compute_for(unsigned long long duration, float* result) {
  const unsigned long long begin = nanoseconds();
  float value = static_cast<float>(threadIdx.x);
  while (nanoseconds() - begin < duration) {
#pragma unroll
    for (int i = 0; i < 64; ++i) value = fmaf(value, 0.999F, 0.5F);
  }
  if (threadIdx.x == 0) result[blockIdx.x] = value;
}

/// Opens the gate even if enqueuing failed. Otherwise the work behind it could not be freed before the gate times out.
class Opened {
 public:
  explicit Opened(Gate* gate) : gate_(gate) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (gate_ != nullptr) gate_->open();
  }

 private:
  Gate* gate_;
};

int executions_at_once(int launches, const Operation& operation) {
  return std::min(cuda::executions_at_once(launches, operation.kernels), operation.most_at_once);
}

/// Halves what is enqueued behind one gate, since the host took longer than the gate waits for `tried` executions.
/// False if that was one already: then the library waits for the device itself.
bool enqueue_fewer(const Operation& operation, int tried) {
  if (tried <= 1) return false;
  operation.most_at_once = tried / 2;
  return true;
}

void enqueue(cudaStream_t stream, const Operation& operation, int first, int launches, Event& begin, Event& end) {
  begin.record(stream);
  for (int i = first; i < first + launches; ++i) operation.enqueue(i, stream);
  check(cudaGetLastError(), "launching a kernel");
  end.record(stream);
}

}  // namespace

bool Event::reached() const {
  const cudaError_t answer = cudaEventQuery(event_);
  if (answer == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(answer, "asking for an event");
  return true;
}

double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading the time between events");
  return static_cast<double>(milliseconds) / 1e3;
}

Gate::Gate(Session&) : words_(allocate_pinned(2 * sizeof(unsigned))) {}

void Gate::close(cudaStream_t stream) {
  auto* const gate = static_cast<volatile unsigned*>(words_.get());
  gate[0] = gate[1] = 0;
  wait_at_gate<<<1, 1, 0, stream>>>(gate, 20'000'000ULL);
  check(cudaGetLastError(), "launching a kernel");
}

void Gate::open() {
  static_cast<volatile unsigned*>(words_.get())[0] = 1;
}

bool Gate::gave_up() const {
  return static_cast<const volatile unsigned*>(words_.get())[1] != 0;
}

void wake(Session& session) {
  const int blocks = 4 * session.multiprocessors;
  const DeviceMemory result = allocate(static_cast<size_t>(blocks) * sizeof(float));
  compute_for<<<blocks, 256, 0, session.stream>>>(200'000'000ULL, static_cast<float*>(result.get()));
  check(cudaGetLastError(), "launching a kernel");
  check(cudaStreamSynchronize(session.stream), "computing for a while");
}

double time_executions(Session& session, const Operation& operation, int launches) {
  // Without a gate the host's part is what is asked for, and the queue may be full.
  Gate* const gate = operation.gated ? &session.library<Gate>() : nullptr;
  Event begin, end;
  double seconds = 0;
  for (int first = 0; first < launches;) {
    const int left = launches - first;
    const int now = gate != nullptr ? executions_at_once(left, operation) : left;
    {
      const Opened opened(gate);
      if (gate != nullptr) gate->close(session.stream);
      enqueue(session.stream, operation, first, now, begin, end);
    }
    end.wait();
    if (gate != nullptr && gate->gave_up() && enqueue_fewer(operation, now)) continue;
    seconds += seconds_between(begin, end);
    first += now;
  }
  return seconds;
}

namespace {

/// Pieces of background work as one graph, so that the host enqueues them at once.
class Pieces {
 public:
  Pieces(cudaStream_t stream, const std::function<void(cudaStream_t)>& piece) : stream_(stream) {
    // The first execution may load code or allocate, which must not happen during a capture.
    piece(stream_);
    check(cudaGetLastError(), "launching a kernel");
    check(cudaStreamSynchronize(stream_), "executing the background work");
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph");
    cudaGraph_t captured = nullptr;
    try {
      for (int i = 0; i < kPieces; ++i) piece(stream_);
    } catch (...) {
      cudaStreamEndCapture(stream_, &captured);
      if (captured != nullptr) cudaGraphDestroy(captured);
      throw;
    }
    check(cudaStreamEndCapture(stream_, &captured), "capturing a graph");
    const cudaError_t error = cudaGraphInstantiate(&graph_, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "making a graph");
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  void enqueue() { check(cudaGraphLaunch(graph_, stream_), "launching a graph"); }

 private:
  static constexpr int kPieces = 16;
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

double time_beside(Session& session, const Operation& operation, bool timed_in_front, int launches,
                   const std::function<void(cudaStream_t)>& keep_busy) {
  // Two graphs of pieces are always in flight, so that the next begins when one ends.
  const cudaStream_t timed = timed_in_front ? session.background : session.stream;
  const cudaStream_t other = timed_in_front ? session.stream : session.background;
  Pieces pieces(other, keep_busy);
  Event begin, end, done[2];
  double seconds = 0;
  for (int first = 0; first < launches;) {
    const int now = executions_at_once(launches - first, operation);
    Gate& gate = session.library<Gate>();
    for (Event& each : done) {
      pieces.enqueue();
      each.record(other);
    }
    {
      const Opened opened(&gate);
      gate.close(timed);
      enqueue(timed, operation, first, now, begin, end);
    }
    for (int next = 0; !end.reached(); next = 1 - next) {
      while (!done[next].reached() && !end.reached()) {
      }
      pieces.enqueue();
      done[next].record(other);
    }
    check(cudaStreamSynchronize(other), "waiting for the device");
    if (gate.gave_up() && enqueue_fewer(operation, now)) continue;
    seconds += seconds_between(begin, end);
    first += now;
  }
  return seconds;
}

}  // namespace contend::cuda
