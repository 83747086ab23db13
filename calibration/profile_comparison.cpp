#include "calibration/profile_comparison.hpp"

#include "calibration/predictor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace contend {

std::vector<TableComparison> compare_profiles(const CalibrationProfile& first, const CalibrationProfile& second) {
  const OperatorPredictor predictor{first};
  std::vector<TableComparison> out;
  for (const OperatorTable& table : second.tables) {
    const OperatorTable* const before = first.table(table.name, table.type);
    if (before == nullptr || before->samples.empty() || table.samples.empty()) continue;
    std::map<OperatorShape, double> known;
    for (const OperatorSample& each : before->samples) known.emplace(each.shape, each.seconds);
    TableComparison one{.name = table.name, .type = table.type, .apart = {}, .errors = {}};
    for (const OperatorSample& each : table.samples) {
      if (const auto found = known.find(each.shape); found != known.end()) {
        one.apart.push_back(std::abs(each.seconds / found->second - 1));
        continue;
      }
      const Prediction predicted = *predictor.predict(table.name, table.type, each.shape);
      if (predicted.basis == PredictionBasis::extrapolated)
        ++one.beyond;
      else
        one.errors.push_back(std::abs(predicted.seconds / each.seconds - 1));
    }
    std::sort(one.apart.begin(), one.apart.end());
    std::sort(one.errors.begin(), one.errors.end());
    out.push_back(std::move(one));
  }
  if (out.empty()) throw InputError{"the profiles have no operator in common"};
  return out;
}

}  // namespace contend
