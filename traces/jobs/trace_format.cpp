#include "traces/jobs/trace_format.hpp"

#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/renamed_columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
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

constexpr std::array kFormats = {
    TraceFormat{"acme", "job logs of AcmeTrace (Seren, Kalos), CSV",
                "job_id, user, gpu_num, cpu_num, node_num, mem_per_pod_GB, type (as the model), state, submit_time, "
                "start_time, end_time; the duration is end - start, because that of Kalos counts the queueing too",
                "Hu et al., NSDI 2024; repository InternLM/AcmeTrace", "CC-BY-4.0", true, is_acme, read_acme},
    TraceFormat{"fleetsim", "fleetsim's canonical trace, CSV with # comments",
                "job_id, user, tenant (as the virtual cluster), submit_time in us, num_chips, chip_type, duration_s, "
                "walltime_limit_s (as the limit), final_status",
                "repository felivalencia3/mini-compute-simulator", "that of the trace it was made from", false,
                is_fleetsim, read_fleetsim},
    TraceFormat{"helios", "cluster_log.csv of Helios (Earth, Saturn, Uranus, Venus), CSV",
                "job_id, user, vc, gpu_num, cpu_num, state, submit_time, start_time, end_time, duration",
                "Hu et al., SC 2021; repository S-Lab-System-Group/HeliosData", "CC-BY-4.0", true, is_helios,
                read_helios},
    TraceFormat{"itp", "clusters of Microsoft ITP, raw or with ElasticFlow's models, CSV",
                "job_id, submission_time, num_gpu, duration in s; model_name, num_iteration",
                "Gu et al., ASPLOS 2023; repository microsoft/elasticflow-traces", "MIT", false, is_itp, read_itp},
    TraceFormat{"jobs", "our own job list, CSV", "docs/howto/job-list.md", "contend import", "yours", false,
                is_job_list, read_jobs},
    TraceFormat{"muri", "traces of Muri, CSV", "job_id, num_gpu, submit_time, duration in ms, iterations, model_name",
                "Zhao et al., SIGCOMM 2022; repository Rivendile/Muri", "Apache-2.0; times from Philly, CC-BY-4.0",
                false, is_muri, read_muri},
    TraceFormat{"muri-iterations", "traces of Muri with the work that the authors' simulator runs",
                "as muri, but a job takes iterations x iteration_time", "as muri", "as muri", false,
                is_never_recognised, read_muri_iterations},
    TraceFormat{"openb", "pods of Alibaba's OpenB cluster of 2023, CSV",
                "name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, pod_phase, creation_time, scheduled_time, "
                "deletion_time in s; the duration is deletion - scheduled",
                "Weng et al., USENIX ATC 2023; repository alibaba/clusterdata", "citation asked for", false, is_openb,
                read_openb},
    TraceFormat{"pai", "pai_task_table of Alibaba PAI of 2020, CSV with or without a header",
                "job_name/task_name, inst_num, status, start_time (as the submission), end_time in s, plan_cpu and "
                "plan_gpu in per cent, plan_mem in GiB of an instance, gpu_type; each task with GPUs is a job",
                "Weng et al., NSDI 2022; repository alibaba/clusterdata", "CC-BY-4.0", false, is_pai, read_pai},
    TraceFormat{"pai-simulator", "job lists of the simulator of Alibaba PAI, CSV",
                "job_id, user, submit_time, duration in s, num_inst, num_gpu and num_cpu of an instance, gpu_type",
                "Weng et al., NSDI 2022; repository alibaba/clusterdata", "CC-BY-4.0", false, is_pai_simulator,
                read_pai_simulator},
    TraceFormat{"philly", "cluster_job_log of Microsoft Philly, JSON",
                "jobid, vc, user, status, submitted_time, attempts: each with both times is one, the last is the "
                "duration, those before are failed attempts; GPUs are those of the first",
                "Jeon et al., USENIX ATC 2019; repository msr-fiddle/philly-traces", "CC-BY-4.0", true, is_philly,
                read_philly},
    TraceFormat{"philly-csv", "extract of Philly with one job a row, CSV",
                "timestamp (of the submission), duration in s, num_gpus, cluster (as the virtual cluster)",
                "Qiao et al., OSDI 2021; repository petuum/adaptdl", "Apache-2.0; data CC-BY-4.0", true, is_philly_csv,
                read_philly_csv},
    TraceFormat{"slurm", "accounts of Slurm: sacct --allusers --parsable2 --format=...",
                "JobID or JobIDRaw, Submit, State, AllocTRES, ReqTRES or AllocGRES; Start and End, or Elapsed or "
                "ElapsedRaw; User, Partition (as the virtual cluster), Timelimit or TimelimitRaw, Priority. Rows of "
                "one job that follow each other, "
                "as --duplicates prints them, are its attempts",
                "slurm.schedmd.com/sacct.html", "yours", true, is_slurm, read_slurm},
    TraceFormat{"swf", "Standard Workload Format 2.2, lines of 18 numbers",
                "job, submit time, wait time, run time in s, requested (else allocated) processors as GPUs, requested "
                "time (as the "
                "limit) and memory, status, user, queue (as the virtual cluster)",
                "Parallel Workloads Archive", "free for research, citation asked for", false, is_swf, read_swf},
    TraceFormat{
        "tiresias", "traces of Tiresias, CSV", "job_id, num_gpu, submit_time, duration in s, model_name, iterations",
        "Gu et al., NSDI 2019; repository SymbioticLab/Tiresias", "Apache-2.0", false, is_tiresias, read_tiresias},
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

/// Rejects common mistakes: an archive with the file in it, or a pointer to it.
void refuse_wrappings(std::string_view text, const std::string& file) {
  constexpr std::size_t kTarMark = 257;
  if (text.size() > kTarMark + 5 && text.substr(kTarMark, 5) == "ustar")
    fail(file, "this is a tar archive", "unpack it (tar xf) and import a file that was in it");
  if (text.starts_with("PK\x03\x04")) fail(file, "this is a zip archive", "unpack it and import a file that was in it");
  if (text.starts_with("version https://git-lfs"))
    fail(file, "this is a pointer of Git LFS to a file that was not fetched", "git lfs pull");
  if (text.empty()) fail(file, "the file is empty", "");
}

}  // namespace

bool TraceHead::has(std::initializer_list<std::string_view> names) const {
  return std::all_of(names.begin(), names.end(), [this](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  });
}

std::span<const TraceFormat> trace_formats() {
  return kFormats;
}

const TraceFormat& find_trace_format(const std::string& name) {
  std::vector<std::string> names;
  for (const TraceFormat& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const std::string nearest = nearest_name(name, names);
  fail("", fmt::format("there is no trace format \"{}\"", name),
       nearest.empty() ? "`contend list trace-formats` lists the known formats"
                       : fmt::format("did you mean \"{}\"?", nearest));
}

const TraceFormat& recognise_trace(std::string_view text, const std::string& file) {
  refuse_wrappings(text, file);
  const TraceHead head = head_of(text);
  const TraceFormat* found = nullptr;
  for (const TraceFormat& format : kFormats) {
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
