#include "text/words.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace contend {

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

namespace {

/// The length of the UTF-8 sequence at the front of `text` (RFC 3629: shortest form, no surrogates); 0 if it is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string why_not_printable(std::string_view name) {
  if (name.find_first_not_of(' ') == std::string_view::npos) return "it is blank";
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = sequence_length(name.substr(at));
    if (length == 0) return fmt::format("byte {} is not UTF-8", at + 1);
    const auto first = static_cast<unsigned char>(name[at]);
    const bool is_c1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(name[at + 1]) < 0xA0;
    if (first < 0x20 || first == 0x7F || is_c1) {
      const unsigned code = is_c1 ? static_cast<unsigned char>(name[at + 1]) : first;
      return fmt::format("byte {} is the control character U+{:04X}", at + 1, code);
    }
    at += length;
  }
  return {};
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

namespace {

/// The letters, in lower case, and the numbers of a name, without what stands between them: `H100-SXM5` has h, 100, sxm
/// and 5.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  int last = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const int kind = std::isdigit(byte) != 0 ? 1 : std::isalpha(byte) != 0 ? 2 : 0;
    if (kind != 0 && kind != last) parts.emplace_back();
    if (kind != 0) parts.back() += static_cast<char>(std::tolower(byte));
    last = kind;
  }
  return parts;
}

/// The names that share the most parts at their beginnings with the word, if these are two at least and one of them is
/// a number: `gpt3-13b` is of the family of `gpt-3-175b`, and `h100-sxm5-80gb` of the family of `H100-SXM`.
std::vector<std::string> family_of(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string> wanted = parts_of(word);
  std::size_t most = 2;
  std::vector<std::string> family;
  for (const std::string& name : names) {
    const std::vector<std::string> parts = parts_of(name);
    const auto differ = std::ranges::mismatch(wanted, parts);
    const auto shared = static_cast<std::size_t>(differ.in1 - wanted.begin());
    const bool has_number = std::any_of(wanted.begin(), differ.in1, [](const std::string& part) {
      return std::isdigit(static_cast<unsigned char>(part.front())) != 0;
    });
    if (shared < most || !has_number) continue;
    if (shared > most) family.clear();
    most = shared;
    family.push_back(fmt::format("\"{}\"", name));
  }
  return family;
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  // A longer word is not a misspelt name, and its edit distance would take long to compute.
  constexpr std::size_t kLongestName = 64;
  constexpr std::size_t kShortestStart = 3, kFew = 4;
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    if (word.size() >= kShortestStart && same_but_for_case(word, std::string_view{name}.substr(0, word.size())))
      longer.push_back(fmt::format("\"{}\"", name));
  }
  if (!longer.empty() && longer.size() <= kFew) return fmt::format("did you mean {}?", join(longer, " or "));
  const std::string nearest = word.size() <= kLongestName ? nearest_name(word, names) : std::string{};
  if (!nearest.empty()) return fmt::format("did you mean \"{}\"?", nearest);
  constexpr std::size_t kLargestFamily = 8;
  const std::vector<std::string> family =
      word.size() <= kLongestName ? family_of(word, names) : std::vector<std::string>{};
  if (family.empty() || family.size() > kLargestFamily) return {};
  return fmt::format("did you mean {}?", join(family, " or "));
}

std::string spoken_time(double seconds) {
  // Each unit serves up to the largest number of it, as printed, that people say.
  struct Unit {
    double seconds, most;
    std::string_view name;
  };
  static constexpr Unit kUnits[] = {{1e-3, 999.5, "ms"}, {1, 119.5, "s"}, {60, 119.5, "min"}, {3600, 47.95, "h"}};
  constexpr Unit kLargest{86400, 0, "d"};
  const double size = std::abs(seconds);
  Unit unit = kLargest;
  for (const Unit& each : kUnits) {
    if (size < each.seconds * each.most) {
      unit = each;
      break;
    }
  }
  if (size == 0) unit = kUnits[1];
  const double number = seconds / unit.seconds;
  return std::abs(number) < 9.95 ? fmt::format("{:.2g} {}", number, unit.name)
                                 : fmt::format("{:.0f} {}", number, unit.name);
}

}  // namespace contend
