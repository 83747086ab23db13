// What real and broken files do to the readers: nothing is dropped without a reason.
#include "tests/traces/jobs_test_kit.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "traces/job_list.hpp"

#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

using namespace contend;

namespace {

constexpr const char* kTableHeader = "job_id,submission_time,duration,num_gpu\n";

/// A source that hands out few bytes at a time.
class Trickle final : public ByteSource {
 public:
  Trickle(std::string_view text, std::size_t step) : rest_{text}, step_{step} {}
  std::size_t read(char* buffer, std::size_t size) override { return rest_.read(buffer, std::min(size, step_)); }

 private:
  TextSource rest_;
  std::size_t step_;
};

/// A compressed file in a folder of its own, with only `kept` of its bytes.
class GzipFile {
 public:
  explicit GzipFile(const std::string& text) {
    const gzFile file = ::gzopen(path_.c_str(), "wb");
    REQUIRE(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    ::gzclose(file);
  }
  ~GzipFile() { std::filesystem::remove(path_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  void cut(double part) const {
    const auto size = static_cast<double>(std::filesystem::file_size(path_));
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(size * part));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / fmt::format("contend-jobs-{}.gz", ::getpid())).string();
};

std::string many_rows(int rows) {
  std::string text = kTableHeader;
  for (int i = 0; i < rows; ++i) text += fmt::format("job{},{},{},{}\n", i, 10 * i, 7919 * i % 5003, 1 + i % 8);
  return text;
}

}  // namespace

TEST_CASE("every kind of bad row has its line and reason, and can be skipped and counted") {
  const std::string text = std::string{kTableHeader} +
                           "a,0,100,1\n"         // good
                           "b,0,-5,1\n"          // negative duration
                           "c,-1,5,1\n"          // negative time
                           "d,0,5,1000000000\n"  // 10^9 GPUs
                           "a,0,5,1\n"           // name used
                           "e,0,5,64\n"          // larger than the cluster
                           "f,0,x,1\n"           // no number
                           "g,0,5\n"             // a field is missing
                           "h,0,5,-1\n"          // negative GPUs
                           "i,0,5,1.5\n"         // one and a half GPUs
                           "j,,5,1\n"            // no submission
                           ",0,5,1\n"            // no name
                           "k,4e9,5,1\n"         // 126 years
                           "l,0,1e300,1\n"       // beyond the clock
                           "m,0,N/A,1\n"         // never ended: no fault
                           "n,0,4e9,1\n"         // 126 years
                           "o,5,5,32\n";         // good
  const ImportOptions strict{.max_gpus = 32};
  CHECK(trace_complaints("itp", text, strict) ==
        "trace:3: duration: expected a number >= 0, got \"-5\"\n"
        "trace:4: submission_time: expected a number >= 0, got \"-1\"\n"
        "trace:5: num_gpu: expected a whole number from 0 to 1000000, got \"1000000000\"\n"
        "trace:6: job \"a\" was on line 2 already\n"
        "trace:7: job \"e\" needs 64 GPUs, the cluster has 32\n"
        "trace:8: duration: expected a number >= 0, got \"x\"\n"
        "trace:9: expected 4 fields as in the header, got 3\n"
        "trace:10: num_gpu: expected a whole number from 0 to 1000000, got \"-1\"\n"
        "trace:11: num_gpu: expected a whole number, got \"1.5\"\n"
        "trace:12: submission_time: expected a time of submission, got nothing\n"
        "trace:13: job_id: expected a name, got nothing\n"
        "trace:14: more than 100 years\n"
        "trace:15: duration: the number is too large, got \"1e300\"\n"
        "trace:17: more than 100 years\n"
        "trace: 14 of 17 rows are bad; --skip-bad-rows leaves them out");

  ImportOptions skip = strict;
  skip.skip_bad_rows = true;
  const ImportedJobs got = import_text_of("itp", text, skip);
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].name == "a");
  CHECK(got.jobs[1].name == "o");
  CHECK(got.report.rows() == 17);
  CHECK(got.report.bad_rows() == 14);
  CHECK(got.report.left_out_rows() == 1);
  CHECK(reasons_text(got.report.bad_reasons()).find("duration: expected a number >= 0: 2 (3, 8)") == 0);
}

