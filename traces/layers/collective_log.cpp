#include "traces/layers/collective_log.hpp"

#include "traces/csv.hpp"
#include "traces/layers/byte_source.hpp"
#include "traces/layers/complaints.hpp"
#include "traces/layers/csv_columns.hpp"

#include <algorithm>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr int kMicroseconds = 3;
constexpr std::string_view kBlank = " \t\r";

Time read_latency(std::string_view text, TextPlace place, FileComplaints& complaints) {
  const std::int64_t before = complaints.count();
  const Time time = read_layer_time(text, kMicroseconds, place, "latency", complaints);
  if (complaints.count() == before && time == Time{}) complaints.add(place, "latency", "expected a time > 0, got 0");
  return time;
}

/// Takes the next word off a line; `place` moves with it.
std::string_view next_word(std::string_view& line, TextPlace& place) {
  const std::size_t begin = std::min(line.find_first_not_of(kBlank), line.size());
  place.column += static_cast<int>(begin);
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

CollectiveSample read_osu_row(std::string_view line, TextPlace place, FileComplaints& complaints) {
  CollectiveSample sample;
  std::string_view size = next_word(line, place);
  TextPlace at = place;
  if (const std::size_t comma = size.find(','); comma != std::string_view::npos) {
    sample.ranks = static_cast<int>(read_whole(size.substr(0, comma), 1, INT_MAX, at, "ranks", complaints));
    size.remove_prefix(comma + 1);
    at.column += static_cast<int>(comma) + 1;
    place.column += static_cast<int>(comma) + 1;
  }
  sample.size = Bytes{read_whole(size, 0, kMaxElements, at, "size", complaints)};
  place.column += static_cast<int>(size.size());
  const std::string_view latency = next_word(line, place);
  sample.time = read_latency(latency, place, complaints);
  place.column += static_cast<int>(latency.size());
  if (!next_word(line, place).empty()) complaints.add(place, "", "expected `SIZE LATENCY` and nothing behind it");
  return sample;
}

std::vector<CollectiveSample> parse_osu(std::string_view text, FileComplaints& complaints) {
  std::vector<CollectiveSample> samples;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos || line[first] == '#') continue;
    samples.push_back(read_osu_row(line, {line_number, 1}, complaints));
    if (samples.back().ranks != samples.front().ranks)
      complaints.add({line_number, 1}, "ranks", "expected the same number of ranks as in the first row");
  }
  return samples;
}

std::vector<CollectiveSample> parse_table(std::string_view text, const std::string& file, FileComplaints& complaints) {
  const CsvTable table = parse_csv(text, file);
  const std::vector<std::string> names{"node_num", "job_num", "msg_size", "avg_latency"};
  const CsvColumns columns{table, names, names, complaints};
  complaints.throw_if_any();
  std::vector<CollectiveSample> samples;
  for (const CsvRow& row : table.rows) {
    CollectiveSample sample;
    sample.ranks = static_cast<int>(columns.whole(row, "node_num", 1, INT_MAX));
    sample.jobs = static_cast<int>(columns.whole(row, "job_num", 1, INT_MAX));
    sample.size = Bytes{columns.whole(row, "msg_size", 0, kMaxElements)};
    sample.time = read_latency(columns.field(row, "avg_latency"), {row.line, 0}, complaints);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

std::vector<CollectiveSample> parse_collective_log(std::string_view text, const std::string& file) {
  FileComplaints complaints{file};
  const std::string_view header = text.substr(0, text.find('\n'));
  std::vector<CollectiveSample> samples = header.find("msg_size") != std::string_view::npos
                                              ? parse_table(text, file, complaints)
                                              : parse_osu(text, complaints);
  if (samples.empty() && complaints.empty()) complaints.add({}, "", "the log has no samples");
  complaints.throw_if_any();
  return samples;
}

std::vector<CollectiveSample> read_collective_log(const std::string& path) {
  return parse_collective_log(read_all(*open_file(path)), path);
}

}  // namespace contend
