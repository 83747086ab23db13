#include "cli/explain_words.hpp"

#include "results/wait_recorder.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace contend {
namespace {

std::string job_with_gpus(const ExplainReport& report, JobId job) {
  const JobResult& result = report.job.result.jobs[job.index()];
  return fmt::format("{} ({})", result.name, counted(result.gpus, "GPU"));
}

/// Where the job stands among those that wait for time.
std::string line_text(const ExplainReport& report, const WaitInterval& wait) {
  std::string text = fmt::format("its deficit on {} is {} in line", server_type_name(report, wait.first.type),
                                 ordinal(static_cast<std::size_t>(wait.first.place)));
  if (wait.last == wait.first) return text;
  return text + fmt::format(", at last {}{}", ordinal(static_cast<std::size_t>(wait.last.place)),
                            wait.last.type == wait.first.type ? "" : " on " + server_type_name(report, wait.last.type));
}

}  // namespace

OutWords out_words(std::size_t reason) {
  static constexpr OutWords kOutWords[kOutReasons] = {{"failed", "failed"},
                                                      {"drained", "drained for a planned outage"},
                                                      {"not_lent", "not lent"},
                                                      {"spare", "kept as spares"}};
  return kOutWords[reason];
}

std::string ordinal(std::size_t place) {
  constexpr const char* kWords[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
  if (place <= std::size(kWords)) return kWords[place - 1];
  const std::size_t teens = place % 100;
  const char* const ending = teens >= 11 && teens <= 13 ? "th"
                             : place % 10 == 1          ? "st"
                             : place % 10 == 2          ? "nd"
                             : place % 10 == 3          ? "rd"
                                                        : "th";
  return fmt::format("{}{}", place, ending);
}

std::vector<SharedDelay> delays_of(const ExplainReport& report) {
  std::vector<SharedDelay> delays;
  std::ranges::copy_if(report.job.result.fabric.delays, std::back_inserter(delays),
                       [&](const SharedDelay& each) { return each.job == report.job.job; });
  return delays;
}

std::vector<SharedTime> sharing_of(const ExplainReport& report) {
  std::vector<SharedTime> shared;
  std::ranges::copy_if(report.job.result.sharing, std::back_inserter(shared),
                       [&](const SharedTime& each) { return each.job == report.job.job; });
  return shared;
}

const std::string& server_type_name(const ExplainReport& report, std::int32_t type) {
  static const std::string kAll = "the GPUs";
  return type < 0 ? kAll : report.job.result.types[static_cast<std::size_t>(type)].name;
}

std::string wait_cause(const ExplainReport& report, const WaitInterval& wait) {
  const int gpus = report.job.result.jobs[report.job.job.index()].gpus;
  if (!wait.why) return "no scheduling pass has said why yet";
  const std::string by = wait.by.valid() ? job_with_gpus(report, wait.by) : "another job";
  switch (*wait.why) {
    case Why::no_gpus:
      return gpus == 1 ? "no GPU is free" : fmt::format("fewer than {} are free", counted(gpus, "GPU"));
    case Why::no_place:
      return fmt::format("{} finds no place for it", report.placement);
    case Why::no_domain:
      return fmt::format("no {} has room for {}, though {} are free in the cluster",
                         report.job.level.required.empty() ? report.job.level.segment_level : report.job.level.required,
                         report.job.level.segment > 0 ? "its segments" : "it", counted(gpus, "GPU"));
    case Why::place_taken:
      return fmt::format("{} holds GPUs of its place", by);
    case Why::quota:
      return "its quota is used up";
    case Why::behind:
      return fmt::format("it may not pass {}, which waits in front of it", by);
    case Why::reserved:
      return fmt::format("it would delay what is reserved for {}", by);
    case Why::outranked:
      return fmt::format("{} runs and is not to be pushed out", by);
    case Why::passed_over:
      return fmt::format("{} gives the GPUs to other jobs", report.scheduling);
    case Why::throttled:
      return wait.last.place == 0 ? fmt::format("a rule of {} holds it back for now", report.scheduling)
                                  : line_text(report, wait);
    case Why::between_decisions:
      return fmt::format("it came after {} last divided the GPUs, and waits until it divides them again",
                         report.scheduling);
  }
  return cause_name(wait.why);
}

}  // namespace contend