TEST_CASE("a name that a job list refuses is a bad row in every format") {
  // PAI's name of a job is joined to the name of its task; Philly's comes from JSON.
  const std::string pai = "j1,ten\x01sor,2.0,Terminated,1739162.0,1739200.0,600.0,29.3,50.0,MISC\n";
  CHECK(trace_complaints("pai", pai).find("expected a name of printable UTF-8 text, got \"j1/ten\\x01sor") !=
        std::string::npos);
  CHECK(trace_complaints("pai", pai).find("byte 7 is the control character U+0001") != std::string::npos);
  const std::string philly =
      R"([{"status": "Pass", "vc": "a", "jobid": "j\u0007", "submitted_time": "2017-10-09 07:02:28", "user": "u",
           "attempts": [{"start_time": "2017-10-09 07:03:28", "end_time": "2017-10-09 08:03:28",
                         "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}])";
  CHECK(trace_complaints("philly", philly).find("byte 2 is the control character U+0007") != std::string::npos);
  std::string user = philly;
  user.replace(user.find("j\\u0007"), 7, "j");
  user.replace(user.find("\"u\""), 3, "\"u\\u001b\"");
  CHECK(trace_complaints("philly", user)
            .find("user: expected printable UTF-8 text, got \"u\\x1b\": byte 2 is the control "
                  "character U+001B") != std::string::npos);
  ImportOptions skip;
  skip.skip_bad_rows = true;
  CHECK(import_text_of("pai", pai + "j2,tensorflow,2.0,Terminated,1739162.0,1739200.0,600.0,29.3,50.0,MISC\n", skip)
            .jobs.size() == 1);
}

TEST_CASE("every row is a job, left out, or bad") {
  const std::vector<std::pair<std::string, std::string>> formats = {
      {"itp", kTableHeader}, {"slurm", "JobID|Submit|State|ElapsedRaw|AllocTRES\n"},
      {"swf", ""},           {"openb", "name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"},
      {"pai", ""},           {"jobs", "job_id,submit_s,gpus,duration_s\n"}};
  for (const auto& each : formats) {
    const auto& format = each.first;
    std::string text = each.second;
    for (int i = 0; i < 300; ++i)
      text += fmt::format(
          "{0},{1},{2},{3}\n{0}|2020-01-01 00:00|FAILED|{1}|gres/gpu={2}\n{0} {1} 0 {2} {3} 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
          "{0},1,{1},Failed,{1},{2},{3}\n",
          i, i % 13 - 2, i % 7 - 2, i % 5);
    ImportOptions skip;
    skip.skip_bad_rows = true;
    const ImportedJobs got = import_text_of(format, text, skip);
    CAPTURE(format);
    CHECK(got.report.rows() > 0);
    CHECK(got.report.rows() ==
          static_cast<std::int64_t>(got.jobs.size()) + got.report.left_out_rows() + got.report.bad_rows());
  }
}

TEST_CASE("columns by name, in any order; what is missing is named with what is there") {
  const ImportedJobs got = import_text_of("itp", "num_gpu,note,duration,job_id,submission_time\n4,,7,a,9\n");
  CHECK(got.jobs.at(0).gpus == 4);
  CHECK(got.jobs.at(0).submit == Time::seconds(9));
  CHECK(got.report.unused_columns() == std::vector<std::string>{"note"});
  CHECK(trace_complaints("itp", "job_id,submision_time,duration\n") ==
        "trace:1: no column \"submission_time\"; there is a column \"submision_time\"\n"
        "trace:1: no column \"num_gpu\"");
  CHECK(trace_complaints("itp", "job_id,job_id,submission_time,duration,num_gpu\n") ==
        "trace:1: column \"job_id\" appears twice");
  CHECK(trace_complaints("itp", "") == "trace: the file is empty; expected a header line");
}

TEST_CASE("formats are recognised where that is safe") {
  CHECK(trace_complaints("auto", "") == "trace: the file is empty");
  CHECK(trace_complaints("auto", "a,b\n1,2\n").find("matches no trace format") != std::string::npos);
  CHECK(trace_complaints("auto", "PK\x03\x04...").find("zip archive") != std::string::npos);
  CHECK(trace_complaints("auto", "version https://git-lfs.github.com/spec/v1\n").find("git lfs pull") !=
        std::string::npos);
  CHECK(trace_complaints("phily", "") == "there is no trace format \"phily\"; did you mean \"philly\"?");
  CHECK(import_text_of("auto", "\xEF\xBB\xBFjob_id,submit_s,gpus,duration_s\na,0,1,1\n").format->name == "jobs");
}

TEST_CASE("gzip: the same as plain; truncated: the row where it ends") {
  const std::string text = many_rows(20'000);
  const GzipFile file{text};
  const ImportedJobs whole = import_jobs("auto", file.path());
  CHECK(job_list_csv(whole.jobs) == job_list_csv(import_text_of("itp", text).jobs));
  file.cut(0.5);
  std::string message;
  try {
    static_cast<void>(import_jobs("auto", file.path(), ImportOptions{.skip_bad_rows = true}));
  } catch (const InputError& error) {
    REQUIRE(error.complaints().size() == 1);
    message = error.complaints().front().reason;
    // Half of the bytes hold about half of the rows.
    CHECK(error.complaints().front().line > 5'000);
    CHECK(error.complaints().front().line < 15'000);
  }
  CHECK(message == "the file ends within its compressed data");
}

TEST_CASE("rows that are cut anywhere by the source are the same rows") {
  const std::string text = "\xEF\xBB\xBF# c\na,b\r\n\"x\"\"y\",\"1\n2\"\r\n\r\nlast,\"\"\n# no comment,z\n3,4";
  for (const std::size_t step : {1U, 2U, 3U, 5U, 100U}) {
    CAPTURE(step);
    Trickle source{text, step};
    RowReader rows{source, "f", {.separator = ',', .quotes = true, .comment = '#'}};
    std::string all;
    while (rows.next()) {
      all += fmt::format("{}:", rows.line());
      for (const std::string_view field : rows.fields()) all += fmt::format("[{}]", field);
    }
    CHECK(all == "2:[a][b]3:[x\"y][1\n2]6:[last][]7:[# no comment][z]8:[3][4]");
  }
}

TEST_CASE("a row longer than the buffer, and one too long") {
  const std::string longer(std::size_t{1} << 20, 'x');
  const CsvTable table = parse_csv("a,b\n1," + longer + "\n2,\"" + longer + "\"\n", "f");
  CHECK(table.rows.at(0).fields.at(1) == longer);
  CHECK(table.rows.at(1).fields.at(1) == longer);
  const std::string endless(std::size_t{17} << 20, 'x');
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_csv("a\n" + endless, "f")), "f:2: a row longer than 16 MiB", InputError);
}

TEST_CASE("filters report what they leave out; the clock starts at the given time") {
  constexpr const char* kText =
      "timestamp,duration,num_gpus,cluster\n"
      "2017-10-09 00:00:00,10,1,a\n"
      "2017-10-09 01:00:00,10,2,b\n"
      "2017-10-09 02:00:00,10,4,a\n"
      "2017-10-09 03:00:00,1,8,a\n"
      "2017-10-09 04:00:00,10,8,a\n";
  ImportOptions options;
  options.vcs = {"a"};
  options.from = Time::seconds(1'507'507'200 + 1);  // 2017-10-09 00:00:01
  options.until = Time::seconds(1'507'507'200 + 4 * 3600);
  options.min_duration = Time::seconds(5);
  const ImportedJobs got = import_text_of("philly-csv", kText, options);
  REQUIRE(got.jobs.size() == 1);
  CHECK(got.jobs[0].name == "job-3");
  CHECK(got.jobs[0].submit == Time{});
  CHECK(reasons_text(got.report.left_out()) ==
        "submitted outside the selected time: 2 (2, 6); not of a selected virtual cluster: 1 (3); "
        "shorter than --min-duration: 1 (5)");
  options = {};
  options.min_gpus = 4;
  options.origin = TimeOrigin::kept;
  const ImportedJobs large = import_text_of("philly-csv", kText, options);
  REQUIRE(large.jobs.size() == 3);
  CHECK(large.jobs[0].submit == Time::seconds(1'507'507'200 + 2 * 3600));
  options.origin = TimeOrigin::first;
  CHECK(import_text_of("itp", std::string{kTableHeader} + "a,50,1,4\nb,51,1,4\n", options).jobs.at(1).submit ==
        Time::seconds(1));
}

TEST_CASE("iterations instead of durations, of models that are known here") {
  constexpr const char* kText =
      "job_id,submission_time,num_iteration,model_name,num_gpu,duration\n"
      "a,0,500,inception3,2,70\n"
      "b,0,600,vgg16,2,70\n"
      "c,0,600,gpt2,2,70\n";
  ImportOptions options;
  options.work = TraceWork::iterations;
  options.models["inception3"] = "inception-v3";
  CHECK(trace_complaints("itp", kText, options) ==
        "trace:4: there is no model \"gpt2\" here\n"
        "trace: 1 of 3 rows are bad; --skip-bad-rows leaves them out");
  options.skip_bad_rows = true;
  CHECK(job_list_csv(import_text_of("itp", kText, options).jobs) ==
        "job_id,submit_s,model,gpus,iterations\na,0,inception-v3,2,500\nb,0,vgg16,2,600\n");
}
