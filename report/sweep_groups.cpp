#include "report/sweep_groups.hpp"

#include "report/sweep_names.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/magnitude.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {

SweepLevels levels_of(const SweepData::Parameter& parameter) {
  struct SweptLevel {
    double number;
    std::string_view text;
    bool operator<(const SweptLevel& other) const {
      if (std::isnan(number) != std::isnan(other.number)) return std::isnan(other.number);
      if (!std::isnan(number) && number != other.number) return number < other.number;
      return text != other.text && natural_less(text, other.text);
    }
  };
  const auto key = [&](std::size_t row) { return SweptLevel{parameter.numbers[row], parameter.values[row]}; };
  std::map<SweptLevel, std::size_t> order;
  for (std::size_t row = 0; row < parameter.values.size(); ++row) order[key(row)] = 0;
  SweepLevels levels;
  for (auto& [level, index] : order) {
    index = levels.names.size();
    levels.names.emplace_back(level.text.empty() ? "(none)" : level.text);
    levels.numbers.push_back(level.number);
  }
  levels.titles = value_titles(levels.names);
  for (std::size_t row = 0; row < parameter.values.size(); ++row) levels.of_row.push_back(order[key(row)]);
  return levels;
}

const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key) {
  const auto at = std::ranges::find(data.parameters, key, &SweepData::Parameter::key);
  CONTEND_CHECK(at != data.parameters.end(), "choose_axes() names parameters of the sweep");
  return *at;
}

void check_name(const std::string& name, const std::vector<std::string>& names, std::string_view what) {
  if (name.empty() || std::ranges::find(names, name) != names.end()) return;
  const std::string near = nearest_name(name, names);
  throw InputError{fmt::format(
      "the sweep has no {} \"{}\"{}", what, name,
      near.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : fmt::format("; did you mean \"{}\"?", near))};
}

const SweepData::Metric& metric_of(const SweepData& data, const std::string& name) {
  const auto at = std::ranges::find(data.metrics, name, [](const auto& metric) { return metric.description.name; });
  CONTEND_CHECK(at != data.metrics.end(), "choose_axes() names a metric of the sweep");
  return *at;
}

std::size_t level_named(const SweepLevels& levels, const SweepReference& reference) {
  auto at = std::ranges::find(levels.names, reference.value);
  const std::optional<Magnitude> wanted = parse_magnitude(reference.value);
  if (at == levels.names.end() && wanted)  // 0.01Tbps is 10Gbps
    at = std::ranges::find_if(levels.names, [&](const std::string& name) {
      const std::optional<Magnitude> written = parse_magnitude(name);
      return written && is_same(*written, *wanted);
    });
  if (at != levels.names.end()) return static_cast<std::size_t>(at - levels.names.begin());
  const std::string near = nearest_name(reference.value, levels.names);
  throw InputError{fmt::format("{} is never \"{}\"{}", reference.key, reference.value,
                               near.empty() ? fmt::format("; it is {}", fmt::join(levels.names, ", "))
                                            : fmt::format("; did you mean \"{}\"?", near))};
}

FigureAxis level_axis(const SweepData::Parameter& parameter, const SweepLevels& levels) {
  return {.title = parameter.key,
          .unit = "",
          .categories = levels.names,
          .shown_title = parameter.title,
          .shown_categories = levels.titles};
}

std::string held_text(const SweepData& data, const SweepAxes& axes) {
  std::string text;
  for (const SweepReference& each : axes.held) {
    const SweepLevels levels = levels_of(parameter_of(data, each.key));
    text += fmt::format("{}{} = {}", text.empty() ? " (" : ", ", parameter_of(data, each.key).title,
                        levels.titles[level_named(levels, each)]);
  }
  return text.empty() ? text : text + ")";
}

std::string averaged_text(const SweepData& data, const SweepAxes& axes) {
  std::vector<std::string> over;
  for (const std::string& key : axes.averaged) {
    const SweepData::Parameter& parameter = parameter_of(data, key);
    over.push_back(fmt::format("{} values of {}", levels_of(parameter).names.size(), parameter.title));
  }
  if (data.info.repeat > 1) over.push_back(fmt::format("{} seeds", data.info.repeat));
  return over.empty() ? "" : fmt::format(" Means over {}.", fmt::join(over, " and "));
}

