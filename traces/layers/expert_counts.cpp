#include "traces/layers/expert_counts.hpp"

#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/layers/csv_columns.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

namespace contend {

std::vector<double> parse_expert_counts(std::string_view text, const std::string& file, std::int64_t experts) {
  const CsvTable table = parse_csv(text, file);
  FileComplaints complaints{file};
  const CsvColumns columns{table, {"expert", "tokens"}, {"expert", "tokens"}, complaints, "expert"};
  complaints.throw_if_any();
  constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;
  std::vector<std::optional<double>> tokens(static_cast<std::size_t>(experts));
  for (const CsvRow& row : table.rows) {
    const std::int64_t faults = complaints.count();
    const std::int64_t expert = columns.whole(row, "expert", 0, experts - 1);
    const std::int64_t count = columns.whole(row, "tokens", 0, kMostTokens);
    if (complaints.count() > faults) continue;
    std::optional<double>& known = tokens[static_cast<std::size_t>(expert)];
    if (known) complaints.add({row.line, 0}, "expert", fmt::format("expert {} has a row already", expert));
    known = static_cast<double>(count);
  }
  complaints.throw_if_any();
  std::vector<double> read;
  for (std::size_t expert = 0; expert < tokens.size(); ++expert) {
    if (!tokens[expert])
      complaints.fail({}, "expert", fmt::format("no row for expert {}: the model has {} experts", expert, experts));
    read.push_back(*tokens[expert]);
  }
  if (std::ranges::all_of(read, [](double count) { return count == 0; }))
    complaints.fail({}, "tokens", "every expert has 0 tokens", "give the tokens that each expert was given");
  return read;
}

}  // namespace contend
