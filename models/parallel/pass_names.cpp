#include "models/parallel/pass_names.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace contend {
namespace {

/// Takes a number off the front.
std::optional<int> taken_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<NamedPass> pass_of(std::string_view text) {
  static constexpr std::pair<std::string_view, PassKind> kLetters[] = {{"F", PassKind::forward},
                                                                       {"Bi", PassKind::backward_input},
                                                                       {"B", PassKind::backward},
                                                                       {"W", PassKind::backward_weight}};
  for (const auto& [letters, kind] : kLetters) {
    if (!take(text, letters)) continue;
    const std::optional<int> micro_batch = taken_number(text);
    if (!micro_batch || !take(text, ".")) return {};
    const std::optional<int> chunk = taken_number(text);
    if (!chunk || !take(text, " stage ")) return {};
    const std::optional<int> stage = taken_number(text);
    if (!stage || !(text.empty() || text.front() == ' ')) return {};
    return NamedPass{{kind, *chunk, *micro_batch}, *stage};
  }
  return {};
}

}  // namespace

std::vector<NamedPass> passes_of_name(std::string_view name) {
  static constexpr std::string_view kAnd = " + ";
  std::vector<NamedPass> passes;
  while (true) {
    const std::size_t end = name.find(kAnd);
    const std::optional<NamedPass> pass = pass_of(name.substr(0, end));
    if (!pass) return {};
    passes.push_back(*pass);
    if (end == std::string_view::npos) return passes;
    name.remove_prefix(end + kAnd.size());
  }
}

}  // namespace contend
