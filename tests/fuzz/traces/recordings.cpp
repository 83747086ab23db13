// Arbitrary bytes as a recording of each format, and of the one that is recognised: either an InputError, or a rank
// whose indices all lead somewhere and whose times add up. The disk is never touched.

#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "text/byte_source.hpp"
#include "traces/recording/chakra.hpp"
#include "traces/recording/chakra_writer.hpp"
#include "traces/recording/critical_path.hpp"
#include "traces/recording/execution_trace.hpp"
#include "traces/recording/goal.hpp"
#include "traces/recording/kineto_recording.hpp"
#include "traces/recording/production_log.hpp"
#include "traces/recording/recording_checks.hpp"
#include "traces/recording/recording_graph.hpp"
#include "traces/recording/recording_reader.hpp"
#include "traces/recording/recording_replay.hpp"
#include "traces/recording/recording_summary.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using contend::RecordedRank;

void check_indices(const RecordedRank& rank) {
  for (const contend::RecordedTask& task : rank.tasks) {
    CONTEND_CHECK(task.name < rank.names.size() && task.lane < rank.lanes.size(), "a task has a name and a lane");
    CONTEND_CHECK(task.launch == contend::kNoTask || task.launch < rank.tasks.size(), "a launch is a task");
    CONTEND_CHECK(task.transfer == contend::kNoTask || task.transfer < rank.transfers.size(), "a transfer is known");
    CONTEND_CHECK(std::size_t{task.first_need} + task.needs <= rank.needs.size(), "needs are in the list");
    CONTEND_CHECK(task.start >= contend::Time{} && task.duration >= contend::Time{}, "times are not negative");
  }
  for (const std::uint32_t needed : rank.needs) CONTEND_CHECK(needed < rank.tasks.size(), "a need is a task");
  for (const contend::RecordedTransfer& transfer : rank.transfers)
    CONTEND_CHECK(!transfer.group || *transfer.group < rank.groups.size(), "a group is known");
}

/// Either the graph of a job can be run, or an InputError says why there is none.
void check_graph(const contend::Recording& job) {
  constexpr std::int64_t kMostRanks = 16;
  const std::int64_t ranks = contend::ranks_recorded(job);
  if (ranks > kMostRanks) return;
  for (const bool recorded : {false, true}) {
    contend::RecordingOptions options;
    options.recorded_communication = options.balanced = recorded;
    if (ranks > static_cast<std::int64_t>(job.ranks.size())) options.copy = job.ranks.front().rank;
    try {
      contend::recording_graph(job, static_cast<int>(ranks), options).graph.validate();
    } catch (const contend::InputError&) {
      continue;
    }
  }
}

/// What is written of a rank is read again.
void check_written(const RecordedRank& rank) {
  for (const contend::ChakraForm form : {contend::ChakraForm::wire, contend::ChakraForm::json}) {
    const std::string text = contend::chakra_file(rank, form);
    contend::TextSource source{text};
    const RecordedRank back = form == contend::ChakraForm::wire ? contend::read_chakra(source, "fuzz")
                                                                : contend::read_chakra_messages(source, "fuzz");
    CONTEND_CHECK(back.tasks.size() == rank.tasks.size() && back.needs.size() == rank.needs.size(), "all is there");
  }
}

void check_recorded(const RecordedRank& rank) {
  check_indices(rank);
  check_written(rank);
  const contend::RankSummary summary = contend::summarise(rank);
  const contend::RecordedTimes& times = summary.times;
  CONTEND_CHECK(times.alone <= times.exposed && times.exposed <= times.communication, "exposed is a part");
  CONTEND_CHECK(times.communication <= times.busy && times.compute <= times.busy, "parts of what is busy");
  if (rank.timed) {
    const contend::CriticalPath path = contend::critical_path(rank);
    contend::Time sum;
    for (const contend::PathPart& part : path.parts) sum += part.time;
    CONTEND_CHECK(sum == path.end - path.begin, "the parts of a path add up");
  }
  contend::Recording job;
  job.ranks = {rank, rank};
  job.ranks.back().rank = rank.rank + 1;
  static_cast<void>(contend::contradictions(job));
  check_graph(job);
  if (!contend::can_be_replayed(job)) return;
  const contend::RecordingReplay replay = contend::replay(job, contend::recorded_transfer_time);
  for (const contend::RecordedTask& task : job.ranks.front().tasks)
    CONTEND_CHECK(task.start + task.duration <= replay.end, "a task ends before the replay does");
}

void run_goal(std::string_view text) {
  contend::TextSource source{text};
  contend::Recording job;
  job.ranks = contend::read_goal(source, "fuzz");
  for (const RecordedRank& rank : job.ranks) check_indices(rank);
  const std::string written = contend::goal_file(job);
  contend::TextSource again{written};
  CONTEND_CHECK(contend::read_goal(again, "fuzz").size() == job.ranks.size(), "all ranks are there");
}
void run_production_log(std::string_view text) {
  contend::TextSource source{text};
  contend::ProductionLog log;
  contend::add_production_log(source, "fuzz", log);
  for (const contend::LoggedSample& each : contend::logged_samples(log))
    CONTEND_CHECK(each.group < log.groups.size() && each.sample.time > contend::Time{}, "a sample has group and time");
  for (const contend::WaitingCollective& each : contend::waiting_collectives(log))
    CONTEND_CHECK(each.operation.group < log.groups.size(), "a collective has a group");
}
void run_recording(std::string_view text) {
  contend::TextSource source{text};
  check_recorded(contend::read_recorded_rank(source, "fuzz"));
}
void run_kineto(std::string_view text) {
  contend::TextSource source{text};
  check_recorded(contend::read_kineto_recording(source, "fuzz", text.starts_with('[')));
}
void run_chakra(std::string_view text) {
  contend::TextSource source{text};
  check_recorded(contend::read_chakra(source, "fuzz"));
}
void run_chakra_json(std::string_view text) {
  contend::TextSource source{text};
  check_recorded(text.find("workload_graph") != std::string_view::npos ? contend::read_chakra_graph(source, "fuzz")
                                                                       : contend::read_chakra_messages(source, "fuzz"));
}
void run_execution_trace(std::string_view text) {
  contend::TextSource source{text};
  check_recorded(contend::read_execution_trace(source, "fuzz"));
}

const contend::fuzz::Target kRecordings[] = {{"recording", run_recording},
                                             {"kineto_recording", run_kineto},
                                             {"chakra", run_chakra},
                                             {"chakra_json", run_chakra_json},
                                             {"goal", run_goal},
                                             {"production_log", run_production_log},
                                             {"execution_trace", run_execution_trace}};

}  // namespace
