#include "scenarios/yaml/map_codec.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

void complain_unknown(const Reading& reading, const YamlNode::Entry& member, const std::vector<std::string>& names) {
  constexpr std::size_t kMostListed = 12;
  std::string hint = hint_for_key(member.key, names);
  if (hint.empty() && names.size() <= kMostListed) hint = fmt::format("the map may have {}", fmt::join(names, ", "));
  reading.complain(member.place, "unknown key", std::move(hint));
}

void complain_missing(const Reading& reading, Place map, std::string_view member) {
  reading.complain(map, fmt::format("{} is missing", member));
}

void expect_map(const Reading& reading, const YamlNode& node, std::string_view example) {
  reading.expected(fmt::format("a map such as {}", example), node);
}

void append_member(std::string& map, std::string_view name, const std::string& value) {
  fmt::format_to(std::back_inserter(map), "{}{}: {}", map.empty() ? "" : ", ", name, value.empty() ? "\"\"" : value);
}

}  // namespace contend
