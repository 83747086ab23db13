#include "validate/workloads/real_lists.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/jobs/import_jobs.hpp"
#include "validate/schedulers/tar_member.hpp"
#include "validate/schedulers/traces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kPhillyBegin = 17'433 * kDay;  // 2017-09-24 since 1970: the log is complete from this day on
constexpr int kItpClusters = 10;

/// What is known of a list beforehand.
struct ListRow {
  std::string_view like, title, file;
  int servers;
  int days;
  std::size_t jobs;
};

constexpr ListRow kLists[] = {
    {"philly", "Philly", "philly/philly_pollux.csv", 64, 90, 82'178},
    {"itp", "ITP, ten clusters in one pool", "msft_itp/raw-traces.tar.gz", 192, 60, 69'351},
    {"helios-venus", "Helios Venus, two virtual clusters in one pool", "helios/helios_venus_2vc_sept.csv", 32, 26,
     1'867},
};

std::string path_of(const ListRow& row) {
  return (std::filesystem::path{trace_folder()} / row.file).string();
}

std::vector<JobRequest> read_philly_list(const std::string& path) {
  const ImportOptions options{.from = Time::seconds(kPhillyBegin), .origin = TimeOrigin::kept};
  std::vector<JobRequest> jobs = import_jobs("philly-csv", path, options).jobs;
  for (JobRequest& job : jobs) job.submit = job.submit - Time::seconds(kPhillyBegin);
  return jobs;
}

/// The clusters become virtual clusters.
std::vector<JobRequest> read_itp_lists(const std::string& path) {
  std::vector<JobRequest> all;
  for (int cluster = 1; cluster <= kItpClusters; ++cluster) {
    const std::string name = fmt::format("cluster{:02}", cluster);
    const std::unique_ptr<ByteSource> archive = open_file(path);
    const std::string text = read_tar_member(*archive, path, name + ".csv");
    TextSource source{text};
    ImportedJobs list = import_jobs("itp", source, fmt::format("{}/{}.csv", path, name), {.origin = TimeOrigin::kept});
    for (JobRequest& job : list.jobs) {
      job.name = fmt::format("{}-{}", name, job.name);
      job.vc = name;
    }
    std::ranges::move(list.jobs, std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &JobRequest::submit);
  return all;
}

std::vector<JobRequest> read_helios_list(const std::string& path) {
  return import_jobs("fleetsim", path, {.origin = TimeOrigin::kept}).jobs;
}

}  // namespace

std::vector<RealListSource> real_list_sources() {
  std::vector<RealListSource> sources;
  for (const ListRow& row : kLists) sources.push_back({row.like, path_of(row)});
  return sources;
}

std::optional<RealList> read_real_list(std::string_view like) {
  const ListRow& row = *std::ranges::find(kLists, like, &ListRow::like);
  const std::string path = path_of(row);
  if (!std::filesystem::exists(path)) return std::nullopt;
  RealList list{row.like, row.title, row.servers, row.days, {}};
  if (like == "philly") list.jobs = read_philly_list(path);
  if (like == "itp") list.jobs = read_itp_lists(path);
  if (like == "helios-venus") list.jobs = read_helios_list(path);
  if (list.jobs.size() != row.jobs) {
    throw InputError{
        fmt::format("{}: expected the {} jobs of {}, got {}", path, row.jobs, row.title, list.jobs.size())};
  }
  return list;
}

std::vector<JobRequest> days_of(const std::vector<JobRequest>& jobs, int from, int until) {
  std::vector<JobRequest> part;
  std::ranges::copy_if(jobs, std::back_inserter(part), [&](const JobRequest& job) {
    return job.submit >= Time::seconds(from * kDay) && job.submit < Time::seconds(until * kDay);
  });
  return part;
}

}  // namespace contend
