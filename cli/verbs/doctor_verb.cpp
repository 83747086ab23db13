// `contend doctor`: what the program can make use of on this machine (cli/facilities.txt).

#include "calibration/backend.h"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/process.hpp"
#include "cli/version.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "sim/check.hpp"
#include "sim/counted.hpp"
#include "sim/fields.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

/// Whether a facility is here; `found`: its version, number or path, or why it isn't here.
struct Finding {
  bool here = false;
  std::string found;
};

std::string first_line(const std::string& text) {
  return std::string{trimmed(std::string_view{text}.substr(0, text.find('\n')))};
}

/// The first of these programs, separated by spaces, that says its version.
Finding program_of(std::string_view names) {
  const std::string all{names};
  while (!names.empty()) {
    const std::string name{take_field(names, ' ')};
    const ProcessResult result = run_process({"/bin/sh", "-c", "exec \"$0\" --version 2>/dev/null", name});
    if (result.code == 0) return {true, first_line(result.out)};
  }
  return {false, fmt::format("no version from {} on the path", all)};
}

/// The modules that python3 imports, with their versions; `contend` is imported, because its compiled part may be of
/// another Python.
const std::map<std::string, std::string>& python_modules() {
  static const std::map<std::string, std::string> kModules = [] {
    std::string names;
    for (const TextEntry& each : read_entries(facilities_text()))
      if (each.has("module")) names += fmt::format("'{}',", each.text("module"));
    const std::string program =
        "import importlib.metadata as m, importlib.util as u\n"
        "for n in [" +
        names +
        "]:\n"
        "  try:\n"
        "    if n == 'contend': import contend; v = contend.version()\n"
        "    else: v = m.version(n)\n"
        "  except Exception: v = 'unknown version' if n != 'contend' and u.find_spec(n) else ''\n"
        "  if v: print(n, v)\n";
    std::map<std::string, std::string> modules;
    const std::string printed = run_process({"python3", "-c", program}).out;
    for (std::string_view rest = printed; !rest.empty();) {
      std::string_view line = take_field(rest, '\n');
      const std::string name{take_field(line, ' ')};
      modules.emplace(name, line);
    }
    return modules;
  }();
  return kModules;
}

Finding module_of(std::string_view name) {
  const auto found = python_modules().find(std::string{name});
  if (found == python_modules().end()) return {false, fmt::format("python3 imports no {}", name)};
  return {true, found->second};
}

Finding folder_of(const std::filesystem::path& folder) {
  const bool writable = ::access(folder.c_str(), W_OK | X_OK) == 0;
  return {writable, folder.string() + (writable ? "" : " can't be written")};
}

Finding file_of(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool here = std::filesystem::exists(file, ignored);
  return {here, here ? file.string() : fmt::format("there is no {}", file.string())};
}

Finding scenarios_found() {
  const Finding here = file_of("scenarios/ada-srsf/base.yaml");
  return here.here ? here
                   : file_of(shipped_path("scenarios/ada-srsf/base.yaml") == here.found
                                 ? std::filesystem::path{here.found}
                                 : std::filesystem::path{shared_folder()} / "scenarios" / "ada-srsf" / "base.yaml");
}

Finding cores_found() {
  return {true, counted(std::max(1U, std::thread::hardware_concurrency()), "core")};
}

Finding memory_found() {
  constexpr double kGiB = 1 << 30;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {true, fmt::format("{:.1f} GiB, {:.1f} GiB of them free",
                            page * static_cast<double>(::sysconf(_SC_PHYS_PAGES)) / kGiB,
                            page * static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) / kGiB)};
}

Finding headers_found() {
  return file_of(std::filesystem::path{shared_folder()}.parent_path().parent_path() / "include" / "contend" /
                 "policies" / "plugin.hpp");
}

Finding cuda_found() {
  const contend_backend* const cuda = contend_cuda_backend();
  if (cuda == nullptr) return {false, "this program was built without CUDA"};
  contend_device_info info{};
  std::array<char, 256> message{};
  if (cuda->open(0, &info, message.data(), message.size()) != CONTEND_OK) return {false, first_line(message.data())};
  cuda->close();
  return {true, fmt::format("{}, CUDA {}", info.name, cuda_version())};
}

Finding data_found() {
  const char* const given = std::getenv("CONTEND_DATA");
  return file_of(given != nullptr ? given : "../shared/data");
}

constexpr std::pair<std::string_view, Finding (*)()> kLooks[] = {
    {"scenarios", scenarios_found},
    {"cores", cores_found},
    {"memory", memory_found},
    {"folder", [] { return folder_of(std::filesystem::current_path()); }},
    {"temporary-folder", [] { return folder_of(std::filesystem::temp_directory_path()); }},
    {"headers", headers_found},
    {"cuda", cuda_found},
    {"data", data_found}};

Finding look_for(const TextEntry& facility) {
  if (facility.has("programs")) return program_of(facility.text("programs"));
  if (facility.has("module")) return module_of(facility.text("module"));
  const auto* const look = std::ranges::find(kLooks, facility.name, &std::pair<std::string_view, Finding (*)()>::first);
  CONTEND_CHECK(look != std::end(kLooks), "a facility without a program is looked for");
  return look->second();
}

/// The facilities that the user names; else all.
std::vector<TextEntry> wanted_facilities(const std::vector<std::string>& names) {
  std::vector<TextEntry> all = read_entries(facilities_text());
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const TextEntry& each : all) known.emplace_back(each.name);
  std::vector<TextEntry> wanted;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &TextEntry::name);
    if (found == all.end())
      throw UsageError{fmt::format("contend doctor: there is no facility \"{}\"{}; there are: {}", name,
                                   suggestion(name, known), join(known))};
    wanted.push_back(*found);
  }
  return wanted;
}

}  // namespace

int doctor_verb(const Arguments& arguments) {
  const std::vector<TextEntry> facilities = wanted_facilities(arguments.positionals());
  JsonWriter json;
  json.begin_array();
  std::string text = fmt::format("contend {}, {}\n", version(), compiler());
  bool all_here = true;
  for (const TextEntry& each : facilities) {
    const Finding finding = look_for(each);
    all_here = all_here && finding.here;
    json.begin_object().member("facility", each.name).member("here", finding.here).member("found", finding.found);
    json.member("use", each.text("use")).member("get", each.text("get")).end_object();
    text += fmt::format("{:7} {:<19} {}\n", finding.here ? "ok" : "missing", each.name, finding.found);
    text += fmt::format("{:27} for {}\n", "", each.text("use"));
    if (!finding.here) text += fmt::format("{:27} to get it: {}\n", "", each.text("get"));
  }
  json.end_array();
  print_output("{}", arguments.has("json") ? json.take() : coloured_verdicts(text));
  return all_here || arguments.positionals().empty() ? kExitOk : kExitCapability;
}

}  // namespace contend
