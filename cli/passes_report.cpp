#include "cli/passes_report.hpp"

#include "cli/text_table.hpp"
#include "cli/trained_jobs.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"

#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

struct PassedJob {
  std::string name;  ///< the model as jobs name it, or the job of a study
  int gpus = 1;
  std::vector<PassRecord> passes;
};

std::vector<PassedJob> passed_jobs(const TrainingSystem& system, std::span<const JobRequest> requests) {
  std::vector<PassedJob> jobs;
  if (const IterationStudy& study = system.overlap; study.given()) {
    for (const StudyVariant& each : study_variants(study)) {
      const StudyJob job = study_job(system, each, 1);
      TrainingGraphs graphs{job.scenario};
      jobs.push_back({each.name(), each.workers, graphs.passes(job.scenario.training.front().name, each.workers)});
    }
    return jobs;
  }
  TrainingGraphs graphs{system};
  for (const auto& [name, gpus] : trained_jobs(system.cluster, system.training, requests, false))
    jobs.push_back({name, gpus, graphs.passes(name, gpus)});
  if (jobs.empty())
    throw InputError{{{.key = "training",
                       .reason = "no job repeats an iteration",
                       .hint = "give an entry, such as {NAME: {model: resnet50}}"}}};
  return jobs;
}

/// Both figures if they differ; of a source, which changes no graph, the second one.
template <class Value>
std::string change(const PassRecord& pass, Value GraphSizes::*of, const auto& shown) {
  const Value before = pass.before.*of, after = pass.after.*of;
  if (before == after || pass.before == GraphSizes{}) return shown(after);
  return fmt::format("{} -> {}", shown(before), shown(after));
}

void write_sizes(JsonWriter& json, const char* key, const GraphSizes& sizes) {
  json.key(key).begin_object();
  json.member("operations", static_cast<std::int64_t>(sizes.operations));
  json.member("roles", static_cast<std::int64_t>(sizes.roles));
  json.member("dependencies", static_cast<std::int64_t>(sizes.dependencies));
  json.member("compute_s", sizes.compute.to_seconds()).member("bytes", sizes.bytes.count());
  json.end_object();
}

std::string passes_text(const std::vector<PassedJob>& jobs) {
  std::string text;
  const auto count = [](std::size_t each) { return std::to_string(each); };
  const auto seconds = [](Time each) { return fmt::format("{:.6f}", each.to_seconds()); };
  const auto mib = [](Bytes each) { return fmt::format("{:.1f}", each.to_double() / (1 << 20)); };
  for (const PassedJob& job : jobs) {
    Table table{{"pass", "operations", "roles", "dependencies", "compute [s]", "collectives, messages [MiB]"}};
    for (const PassRecord& each : job.passes)
      table.add({each.name, change(each, &GraphSizes::operations, count), change(each, &GraphSizes::roles, count),
                 change(each, &GraphSizes::dependencies, count), change(each, &GraphSizes::compute, seconds),
                 change(each, &GraphSizes::bytes, mib)});
    text += fmt::format("{}{} on {}\n{}", text.empty() ? "" : "\n", job.name, counted(job.gpus, "GPU"), table.text());
  }
  return text;
}

std::string passes_json(const std::vector<PassedJob>& jobs) {
  JsonWriter json;
  json.begin_object().key("jobs").begin_array();
  for (const PassedJob& job : jobs) {
    json.begin_object().member("job", job.name).member("gpus", job.gpus).key("passes").begin_array();
    for (const PassRecord& each : job.passes) {
      json.begin_object().member("pass", each.name);
      write_sizes(json, "before", each.before);
      write_sizes(json, "after", each.after);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace

std::string passes_report(const TrainingSystem& system, std::span<const JobRequest> jobs, bool as_json) {
  const std::vector<PassedJob> passed = passed_jobs(system, jobs);
  return as_json ? passes_json(passed) : passes_text(passed);
}

}  // namespace contend
