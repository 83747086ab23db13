#include "scenarios/yaml/error_table.hpp"

#include "scenarios/yaml/yaml_tree.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kUnmodelled = "unmodelled";

/// The members of an entry of the table.
class ErrorEntry {
 public:
  ErrorEntry(const YamlNode::Entry& entry, const SourceText& source) : entry_{entry}, source_{source} {}

  [[nodiscard]] const YamlNode& member(std::string_view name) const {
    for (const YamlNode::Entry& each : entry_.value.entries)
      if (each.key == name) return each.value;
    fail(entry_.place, fmt::format("needs `{}`", name));
  }

  [[nodiscard]] double number(const YamlNode& node, double least = 0) const {
    char* end = nullptr;
    const double value = std::strtod(node.text.c_str(), &end);
    if (node.text.empty() || *end != '\0' || !std::isfinite(value) || value < least)
      fail(node.place, fmt::format("expected a number{}, got {}", least == 0 ? " >= 0" : "", found_text(node)));
    return value;
  }

  void check_members(std::initializer_list<std::string_view> known) const {
    for (const YamlNode::Entry& each : entry_.value.entries)
      if (std::find(known.begin(), known.end(), each.key) == known.end())
        fail(each.place, fmt::format("unknown member `{}`", each.key));
  }

  [[nodiscard]] ClassError class_error() const {
    check_members({"error", "of", "source"});
    ClassError made{member("source").text, number(member("error")), {}};
    for (const YamlNode::Entry& each : entry_.value.entries)
      if (each.key == "of")
        for (const YamlNode::Entry& named : each.value.entries) made.by_name[named.key] = number(named.value);
    return made;
  }

  [[noreturn]] void fail(Place place, std::string reason) const {
    throw InputError{{source_.complaint(place, entry_.key, std::move(reason))}};
  }

 private:
  const YamlNode::Entry& entry_;
  const SourceText& source_;
};

}  // namespace

ErrorTable parse_error_table(std::string_view text) {
  const SourceText source{"models/errors.yaml", std::string{text}};
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, complaints);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  ErrorTable table;
  std::array<bool, kErrorClasses> given{};
  if (!root) return table;
  for (const YamlNode::Entry& each : root->entries) {
    const ErrorEntry entry{each, source};
    if (each.key == kUnmodelled) {
      constexpr double kAny = std::numeric_limits<double>::lowest();
      entry.check_members({"centre", "spread", "low", "high", "source"});
      table.unmodelled = {entry.number(entry.member("centre"), kAny), entry.number(entry.member("spread")),
                          entry.number(entry.member("low"), kAny), entry.number(entry.member("high"))};
      continue;
    }
    std::size_t which = 0;
    while (which < kErrorClasses && to_string(ErrorClass{static_cast<std::uint8_t>(which)}) != each.key) ++which;
    if (which == kErrorClasses) entry.fail(each.place, "is no class of errors");
    table.classes[which] = entry.class_error();
    given[which] = true;
  }
  for (std::size_t which = 0; which < kErrorClasses; ++which)
    if (!given[which])
      throw InputError{fmt::format("models/errors.yaml: has no class `{}`",
                                   to_string(ErrorClass{static_cast<std::uint8_t>(which)}))};
  return table;
}

const ErrorTable& error_table() {
  static const ErrorTable kTable = parse_error_table(error_table_text());
  return kTable;
}

}  // namespace contend
