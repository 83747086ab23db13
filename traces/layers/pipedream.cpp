#include "traces/layers/pipedream.hpp"

#include "text/decimal.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr int kMilliseconds = 6;
constexpr std::int64_t kElementBytes = 4;
constexpr std::string_view kArrow = " -- ";
constexpr std::array<std::string_view, 4> kFields = {
    "forward_compute_time=", "backward_compute_time=", "activation_size=", "parameter_size="};

struct ProfileNode {
  std::string id;
  std::string operation;  ///< `Conv2d(3, 64, ...)`
  int line = 0;
  std::int64_t number = 0;  ///< 10 of node10
  TimedLayer layer;
  std::vector<std::size_t> successors;
  int predecessors = 0;
};

class GraphReader {
 public:
  explicit GraphReader(FileComplaints& complaints) : complaints_{complaints} {}

  std::vector<ProfileNode> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      if (line.front() == '\t')
        edges_.push_back({line.substr(1), line_});
      else
        read_node(line);
    }
    for (const Edge& edge : edges_) link(edge);
    if (nodes_.empty()) complaints_.add({}, "", "the graph has no nodes");
    complaints_.throw_if_any();
    return std::move(nodes_);
  }

 private:
  struct Edge {
    std::string_view text;
    int line = 0;
  };

  void read_node(std::string_view line) {
    // The operation in the middle may contain any text; the fields at the end may not.
    const std::size_t first = line.find(kArrow);
    const std::size_t last = line.rfind(kArrow);
    if (first == std::string_view::npos || first == last) {
      complaints_.add({line_, 1}, "",
                      "expected `ID -- OPERATION -- forward_compute_time=..., ...`, or a tab and an edge");
      return;
    }
    ProfileNode node;
    node.line = line_;
    node.id = line.substr(0, first);
    node.operation = line.substr(first + kArrow.size(), last - first - kArrow.size());
    if (node.id.empty() || node.operation.empty())
      complaints_.add({line_, 1}, "", "a node needs an id and an operation");
    node.number = number_of(node.id);
    read_fields(node, line, last + kArrow.size());
    if (const auto [at, is_new] = index_.emplace(node.id, nodes_.size()); !is_new)
      complaints_.add({line_, 1}, node.id, fmt::format("was on line {} already", nodes_[at->second].line));
    nodes_.push_back(std::move(node));
  }

  void read_fields(ProfileNode& node, std::string_view line, std::size_t at) {
    std::array<std::string_view, kFields.size()> values;
    std::array<TextPlace, kFields.size()> places;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const bool last = i + 1 == kFields.size();
      const std::size_t end = last ? line.size() : line.find(fmt::format(", {}", kFields[i + 1]), at);
      places[i] = {line_, static_cast<int>(at) + 1};
      if (end == std::string_view::npos || !line.substr(at, end - at).starts_with(kFields[i])) {
        complaints_.add(places[i], node.id,
                        end == std::string_view::npos ? fmt::format("expected `, {}...` behind this", kFields[i + 1])
                                                      : fmt::format("expected `{}...`", kFields[i]));
        return;
      }
      places[i].column += static_cast<int>(kFields[i].size());
      values[i] = line.substr(at + kFields[i].size(), end - at - kFields[i].size());
      at = last ? end : end + 2;
    }
    node.layer.forward = read_layer_time(values[0], kMilliseconds, places[0], node.id, complaints_);
    node.layer.backward = read_layer_time(values[1], kMilliseconds, places[1], node.id, complaints_);
    check_activation(values[2], places[2], node.id);
    const std::int64_t bytes = size(values[3], places[3], node.id);
    if (bytes % kElementBytes != 0)
      complaints_.add(places[3], node.id, fmt::format("{} bytes are no whole number of fp32 parameters", bytes));
    if (bytes > 0) node.layer.tensors.push_back({.name = "parameters", .elements = bytes / kElementBytes, .shape = {}});
  }

  void check_activation(std::string_view text, TextPlace place, const std::string& id) {
    if (text.starts_with('[') && text.ends_with(']') && text.size() > 2) {
      text = text.substr(1, text.size() - 2);
      ++place.column;
    }
    while (true) {
      const std::size_t end = std::min(text.find("; "), text.size());
      static_cast<void>(size(text.substr(0, end), place, id));
      if (end == text.size()) return;
      text.remove_prefix(end + 2);
      place.column += static_cast<int>(end) + 2;
    }
  }

  /// A number of bytes; the profiler writes a fraction, which must be zero.
  std::int64_t size(std::string_view text, TextPlace place, const std::string& id) {
    const ScaledDecimal number = parse_scaled(text, 0);
    if (number.error == DecimalError::not_a_number || number.value < 0 || text.starts_with('-'))
      complaints_.add(place, id, fmt::format("expected a number of bytes >= 0, got \"{}\"", text));
    else if (number.error == DecimalError::overflow || number.value > kMaxElements * kElementBytes)
      complaints_.add(place, id, fmt::format("{} bytes is larger than any tensor", text));
    else if (parse_scaled(text, 3).value != number.value * 1000)
      complaints_.add(place, id, fmt::format("expected a whole number of bytes, got {}", text));
    else
      return number.value;
    return 0;
  }

  static std::int64_t number_of(std::string_view id) {
    const ScaledDecimal number = parse_integer(id.substr(std::min(id.find_first_of("0123456789"), id.size())));
    return number.error == DecimalError::none ? number.value : INT64_MAX;
  }

  void link(const Edge& edge) {
    const std::size_t arrow = edge.text.find(kArrow);
    if (arrow == std::string_view::npos) {
      complaints_.add({edge.line, 2}, "", "expected an edge `ID -- ID`");
      return;
    }
    const auto from = find(edge.text.substr(0, arrow), {edge.line, 2});
    const auto to =
        find(edge.text.substr(arrow + kArrow.size()), {edge.line, 2 + static_cast<int>(arrow + kArrow.size())});
    if (from == index_.end() || to == index_.end()) return;
    nodes_[from->second].successors.push_back(to->second);
    ++nodes_[to->second].predecessors;
  }

  std::map<std::string, std::size_t>::const_iterator find(std::string_view id, TextPlace place) {
    const auto found = index_.find(std::string{id});
    if (found == index_.end()) complaints_.add(place, "", fmt::format("no node \"{}\"", id));
    return found;
  }

  FileComplaints& complaints_;
  int line_ = 0;
  std::vector<ProfileNode> nodes_;
  std::map<std::string, std::size_t> index_;
  std::vector<Edge> edges_;
};

