#include "network/catalogue.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>

namespace contend {
namespace {

/// Lines of an entry stand before the lines of the entry that it is like.
TextEntry with_lines_of_like(TextEntry entry) {
  for (std::string_view like = entry.text("like"); !like.empty();) {
    const TextEntry* const base = network_entry("machine", like);
    CONTEND_CHECK(base != nullptr, "a machine is like another one of the catalogue");
    entry.lines.insert(entry.lines.end(), base->lines.begin(), base->lines.end());
    like = base->text("like");
  }
  return entry;
}

}  // namespace

std::span<const TextEntry> network_catalogue() {
  static const std::vector<TextEntry> kEntries = read_entries(network_catalogue_text());
  return kEntries;
}

const TextEntry* network_entry(std::string_view kind, std::string_view name) {
  const auto entries = network_catalogue();
  const auto found =
      std::ranges::find_if(entries, [&](const TextEntry& each) { return each.kind == kind && each.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::span<const TextEntry> machines() {
  static const std::vector<TextEntry> kAll = [] {
    std::vector<TextEntry> all;
    for (const TextEntry& each : network_catalogue())
      if (each.kind == "machine") all.push_back(with_lines_of_like(each));
    return all;
  }();
  return kAll;
}

const TextEntry* find_machine(std::string_view name) {
  const auto found = std::ranges::find(machines(), name, &TextEntry::name);
  return found == machines().end() ? nullptr : &*found;
}

}  // namespace contend
