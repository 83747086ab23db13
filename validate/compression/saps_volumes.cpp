#include "validate/compression/saps_volumes.hpp"

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace contend {

namespace {

constexpr std::int64_t kValues = 1'000'000;

/// A model of one tensor.
OverlapProblem problem_of(int workers) {
  OverlapProblem problem;
  problem.layers = {{"layer", Time::milliseconds(1), Time::milliseconds(1)}};
  problem.gradients = {{0, Bytes{4 * kValues}, kValues, 1}};
  problem.workers = workers;
  problem.kernels.emplace(*find_device("V100-SXM2"), RooflineOptions{});
  return problem;
}

std::unique_ptr<CompressionMethod> usual_method(std::string_view name) {
  for (const PolicyRow<CompressionMethod>& row : compression_policies()) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& each : row.parameters) values.emplace_back(each.name, each.default_value);
    return row.make(Parameters{std::move(values)}, {});
  }
  check_failed(__FILE__, __LINE__, "a method of the table", name);
}

/// The authors count the bytes that a worker sends to a server or a peer, and the bytes that the worker receives from
/// there. Of an all-gather they count only the bytes that the worker receives.
double counted(const Op& op, int workers) {
  switch (op.collective) {
    case CollectiveKind::exchange:
      return 2 * op.bytes.to_double();
    case CollectiveKind::all_gather:
      return op.bytes.to_double() * (workers - 1) / workers;
    default:
      return op.bytes.to_double();  // a push or a pull
  }
}

double volume(const OverlapProblem& problem) {
  IterationBuilder builder{problem};
  static_cast<void>(builder.exchange("model", {0, problem.gradients.size() - 1}, builder.forward(0)));
  double bytes = 0;
  for (const Op& op : builder.graph.ops()) {
    if (op.kind == OpKind::collective) bytes += counted(op, problem.workers);
  }
  return bytes / (4.0 * kValues);
}

double volume(std::string_view method, int workers) {
  OverlapProblem problem = problem_of(workers);
  const std::unique_ptr<CompressionMethod> compressor = usual_method(method);
  problem.method = compressor.get();
  return volume(problem);
}

/// PSGD with a server has a push and a pull.
double volume_of_server(int workers) {
  OverlapProblem problem = problem_of(workers);
  problem.cost = ExchangeCost::parameter_server(workers, 1, false, {});
  return volume(problem);
}

}  // namespace

std::vector<VolumeRow> saps_volumes() {
  std::vector<VolumeRow> rows;
  for (const int workers : {14, 32}) {
    rows.push_back({"PSGD", workers, 2, volume_of_server(workers)});
    rows.push_back({"TopK-PSGD", workers, 2 * (workers - 1) * (1 - 0.999), volume("top-k", workers)});
    rows.push_back({"D-PSGD", workers, 4, volume("d-psgd", workers)});
    rows.push_back({"SAPS-PSGD", workers, 2 * 0.01, volume("saps", workers)});
  }
  return rows;
}

}  // namespace contend
