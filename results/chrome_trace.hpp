#pragma once
// A timeline in Chrome's trace-event JSON, for ui.perfetto.dev, chrome://tracing and speedscope: a process a server
// with a thread a GPU, and a process `network` with a lane for each network interface. Every span is a complete event
// (`ph` X) with `ts` and `dur` in microseconds, exact to the nanosecond.
//
// Viewers draw complete events of one thread as a stack, so two transfers that overlap on an interface must not share
// a thread: an interface gets further lanes (`server3/nic #2`) as it needs them. A transfer is drawn on every server
// that it touches.

#include "sim/ports.hpp"

#include <memory>
#include <string>

namespace contend {

class ChromeTrace final : public Observer {
 public:
  /// Compresses if `path` ends in `.gz`. Throws InputError if the file can't be written.
  ChromeTrace(const std::string& path, std::size_t servers, std::size_t gpus_per_server);
  /// Without close() nothing is left under `path`.
  ~ChromeTrace() override;

  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) override;

  /// Completes the file under its name. Throws InputError. Call once, last.
  void close();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace contend
