#pragma once
// The files that scenarios name beside those whose keys they include: job lists, tables, lists of failures, profiles.

#include "results/manifest.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// Takes the digests of files, of each once. Several threads may share one object.
class NamedFiles {
 public:
  /// Job lists count by the bytes that `lists` reads, so that a run has the jobs that the digest covers.
  explicit NamedFiles(JobLists& lists) : lists_{lists} {}

  /// Calls `visit` with the path of each file that the scenario names, which it may change, and the digest of that
  /// file, or of a folder of files; nothing for a path that can't be read, or that can be read only once, such as a
  /// pipe. Runs report faults of files.
  using Visitor = std::function<void(std::string& path, const std::optional<std::string>& sha256)>;
  void visit(Scenario& scenario, const Visitor& visit);
  /// The files with digests that visit() has met, by path.
  [[nodiscard]] std::vector<InputFile> met() const;

 private:
  [[nodiscard]] std::optional<std::string> digest(const std::string& path, bool is_job_list);

  JobLists& lists_;
  mutable std::mutex mutex_;
  std::map<std::string, std::optional<std::string>> files_;  ///< SHA-256 by path
};

/// Adds the files that the scenario names to those that have been read for it, each path once. Throws InputError for a
/// job list that can't be read.
void add_named_files(const Scenario& scenario, JobLists& lists, std::vector<InputFile>& inputs);
/// Adds these files to the inputs.
void add_files(std::vector<InputFile> files, std::vector<InputFile>& inputs);

}  // namespace contend
