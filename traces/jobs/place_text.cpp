#include "traces/jobs/place_text.hpp"

#include "traces/jobs/trace_table.hpp"

#include <charconv>
#include <system_error>

namespace contend {
namespace {

/// Takes a whole number from the front of the text.
std::optional<std::uint32_t> take_index(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > static_cast<std::uint32_t>(TraceTable::kMaxGpus)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_text(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::optional<PlacePart> parse_place_part(std::string_view text) {
  PlacePart part;
  if (!take_text(text, "server")) return std::nullopt;
  const std::optional<std::uint32_t> server = take_index(text);
  if (!server) return std::nullopt;
  part.server = *server;
  if (text.empty()) return part;
  if (!take_text(text, ":")) return std::nullopt;
  const std::optional<std::uint32_t> first = take_index(text);
  if (!first) return std::nullopt;
  part.first = *first;
  part.last = first;
  if (take_text(text, "-")) part.last = take_index(text);
  if (!part.last || *part.last < part.first || !text.empty()) return std::nullopt;
  return part;
}

}  // namespace contend
