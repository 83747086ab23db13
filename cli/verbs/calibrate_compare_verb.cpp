#include "calibration/profile_comparison.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "scenarios/study/profile_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {
namespace {

/// The value below which so large a share of the ascending values lies, in percent; `-` if there are none.
std::string quantile(const std::vector<double>& values, double share) {
  if (values.empty()) return "-";
  return fmt::format("{:.1f}", 100 * values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]);
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

int calibrate_compare_verb(const Arguments& arguments) {
  const CalibrationProfile first = read_profile(arguments.positionals()[0]);
  const CalibrationProfile second = read_profile(arguments.positionals()[1]);
  if (first.device != second.device)
    print_message("contend: note: the profiles are of different devices, {} and {}\n", first.device, second.device);
  Table table{{"operator", "type", "both", "median [%]", "95% [%]", "left out", "median error [%]", "95% error [%]"}};
  table.align_left(0);
  table.align_left(1);
  std::vector<double> apart, errors;
  int beyond = 0;
  for (const TableComparison& each : compare_profiles(first, second)) {
    table.add({each.name, std::string{to_string(each.type)}, fmt::format("{}", each.apart.size()),
               quantile(each.apart, 0.5), quantile(each.apart, 0.95), fmt::format("{}", each.errors.size()),
               quantile(each.errors, 0.5), quantile(each.errors, 0.95)});
    append(apart, each.apart);
    append(errors, each.errors);
    beyond += each.beyond;
  }
  std::sort(apart.begin(), apart.end());
  std::sort(errors.begin(), errors.end());
  table.add({"all", "", fmt::format("{}", apart.size()), quantile(apart, 0.5), quantile(apart, 0.95),
             fmt::format("{}", errors.size()), quantile(errors, 0.5), quantile(errors, 0.95)});
  print_output("{}", table.text());
  if (beyond > 0) print_output("{} shapes are outside of the range of {}\n", beyond, arguments.positionals()[0]);
  return kExitOk;
}

}  // namespace contend
