#include "results/result_digests.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/file_complaints.hpp"
#include "text/json_reader.hpp"
#include "text/own_files.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestFile = "manifest.json";
constexpr std::string_view kManifestBegin = "{\n  \"program\": \"contend\"";
// How the manifest names its lists; the seal stands between its other members and its end.
constexpr std::string_view kSealBegin = ",\n  \"manifest_sha256\": \"", kSealEnd = "\"", kManifestEnd = "\n}\n";
constexpr std::string_view kFilesBegin = "\n  \"files\": [";
constexpr std::string_view kRemedy =
    "use an undamaged copy, or remove the results in this folder and write them again with `contend run -o`";
constexpr std::string_view kJournalFile = ".written";

/// The complaint about a file whose digest isn't the expected one.
Complaint wrong_digest(const std::string& path, std::string_view what, const std::string& found,
                       const std::string& expected) {
  return {.file = path,
          .reason = fmt::format("was damaged or changed after its run: the SHA-256 of {} is {}, expected {}; {}", what,
                                found, expected, kRemedy)};
}

/// The text of a manifest without its seal. Nothing if it has none, and none is expected. Throws InputError.
std::optional<std::string> opened_manifest(const std::string& text, const std::string& path) {
  const std::size_t seal = text.rfind(kSealBegin);
  const std::size_t end = text.size() - std::min(text.size(), kSealEnd.size() + kManifestEnd.size());
  if (seal == std::string::npos) {
    // An earlier version wrote neither list nor seal, and a single wrong byte doesn't take both away.
    if (text.find(kFilesBegin) == std::string::npos) return std::nullopt;
    throw InputError{{.file = path,
                      .reason = fmt::format("was damaged or changed after its run: its last member, manifest_sha256, "
                                            "is missing; {}",
                                            kRemedy)}};
  }
  const std::size_t begin = seal + kSealBegin.size();
  const std::string expected = text.substr(begin, end - std::min(begin, end));
  std::string content = text.substr(0, seal) + std::string{kManifestEnd};
  const std::string found = sha256_hex(content);
  if (found != expected || text.substr(end) != std::string{kSealEnd} + std::string{kManifestEnd})
    throw InputError{wrong_digest(path, "the text before its last member", found, expected)};
  return content;
}

/// The files that a sound manifest lists.
std::vector<InputFile> listed_files(const std::string& manifest, const std::string& path) {
  TextSource source{manifest};
  const JsonValue root = read_json(source, path);
  std::vector<InputFile> files;
  const JsonValue* const list = root.find("files");
  if (list == nullptr) return files;
  for (const JsonValue& each : list->items) {
    const JsonValue *name = each.find("path"), *digest = each.find("sha256");
    if (name != nullptr && digest != nullptr) files.push_back({.path = name->text, .sha256 = digest->text});
  }
  return files;
}

std::string sealed(std::string text) {
  const std::string seal = fmt::format("{}{}{}", kSealBegin, sha256_hex(text), kSealEnd);
  return text.insert(text.size() - kManifestEnd.size(), seal);
}

/// Appends the files that a manifest or a journal lists; none if the file isn't there or isn't sound.
void add_listed(const std::string& path, std::vector<InputFile>& files) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return;
  try {
    const std::string text = read_file(path);
    const std::optional<std::string> content = is_manifest(text) ? opened_manifest(text, path) : std::nullopt;
    if (!content) return;
    for (InputFile& each : listed_files(*content, path)) files.push_back(std::move(each));
  } catch (const InputError&) {
    return;  // it was damaged or changed, so that nobody knows what the run wrote
  }
}

/// Why a run must leave the manifest of a folder alone; empty if it may replace it.
std::string why_foreign_manifest(const std::string& path) {
  const std::string text = read_file(path);
  if (!is_manifest(text)) return "no run of contend has written it";
  try {
    if (opened_manifest(text, path)) return {};
    return "an earlier version of contend has written it, which didn't list the files of a run";
  } catch (const InputError&) {
    return "it was damaged or changed after its run";
  }
}

