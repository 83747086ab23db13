#include "calibration/profile_merge.hpp"

#include "calibration/predictor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

CalibrationProfile with_tables_of(CalibrationProfile base, const CalibrationProfile& other) {
  check_devices(base, other);
  std::vector<std::string_view> replaced;
  for (const OperatorTable& table : other.tables) {
    if (table.samples.empty()) continue;
    const OperatorInfo* const info = find_operator(table.name);
    if (std::find(replaced.begin(), replaced.end(), info->name) == replaced.end()) replaced.push_back(info->name);
    const auto is_same = [&](const auto& each) { return each.name == table.name && each.type == table.type; };
    std::erase_if(base.tables, is_same);
    std::erase_if(base.skipped, is_same);
    base.tables.push_back(table);
  }
  // operators() is one array, so its addresses are in its order.
  const auto key = [](const OperatorTable& each) { return std::pair{find_operator(each.name), each.type}; };
  std::stable_sort(base.tables.begin(), base.tables.end(),
                   [&](const OperatorTable& a, const OperatorTable& b) { return key(a) < key(b); });
  const auto is_replaced = [&](std::string_view name, DataType type) { return other.has_samples(name, type); };
  for (OperatorTable& each : base.tables)
    if (is_replaced(each.name, each.type) || is_replaced(find_operator(each.name)->like, each.type) ||
        (each.from_copies && is_replaced(kCopies, DataType::fp32)))
      OperatorPredictor::fit(each, base);
  if (replaced.empty()) throw InputError{"the second profile has no samples"};
  if (base.libraries == other.libraries) return base;
  base.libraries += fmt::format("{}{} by {}", base.libraries.empty() ? "" : "; ", fmt::join(replaced, ", "),
                                other.libraries.empty() ? "unknown libraries" : other.libraries);
  return base;
}

}  // namespace contend
