#include "traces/layers/collective_log.hpp"

#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/words.hpp"
#include "traces/layers/collective_text.hpp"
#include "traces/layers/csv_columns.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::vector<std::string> exchange_names() {
  std::vector<std::string> names;
  for (const TimedExchange each : timed_exchanges()) names.emplace_back(to_string(each));
  return names;
}

/// The columns of a table by meaning; empty if there is no such column.
struct TableColumns {
  std::string exchange, ranks, jobs, bytes, time;
};

TableColumns dreamddp_columns(const CsvTable& table, FileComplaints& complaints) {
  const std::vector<std::string> names{"node_num", "job_num", "msg_size", "avg_latency"};
  static_cast<void>(CsvColumns{table, names, names, complaints, "measurement"});
  complaints.throw_if_any();
  return {"", names[0], names[1], names[2], names[3]};
}

TableColumns own_columns(const CsvTable& table, FileComplaints& complaints) {
  std::vector<std::string> known = time_columns("time");
  known.insert(known.end(), {"collective", "ranks", "jobs", "bytes"});
  const CsvColumns columns{table, known, {"bytes"}, complaints, "measurement"};
  const std::string time = columns.time_column("time");
  if (time.empty()) complaints.add({1, 0}, "", "no column \"time_us\" (or time_ns, time_ms, time_s)");
  complaints.throw_if_any();
  const auto if_given = [&](const std::string& name) { return columns.has(name) ? name : std::string{}; };
  return {if_given("collective"), if_given("ranks"), if_given("jobs"), "bytes", time};
}

CollectiveLog parse_table(std::string_view text, const CollectiveReadOptions& options, FileComplaints& complaints) {
  LogLines first{text};
  if (first.next() && first.line().find(',') == std::string_view::npos)
    complaints.fail({first.number(), 1}, "",
                    fmt::format("expected a table with the columns bytes, time_us and perhaps collective, ranks, jobs, "
                                "got {}",
                                quoted_line(first.line())));
  const CsvTable table = parse_csv(text, complaints.file());
  const bool dreamddp = std::ranges::find(table.header, "msg_size") != table.header.end();
  const TableColumns names = dreamddp ? dreamddp_columns(table, complaints) : own_columns(table, complaints);
  const CsvColumns columns{table, table.header, {}, complaints, "measurement"};
  CollectiveLog log;
  for (const CsvRow& row : table.rows) {
    const TextPlace place{row.line, 0};
    CollectiveSample sample;
    std::optional<TimedExchange> exchange;
    if (dreamddp) exchange = TimedExchange::all_reduce;
    if (!names.exchange.empty()) {
      const std::string& name = columns.field(row, names.exchange);
      exchange = timed_exchange_named(name);
      if (!exchange)
        complaints.add(place, names.exchange, fmt::format("unknown collective \"{}\"", name),
                       did_you_mean(name, exchange_names()));
    }
    if (exchange || names.exchange.empty()) sample.exchange = exchange_of(exchange, options, log);
    if (!names.ranks.empty()) sample.ranks = static_cast<int>(columns.whole(row, names.ranks, 1, INT_MAX));
    sample.ranks = ranks_of(sample.ranks, options, log);
    if (!names.jobs.empty()) sample.jobs = static_cast<int>(columns.whole(row, names.jobs, 1, INT_MAX));
    sample.size = Bytes{columns.whole(row, names.bytes, 0, kMaxElements)};
    if (dreamddp) {
      sample.time = read_latency(columns.field(row, names.time), place, complaints);
    } else {
      const std::int64_t before = complaints.count();
      sample.time = columns.time(row, names.time);
      if (complaints.count() == before && sample.time == Time{})
        complaints.add(place, names.time, "expected a time > 0, got 0");
    }
    log.samples.push_back(sample);
  }
  return log;
}

}  // namespace

