#include "calibration/cuda/timing.cuh"

namespace contend::cuda {

namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait_at_gate(const volatile unsigned* open, unsigned long long most) {
  const unsigned long long begin = nanoseconds();
  while (*open == 0 && nanoseconds() - begin < most) __nanosleep(500);
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

void enqueue(Session& session, const Operation& operation, int launches, Event& begin, Event& end) {
  begin.record(session.stream);
  for (int i = 0; i < launches; ++i) operation.execute(session.stream);
  check(cudaGetLastError(), "launching a kernel");
  end.record(session.stream);
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

Gate::Gate(Session&) : word_(allocate_pinned(sizeof(unsigned))) {}

void Gate::close(cudaStream_t stream) {
  *static_cast<volatile unsigned*>(word_.get()) = 0;
  wait_at_gate<<<1, 1, 0, stream>>>(static_cast<const volatile unsigned*>(word_.get()), 20'000'000ULL);
  check(cudaGetLastError(), "launching a kernel");
}

void Gate::open() {
  *static_cast<volatile unsigned*>(word_.get()) = 1;
}

void wake(Session& session) {
  const int blocks = 4 * session.multiprocessors;
  const DeviceMemory result = allocate(static_cast<size_t>(blocks) * sizeof(float));
  compute_for<<<blocks, 256, 0, session.stream>>>(200'000'000ULL, static_cast<float*>(result.get()));
  check(cudaGetLastError(), "launching a kernel");
  check(cudaStreamSynchronize(session.stream), "computing for a while");
}

double time_executions(Session& session, const Operation& operation, int launches) {
  Event begin, end;
  {
    Gate* const gate = operation.gated ? &session.library<Gate>() : nullptr;
    const Opened opened(gate);
    if (gate != nullptr) gate->close(session.stream);
    enqueue(session, operation, launches, begin, end);
  }
  end.wait();
  return seconds_between(begin, end);
}

double time_beside(Session& session, const Operation& operation, int launches, const std::function<void()>& keep_busy) {
  // Two pieces of work are always in flight, so that the next begins when one ends.
  Event begin, end, done[2];
  for (Event& each : done) {
    keep_busy();
    each.record(session.background);
  }
  {
    Gate& gate = session.library<Gate>();
    const Opened opened(&gate);
    gate.close(session.stream);
    enqueue(session, operation, launches, begin, end);
  }
  for (int next = 0; !end.reached(); next = 1 - next) {
    while (!done[next].reached() && !end.reached()) {
    }
    keep_busy();
    done[next].record(session.background);
  }
  check(cudaStreamSynchronize(session.background), "waiting for the device");
  return seconds_between(begin, end);
}

}  // namespace contend::cuda