/// Why a run must leave this file of a folder alone; empty if a run has written it so.
std::string why_foreign(std::string_view name, const std::string& path, std::span<const InputFile> own) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) return {};
  if (fs::is_symlink(status)) return "it is a symbolic link";
  if (!fs::is_regular_file(status)) return "it is no regular file";
  if (name == kManifestFile || name == kJournalFile) return why_foreign_manifest(path);
  const auto is_it = [name](const InputFile& each) { return each.path == name; };
  if (std::ranges::none_of(own, is_it))
    return "no run of contend has written it, because no manifest.json of contend in the folder lists it";
  const std::string found = sha256_of_file(path);
  const auto is_unchanged = [&](const InputFile& each) { return is_it(each) && each.sha256 == found; };
  return std::ranges::any_of(own, is_unchanged) ? "" : "it was changed after its run";
}

}  // namespace

std::string journal_of(const std::string& folder) {
  return (fs::path{folder} / kJournalFile).string();
}

std::string sealed_journal(const Manifest& manifest, std::span<const InputFile> files) {
  Manifest unfinished = manifest;
  unfinished.interrupted = true;
  return sealed_manifest(unfinished, {}, files);
}

std::vector<InputFile> own_files(const std::string& folder) {
  std::vector<InputFile> files;
  add_listed((fs::path{folder} / kManifestFile).string(), files);
  add_listed(journal_of(folder), files);
  return files;
}

std::vector<Complaint> foreign_files(const std::string& folder) {
  const std::vector<InputFile> own = own_files(folder);
  std::vector<Complaint> complaints;
  std::vector<std::string_view> names{run_files().begin(), run_files().end()};
  names.push_back(kJournalFile);
  for (const std::string_view name : names) {
    const std::string path = (fs::path{folder} / name).string();
    const std::string why = why_foreign(name, path, own);
    if (why.empty()) continue;
    complaints.push_back({.file = path,
                          .reason = fmt::format("this file would be overwritten or removed, and {}; write to another "
                                                "folder (-o), or move the file away",
                                                why)});
  }
  if (std::optional<Complaint> list = foreign_list(folder)) complaints.push_back(std::move(*list));
  return complaints;
}

std::span<const std::string_view> run_files() {
  static constexpr std::string_view kFiles[] = {
      kManifestFile,       "summary.json",    "scenario.yaml", "jobs.csv",        "gpus.csv",
      "links.csv",         "types.csv",       "fabric.csv",    "fabric_jobs.csv", "fabric_utilisation.csv",
      "fabric_delays.csv", "messages.csv",    "sharing.csv",   "energy.csv",      "requests.csv",
      "rounds.csv",        "certificate.csv", "transfers.csv", "graphs.csv"};
  return kFiles;
}

bool is_manifest(std::string_view text) {
  return text.starts_with(kManifestBegin);
}

std::string sealed_manifest(const Manifest& manifest, std::span<const Replica> replicas,
                            std::span<const InputFile> files) {
  return sealed(manifest_json(manifest, replicas, files));
}

bool check_result_files(const std::string& folder) {
  const auto path = [&](std::string_view name) { return (fs::path{folder} / name).string(); };
  const std::string manifest = path(kManifestFile);
  const std::optional<std::string> content = opened_manifest(read_file(manifest), manifest);
  if (!content) return false;
  std::vector<Complaint> complaints;
  const std::vector<InputFile> files = listed_files(*content, manifest);
  for (const std::string_view name : run_files()) {
    std::error_code ignored;
    if (name == kManifestFile || !fs::exists(path(name), ignored)) continue;
    const auto listed = std::ranges::find(files, name, &InputFile::path);
    if (listed == files.end()) {
      complaints.push_back(
          {.file = path(name), .reason = "is of another run: manifest.json doesn't list this file; remove it"});
      continue;
    }
    const std::string found = sha256_of_file(path(name));
    if (found != listed->sha256) complaints.push_back(wrong_digest(path(name), "its content", found, listed->sha256));
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return true;
}

}  // namespace contend
