// Writes the JSON data of each kind of page.

#include "report/fabric_figures.hpp"
#include "report/facts.hpp"
#include "report/page.hpp"
#include "report/pipeline_timeline.hpp"
#include "report/timeline_codec.hpp"
#include "results/comparison.hpp"
#include "results/paired_change.hpp"
#include "results/result_columns.hpp"
#include "scenarios/keys/differences.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Tables of the page have no more jobs than this; of more jobs they have every second, third, ... job.
constexpr std::size_t kMostRows = 100'000;

constexpr std::string_view kGroups[] = {"gpu", "nic", "inside", "link"};

std::vector<double> values_of(const RunFolder& folder, const Metric& metric) {
  std::vector<double> values;
  for (const RunFolder::Run& run : folder.runs) {
    const auto at = run.figures.find(metric.name);
    values.push_back(at == run.figures.end() ? NAN : at->second);
  }
  return values;
}

/// The figures of a folder: means over its replicas with their intervals.
void write_metrics(JsonWriter& json, const RunFolder& folder) {
  json.key("metrics").begin_array();
  for (const Metric& metric : metrics()) {
    if (!metric.in_texts) continue;
    const std::vector<double> values = values_of(folder, metric);
    if (metric.of_some && std::ranges::all_of(values, [](double value) { return std::isnan(value); })) continue;
    const Estimate figure = estimate(values, draws_of(folder.scenario.workload));
    json.begin_object().member("name", metric.name).member("title", metric.title);
    const bool says_its_unit = is_count(metric.unit) && metric.title.ends_with(metric.unit);  // "answered requests"
    json.member("unit", metric.unit == "share" ? metric.unit : says_its_unit ? "" : shown_unit(metric.unit));
    json.member("text", metric.text).member("value", figure.mean).member("half_width", figure.half_width);
    json.member("over_finished", is_over_finished_jobs(metric)).end_object();
  }
  json.end_array();
}

void write_pairs(JsonWriter& json, std::string_view name,
                 const std::vector<std::pair<std::string, std::string>>& pairs) {
  json.key(name).begin_array();
  for (const auto& [what, value] : pairs) json.begin_array().value(what).value(value).end_array();
  json.end_array();
}

std::vector<std::pair<std::string, std::string>> provenance(const RunFolder& folder) {
  std::vector<std::pair<std::string, std::string>> facts;
  std::string command;
  for (const std::string& word : folder.command_line) command += (command.empty() ? "" : " ") + word;
  facts.emplace_back("program",
                     "contend " + folder.version + (folder.git_hash.empty() ? "" : " (" + folder.git_hash + ")"));
  facts.emplace_back("command", command);
  facts.emplace_back("scenario hash", folder.scenario_hash);
  facts.emplace_back("state", folder.exit_state);
  for (const RunFolder::Run& run : folder.runs)
    facts.emplace_back(
        fmt::format("seed {}", run.seed),
        fmt::format("digest {}, fingerprint {}, {:.0f} events executed and {:.0f} leapt over in {:.2f} s", run.digest,
                    run.fingerprint, run.events, run.leapt_events, run.wall_s));
  return facts;
}

void write_figures(JsonWriter& json, std::span<const Figure> figures) {
  json.key("figures").begin_array();
  for (const Figure& figure : figures) write_figure_json(json, figure);
  json.end_array();
}

void write_drawings(JsonWriter& json, std::span<const IterationBars> drawings) {
  json.key("drawings").begin_array();
  for (const IterationBars& each : drawings)
    json.begin_object().member("name", each.name).member("title", each.title).member("svg", each.svg).end_object();
  json.end_array();
}

/// A result file with its columns, of every `step`th row; a column is numeric if every field is a number.
void write_table(JsonWriter& json, std::string_view name, const ColumnTable& table,
                 const std::vector<std::size_t>& rows, std::size_t step = 1) {
  json.key(name).begin_array();
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (table.names[c] == "replica") continue;
    std::string values;  // on one line: there may be millions
    for (std::size_t i = 0; i < rows.size(); i += step) {
      values += values.empty() ? '[' : ',';
      append_json_string(values, table.columns[c][rows[i]]);
    }
    json.begin_object().member("name", table.names[c]).key("values").raw(values.empty() ? "[]" : values + "]");
    json.end_object();
  }
  json.end_array();
}

