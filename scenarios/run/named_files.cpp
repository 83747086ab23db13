#include "scenarios/run/named_files.hpp"

#include "scenarios/keys/print.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace contend {
namespace {

/// What the digest of a path covers: the bytes of a file; of a folder the names of its files with their digests.
/// Nothing for a path that is neither.
std::optional<std::string> digested(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return read_file(path);
  if (!std::filesystem::is_directory(path, ignored)) return std::nullopt;
  std::map<std::string, std::string> digests;
  for (const auto& each : std::filesystem::directory_iterator{path})
    if (each.is_regular_file(ignored))
      digests[each.path().filename().string()] = sha256_hex(read_file(each.path().string()));
  std::string all;
  for (const auto& [name, digest] : digests) all += name + " " + digest + "\n";
  return all;
}

}  // namespace

void NamedFiles::visit(Scenario& scenario, const Visitor& visit) {
  const std::string jobs = scenario.workload.jobs.value_or("");
  visit_paths(scenario, [&](std::string& path) { visit(path, digest(path, path == jobs)); });
}

std::optional<std::string> NamedFiles::digest(const std::string& path, bool is_job_list) {
  if (is_job_list) {
    try {
      const std::string sha256 = lists_.read(path)->sha256;  // lists of other paths can be read meanwhile
      const std::scoped_lock lock{mutex_};
      return files_[path] = sha256;
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
  const std::scoped_lock lock{mutex_};
  const auto [there, is_new] = files_.emplace(path, std::nullopt);
  if (is_new) {
    try {
      if (const std::optional<std::string> bytes = digested(path)) there->second = sha256_hex(*bytes);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
  return there->second;
}

std::vector<InputFile> NamedFiles::met() const {
  const std::scoped_lock lock{mutex_};
  std::vector<InputFile> met;
  for (const auto& [path, sha256] : files_)
    if (sha256) met.push_back({path, *sha256});
  return met;
}

void add_named_files(const Scenario& scenario, JobLists& lists, std::vector<InputFile>& inputs) {
  if (scenario.workload.jobs) static_cast<void>(lists.read(*scenario.workload.jobs));
  NamedFiles files{lists};
  Scenario copy = scenario;
  files.visit(copy, [](const std::string&, const auto&) {});
  add_files(files.met(), inputs);
}

void add_files(std::vector<InputFile> files, std::vector<InputFile>& inputs) {
  for (InputFile& each : files)
    if (std::ranges::find(inputs, each.path, &InputFile::path) == inputs.end()) inputs.push_back(std::move(each));
}

}  // namespace contend
