#include "cli/compare_overlap.hpp"

#include "cli/table.hpp"
#include "report/column_table.hpp"
#include "scenarios/overlap_columns.hpp"
#include "scenarios/overlap_run.hpp"
#include "sim/error.hpp"
#include "traces/json_writer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Pair = std::pair<const StudiedIteration*, const StudiedIteration*>;
constexpr double kMs = 1e3;

const StudiedIteration* find(const StudySide& side, const StudiedIteration& wanted) {
  const auto found = std::ranges::find_if(side, [&](const StudiedIteration& each) { return each.is_same(wanted); });
  return found == side.end() ? nullptr : &*found;
}

std::vector<Pair> pairs_of(const StudySide& base, const StudySide& other) {
  std::vector<Pair> pairs;
  for (const StudiedIteration& each : base) {
    if (const StudiedIteration* partner = find(other, each)) pairs.emplace_back(&each, partner);
  }
  if (pairs.empty())
    throw InputError{"the two studies have no number of workers, compression method and fusion policy in common"};
  return pairs;
}

double change(const Pair& pair) {
  return pair.second->seconds[0] / pair.first->seconds[0] - 1;
}

std::string only_in(std::string_view name, const StudySide& side, const StudySide& other) {
  std::string out;
  for (const StudiedIteration& each : side) {
    if (find(other, each) == nullptr)
      out += fmt::format("only in {}: {} workers, {}, {}\n", name, each.workers, each.compression, each.policy);
  }
  return out;
}

}  // namespace

StudySide read_study(const std::string& folder) {
  const ColumnTable table = read_columns((std::filesystem::path{folder} / "overlap.csv").string());
  const auto &workers = table.texts("workers"), &compression = table.texts("compression"),
             &policy = table.texts("policy");
  StudySide side;
  for (std::size_t i = 0; i < table.rows(); ++i) side.push_back({workers[i], compression[i], policy[i], {}});
  for (std::size_t figure = 0; figure < StudiedIteration::kFigures.size(); ++figure) {
    const std::vector<double> values = table.numbers(StudiedIteration::kFigures[figure]);
    for (std::size_t i = 0; i < side.size(); ++i) side[i].seconds[figure] = values[i];
  }
  return side;
}

StudySide run_study(const Scenario& scenario) {
  StudySide side;
  for (const OverlapRow& row : run_overlap(scenario)) {
    if (!row.refused.empty()) continue;
    StudiedIteration& each =
        side.emplace_back(StudiedIteration{fmt::format("{}", row.workers), row.compression, row.policy, {}});
    for (std::size_t figure = 0; figure < StudiedIteration::kFigures.size(); ++figure) {
      const auto column = std::ranges::find_if(overlap_columns(), [&](const OverlapColumn& candidate) {
        return candidate.name == StudiedIteration::kFigures[figure];
      });
      each.seconds[figure] = column->value(row);
    }
  }
  return side;
}

std::string study_comparison_text(const StudySide& base, const StudySide& other) {
  const std::vector<Pair> pairs = pairs_of(base, other);
  std::vector<std::vector<std::string>> columns;
  const auto add = [&](const auto& value) {
    std::vector<double> values;
    for (const Pair& pair : pairs) values.push_back(value(pair));
    columns.push_back(format_column(values));
  };
  add([](const Pair& pair) { return kMs * pair.first->seconds[0]; });
  add([](const Pair& pair) { return kMs * pair.second->seconds[0]; });
  for (std::size_t figure = 1; figure < StudiedIteration::kFigures.size(); ++figure) {
    auto& cells = columns.emplace_back();
    for (const Pair& pair : pairs) {
      const double ms = kMs * (pair.second->seconds[figure] - pair.first->seconds[figure]);
      cells.push_back(std::abs(ms) < 5e-4 ? "0" : fmt::format("{:+.3f}", ms));
    }
  }
  Table table{{"workers", "compression", "fusion", "BASE [ms]", "NEW [ms]", "change [%]", "computing [ms]",
               "compression [ms]", "exposed [ms]"}};
  table.align_left(1);
  table.align_left(2);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const StudiedIteration& each = *pairs[i].first;
    table.add({each.workers, each.compression, each.policy, columns[0][i], columns[1][i],
               fmt::format("{:+.2f}", 100 * change(pairs[i])), columns[2][i], columns[3][i], columns[4][i]});
  }
  return "time of an iteration; the last three columns: what changed of it\n" + table.text() +
         only_in("BASE", base, other) + only_in("NEW", other, base);
}

std::string study_comparison_json(const StudySide& base, const StudySide& other) {
  JsonWriter json;
  json.begin_object().key("iterations").begin_array();
  for (const Pair& pair : pairs_of(base, other)) {
    json.begin_object().member("workers", std::stoi(pair.first->workers));
    json.member("compression", pair.first->compression).member("policy", pair.first->policy);
    for (const auto& [name, side] : {std::pair{"base", pair.first}, std::pair{"new", pair.second}}) {
      json.key(name).begin_object();
      for (std::size_t i = 0; i < side->seconds.size(); ++i)
        json.member(StudiedIteration::kFigures[i], side->seconds[i]);
      json.end_object();
    }
    json.member("change", change(pair)).end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