/// The jobs that lose time to others in the network, as columns like a result file's.
void write_delays(JsonWriter& json, const RunFolder& folder, const RunFolder::Run& run) {
  const std::vector<JobDelay> delays = job_delays(folder, run);
  const auto column = [&](const char* name, const auto& value_of) {
    json.begin_object().member("name", name).key("values").begin_array();
    for (const JobDelay& each : delays) json.value(value_of(each));
    json.end_array().end_object();
  };
  json.key("delays").begin_array();
  column("job", [](const JobDelay& each) { return each.job; });
  column("lost_s", [](const JobDelay& each) { return fmt::format("{:.9g}", each.lost_s); });
  column("of_its_time_on_GPUs", [](const JobDelay& each) { return fmt::format("{:.6f}", each.share); });
  column("most_behind", [](const JobDelay& each) { return each.by == each.job ? "others of its own" : each.by; });
  column("on_the_link", [](const JobDelay& each) { return each.link; });
  column("there_lost_s", [](const JobDelay& each) { return fmt::format("{:.9g}", each.most_lost_s); });
  column("there_of_its_time", [](const JobDelay& each) { return fmt::format("{:.6f}", each.most_share); });
  json.end_array();
}

/// The kinds on one line, as there are some for each job.
std::string kinds_json(const std::vector<SpanKind>& kinds) {
  std::string out = "[";
  for (const SpanKind& kind : kinds) {
    if (out.size() > 1) out += ',';
    out += fmt::format("{{\"job\":{},\"op\":", kind.job.valid() ? static_cast<int>(kind.job.value()) : -1);
    append_json_string(out, kind.op);
    out += fmt::format(",\"transfer\":{}", kind.transfer);
    if (kind.transfer)
      out += fmt::format(",\"bytes\":{},\"ranks\":{},\"servers\":{}", kind.bytes.count(), kind.ranks, kind.servers);
    out += '}';
  }
  return out + "]";
}

void write_timeline(JsonWriter& json, const Replay& replay, const TimelineBytes& bytes) {
  const Timeline& timeline = replay.timeline;
  json.key("timeline").begin_object().member("end_ns", replay.end.ns()).member("recorded", timeline.recorded);
  json.key("columns").begin_array();
  for (const std::string& column : bytes.columns) json.value(std::uint64_t{column.size()});
  json.end_array().key("kinds").raw(kinds_json(timeline.kinds)).key("lanes").begin_array();
  for (const TimelineLane& lane : timeline.lanes) {
    json.begin_object().member("name", lane.name).member("group", kGroups[static_cast<std::size_t>(lane.group)]);
    json.member("server", std::uint64_t{lane.server}).member("bin_ns", lane.bin.ns());
    json.member("spans", std::uint64_t{lane.spans.size()}).end_object();
  }
  json.end_array().end_object();
}

/// The pipelines of the run: of each model and number of GPUs, the first job's.
void write_pipelines(JsonWriter& json, const RunPage& page) {
  const ColumnTable& jobs = page.folder.jobs;
  const std::vector<std::size_t> rows = page.folder.rows_of(jobs, page.run);
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(jobs.names, name) - jobs.names.begin());
  };
  const std::size_t names = column("job_id"), models = column("model"), sizes = column("gpus");
  std::set<std::pair<std::string, std::string>> drawn;
  Pipelines pipelines{page.replay.replay->timeline};
  json.key("pipelines").begin_array();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::pair<std::string, std::string> what{jobs.columns[models][rows[row]], jobs.columns[sizes][rows[row]]};
    if (drawn.contains(what)) continue;
    std::optional<PassLanes> lanes = pipelines.of(JobId{row});
    if (!lanes) continue;
    drawn.insert(what);
    lanes->title =
        fmt::format("{} ({} on {} GPUs), {}", jobs.columns[names][rows[row]], what.first, what.second, lanes->title);
    json.begin_object().member("name", fmt::format("pipeline-{}", row)).member("title", lanes->title);
    json.member("svg", pass_lanes_svg(std::span{&*lanes, 1})).end_object();
  }
  json.end_array();
}

void write_differences(JsonWriter& json, std::span<const RunFolder> folders) {
  std::vector<Scenario> scenarios;
  for (const RunFolder& folder : folders) scenarios.push_back(folder.scenario);
  json.key("differences").begin_array();
  for (const KeyDifference& each : differing_keys(scenarios)) {
    json.begin_object().member("key", each.key).key("values").begin_array();
    for (const std::string& value : each.values) json.value(value);
    json.end_array().end_object();
  }
  json.end_array();
}

std::string title_of(const RunFolder& folder) {
  return folder.name.empty() ? "run" : folder.name;
}

}  // namespace

