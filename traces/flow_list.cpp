#include "traces/flow_list.hpp"

#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/decimal_places.hpp"
#include "text/file_complaints.hpp"
#include "text/quantities.hpp"
#include "text/words.hpp"
#include "traces/jobs/row_report.hpp"
#include "traces/layers/csv_columns.hpp"

#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr int kStartDecimals = 9;
// The same limit as for job lists, which leaves room for the time that the flows take.
constexpr Time kLatestStart = Time::seconds(100LL * 365 * 24 * 3600);

constexpr int kMostSearches = 50;

class FlowReader {
 public:
  FlowReader(const CsvTable& table, const std::string& file, const Topology& topology)
      : complaints_{file},
        columns_{table,
                 {"start_s", "bytes", "source", "destination", "flow"},
                 {"start_s", "bytes", "source", "destination"},
                 complaints_,
                 "flow"} {
    complaints_.throw_if_any();
    const auto gpus = topology.gpus();
    for (std::size_t g = 0; g < gpus.size(); ++g) gpus_.emplace(topology.nodes()[gpus[g].index()].name, GpuId{g});
    for (const auto& [name, gpu] : gpus_) {
      const std::string server = name.substr(0, name.rfind('/'));
      if (server != name) ++gpus_of_[server];
    }
    for (const CsvRow& row : table.rows) read(row);
    complaints_.throw_if_any();
  }

  std::vector<ListedFlow> take() { return std::move(flows_); }

 private:
  void read(const CsvRow& row) {
    ListedFlow flow;
    flow.name = columns_.has("flow") ? columns_.field(row, "flow") : fmt::format("{}", flows_.size());
    if (columns_.has("flow")) check_name(flow.name, row.line);
    flow.start = start(row);
    flow.bytes = bytes(row);
    const std::optional<GpuId> source = gpu(row, "source"), destination = gpu(row, "destination");
    if (source && destination) {
      flow.source = *source;
      flow.destination = *destination;
      if (flow.source == flow.destination)
        complain(row, "destination", fmt::format("{} is the source, too", columns_.field(row, "destination")),
                 "a flow joins two different GPUs");
    }
    flows_.push_back(std::move(flow));
  }

  void check_name(const std::string& name, int line) {
    if (name.empty()) return complaints_.add({line, 0}, "flow", "expected a name, got nothing");
    if (const std::string reason = why_not_printable(name); !reason.empty())
      return complaints_.add(
          {line, 0}, "flow",
          fmt::format("expected a name of printable UTF-8 text, got {}: {}", quote_for_message(name), reason));
    const auto [first, is_new] = line_of_.emplace(name, line);
    if (!is_new)
      complaints_.add({line, 0}, "flow", fmt::format("\"{}\" was used on line {} already", name, first->second));
  }

  Time start(const CsvRow& row) {
    const std::string& text = columns_.field(row, "start_s");
    const ScaledDecimal number = parse_scaled(text, kStartDecimals);
    if (number.error == DecimalError::not_a_number) {
      complain(row, "start_s", fmt::format("expected seconds >= 0, got \"{}\"", text));
    } else if (number.error == DecimalError::overflow || number.value > kLatestStart.ns()) {
      complain(row, "start_s", fmt::format("{} is more than 100 years", text));
    } else if (number.value < 0) {
      complain(row, "start_s", fmt::format("expected seconds >= 0, got {}", text));
    } else if (has_more_decimals(text, kStartDecimals)) {
      complain(row, "start_s",
               fmt::format("expected at most {} decimals, because times are whole nanoseconds, got {}", kStartDecimals,
                           text));
    } else {
      return Time::nanoseconds(number.value);
    }
    return {};
  }

  Bytes bytes(const CsvRow& row) {
    const std::string& text = columns_.field(row, "bytes");
    const ScaledDecimal whole = parse_integer(text);
    if (whole.error == DecimalError::none && whole.value >= 1) return Bytes{whole.value};
    const Parsed<Bytes> quantity = parse_quantity<Bytes>(text);
    if (quantity.value && *quantity.value >= Bytes{1}) return *quantity.value;
    complain(row, "bytes", fmt::format("expected whole bytes >= 1, got \"{}\"", text), "such as 1048576 or 25MiB");
    return Bytes{1};
  }

  std::optional<GpuId> gpu(const CsvRow& row, const std::string& column) {
    const std::string& name = columns_.field(row, column);
    if (const auto found = gpus_.find(name); found != gpus_.end()) return found->second;
    const auto server = gpus_of_.find(name);
    if (server != gpus_of_.end()) {
      const auto first = gpus_.lower_bound(name + "/");
      if (server->second == 1) return first->second;
      complain(row, column, fmt::format("{} has {} GPUs", name, server->second),
               fmt::format("name one, such as {}", first->first));
      return std::nullopt;
    }
    complain(row, column, fmt::format("the topology has no GPU \"{}\"", name), nearest(name));
    return std::nullopt;
  }

  /// What may have been meant; a search through all names, so not for every row of a long list.
  std::string nearest(const std::string& name) {
    if (searches_++ >= kMostSearches) return {};
    std::vector<std::string> names;
    for (const auto& [known, id] : gpus_) names.push_back(known);
    const std::string hint = did_you_mean(name, names);
    return hint.empty() ? fmt::format("such as {}", gpus_.begin()->first) : hint;
  }

  void complain(const CsvRow& row, const std::string& column, std::string reason, std::string hint = {}) {
    complaints_.add({row.line, 0}, column, std::move(reason), std::move(hint));
  }

  FileComplaints complaints_;
  CsvColumns columns_;
  std::map<std::string, GpuId, std::less<>> gpus_;   // by name
  std::map<std::string, int, std::less<>> gpus_of_;  // by name of the server
  std::map<std::string, int> line_of_;               // by name of the flow
  std::vector<ListedFlow> flows_;
  int searches_ = 0;
};

}  // namespace

std::vector<ListedFlow> parse_flow_list(std::string_view text, const std::string& file, const Topology& topology) {
  return FlowReader{parse_csv(text, file), file, topology}.take();
}

std::vector<ListedFlow> read_flow_list(const std::string& path, const Topology& topology) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return parse_flow_list(read_all(*source), path, topology);
}

}  // namespace contend
