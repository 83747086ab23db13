#include "traces/failure_events.hpp"

#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/named_columns.hpp"
#include "traces/spot_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 7> kOutageColumns = {"down_s",        "up_s",    "component", "slows",
                                                            "slows_network", "drain_s", "found_by"};
constexpr std::size_t kRequired = 3;
constexpr std::string_view kServer = "server", kGpu = "gpu";

/// The number after a word such as `server`; nothing if the text is something else.
std::optional<std::uint32_t> number_after(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_empty(const CsvRow& row, std::size_t column) {
  return column == kNoColumn || row.fields[column].empty();
}

/// A factor from 1 to 1000, in thousandths, rounded down; empty, or no such column: 1.
std::int32_t read_factor(const CsvRow& row, std::size_t column, std::string_view name, const std::string& file,
                         Complaints& complaints) {
  if (is_empty(row, column)) return Slowdown::kFullPace;
  constexpr std::int64_t kThousandth = 1'000'000;
  const std::int64_t thousandths =
      read_billionths(row, column, name, Slowdown::kSlowest * kThousandth, file, complaints) / kThousandth;
  if (complaints.empty() && thousandths < Slowdown::kFullPace)
    complaints.add({.file = file,
                    .line = row.line,
                    .key = std::string{name},
                    .reason = fmt::format("expected a factor of the time from 1 to 1000, got {}", row.fields[column])});
  return static_cast<std::int32_t>(thousandths);
}

struct Gpus {
  std::uint32_t first = 0, last = 0;
};

/// The GPUs of a component; nothing if the cluster has no such component.
std::optional<Gpus> gpus_of(std::string_view component, std::uint32_t servers, std::uint32_t per_server) {
  const bool are_gpus = component.starts_with(kGpu);
  const std::string_view word = are_gpus ? kGpu : kServer;
  const std::size_t dash = component.find('-');
  const auto first = number_after(word, component.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_after(word, component.substr(dash + 1));
  const std::uint32_t gpus_of_each = are_gpus ? 1 : per_server;
  if (!first || !last || *first > *last || *last >= servers * per_server / gpus_of_each) return std::nullopt;
  return Gpus{*first * gpus_of_each, (*last + 1) * gpus_of_each};
}

/// Reads how an outage is found.
template <class Refuse>
void read_found_by(const std::string& word, Outage& outage, const Refuse& refuse) {
  const auto known = std::ranges::find(kFoundByWords, word, &FoundByWord::word);
  if (known == std::end(kFoundByWords))
    return refuse(fmt::format("expected exit-code, heartbeat, timeout or slowdown, got {}", word));
  outage.found_by = known->found_by;
  if (outage.drain) refuse("nobody has to find a planned outage: leave found_by or drain_s empty");
  if (outage.slows.has_value() != (known->found_by == FoundBy::slowdown))
    refuse(outage.slows ? "what only slows down is found by its slowdown, or by nobody"
                        : "slowdown finds what only slows down: give slows or slows_network");
}

}  // namespace

std::vector<Outage> parse_failure_events(std::string_view text, const std::string& file, int servers,
                                         int gpus_per_server) {
  if (is_spot_trace(text)) return parse_spot_trace(text, file, servers, gpus_per_server);
  const CsvTable table = parse_csv(text, file);
  Complaints complaints;
  const auto [down, up, component, slows, slows_network, drain, found_by] =
      find_named_columns(table, kOutageColumns, file, complaints, kRequired);
  complaints.throw_if_any();
  const auto refuse = [&](const CsvRow& row, const char* key, std::string reason) {
    complaints.add({.file = file, .line = row.line, .key = key, .reason = std::move(reason)});
  };
  std::vector<Outage> outages;
  for (const CsvRow& row : table.rows) {
    Outage outage;
    outage.from = read_seconds(row, down, kOutageColumns[0], file, complaints);
    outage.until = row.fields[up].empty() ? Time::never() : read_seconds(row, up, kOutageColumns[1], file, complaints);
    if (complaints.empty() && outage.until <= outage.from)
      refuse(row, "up_s", fmt::format("expected a time after down_s, {}, got {}", row.fields[down], row.fields[up]));
    const auto gpus = gpus_of(row.fields[component], static_cast<std::uint32_t>(servers),
                              static_cast<std::uint32_t>(gpus_per_server));
    if (gpus) {
      outage.first = gpus->first;
      outage.last = gpus->last;
    } else {
      complaints.add(
          {.file = file,
           .line = row.line,
           .key = "component",
           .reason = fmt::format("the cluster has no \"{}\"", row.fields[component]),
           .hint = fmt::format("server0 to server{}, gpu0 to gpu{}, or several such as server0-server1 or gpu0-gpu1",
                               servers - 1, servers * gpus_per_server - 1)});
    }
    if (!is_empty(row, slows) || !is_empty(row, slows_network)) {
      outage.slows = Slowdown{read_factor(row, slows, kOutageColumns[3], file, complaints),
                              read_factor(row, slows_network, kOutageColumns[4], file, complaints)};
    }
    if (!is_empty(row, drain)) {
      outage.drain = read_seconds(row, drain, kOutageColumns[5], file, complaints);
      if (complaints.empty() && *outage.drain > outage.from)
        refuse(row, "drain_s",
               fmt::format("expected a time up to down_s, {}, got {}", row.fields[down], row.fields[drain]));
      if (outage.slows) refuse(row, "drain_s", "what only slows down is not drained: leave drain_s or slows empty");
    }
    if (!is_empty(row, found_by)) {
      const auto refuse_word = [&](std::string reason) { refuse(row, "found_by", std::move(reason)); };
      read_found_by(row.fields[found_by], outage, refuse_word);
    }
    outages.push_back(outage);
  }
  complaints.throw_if_any();
  return outages;
}

std::vector<Outage> read_failure_events(const std::string& path, int servers, int gpus_per_server) {
  return parse_failure_events(read_file(path), path, servers, gpus_per_server);
}

}  // namespace contend
