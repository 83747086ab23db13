#include "validate/elastic/gavel_continuous.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/table_column.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace contend {

std::optional<std::vector<GavelRow>> read_gavel_continuous() {
  const std::filesystem::path folder = gavel_folder();
  const std::string path = (folder / "continuous_single_seed42_lam4500.csv").string();
  const std::string rates_path = (folder / "simulation_throughputs.json").string();
  if (!std::filesystem::exists(path) || !std::filesystem::exists(rates_path)) return std::nullopt;
  const JsonValue rates = read_json(*open_file(rates_path), rates_path);
  const CsvTable table = parse_csv(read_file(path), path);
  const TableColumn type{table, "job_type"}, scale{table, "scale_factor"}, steps{table, "total_steps"};
  const TableColumn arrival{table, "arrival_time_s"};
  std::vector<GavelRow> rows;
  for (const CsvRow& line : table.rows) {
    GavelRow row{.arrival_s = arrival.number(line), .iterations = steps.number(line), .gpus = scale.whole(line)};
    const std::string key = fmt::format("('{}', {})", type.text(line), scale.text(line));
    for (std::size_t t = 0; t < row.rates.size(); ++t) {
      const JsonValue* const of_type = rates.find(kGavelTypes[t]);
      const JsonValue* const of_job = of_type != nullptr ? of_type->find(key) : nullptr;
      const JsonValue* const alone = of_job != nullptr ? of_job->find("null") : nullptr;
      if (alone == nullptr)
        throw InputError{fmt::format("{}: no throughput of {} on {}", rates_path, key, kGavelTypes[t])};
      row.rates[t] = std::strtod(alone->text.c_str(), nullptr);
    }
    rows.push_back(row);
  }
  return rows;
}

std::optional<RunResult> run_gavel_continuous(const std::string& policy, const PolicyValues& parameters) {
  const std::optional<std::vector<GavelRow>> rows = read_gavel_continuous();
  if (!rows) return std::nullopt;
  ClusterSpec cluster;
  cluster.servers = 0;
  for (std::size_t t = 0; t < std::size(kGavelTypes); ++t) {
    cluster.types.push_back({.name = kGavelTypes[t],
                             .servers = kGavelGpusPerType,
                             .gpus_per_server = 1,
                             .gpu_memory = Bytes{1},
                             .price = kGavelPrices[t]});
    cluster.servers += kGavelGpusPerType;
  }
  Workload workload;
  for (const GavelRow& row : *rows) {
    const double fastest = row.rates.back();
    JobSpec job;
    job.name = fmt::format("{}", workload.jobs.size());
    job.gpus = row.gpus;
    job.submit = Time::ceil_nanoseconds(row.arrival_s * 1e9);
    job.duration = Time::ceil_nanoseconds(row.iterations / fastest * 1e9);
    std::vector<JobPace> paces;
    for (const double rate : row.rates)
      paces.push_back({.together = rate > 0 ? std::llround(fastest / rate * static_cast<double>(kNominalPace)) : 0});
    job.pace = static_cast<std::int32_t>(workload.paces.size());
    workload.paces.push_back(std::move(paces));
    workload.jobs.push_back(std::move(job));
  }
  return run_timed(cluster, std::move(workload), policy, parameters, 0);
}

}  // namespace contend
