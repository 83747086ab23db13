#include "scenarios/sweep/baseline.hpp"

#include "scenarios/sweep/sweep_points.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace contend {
namespace {

/// The parameters that aren't part of the baseline.
std::vector<std::size_t> other_parameters(const StoreInfo& info, std::span<const SweepSetting> baseline) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const bool fixed = std::any_of(baseline.begin(), baseline.end(),
                                   [&](const SweepSetting& each) { return each.key == info.parameters[i].key; });
    if (!fixed) others.push_back(i);
  }
  return others;
}

void check_keys(const StoreInfo& info, std::span<const SweepSetting> baseline) {
  std::vector<std::string> keys;
  for (const StoreParameter& each : info.parameters) keys.push_back(each.key);
  for (const SweepSetting& each : baseline) {
    if (std::find(keys.begin(), keys.end(), each.key) != keys.end()) continue;
    throw InputError{
        {sweep_complaint(each.value.place, each.key,
                         "a baseline fixes what the sweep varies, which is " + (keys.empty() ? "nothing" : join(keys)),
                         did_you_mean(each.key, keys))}};
  }
}

bool agree(const StorePoint& a, const StorePoint& b, const std::vector<std::size_t>& parameters) {
  const SqlValue null;
  return std::all_of(parameters.begin(), parameters.end(), [&](std::size_t i) {
    return a.values[i] == b.values[i] || a.values[i] == null || b.values[i] == null;
  });
}

/// Whether parameter `index` of a point is `wanted`.
bool is_value(const StoreParameter& parameter, const StorePoint& point, std::size_t index, const SweepValue& wanted) {
  const std::optional<std::string> text = value_text(point, index);
  if (!text) return false;
  if (*text == wanted.text) return true;
  if (!wanted.magnitude) return false;
  if (parameter.type != StoreParameter::Type::text)
    return base_unit(*wanted.magnitude) == parameter.unit && base_number(*wanted.magnitude) == point.numbers[index];
  // A column that holds words, too, has no numbers beside it.
  const std::optional<Magnitude> written = parse_magnitude(*text);
  return written && is_same(*written, *wanted.magnitude);
}

std::string settings_text(const StorePoint& point) {
  return fmt::format("point {} ({})", point.point, join(point.settings, " "));
}

}  // namespace

std::optional<std::string> value_text(const StorePoint& point, std::size_t index) {
  const SqlValue& value = point.values[index];
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::nullopt;
}

bool has_value(const StoreInfo& info, const StorePoint& point, const std::string& key, const SweepValue& wanted) {
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    if (info.parameters[i].key == key && is_value(info.parameters[i], point, i, wanted)) return true;
  }
  return std::find(point.settings.begin(), point.settings.end(), key + "=" + wanted.text) != point.settings.end();
}

std::vector<std::int64_t> baseline_points(const StoreInfo& info, std::span<const StorePoint> points,
                                          std::span<const SweepSetting> baseline) {
  check_keys(info, baseline);
  const std::vector<std::size_t> others = other_parameters(info, baseline);
  const auto others_of = [&](const StorePoint& point) {
    std::vector<SqlValue> values;
    for (const std::size_t i : others) values.push_back(point.values[i]);
    return values;
  };
  std::vector<const StorePoint*> candidates;
  std::map<std::vector<SqlValue>, const StorePoint*> by_others;
  for (const StorePoint& point : points) {
    const bool matches = std::all_of(baseline.begin(), baseline.end(), [&](const SweepSetting& each) {
      return has_value(info, point, each.key, each.value);
    });
    if (!matches) continue;
    candidates.push_back(&point);
    by_others.emplace(others_of(point), &point);
  }
  if (candidates.empty() && !baseline.empty())
    throw InputError{{sweep_complaint(baseline.front().value.place, baseline.front().key,
                                      "no point of the sweep has the values of the baseline")}};
  std::vector<std::int64_t> result;
  for (const StorePoint& point : points) {
    const auto equal = by_others.find(others_of(point));
    const StorePoint* partner = equal == by_others.end() ? nullptr : equal->second;
    for (const StorePoint* each : candidates) {
      if (equal != by_others.end() || !agree(point, *each, others)) continue;
      if (partner != nullptr)
        throw InputError{{sweep_complaint(baseline.front().value.place, baseline.front().key,
                                          fmt::format("{} could be compared with points {} and {}",
                                                      settings_text(point), partner->point, each->point))}};
      partner = each;
    }
    if (partner == nullptr)
      throw InputError{{sweep_complaint(baseline.front().value.place, baseline.front().key,
                                        "the sweep has no baseline for " + settings_text(point))}};
    result.push_back(partner->point);
  }
  return result;
}

}  // namespace contend
