#pragma once
// Reads from CSV how many servers are lent to a cluster. One row a change; columns are found by name, in any order:
//   time_s   from the start of the run, in seconds, rising; the first row is of time 0
//   lent     servers that are lent from then on; or in its place
//   load     part of the owner's servers that it needs from then on, 0 to 1

#include "sim/loans.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Of so many servers those that are not needed at a load and a headroom in billionths of them: whole ones.
[[nodiscard]] int lent_at_load(int servers, std::int64_t load, std::int64_t headroom);

/// The changes in order. With a period they repeat, and all are before its end. Throws InputError with every bad row.
[[nodiscard]] std::vector<LoanChange> read_loan_list(const std::string& path, int servers, std::int64_t headroom,
                                                     Time period);
/// The same for text in memory; messages call it `file`.
[[nodiscard]] std::vector<LoanChange> parse_loan_list(std::string_view text, const std::string& file, int servers,
                                                      std::int64_t headroom, Time period);

}  // namespace contend
