#include "report/sweep_names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

/// Underscores as blanks, and abbreviations in capitals.
std::string in_words(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kCapitals[] = {
      {"nic", "NIC"}, {"gpu", "GPU"}, {"gpus", "GPUs"}, {"cpu", "CPU"}, {"cpus", "CPUs"}};
  std::string out;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('_', start), name.size());
    std::string word = name.substr(start, end - start);
    for (const auto& [plain, capital] : kCapitals)
      if (word == plain) word = capital;
    out += (out.empty() ? "" : " ") + word;
    start = end + 1;
  }
  return out;
}

/// The last `parts` parts of a key.
std::string tail_of(const std::string& key, std::size_t parts) {
  std::size_t start = key.size();
  for (std::size_t i = 0; i < parts && start != 0; ++i) {
    const std::size_t dot = key.rfind('.', start - 1);
    start = dot == std::string::npos ? 0 : dot;
  }
  std::string tail = key.substr(start == 0 ? 0 : start + 1);
  std::ranges::replace(tail, '.', '_');
  return tail;
}

/// A parameter of a policy: its name, the unit at the end of it, and its value.
struct Setting {
  std::string name, unit, value;
};
struct PolicyText {
  std::string name;
  std::vector<Setting> settings;  ///< empty: the text is no policy with parameters
};

/// Takes `policy key=value key=value` apart.
PolicyText parse_policy(const std::string& text) {
  PolicyText policy;
  std::size_t at = std::min(text.find(' '), text.size());
  policy.name = text.substr(0, at);
  const auto in_name = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '+'; };
  if (policy.name.empty() || !std::ranges::all_of(policy.name, in_name)) return {};
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at + 1), text.size());
    const std::string word = text.substr(at + 1, end - at - 1);
    const std::size_t equals = word.find('=');
    const auto in_key = [](char c) { return is_lower(c) || is_digit(c) || c == '_'; };
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return {};
    Setting setting{.name = word.substr(0, equals), .unit = "", .value = word.substr(equals + 1)};
    if (!std::ranges::all_of(setting.name, in_key)) return {};
    for (const std::string_view unit : {"_ps", "_ns", "_us", "_ms", "_s"})
      if (setting.name.size() > unit.size() && setting.name.ends_with(unit)) {
        setting.unit = unit.substr(1);
        setting.name.erase(setting.name.size() - unit.size());
        break;
      }
    policy.settings.push_back(std::move(setting));
    at = end;
  }
  return policy;
}

/// A number with this many significant digits; any other text as it is.
std::string rounded(const std::string& text, int digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return text;
  std::string shorter = fmt::format("{:.{}g}", value, digits);
  // Rounding that only cuts zeros, or spells a whole number with an exponent, helps nobody.
  return shorter.size() < text.size() && shorter.find('e') == std::string::npos ? shorter : text;
}

std::string value_title(const std::string& value, int digits) {
  const PolicyText policy = parse_policy(value);
  if (policy.settings.empty()) return value;
  std::string list;
  for (const Setting& each : policy.settings)
    list += fmt::format("{}{} {}{}{}", list.empty() ? "" : ", ", in_words(each.name), rounded(each.value, digits),
                        each.unit.empty() ? "" : " ", each.unit);
  return fmt::format("{} ({})", policy.name, list);
}

}  // namespace

std::vector<std::string> key_titles(const std::vector<std::string>& keys) {
  std::vector<std::string> titles;
  for (const std::string& key : keys) {
    std::size_t parts = 1;
    const auto clashes = [&](const std::string& other) {
      return other != key && tail_of(other, parts) == tail_of(key, parts);
    };
    while (std::ranges::any_of(keys, clashes) && tail_of(key, parts).size() < key.size()) ++parts;
    titles.push_back(in_words(tail_of(key, parts)));
  }
  return titles;
}

std::vector<std::string> value_titles(const std::vector<std::string>& values) {
  constexpr int kFewest = 3, kMostPlain = 17;
  const std::set<std::string> distinct(values.begin(), values.end());
  std::vector<std::string> titles;
  for (int digits = kFewest; digits <= kMostPlain; ++digits) {
    titles.clear();
    for (const std::string& value : values) titles.push_back(value_title(value, digits));
    if (std::set<std::string>(titles.begin(), titles.end()).size() == distinct.size()) return titles;
  }
  return values;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto digits_at = [](std::string_view text, std::size_t from) {
      std::size_t end = from;
      while (end < text.size() && is_digit(text[end])) ++end;
      return text.substr(from, end - from);
    };
    const auto significant = [](std::string_view digits) {
      return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
    };
    const std::string_view first = digits_at(a, i), second = digits_at(b, j);
    const std::string_view x = significant(first), y = significant(second);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i += first.size(), j += second.size();
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;  // equal but for zeros in front
}

TimeUnit time_unit(double seconds) {
  struct Unit {
    double below;
    TimeUnit unit;
  };
  static constexpr Unit kUnits[] = {{1e-6, {"ns", 1e-9}}, {1e-3, {"us", 1e-6}}, {1, {"ms", 1e-3}},
                                    {120, {"s", 1}},      {7200, {"min", 60}},  {172800, {"h", 3600}}};
  if (seconds == 0) return {"s", 1};
  for (const Unit& each : kUnits)
    if (std::abs(seconds) < each.below) return each.unit;
  return {"d", 86400};
}

std::string time_text(double seconds) {
  const TimeUnit unit = time_unit(seconds);
  const double shown = seconds / unit.length;
  return unit.name == "d" ? fmt::format("{:g} d", shown) : fmt::format("{:.3g} {}", shown, unit.name);
}

std::string capitalised(std::string text) {
  if (!text.empty() && is_lower(text[0])) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace contend
