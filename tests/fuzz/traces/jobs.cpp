// Arbitrary bytes as a job trace: either an InputError, or jobs whose list reads back as the same list, and a reason
// for every row that is no job. The first byte chooses the format, by its place in the list of formats from 'a' on; any
// other byte stands for recognising it. Bad rows are skipped if the second byte is '+'. The disk is never touched.

#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "text/byte_source.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/import_jobs.hpp"
#include "traces/jobs/job_summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

/// Hands out its text in pieces, so that rows are cut anywhere.
class Pieces final : public contend::ByteSource {
 public:
  explicit Pieces(std::string_view text) : rest_{text} {}
  std::size_t read(char* buffer, std::size_t size) override {
    return rest_.read(buffer, std::min<std::size_t>(size, 7));
  }

 private:
  contend::TextSource rest_;
};

void check_rows(const contend::ImportedJobs& imported) {
  const contend::RowReport& report = imported.report;
  const auto jobs = static_cast<std::int64_t>(imported.jobs.size());
  CONTEND_CHECK(report.rows() == jobs + report.left_out_rows() + report.bad_rows(), "every row is accounted for");
  CONTEND_CHECK(report.skips_bad_rows() || report.bad_rows() == 0, "bad rows are errors");
  static_cast<void>(contend::summarise_jobs(imported.jobs));
}

void check_jobs(const contend::ImportedJobs& imported) {
  contend::Time last;
  for (const contend::JobRequest& job : imported.jobs) {
    CONTEND_CHECK(job.gpus >= 1 && !job.name.empty(), "a job has a name and GPUs");
    CONTEND_CHECK(job.submit >= last, "jobs are sorted by submission");
    last = job.submit;
  }
  if (imported.jobs.empty()) return;
  const std::string csv = contend::job_list_csv(imported.jobs);
  const auto again = contend::fuzz::must_accept([&] { return contend::parse_job_list(csv, "again"); });
  CONTEND_CHECK(contend::job_list_csv(again) == csv, "a written list reads back the same");
}

void run_jobs(std::string_view text) {
  if (text.size() < 2) return;
  const auto formats = contend::trace_formats();
  const auto index = static_cast<std::size_t>(static_cast<unsigned char>(text[0]) - static_cast<unsigned>('a'));
  const std::string format{index < formats.size() ? formats[index].name : std::string_view{"auto"}};
  contend::ImportOptions options;
  options.skip_bad_rows = text[1] == '+';
  Pieces source{text.substr(2)};
  const contend::ImportedJobs imported = contend::import_jobs(format, source, "fuzz", options);
  check_rows(imported);
  check_jobs(imported);
}

const contend::fuzz::Target kJobs{"jobs", run_jobs};

}  // namespace
