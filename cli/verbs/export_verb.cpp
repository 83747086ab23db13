#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/trained_jobs.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/counted.hpp"
#include "text/json_writer.hpp"
#include "text/new_folder.hpp"
#include "text/own_files.hpp"
#include "traces/recording/chakra_writer.hpp"
#include "traces/recording/collective_messages.hpp"
#include "traces/recording/goal.hpp"
#include "traces/recording/graph_recording.hpp"
#include "traces/recording/recording_graph.hpp"
#include "traces/recording/recording_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

/// A job that repeats an iteration.
struct RepeatedJob {
  std::string name;
  int gpus = 1;
  std::optional<StudyVariant> variant{};  ///< of a study
  [[nodiscard]] std::string words() const { return fmt::format("`{}` on {}", name, counted(gpus, "GPU")); }
};

std::vector<RepeatedJob> repeated_jobs(const Scenario& scenario) {
  std::vector<RepeatedJob> jobs;
  if (const IterationStudy& study = scenario.overlap; study.given()) {
    for (const StudyVariant& each : study_variants(study)) jobs.push_back({each.name(), each.workers, each});
    return jobs;
  }
  JobLists lists;
  const std::vector<JobRequest>& requests = scenario_jobs(scenario, scenario.seed, lists)->jobs;
  for (const auto& [name, gpus] : trained_jobs(scenario.cluster, scenario.training, requests, false))
    jobs.push_back({name, gpus});
  return jobs;
}

/// The job that --job and --gpus choose.
RepeatedJob chosen_job(const Scenario& scenario, const Arguments& arguments) {
  std::vector<RepeatedJob> jobs = repeated_jobs(scenario);
  const std::optional<std::string> name = arguments.value("job");
  const auto gpus = arguments.whole_number("gpus", 1, INT32_MAX);
  std::vector<std::string> all;
  for (const RepeatedJob& each : jobs) all.push_back(each.words());
  std::erase_if(jobs, [&](const RepeatedJob& each) {
    return (name && each.name != *name) || (gpus && std::cmp_not_equal(each.gpus, *gpus));
  });
  if (jobs.size() == 1) return jobs.front();
  throw InputError{Complaint{.file = arguments.positionals().front(),
                             .reason = all.empty()    ? "no job repeats an iteration"
                                       : jobs.empty() ? "no such job"
                                                      : "several jobs repeat an iteration",
                             .hint = all.empty()
                                         ? "an entry of training"
                                         : fmt::format("--job and --gpus choose one: {}", fmt::join(all, ", "))}};
}

/// An iteration of a job of a scenario.
Recording job_recording(const Arguments& arguments) {
  const Scenario scenario = load_scenarios(arguments).scenarios.front();
  const RepeatedJob job = chosen_job(scenario, arguments);
  const auto record = [&](const TrainingSystem& system, const std::string& name) {
    TrainingGraphs graphs{system};
    return graph_recording(graphs(name, job.gpus).graph, system.cluster.gpus_per_server);
  };
  if (!job.variant) return record(scenario, job.name);
  const StudyJob study = study_job(scenario, *job.variant, 1);
  return record(study.scenario, study.scenario.training.front().name);
}

/// A recording as a trace: of one with starts an iteration, with what its operations wait for.
Recording untimed_recording(const Arguments& arguments) {
  for (const char* option : {"set", "job", "gpus"}) arguments.refuse(option, "with a recording");
  Recording recording = read_recording(arguments.positionals().front());
  if (std::ranges::any_of(recording.ranks, &RecordedRank::timed)) {
    const auto ranks = static_cast<int>(ranks_recorded(recording));
    return graph_recording(recording_graph(recording, ranks, {}).graph, ranks);
  }
  if (!recording.faults.empty()) throw InputError{std::move(recording.faults)};
  return recording;
}

/// The ranks of groups by their names, as ASTRA-sim takes them. Names that groups of other ranks have, too, are left
/// out.
std::string group_lists(const Recording& recording) {
  std::map<std::string, std::vector<std::int64_t>> lists;
  for (const RecordedRank& rank : recording.ranks)
    for (const RecordedGroup& group : rank.groups)
      if (const auto found = lists.try_emplace(group.name, group.ranks).first; found->second != group.ranks)
        found->second.clear();
  JsonWriter json{JsonWriter::Layout::line};
  json.begin_object();
  for (const auto& [name, ranks] : lists) {
    if (ranks.empty()) continue;
    json.key(name).begin_array();
    for (const std::int64_t each : ranks) json.value(each);
    json.end_array();
  }
  json.end_object();
  return json.take();
}

struct HandedOn {
  std::vector<WrittenFile> files;
  std::vector<std::string> lost;
};

HandedOn handed_on(Recording recording, const std::string& format, const fs::path& folder) {
  HandedOn made;
  if (format == "goal") {
    recording = with_messages(recording);
    made.lost = lost_in_goal(recording);
    made.files.push_back({(folder / "ranks.goal").string(), goal_file(recording)});
    return made;
  }
  const bool is_json = format == "chakra-json";
  made.lost = lost_in_chakra(recording);
  for (const RecordedRank& rank : recording.ranks)
    made.files.push_back({(folder / fmt::format("rank.{}.{}", rank.rank, is_json ? "json" : "et")).string(),
                          chakra_file(rank, is_json ? ChakraForm::json : ChakraForm::wire)});
  if (!is_json) made.files.push_back({(folder / "comm_group.json").string(), group_lists(recording)});
  return made;
}

/// Ranks that are left over in the folder would be read as ranks of this job.
void refuse_other_ranks(const std::string& folder, const std::vector<WrittenFile>& files) {
  for (const fs::directory_entry& each : fs::directory_iterator{folder}) {
    const std::string name = each.path().filename().string();
    const auto is_named = [&](const WrittenFile& file) { return fs::path{file.path}.filename() == name; };
    if (is_recording_name(name) && std::ranges::none_of(files, is_named))
      throw InputError{Complaint{.file = each.path().string(),
                                 .reason = "is a rank of another recording in the folder that is to be written",
                                 .hint = "another folder"}};
  }
}

bool is_scenario(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

}  // namespace

int export_verb(const Arguments& arguments) {
  const std::string format = arguments.value("as").value_or("chakra");
  if (format != "chakra" && format != "chakra-json" && format != "goal")
    throw UsageError{fmt::format("--as: expected chakra, chakra-json or goal, got \"{}\"", format)};
  const std::optional<std::string> folder = arguments.value("output");
  if (!folder) throw UsageError{"contend export: expected --output FOLDER"};
  const std::string& path = arguments.positionals().front();
  Recording recording = is_scenario(path) ? job_recording(arguments) : untimed_recording(arguments);
  std::size_t tasks = 0;
  std::map<std::string, std::int64_t> left_out;
  for (const RecordedRank& rank : recording.ranks) {
    tasks += rank.tasks.size();
    for (const auto& [what, times] : rank.not_understood) left_out[what] += times;
  }
  const std::size_t ranks = recording.ranks.size();
  const HandedOn made = handed_on(std::move(recording), format, *folder);
  NewFolders folders{*folder};
  refuse_other_ranks(*folder, made.files);
  write_own_files(made.files);
  print_output("{}: {}, {}\n", *folder, counted(ranks, "rank"), counted(tasks, "task"));
  for (const auto& [what, times] : left_out) print_message("contend: note: left out: {} x {}\n", times, what);
  for (const std::string& each : made.lost) print_message("contend: note: {} can't hold {}\n", format, each);
  return kExitOk;
}

}  // namespace contend
