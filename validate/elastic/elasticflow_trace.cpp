#include "validate/elastic/elasticflow_trace.hpp"

#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "validate/elastic/elastic_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// Iterations a second by batch, then by GPUs.
using Curves = std::map<std::string, std::map<int, double>>;

Curves read_curves(const std::string& path) {
  const CsvTable table = parse_csv(read_file(path), path);
  Curves curves;
  for (const CsvRow& row : table.rows)
    for (std::size_t i = 1; i < row.fields.size(); ++i) {
      const double rate = std::strtod(row.fields[i].c_str(), nullptr);
      if (rate > 0) curves[row.fields[0]][std::stoi(table.header[i])] = rate;  // not where the table says nan
    }
  return curves;
}

/// The sizes up to the fastest, at the paces of a job whose duration holds on `gpus`.
std::vector<JobSize> sizes_of(const std::map<int, double>& curve, int gpus) {
  const auto fastest =
      std::ranges::max_element(curve, {}, [](const std::pair<const int, double>& each) { return each.second; });
  std::vector<JobSize> sizes;
  for (const auto& [size, rate] : curve) {
    if (size > std::max(fastest->first, gpus)) break;
    sizes.push_back(
        {.gpus = size, .paces = {{.together = std::llround(curve.at(gpus) / rate * kNominalPace)}}, .parts = 1});
  }
  return sizes;
}

}  // namespace

std::vector<ElasticFlowRow> elasticflow_rows() {
  const std::filesystem::path traces = std::filesystem::path{gavel_folder()}.parent_path();
  const auto trace = traces / "elasticflow" / "elasticVpollux_e.csv";
  const auto curves_folder = traces.parent_path() / "elastic" / "elasticflow" / "throughputs_T4";
  if (!std::filesystem::exists(trace) || !std::filesystem::exists(curves_folder)) return {};
  const CsvTable table = parse_csv(read_file(trace.string()), trace.string());
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(table.header, name) - table.header.begin());
  };
  const std::size_t submit = column("submit_time"), deadline = column("ddl"), model = column("model_name"),
                    batch = column("batch_size"), gpus = column("num_gpu"), iterations = column("iteration"),
                    duration = column("duration");
  std::map<std::string, Curves> curves;
  std::vector<ElasticFlowRow> rows;
  for (const CsvRow& row : table.rows) {
    const std::vector<std::string>& field = row.fields;
    const auto [known, is_new] = curves.try_emplace(field[model]);
    if (is_new) known->second = read_curves((curves_folder / (field[model] + ".csv")).string());
    rows.push_back({.name = field[0],
                    .model = field[model],
                    .batch = field[batch],
                    .submit_s = std::stoll(field[submit]),
                    .deadline_s = std::stoll(field[deadline]),
                    .duration_s = std::stoll(field[duration]),
                    .iterations = std::stod(field[iterations]),
                    .gpus = std::stoi(field[gpus]),
                    .curve = known->second.at(field[batch])});
  }
  std::ranges::stable_sort(rows, {}, &ElasticFlowRow::submit_s);
  return rows;
}

std::optional<RunResult> run_elasticflow_trace(const std::string& policy, const PolicyValues& parameters,
                                               double restart_s, FixedSize fixed) {
  const std::vector<ElasticFlowRow> rows = elasticflow_rows();
  if (rows.empty()) return std::nullopt;
  const std::int64_t first =
      rows.front().submit_s - rows.front().submit_s % 60;  // decisions come at multiples of a minute
  Workload workload;
  for (const ElasticFlowRow& row : rows) {
    JobSpec job;
    job.name = row.name;
    job.model = row.model;
    job.gpus = fixed == FixedSize::largest ? row.curve.rbegin()->first : row.gpus;
    job.submit = Time::seconds(row.submit_s - first);
    job.deadline = Time::seconds(row.deadline_s - first);
    job.duration = Time::ceil_nanoseconds(row.iterations / row.curve.at(job.gpus) * 1e9);
    job.sizes = static_cast<std::int32_t>(workload.sizes.size());
    workload.sizes.push_back(sizes_of(row.curve, job.gpus));
    workload.jobs.push_back(std::move(job));
  }
  ClusterSpec cluster;
  cluster.servers = kFlowServers;
  cluster.gpus_per_server = kGpusOfFlowServer;
  cluster.gpu_memory = Bytes{1};
  return run_timed(cluster, std::move(workload), policy, parameters, restart_s);
}

}  // namespace contend
