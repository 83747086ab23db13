#pragma once
// PredictionSum adds up predictions of what follows each other, with their basis.

#include "calibration/predictor.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

class PredictionSum {
 public:
  void add(const Prediction& prediction, std::int64_t times = 1) {
    const double seconds = prediction.seconds * static_cast<double>(times);
    seconds_ += seconds;
    error_seconds_ += seconds * prediction.relative_error;
    basis_ = std::max(basis_, prediction.basis);
  }
  void add(const PredictionSum& other) {
    seconds_ += other.seconds_;
    error_seconds_ += other.error_seconds_;
    basis_ = std::max(basis_, other.basis_);
  }

  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] TimeBasis basis() const { return {basis_, seconds_ > 0 ? error_seconds_ / seconds_ : 0}; }

 private:
  double seconds_ = 0, error_seconds_ = 0;
  PredictionBasis basis_ = PredictionBasis::measured;
};

}  // namespace contend
