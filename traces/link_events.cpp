#include "traces/link_events.hpp"

#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "text/words.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 3> kEventColumns = {"time_s", "link", "factor"};
constexpr std::int64_t kUnit = 1'000'000'000;
constexpr std::int64_t kLargestFactor = 1'000;

Complaint complaint(const std::string& file, int line, std::string column, std::string reason, std::string hint = {}) {
  return {.file = file, .line = line, .key = std::move(column), .reason = std::move(reason), .hint = std::move(hint)};
}

using Links = std::vector<LinkId>;

/// All names that events may use, with their links.
std::map<std::string, Links, std::less<>> names_of(const Topology& topology) {
  std::map<std::string, Links, std::less<>> names;
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const LinkId link{i};
    names[topology.link_name(link)] = {link};
    for (const NodeId end : {topology.links()[i].from, topology.links()[i].to})
      names[topology.nodes()[end.index()].name].push_back(link);
  }
  return names;
}

/// The links between the server of that name and the fabric; empty if there is no such server.
std::vector<LinkId> links_of_server(const std::string& name, const Topology& topology) {
  const auto inside = [&](NodeId node) { return topology.nodes()[node.index()].name.starts_with(name + "/"); };
  std::vector<LinkId> links;
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    const Link& link = topology.links()[l];
    if (inside(link.from) != inside(link.to)) links.emplace_back(l);
  }
  return links;
}

}  // namespace

std::vector<LinkEventRow> parse_link_events(std::string_view text, const std::string& file) {
  const CsvTable table = parse_csv(text, file);
  Complaints complaints;
  const auto [time, link, factor] = find_named_columns(table, kEventColumns, file, complaints);
  complaints.throw_if_any();
  std::vector<LinkEventRow> events;
  for (const CsvRow& row : table.rows) {
    LinkEventRow event;
    event.line = row.line;
    event.time = read_seconds(row, time, kEventColumns[0], file, complaints);
    event.name = row.fields[link];
    if (event.name.empty()) complaints.add(complaint(file, row.line, "link", "expected a link or node, got nothing"));
    event.factor =
        static_cast<double>(read_billionths(row, factor, kEventColumns[2], kLargestFactor * kUnit, file, complaints)) /
        static_cast<double>(kUnit);
    events.push_back(std::move(event));
  }
  complaints.throw_if_any();
  return events;
}

std::vector<LinkEventRow> read_link_events(const std::string& path) {
  return parse_link_events(read_file(path), path);
}

std::vector<LinkEvent> resolve_link_events(const std::vector<LinkEventRow>& events, const Topology& topology,
                                           const std::string& file) {
  const auto names = names_of(topology);
  std::vector<LinkEvent> changes;
  Complaints complaints;
  for (const LinkEventRow& event : events) {
    const auto named = names.find(event.name);
    const std::vector<LinkId> of_server =
        named == names.end() ? links_of_server(event.name, topology) : std::vector<LinkId>{};
    for (const LinkId link : of_server) changes.push_back({event.time, link, event.factor});
    if (!of_server.empty()) continue;
    if (named == names.end()) {
      std::vector<std::string> candidates;
      const bool is_link = event.name.find("->") != std::string::npos;
      for (const auto& [name, links] : names)
        if ((name.find("->") != std::string::npos) == is_link) candidates.push_back(name);
      complaints.add(complaint(file, event.line, "link",
                               fmt::format("the topology has no {} \"{}\"", is_link ? "link" : "node", event.name),
                               did_you_mean(event.name, candidates)));
      continue;
    }
    for (const LinkId link : named->second) changes.push_back({event.time, link, event.factor});
  }
  complaints.throw_if_any();
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkEvent& a, const LinkEvent& b) { return a.time < b.time; });
  return changes;
}

}  // namespace contend
