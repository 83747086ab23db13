#include "traces/link_matrix_csv.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 5> kMatrixColumns = {"from", "to", "latency_ms", "mbps", "relay"};
constexpr std::size_t kMatrixRequired = 4;
constexpr int kMillionths = 6;  // ms to ns, Mbit/s to bit/s
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kLongestLatency = 3'600'000 * kMillion;  // an hour in ns
constexpr std::int64_t kFastest = 1'000'000'000 * kMillion;     // 1000 Tbit/s
constexpr std::size_t kMaxSites = 1000;

using LinkColumns = std::array<std::size_t, kMatrixColumns.size()>;

LinkColumns find_columns(const CsvTable& table, FileComplaints& complaints) {
  const LinkColumns columns = find_named_columns(table, kMatrixColumns, complaints, kMatrixRequired);
  if (table.rows.empty()) complaints.add({1, 0}, "", "the table has no links");
  complaints.throw_if_any();
  return columns;
}

/// In units of 10^-6, from `minimum` to `maximum`.
std::optional<std::int64_t> read_number(const CsvRow& row, std::size_t column, std::size_t name, std::int64_t minimum,
                                        std::int64_t maximum, FileComplaints& complaints) {
  const std::string& text = row.fields[column];
  const std::string key{kMatrixColumns[name]};
  const std::string wanted =
      fmt::format("expected a number {} 0 and at most {}", minimum == 0 ? "from" : "above", maximum / kMillion);
  const ScaledDecimal number = parse_scaled(text, kMillionths);
  if (number.error == DecimalError::none && number.value >= minimum && number.value <= maximum) return number.value;
  complaints.add({row.line, 0}, key, fmt::format("{}, got \"{}\"", wanted, text));
  return std::nullopt;
}

struct Row {
  std::size_t from = 0, to = 0;
  SiteLink link;
};

/// A pair whose messages a relay passes on: its own latency, and the most that it passes on.
struct RelayedRow {
  int line = 0;
  std::size_t from = 0, to = 0;
  std::string relay;
  Time latency{};
  std::optional<ByteRate> rate{};
};

class MatrixReader {
 public:
  MatrixReader(const CsvTable& table, const std::string& file) : complaints_{file} {
    const LinkColumns columns = find_columns(table, complaints_);
    for (const CsvRow& row : table.rows) read(row, columns);
    if (sites_.size() > kMaxSites)
      complaints_.add({}, "", fmt::format("{} sites, expected at most {}", sites_.size(), kMaxSites));
    for (const RelayedRow& row : relayed_) join(row);
    complaints_.throw_if_any();
  }

  [[nodiscard]] LinkMatrix matrix() const {
    LinkMatrix matrix{sites_};
    for (const Row& row : rows_) matrix.set(row.from, row.to, row.link);
    return matrix;
  }

 private:
  void read(const CsvRow& row, const LinkColumns& columns) {
    const std::string &from = row.fields[columns[0]], &to = row.fields[columns[1]];
    const std::string relay = columns[4] == kNoColumn ? "" : row.fields[columns[4]];
    const auto number = [&](std::size_t name, std::int64_t least, std::int64_t most) -> std::optional<std::int64_t> {
      if (!relay.empty() && row.fields[columns[name]].empty()) return std::nullopt;
      return read_number(row, columns[name], name, least, most, complaints_);
    };
    const auto latency = number(2, 0, kLongestLatency), bits = number(3, 1, kFastest);
    if (from.empty() || to.empty()) {
      complaints_.add({row.line, 0}, from.empty() ? "from" : "to", "expected the name of a site, got nothing");
      return;
    }
    if (from == to) {
      complaints_.add({row.line, 0}, "to", fmt::format("a link from \"{}\" to itself", from));
      return;
    }
    const auto [first, is_new] = line_of_.emplace(std::pair{from, to}, row.line);
    if (!is_new) {
      complaints_.add({row.line, 0}, "to",
                      fmt::format("the link from \"{}\" to \"{}\" is on line {} already", from, to, first->second));
      return;
    }
    const std::size_t a = site(from), b = site(to);
    const auto rate_of = [](std::int64_t its) { return ByteRate{static_cast<double>(its) / 8}; };
    if (!relay.empty()) {
      RelayedRow relayed{row.line, a, b, relay, Time::nanoseconds(latency.value_or(0))};
      if (bits) relayed.rate = rate_of(*bits);
      relayed_.push_back(std::move(relayed));
      return;
    }
    if (!latency || !bits) return;
    rows_.push_back({a, b, {Time::nanoseconds(*latency), rate_of(*bits)}});
  }

  /// Adds the link that both legs make.
  void join(const RelayedRow& row) {
    const auto relay = number_of_.find(row.relay);
    const auto leg = [&](std::size_t from, std::size_t to) {
      return std::ranges::find_if(direct_, [&](const Row& each) { return each.from == from && each.to == to; });
    };
    if (direct_.empty()) direct_ = rows_;
    const auto first = relay == number_of_.end() ? direct_.end() : leg(row.from, relay->second);
    const auto second = relay == number_of_.end() ? direct_.end() : leg(relay->second, row.to);
    if (first == direct_.end() || second == direct_.end()) {
      complaints_.add(
          {row.line, 0}, "relay",
          fmt::format("\"{}\" has no link of its own {} \"{}\"", row.relay, first == direct_.end() ? "from" : "to",
                      sites_[first == direct_.end() ? row.from : row.to]));
      return;
    }
    ByteRate rate = first->link.rate;
    for (const ByteRate other : {second->link.rate, row.rate.value_or(rate)})
      if (other.bytes_per_second() < rate.bytes_per_second()) rate = other;
    rows_.push_back({row.from, row.to, {first->link.latency + second->link.latency + row.latency, rate}});
  }

  std::size_t site(const std::string& name) {
    const auto [known, is_new] = number_of_.emplace(name, sites_.size());
    if (is_new) sites_.push_back(name);
    return known->second;
  }

  FileComplaints complaints_;
  std::vector<std::string> sites_;
  std::map<std::string, std::size_t, std::less<>> number_of_;
  std::map<std::pair<std::string, std::string>, int> line_of_;
  std::vector<Row> rows_, direct_;  // of the matrix; without those over relays
  std::vector<RelayedRow> relayed_;
};

}  // namespace

LinkMatrix parse_link_matrix(std::string_view text, const std::string& file) {
  return MatrixReader{parse_csv(text, file), file}.matrix();
}

LinkMatrix read_link_matrix(const std::string& path) {
  return parse_link_matrix(read_file(path), path);
}

}  // namespace contend
