#include "calibration/relevance.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

constexpr std::array kCandidates{0.0, 0.25, 0.5, 1.0, 2.0, 4.0};
/// A change must reduce the error by this much, so that chance doesn't decide.
constexpr double kLeastGain = 0.01;
constexpr double kLeastGainOfTurn = 0.02;
constexpr int kMostTurns = 3;

class Search {
 public:
  Search(std::span<const double> coordinates, std::size_t dimensions, std::span<const double> values,
         std::span<const double> extra_noise, std::span<const std::size_t> judged)
      : coordinates_{coordinates},
        values_{values},
        extra_noise_{extra_noise},
        judged_{judged},
        relevance_(dimensions, 1.0) {}

  std::vector<double> run() {
    choose_settings();
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const double before = error_;
      for (std::size_t i = 0; i < relevance_.size(); ++i) choose_relevance(i);
      choose_settings();
      if (error_ > (1 - kLeastGainOfTurn) * before) break;
    }
    const double most = *std::max_element(relevance_.begin(), relevance_.end());
    CONTEND_CHECK(most > 0, "a coordinate that matters stays");
    for (double& each : relevance_) each /= most;
    return relevance_;
  }

 private:
  [[nodiscard]] ScatteredSurface surface() const { return {scaled(coordinates_, relevance_), relevance_.size()}; }

  void choose_settings() {
    const ScatteredSurface here = surface();
    settings_ = here.best_settings(values_, extra_noise_, judged_);
    error_ = here.error(values_, settings_, extra_noise_, judged_);
  }

  void choose_relevance(std::size_t i) {
    double best = relevance_[i];
    for (const double candidate : kCandidates) {
      if (candidate == best) continue;
      relevance_[i] = candidate;
      if (std::all_of(relevance_.begin(), relevance_.end(), [](double each) { return each == 0; })) continue;
      const double found = surface().error(values_, settings_, extra_noise_, judged_);
      if (found >= (1 - kLeastGain) * error_) continue;
      error_ = found;
      best = candidate;
    }
    relevance_[i] = best;
  }

  std::span<const double> coordinates_, values_, extra_noise_;
  std::span<const std::size_t> judged_;
  std::vector<double> relevance_;
  SurfaceSettings settings_;
  double error_ = 0;
};

}  // namespace

std::vector<double> scaled(std::span<const double> coordinates, std::span<const double> relevance) {
  std::vector<double> out{coordinates.begin(), coordinates.end()};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= relevance[i % relevance.size()];
  return out;
}

std::vector<double> find_relevance(std::span<const double> coordinates, std::size_t dimensions,
                                   std::span<const double> values, std::span<const double> extra_noise,
                                   std::span<const std::size_t> judged) {
  if (values.size() < kLeastForRelevance || dimensions < 2) return std::vector<double>(dimensions, 1.0);
  return Search{coordinates, dimensions, values, extra_noise, judged}.run();
}

}  // namespace contend
