// `contend import training`: a training entry out of a launch file.

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/launch/launch_file.hpp"
#include "sim/complaints.hpp"
#include "text/atomic_file.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The entry as a file that scenarios include; members of a group, such as `parallel`, are in one line.
std::string entry_text(const LaunchEntry& read) {
  std::string lines;
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [member, value] : read.members) {
    const std::size_t point = member.find('.');
    if (point == std::string::npos)
      lines += fmt::format("    {}: {}\n", member, value);
    else
      groups[member.substr(0, point)].push_back(fmt::format("{}: {}", member.substr(point + 1), value));
  }
  for (const auto& [group, members] : groups) lines += fmt::format("    {}: {{{}}}\n", group, join(members));
  return fmt::format("schema_version: 2\ntraining:\n  {}:\n{}", read.format, lines);
}

/// The rates of what is kept outside of the GPUs, which no launch file says.
void add_rates(const Arguments& arguments, LaunchEntry& entry) {
  const auto found = std::ranges::find(entry.members, "parallel.offload", &std::pair<std::string, std::string>::first);
  for (const std::string_view rate : {"link", "memory"}) {
    const std::string option = fmt::format("offload-{}", rate);
    const auto given = arguments.value(option);
    if (!given) continue;
    if (found == entry.members.end())
      throw UsageError{fmt::format("--{}: the files keep nothing outside of the GPUs", option)};
    found->second.pop_back();
    found->second += fmt::format(", {}: {}}}", rate, *given);
  }
}

}  // namespace

int import_training_verb(const Arguments& arguments) {
  const std::vector<std::string>& paths = arguments.positionals();
  std::vector<LaunchFile> files;
  for (const std::string& path : paths) files.push_back({path, read_file(path)});
  LaunchEntry read = read_launch_files(files, arguments.value("model").value_or(""));
  add_rates(arguments, read);
  const std::string text = entry_text(read);
  try {  // on a machine whose GPUs have every format
    static_cast<void>(parse_scenario(text + "machine: dgx-b200\n", paths.back()));
  } catch (const InputError& error) {
    throw amended(error, [](Complaint& each) {
      each.line = each.column = 0;
      each.source_line.clear();
      if (each.key.find(".offload.") != std::string::npos)
        each.hint = "--offload-link 25GB/s --offload-memory 100GB/s, as on your servers";
    });
  }
  for (const LaunchEntry::Unknown& each : read.unknown)
    print_message("contend: note: {}{}: {}\n", each.file, each.line > 0 ? fmt::format(":{}", each.line) : "",
                  each.line > 0 ? fmt::format("not understood: {}", each.text) : each.text);
  if (!read.idle.empty() && !arguments.has("quiet"))
    print_message("contend: note: {}: no member needs {}\n", join(paths), join(read.idle));
  if (const auto output = arguments.value("output"))
    write_own_file(*output, text);
  else
    print_output("{}", text);
  return kExitOk;
}

}  // namespace contend
