// Arbitrary bytes as the files of a result folder: either an InputError, or replicas whose jobs have the times of their
// states.

#include "results/result_reader.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

using contend::fuzz::take;

/// The files of a folder, each after a line `#file NAME`; only these names are written.
void run_folder(std::string_view text) {
  static const contend::TemporaryFolder folder;
  constexpr std::string_view kMark = "#file ";
  constexpr std::array<std::string_view, 3> kFiles = {"manifest.json", "summary.json", "jobs.csv"};
  for (const std::string_view name : kFiles) std::filesystem::remove(folder.path(std::string{name}));
  while (!text.empty()) {
    const std::string_view line = take(text, '\n');
    if (!line.starts_with(kMark)) continue;
    const std::string_view name = line.substr(kMark.size());
    const std::size_t end = text.starts_with(kMark) ? 0 : std::min(text.find("\n#file "), text.size());
    if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end())
      contend::write_file(folder.path(std::string{name}), text.substr(0, end));
    text.remove_prefix(std::min(end + (end == 0 ? 0 : 1), text.size()));
  }
  const contend::StoredResults results = contend::read_results(folder.path(""));
  CONTEND_CHECK(!results.replicas.empty(), "a folder has a replica");
  for (const contend::StoredReplica& replica : results.replicas)
    for (const contend::StoredJob& job : replica.jobs)
      CONTEND_CHECK(job.state != contend::JobState::finished || (job.start && job.finish),
                    "a job that ended has times");
}

const contend::fuzz::Target kFolder{"folder", run_folder};

}  // namespace
