#include "cli/load.hpp"

#include "scenarios/keys/reader.hpp"
#include "sim/error.hpp"
#include "text/sha256.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<std::string> overrides(const Arguments& arguments) {
  std::vector<std::string> all = arguments.values("set");
  // The short forms come last and win: users append them to an existing command.
  if (const auto seed = arguments.whole_number("seed", 0, std::numeric_limits<std::int64_t>::max()))
    all.push_back(fmt::format("seed={}", *seed));
  if (const auto repeat = arguments.whole_number("repeat", 1, 100'000))
    all.push_back(fmt::format("repeat={}", *repeat));
  if (const auto until = arguments.value("until")) all.push_back("engine.until=" + *until);
  if (arguments.has("no-leap")) all.emplace_back("engine.leap=false");
  return all;
}

/// Like load_scenario(), but also records the hash of every file as it was read.
Scenario load_one(const std::string& path, const LoadOptions& options, std::vector<InputFile>& inputs) {
  const FileReader read = [&](const std::string& file) {
    FileText content = read_text_file(file);
    if (content.text) inputs.push_back({.path = file, .sha256 = sha256_hex(*content.text)});
    return content;
  };
  const FileText content = read(path);
  if (!content.text) return load_scenario(path, options);  // words the complaint
  Scenario scenario = parse_scenario(*content.text, path, options, read);
  if (scenario.name.empty()) scenario.name = std::filesystem::path{path}.stem().string();
  return scenario;
}

}  // namespace

LoadedScenarios load_scenarios(const Arguments& arguments) {
  return load_scenarios(arguments, arguments.positionals(), {});
}

LoadedScenarios load_scenarios(const Arguments& arguments, std::span<const std::string> paths,
                               const std::vector<std::string>& more) {
  LoadOptions options{.overrides = overrides(arguments)};
  options.overrides.insert(options.overrides.end(), more.begin(), more.end());
  LoadedScenarios loaded;
  std::vector<Complaint> complaints;
  for (const std::string& path : paths) {
    try {
      loaded.scenarios.push_back(load_one(path, options, loaded.inputs.emplace_back()));
    } catch (const InputError& error) {
      complaints.insert(complaints.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return loaded;
}

std::string file_name_of(std::string name) {
  for (char& c : name) {
    const bool is_unsuitable = c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    if (is_unsuitable) c = '-';
  }
  if (name.empty() || name.front() == '.') name.insert(0, 1, '_');
  return name;
}

}  // namespace contend
