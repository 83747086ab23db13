#include "report/run_folder.hpp"

#include "results/result_digests.hpp"
#include "results/result_reader.hpp"
#include "scenarios/keys/reader.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/json_reader.hpp"

#include <filesystem>
#include <future>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

/// The members of a JSON object; a missing one is a complaint that names the file.
class Members {
 public:
  Members(const JsonValue& object, std::string file) : object_{object}, file_{std::move(file)} {}

  [[nodiscard]] const JsonValue& get(std::string_view name, JsonValue::Kind kind) const {
    const JsonValue* value = object_.find(name);
    if (value == nullptr || !value->is(kind))
      throw InputError{fmt::format("{}: expected {} \"{}\"", file_, kind_name(kind), name)};
    return *value;
  }
  [[nodiscard]] std::string text(std::string_view name) const { return get(name, JsonValue::Kind::string).text; }
  [[nodiscard]] const std::vector<JsonValue>& array(std::string_view name) const {
    return get(name, JsonValue::Kind::array).items;
  }
  [[nodiscard]] bool flag(std::string_view name) const { return get(name, JsonValue::Kind::boolean).boolean; }
  [[nodiscard]] double number(std::string_view name) const { return value_of(get(name, JsonValue::Kind::number)); }
  [[nodiscard]] std::uint64_t whole(std::string_view name) const {
    const std::optional<std::uint64_t> number = get(name, JsonValue::Kind::number).whole();
    if (!number) throw InputError{fmt::format("{}: \"{}\": expected a whole number >= 0", file_, name)};
    return *number;
  }
  [[nodiscard]] double value_of(const JsonValue& value) const {
    if (value.is(JsonValue::Kind::null)) return std::numeric_limits<double>::quiet_NaN();
    return number_or_nan(value.text, file_);
  }

 private:
  const JsonValue& object_;
  std::string file_;
};

JsonValue read_document(const std::string& path) {
  const std::string text = read_file(path);
  TextSource source{text};
  return read_json(source, path);
}

void read_manifest(RunFolder& folder, const std::string& path) {
  const JsonValue document = read_document(path);
  const Members manifest{document, path};
  folder.version = manifest.text("version");
  folder.git_hash = manifest.text("git_hash");
  folder.scenario_hash = manifest.text("scenario_hash");
  folder.exit_state = manifest.text("exit_state");
  folder.name = manifest.text("scenario");
  for (const JsonValue& word : manifest.array("command_line")) folder.command_line.push_back(word.text);
  for (const JsonValue& item : manifest.array("replicas")) {
    const Members replica{item, path};
    folder.runs.push_back({.seed = replica.whole("seed"),
                           .interrupted = replica.flag("interrupted"),
                           .figures = {},
                           .fingerprint = replica.text("fingerprint"),
                           .digest = replica.text("digest"),
                           .events = replica.number("events"),
                           .leapt_events = replica.number("leapt_events"),
                           .wall_s = replica.number("wall_s")});
  }
  if (folder.runs.empty()) throw InputError{path + ": no replica ran to its end"};
}

void read_summary(RunFolder& folder, const std::string& path) {
  const JsonValue document = read_document(path);
  const std::vector<JsonValue>& replicas = Members{document, path}.array("replicas");
  if (replicas.size() != folder.runs.size())
    throw InputError{
        fmt::format("{}: {} replicas, but manifest.json has {}", path, replicas.size(), folder.runs.size())};
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const Members members{replicas[i], path};
    folder.runs[i].end_s = members.number("end_s");
    for (std::size_t j = 0; j < replicas[i].names.size(); ++j) {
      const JsonValue& value = replicas[i].items[j];
      if (value.is(JsonValue::Kind::number) || value.is(JsonValue::Kind::null))
        folder.runs[i].figures[replicas[i].names[j]] = members.value_of(value);
    }
  }
}

void read_files(RunFolder& folder) {
  const auto file = [&](const char* name) { return (fs::path{folder.path} / name).string(); };
  const auto table = [&](const char* name) { return read_columns(result_file(folder.path, name)); };
  read_manifest(folder, file("manifest.json"));
  read_summary(folder, result_file(folder.path, "summary.json"));
  folder.yaml = read_file(result_file(folder.path, "scenario.yaml"));
  folder.scenario = parse_scenario(folder.yaml, file("scenario.yaml"), {}, read_text_file);
  folder.jobs = table("jobs.csv");
  if (!folder.scenario.overlap.given()) {
    folder.gpus = table("gpus.csv");
    folder.links = table("links.csv");
  }
  if (folder.scenario.network.traits().has_topology && !folder.scenario.overlap.given()) {
    folder.fabric = table("fabric.csv");
    folder.fabric_utilisation = table("fabric_utilisation.csv");
  }
  if (fs::exists(file("fabric_delays.csv"))) {
    ColumnTable delays = table("fabric_delays.csv");
    if (delays.rows() > 0) folder.delays = std::move(delays);
  }
}

}  // namespace

std::vector<std::size_t> RunFolder::rows_of(const ColumnTable& table, const Run& run) const {
  std::vector<std::size_t> rows;
  const PackedColumn* seeds = table.find("replica");
  const std::string seed = fmt::format("{}", run.seed);
  for (std::size_t i = 0; i < table.rows(); ++i)
    if (seeds == nullptr || (*seeds)[i] == seed) rows.push_back(i);
  return rows;
}

RunFolder read_run_folder(const std::string& path) {
  if (!fs::exists(fs::path{path} / "manifest.json"))
    throw InputError{fmt::format("{}: not a folder of results: no manifest.json in it", path)};
  RunFolder folder;
  folder.path = path;
  // Digests take as long as tables.
  std::future<bool> checked = std::async(std::launch::async, [&] { return check_result_files(path); });
  try {
    read_files(folder);
  } catch (...) {
    checked.get();  // a file that was damaged is refused for that
    throw;
  }
  folder.has_digests = checked.get();
  return folder;
}

void name_apart(std::vector<RunFolder>& folders) {
  std::vector<std::string> names;
  const auto differ = [&] { return std::set<std::string>(names.begin(), names.end()).size() == names.size(); };
  const auto use = [&](const auto& name_of) {
    names.clear();
    for (const RunFolder& folder : folders) names.push_back(name_of(folder));
  };
  use([](const RunFolder& folder) { return folder.name.empty() ? "run" : folder.name; });
  if (!differ()) use([](const RunFolder& folder) { return fs::canonical(folder.path).filename().string(); });
  if (!differ()) use([](const RunFolder& folder) { return folder.path; });
  if (!differ())
    for (std::size_t i = 0; i < names.size(); ++i) names[i] += fmt::format(" ({})", i + 1);
  for (std::size_t i = 0; i < folders.size(); ++i) folders[i].name = std::move(names[i]);
}

}  // namespace contend
