#include "models/prediction_errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace contend {
namespace {

struct ClassNames {
  std::string_view name, title;
};
constexpr std::array<ClassNames, kErrorClasses> kNames{{{"products", "matrix products"},
                                                        {"attention", "attention in one kernel"},
                                                        {"memory", "kernels bound by memory"},
                                                        {"host", "launches of the host"},
                                                        {"inside", "transfers inside servers"},
                                                        {"between", "transfers between servers"},
                                                        {"run", "from run to run and from site to site"}}};

constexpr double kTail = .05;  // on either side of an interval of 90%

/// The least value at which the sum of weights reaches a share of their sum, 1. Values ascend.
double quantile(const std::vector<std::pair<double, double>>& values, double share) {
  double sum = 0;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (sum >= share) return value;
  }
  return values.back().first;
}

}  // namespace

std::string_view to_string(ErrorClass of) {
  return kNames[static_cast<std::size_t>(of)].name;
}

std::string_view title_of(ErrorClass of) {
  return kNames[static_cast<std::size_t>(of)].title;
}

double ClassError::of(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? error : found->second;
}

double sigma_of(std::span<const PartError> parts) {
  double squares = 0;
  for (const PartError& each : parts) squares += each.effect * each.effect;
  return std::sqrt(squares);
}

PredictionInterval interval_of(double sigma, const Unmodelled& unmodelled) {
  const double both = std::hypot(sigma, unmodelled.spread);
  return {std::exp(unmodelled.centre + unmodelled.low * both), std::exp(unmodelled.centre + unmodelled.high * both)};
}

Unmodelled unmodelled_of(std::span<const std::vector<JudgedPrediction>* const> sets) {
  std::vector<std::pair<const JudgedPrediction*, double>> all;  // with weights, 1 for each set
  double weights = 0;
  for (const std::vector<JudgedPrediction>* set : sets) {
    for (const JudgedPrediction& each : *set) all.emplace_back(&each, 1 / static_cast<double>(set->size()));
    if (!set->empty()) ++weights;
  }
  Unmodelled made;
  if (all.empty()) return made;
  for (const auto& [each, weight] : all) made.centre += weight * each->deviation / weights;
  double beyond = 0;
  for (const auto& [each, weight] : all) {
    const double distance = each->deviation - made.centre;
    beyond += weight * (distance * distance - each->sigma * each->sigma) / weights;
  }
  made.spread = std::sqrt(std::max(0.0, beyond));
  std::vector<std::pair<double, double>> scores;
  for (const auto& [each, weight] : all) {
    const double both = std::hypot(each->sigma, made.spread);
    scores.emplace_back(both > 0 ? (each->deviation - made.centre) / both : 0.0, weight / weights);
  }
  std::ranges::sort(scores);
  made.low = quantile(scores, kTail);
  made.high = quantile(scores, 1 - kTail);
  return made;
}

}  // namespace contend
