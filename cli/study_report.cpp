#include "cli/study_report.hpp"

#include "cli/study_explain.hpp"
#include "cli/text_table.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/study/study_model.hpp"
#include "text/atomic_file.hpp"
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

std::string table_of(std::span<const JobResult> jobs) {
  const bool compressed = std::ranges::any_of(jobs, compresses);
  const bool levels = std::ranges::any_of(jobs, [](const JobResult& job) { return job.servers < job.gpus; });
  std::vector<std::string> titles{compressed ? "compression" : "policy"};
  if (compressed) titles.emplace_back("fusion");
  std::vector<std::vector<std::string>> columns;
  std::vector<const JobResult*> shown;
  for (const JobResult& job : jobs) {
    if (is_shown(job)) shown.push_back(&job);
  }
  const auto has = [&](const IterationFigure& figure) {
    return std::ranges::any_of(shown, [&](const JobResult* job) {
      return compresses(*job) && !std::isnan(iteration_value(*job, figure.column));
    });
  };
  for (const IterationFigure& figure : iteration_figures()) {
    if ((figure.of_compression && !compressed) || (figure.of_levels && !levels)) continue;
    if (figure.of_some && !has(figure)) continue;
    titles.emplace_back(figure.title);
    std::vector<double> values;
    for (const JobResult* job : shown) values.push_back(figure.shown * iteration_value(*job, figure.column));
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

void event(JsonWriter& json, std::string_view name, std::size_t lane, Time start, Time duration,
           std::int64_t iteration) {
  const auto us = [](Time time) { return fmt::format("{}.{:03}", time.ns() / 1000, time.ns() % 1000); };
  json.begin_object().member("name", name).member("ph", "X").member("pid", 0);
  json.member("tid", static_cast<std::int64_t>(lane));
  json.key("ts").raw(us(start)).key("dur").raw(us(duration));
  json.key("args").begin_object().member("iteration", iteration).end_object().end_object();
}

void lane_name(JsonWriter& json, std::size_t lane, const std::string& name) {
  json.begin_object().member("name", "thread_name").member("ph", "M").member("pid", 0);
  json.member("tid", static_cast<std::int64_t>(lane));
  json.key("args").begin_object().member("name", name).end_object().end_object();
}

}  // namespace

std::string study_text(const Scenario& scenario, std::span<const JobResult> jobs) {
  const TimedModel model = study_model(scenario.overlap);
  std::string out;
  for (std::size_t i = 0; i < jobs.size();) {
    std::size_t end = i;
    while (end < jobs.size() && jobs[end].gpus == jobs[i].gpus) ++end;
    out += fmt::format("{}{}: {} on {}, batch {}, {} workers; one worker alone {:.3f} ms, gradient {:.1f} MiB\n",
                       i == 0 ? "" : "\n", scenario.name, model.name, model.device, model.batch, jobs[i].gpus,
                       (model.forward() + model.backward()).to_seconds() * 1e3, model.gradient().to_double() / 1048576);
    out += table_of(jobs.subspan(i, end - i));
    i = end;
  }
  return out;
}

void write_study_members(JsonWriter& json, std::span<const JobResult> jobs, std::span<const StudyMessages> messages) {
  json.key("jobs").begin_array();
  for (const JobResult& job : jobs) {
    json.begin_object().member("job_id", job.name).member("gpus", job.gpus);
    json.member("compression", job.notes.plan->compression).member("fusion", job.notes.plan->fusion);
    json.member("state", to_string(job.state));
    if (!is_shown(job)) {
      json.member("reason", job.reason).end_object();
      continue;
    }
    const std::vector<double> values = iteration_values(job);
    for (std::size_t i = 0; i < values.size(); ++i) json.member(iteration_metrics()[i].name, values[i]);
    json.member("stale", job.notes.stale).member("settled", *job.notes.plan->settled);
    const auto explained = std::ranges::find(messages, job.name, &StudyMessages::job);
    if (explained != messages.end()) messages_json(json, *explained);
    json.end_object();
  }
  json.end_array();
}

void write_study_timeline(const std::string& path, const StudyTimeline& timeline) {
  const IterationGraph& graph = timeline.graph;
  const std::size_t roles = graph.roles().size();
  JsonWriter json;
  json.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
  for (std::size_t i = 0; i < roles; ++i) lane_name(json, i, graph.roles()[i].name);
  // Messages of one channel may overlap; viewers need a lane for each.
  std::vector<std::vector<Time>> busy_until(graph.channels().size());
  std::vector<std::size_t> first_lane{roles};
  for (const Channel& channel : graph.channels()) {
    for (int i = 0; i < channel.messages; ++i)
      lane_name(json, first_lane.back() + static_cast<std::size_t>(i),
                i == 0 ? channel.name : fmt::format("{} #{}", channel.name, i + 1));
    first_lane.push_back(first_lane.back() + static_cast<std::size_t>(channel.messages));
  }
  const std::size_t timers = first_lane.back();
  if (std::ranges::any_of(graph.ops(), [](const Op& op) { return op.kind == OpKind::timer; }))
    lane_name(json, timers, "timers");
  std::vector<Span> spans = timeline.spans;
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  for (const Span& span : spans) {
    const Op& op = graph.ops()[span.op.index()];
    std::size_t lane = op.role.index();
    if (op.kind == OpKind::timer) {
      lane = timers;
    } else if (op.kind != OpKind::compute) {
      auto& busy = busy_until[op.channel.index()];
      const auto free = std::find_if(busy.begin(), busy.end(), [&](Time until) { return until <= span.start; });
      lane = first_lane[op.channel.index()] + static_cast<std::size_t>(free - busy.begin());
      if (free == busy.end())
        busy.push_back(span.end);
      else
        *free = span.end;
    }
    const Time start = std::max(span.start, Time{});
    event(json, op.name, lane, start, span.end - start, span.iteration);
  }
  json.end_array().end_object();
  write_file(path, json.take());
}

}  // namespace contend
