#include "results/result_writer.hpp"

#include "results/folding_report.hpp"
#include "results/job_groups.hpp"
#include "results/result_columns.hpp"
#include "results/result_digests.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/new_folder.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

void append_cell(std::string& out, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) append_csv_field(out, *text);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) out += fmt::format_int{*number}.c_str();
  if (const auto* number = std::get_if<double>(&cell)) out += fmt::format("{}", *number);
  if (const auto* time = std::get_if<Time>(&cell)) out += format_seconds(*time);
  if (const auto* time = std::get_if<GpuTime>(&cell)) out += format_seconds(*time);
}

/// `rows` gives the rows of a run, as a range.
template <class Row, class Rows>
std::string csv_of(std::span<const Replica> replicas, std::span<const Column<Row>> columns, Rows rows) {
  const bool with_seed = replicas.size() > 1;
  std::string out = with_seed ? "replica," : "";
  const std::vector<const Column<Row>*> shown = shown_columns(columns, replicas, rows);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i > 0) out += ',';
    out += shown[i]->name;
  }
  out += '\n';
  for (const Replica& replica : replicas) {
    for (const Row& row : rows(replica.result)) {
      if (with_seed) out += fmt::format("{},", replica.seed);
      for (std::size_t i = 0; i < shown.size(); ++i) {
        if (i > 0) out += ',';
        append_cell(out, shown[i]->value(row));
      }
      out += '\n';
    }
  }
  return out;
}

void write_figure(JsonWriter& json, const Metric& metric, double value) {
  if (metric.is_left_out(value)) return;
  json.key(metric.name);
  if (is_count(metric.unit) && !std::isnan(value))
    json.value(static_cast<std::int64_t>(value));
  else
    json.value(value);
}

}  // namespace

std::string jobs_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, job_columns(), [](const RunResult& run) -> auto& { return run.jobs; });
}
std::string gpus_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, gpu_columns(), [](const RunResult& run) -> auto& { return run.gpus; });
}
std::string types_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, type_columns(), [](const RunResult& run) -> auto& { return run.types; });
}
std::string energy_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, hour_columns(), [](const RunResult& run) -> auto& { return run.hours; });
}
std::string sharing_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, sharing_columns(), [](const RunResult& run) {
    std::vector<SharedRow> rows;
    for (const SharedTime& each : run.sharing)
      rows.push_back({run.jobs[each.job.index()].name, names_of(run, each.beside), each.time, each.lost});
    return rows;
  });
}
std::string requests_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, request_columns(), [](const RunResult& run) {
    std::vector<RequestRow> rows;
    for (const ServiceResult& service : run.services)
      for (const RequestResult& each : service.requests)
        if (each.arrival <= run.end)
          rows.push_back({run.jobs[service.job.index()].name, &each - service.requests.data(), each});
    return rows;
  });
}
std::string rounds_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, round_columns(), [](const RunResult& run) {
    std::vector<RoundRow> rows;
    for (const ServiceResult& service : run.services) {
      if (!service.federated) continue;
      const std::vector<FederatedRound>& rounds = service.federated->rounds;
      for (const FederatedRound& each : rounds)
        rows.push_back({run.jobs[service.job.index()].name, &each - rounds.data(), each});
    }
    return rows;
  });
}
std::string links_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, link_columns(), [](const RunResult& run) -> auto& { return run.links; });
}

std::string fabric_csv(std::span<const Replica> replicas) {
  return csv_of(
      replicas, fabric_columns(), [](const RunResult& run) -> auto& { return run.fabric.links; });
}
std::string fabric_jobs_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, link_use_columns(), [](const RunResult& run) {
    std::vector<LinkUse> uses;
    for (const FabricLinkResult& link : run.fabric.links) {
      for (const auto& user : link.users) uses.push_back({link.name, run.jobs[user.job.index()].name, user.bytes});
    }
    return uses;
  });
}
std::string fabric_utilisation_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, link_utilisation_columns(), [](const RunResult& run) {
    std::vector<LinkUtilisation> samples;
    for (const LinkSample& sample : run.fabric.samples) {
      samples.push_back({run.fabric.links[sample.link].name, sample.start, sample.utilisation});
    }
    return samples;
  });
}

std::string fabric_delays_csv(std::span<const Replica> replicas) {
  return csv_of(replicas, delay_columns(), [](const RunResult& run) {
    std::vector<DelayedBy> rows;
    for (const SharedDelay& each : run.fabric.delays)
      rows.push_back({run.jobs[each.job.index()].name, run.jobs[each.by.index()].name, place_of(run, each), each.lost});
    return rows;
  });
}

