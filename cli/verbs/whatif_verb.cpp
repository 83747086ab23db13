#include "cli/cluster_source.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/group_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "results/job_groups.hpp"
#include "results/result_columns.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"
#include "traces/cluster/snapshot_parts.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/import_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr Time kDay = Time::seconds(86'400);

/// One way to run the jobs of the log.
struct Way {
  std::string name;
  Scenario scenario;
};

/// What the jobs wait for in one way.
struct WayFigures {
  std::string name;
  double mean_s = kNaN, median_s = kNaN, p95_s = kNaN;  ///< waits of the jobs that started
  double avg_jct_s = kNaN, gpu_utilisation = kNaN;
  std::vector<double> others_s{};  ///< mean waits in other logs
  std::size_t shorter = 0;         ///< of these, shorter than in the first way
};

struct WhatifReport {
  std::string log{}, cluster{};
  std::size_t jobs = 0;
  std::string others{};  ///< how other logs were drawn, or why none was
  std::vector<WayFigures> ways{};
  StoredReplica first{};  ///< the run of the first way
};

/// The part of the day in which a job was submitted, if the run begins at midnight.
std::string part_of_day(const StoredJob& job) {
  constexpr std::int64_t kHours = 4, kHoursOfDay = 24;
  const std::int64_t first = job.submit.ns() / Time::seconds(3600).ns() % kHoursOfDay / kHours * kHours;
  return fmt::format("{:02}:00 to {:02}:00", first, first + kHours);
}
constexpr Grouping kByHour{"hour", "submitted", false, part_of_day};

