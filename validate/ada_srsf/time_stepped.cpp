#include "validate/ada_srsf/time_stepped.hpp"

#include "models/training_profile.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "traces/job_list.hpp"
#include "validate/ada_srsf/ada_srsf.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/core.h>

namespace contend {

namespace {

/// The name of a policy in expected.csv, how a scenario says it, and how the time stepper does.
struct Placement {
  std::string_view there;
  std::string_view here;
  std::optional<int> kappa;
};
constexpr Placement kPlacements[] = {{"first-fit", "first-fit", std::nullopt},
                                     {"list-scheduling", "list-scheduling", std::numeric_limits<int>::max()},
                                     {"lwf-1", "{policy: lwf, kappa: 1}", 1},
                                     {"lwf-4", "{policy: lwf, kappa: 4}", 4}};

struct Communication {
  std::string_view there;
  std::string_view here;
  std::optional<int> ways;
};
constexpr Communication kCommunications[] = {{"srsf(1)", "{policy: srsf, ways: 1}", 1},
                                             {"srsf(2)", "{policy: srsf, ways: 2}", 2},
                                             {"srsf(3)", "{policy: srsf, ways: 3}", 3},
                                             {"ada-dual", "ada-dual", std::nullopt}};

template <class Policy, std::size_t Count>
const Policy& find_policy(const Policy (&table)[Count], std::string_view there) {
  for (const Policy& each : table) {
    if (each.there == there) return each;
  }
  throw InputError{fmt::format("the time-stepped reference: unknown policy \"{}\"", there)};
}

const std::vector<TimeSteppedRow> kPolicies = {{.placement = "first-fit", .communication = "srsf(1)"},
                                               {.placement = "list-scheduling", .communication = "srsf(1)"},
                                               {.placement = "lwf-1", .communication = "ada-dual"},
                                               {.placement = "lwf-1", .communication = "srsf(1)"},
                                               {.placement = "lwf-1", .communication = "srsf(2)"},
                                               {.placement = "lwf-1", .communication = "srsf(3)"},
                                               {.placement = "lwf-4", .communication = "srsf(1)"}};

/// The study with the policies of a row, and the settings that every job set shares.
Scenario scenario_of(const TimeSteppedRow& row, Time tick, const std::vector<std::string>& overrides = {}) {
  Scenario scenario = ada_srsf_scenario(find_policy(kPlacements, row.placement).here,
                                        find_policy(kCommunications, row.communication).here, overrides);
  scenario.name = fmt::format("set {}, {}", row.job_set, row.policy());
  scenario.repeat = 1;
  scenario.network.tick = tick;
  return scenario;
}

/// A table whose columns are found by name.
class NamedColumns {
 public:
  NamedColumns(const CsvTable& table, const std::string& path) : table_{table}, path_{path} {}

  [[nodiscard]] const std::string& text(const CsvRow& row, std::string_view column) const {
    const auto found = std::find(table_.header.begin(), table_.header.end(), column);
    if (found == table_.header.end()) throw InputError{fmt::format("{}: no column \"{}\"", path_, column)};
    return row.fields[static_cast<std::size_t>(found - table_.header.begin())];
  }

  template <class Number>
  [[nodiscard]] Number number(const CsvRow& row, std::string_view column) const {
    const std::string& field = text(row, column);
    Number value{};
    const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || stop != field.data() + field.size()) {
      throw InputError{fmt::format("{}:{}: {}: expected a number, got \"{}\"", path_, row.line, column, field)};
    }
    return value;
  }

 private:
  const CsvTable& table_;
  const std::string& path_;
};

}  // namespace

std::span<const TimeSteppedRow> time_stepped_policies() {
  return kPolicies;
}

std::string time_stepped_folder() {
  const char* const data = std::getenv("CONTEND_DATA");
  return (std::filesystem::path{data != nullptr ? data : "../shared/data"} / "ada_srsf").string();
}

std::vector<TimeSteppedRow> read_time_stepped_rows(const std::string& folder) {
  const std::string path = (std::filesystem::path{folder} / "expected.csv").string();
  const CsvTable table = parse_csv(read_file(path), path);
  const NamedColumns columns{table, path};
  std::vector<TimeSteppedRow> rows;
  for (const CsvRow& row : table.rows) {
    rows.push_back({.job_set = columns.number<int>(row, "job_set"),
                    .placement = columns.text(row, "placement"),
                    .communication = columns.text(row, "communication"),
                    .avg_jct_ms = columns.number<double>(row, "avg_jct_ms"),
                    .median_jct_ms = columns.number<double>(row, "median_jct_ms"),
                    .p95_jct_ms = columns.number<double>(row, "p95_jct_ms"),
                    .makespan_ms = columns.number<double>(row, "makespan_ms"),
                    .gpu_utilisation = columns.number<double>(row, "gpu_utilisation")});
  }
  if (rows.empty()) throw InputError{fmt::format("{}: the table has no rows", path)};
  return rows;
}

Scenario time_stepped_scenario(const TimeSteppedRow& row, const std::string& folder, Time tick) {
  Scenario scenario = scenario_of(row, tick);
  scenario.workload.jobs = (std::filesystem::path{folder} / fmt::format("jobs_{}.csv", row.job_set)).string();
  return scenario;
}

Scenario drawn_scenario(const TimeSteppedRow& row, Time tick) {
  return scenario_of(row, tick, {"workload.generate.iterations=[10, 60]", "workload.generate.arrivals=12s"});
}

SteppedStudy stepped_study(const TimeSteppedRow& row) {
  return {.kappa = find_policy(kPlacements, row.placement).kappa,
          .ways = find_policy(kCommunications, row.communication).ways};
}

std::vector<SteppedJob> stepped_jobs(const Workload& workload) {
  const auto to_ms = [](Time time, const JobSpec& job) {
    const std::int64_t ms = time.ns() / 1'000'000;
    if (Time::milliseconds(ms) != time) {
      throw InputError{
          fmt::format("job `{}`: the time stepper needs whole milliseconds, got {} ns", job.name, time.ns())};
    }
    return ms;
  };
  std::vector<SteppedJob> jobs;
  for (const JobSpec& job : workload.jobs) {
    const TrainingProfile* const profile = find_training_profile(job.model);
    if (profile == nullptr || job.duration) {
      throw InputError{fmt::format("job `{}`: the time stepper needs a model with a training profile", job.name)};
    }
    jobs.push_back({.submit_ms = to_ms(job.submit, job),
                    .gpus = job.gpus,
                    .iterations = job.iterations,
                    .forward_ms = to_ms(profile->forward, job),
                    .backward_ms = to_ms(profile->backward, job),
                    .message = profile->gradient,
                    .memory = profile->memory});
  }
  return jobs;
}

double shifted_avg_jct_ms(const Scenario& scenario, std::uint64_t seed) {
  std::vector<JobRequest> jobs = read_job_list(scenario.workload.jobs.value());
  RandomStream shifts{seed, "validate.submit_shifts"};
  for (JobRequest& job : jobs) job.submit += Time::nanoseconds(shifts.uniform_integer(0, 999'999));
  return summarise(run_workload(scenario, build_workload(jobs), seed)).avg_jct_s * 1e3;
}

}  // namespace contend
