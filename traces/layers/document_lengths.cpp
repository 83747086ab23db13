#include "traces/layers/document_lengths.hpp"

#include "text/csv.hpp"
#include "text/file_complaints.hpp"
#include "traces/layers/csv_columns.hpp"

#include <fmt/core.h>

namespace contend {

std::vector<std::pair<std::int64_t, double>> parse_document_lengths(std::string_view text, const std::string& file) {
  const CsvTable table = parse_csv(text, file);
  FileComplaints complaints{file};
  const CsvColumns columns{table, {"tokens", "documents"}, {"tokens", "documents"}, complaints, "length"};
  complaints.throw_if_any();
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::vector<std::pair<std::int64_t, double>> lengths;
  std::int64_t before = 0;
  double sum = 0;
  for (const CsvRow& row : table.rows) {
    const std::int64_t faults = complaints.count();
    const std::int64_t tokens = columns.whole(row, "tokens", 1, kMost);
    const std::int64_t documents = columns.whole(row, "documents", 0, kMost);
    if (complaints.count() > faults) continue;
    if (tokens <= before)
      complaints.add({row.line, 0}, "tokens", fmt::format("{} is not more than {} in the row before", tokens, before));
    before = tokens;
    sum += static_cast<double>(documents);
    if (documents > 0) lengths.emplace_back(tokens, sum);
  }
  complaints.throw_if_any();
  if (lengths.empty())
    complaints.fail({}, "documents", "there is no document", "give the number of documents of each length");
  return lengths;
}

}  // namespace contend
