#include "cli/explain_request.hpp"

#include "sim/counted.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace contend {
namespace {

/// By RequestWait.
constexpr const char* kWaitedFor[] = {"until its replica began a step", "for a place in the batch",
                                      "for tokens of a step", "for KV memory"};

std::string seconds_text(Time time) {
  return fmt::format("{:.6g} s", time.to_seconds());
}

std::string wait_text(const RequestResult& request) {
  const Time waited = request.admitted - request.arrival;
  if (waited == Time{}) return "did not wait";
  return fmt::format("waited {} {}", seconds_text(waited), kWaitedFor[static_cast<std::size_t>(request.waited_for)]);
}

}  // namespace

std::string request_text(const ExplainReport& report, std::uint64_t request) {
  const RunResult& result = report.job.result;
  const std::string& job = result.jobs[report.job.job.index()].name;
  const auto service = std::ranges::find(result.services, report.job.job, &ServiceResult::job);
  if (service == result.services.end())
    throw InputError{{.file = report.source,
                      .reason = fmt::format("job {} has answered no requests", job),
                      .hint = "a job that names an entry of serving, and has started"}};
  if (request >= service->requests.size())
    throw InputError{
        {.file = report.source,
         .reason = fmt::format("job {} has {}, numbered from 0", job, counted(service->requests.size(), "request"))}};
  const RequestResult& its = service->requests[request];
  std::string out = fmt::format("request {} of {}, in {} (seed {}): {} of prompt, {} of answer\n\n", request, job,
                                report.source, report.seed, counted(its.prompt, "token"), counted(its.answer, "token"));
  const auto line = [&out](Time at, const std::string& what) {
    out += fmt::format("{:>14.6f} s  {}\n", at.to_seconds(), what);
  };
  line(its.arrival, "arrives");
  if (its.admitted == Time::never()) {
    line(result.end, "the run ends; it still waits");
    return out;
  }
  line(its.admitted, fmt::format("begins: request {} {}", request, wait_text(its)));
  if (its.has_begun()) line(its.first, fmt::format("first token, {} after it arrived", seconds_text(its.ttft())));
  if (its.has_ended()) {
    const std::string pace =
        its.answer > 1 ? fmt::format(", {:.6g} s for each token after the first", its.tpot_s()) : "";
    line(its.end, fmt::format("last token, {} after it arrived{}", seconds_text(its.e2e()), pace));
  } else {
    line(result.end, "the run ends before its last token");
  }
  out += fmt::format("\nReplica {}; ", its.replica);
  out += its.evictions == 0 ? "it was never evicted from the KV cache.\n"
                            : fmt::format("it was evicted from the KV cache {}, and computed again.\n",
                                          counted(its.evictions, "time"));
  return out;
}

}  // namespace contend
