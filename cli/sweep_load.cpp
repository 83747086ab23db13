#include "cli/sweep_load.hpp"

#include "cli/load.hpp"
#include "scenarios/run/named_files.hpp"
#include "scenarios/run/run_notes.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/sha256.hpp"

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::uint64_t kMaxRepeat = 100'000;
constexpr std::uint64_t kMaxShards = 1'000'000;

std::string key_of(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

/// Sorts the values of --set: a single value is an override as in other verbs, several are a dimension of the sweep.
struct SetOptions {
  std::vector<std::string> overrides;
  std::vector<SweepDimension> dimensions;
};

SetOptions set_options(const Arguments& arguments, std::optional<std::uint64_t> repeat) {
  SetOptions options;
  for (const std::string& assignment : arguments.values("set")) {
    // Of other keys, such as a description, any comma is part of the value.
    if (sweepable_key(key_of(assignment)) == nullptr) {
      options.overrides.push_back(assignment);
      continue;
    }
    SweepDimension dimension = parse_dimension(assignment);
    if (dimension.range || dimension.values.size() > 1)
      options.dimensions.push_back(std::move(dimension));
    else
      options.overrides.push_back(assignment);
  }
  if (!repeat) repeat = arguments.whole_number("repeat", 1, kMaxRepeat);
  if (repeat) options.overrides.push_back(fmt::format("sweep.repeat={}", *repeat));
  return options;
}

/// Sets a key that the scenario varies to a single value; the sweep then no longer varies it.
void fix_dimensions(SweepSpec& spec, const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) {
    const std::string key = key_of(assignment);
    if (varies(spec, key)) set_dimension(spec, parse_dimension(assignment));
  }
}

LoadedSweep load(const Arguments& arguments, unsigned threads, std::optional<std::uint64_t> repeat) {
  const std::string& path = arguments.positionals().front();
  SetOptions options = set_options(arguments, repeat);
  // The reader stays with the plan. What points read later, from several threads, is not hashed here.
  struct Recorded {
    std::vector<InputFile> inputs;
    bool loading = true;
  };
  const auto recorded = std::make_shared<Recorded>();
  const FileReader read = [recorded](const std::string& file) {
    FileText content = read_text_file(file);
    if (recorded->loading && content.text)
      recorded->inputs.push_back({.path = file, .sha256 = sha256_hex(*content.text)});
    return content;
  };
  const FileText content = read(path);
  if (!content.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + content.reason)}};
  std::vector<std::string> notes;
  ScenarioVariants variants = [&] {
    try {
      return ScenarioVariants{
          *content.text, path, {.overrides = options.overrides, .notes = &notes, .more = faults_of_list}, read};
    } catch (const InputError& error) {
      throw with_set_hints(error);
    }
  }();
  recorded->loading = false;
  if (!repeat) print_load_notes(arguments, std::move(notes));
  Scenario& base = variants.base();
  if (base.name.empty()) base.name = std::filesystem::path{path}.stem().string();
  fix_dimensions(base.sweep, options.overrides);
  for (SweepDimension& each : options.dimensions) set_dimension(base.sweep, std::move(each));
  LoadedSweep loaded{SweepPlan{std::move(variants), threads}, std::move(recorded->inputs)};
  add_files(loaded.plan.files(), loaded.inputs);
  const Scenario first = loaded.plan.scenario(0);
  if (const std::string note = version_note(first.schema_version, first.ideals); !note.empty() && !repeat)
    print_load_notes(arguments, {path + ": " + note});
  return loaded;
}

}  // namespace

LoadedSweep load_sweep(const Arguments& arguments, unsigned threads) {
  return load(arguments, threads, std::nullopt);
}

LoadedSweep load_sweep(const Arguments& arguments, unsigned threads, std::uint64_t repeat) {
  return load(arguments, threads, repeat);
}

std::optional<SweepPlan> sweep_of(const std::string& path, const std::vector<std::string>& overrides) {
  const FileText content = read_text_file(path);
  if (!content.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + content.reason)}};
  ScenarioVariants variants{*content.text, path, {.overrides = overrides, .more = faults_of_list}, read_text_file};
  if (!variants.base().sweep.given()) return std::nullopt;
  return SweepPlan{std::move(variants), 1};
}

std::string extent_text(const SweepPlan& plan) {
  const std::size_t points = plan.points().size();
  return fmt::format("{} x {} = {}", counted(points, "point"), counted(plan.info().repeat, "seed"),
                     counted(plan.info().runs, "run"));
}

Shard shard_of(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("shard");
  if (!text) return {};
  Shard shard;
  const char* const end = text->data() + text->size();
  const auto [slash, index_error] = std::from_chars(text->data(), end, shard.index);
  const bool has_count = index_error == std::errc{} && slash != end && *slash == '/';
  const auto [stop, count_error] = has_count ? std::from_chars(slash + 1, end, shard.count)
                                             : std::from_chars_result{end, std::errc::invalid_argument};
  if (count_error != std::errc{} || stop != end || shard.index < 0 || shard.count < 1 || shard.index >= shard.count ||
      static_cast<std::uint64_t>(shard.count) > kMaxShards)
    throw UsageError{fmt::format("--shard: expected i/n with i from 0 to n - 1, such as 0/4, got \"{}\"", *text)};
  return shard;
}

}  // namespace contend
