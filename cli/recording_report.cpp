#include "cli/recording_report.hpp"

#include "cli/text_table.hpp"
#include "text/json_writer.hpp"
#include "traces/recording/critical_path.hpp"
#include "traces/recording/recording_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

constexpr double kBytesPerGb = 1e9;

/// Microseconds with all digits.
std::string us(Time time) {
  const std::int64_t ns = time.ns();
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

std::string us(double ns) {
  return fmt::format("{:.3f}", ns / 1e3);
}

std::string share(Time part, Time whole) {
  return whole > Time{} ? fmt::format("{:.1f}%", kPercent * part.to_seconds() / whole.to_seconds()) : "-";
}

std::string bytes_text(const std::optional<Bytes>& bytes) {
  return bytes ? fmt::format("{}", bytes->count()) : "?";
}

std::string lane_name(const RecordedLane& lane) {
  return lane.device ? fmt::format("GPU {} stream {}", lane.gpu, lane.name) : "thread " + lane.name;
}

/// The group of these collectives; null if it isn't known.
const RecordedGroup* group_of(const RecordedRank& rank, const RecordedCollectives& each) {
  return each.group ? &rank.groups[*each.group] : nullptr;
}

std::optional<double> bandwidth(const RecordedRank& rank, const RecordedCollectives& each) {
  const RecordedGroup* const group = group_of(rank, each);
  return group == nullptr ? std::nullopt : bus_bandwidth(each, group->size);
}

/// What of the first rows isn't shown.
std::string more(std::size_t rows) {
  return rows > kMaxShown ? fmt::format("and {} more (--json has all)\n", rows - kMaxShown) : "";
}

std::string title(const RecordedRank& rank) {
  std::string text = fmt::format("rank {} of {}: {}", rank.rank, rank.file, rank.format);
  if (!rank.version.empty()) text += ", version " + rank.version;
  if (!rank.device.empty()) text += ", on " + rank.device;
  return text + fmt::format("; {} tasks on {} lanes\n\n", rank.tasks.size(), rank.lanes.size());
}

std::string kinds_text(const RankSummary& summary) {
  Table table{{"kind", "tasks", "time [us]"}};
  for (std::size_t k = 0; k < kRecordedKinds; ++k)
    if (const RecordedSum& sum = summary.kinds[k]; sum.tasks > 0)
      table.add({std::string{to_string(static_cast<RecordedKind>(k))}, fmt::format("{}", sum.tasks), us(sum.time)});
  return table.text();
}

/// Lanes by time.
std::string lanes_text(const RecordedRank& rank, const RankSummary& summary) {
  std::vector<std::size_t> order(rank.lanes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t lane) {
    return std::pair{rank.lanes[lane].device, summary.lanes[lane].time};
  });
  Table table{{"lane", "tasks", "time [us]"}};
  for (std::size_t i = 0; i < std::min(order.size(), kMaxShown); ++i) {
    const RecordedSum& sum = summary.lanes[order[i]];
    table.add({lane_name(rank.lanes[order[i]]), fmt::format("{}", sum.tasks), us(sum.time)});
  }
  return "\n" + table.text() + more(order.size());
}

std::string times_text(const RankSummary& summary) {
  const RecordedTimes& times = summary.times;
  const std::pair<const char*, Time> rows[] = {{"busy", times.busy},
                                               {"computing", times.compute},
                                               {"communicating", times.communication},
                                               {"exposed communication", times.exposed},
                                               {"communicating alone", times.alone},
                                               {"idle: late host", summary.idle.late_host},
                                               {"idle: launching", summary.idle.launching},
                                               {"idle: launched before", summary.idle.device},
                                               {"idle: launch not recorded", summary.idle.unknown}};
  Table table{{"GPU", "time [us]", "of the span"}};
  table.add({"span", us(times.span), share(times.span, times.span)});
  for (const auto& [name, time] : rows) table.add({name, us(time), share(time, times.span)});
  const LaunchDelays& launches = summary.launches;
  return fmt::format("\n{}\nlaunches: {} of {} found; from launch to start {} us at least, {} us in the median\n",
                     table.text(), launches.found, launches.tasks, us(launches.shortest), us(launches.median));
}

std::string steps_text(const RecordedRank& rank, const RankSummary& summary) {
  if (rank.steps.empty()) return {};
  Table table{{"iteration", "length [us]", "busy [us]", "computing [us]", "communicating [us]", "exposed [us]"}};
  for (std::size_t i = 0; i < std::min(summary.steps.size(), kMaxShown); ++i) {
    const auto& [step, times] = summary.steps[i];
    table.add({fmt::format("{}", step.number), us(step.end - step.start), us(times.busy), us(times.compute),
               us(times.communication), us(times.exposed)});
  }
  const MeanAndSpread lengths = step_lengths(rank.steps);
  return fmt::format("\n{}{}\niterations: {}, {} us in the mean, standard deviation {} us\n", table.text(),
                     more(rank.steps.size()), rank.steps.size(), us(lengths.mean_ns), us(lengths.spread_ns));
}

