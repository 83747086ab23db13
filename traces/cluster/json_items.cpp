#include "traces/cluster/json_items.hpp"

#include "text/file_complaints.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace contend {

using Kind = JsonValue::Kind;

void JsonItem::fail(std::string_view name, std::string reason, std::string hint) const {
  const JsonValue* const member = name.empty() ? nullptr : value->find(name);
  std::string key = path;
  if (!name.empty()) key += fmt::format("{}{}", path.empty() ? "" : ".", name);
  FileComplaints{*file}.fail(member != nullptr ? member->place : value->place, std::move(key), std::move(reason),
                             std::move(hint));
}

std::string JsonItem::text(std::string_view name) const {
  const JsonValue* const member = value->find(name);
  if (member == nullptr || member->is(Kind::null)) return {};
  if (!member->is(Kind::string)) fail(name, fmt::format("expected a string, got {}", kind_name(member->kind)));
  return member->text;
}

std::string JsonItem::words(std::string_view name) const {
  const JsonValue* const member = value->find(name);
  if (member == nullptr || member->is(Kind::null)) return {};
  std::string all;
  if (member->is(Kind::string)) {
    all = member->text;
  } else if (member->is(Kind::array)) {
    for (const JsonValue& each : member->items) {
      if (!each.is(Kind::string)) fail(name, fmt::format("expected strings, got {}", kind_name(each.kind)));
      all += (all.empty() ? "" : "+") + each.text;
    }
  } else {
    fail(name, fmt::format("expected a string or a list of strings, got {}", kind_name(member->kind)),
         "if Slurm prints this, it is of a version that isn't known yet");
  }
  std::ranges::transform(all, all.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  return all;
}

std::optional<std::int64_t> JsonItem::whole(std::string_view name) const {
  const JsonValue* member = value->find(name);
  if (member == nullptr || member->is(Kind::null)) return std::nullopt;
  if (member->is(Kind::object)) {
    const auto is_true = [&](std::string_view flag) {
      const JsonValue* const said = member->find(flag);
      return said != nullptr && said->boolean;
    };
    if (is_true("infinite")) return kInfinite;
    if (!is_true("set")) return std::nullopt;
    if (const JsonValue* const number = member->find("number")) member = number;
  }
  const std::optional<std::uint64_t> number = member->whole();
  if (!number || *number > INT64_MAX)
    fail(name, fmt::format("expected a whole number >= 0, got {}",
                           member->is(Kind::number) ? member->text : std::string{kind_name(member->kind)}));
  return static_cast<std::int64_t>(*number);
}

std::vector<JsonItem> JsonItem::list(std::string_view name) const {
  const JsonValue* const member = value->find(name);
  std::vector<JsonItem> items;
  if (member == nullptr || member->is(Kind::null)) return items;
  if (!member->is(Kind::array)) fail(name, fmt::format("expected a list, got {}", kind_name(member->kind)));
  for (std::size_t i = 0; i < member->items.size(); ++i)
    items.push_back({&member->items[i], fmt::format("{}{}{}[{}]", path, path.empty() ? "" : ".", name, i), file});
  return items;
}

std::optional<JsonItem> JsonItem::object(std::string_view name) const {
  const JsonValue* const member = value->find(name);
  if (member == nullptr || member->is(Kind::null)) return std::nullopt;
  if (!member->is(Kind::object)) fail(name, fmt::format("expected an object, got {}", kind_name(member->kind)));
  return JsonItem{member, fmt::format("{}{}{}", path, path.empty() ? "" : ".", name), file};
}

bool says_nothing(const JsonValue& value) {
  switch (value.kind) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return !value.boolean;
    case Kind::number:
      return value.text == "0";
    case Kind::string:
      return value.text.empty();
    case Kind::array:
      return value.items.empty();
    case Kind::object: {
      const JsonValue* const set = value.find("set");
      if (set == nullptr) return value.items.empty();
      const JsonValue *const infinite = value.find("infinite"), *const number = value.find("number");
      if (infinite != nullptr && infinite->boolean) return false;
      return !set->boolean || number == nullptr || says_nothing(*number);
    }
  }
  return false;
}

}  // namespace contend