/// Fails with a node of a cycle and its successors up to the point where it closes. Every remaining node has a
/// remaining predecessor, so walking backwards from one must return to it.
[[noreturn]] void report_cycle(const std::vector<ProfileNode>& nodes, FileComplaints& complaints) {
  std::vector<std::size_t> before(nodes.size(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].predecessors > 0)
      for (const std::size_t next : nodes[i].successors) before[next] = i;
  std::size_t at = 0;
  while (nodes[at].predecessors == 0) ++at;
  std::vector<bool> seen(nodes.size(), false);
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::string path = nodes[at].id;
  std::size_t length = 0;
  for (std::size_t back = before[at]; back != at; back = before[back], ++length)
    if (length < 10) path.insert(0, nodes[back].id + " -> ");
  complaints.fail({nodes[at].line, 1}, "",
                  fmt::format("the graph has a cycle: {}{} -> {}", nodes[at].id, length < 10 ? "" : " -> ...", path));
}

/// Kahn's algorithm; the smallest number comes first and, among equal numbers, the first in the file.
std::vector<std::size_t> topological_order(std::vector<ProfileNode>& nodes, FileComplaints& complaints) {
  using Entry = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].predecessors == 0) ready.emplace(nodes[i].number, i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t at = ready.top().second;
    ready.pop();
    order.push_back(at);
    for (const std::size_t next : nodes[at].successors)
      if (--nodes[next].predecessors == 0) ready.emplace(nodes[next].number, next);
  }
  if (order.size() < nodes.size()) report_cycle(nodes, complaints);
  return order;
}

}  // namespace

TimedModel parse_pipedream(std::string_view text, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  check_options(options, {.batch = true}, "pipedream", complaints);
  std::vector<ProfileNode> nodes = GraphReader{complaints}.read(text);
  TimedModel model;
  model.name = stem_of(file);
  model.device = stem_of(file);
  model.batch = options.batch.value_or(1);
  for (const std::size_t i : topological_order(nodes, complaints)) {
    ProfileNode& node = nodes[i];
    node.layer.name = fmt::format("{}.{}", node.id, node.operation.substr(0, node.operation.find('(')));
    node.layer.origin = fmt::format("{} line {}", file, node.line);
    if (node.operation.starts_with("Input")) {
      node.layer.forward = Time{};
      node.layer.origin += ", without data loading";
    }
    model.layers.push_back(std::move(node.layer));
  }
  validate_read(model, file);
  return model;
}

}  // namespace contend
