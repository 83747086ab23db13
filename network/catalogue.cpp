#include "network/catalogue.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>

namespace contend {
namespace {

/// Lines of an entry stand before the lines of the entry that it is like.
NetworkEntry with_lines_of_like(NetworkEntry entry) {
  for (std::string_view like = entry.text("like"); !like.empty();) {
    const NetworkEntry* const base = network_entry("machine", like);
    CONTEND_CHECK(base != nullptr, "a machine is like another one of the catalogue");
    entry.lines.insert(entry.lines.end(), base->lines.begin(), base->lines.end());
    like = base->text("like");
  }
  return entry;
}

}  // namespace

bool NetworkEntry::has(std::string_view word) const {
  return std::ranges::find(lines, word, &std::pair<std::string_view, std::string_view>::first) != lines.end();
}

std::string_view NetworkEntry::text(std::string_view word) const {
  const auto found = std::ranges::find(lines, word, &std::pair<std::string_view, std::string_view>::first);
  return found == lines.end() ? std::string_view{} : found->second;
}

std::vector<double> NetworkEntry::numbers(std::string_view word) const {
  return numbers_in(text(word));
}

double NetworkEntry::number(std::string_view word, double otherwise) const {
  return has(word) ? numbers(word).at(0) : otherwise;
}

std::vector<NetworkEntry> read_network_catalogue(std::string_view text) {
  std::vector<NetworkEntry> entries;
  while (!text.empty()) {
    std::string_view line = take_field(text, '\n');
    line = line.substr(0, line.find('#'));
    const bool indented = line.starts_with(' ');
    line = trimmed(line);
    if (line.empty()) continue;
    const std::string_view word = take_field(line, ' ');
    CONTEND_CHECK(!indented || !entries.empty(), "a line of the catalogue belongs to an entry");
    if (indented)
      entries.back().lines.emplace_back(word, trimmed(line));
    else
      entries.push_back({word, trimmed(line), {}});
  }
  return entries;
}

std::span<const NetworkEntry> network_catalogue() {
  static const std::vector<NetworkEntry> kEntries = read_network_catalogue(network_catalogue_text());
  return kEntries;
}

const NetworkEntry* network_entry(std::string_view kind, std::string_view name) {
  const auto entries = network_catalogue();
  const auto found =
      std::ranges::find_if(entries, [&](const NetworkEntry& each) { return each.kind == kind && each.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::span<const NetworkEntry> machines() {
  static const std::vector<NetworkEntry> kAll = [] {
    std::vector<NetworkEntry> all;
    for (const NetworkEntry& each : network_catalogue())
      if (each.kind == "machine") all.push_back(with_lines_of_like(each));
    return all;
  }();
  return kAll;
}

const NetworkEntry* find_machine(std::string_view name) {
  const auto found = std::ranges::find(machines(), name, &NetworkEntry::name);
  return found == machines().end() ? nullptr : &*found;
}

}  // namespace contend
