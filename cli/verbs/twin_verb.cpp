#include "cli/cluster_source.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/twin/twin.hpp"
#include "sim/error.hpp"
#include "text/csv.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"
#include "traces/cluster/snapshot_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The forecasts under one policy.
struct PolicyForecasts {
  std::string policy;
  std::vector<StartForecast> jobs;
};

struct TwinReport {
  std::string source;
  std::vector<JobRequest> jobs;  ///< of the list
  std::size_t draws = 0, history = 0, arrivals = 0;
  std::vector<PolicyForecasts> policies;
};

/// How people read the times of a table: the largest unit of which the latest one has two.
struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit unit_of(const TwinReport& report) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
  double latest = 0;
  for (const PolicyForecasts& policy : report.policies)
    for (const StartForecast& job : policy.jobs)
      for (const double time : {job.by_limits_s, job.quantile(0.95)})
        if (std::isfinite(time)) latest = std::max(latest, time);
  for (const TimeUnit unit : {TimeUnit{"d", kDay}, TimeUnit{"h", kHour}, TimeUnit{"min", kMinute}})
    if (latest >= 2 * unit.seconds) return unit;
  return {"s", 1};
}

std::string twin_text(const TwinReport& report) {
  const PolicyForecasts& own = report.policies.front();
  std::string out =
      fmt::format("{} under {}: {} waiting jobs, {} draws\n", report.source, own.policy, own.jobs.size(), report.draws);
  out += report.history > 0 ? fmt::format("running times as in {} earlier jobs", report.history)
                            : std::string{"running times by limits, as there is no --history"};
  out += report.arrivals > 0 ? fmt::format("; {} arrivals behind them\n\n", report.arrivals) : "; nothing arrives\n\n";
  const TimeUnit unit = unit_of(report);
  std::vector<std::string> titles{"job",
                                  "user",
                                  "vc",
                                  "GPUs",
                                  fmt::format("by limits [{}]", unit.name),
                                  fmt::format("median [{}]", unit.name),
                                  "50% interval",
                                  "90% interval"};
  for (std::size_t p = 1; p < report.policies.size(); ++p)
    titles.push_back(fmt::format("{}, median [{}]", report.policies[p].policy, unit.name));
  Table table{std::move(titles)};
  table.align_left(1);
  table.align_left(2);
  const auto shown = [&](double seconds) {
    return std::isfinite(seconds) ? fmt::format("{:.2f}", seconds / unit.seconds) : std::string{"never"};
  };
  const std::size_t rows = std::min(own.jobs.size(), kMaxShown);
  for (std::size_t i = 0; i < rows; ++i) {
    const StartForecast& each = own.jobs[i];
    const JobRequest& job = report.jobs[each.job];
    std::vector<std::string> cells{job.name,
                                   job.user,
                                   job.vc,
                                   fmt::format("{}", job.gpus),
                                   shown(each.by_limits_s),
                                   shown(each.quantile(0.5)),
                                   fmt::format("{} to {}", shown(each.quantile(0.25)), shown(each.quantile(0.75))),
                                   fmt::format("{} to {}", shown(each.quantile(0.05)), shown(each.quantile(0.95)))};
    for (std::size_t p = 1; p < report.policies.size(); ++p)
      cells.push_back(shown(report.policies[p].jobs[i].quantile(0.5)));
    table.add(std::move(cells));
  }
  out += table.text();
  if (own.jobs.size() > rows) out += fmt::format("{} more; --json and -o have all\n", own.jobs.size() - rows);
  return out;
}

/// The quantiles that files have, with their names.
constexpr std::pair<std::string_view, double> kQuantiles[] = {
    {"median_s", 0.5}, {"low50_s", 0.25}, {"high50_s", 0.75}, {"low90_s", 0.05}, {"high90_s", 0.95}};

