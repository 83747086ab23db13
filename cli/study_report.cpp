#include "cli/study_report.hpp"

#include "cli/study_explain.hpp"
#include "cli/text_table.hpp"
#include "scenarios/study/study_columns.hpp"
#include "scenarios/study/study_timeline.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

std::string title(const StudyRow& row) {
  return row.compression == "none" ? row.policy : row.compression + " with " + row.policy;
}

/// A field of a CSV file, empty if there is no value.
std::string number(double value) {
  return std::isnan(value) ? "," : fmt::format(",{:.12g}", value);
}

/// Each note once, with all rows that it concerns.
std::string notes_of(std::span<const StudyRow> rows) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  for (const StudyRow& row : rows) {
    if (row.refused.empty() && row.settled) continue;
    const std::string note = row.refused.empty() ? "never settled; a mean" : "not possible here: " + row.refused;
    auto there = std::ranges::find(notes, note, &decltype(notes)::value_type::first);
    if (there == notes.end()) there = notes.insert(there, {note, {}});
    there->second.push_back(title(row));
  }
  std::string text;
  for (const auto& [note, titles] : notes) text += fmt::format("{}: {}\n", fmt::join(titles, ", "), note);
  return text;
}

std::string table_of(std::span<const StudyRow> rows) {
  const bool compressed =
      std::any_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.compression != "none"; });
  const bool levels = std::any_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.per_server > 1; });
  std::vector<std::string> titles{compressed ? "compression" : "policy"};
  if (compressed) titles.emplace_back("fusion");
  std::vector<std::vector<std::string>> columns;
  std::vector<const StudyRow*> shown;
  for (const StudyRow& row : rows) {
    if (row.refused.empty()) shown.push_back(&row);
  }
  const auto has = [&](const StudyColumn& column) {
    return std::any_of(shown.begin(), shown.end(), [&](const StudyRow* row) {
      return row->compression != "none" && !std::isnan(column.value(*row));
    });
  };
  for (const StudyColumn& column : study_columns()) {
    if ((column.of_compression && !compressed) || (column.of_levels && !levels)) continue;
    if (column.optional && !has(column)) continue;
    titles.emplace_back(column.title);
    if (column.name == "messages") {
      auto& cells = columns.emplace_back();
      for (const StudyRow* row : shown) cells.push_back(fmt::format("{}", row->traffic.messages));
      continue;
    }
    std::vector<double> values;
    for (const StudyRow* row : shown) values.push_back(column.shown * column.value(*row));
    columns.push_back(format_column(values));
  }
  Table table{titles};
  if (compressed) table.align_left(1);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::vector<std::string> cells;
    if (compressed) cells.push_back(shown[i]->compression);
    cells.push_back(shown[i]->policy + (shown[i]->stale ? " (stale)" : ""));
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  return table.text() + notes_of(rows);
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

std::string study_text(const Scenario& scenario, const TimedModel& model, std::span<const StudyRow> rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i;
    while (end < rows.size() && rows[end].workers == rows[i].workers) ++end;
    out += fmt::format("{}{}: {} on {}, batch {}, {} workers; one worker alone {:.3f} ms, gradient {:.1f} MiB\n",
                       i == 0 ? "" : "\n", scenario.name, model.name, model.device, model.batch, rows[i].workers,
                       (model.forward() + model.backward()).to_seconds() * 1e3, model.gradient().to_double() / 1048576);
    out += table_of(rows.subspan(i, end - i));
    i = end;
  }
  return out;
}

std::string study_json(std::span<const Scenario> scenarios, std::span<const std::vector<StudyRow>> rows) {
  JsonWriter json;
  json.begin_object().key("scenarios").begin_array();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    json.begin_object().member("name", scenarios[i].name).key("rows").begin_array();
    for (const StudyRow& row : rows[i]) {
      json.begin_object().member("workers", row.workers);
      json.member("compression", row.compression).member("policy", row.policy);
      if (!row.refused.empty()) {
        json.member("refused", row.refused).end_object();
        continue;
      }
      for (const StudyColumn& column : study_columns()) json.member(column.name, column.value(row));
      json.member("stale", row.stale).member("settled", row.settled);
      if (!row.phases.empty()) messages_json(json, row);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string study_csv(std::span<const StudyRow> rows) {
  std::string out = "workers,compression,policy";
  for (const StudyColumn& column : study_columns()) out += fmt::format(",{}", column.name);
  out += ",stale,settled\n";
  for (const StudyRow& row : rows) {
    if (!row.refused.empty()) continue;
    out += fmt::format("{},", row.workers);
    append_csv_field(out, row.compression);
    out += ',';
    append_csv_field(out, row.policy);
    for (const StudyColumn& column : study_columns()) out += number(column.value(row));
    out += fmt::format(",{:d},{:d}\n", row.stale, row.settled);
  }
  return out;
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
