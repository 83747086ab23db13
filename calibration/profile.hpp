#pragma once
// The calibration profile of one device, as plain data; docs/reference/profile.md describes its file.

#include "calibration/operators.hpp"
#include "models/devices.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// One measured point.
struct OperatorSample {
  OperatorShape shape;    ///< in the order of OperatorInfo::dimensions
  double seconds = 0;     ///< median over the repetitions, > 0
  double half_width = 0;  ///< half the width of the median's 95% confidence interval, as a share of the median
  int repetitions = 0;    ///< >= 1
};

/// All points of one operator in one number format.
struct OperatorTable {
  std::string name;  ///< of operators()
  DataType type = DataType::fp32;
  std::vector<OperatorSample> samples;  ///< shapes differ
  /// Median relative error of predicting each point from the others; < 0 if there are too few points.
  double cross_validation = -1;
  /// How much each feature of a shape matters (TableFit::feature_names()), in [0, 1]; empty: all equally.
  std::vector<double> relevance{};
  /// What the surface's deviations are from: the time of a copy that moves as many bytes, or (false) the roofline.
  bool from_copies = false;
};

/// An operation that could not be measured, and the reason.
struct SkippedOperation {
  std::string name;
  DataType type = DataType::fp32;
  OperatorShape shape;  ///< empty: all shapes
  std::string reason;
};

/// The measurements of one device, and under which conditions they were taken.
struct CalibrationProfile {
  std::string name;     ///< of the profile, such as `h100-sxm`
  std::string backend;  ///< `cuda` or `cpu`
  std::string device;   ///< the device's own name
  std::string driver, runtime, libraries;
  std::string date;      ///< UTC, `2026-11-21T18:20:51Z`
  std::string version;   ///< of the program
  std::string mode;      ///< `quick` or `full`
  bool complete = true;  ///< false if the calibration was interrupted; the points it has are sound
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
  int capability = 0;    ///< compute capability x 10; 0 if not a GPU
  double clock_mhz = 0;  ///< highest clock of the device; 0 if unknown
  double memory_clock_mhz = 0;
  /// Seconds of the calibration in which the limit of power held the clock down, as it does in training; -1 if unknown.
  double power_limited_s = -1;
  int visited_twice = 0;              ///< points whose time is of two visits, apart in time
  std::vector<std::string> warnings;  ///< throttling, other users of the device
  std::vector<OperatorTable> tables;  ///< in the order of operators(), then of types
  std::vector<SkippedOperation> skipped;

  /// The table of an operator in a number format, or nullptr.
  [[nodiscard]] const OperatorTable* table(std::string_view op, DataType type) const;
  [[nodiscard]] bool has_samples(std::string_view op, DataType type) const;
};

/// The profile as YAML, one line for each sample; equal profiles give equal bytes. read_profile() of scenarios/ reads
/// it.
[[nodiscard]] std::string to_yaml(const CalibrationProfile& profile);

}  // namespace contend
