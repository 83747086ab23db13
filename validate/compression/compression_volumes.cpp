// Counts the bytes that compression methods send from the stages of their exchanges.

#include "policies/registry.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "validate/compression/compression_suite.hpp"
#include "validate/compression/saps_volumes.hpp"
#include "validate/iteration_time.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>

namespace contend {

namespace {

/// Sizes of the factors in lzhangbv/acpsgd, acpsgd.py, where a tensor is a matrix (first dimension, rest), r =
/// min(rank, n, m), and vectors stay dense. They are in millions of elements, as ratios to the whole gradient, and in
/// MB (1e6) an iteration. The figures of ACP-SGD are means of P and Q.
struct LowRankRow {
  const char* name;
  const char* model;
  std::int64_t rank;
  double params_m, p_m, q_m, vectors_m;
  double power_ratio, power_mb, acp_ratio, acp_mb;
  std::array<double, 4> digit;  ///< half a unit of the last printed digit of the four above
};
constexpr LowRankRow kLowRank[] = {
    {"ResNet-50", "resnet50", 4, 25.56, 0.110, 0.220, 0.054, 66.5, 1.54, 117, 0.88, {0.05, 0.005, 0.5, 0.005}},
    {"ResNet-152", "resnet152", 4, 60.19, 0.307, 0.678, 0.152, 52.9, 4.55, 93, 2.58, {0.05, 0.005, 0.5, 0.005}},
    {"BERT-Base", "bert-base", 32, 110.11, 3.696, 2.756, 0.155, 16.7, 26.4, 32.6, 13.5, {0.05, 0.05, 0.05, 0.05}},
    {"BERT-Large", "bert-large", 32, 336.23, 8.137, 7.213, 0.356, 21.4, 62.8, 41.9, 32.1, {0.05, 0.05, 0.05, 0.05}}};

OverlapProblem problem_of(const std::string& model, int workers) {
  OverlapProblem problem =
      overlap_problem(scaled_model(model, "V100-SXM2", 1, 0, 0.1), workers, ExchangeCost::ring(workers, {}));
  problem.kernels.emplace(*find_device("V100-SXM2"), RooflineOptions{});
  return problem;
}

/// The method of that name with its default parameters except for one.
std::unique_ptr<CompressionMethod> method(const char* name, const char* parameter, const ParameterValue& value) {
  auto values = default_policy(policy_kind("compression"), name).parameters.values();
  for (auto& [key, held] : values) {
    if (key == parameter) held = value;
  }
  return make_policy(compression_policies(), {name, Parameters{values}}, {});
}

/// The sum over the collectives of all stages, for the whole gradient as one message.
std::int64_t elements_sent(const CompressionMethod& compressor, const OverlapProblem& problem) {
  std::int64_t bytes = 0;
  for (const ExchangeStage& stage : compressor.stages(problem, {0, problem.gradients.size() - 1}))
    bytes += stage.collective ? stage.bytes.count() : 0;
  return bytes / problem.gradient_element_bytes;
}

/// A figure with a tolerance of half a unit of its last printed digit.
CheckedFigure rounded(const std::string& name, double published, double ours, double half_unit) {
  return {name, published, ours, half_unit / published, {}};
}

void add_low_rank(const LowRankRow& row, CheckedTable& table) {
  OverlapProblem problem = problem_of(row.model, 2);
  const auto total = static_cast<double>(problem.gradient().count() / problem.gradient_element_bytes);
  std::int64_t one_dimensional = 0;
  for (const OverlapProblem::Gradient& each : problem.gradients)
    one_dimensional += each.rows > 1 && each.columns > 1 ? 0 : each.rows * each.columns;
  const auto acp = method("acp-sgd", "rank", row.rank);
  const auto power = method("power-sgd", "rank", row.rank);
  const auto vectors = static_cast<double>(one_dimensional);
  const auto p = static_cast<double>(elements_sent(*acp, problem)) - vectors;
  problem.phase = 1;
  const auto q = static_cast<double>(elements_sent(*acp, problem)) - vectors;
  const auto both = static_cast<double>(elements_sent(*power, problem));
  const double mean = (p + q) / 2 + vectors;
  const auto add = [&](const char* what, double published, double ours, double half_unit) {
    table.checks.push_back(rounded(fmt::format("{} r={}, {}", row.name, row.rank, what), published, ours, half_unit));
  };
  add("parameters [1e6]", row.params_m, total * 1e-6, 0.005);
  add("P [1e6]", row.p_m, p * 1e-6, 0.0005);
  add("Q [1e6]", row.q_m, q * 1e-6, 0.0005);
  add("vectors [1e6]", row.vectors_m, vectors * 1e-6, 0.0005);
  add("Power-SGD ratio", row.power_ratio, total / both, row.digit[0]);
  add("Power-SGD [MB]", row.power_mb, both * 4e-6, row.digit[1]);
  add("ACP-SGD ratio", row.acp_ratio, total / mean, row.digit[2]);
  add("ACP-SGD [MB]", row.acp_mb, mean * 4e-6, row.digit[3]);
}

CheckedTable low_rank_table() {
  CheckedTable table;
  table.title = "Sizes of low-rank factors (lzhangbv/acpsgd), to the digit printed";
  for (const LowRankRow& row : kLowRank) add_low_rank(row, table);
  return table;
}

/// Bytes that a worker sends in all: 2(n-1)/n of the tensor in an all-reduce, (n-1)/n in an all-to-all or all-gather.
double bytes_sent(const CompressionMethod& compressor, const OverlapProblem& problem) {
  double bytes = 0;
  for (const ExchangeStage& stage : compressor.stages(problem, {0, problem.gradients.size() - 1})) {
    if (!stage.collective) continue;
    bytes += (stage.collective == CollectiveKind::all_reduce ? 2 : 1) * stage.bytes.to_double();
  }
  return bytes * (problem.workers - 1) / problem.workers;
}

/// Compares the volume of a whole run whose warm-up is in full precision with a run that sends fp16 (1-bit Adam, ICML
/// 2021).
CheckedTable one_bit_adam_table() {
  constexpr double kWarmUp = 0.15;
  CheckedTable table;
  table.title = "1-bit Adam: bytes of a run against fp16 (ICML 2021, abstract: up to 5x), warm-up 15% of the steps";
  for (const int workers : {8, 64}) {
    OverlapProblem problem = problem_of("bert-large", workers);
    for (OverlapProblem::Gradient& each : problem.gradients) each.size = Bytes{each.size.count() / 2};
    problem.gradient_element_bytes = 2;
    const auto compressor = method("onebit-adam", "warm_up", kWarmUp);
    const std::vector<double> shares = compressor->phases().shares();
    double run = 0, dense = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      problem.phase = static_cast<int>(i);
      const double bytes = bytes_sent(*compressor, problem);
      if (i == 0) dense = bytes;
      run += shares[i] * bytes;
    }
    table.checks.push_back(rounded(fmt::format("BERT-Large, {} GPUs, run reduction", workers), 5, dense / run, 0.5));
    table.checks.push_back(rounded(fmt::format("BERT-Large, {} GPUs, after the warm-up", workers), 16,
                                   dense * (1 - kWarmUp) / (run - kWarmUp * dense), 0.5));
  }
  return table;
}

CheckedTable decentralised_table() {
  CheckedTable table;
  table.title = "Sent and received by a worker in a round, in units of the model (SAPS-PSGD, ICDCS 2020)";
  for (const VolumeRow& row : saps_volumes())
    table.checks.push_back({fmt::format("{}, {} workers", row.name, row.workers), row.published, row.ours, 1e-9, {}});
  return table;
}

}  // namespace

std::vector<CheckedTable> compression_volumes() {
  return {low_rank_table(), one_bit_adam_table(), decentralised_table()};
}

}  // namespace contend