void write_summary_members(JsonWriter& json, const std::string& scenario_name, std::span<const Replica> replicas) {
  json.member("scenario", scenario_name);
  json.key("replicas").begin_array();
  std::vector<std::vector<double>> all;
  for (const Replica& replica : replicas) {
    json.begin_object().member("seed", replica.seed).member("interrupted", replica.result.interrupted);
    const std::vector<double> figures = figures_of_run(replica.result, replica.summary);
    for (std::size_t i = 0; i < figures.size(); ++i) write_figure(json, metrics()[i], figures[i]);
    all.push_back(figures);
    json.key("end_s").raw(format_seconds(replica.result.end));
    if (!replica.result.currency.empty()) json.member("currency", replica.result.currency);
    if (const FoldingCounts folding = folding_of(replica.result); folding.gpus > 0) write_folding(json, folding);
    write_groups(json, as_stored(replica));
    json.end_object();
  }
  json.end_array();
  if (replicas.size() < 2) return;
  json.key("mean").begin_object();
  for (const Metric& metric : metrics()) {
    std::vector<double> values;
    for (const std::vector<double>& run : all) values.push_back(run[metric_index(metric)]);
    const Estimate figure = estimate(values, draws_of(replicas));
    if (metric.is_left_out(figure.mean)) continue;
    json.key(metric.name).begin_object().member("mean", figure.mean).member("half_width_95", figure.half_width);
    json.end_object();
  }
  json.end_object();
}

std::string summary_json(const std::string& scenario_name, std::span<const Replica> replicas) {
  JsonWriter json;
  json.begin_object();
  write_summary_members(json, scenario_name, replicas);
  json.end_object();
  return json.take();
}

std::span<const ResultFile> result_files() {
  using Runs = std::span<const Replica>;
  static constexpr auto kAlways = [](Runs) { return true; };
  static constexpr auto kWithGpus = [](Runs runs) { return !runs.empty() && !runs.front().result.gpus.empty(); };
  static constexpr auto kWithTypes = [](Runs runs) { return !runs.empty() && !runs.front().result.types.empty(); };
  static constexpr auto kWithMeter = [](Runs runs) {
    return std::ranges::any_of(runs, [](const Replica& each) { return each.result.drawn.has_value(); });
  };
  static constexpr auto kWithSharing = [](Runs runs) {
    return std::ranges::any_of(runs, [](const Replica& each) { return !each.result.sharing.empty(); });
  };
  static constexpr auto kWithRequests = [](Runs runs) {
    return std::ranges::any_of(runs, [](const Replica& each) {
      return std::ranges::any_of(each.result.services, [](const ServiceResult& s) { return !s.requests.empty(); });
    });
  };
  static constexpr auto kWithRounds = [](Runs runs) {
    return std::ranges::any_of(runs, [](const Replica& each) {
      return std::ranges::any_of(each.result.services, [](const ServiceResult& s) { return s.federated.has_value(); });
    });
  };
  static constexpr auto kWithFabric = [](Runs runs) {
    return !runs.empty() && !runs.front().result.fabric.links.empty();
  };
  static constexpr auto kWithDelays = [](Runs runs) {
    return std::ranges::any_of(runs, [](const Replica& each) { return each.result.fabric.has_delays; });
  };
  static constexpr ResultFile kFiles[] = {
      {"jobs.csv", jobs_csv, kAlways},
      {"gpus.csv", gpus_csv, kWithGpus},
      {"links.csv", links_csv, kWithGpus},
      {"types.csv", types_csv, kWithTypes},
      {"energy.csv", energy_csv, kWithMeter},
      {"sharing.csv", sharing_csv, kWithSharing},
      {"requests.csv", requests_csv, kWithRequests},
      {"rounds.csv", rounds_csv, kWithRounds},
      {"fabric.csv", fabric_csv, kWithFabric},
      {"fabric_jobs.csv", fabric_jobs_csv, kWithFabric},
      {"fabric_utilisation.csv", fabric_utilisation_csv, kWithFabric},
      {"fabric_delays.csv", fabric_delays_csv, kWithDelays},
  };
  return kFiles;
}

void write_results(const std::string& folder, const Manifest& manifest, const std::string& scenario_yaml,
                   std::span<const Replica> replicas, std::span<const NamedText> more) {
  const NewFolders made{folder};
  if (std::vector<Complaint> foreign = foreign_files(folder); !foreign.empty()) throw InputError{std::move(foreign)};
  const auto path = [&](std::string_view name) { return (std::filesystem::path{folder} / name).string(); };
  const std::vector<InputFile> before = own_files(folder);
  std::vector<InputFile> files, journal = before;
  write_file(journal_of(folder), sealed_journal(manifest, journal));
  std::error_code not_there;
  std::filesystem::remove(path("manifest.json"), not_there);
  const auto write = [&](std::string_view name, const std::string& content) {
    files.push_back({.path = std::string{name}, .sha256 = sha256_hex(content)});
    journal.push_back(files.back());
    write_file(journal_of(folder), sealed_journal(manifest, journal));
    write_file(path(name), content);
  };
  write("scenario.yaml", scenario_yaml);
  for (const ResultFile& file : result_files())
    if (file.exists(replicas)) write(file.name, file.csv(replicas));
  for (const NamedText& each : more) write(each.name, each.text);
  write("summary.json", summary_json(manifest.scenario_name, replicas));
  const auto lists = [](const std::vector<InputFile>& list, std::string_view name) {
    return std::ranges::find(list, name, &InputFile::path) != list.end();
  };
  for (const std::string_view name : run_files())
    if (lists(before, name) && !lists(files, name)) std::filesystem::remove(path(name), not_there);
  write_file(path("manifest.json"), sealed_manifest(manifest, replicas, files));
  std::filesystem::remove(journal_of(folder), not_there);
}

}  // namespace contend
