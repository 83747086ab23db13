#include "validate/elastic/gavel_continuous.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "validate/elastic/elastic_suite.hpp"
#include "validate/table_column.hpp"

#include <cstdlib>
#include <filesystem>

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

}  // namespace contend