std::string collectives_text(const RecordedRank& rank, const RankSummary& summary) {
  if (summary.collectives.empty()) return {};
  Table table{
      {"communication", "group", "ranks", "in [B]", "out [B]", "tasks", "time [us]", "shortest [us]", "bus [GB/s]"}};
  table.align_left(1);
  for (std::size_t i = 0; i < std::min(summary.collectives.size(), kMaxShown); ++i) {
    const RecordedCollectives& each = summary.collectives[i];
    const RecordedGroup* const group = group_of(rank, each);
    const std::optional<double> rate = bandwidth(rank, each);
    table.add({std::string{to_string(each.kind)}, group == nullptr ? "?" : group->name,
               group == nullptr || group->size == 0 ? "?" : fmt::format("{}", group->size), bytes_text(each.in),
               bytes_text(each.out), fmt::format("{}", each.tasks), us(each.time), us(each.shortest),
               rate ? fmt::format("{:.2f}", *rate / kBytesPerGb) : "-"});
  }
  return "\n" + table.text() + more(summary.collectives.size());
}

std::string path_text(const RecordedRank& rank) {
  const CriticalPath path = critical_path(rank);
  if (path.parts.empty()) return {};
  constexpr std::size_t kMostParts = 10, kLongestName = 60;
  Table table{{"critical path", "tasks", "time [us]", "of it"}};
  Time rest;
  std::int64_t more_tasks = 0;
  for (std::size_t i = 0; i < path.parts.size(); ++i) {
    const PathPart& part = path.parts[i];
    if (i >= kMostParts) {
      rest += part.time;
      more_tasks += part.tasks;
      continue;
    }
    const std::string name = part.what.size() > kLongestName ? part.what.substr(0, kLongestName) + "..." : part.what;
    table.add({part.between ? "(" + name + ")" : name, fmt::format("{}", part.tasks), us(part.time),
               share(part.time, path.end - path.begin)});
  }
  if (path.parts.size() > kMostParts)
    table.add({"(others)", fmt::format("{}", more_tasks), us(rest), share(rest, path.end - path.begin)});
  return fmt::format("\n{}\ncritical path: {} us to the end of the last task\n", table.text(),
                     us(path.end - path.begin));
}

std::string remarks_text(const RecordedRank& rank) {
  std::string text;
  if (!rank.annotations.empty()) {
    text += "\nsaid by the host:";
    for (const auto& [name, times] : rank.annotations) text += fmt::format(" {} x {};", times, name);
    text.back() = '\n';
  }
  if (!rank.not_understood.empty()) text += "\nnot understood:\n";
  for (const auto& [what, times] : rank.not_understood) text += fmt::format("  {} x {}\n", times, what);
  if (!rank.timed) text += "\nThe file has no starts of tasks: what overlaps isn't known.\n";
  if (rank.replayed)
    text +=
        "\nThe file has no starts of tasks; these are of a replay: each lane in order of nodes, all durations as "
        "recorded.\n";
  return text;
}

std::string rank_text(const RecordedRank& rank) {
  const RankSummary summary = summarise(rank);
  std::string text = title(rank) + kinds_text(summary) + lanes_text(rank, summary);
  if (rank.timed) text += times_text(summary);
  text += steps_text(rank, summary) + collectives_text(rank, summary);
  if (rank.timed) text += path_text(rank);
  return text + remarks_text(rank);
}

std::string ranks_text(const Recording& recording) {
  Table table{{"rank", "tasks", "iterations", "mean [us]", "span [us]", "busy [us]", "computing [us]",
               "communicating [us]", "exposed [us]"}};
  for (const RecordedRank& rank : recording.ranks) {
    const RankSummary summary = summarise(rank);
    const RecordedTimes& times = summary.times;
    const auto if_timed = [&](Time time) { return rank.timed ? us(time) : std::string{"-"}; };
    table.add({fmt::format("{}", rank.rank), fmt::format("{}", rank.tasks.size()), fmt::format("{}", rank.steps.size()),
               rank.steps.empty() ? "-" : us(step_lengths(rank.steps).mean_ns), if_timed(times.span),
               if_timed(times.busy), if_timed(times.compute), if_timed(times.communication), if_timed(times.exposed)});
  }
  return fmt::format("{} ranks; --rank N shows one in detail\n\n{}", recording.ranks.size(), table.text());
}

void write_bytes(JsonWriter& json, std::string_view name, const std::optional<Bytes>& bytes) {
  json.key(name);
  bytes ? json.value(bytes->count()) : json.null();
}

void write_times(JsonWriter& json, const RecordedTimes& times) {
  json.member("span_ns", times.span.ns()).member("busy_ns", times.busy.ns());
  json.member("compute_ns", times.compute.ns()).member("communication_ns", times.communication.ns());
  json.member("exposed_ns", times.exposed.ns()).member("alone_ns", times.alone.ns());
}

