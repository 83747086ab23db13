#include "traces/link_matrix_csv.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"
#include "traces/named_columns.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 4> kMatrixColumns = {"from", "to", "latency_ms", "mbps"};
constexpr int kMillionths = 6;  // ms to ns, Mbit/s to bit/s
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kLongestLatency = 3'600'000 * kMillion;  // an hour in ns
constexpr std::int64_t kFastest = 1'000'000'000 * kMillion;     // 1000 Tbit/s
constexpr std::size_t kMaxSites = 1000;

using LinkColumns = std::array<std::size_t, kMatrixColumns.size()>;

LinkColumns find_columns(const CsvTable& table, FileComplaints& complaints) {
  const LinkColumns columns = find_named_columns(table, kMatrixColumns, complaints);
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

class MatrixReader {
 public:
  MatrixReader(const CsvTable& table, const std::string& file) : complaints_{file} {
    const LinkColumns columns = find_columns(table, complaints_);
    for (const CsvRow& row : table.rows) read(row, columns);
    if (sites_.size() > kMaxSites)
      complaints_.add({}, "", fmt::format("{} sites, expected at most {}", sites_.size(), kMaxSites));
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
    const auto latency = read_number(row, columns[2], 2, 0, kLongestLatency, complaints_);
    const auto bits = read_number(row, columns[3], 3, 1, kFastest, complaints_);
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
    if (!latency || !bits) return;
    rows_.push_back({a, b, {Time::nanoseconds(*latency), ByteRate{static_cast<double>(*bits) / 8}}});
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
  std::vector<Row> rows_;
};

}  // namespace

LinkMatrix parse_link_matrix(std::string_view text, const std::string& file) {
  return MatrixReader{parse_csv(text, file), file}.matrix();
}

LinkMatrix read_link_matrix(const std::string& path) {
  return parse_link_matrix(read_file(path), path);
}

}  // namespace contend
