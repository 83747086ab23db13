#include "calibration/profile_comparison.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"
#include "traces/layers/kernel_tables.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace contend {
namespace {

const Device& device_of(const Arguments& arguments) {
  const std::optional<std::string> name = arguments.value("device");
  if (!name) throw UsageError{"contend calibrate import: expected --device NAME, whose kernels the tables are"};
  const Device* const device = find_device(*name);
  if (device == nullptr)
    throw UsageError{fmt::format("--device: no device `{}`; {}", *name, did_you_mean(*name, device_names()))};
  return *device;
}

void print_summary(const std::string& path, const ImportedKernels& imported) {
  std::vector<TableComparison> judged;
  if (!imported.rest.tables.empty()) judged = compare_profiles(imported.profile, imported.rest);
  print_output("{}: {}\n", path, imported.profile.warnings.back());
  for (const OperatorTable& table : imported.profile.tables) {
    print_output("  {} {}: {} samples", table.name, to_string(table.type), table.samples.size());
    const auto found = std::ranges::find_if(judged, [&](const TableComparison& each) {
      return each.name == table.name && each.type == table.type && !each.errors.empty();
    });
    if (found != judged.end()) {
      const auto at = [&](double share) {
        return 100 * found->errors[static_cast<std::size_t>(share * static_cast<double>(found->errors.size() - 1))];
      };
      print_output("; {} other rows are predicted within {:.1f}% in the median, {:.1f}% for nine in ten",
                   found->errors.size(), at(0.5), at(0.9));
      if (found->beyond > 0) print_output(", {} lie outside of its range", found->beyond);
    }
    print_output("\n");
  }
  for (const auto& [reason, rows] : imported.left_out) print_output("  left out: {} rows of {}\n", rows, reason);
}

}  // namespace

int calibrate_import_verb(const Arguments& arguments) {
  if (!arguments.has("output"))
    throw UsageError{"contend calibrate import: expected -o FILE, to which the profile is written"};
  constexpr std::uint64_t kLeast = 8, kMostSamples = 100'000, kUsual = 400;
  const Device& device = device_of(arguments);
  const std::span<const std::string> words = arguments.positionals();
  if (words.front() != "csv")
    throw UsageError{
        fmt::format("contend calibrate import: expected csv, the format of the tables, got \"{}\"", words.front())};
  ImportedKernels imported =
      import_kernels(words.subspan(1), device,
                     static_cast<std::size_t>(arguments.whole_number("most", kLeast, kMostSamples).value_or(kUsual)));
  imported.profile.name = arguments.value("name").value_or(device.name);
  const std::string path = *arguments.value("output");
  write_own_file(path, to_yaml(imported.profile));
  if (!arguments.has("quiet")) print_summary(path, imported);
  return kExitOk;
}

}  // namespace contend
