// 16 V100 on four nodes, 10 GbE, fp32 gradients (Shi et al., MG-WFBP, TPDS 2021), as plotted by
// trl730109/DreamDDP, scripts/tpds/communication.py.

#include "validate/iteration_time.hpp"
#include "validate/overlap/overlap_suite.hpp"

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

}  // namespace

CheckedTable overlap_v100_measured() {
  constexpr double kTolerance = 0.12;
  CheckedTable table;
  table.title = "Speed-up of MG-WFBP measured on 16 V100, 10 GbE (TPDS 2021); all-reduce as its authors tabulate it";
  for (const MeasuredIteration& row : kIterations) {
    const TimedModel model = scaled_model(row.model, "V100-PCIe", row.batch, 0, row.compute_s);
    const OverlapProblem problem = overlap_problem(model, 16, ExchangeCost::measured(kAllReduce));
    const double merged = iteration_s(problem, "{policy: mg-wfbp, optimal: false}");
    const auto add = [&](const char* what, double published, const char* policy) {
      table.checks.push_back({fmt::format("{}, over {}", row.name, what),
                              published / row.merged_s,
                              iteration_s(problem, policy) / merged,
                              kTolerance,
                              {}});
    };
    add("WFBP", row.wfbp_s, "wfbp");
    add("single layer", row.single_s, "bsp");
  }
  return table;
}

}  // namespace contend
