#include "traces/site_rates.hpp"

#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 6> kRateColumns = {"site",      "hour",      "price_per_kwh",
                                                          "g_per_kwh", "l_per_kwh", "pue"};
constexpr std::size_t kPue = 5;
constexpr std::string_view kPerKwh = "_per_kwh";
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::int64_t kMostRate = 1'000'000 * kBillion;
constexpr std::array kLists = {&SiteRates::price, &SiteRates::carbon, &SiteRates::water};  // of columns 2 to 4

/// The currency in the name of the column of prices, which then has its usual name.
std::string take_currency(CsvTable& table) {
  for (std::string& name : table.header) {
    const bool is_known = std::ranges::find(kRateColumns, name) != kRateColumns.end();
    if (is_known || !name.ends_with(kPerKwh) || name.size() == kPerKwh.size()) continue;
    std::string currency = name.substr(0, name.size() - kPerKwh.size());
    name = kRateColumns[2];
    return currency;
  }
  return {};
}

class RatesReader {
 public:
  RatesReader(CsvTable table, const std::string& file) : file_{file} {
    read_.currency = take_currency(table);
    columns_ = find_named_columns(table, kRateColumns, file, complaints_, 2);
    if (complaints_.empty() && columns_[2] == kNoColumn && columns_[3] == kNoColumn && columns_[4] == kNoColumn)
      complaints_.add({.file = file, .line = 1, .reason = "no rates: expected USD_per_kwh, g_per_kwh or l_per_kwh"});
    complaints_.throw_if_any();
    for (const CsvRow& row : table.rows) read(row);
    if (complaints_.empty() && read_.sites.empty())
      complaints_.add({.file = file, .line = 1, .reason = "no rows: expected a site and its hour 0"});
    complaints_.throw_if_any();
  }
  [[nodiscard]] SiteRatesTable taken() { return std::move(read_); }

 private:
  double number(const CsvRow& row, std::size_t column) {
    return static_cast<double>(
               read_billionths(row, columns_[column], kRateColumns[column], kMostRate, file_, complaints_)) /
           static_cast<double>(kBillion);
  }

  void complain(const CsvRow& row, std::size_t column, std::string reason) {
    complaints_.add(
        {.file = file_, .line = row.line, .key = std::string{kRateColumns[column]}, .reason = std::move(reason)});
  }

  void read(const CsvRow& row) {
    const std::string& name = row.fields[columns_[0]];
    if (name.empty()) return complain(row, 0, "expected the name of a site, got nothing");
    auto site = std::ranges::find(read_.sites, name, &SiteRates::name);
    const bool is_new = site == read_.sites.end();
    if (is_new) {
      SiteRates fresh;
      fresh.name = name;
      site = read_.sites.insert(site, std::move(fresh));
      hours_.push_back(0);
    }
    const auto next = hours_[static_cast<std::size_t>(site - read_.sites.begin())]++;
    if (const std::string& hour = row.fields[columns_[1]]; hour != fmt::format("{}", next))
      complain(row, 1,
               fmt::format("expected hour {} of \"{}\", got {}: hours follow each other from 0", next, name, hour));
    for (std::size_t i = 0; i < kLists.size(); ++i)
      if (columns_[i + 2] != kNoColumn) ((*site).*kLists[i]).push_back(number(row, i + 2));
    if (columns_[kPue] == kNoColumn) return;
    const double pue = number(row, kPue);
    if (pue < 1) complain(row, kPue, "expected a number >= 1");
    if (!is_new && pue != site->pue) complain(row, kPue, "expected one value for all hours of a site");
    site->pue = pue;
  }

  const std::string& file_;
  Complaints complaints_;
  std::array<std::size_t, kRateColumns.size()> columns_{};
  SiteRatesTable read_;
  std::vector<std::int64_t> hours_;  // by site: rows so far
};

}  // namespace

SiteRatesTable parse_site_rates(std::string_view text, const std::string& file) {
  return RatesReader{parse_csv(text, file), file}.taken();
}

SiteRatesTable read_site_rates(const std::string& path) {
  return parse_site_rates(read_file(path), path);
}

}  // namespace contend