/// The cluster of the command line.
class WhatifCluster {
 public:
  explicit WhatifCluster(const Arguments& arguments) : arguments_{arguments} {
    const std::vector<std::string>& words = arguments.positionals();
    const auto gpus = arguments.whole_number("gpus", 1, 10'000'000);
    if (gpus.has_value() == (words.size() == 2)) throw UsageError{"contend whatif: expected either CLUSTER or --gpus"};
    if (!gpus) {
      arguments.refuse("gpus-per-server", "with CLUSTER, only with --gpus");
      source_.emplace(arguments, words[1]);
      return;
    }
    for (const char* const option : {"now", "limit"}) arguments.refuse(option, "with --gpus, only with a folder");
    constexpr std::uint64_t kUsualServer = 8;
    const std::uint64_t per_server = arguments.whole_number("gpus-per-server", 1, 1'000).value_or(kUsualServer);
    if (*gpus % per_server != 0)
      throw UsageError{
          fmt::format("--gpus: expected a multiple of the {} GPUs of a server, got {}", per_server, *gpus)};
    text_ = fmt::format(
        "schema_version: 2\ncluster: {{servers: {}, gpus_per_server: {}}}\n"
        "policies: {{scheduling: easy, placement: consolidated}}\n",
        *gpus / per_server, per_server);
  }

  [[nodiscard]] Scenario load(const std::vector<std::string>& more, const std::string& option) const {
    std::vector<std::string> all{"workload.jobs=" + quoted(arguments_.positionals().front())};
    all.insert(all.end(), more.begin(), more.end());
    if (source_) return source_->load(all, option);
    const std::vector<std::string> given = arguments_.values("set");
    all.insert(all.begin(), given.begin(), given.end());
    return parse_scenario(text_, "--gpus", {.overrides = all});
  }

  void fit(std::vector<JobRequest>& jobs) const {
    if (source_) source_->fit(jobs);
  }

  [[nodiscard]] JobLists lists(const std::map<std::string, std::string>& texts) const {
    if (source_) return source_->lists(texts);
    return JobLists{[&texts](const std::string& path) -> std::unique_ptr<ByteSource> {
      const auto text = texts.find(path);
      return text != texts.end() ? std::make_unique<TextSource>(text->second) : open_bytes(path);
    }};
  }

 private:
  [[nodiscard]] static std::string quoted(const std::string& path) {
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string{"''"} : std::string{c};
    return text + "'";
  }

  const Arguments& arguments_;
  std::optional<ClusterSource> source_;
  std::string text_;
};

int gpus_of(const ClusterSetup& cluster) {
  if (cluster.types.empty()) return cluster.servers * cluster.gpus_per_server;
  int gpus = 0;
  for (const NamedServerType& type : cluster.types) gpus += type.servers * type.gpus_per_server;
  return gpus;
}

/// The cluster with so many per cent more servers of each type and virtual cluster, rounded up.
void grow(ClusterSetup& cluster, std::uint64_t percent) {
  const auto grown = [percent](int count) {
    constexpr std::int64_t kWhole = 100;
    const std::int64_t more = count * (kWhole + static_cast<std::int64_t>(percent));
    return static_cast<int>((more + kWhole - 1) / kWhole);
  };
  int owned = 0;
  for (NamedVirtualCluster& vc : cluster.vcs) {
    if (vc.servers) vc.servers = grown(*vc.servers);
    if (vc.gpus) vc.gpus = grown(*vc.gpus);
    owned += vc.servers.value_or(0);
  }
  int of_types = 0;
  for (NamedServerType& type : cluster.types) {
    type.servers = grown(type.servers);
    of_types += type.servers;
  }
  cluster.servers = cluster.types.empty() ? std::max(grown(cluster.servers), owned) : of_types;
  if (owned > cluster.servers)
    throw InputError{
        {.key = "cluster.vcs",
         .reason = fmt::format("with {}% more servers the virtual clusters own more servers than there are", percent),
         .hint = "choose another --more, or 0"}};
  for (const NamedLevel& level : cluster.levels)
    if (!level.sizes.empty())
      throw InputError{
          {.key = "cluster.levels",
           .reason = fmt::format("the sizes of the level `{}` say where each server is, and more servers have no place",
                                 level.name),
           .hint = "--more 0, or `servers` in place of `sizes`"}};
}

/// The ways of the command line; the first one is the cluster as it is. Adds the lists that they read to `texts`.
std::vector<Way> ways_of(const Arguments& arguments, const WhatifCluster& cluster, std::vector<JobRequest> jobs,
                         std::map<std::string, std::string>& texts) {
  std::vector<Way> ways{{"as it is", cluster.load({}, "--set")}};
  const std::string list = *ways.front().scenario.workload.jobs;
  texts[list] = job_list_csv(jobs);
  constexpr std::uint64_t kUsualMore = 25;
  if (const auto more = arguments.whole_number("more", 0, 1'000).value_or(kUsualMore); more > 0) {
    Scenario larger = ways.front().scenario;
    grow(larger.cluster, more);
    // Servers are whole: 25% more than one are two.
    std::string name = fmt::format("{} GPUs, not {}", gpus_of(larger.cluster), gpus_of(ways.front().scenario.cluster));
    ways.push_back({std::move(name), std::move(larger)});
  }
  for (const std::string& name : split_words(arguments.value("policies").value_or("fifo,easy,conservative"), ',')) {
    Scenario under = cluster.load({"policies.scheduling=" + name}, "--policies");
    if (arguments.has("policies") || under.scheduling.name != ways.front().scenario.scheduling.name)
      ways.push_back({name, std::move(under)});
  }
  for (const std::string& setting : arguments.values("try"))
    ways.push_back({setting, cluster.load({setting}, "--try")});
  if (const auto most = quantity_of<Time>(arguments, "max-time")) {
    if (*most <= Time{}) throw UsageError{"--max-time: expected a time above 0"};
    for (JobRequest& job : jobs) {
      if (job.duration) job.duration = std::min(*job.duration, *most);
      for (Time& attempt : job.attempts) attempt = std::min(attempt, *most);
      if (job.limit) job.limit = std::min(*job.limit, *most);
    }
    Way& way = ways.emplace_back(Way{"no job over " + *arguments.value("max-time"), ways.front().scenario});
    way.scenario.workload.jobs = list + " with --max-time";
    texts[*way.scenario.workload.jobs] = job_list_csv(jobs);
  }
  return ways;
}

WayFigures figures_of(const std::string& name, const Replica& replica, const StoredReplica& stored) {
  constexpr double kMedian = 0.5, kNineteenOfTwenty = 0.95;
  std::vector<double> waits;
  for (const StoredJob& job : stored.jobs)
    if (job.measured && job.start && job.waited) waits.push_back(job.waited->to_seconds());
  WayFigures figures{.name = name,
                     .avg_jct_s = replica.summary.avg_jct_s,
                     .gpu_utilisation = stored.figures[metric_index(*find_metric("gpu_utilisation"))]};
  if (waits.empty()) return figures;
  figures.mean_s = mean(waits);
  figures.median_s = percentile(waits, kMedian);
  figures.p95_s = percentile(waits, kNineteenOfTwenty);
  return figures;
}

/// How other logs are drawn from this one: in blocks of this length; nothing if they can't be.
std::optional<Time> block_of(const Scenario& scenario, std::uint64_t weeks, JobLists& lists, std::string& others) {
  constexpr std::size_t kFewestWholeDays = 2;
  if (weeks == 0) return std::nullopt;
  try {
    const ChosenBlock chosen = choose_block(scenario, scenario.workload, lists);
    if (chosen.days.blocks >= kFewestWholeDays) {
      others = fmt::format("{} other logs were drawn from its {} days, in blocks of {}{}", weeks, chosen.days.blocks,
                           spoken_time(chosen.length.to_seconds()),
                           chosen.days.blocks < kFewestBlocks ? "; so few days say little about others" : "");
      return chosen.length;
    }
  } catch (const InputError&) {  // all jobs come at once, or there is a fault that the run explains
  }
  others = "the log covers less than two days, too little to draw others like it";
  return std::nullopt;
}

/// Runs all ways; false if the user interrupted.
bool run_ways(const Arguments& arguments, std::vector<Way> ways, std::optional<Time> block, std::uint64_t weeks,
              JobLists& lists, WhatifReport& report) {
  const Metric& wait = *find_metric("avg_waiting");
  for (Way& way : ways) {
    way.scenario.repeat = 1;
    std::vector<Scenario> scenarios{way.scenario};
    if (block) {
      Scenario& other = scenarios.emplace_back(way.scenario);
      other.workload.sampling.block = block;
      other.repeat = static_cast<int>(weeks);
    }
    const auto results = simulate(scenarios, progress_mode(arguments), thread_count(arguments), nullptr, lists);
    if (interrupted()) return false;
    StoredReplica stored = as_stored(results[0].front());
    WayFigures& figures = report.ways.emplace_back(figures_of(way.name, results[0].front(), stored));
    for (std::size_t r = 0; block && r < results[1].size(); ++r) {
      figures.others_s.push_back(wait.value(results[1][r].summary));
      if (figures.others_s[r] < report.ways.front().others_s[r]) ++figures.shorter;
    }
    if (report.ways.size() == 1) report.first = std::move(stored);
  }
  return true;
}

/// The answer, a sentence each for the cluster as it is and for every other way.
std::string answer_of(const WhatifReport& report) {
  const WayFigures& first = report.ways.front();
  if (!std::isfinite(first.mean_s)) return "No job started.\n";
  std::string out = fmt::format("Jobs wait {} on average, half of them at most {}, and one in twenty more than {}.\n",
                                spoken_time(first.mean_s), spoken_time(first.median_s), spoken_time(first.p95_s));
  if (const auto waits = waits_beside_measured(report.first.jobs, nullptr); !waits.empty())
    out += fmt::format("The log itself says {}, where the simulation of these {} jobs says {}.\n",
                       spoken_time(waits.front().measured.mean_s), waits.front().jobs,
                       spoken_time(waits.front().simulated.mean_s));
  for (std::size_t w = 1; w < report.ways.size(); ++w) {
    const WayFigures& way = report.ways[w];
    out += fmt::format("{}: {} instead of {}{}.\n", way.name, spoken_time(way.mean_s), spoken_time(first.mean_s),
                       way.others_s.empty()
                           ? std::string{}
                           : fmt::format("; in {} of {} other logs they wait less", way.shorter, way.others_s.size()));
  }
  return out;
}

std::string whatif_text(const WhatifReport& report) {
  constexpr double kHour = 3600;
  std::string out = fmt::format("{}: {} jobs, on {}\n", report.log, report.jobs, report.cluster);
  if (!report.others.empty()) out += report.others + "\n";
  out += "\n" + answer_of(report) + "\n";
  Table table{{"way", "wait [h]", "median [h]", "95 % [h]", "JCT [h]", "GPUs busy [%]", "waits less in"}};
  std::vector<std::vector<double>> columns(5);
  for (const WayFigures& way : report.ways) {
    const double figures[] = {way.mean_s / kHour, way.median_s / kHour, way.p95_s / kHour, way.avg_jct_s / kHour,
                              way.gpu_utilisation * kPercent};
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].push_back(figures[c]);
  }
  std::vector<std::vector<std::string>> cells;
  for (const std::vector<double>& column : columns) cells.push_back(format_column(column));
  for (std::size_t w = 0; w < report.ways.size(); ++w) {
    const WayFigures& way = report.ways[w];
    std::vector<std::string> row{way.name};
    for (const std::vector<std::string>& column : cells) row.push_back(column[w]);
    row.push_back(w == 0 || way.others_s.empty() ? "-" : fmt::format("{} of {}", way.shorter, way.others_s.size()));
    table.add(std::move(row));
  }
  out += table.text() + "\nWho waits as it is\n";
  for (const char* const name : {"user", "vc", "size"}) {
    const Grouping& grouping = find_grouping(name);
    const bool has_any =
        std::ranges::any_of(report.first.jobs, [&](const StoredJob& job) { return !grouping.value(job).empty(); });
    if (has_any) out += "\n" + group_table({&report.first, 1}, grouping, Draws::independent);
  }
  out += "\n" + group_table({&report.first, 1}, kByHour, Draws::independent);
  const std::string waits = waits_table({&report.first, 1});
  return waits.empty() ? out : out + "\n" + waits;
}

std::string whatif_json(const WhatifReport& report) {
  JsonWriter json;
  json.begin_object().member("log", report.log).member("cluster", report.cluster);
  json.member("jobs", std::uint64_t{report.jobs}).member("other_weeks", report.others);
  json.member("answer", answer_of(report));
  json.key("ways").begin_array();
  for (const WayFigures& way : report.ways) {
    json.begin_object().member("way", way.name).member("wait_mean_s", way.mean_s);
    json.member("wait_median_s", way.median_s).member("wait_p95_s", way.p95_s).member("avg_jct_s", way.avg_jct_s);
    json.member("gpu_utilisation", way.gpu_utilisation).member("weeks", std::uint64_t{way.others_s.size()});
    json.member("weeks_shorter", std::uint64_t{way.shorter}).end_object();
  }
  json.end_array();
  json.key("hours").begin_array();
  for (const GroupFigures& group : group_figures({&report.first, 1}, kByHour)) {
    json.begin_object().member("value", group.value);
    write_group_figures(json, group.figures);
    json.end_object();
  }
  json.end_array();
  write_groups(json, report.first);
  json.end_object();
  return json.take();
}

/// The jobs of the log, with time 0 at midnight if the log has dates.
std::vector<JobRequest> jobs_of_log(const Arguments& arguments) {
  const std::string& log = arguments.positionals().front();
  ImportOptions options;
  options.skip_bad_rows = arguments.has("skip-bad-rows");
  ImportedJobs imported = import_jobs("auto", log, options);
  if (imported.jobs.empty()) throw InputError{{.file = log, .reason = "there is no job in it"}};
  const Time since_midnight = Time::nanoseconds(imported.origin.ns() % kDay.ns());
  for (JobRequest& job : imported.jobs) job.submit += since_midnight;
  return std::move(imported.jobs);
}

}  // namespace

