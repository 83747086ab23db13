// The published traces themselves, where they are there: as many jobs as their publishers and independent readers
// count.
#include "tests/traces/jobs_test_kit.hpp"

#include "tests/test_data.hpp"
#include "text/atomic_file.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/job_summary.hpp"

#include <optional>
#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::int64_t jobs_of(const JobSummary& summary, const std::string& vc) {
  for (const JobGroup& group : summary.vcs)
    if (group.name == vc) return group.jobs;
  return 0;
}

/// The text of one member of a tar archive, which may be compressed.
std::string tar_member(const std::string& archive, const std::string& name) {
  const std::unique_ptr<ByteSource> source = open_file(archive);
  const std::string bytes = read_all(*source);
  for (std::size_t at = 0; at + 512 <= bytes.size() && bytes[at] != '\0';) {
    const std::size_t size = std::stoull(bytes.substr(at + 124, 11), nullptr, 8);
    if (bytes.c_str() + at == name) return bytes.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return {};
}

}  // namespace

TEST_CASE("published: a slice of Helios Venus") {
  const std::optional<std::string> data = test_data("traces");
  if (!data) return;
  const ImportedJobs got = import_jobs("auto", *data + "/helios/helios_venus_2vc_sept.csv");
  const JobSummary summary = summarise_jobs(got.jobs);
  CHECK(jobs_of(summary, "vcvGl") == 1452);
  CHECK(jobs_of(summary, "vcvlY") == 415);
  CHECK(got.jobs.front().submit == Time::seconds(5835));  // grep -v '#' FILE | head -2: 5835000000 us
  CHECK(got.report.bad_rows() + got.report.left_out_rows() == 0);
  const std::string csv = job_list_csv(got.jobs);
  CHECK(job_list_csv(parse_job_list(csv, "again")) == csv);
}

TEST_CASE("published: Microsoft ITP") {
  const std::optional<std::string> data = test_data("traces");
  if (!data) return;
  for (const char* archive : {"/msft_itp/raw-traces.tar.gz", "/msft_itp/elasticflow-traces.tar.gz"}) {
    const std::string text = tar_member(*data + archive, "cluster01.csv");
    REQUIRE(!text.empty());
    const ImportedJobs got = import_text_of("auto", text);
    CHECK(got.format->name == "itp");
    REQUIRE(got.jobs.size() == 1595);
    // 855 jobs share their second of submission with an earlier one.
    std::set<std::int64_t> seconds;
    for (const JobRequest& job : got.jobs) seconds.insert(job.submit.ns());
    CHECK(got.jobs.size() - seconds.size() == 855);
  }
  CHECK_THROWS_AS(static_cast<void>(import_jobs("auto", *data + "/msft_itp/raw-traces.tar.gz")), InputError);
}

TEST_CASE("published: Philly, OpenB, Muri, Tiresias") {
  const std::optional<std::string> data = test_data("traces");
  if (!data) return;
  const ImportedJobs philly = import_jobs("auto", *data + "/philly/philly_pollux.csv");
  CHECK(philly.jobs.size() == 82'247);
  CHECK(jobs_of(summarise_jobs(philly.jobs), "6214e9") == 41'226);

  const ImportedJobs openb = import_jobs("auto", *data + "/openb_v2023/openb_pod_list_default.csv");
  CHECK(openb.report.rows() == 8152);
  CHECK(reasons_text(openb.report.left_out()) ==
        "it requests no GPUs: 1088 (7, 18, 50); still waiting when the trace was taken: 861 (63, 86, 92)");
  CHECK(openb.jobs.size() == 6203);

  const ImportedJobs muri = import_jobs("auto", *data + "/muri/trace3.csv");
  CHECK(muri.jobs.size() == 992);
  CHECK(muri.jobs.at(0).duration == Time::seconds(927'475));
  const ImportedJobs work = import_jobs("muri-iterations", *data + "/muri/trace3.csv");
  CHECK(work.jobs.at(0).duration == Time::milliseconds(1'046'811LL * 886));

  CHECK(import_jobs("auto", *data + "/tiresias/60_job.csv").jobs.size() == 60);
}

TEST_CASE("published: the job lists of the contention study") {
  const std::optional<std::string> data = test_data("ada_srsf");
  if (!data) return;
  for (const char* file : {"jobs_1.csv", "jobs_3.csv", "jobs_5.csv"})
    CHECK(read_job_list(*data + "/" + file).size() == 160);
}