std::string twin_json(const TwinReport& report) {
  JsonWriter json;
  json.begin_object().member("source", report.source).member("draws", std::uint64_t{report.draws});
  json.member("history_jobs", std::uint64_t{report.history}).member("arrivals", std::uint64_t{report.arrivals});
  json.key("policies").begin_array();
  for (const PolicyForecasts& policy : report.policies) {
    json.begin_object().member("policy", policy.policy).key("jobs").begin_array();
    for (const StartForecast& each : policy.jobs) {
      const JobRequest& job = report.jobs[each.job];
      json.begin_object().member("job_id", job.name).member("user", job.user).member("vc", job.vc);
      json.member("gpus", job.gpus).member("by_limits_s", each.by_limits_s);
      for (const auto& [name, share] : kQuantiles) json.member(name, each.quantile(share));
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string twin_csv(const TwinReport& report) {
  std::string csv = "policy,job_id,user,vc,gpus,by_limits_s";
  for (const auto& [name, share] : kQuantiles) csv += fmt::format(",{}", name);
  csv += '\n';
  const auto seconds = [](double time) { return std::isfinite(time) ? fmt::format("{:.9g}", time) : std::string{}; };
  for (const PolicyForecasts& policy : report.policies) {
    for (const StartForecast& each : policy.jobs) {
      const JobRequest& job = report.jobs[each.job];
      for (const std::string& text : {policy.policy, job.name, job.user, job.vc}) {
        append_csv_field(csv, text);
        csv += ',';
      }
      csv += fmt::format("{},{}", job.gpus, seconds(each.by_limits_s));
      for (const auto& [name, share] : kQuantiles) csv += ',' + seconds(each.quantile(share));
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace

int twin_verb(const Arguments& arguments) {
  const std::string& source = arguments.positionals().front();
  const ClusterSource twin{arguments, source};
  const std::map<std::string, std::string> no_texts;
  JobLists lists = twin.lists(no_texts);
  Scenario scenario = twin.load({}, "--policies");
  if (!scenario.workload.jobs)
    throw InputError{{.file = source,
                      .key = "workload.jobs",
                      .reason = "a twin begins with the jobs of a list, which run if they have elapsed_s",
                      .hint = "`contend cluster import` makes such a list"}};
  TwinOptions options;
  options.draws = arguments.whole_number("draws", 1, 1'000'000).value_or(options.draws);
  options.seed = arguments.whole_number("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(scenario.seed);
  options.threads = thread_count(arguments);
  catch_interrupts();
  options.interrupted = interrupted;
  TwinJobs jobs{.list = *scenario_jobs(scenario, options.seed, lists)};
  if (std::ranges::all_of(jobs.list.jobs, [](const JobRequest& job) { return job.elapsed.has_value(); }))
    throw InputError{{.file = *scenario.workload.jobs, .reason = "no job waits: all have elapsed_s"}};
  if (const auto file = arguments.value("history")) jobs.history = RunHistory{read_job_list(*file)};
  if (const auto file = arguments.value("arrivals"))
    jobs.arrivals = arrivals_like(scenario.cluster, jobs.list, read_job_list(*file), *file);
  TwinReport report{.source = source,
                    .jobs = jobs.list.jobs,
                    .draws = options.draws,
                    .history = jobs.history.jobs(),
                    .arrivals = jobs.arrivals.size(),
                    .policies = {}};
  std::vector<std::string> policies{""};
  for (const std::string& name : split_words(arguments.value("policies").value_or(""), ',')) policies.push_back(name);
  for (const std::string& policy : policies) {
    std::vector<std::string> more;
    if (!policy.empty()) more.push_back("policies.scheduling=" + policy);
    Scenario under = twin.load(more, "--policies");
    std::string name = under.scheduling.name;
    report.policies.push_back({std::move(name), forecast_starts(std::move(under), jobs, options)});
    if (interrupted()) {
      print_message("contend: interrupted; nothing was forecast\n");
      return kExitInterrupted;
    }
  }
  if (const auto output = arguments.value("output")) write_own_file(*output, twin_csv(report));
  print_output("{}", arguments.has("json") ? twin_json(report) : twin_text(report));
  return kExitOk;
}

}  // namespace contend
