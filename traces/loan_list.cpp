#include "traces/loan_list.hpp"

#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::array<std::string_view, 3> kLoanColumns = {"time_s", "lent", "load"};
constexpr std::int64_t kWholeLoad = 1'000'000'000;

}  // namespace

int lent_at_load(int servers, std::int64_t load, std::int64_t headroom) {
  return static_cast<int>(servers * std::max<std::int64_t>(0, kWholeLoad - load - headroom) / kWholeLoad);
}

std::vector<LoanChange> parse_loan_list(std::string_view text, const std::string& file, int servers,
                                        std::int64_t headroom, Time period) {
  const CsvTable table = parse_csv(text, file);
  Complaints complaints;
  const auto [time, lent, load] = find_named_columns(table, kLoanColumns, file, complaints, 1);
  if (complaints.empty() && (lent == kNoColumn) == (load == kNoColumn))
    complaints.add(
        {.file = file,
         .line = 1,
         .reason = lent == kNoColumn ? "no column \"lent\" or \"load\"" : "both columns \"lent\" and \"load\"",
         .hint = "lent: servers; load: the part of the servers that their owner needs"});
  complaints.throw_if_any();
  std::vector<LoanChange> changes;
  for (const CsvRow& row : table.rows) {
    const auto complain = [&](std::string_view key, std::string reason) {
      complaints.add({.file = file, .line = row.line, .key = std::string{key}, .reason = std::move(reason)});
    };
    const Time at = read_seconds(row, time, kLoanColumns[0], file, complaints);
    std::int64_t count = 0;
    if (lent == kNoColumn) {
      count =
          lent_at_load(servers, read_billionths(row, load, kLoanColumns[2], kWholeLoad, file, complaints), headroom);
    } else {
      const std::int64_t billionths =
          read_billionths(row, lent, kLoanColumns[1], std::int64_t{servers} * kWholeLoad, file, complaints);
      if (billionths % kWholeLoad != 0)
        complain(kLoanColumns[1], fmt::format("expected whole servers, got {}", row.fields[lent]));
      count = billionths / kWholeLoad;
    }
    if (!complaints.empty()) continue;  // what the rest means depends on this row
    if (changes.empty() && at != Time{})
      complain(kLoanColumns[0], fmt::format("expected 0 in the first row, got {}", row.fields[time]));
    if (!changes.empty() && at <= changes.back().at)
      complain(kLoanColumns[0], fmt::format("expected rising times, got {}", row.fields[time]));
    if (at >= period)
      complain(kLoanColumns[0], fmt::format("expected a time before the end of loans.period, {:g} s, got {}",
                                            period.to_seconds(), row.fields[time]));
    changes.push_back({at, static_cast<int>(count)});
  }
  if (complaints.empty() && changes.empty())
    complaints.add({.file = file, .line = 1, .reason = "no rows: expected at least one, of time 0"});
  complaints.throw_if_any();
  return changes;
}

std::vector<LoanChange> read_loan_list(const std::string& path, int servers, std::int64_t headroom, Time period) {
  return parse_loan_list(read_file(path), path, servers, headroom, period);
}

}  // namespace contend