Estimate SweepGroup::figure() const {
  std::vector<double> means;
  for (const auto& [seed, values] : by_seed)
    if (values.size() == points.size() + waiting) means.push_back(mean(values));
  return estimate(means, draws);
}

RatioEstimate SweepGroup::ratio() const {
  std::vector<double> ratios;
  for (const auto& [seed, values] : by_seed)
    if (values.size() == points.size() + waiting) ratios.push_back(std::exp(mean(values)));
  if (ratios.empty()) return {.ratio = kNaN, .low = kNaN, .high = kNaN};
  return paired_ratio(ratios, std::vector<double>(ratios.size(), 1.0), draws);
}

std::vector<double> log_ratios(const SweepData& data, const std::vector<double>& values) {
  std::map<std::pair<std::int64_t, std::uint64_t>, double> by_run;
  for (std::size_t run = 0; run < data.runs(); ++run) by_run[{data.points[run], data.seeds[run]}] = values[run];
  std::vector<double> logarithms;
  for (std::size_t run = 0; run < data.runs(); ++run) {
    const auto partner = by_run.find({data.baselines[run], data.seeds[run]});
    const double own = values[run], other = partner == by_run.end() ? kNaN : partner->second;
    if (std::isnan(own) || std::isnan(other))
      logarithms.push_back(kNaN);
    else
      logarithms.push_back(own > 0 && other > 0 ? std::log(own) - std::log(other) : -INFINITY);
  }
  return logarithms;
}

std::vector<bool> held_rows(const SweepData& data, const SweepAxes& axes) {
  std::vector<bool> rows(data.points.size(), true);
  for (const SweepReference& each : axes.held) {
    const SweepData::Parameter& parameter = parameter_of(data, each.key);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::string& value = parameter.values[row];
      rows[row] = rows[row] && (value.empty() ? each.value == "(none)" : each.value == value);
    }
  }
  return rows;
}

std::size_t combinations(const std::vector<const SweepLevels*>& of, const std::vector<bool>& only) {
  std::set<std::vector<std::size_t>> found;
  for (std::size_t row = 0; row < only.size(); ++row) {
    if (!only[row]) continue;
    std::vector<std::size_t> group;
    for (const SweepLevels* each : of) group.push_back(each->of_row[row]);
    found.insert(std::move(group));
  }
  return found.size();
}

bool is_mixed(const SweepLevels& levels, const std::vector<const SweepLevels*>& grouped_by,
              const std::vector<bool>& only) {
  std::map<std::vector<std::size_t>, std::size_t> level_of;
  for (std::size_t row = 0; row < levels.of_row.size(); ++row) {
    if (!only[row]) continue;
    std::vector<std::size_t> group;
    for (const SweepLevels* each : grouped_by) group.push_back(each->of_row[row]);
    const auto [at, is_new] = level_of.emplace(std::move(group), levels.of_row[row]);
    if (!is_new && at->second != levels.of_row[row]) return true;
  }
  return false;
}

std::vector<std::vector<SweepGroup>> grouped(const SweepData& data, const std::vector<double>& values,
                                             const SweepLevels& x, const SweepLevels& by,
                                             const std::vector<bool>& only) {
  SweepGroup empty;
  empty.draws = data.draws;
  std::vector<std::vector<SweepGroup>> groups(by.names.size(), std::vector<SweepGroup>(x.names.size(), empty));
  for (std::size_t row = 0; row < x.of_row.size(); ++row) {
    if (!only.empty() && !only[row]) continue;
    SweepGroup& group = groups[by.of_row[row]][x.of_row[row]];
    if (row >= data.runs()) {
      ++group.waiting;
      continue;
    }
    group.points.insert(data.points[row]);
    if (!std::isnan(values[row])) group.by_seed[data.seeds[row]].push_back(values[row]);
  }
  return groups;
}

}  // namespace contend
