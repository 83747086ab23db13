#include "traces/job_list.hpp"

#include "sim/error.hpp"
#include "traces/atomic_file.hpp"
#include "traces/csv.hpp"
#include "traces/decimal.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 6> kColumns = {"job_id", "submit_ms", "submit_s", "model", "gpus", "iterations"};
// Leaves room above the last submission for the run itself: the clock holds 292 years.
constexpr Time kLatestSubmit = Time::seconds(100LL * 365 * 24 * 3600);

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? nearest : fmt::format("did you mean \"{}\"?", nearest);
}

class JobListReader {
 public:
  JobListReader(const CsvTable& table, const std::string& file) : table_{table}, file_{file} {
    for (const TrainingProfile& profile : training_profiles()) models_.emplace_back(profile.name);
  }

  std::vector<JobRequest> read() {
    read_header();
    if (complaints_.empty()) {
      for (const CsvRow& row : table_.rows) read_row(row);
      if (table_.rows.empty()) complain("", "the list has no jobs");
    }
    if (!complaints_.empty()) throw InputError{std::move(complaints_)};
    return std::move(jobs_);
  }

 private:
  void read_header() {
    line_ = 1;
    const std::vector<std::string> known{kColumns.begin(), kColumns.end()};
    for (std::size_t i = 0; i < table_.header.size(); ++i) {
      const std::string& name = table_.header[i];
      if (std::find(known.begin(), known.end(), name) == known.end())
        complain("", fmt::format("unknown column \"{}\"", name), did_you_mean(name, known));
      else if (!column_.emplace(name, i).second)
        complain("", fmt::format("column \"{}\" appears twice", name));
    }
    if (column_.contains("submit_ms") && column_.contains("submit_s"))
      complain("", "both submit_ms and submit_s are given; expected one of them");
    if (!column_.contains("submit_ms") && !column_.contains("submit_s"))
      complain("", "no column \"submit_ms\" (or \"submit_s\")");
    for (const char* name : {"job_id", "model", "gpus", "iterations"})
      if (!column_.contains(name)) complain("", fmt::format("no column \"{}\"", name));
  }

  void read_row(const CsvRow& row) {
    line_ = row.line;
    JobRequest job;
    job.name = field(row, "job_id");
    if (job.name.empty())
      complain("job_id", "expected a name, got nothing");
    else if (const auto [first, is_new] = line_of_.emplace(job.name, row.line); !is_new)
      complain("job_id", fmt::format("\"{}\" was used on line {} already", job.name, first->second));

    job.model = field(row, "model");
    if (std::find(models_.begin(), models_.end(), job.model) == models_.end())
      complain("model", fmt::format("unknown model \"{}\"", job.model), did_you_mean(job.model, models_));

    const std::string submit_column = column_.contains("submit_s") ? "submit_s" : "submit_ms";
    job.submit = submit_time(submit_column, field(row, submit_column), submit_column == "submit_s" ? 9 : 6);
    job.gpus = static_cast<int>(positive("gpus", field(row, "gpus"), INT_MAX));
    job.iterations = positive("iterations", field(row, "iterations"), INT64_MAX);
    jobs_.push_back(std::move(job));
  }

  Time submit_time(const std::string& column, const std::string& text, int decimals) {
    const ScaledDecimal number = parse_scaled(text, decimals);
    const Time time = Time::nanoseconds(number.value);
    if (number.error == DecimalError::not_a_number)
      complain(column, fmt::format("expected a number >= 0, got \"{}\"", text));
    else if (number.error == DecimalError::overflow || time > kLatestSubmit)
      complain(column, fmt::format("{} is later than 100 years", text));
    else if (time < Time{})
      complain(column, fmt::format("expected a number >= 0, got {}", text));
    return time;
  }

  std::int64_t positive(const std::string& column, const std::string& text, std::int64_t maximum) {
    const ScaledDecimal number = parse_integer(text);
    if (number.error == DecimalError::not_a_number)
      complain(column, fmt::format("expected a whole number >= 1, got \"{}\"", text));
    else if (number.error == DecimalError::overflow || number.value > maximum)
      complain(column, fmt::format("expected a whole number from 1 to {}, got {}", maximum, text));
    else if (number.value < 1)
      complain(column, fmt::format("expected a whole number >= 1, got {}", text));
    else
      return number.value;
    return 1;
  }

  const std::string& field(const CsvRow& row, const std::string& column) const {
    return row.fields[column_.at(column)];
  }

  void complain(std::string column, std::string reason, std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.file = file_;
    diagnostic.line = line_;
    diagnostic.key = std::move(column);
    diagnostic.reason = std::move(reason);
    diagnostic.hint = std::move(hint);
    complaints_.push_back(std::move(diagnostic));
  }

  const CsvTable& table_;
  const std::string& file_;
  std::vector<std::string> models_;
  std::map<std::string, std::size_t> column_;
  std::map<std::string, int> line_of_;
  std::vector<JobRequest> jobs_;
  std::vector<Diagnostic> complaints_;
  int line_ = 0;
};

}  // namespace

std::vector<JobRequest> parse_job_list(std::string_view text, const std::string& name) {
  return JobListReader{parse_csv(text, name), name}.read();
}

std::vector<JobRequest> read_job_list(const std::string& path) {
  return parse_job_list(read_file(path), path);
}

std::string job_list_csv(const std::vector<JobRequest>& jobs) {
  std::string csv = "job_id,submit_s,model,gpus,iterations\n";
  for (const JobRequest& job : jobs) {
    append_csv_field(csv, job.name);
    csv += fmt::format(",{},", format_seconds(job.submit));
    append_csv_field(csv, job.model);
    csv += fmt::format(",{},{}\n", job.gpus, job.iterations);
  }
  return csv;
}

}  // namespace contend