namespace {

/// The length of the digits at the beginning.
std::size_t length_of_number(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// The length of what `mpirun --tag-output` or `srun --label` puts in front of a line; 0 if it is nothing.
std::size_t length_of_tag(std::string_view line) {
  constexpr std::string_view kStreams[] = {"<stdout>:", "<stderr>:", "<stddiag>:"};
  if (line.starts_with('[')) {
    const std::size_t end = line.find(']'), at = std::min(line.find('@'), end);
    if (end == std::string_view::npos) return 0;
    const std::size_t job = at == end ? 1 : at + 1, comma = job + length_of_number(line.substr(job));
    const bool is_tag =
        comma > job && line[comma] == ',' && length_of_number(line.substr(comma + 1)) == end - comma - 1;
    for (const std::string_view stream : kStreams)
      if (is_tag && line.substr(end + 1).starts_with(stream)) return end + 1 + stream.size();
    return 0;
  }
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return 0;
  const std::size_t colon = first + length_of_number(line.substr(first));
  if (colon == first || colon == line.size() || line[colon] != ':') return 0;
  return colon + 1 == line.size() || line[colon + 1] == ' ' || line[colon + 1] == '\r' ? colon + 1 : 0;
}

}  // namespace

bool LogLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    tag_ = length_of_tag(line_);
    line_.remove_prefix(tag_);
    if (line_.find_first_not_of(kBlank) != std::string_view::npos) return true;
  }
  return false;
}

bool LogLines::comment() const {
  return line_[line_.find_first_not_of(kBlank)] == '#';
}

std::vector<LogWord> words_of(const LogLines& lines) {
  std::vector<LogWord> words;
  const std::string_view line = lines.line();
  std::size_t at = lines.comment() ? line.find('#') + 1 : 0;
  while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back({line.substr(at, end - at), {lines.number(), static_cast<int>(lines.tag() + at) + 1}});
    at = end;
  }
  return words;
}

Time read_latency(std::string_view text, TextPlace place, FileComplaints& complaints) {
  const std::int64_t before = complaints.count();
  const Time time = read_layer_time(text, kMicroseconds, place, "latency", complaints);
  if (complaints.count() == before && time == Time{}) complaints.add(place, "latency", "expected a time > 0, got 0");
  return time;
}

std::string quoted_line(std::string_view line) {
  constexpr std::size_t kMost = 60;
  const std::size_t first = std::min(line.find_first_not_of(kBlank), line.size());
  line.remove_prefix(first);
  while (!line.empty() && kBlank.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
  return line.size() <= kMost ? fmt::format("\"{}\"", line) : fmt::format("\"{}...\"", line.substr(0, kMost));
}

int ranks_of(int in_log, const CollectiveReadOptions& options, CollectiveLog& log) {
  if (in_log > 0 || options.ranks == 0) return in_log;
  log.used_ranks = true;
  return options.ranks;
}

TimedExchange exchange_of(std::optional<TimedExchange> in_log, const CollectiveReadOptions& options,
                          CollectiveLog& log) {
  if (in_log) return *in_log;
  (options.exchange ? log.used_exchange : log.guessed_exchange) = true;
  return options.exchange.value_or(TimedExchange::all_reduce);
}

CollectiveLog parse_collective_log(std::string_view text, const std::string& file, CollectiveFormat format,
                                   const CollectiveReadOptions& options) {
  FileComplaints complaints{file};
  CollectiveLog log = format == CollectiveFormat::csv   ? parse_table(text, options, complaints)
                      : format == CollectiveFormat::osu ? parse_osu_log(text, options, complaints)
                                                        : parse_nccl_log(text, options, complaints);
  if (log.samples.empty() && complaints.empty()) complaints.add({}, "", "the log has no samples");
  complaints.throw_if_any();
  return log;
}

CollectiveLog read_collective_log(const std::string& path, CollectiveFormat format,
                                  const CollectiveReadOptions& options) {
  return parse_collective_log(read_all(*open_file(path)), path, format, options);
}

}  // namespace contend
