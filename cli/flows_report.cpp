#include "cli/flows_report.hpp"

#include "cli/text_table.hpp"
#include "sim/statistics.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMedian = 0.5, kMost = 0.95, kNearlyAll = 0.99;

Spread spread_of(const std::vector<double>& values) {
  return {mean(values), percentile(values, kMedian), percentile(values, kMost), percentile(values, kNearlyAll)};
}

double slowdown_of(Time taken, Time ideal) {
  return static_cast<double>(taken.ns()) / static_cast<double>(ideal.ns());
}

FlowClass class_of(std::span<const ListedFlow> flows, std::span<const FlowOutcome> outcomes, std::optional<Bytes> above,
                   std::optional<Bytes> at_most) {
  FlowClass made{above, at_most, 0, 0, {}, {}};
  std::vector<double> times, slowdowns;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if ((above && flows[f].bytes <= *above) || (at_most && flows[f].bytes > *at_most)) continue;
    ++made.flows;
    if (!outcomes[f].end) {
      ++made.unfinished;
      continue;
    }
    const Time taken = *outcomes[f].end - flows[f].start;
    times.push_back(taken.to_seconds());
    slowdowns.push_back(slowdown_of(taken, outcomes[f].ideal));
  }
  made.fct_s = spread_of(times);
  made.slowdown = spread_of(slowdowns);
  return made;
}

std::string class_title(const FlowClass& each) {
  if (each.above && each.at_most)
    return fmt::format("{} to {}", print_quantity(*each.above), print_quantity(*each.at_most));
  if (each.above) return fmt::format("above {}", print_quantity(*each.above));
  return each.at_most ? fmt::format("up to {}", print_quantity(*each.at_most)) : "all";
}

void add_class(Table& table, const FlowClass& each) {
  const auto ratio = [](double value) { return value == value ? fmt::format("{:.2f}", value) : "-"; };
  table.add({class_title(each), fmt::format("{}", each.flows), microseconds_text(each.fct_s.mean),
             microseconds_text(each.fct_s.median), microseconds_text(each.fct_s.p95), microseconds_text(each.fct_s.p99),
             ratio(each.slowdown.mean), ratio(each.slowdown.median), ratio(each.slowdown.p95),
             ratio(each.slowdown.p99)});
}

void write_spread(JsonWriter& json, std::string_view name, const Spread& spread) {
  json.key(name).begin_object().member("mean", spread.mean).member("median", spread.median);
  json.member("p95", spread.p95).member("p99", spread.p99).end_object();
}

void write_class(JsonWriter& json, const FlowClass& each) {
  json.member("flows", std::uint64_t{each.flows}).member("unfinished", std::uint64_t{each.unfinished});
  write_spread(json, "fct_s", each.fct_s);
  write_spread(json, "slowdown", each.slowdown);
}

void write_bound(JsonWriter& json, std::string_view name, const std::optional<Bytes>& bound) {
  json.key(name);
  bound ? json.value(bound->count()) : json.null();
}

}  // namespace

FlowSummary summarise_flows(std::span<const ListedFlow> flows, std::span<const FlowOutcome> outcomes,
                            std::span<const Bytes> bounds) {
  FlowSummary summary;
  summary.all = class_of(flows, outcomes, std::nullopt, std::nullopt);
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    FlowClass each = class_of(flows, outcomes, i > 0 ? std::optional{bounds[i - 1]} : std::nullopt,
                              i < bounds.size() ? std::optional{bounds[i]} : std::nullopt);
    if (each.flows == flows.size()) {
      summary.classes.clear();
      break;
    }
    if (each.flows > 0) summary.classes.push_back(std::move(each));
  }
  Time first = Time::never(), last;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    summary.bytes += flows[f].bytes.to_double();
    first = std::min(first, flows[f].start);
    last = std::max(last, outcomes[f].end.value_or(Time{}));
  }
  if (summary.all.unfinished == 0) summary.makespan_s = (last - first).to_seconds();
  return summary;
}

std::string flows_text(const FlowSummary& summary) {
  Table table{{"size", "flows", "mean FCT [us]", "median", "p95", "p99", "mean slowdown", "median", "p95", "p99"}};
  for (const FlowClass& each : summary.classes) add_class(table, each);
  add_class(table, summary.all);
  const std::string makespan =
      summary.makespan_s ? microseconds_text(*summary.makespan_s) + " us" : std::string{"- (some flows never end)"};
  return fmt::format("{}\nbytes in all  {:.0f}\nmakespan      {}\n", table.text(), summary.bytes, makespan);
}

std::string flows_json(const FlowSummary& summary) {
  JsonWriter json;
  json.begin_object();
  write_class(json, summary.all);
  json.member("bytes", summary.bytes).key("makespan_s");
  summary.makespan_s ? json.value(*summary.makespan_s) : json.null();
  json.key("classes").begin_array();
  for (const FlowClass& each : summary.classes) {
    json.begin_object();
    write_bound(json, "above_bytes", each.above);
    write_bound(json, "at_most_bytes", each.at_most);
    write_class(json, each);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string flows_csv(std::span<const ListedFlow> flows, std::span<const FlowOutcome> outcomes,
                      const Topology& topology) {
  const auto name = [&](GpuId gpu) { return topology.nodes()[topology.gpus()[gpu.index()].index()].name; };
  std::string out = "flow,start_s,bytes,source,destination,end_s,fct_s,ideal_s,slowdown\n";
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const ListedFlow& flow = flows[f];
    append_csv_field(out, flow.name);
    out += fmt::format(",{},{},{},{},", format_seconds(flow.start), flow.bytes.count(), name(flow.source),
                       name(flow.destination));
    if (const auto& end = outcomes[f].end) {
      const Time taken = *end - flow.start;
      out += fmt::format("{},{},{},{}\n", format_seconds(*end), format_seconds(taken),
                         format_seconds(outcomes[f].ideal), slowdown_of(taken, outcomes[f].ideal));
    } else {
      out += fmt::format(",,{},\n", format_seconds(outcomes[f].ideal));
    }
  }
  return out;
}

}  // namespace contend
