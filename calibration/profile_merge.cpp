#include "calibration/profile_merge.hpp"

#include "calibration/predictor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

void check_devices(const CalibrationProfile& base, const CalibrationProfile& other) {
  std::vector<Complaint> faults;
  const auto compare = [&](const char* key, const std::string& one, const std::string& two) {
    if (one == two) return;
    Complaint fault;
    fault.key = key;
    fault.reason = fmt::format("the first profile says \"{}\", the second \"{}\"", one, two);
    fault.hint = "times of different devices don't belong into one profile";
    faults.push_back(std::move(fault));
  };
  compare("backend", base.backend, other.backend);
  compare("device", base.device, other.device);
  if (!faults.empty()) throw InputError{std::move(faults)};
}

/// What ran beside an operation of the base says nothing about another library's.
void leave_out_pairs(CalibrationProfile& base, const CalibrationProfile& other, const std::string& source) {
  std::erase_if(base.tables, [&](const OperatorTable& table) {
    const OperatorInfo& info = *find_operator(table.name);
    if (info.group != OperatorGroup::contention || other.has_samples(table.name, table.type)) return false;
    const std::string_view operation = operation_beside(info);
    if (!other.has_samples(operation, table.type)) return false;
    base.skipped.push_back({table.name, table.type, {}, fmt::format("{} is by {} here", operation, source)});
    return true;
  });
}

}  // namespace

CalibrationProfile with_tables_of(CalibrationProfile base, const CalibrationProfile& other) {
  check_devices(base, other);
  std::map<const OperatorInfo*, std::vector<std::string_view>> replaced;  // number formats; operators() is one array
  for (const OperatorTable& table : other.tables) {
    if (table.samples.empty()) continue;
    replaced[find_operator(table.name)].push_back(to_string(table.type));
    const auto is_same = [&](const auto& each) { return each.name == table.name && each.type == table.type; };
    std::erase_if(base.tables, is_same);
    std::erase_if(base.skipped, is_same);
    std::ranges::copy_if(other.skipped, std::back_inserter(base.skipped), is_same);
    base.tables.push_back(table);
  }
  if (replaced.empty()) throw InputError{"the second profile has no samples"};
  const std::string source = other.libraries.empty() ? "unknown libraries" : other.libraries;
  if (base.libraries != other.libraries) leave_out_pairs(base, other, source);
  const auto key = [](const OperatorTable& each) { return std::pair{find_operator(each.name), each.type}; };
  std::stable_sort(base.tables.begin(), base.tables.end(),
                   [&](const OperatorTable& a, const OperatorTable& b) { return key(a) < key(b); });
  const auto is_replaced = [&](std::string_view name, DataType type) { return other.has_samples(name, type); };
  for (OperatorTable& each : base.tables)
    if (is_replaced(each.name, each.type) || is_replaced(find_operator(each.name)->like, each.type) ||
        (each.from_copies && is_replaced(kCopies, DataType::fp32)))
      OperatorPredictor::fit(each, base);
  if (base.libraries == other.libraries) return base;
  std::vector<std::string> names;
  for (const auto& [info, types] : replaced) names.push_back(fmt::format("{} ({})", info->name, fmt::join(types, " ")));
  base.libraries += fmt::format("{}{} by {}", base.libraries.empty() ? "" : "; ", fmt::join(names, ", "), source);
  return base;
}

}  // namespace contend