std::string run_page(const RunPage& page) {
  const RunFolder& folder = page.folder;
  JsonWriter json;
  json.begin_object().member("kind", "run").member("title", title_of(folder));
  json.member("study", folder.scenario.overlap.given());
  json.member("description", folder.scenario.description).member("seed", page.run.seed);
  json.member("replicas", std::uint64_t{folder.runs.size()});
  json.key("end_s").value(page.run.end_s);
  write_metrics(json, folder);
  write_pairs(json, "facts", scenario_facts(folder.scenario));
  const TopologyDrawing topology =
      draw_topology(folder.scenario.cluster, folder.scenario.network, folder.scenario.overlap);
  json.member("topology", topology.svg).member("topology_note", topology.note);
  json.member("scenario", folder.yaml);
  write_pairs(json, "provenance", provenance(folder));
  write_figures(json, page.figures);
  write_drawings(json, page.drawings);
  const std::vector<std::size_t> jobs = folder.rows_of(folder.jobs, page.run);
  const std::size_t step = std::max<std::size_t>(1, (jobs.size() + kMostRows - 1) / kMostRows);
  json.member("all_jobs", std::uint64_t{jobs.size()}).member("jobs_step", std::uint64_t{step});
  write_table(json, "jobs", folder.jobs, jobs, step);
  if (folder.fabric) write_table(json, "links", *folder.fabric, folder.rows_of(*folder.fabric, page.run));
  if (folder.delays) write_delays(json, folder, page.run);
  std::string spans;
  if (page.replay.replay) {
    const TimelineBytes bytes = encode_spans(page.replay.replay->timeline);
    write_timeline(json, *page.replay.replay, bytes);
    write_pipelines(json, page);
    spans = bytes.joined();
  } else {
    json.member("no_timeline", page.replay.reason);
  }
  json.end_object();
  return page_document(title_of(folder), json.take(), spans);
}

std::string comparison_page(std::span<const RunFolder> folders, std::span<const Figure> figures) {
  JsonWriter json;
  const std::string title = fmt::format("{} runs side by side", folders.size());
  json.begin_object().member("kind", "comparison").member("title", title).member("description", "");
  json.key("runs").begin_array();
  const Metric& jct = metric("avg_jct_s");
  std::vector<SeededFigure> averages;
  for (const RunFolder& folder : folders) {
    SeededFigure& figure =
        averages.emplace_back(SeededFigure{{}, values_of(folder, jct), draws_of(folder.scenario.workload)});
    for (const RunFolder::Run& run : folder.runs) figure.seeds.push_back(run.seed);
  }
  const std::vector<std::optional<TestedRatio>> ratios = ratios_to_first(averages);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const RunFolder& folder = folders[i];
    json.begin_object().member("name", title_of(folder)).member("replicas", std::uint64_t{folder.runs.size()});
    json.member("description", folder.scenario.description);
    write_metrics(json, folder);
    for (const auto& [name, kind] :
         {std::pair{"ratio", &TestedRatio::geometric}, {"ratio_of_means", &TestedRatio::of_means}}) {
      json.key(name);
      if (ratios[i]) {
        const RatioEstimate& ratio = (*ratios[i]).*kind;
        json.begin_object().member("ratio", ratio.ratio);
        json.member("low", ratio.low).member("high", ratio.high).end_object();
      } else {
        json.null();
      }
    }
    json.member("p_value", ratios[i] ? ratios[i]->p_value : kNaN);
    json.member("detectable", ratios[i] ? ratios[i]->detectable : kNaN);
    write_pairs(json, "facts", scenario_facts(folder.scenario));
    write_pairs(json, "provenance", provenance(folder));
    json.end_object();
  }
  json.end_array();
  std::size_t seeds = folders.front().runs.size();
  for (const RunFolder& folder : folders) seeds = std::min(seeds, folder.runs.size());
  json.member("few_seeds", few_pairs_note(seeds, "seeds"));
  write_differences(json, folders);
  write_figures(json, figures);
  json.end_object();
  return page_document(title, json.take(), {});
}

std::string sweep_page(const SweepData& data, const SweepAxes& axes, std::span<const Figure> fronts) {
  JsonWriter json;
  const std::string title = data.info.name.empty() ? "sweep" : data.info.name;
  json.begin_object().member("kind", "sweep").member("title", title);
  json.member("description", "").member("scenario", data.info.scenario);
  write_pairs(json, "provenance", {{"program", data.build}});
  json.member("few_seeds", few_pairs_note(static_cast<std::size_t>(data.info.repeat), "seeds"));
  write_sweep_json(json, data, axes);
  write_figures(json, fronts);
  json.end_object();
  return page_document(title, json.take(), {});
}

}  // namespace contend
