#include "traces/jobs/trace_format.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/words.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/renamed_columns.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

bool is_acme(const TraceHead& head) {
  return head.has({"job_id", "node_num", "gpu_num", "type", "state", "submit_time", "start_time"});
}
bool is_fleetsim(const TraceHead& head) {
  return head.has({"job_id", "tenant", "submit_time", "num_chips", "duration_s", "final_status"});
}
bool is_helios(const TraceHead& head) {
  return head.has({"job_id", "vc", "gpu_num", "state", "submit_time", "duration"});
}
bool is_itp(const TraceHead& head) {
  return head.has({"job_id", "submission_time", "num_gpu", "duration"});
}
bool is_job_list(const TraceHead& head) {
  return head.has({"job_id", "gpus"}) && (head.has({"submit_s"}) || head.has({"submit_ms"}));
}
bool is_muri(const TraceHead& head) {
  return head.has({"job_id", "num_gpu", "submit_time", "iterations", "iteration_time", "resource_time_0"});
}
/// Never recognised: the file does not differ from one of format `muri`, so the user must choose.
bool is_never_recognised(const TraceHead& /*head*/) {
  return false;
}
bool is_openb(const TraceHead& head) {
  return head.has({"name", "num_gpu", "gpu_milli", "pod_phase", "creation_time", "scheduled_time"});
}
bool is_pai(const TraceHead& head) {
  return head.has({"job_name", "task_name", "inst_num", "plan_gpu"});
}
bool is_pai_simulator(const TraceHead& head) {
  return head.has({"job_id", "num_inst", "num_gpu", "num_cpu", "submit_time", "duration"});
}
bool is_philly(const TraceHead& head) {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head.text[first] == '[' &&
         head.text.find("\"submitted_time\"") != std::string_view::npos;
}
bool is_philly_csv(const TraceHead& head) {
  return head.has({"timestamp", "duration", "num_gpus", "cluster"});
}
bool is_slurm(const TraceHead& head) {
  const std::string_view line = head.text.substr(0, head.text.find('\n'));
  return line.find("JobID") != std::string_view::npos && line.find('|') != std::string_view::npos &&
         line.find("Submit") != std::string_view::npos;
}
bool is_swf(const TraceHead& head) {
  // The header comments of the archive; without them the file looks like any columns of numbers.
  return head.text.starts_with(';');
}
bool is_tiresias(const TraceHead& head) {
  return head.has({"job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration"}) &&
         !head.has({"iteration_time"});
}

/// What the program does with the formats of formats.txt.
struct FormatCode {
  std::string_view name;
  bool (*recognise)(const TraceHead& head);
  void (*read)(ByteSource& source, RowReport& report, const TraceSink& sink);
};
constexpr FormatCode kCodes[] = {
    {"acme", is_acme, read_acme},
    {"fleetsim", is_fleetsim, read_fleetsim},
    {"helios", is_helios, read_helios},
    {"itp", is_itp, read_itp},
    {"jobs", is_job_list, read_jobs},
    {"muri", is_muri, read_muri},
    {"muri-iterations", is_never_recognised, read_muri_iterations},
    {"openb", is_openb, read_openb},
    {"pai", is_pai, read_pai},
    {"pai-simulator", is_pai_simulator, read_pai_simulator},
    {"philly", is_philly, read_philly},
    {"philly-csv", is_philly_csv, read_philly_csv},
    {"slurm", is_slurm, read_slurm},
    {"swf", is_swf, read_swf},
    {"tiresias", is_tiresias, read_tiresias},
};

[[noreturn]] void fail(const std::string& file, std::string reason, std::string hint) {
  throw InputError{{.file = file, .reason = std::move(reason), .hint = std::move(hint)}};
}

/// How a table with own names can be read as a job list; empty if the file doesn't begin as a table.
std::string hint_about_columns(const TraceHead& head) {
  constexpr std::size_t kFewest = 3, kMost = 30, kLongest = 40;
  constexpr std::pair<char, std::string_view> kSeparators[] = {{'|', "|"}, {';', ";"}, {'\t', "tabs"}};
  for (const auto& [separator, name] : kSeparators)
    if (head.columns.size() == 1 && std::ranges::count(head.columns.front(), separator) + 1 >= std::ptrdiff_t{kFewest})
      return fmt::format(". A job list has commas between its columns, and this file has {}", name);
  const bool is_table = head.columns.size() >= kFewest && std::ranges::all_of(head.columns, [](std::string_view name) {
                          return !name.empty() && name.size() <= kLongest &&
                                 name.find_first_of("[]{}:;|\t") == std::string_view::npos &&
                                 std::ranges::any_of(name, [](unsigned char c) { return std::isalpha(c) != 0; });
                        });
  if (!is_table) return {};
  std::vector<std::string> names{
      head.columns.begin(), head.columns.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, head.columns.size()))};
  return fmt::format(
      ". Or say which columns a job list is made of: it needs job_id, submit_s (or submit_ms), gpus, and duration_s "
      "(or "
      "model and iterations), and this file has {}: --column submit_s=NAME",
      join(names));
}

TraceHead head_of(std::string_view text) {
  TraceHead head{.text = text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text, .columns = {}};
  std::string_view line = header_of(text);
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    head.columns.push_back(line.substr(0, comma));
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
  return head;
}

}  // namespace

bool TraceHead::has(std::initializer_list<std::string_view> names) const {
  return std::all_of(names.begin(), names.end(), [this](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

std::span<const TraceFormat> trace_formats() {
  static const std::vector<TraceFormat> kFormats = [] {
    std::vector<TraceFormat> all;
    for (const TextEntry& each : read_entries(trace_formats_text())) {
      const auto* const code = std::ranges::find(kCodes, each.name, &FormatCode::name);
      CONTEND_CHECK(code != std::end(kCodes), "a trace format has a reader");
      all.push_back({each.name, each.text("summary"), each.text("columns"), each.text("source"), each.text("licence"),
                     each.has("dated"), code->recognise, code->read});
    }
    return all;
  }();
  return kFormats;
}

const TraceFormat& find_trace_format(const std::string& name) {
  std::vector<std::string> names;
  for (const TraceFormat& format : trace_formats()) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const std::string nearest = nearest_name(name, names);
  fail("", fmt::format("there is no trace format \"{}\"", name),
       nearest.empty() ? "`contend list trace-formats` lists the known formats"
                       : fmt::format("did you mean \"{}\"?", nearest));
}

const TraceFormat& recognise_trace(std::string_view text, const std::string& file) {
  refuse_wrapped(text, file);
  const TraceHead head = head_of(text);
  const TraceFormat* found = nullptr;
  for (const TraceFormat& format : trace_formats()) {
    if (!format.recognise(head)) continue;
    if (found != nullptr) fail(file, fmt::format("the file may be {} or {}", found->name, format.name), "say which");
    found = &format;
  }
  if (found == nullptr)
    fail(file, "the beginning matches no trace format that can be recognised",
         "name the format; `contend list trace-formats` lists the known ones" + hint_about_columns(head));
  return *found;
}

}  // namespace contend
