#include "cli/log_report.hpp"

#include "cli/text_table.hpp"
#include "sim/counted.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

/// Equal collectives of a group.
struct LoggedRow {
  std::size_t group = 0;
  CollectiveSample first;
  std::vector<Time> times;  ///< ascending

  [[nodiscard]] Time median() const { return times[(times.size() - 1) / 2]; }
  /// Bytes per second; nothing if the ranks of the group aren't known.
  [[nodiscard]] std::optional<double> bus() const {
    if (first.ranks < 2) return std::nullopt;
    return first.size.to_double() / median().to_seconds() * bus_factor(first.exchange, first.ranks);
  }
};

std::vector<LoggedRow> rows_of(const ProductionLog& log) {
  std::map<std::tuple<std::size_t, TimedExchange, Bytes>, LoggedRow> rows;
  for (const LoggedSample& each : logged_samples(log)) {
    LoggedRow& row = rows[{each.group, each.sample.exchange, each.sample.size}];
    row.group = each.group;
    row.first = each.sample;
    row.times.push_back(each.sample.time);
  }
  std::vector<LoggedRow> all;
  for (auto& [key, row] : rows) {
    std::ranges::sort(row.times);
    all.push_back(std::move(row));
  }
  return all;
}

std::string in_us(Time time) {
  return fmt::format("{}.{:03}", time.ns() / 1000, time.ns() % 1000);
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  constexpr std::ptrdiff_t kMostRanks = 8;
  const std::vector<std::int64_t> shown(ranks.begin(), ranks.begin() + std::min(std::ssize(ranks), kMostRanks));
  const std::string more =
      std::ssize(ranks) > kMostRanks ? fmt::format(" and {} more", std::ssize(ranks) - kMostRanks) : "";
  return fmt::format("{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(shown, ", "), more);
}

std::string waiting_text(const ProductionLog& log, const WaitingCollective& each) {
  const LoggedOperation& operation = each.operation;
  std::string text = fmt::format("waiting: {} {} of {} in group \"{}\"\n", to_string(operation.kind), operation.number,
                                 operation.bytes ? fmt::format("{} B", operation.bytes->count()) : "unknown size",
                                 log.groups[operation.group].name);
  const std::pair<const std::vector<std::int64_t>*, const char*> lines[] = {
      {&each.missing, "never enqueued it: the others wait for this"},
      {&each.enqueued, "enqueued it, and didn't start: earlier work of the stream isn't done"},
      {&each.started, "started it, and waits"},
      {&each.without_log, "without a log"}};
  for (const auto& [ranks, words] : lines)
    if (!ranks->empty()) text += fmt::format("  {}: {}\n", ranks_text(*ranks), words);
  if (each.disagrees) text += "  the ranks have other kinds or sizes of it\n";
  if (each.missing.empty() && each.enqueued.empty() && each.without_log.empty() && !each.disagrees)
    text += "  all ranks have started it: it is under way, or the network has lost something\n";
  return text;
}

void write_ranks(JsonWriter& json, std::string_view name, const std::vector<std::int64_t>& ranks) {
  json.key(name).begin_array();
  for (const std::int64_t each : ranks) json.value(each);
  json.end_array();
}

}  // namespace

std::string log_text(const ProductionLog& log) {
  std::string text = fmt::format("{} of {}: {} in {}\n", log.format, counted(log.ranks.size(), "rank"),
                                 counted(log.operations.size(), "operation"), counted(log.groups.size(), "group"));
  const std::vector<LoggedRow> rows = rows_of(log);
  Table table{{"communication", "group", "ranks", "bytes", "times", "shortest [us]", "median [us]", "longest [us]",
               "bus [GB/s]"}};
  table.align_left(1);
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxShown); ++i) {
    const LoggedRow& row = rows[i];
    constexpr double kBytesInGb = 1e9;
    table.add({std::string{to_string(row.first.exchange)}, log.groups[row.group].name,
               row.first.ranks == 0 ? "?" : std::to_string(row.first.ranks), std::to_string(row.first.size.count()),
               std::to_string(row.times.size()), in_us(row.times.front()), in_us(row.median()), in_us(row.times.back()),
               row.bus() ? fmt::format("{:.3f}", *row.bus() / kBytesInGb) : "-"});
  }
  if (!rows.empty()) text += "\n" + table.text();
  if (rows.size() > kMaxShown) text += fmt::format("and {} more (--json has all)\n", rows.size() - kMaxShown);
  for (const WaitingCollective& each : waiting_collectives(log)) text += "\n" + waiting_text(log, each);
  if (!log.not_understood.empty()) text += "\nnot understood:\n";
  for (const auto& [what, times] : log.not_understood) text += fmt::format("  {} x {}\n", times, what);
  return text;
}

std::string log_json(const ProductionLog& log) {
  JsonWriter json;
  json.begin_object().member("format", log.format).member("operations", std::uint64_t{log.operations.size()});
  write_ranks(json, "ranks", {log.ranks.begin(), log.ranks.end()});
  json.key("communication").begin_array();
  for (const LoggedRow& row : rows_of(log)) {
    json.begin_object().member("kind", to_string(row.first.exchange)).member("group", log.groups[row.group].name);
    json.member("ranks", row.first.ranks).member("bytes", row.first.size.count());
    json.member("times", std::uint64_t{row.times.size()}).member("shortest_ns", row.times.front().ns());
    json.member("median_ns", row.median().ns()).member("longest_ns", row.times.back().ns()).key("bus_bytes_per_s");
    row.bus() ? json.value(*row.bus()) : json.null();
    json.end_object();
  }
  json.end_array().key("waiting").begin_array();
  for (const WaitingCollective& each : waiting_collectives(log)) {
    json.begin_object().member("kind", to_string(each.operation.kind)).member("number", each.operation.number);
    json.member("group", log.groups[each.operation.group].name).key("bytes");
    each.operation.bytes ? json.value(each.operation.bytes->count()) : json.null();
    write_ranks(json, "never_enqueued", each.missing);
    write_ranks(json, "enqueued", each.enqueued);
    write_ranks(json, "started", each.started);
    write_ranks(json, "without_log", each.without_log);
    json.member("disagree", each.disagrees).end_object();
  }
  json.end_array().key("not_understood").begin_object();
  for (const auto& [what, times] : log.not_understood) json.member(what, times);
  json.end_object().key("faults").begin_array();
  for (const Complaint& fault : log.faults) json.value(fault.format());
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