void write_counts(JsonWriter& json, std::string_view name, const std::map<std::string, std::int64_t>& counts) {
  json.key(name).begin_object();
  for (const auto& [what, times] : counts) json.member(what, times);
  json.end_object();
}

void write_kinds_and_lanes(JsonWriter& json, const RecordedRank& rank, const RankSummary& summary) {
  json.key("kinds").begin_object();
  for (std::size_t k = 0; k < kRecordedKinds; ++k) {
    const RecordedSum& sum = summary.kinds[k];
    if (sum.tasks == 0) continue;
    json.key(to_string(static_cast<RecordedKind>(k))).begin_object();
    json.member("tasks", sum.tasks).member("time_ns", sum.time.ns()).end_object();
  }
  json.end_object().key("lanes").begin_array();
  for (std::size_t i = 0; i < rank.lanes.size(); ++i)
    json.begin_object()
        .member("lane", lane_name(rank.lanes[i]))
        .member("tasks", summary.lanes[i].tasks)
        .member("time_ns", summary.lanes[i].time.ns())
        .end_object();
  json.end_array();
}

void write_steps(JsonWriter& json, const RecordedRank& rank, const RankSummary& summary) {
  const MeanAndSpread lengths = step_lengths(rank.steps);
  json.key("iterations").begin_object().member("mean_ns", lengths.mean_ns).member("deviation_ns", lengths.spread_ns);
  json.key("each").begin_array();
  for (const auto& [step, times] : summary.steps) {
    json.begin_object().member("number", step.number).member("length_ns", (step.end - step.start).ns());
    write_times(json, times);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_collectives(JsonWriter& json, const RecordedRank& rank, const RankSummary& summary) {
  json.key("communication").begin_array();
  for (const RecordedCollectives& each : summary.collectives) {
    const RecordedGroup* const group = group_of(rank, each);
    json.begin_object().member("kind", to_string(each.kind)).key("group");
    group == nullptr ? json.null() : json.value(group->name);
    json.key("ranks");
    group == nullptr || group->size == 0 ? json.null() : json.value(group->size);
    write_bytes(json, "in_bytes", each.in);
    write_bytes(json, "out_bytes", each.out);
    json.member("tasks", each.tasks).member("time_ns", each.time.ns()).member("shortest_ns", each.shortest.ns());
    json.key("bus_bytes_per_s");
    const std::optional<double> rate = bandwidth(rank, each);
    rate ? json.value(*rate) : json.null();
    json.end_object();
  }
  json.end_array().key("groups").begin_array();
  for (const RecordedGroup& group : rank.groups) {
    json.begin_object().member("name", group.name).member("size", group.size).key("ranks").begin_array();
    for (const std::int64_t each : group.ranks) json.value(each);
    json.end_array().end_object();
  }
  json.end_array();
}

std::string_view starts_of(const RecordedRank& rank) {
  if (rank.replayed) return "replayed";
  return rank.timed ? "recorded" : "unknown";
}

void write_rank(JsonWriter& json, const RecordedRank& rank) {
  const RankSummary summary = summarise(rank);
  json.begin_object().member("rank", rank.rank).member("file", rank.file).member("format", rank.format);
  json.member("version", rank.version).member("device", rank.device).member("starts", starts_of(rank));
  json.member("tasks", std::uint64_t{rank.tasks.size()}).member("dependencies", std::uint64_t{rank.needs.size()});
  write_kinds_and_lanes(json, rank, summary);
  write_times(json, summary.times);
  const IdleTimes& idle = summary.idle;
  json.key("idle").begin_object().member("late_host_ns", idle.late_host.ns());
  json.member("launching_ns", idle.launching.ns()).member("launched_before_ns", idle.device.ns());
  json.member("launch_not_recorded_ns", idle.unknown.ns()).end_object();
  const LaunchDelays& launches = summary.launches;
  json.key("launches").begin_object().member("found", launches.found).member("tasks", launches.tasks);
  json.member("shortest_ns", launches.shortest.ns()).member("median_ns", launches.median.ns()).end_object();
  write_steps(json, rank, summary);
  write_collectives(json, rank, summary);
  json.key("critical_path").begin_array();
  for (const PathPart& part : rank.timed ? critical_path(rank).parts : std::vector<PathPart>{}) {
    json.begin_object().member("what", part.what).member("between", part.between);
    json.member("tasks", part.tasks).member("time_ns", part.time.ns()).end_object();
  }
  json.end_array();
  write_counts(json, "entries", rank.counts);
  write_counts(json, "annotations", rank.annotations);
  write_counts(json, "not_understood", rank.not_understood);
  json.end_object();
}

}  // namespace

std::string recording_text(const Recording& recording) {
  return recording.ranks.size() == 1 ? rank_text(recording.ranks.front()) : ranks_text(recording);
}

std::string recording_json(const Recording& recording) {
  JsonWriter json;
  json.begin_object().key("ranks").begin_array();
  for (const RecordedRank& rank : recording.ranks) write_rank(json, rank);
  json.end_array().key("faults").begin_array();
  for (const Complaint& fault : recording.faults) json.value(fault.format());
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
