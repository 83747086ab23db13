#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/log_report.hpp"
#include "cli/output.hpp"
#include "cli/recording_report.hpp"
#include "report/recording_drawing.hpp"
#include "text/own_files.hpp"
#include "traces/recording/production_log.hpp"
#include "traces/recording/recording_reader.hpp"
#include "traces/recording/recording_replay.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The one rank that can be drawn.
const RecordedRank& drawn_rank(const Recording& recording) {
  if (recording.ranks.size() != 1)
    throw UsageError{fmt::format("contend recording: --svg draws one rank, and there are {}; choose it by --rank N",
                                 recording.ranks.size())};
  const RecordedRank& rank = recording.ranks.front();
  if (!rank.timed)
    throw InputError{Complaint{.file = rank.file, .reason = "has no starts of tasks, which --svg would draw"}};
  return rank;
}

int print_faults(const std::vector<Complaint>& faults) {
  for (const Complaint& fault : faults) print_message("contend: {}\n", fault.format());
  return faults.empty() ? kExitOk : kExitInput;
}

int logged(const std::string& path, const Arguments& arguments) {
  for (const char* option : {"svg", "rank"}) arguments.refuse(option, "with a log");
  const ProductionLog log = read_production_log(path);
  if (const auto file = arguments.value("csv")) write_own_file(*file, samples_csv(logged_samples(log)));
  print_output("{}", arguments.has("json") ? log_json(log) : log_text(log));
  return print_faults(log.faults);
}

}  // namespace

int recording_verb(const Arguments& arguments) {
  const std::string& path = arguments.positionals().front();
  if (is_production_log(path)) return logged(path, arguments);
  arguments.refuse("csv", "with a recording: a log has the times of single collectives");
  const std::optional<std::string> drawing = arguments.value("svg");
  if (drawing) need_svg("svg", *drawing);
  Recording recording = read_recording(path);
  if (can_be_replayed(recording)) {
    for (Complaint& deadlock : replay(recording, recorded_transfer_time).waiting)
      recording.faults.push_back(std::move(deadlock));
  }
  if (const auto rank = arguments.whole_number("rank", 0, INT64_MAX)) {
    const auto wanted = static_cast<std::int64_t>(*rank);
    std::erase_if(recording.ranks, [wanted](const RecordedRank& each) { return each.rank != wanted; });
    if (recording.ranks.empty() && recording.faults.empty())
      throw InputError{Complaint{.file = path, .reason = fmt::format("no file of rank {}", wanted)}};
  }
  if (drawing) write_own_file(*drawing, recording_svg(drawn_rank(recording)));
  print_output("{}", arguments.has("json") ? recording_json(recording) : recording_text(recording));
  return print_faults(recording.faults);
}

}  // namespace contend
