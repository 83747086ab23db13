#include "traces/spot_trace.hpp"

#include "sim/complaints.hpp"
#include "text/csv.hpp"
#include "traces/named_columns.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kAdd = "add", kRemove = "remove";
constexpr std::string_view kHeader = "time_ms,change,node\n";

}  // namespace

bool is_spot_trace(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t first = line.find(',');
  if (first == std::string_view::npos) return false;
  const std::string_view change = line.substr(first + 1, line.find(',', first + 1) - first - 1);
  return change == kAdd || change == kRemove;
}

std::vector<Outage> parse_spot_trace(std::string_view text, const std::string& file, int servers, int gpus_per_server) {
  CsvTable table = parse_csv(std::string{kHeader}.append(text), file);
  Complaints complaints;
  const auto count = static_cast<std::uint32_t>(servers), width = static_cast<std::uint32_t>(gpus_per_server);
  std::set<std::uint32_t> free;
  for (std::uint32_t s = 0; s < count; ++s) free.insert(s);
  std::vector<std::optional<Time>> gone(count, Time{});  // by server: since when it has no node
  std::map<std::string, std::uint32_t, std::less<>> server_of;
  std::vector<std::vector<Outage>> outages(count);
  Time last;
  for (CsvRow& row : table.rows) {
    --row.line;  // the header is ours
    const auto complain = [&](const char* key, std::string reason, std::string hint = {}) {
      complaints.add(
          {.file = file, .line = row.line, .key = key, .reason = std::move(reason), .hint = std::move(hint)});
    };
    constexpr std::int64_t kLatest = 100LL * 86'400 * 1'000 * 1'000'000'000;  // 100 days in billionths of ms
    const std::int64_t billionths = read_billionths(row, 0, "time_ms", kLatest, file, complaints);
    if (!complaints.empty()) continue;  // what the rest means depends on this row
    const Time at = Time::nanoseconds(billionths / 1'000);
    const std::string &change = row.fields[1], &node = row.fields[2];
    if (at < last) complain("time_ms", fmt::format("expected rows in order of time, got {} ms", row.fields[0]));
    last = at;
    const auto known = server_of.find(node);
    if (change == kAdd && known == server_of.end()) {
      if (free.empty()) {
        complain("node", fmt::format("the cluster has {} servers, and all have a node when {} comes", servers, node),
                 "more cluster.servers");
        continue;
      }
      const std::uint32_t server = *free.begin();
      free.erase(free.begin());
      server_of.emplace(node, server);
      const Time since = *std::exchange(gone[server], std::nullopt);
      if (since < at) outages[server].push_back({since, at, server * width, (server + 1) * width});
    } else if (change == kRemove && known != server_of.end()) {
      gone[known->second] = at;
      free.insert(known->second);
      server_of.erase(known);
    } else if (change == kAdd || change == kRemove) {
      complain("node", fmt::format("{} is {} when it is to be {}", node, change == kAdd ? "there" : "not there",
                                   change == kAdd ? "added" : "removed"));
    } else {
      complain("change", fmt::format("expected add or remove, got \"{}\"", change));
    }
  }
  complaints.throw_if_any();
  std::vector<Outage> all;
  for (std::uint32_t s = 0; s < count; ++s) {
    if (gone[s]) outages[s].push_back({*gone[s], Time::never(), s * width, (s + 1) * width});
    all.insert(all.end(), outages[s].begin(), outages[s].end());
  }
  return all;
}

}  // namespace contend
