#include "models/workloads/fitted.hpp"

#include "models/workloads/tables.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

const std::vector<const FittedWorkload*>& fitted_workloads() {
  using namespace workload_tables;
  static const std::vector<const FittedWorkload*> all{&kAcmeKalos, &kAcmeSeren, &kHelios, &kHeliosVenus,
                                                      &kItp,       &kOpenb,     &kPhilly};
  return all;
}

const FittedWorkload* find_fitted_workload(std::string_view name) {
  for (const FittedWorkload* each : fitted_workloads()) {
    if (each->name == name) return each;
  }
  return nullptr;
}

std::vector<std::string> fitted_workload_names() {
  std::vector<std::string> names;
  for (const FittedWorkload* each : fitted_workloads()) names.emplace_back(each->name);
  return names;
}

int largest_size(const FittedWorkload& fit, std::optional<int> limit) {
  int largest = 0;
  for (const SizeClass& sizes : fit.classes) {
    for (const SizeWeight& size : sizes.sizes) {
      if (!limit || size.gpus <= *limit) largest = std::max(largest, size.gpus);
    }
  }
  return largest;
}

double duration_quantile(const SizeClass& sizes, double p) {
  const auto& grid = kDurationProbabilities;
  const auto above = std::upper_bound(grid.begin() + 1, grid.end() - 1, p);
  const auto i = static_cast<std::size_t>(above - grid.begin());
  const double a = sizes.durations[i - 1];
  const double b = sizes.durations[i];
  const double f = (p - grid[i - 1]) / (grid[i] - grid[i - 1]);
  return a + (b - a) * f / (f + (1 - f) * std::sqrt(b / a));
}

}  // namespace contend
