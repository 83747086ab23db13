#include "traces/requests/request_trace.hpp"

#include "models/serving/prefix_cache.hpp"
#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/csv_header.hpp"
#include "text/file_complaints.hpp"
#include "text/json_reader.hpp"
#include "traces/jobs/timestamp.hpp"
#include "traces/named_columns.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kMostTokens = INT32_MAX;
constexpr std::array<std::string_view, 4> kAzureColumns = {"TIMESTAMP", "ContextTokens", "GeneratedTokens",
                                                           "NumImages"};
constexpr std::array<std::string_view, 5> kOwnColumns = {"arrival", "prompt", "answer", "prefix", "hits"};

class TraceReader {
 public:
  explicit TraceReader(const std::string& file) : complaints_{file} {}

  RequestTrace take() {
    if (complaints_.empty() && trace_.requests.empty()) complaints_.add({}, "", "there is no request");
    complaints_.throw_if_any();
    return std::move(trace_);
  }

  void azure(const CsvTable& table) {
    const auto [time, prompt, answer, images] = find_named_columns(table, kAzureColumns, complaints_, 3);
    complaints_.throw_if_any();
    std::optional<Time> first;
    for (const CsvRow& row : table.rows) {
      const std::optional<Time> at = parse_timestamp(row.fields[time]);
      if (!at) {
        complaints_.add(
            {row.line, 0}, "TIMESTAMP",
            fmt::format("expected an instant such as 2023-11-16 18:15:46.68, got \"{}\"", row.fields[time]));
        continue;
      }
      if (!first) first = at;
      ServedRequest request;
      request.arrival = *at - *first;
      request.prompt = whole(row, prompt, "ContextTokens", 1);
      request.answer = std::max<std::int64_t>(whole(row, answer, "GeneratedTokens", 0), 1);
      add(request, row.line, "TIMESTAMP");
    }
  }

  void own(const CsvTable& table) {
    const auto columns = find_named_columns(table, kOwnColumns, complaints_, 3);
    complaints_.throw_if_any();
    constexpr int kDecimals = 9;
    for (const CsvRow& row : table.rows) {
      const ScaledDecimal at = parse_scaled(row.fields[columns[0]], kDecimals);
      if (at.error != DecimalError::none || at.value < 0) {
        complaints_.add({row.line, 0}, "arrival",
                        fmt::format("expected a number of seconds >= 0, got \"{}\"", row.fields[columns[0]]));
        continue;
      }
      ServedRequest request;
      request.arrival = Time::nanoseconds(at.value);
      request.prompt = whole(row, columns[1], "prompt", 1);
      request.answer = whole(row, columns[2], "answer", 1);
      if (columns[3] != kNoColumn) request.prefix = whole(row, columns[3], "prefix", 0);
      if (columns[4] != kNoColumn) request.hits = whole(row, columns[4], "hits", 0);
      add(request, row.line, "arrival");
    }
  }

  void mooncake(std::string_view text, const std::string& file) {
    for (int line = 1; !text.empty(); ++line) {
      const std::string_view row = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(row.size() + 1, text.size()));
      if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      TextSource source{row};
      try {
        mooncake(read_json(source, file), line);
      } catch (const InputError& error) {
        for (const Complaint& complaint : error.complaints()) {
          complaints_.add({line, complaint.column}, complaint.key, complaint.reason, complaint.hint);
        }
      }
    }
  }

 private:
  std::int64_t whole(const CsvRow& row, std::size_t column, const char* name, std::int64_t least) {
    return read_whole(row.fields[column], least, kMostTokens, {row.line, 0}, name, complaints_);
  }

  void mooncake(const JsonValue& row, int line) {
    const auto whole = [&](const char* name, std::int64_t least) {
      const JsonValue* value = row.find(name);
      if (value == nullptr || !value->is(JsonValue::Kind::number)) {
        complaints_.add({line, 0}, name, "expected a whole number");
        return least;
      }
      return read_whole(value->text, least, kMostTokens, {line, 0}, name, complaints_);
    };
    ServedRequest request;
    request.arrival = Time::milliseconds(whole("timestamp", 0));
    request.prompt = whole("input_length", 1);
    request.answer = std::max<std::int64_t>(whole("output_length", 0), 1);
    std::vector<std::int64_t> blocks;
    if (const JsonValue* ids = row.find("hash_ids"); ids != nullptr) {
      for (const JsonValue& id : ids->items) {
        blocks.push_back(read_whole(id.text, 0, INT64_MAX, {line, 0}, "hash_ids", complaints_));
      }
    }
    if (!blocks.empty()) request.prefix = blocks.front();
    if (blocks.empty() && trace_.without_blocks == 0) trace_.without_blocks = line;
    trace_.blocks.push_back(std::move(blocks));
    add(request, line, "timestamp");
  }

  void add(const ServedRequest& request, int line, const char* key) {
    if (!trace_.requests.empty() && request.arrival < trace_.requests.back().arrival) {
      complaints_.add({line, 0}, key, "the time goes back: requests stand in order of their arrivals");
    }
    trace_.requests.push_back(request);
  }

  FileComplaints complaints_;
  RequestTrace trace_;
};

}  // namespace

RequestTrace parse_request_trace(std::string_view text, const std::string& file) {
  TraceReader reader{file};
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    reader.mooncake(text, file);
    return reader.take();
  }
  const CsvTable table = parse_csv(text, file);
  if (!table.header.empty() && table.header.front() == kAzureColumns.front()) {
    reader.azure(table);
  } else {
    reader.own(table);
  }
  return reader.take();
}

RequestTrace read_request_trace(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return parse_request_trace(read_all(*source), path);
}

std::int64_t take_prefix_hits(RequestTrace& trace, std::int64_t cache_blocks) {
  PrefixCache cache{cache_blocks};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < trace.blocks.size(); ++i) {
    ServedRequest& request = trace.requests[i];
    request.hits = std::min(cache.use(trace.blocks[i]) * kTraceBlock, request.prompt);
    sum += request.hits;
  }
  return sum;
}

}  // namespace contend