int whatif_verb(const Arguments& arguments) {
  constexpr std::uint64_t kUsualWeeks = 20;
  const std::uint64_t weeks = arguments.whole_number("weeks", 0, 10'000).value_or(kUsualWeeks);
  const WhatifCluster cluster{arguments};
  std::vector<JobRequest> jobs = jobs_of_log(arguments);
  cluster.fit(jobs);
  WhatifReport report{.log = arguments.positionals().front(), .jobs = jobs.size()};
  std::map<std::string, std::string> texts;
  std::vector<Way> ways = ways_of(arguments, cluster, std::move(jobs), texts);
  const Scenario& first = ways.front().scenario;
  report.cluster = fmt::format("{} GPUs on {} server{} under {}", gpus_of(first.cluster), first.cluster.servers,
                               first.cluster.servers == 1 ? "" : "s", first.scheduling.name);
  JobLists lists = cluster.lists(texts);
  catch_interrupts();
  const std::optional<Time> block = block_of(first, weeks, lists, report.others);
  if (!run_ways(arguments, std::move(ways), block, weeks, lists, report)) {
    print_message("contend: interrupted; nothing was compared\n");
    return kExitInterrupted;
  }
  print_output("{}", arguments.has("json") ? whatif_json(report) : whatif_text(report));
  return kExitOk;
}

}  // namespace contend
