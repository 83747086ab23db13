// 16 V100 on four nodes, 10 GbE, fp32 gradients (Shi et al., MG-WFBP, TPDS 2021), as plotted by
// trl730109/DreamDDP, scripts/tpds/communication.py.

#include "models/overlap/iteration_fit.hpp"
#include "validate/iteration_time.hpp"
#include "validate/overlap/overlap_suite.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

struct MeasuredIteration {
  const char* name;
  const char* model;
  int batch;
  double compute_s, wfbp_s, single_s, merged_s;
};
constexpr MeasuredIteration kIterations[] = {{"ResNet-152", "resnet152", 128, 0.8831, 1.2334, 1.3601, 1.1261},
                                             {"Inception-v4", "inception-v4", 128, 0.6108, 0.9437, 0.9000, 0.7806},
                                             {"DenseNet-161", "densenet161", 64, 0.4777, 0.8324, 0.6826, 0.6280},
                                             {"DenseNet-201", "densenet201", 64, 0.3609, 0.7636, 0.5128, 0.4566}};

/// All-reduce over these 16 GPUs as the authors tabulate it (HKBU-HPML/MG-WFBP).
constexpr LinearCost kAllReduce{Time::nanoseconds(908'100), TimePerByte{0.7396}};

constexpr const char* kMerged = "{policy: mg-wfbp, optimal: false}";

/// What the policies are called in the table, and in a scenario.
struct RunPolicy {
  const char* what;
  const char* fusion;
  double MeasuredIteration::*seconds;
};
constexpr RunPolicy kPolicies[] = {{"single layer", "bsp", &MeasuredIteration::single_s},
                                   {"WFBP", "wfbp", &MeasuredIteration::wfbp_s},
                                   {"MG-WFBP", kMerged, &MeasuredIteration::merged_s}};

OverlapProblem problem_of(const TimedModel& model, const IterationConstants& constants) {
  ExchangeCost cost = ExchangeCost::measured(
      {Time::ceil_nanoseconds(constants.alpha_s * 1e9), TimePerByte{constants.beta_ns_per_byte}});
  const auto millionths = static_cast<std::int64_t>(std::llround(constants.interference * 1e6));
  cost.interference = {millionths, millionths};
  return overlap_problem(model, 16, cost);
}

std::string text_of(const IterationConstants& constants) {
  return fmt::format("alpha {:.2f} ms, beta {:.2f} ns/B, interference {:.2f}", constants.alpha_s * 1e3,
                     constants.beta_ns_per_byte, constants.interference);
}

}  // namespace

CheckedTable overlap_v100_seconds() {
  constexpr double kTolerance = 0.10;
  constexpr IterationConstants kGuess{0.0009, 1.5, 0.3};
  constexpr std::size_t kRuns = std::size(kPolicies);
  CheckedTable table;
  table.title = "Seconds of an iteration on 16 V100, 10 GbE (TPDS 2021); fitted on the other three networks";
  std::vector<TimedModel> models;
  std::vector<FittedRow> rows;
  for (const MeasuredIteration& row : kIterations) {
    models.push_back(scaled_model(row.model, "V100-PCIe", row.batch, 0, row.compute_s));
    for (const RunPolicy& policy : kPolicies) rows.push_back({row.name, row.*policy.seconds});
  }
  const auto predict = [&](std::size_t row, const IterationConstants& constants) {
    return quick_iteration_s(problem_of(models[row / kRuns], constants), kPolicies[row % kRuns].fusion);
  };
  const LeaveOneOut found = leave_one_out(rows, predict, kGuess);
  for (std::size_t i = 0; i < found.groups.size(); ++i) {
    table.notes.push_back(fmt::format("without {}: {}", found.groups[i], text_of(found.fits[i].constants)));
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const IterationConstants& constants = found.fits[row / kRuns].constants;
    const double seconds = iteration_s(problem_of(models[row / kRuns], constants), kPolicies[row % kRuns].fusion);
    table.checks.push_back({fmt::format("{}, {}, s", rows[row].group, kPolicies[row % kRuns].what),
                            rows[row].seconds,
                            seconds,
                            kTolerance,
                            {}});
  }
  return table;
}

CheckedTable overlap_v100_measured() {
  constexpr double kTolerance = 0.12;
  CheckedTable table;
  table.title = "Speed-up of MG-WFBP measured on 16 V100, 10 GbE (TPDS 2021); all-reduce as its authors tabulate it";
  for (const MeasuredIteration& row : kIterations) {
    const TimedModel model = scaled_model(row.model, "V100-PCIe", row.batch, 0, row.compute_s);
    const OverlapProblem problem = overlap_problem(model, 16, ExchangeCost::measured(kAllReduce));
    const double merged = iteration_s(problem, kMerged);
    const auto add = [&](const char* what, double published, const char* policy) {
      const double ours = iteration_s(problem, policy);
      table.checks.push_back({fmt::format("{}, over {}", row.name, what),
                              published / row.merged_s,
                              ours / merged,
                              kTolerance,
                              {},
                              published,
                              ours});
    };
    add("WFBP", row.wfbp_s, "wfbp");
    add("single layer", row.single_s, "bsp");
    table.notes.push_back(fmt::format("{}, MG-WFBP: {:.4g} s, published {:.4g} s", row.name, merged, row.merged_s));
  }
  return table;
}

}  // namespace contend
