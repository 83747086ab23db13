// The small languages in Slurm's fields: lists of hosts and of generic resources.
#include "text/decimal.hpp"
#include "traces/cluster/snapshot.hpp"
#include "traces/cluster/snapshot_parts.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostHosts = 100'000;

/// Splits at commas that stand outside of brackets of this kind.
std::vector<std::string_view> split_outside(std::string_view text, char open, char close) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == open) ++depth;
    if (i < text.size() && text[i] == close && depth > 0) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (i > begin) parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

/// Appends what a name with brackets stands for: the first brackets are replaced, then those behind.
bool expand_host(const std::string& prefix, std::string_view rest, std::vector<std::string>& hosts) {
  const std::size_t open = rest.find('[');
  if (open == std::string_view::npos) {
    hosts.push_back(prefix + std::string{rest});
    return hosts.size() <= kMostHosts;
  }
  const std::size_t close = rest.find(']', open);
  if (close == std::string_view::npos) return false;
  const std::string before = prefix + std::string{rest.substr(0, open)};
  for (const std::string_view range : split_outside(rest.substr(open + 1, close - open - 1), '(', ')')) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash), high = dash == range.npos ? low : range.substr(dash + 1);
    const ScaledDecimal first = parse_integer(low), last = parse_integer(high);
    if (first.error != DecimalError::none || last.error != DecimalError::none || first.value < 0 ||
        last.value < first.value || last.value - first.value > static_cast<std::int64_t>(kMostHosts))
      return false;
    for (std::int64_t number = first.value; number <= last.value; ++number)
      if (!expand_host(before + fmt::format("{:0{}}", number, low.size()), rest.substr(close + 1), hosts)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> slurm_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view host : split_outside(list, '[', ']'))
    if (!expand_host("", host, hosts)) return std::nullopt;
  return hosts;
}

std::optional<GresGpus> slurm_gres(std::string_view list) {
  GresGpus all;
  for (std::string_view entry : split_outside(list, '(', ')')) {
    entry = entry.substr(0, entry.find('('));
    if (entry.starts_with("gres/")) entry.remove_prefix(5);
    if (entry.starts_with("gres:")) entry.remove_prefix(5);
    if (entry != "gpu" && !entry.starts_with("gpu:")) continue;
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string_view::npos) {
      all.gpus += 1;
      continue;
    }
    const ScaledDecimal number = parse_integer(entry.substr(colon + 1));
    if (number.error != DecimalError::none || number.value < 0 || number.value > 1'000'000) return std::nullopt;
    all.gpus += number.value;
    if (colon == 3) continue;
    const std::string type{entry.substr(4, colon - 4)};
    if (!all.type.empty() && all.type != type) all.type += '/';
    if (!all.type.ends_with(type)) all.type += type;
  }
  return all;
}

bool is_out_of_service(std::string_view states) {
  static constexpr std::string_view kOut[] = {"DOWN", "DRAIN", "FAIL", "FUTURE", "INVAL", "NOT_RESPONDING", "MAINT"};
  std::string upper{states};
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  const std::vector<std::string> words = split_words(upper, '+');
  return std::ranges::any_of(words, [](const std::string& word) {
    if (word.starts_with("POWER")) return false;
    return word.find('*') != std::string::npos ||
           std::ranges::any_of(kOut, [&](std::string_view each) { return word.starts_with(each); });
  });
}

}  // namespace contend
