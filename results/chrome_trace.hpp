#pragma once
// Writes a timeline as Chrome trace-event JSON, for ui.perfetto.dev, chrome://tracing and speedscope. Each server is a
// process with a thread for each GPU; a process `network` has a lane for each network interface. Every span is a
// complete event (`ph` X) with `ts` and `dur` in microseconds, exact to the nanosecond.
//
// Viewers draw overlapping complete events of one thread as a stack, so two transfers that overlap on an interface must
// not share a thread: an interface gets further lanes (`server3/nic #2`) as needed. A transfer is drawn on every server
// that it touches. A GPU that jobs with a duration share has a lane for each of them, too (`GPU 3 #2`). Each lane of a
// rank beside its GPU has a row of its own (`GPU 3 host of job 0`).
//
// A job whose tasks are passes of a pipeline has a process of its own as well, with a lane for each pipeline rank: the
// passes of one GPU of that rank, the first that computes one.
//
// A flow (`ph` s and f), which viewers draw as an arrow, leads from the end of a task to a transfer that waited for it:
// on every server that sends, from the GPU whose task ended last.

#include "sim/ports.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// How a pass of a pipeline is drawn. Both texts must outlive the trace.
struct DrawnPass {
  std::string_view category;  ///< such as forward
  std::string_view colour;    ///< a name that chrome://tracing knows
};
/// What a task is; nothing if it is no pass. A task's role is its pipeline rank.
using PassDrawing = std::function<std::optional<DrawnPass>(const Op&)>;

class ChromeTrace final : public Observer {
 public:
  /// Opens the file and compresses it if `path` ends in `.gz`. Throws InputError if the file cannot be written, or is
  /// not contend's to replace (text/own_files.hpp).
  /// `gpus` are the numbers of GPUs of the servers, of which the largest one numbers GPUs (ClusterSpec::types).
  ChromeTrace(const std::string& path, const std::vector<std::size_t>& gpus, PassDrawing passes = {});
  /// Without a call of close(), no file remains under `path`.
  ~ChromeTrace() override;

  void begins(JobId job, const Plan& plan) override;
  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void shared(GpuId gpu, JobId job, std::span<const JobId> beside, const Op& op, std::int64_t attempt, Time start,
              Time end) override;

  /// Completes the file and gives it its name. Call once, last. Throws InputError if it cannot be written.
  void close();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace contend
