#include "cli/study_report.hpp"

#include "cli/study_explain.hpp"
#include "cli/text_table.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/study/study_model.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

bool is_shown(const JobResult& job) {
  return job.state == JobState::finished;
}
bool compresses(const JobResult& job) {
  return job.notes.plan->compression != "none";
}

/// The figures of a job as means over the replicas, in the order of iteration_figures().
std::vector<double> mean_values(std::span<const Replica> replicas, std::size_t job) {
  std::vector<double> means = iteration_values(replicas.front().result.jobs[job]);
  for (std::size_t i = 0; i < means.size() && replicas.size() > 1; ++i) {
    double sum = 0, count = 0;
    for (const Replica& each : replicas) {
      if (job >= each.result.jobs.size()) continue;  // it was interrupted
      sum += iteration_values(each.result.jobs[job])[i];
      ++count;
    }
    means[i] = sum / count;
  }
  return means;
}

/// Each note once, with all jobs that it concerns.
std::string notes_of(std::span<const JobResult> jobs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  for (const JobResult& job : jobs) {
    if (is_shown(job) && *job.notes.plan->settled) continue;
    const std::string note = is_shown(job) ? "never settled; a mean" : "not possible here: " + job.reason;
    auto there = std::ranges::find(notes, note, &decltype(notes)::value_type::first);
    if (there == notes.end()) there = notes.insert(there, {note, {}});
    there->second.push_back(policies_of(job));
  }
  std::string text;
  for (const auto& [note, titles] : notes) text += fmt::format("{}: {}\n", fmt::join(titles, ", "), note);
  return text;
}

std::string table_of(std::span<const Replica> replicas, std::size_t first, std::size_t count) {
  const std::span<const JobResult> jobs = std::span{replicas.front().result.jobs}.subspan(first, count);
  const bool compressed = std::ranges::any_of(jobs, compresses);
  const bool levels = std::ranges::any_of(jobs, [](const JobResult& job) { return job.servers < job.gpus; });
  std::vector<std::string> titles{compressed ? "compression" : "policy"};
  if (compressed) titles.emplace_back("fusion");
  std::vector<std::vector<std::string>> columns;
  std::vector<const JobResult*> shown;
  std::vector<std::vector<double>> means;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_shown(jobs[i])) continue;
    shown.push_back(&jobs[i]);
    means.push_back(mean_values(replicas, first + i));
  }
  const auto has = [&](const IterationFigure& figure) {
    return std::ranges::any_of(shown, [&](const JobResult* job) {
      return compresses(*job) && !std::isnan(iteration_value(*job, figure.column));
    });
  };
  for (std::size_t at = 0; at < iteration_figures().size(); ++at) {
    const IterationFigure& figure = iteration_figures()[at];
    if ((figure.of_compression && !compressed) || (figure.of_levels && !levels)) continue;
    if (figure.of_some && !has(figure)) continue;
    titles.emplace_back(figure.title);
    std::vector<double> values;
    for (const std::vector<double>& each : means) values.push_back(figure.shown * each[at]);
    if (figure.unit != "messages") {
      columns.push_back(format_column(values));
      continue;
    }
    auto& cells = columns.emplace_back();
    for (const double value : values) cells.push_back(fmt::format("{:.0f}", value));
  }
  Table table{titles};
  if (compressed) table.align_left(1);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const IterationPlan& plan = *shown[i]->notes.plan;
    std::vector<std::string> cells;
    if (compressed) cells.push_back(plan.compression);
    cells.push_back(plan.fusion + (shown[i]->notes.stale ? " (stale)" : ""));
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  return table.text() + notes_of(jobs);
}

}  // namespace

std::string study_text(const std::string& name, const IterationStudy& study, std::span<const Replica> replicas) {
  const std::vector<JobResult>& jobs = replicas.front().result.jobs;
  const TimedModel model = study_model(study);
  std::string out;
  for (std::size_t i = 0; i < jobs.size();) {
    std::size_t end = i;
    while (end < jobs.size() && jobs[end].gpus == jobs[i].gpus) ++end;
    const std::string seeds = replicas.size() > 1 ? fmt::format("; means of {} seeds", replicas.size()) : "";
    out += fmt::format("{}{}: {} on {}, batch {}, {} workers; one worker alone {:.3f} ms, gradient {:.1f} MiB{}\n",
                       i == 0 ? "" : "\n", name, model.name, model.device, model.batch, jobs[i].gpus,
                       (model.forward() + model.backward()).to_seconds() * 1e3, model.gradient().to_double() / 1048576,
                       seeds);
    out += table_of(replicas, i, end - i);
    i = end;
  }
  return out;
}

void write_study_members(JsonWriter& json, std::span<const Replica> replicas, std::span<const StudyMessages> messages) {
  json.key("jobs").begin_array();
  const std::vector<JobResult>& jobs = replicas.front().result.jobs;
  for (const JobResult& job : jobs) {
    json.begin_object().member("job_id", job.name).member("gpus", job.gpus);
    json.member("compression", job.notes.plan->compression).member("fusion", job.notes.plan->fusion);
    json.member("state", to_string(job.state));
    if (!is_shown(job)) {
      json.member("reason", job.reason).end_object();
      continue;
    }
    const std::vector<double> values = mean_values(replicas, static_cast<std::size_t>(&job - jobs.data()));
    for (std::size_t i = 0; i < values.size(); ++i) json.member(iteration_metrics()[i].name, values[i]);
    json.member("stale", job.notes.stale).member("settled", *job.notes.plan->settled);
    const auto explained = std::ranges::find(messages, job.name, &StudyMessages::job);
    if (explained != messages.end()) messages_json(json, *explained);
    json.end_object();
  }
  json.end_array();
}

}  // namespace contend
