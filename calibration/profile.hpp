#pragma once
// What a calibration found out about one device, as it is kept in a file (docs/reference/profile.md). Plain data.

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
  double half_width = 0;  ///< of the 95% confidence interval of the median, as a share of it
  int repetitions = 0;    ///< >= 1
};

/// All points of one operator in one number format.
struct OperatorTable {
  std::string name;  ///< of operators()
  DataType type = DataType::fp32;
  std::vector<OperatorSample> samples;  ///< shapes differ
  /// Median relative error of predicting each point from the others; < 0 where there are too few points.
  double cross_validation = -1;
};

/// Something that could not be measured, and why.
struct SkippedOperation {
  std::string name;
  DataType type = DataType::fp32;
  OperatorShape shape;  ///< empty: all shapes
  std::string reason;
};

struct CalibrationProfile {
  std::string name;     ///< of the profile, such as `h100-sxm`
  std::string backend;  ///< `cuda` or `cpu`
  std::string device;   ///< as it calls itself
  std::string driver, runtime, libraries;
  std::string date;      ///< UTC, `2026-11-21T18:20:51Z`
  std::string version;   ///< of the program that measured
  std::string mode;      ///< `quick` or `full`
  bool complete = true;  ///< false: killed or interrupted; what is there is sound
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
  int capability = 0;    ///< compute capability x 10; 0: not a GPU
  double clock_mhz = 0;  ///< highest of the device; 0: unknown
  double memory_clock_mhz = 0;
  std::vector<std::string> warnings;  ///< throttling, other users of the device
  std::vector<OperatorTable> tables;  ///< in the order of operators(), then of types
  std::vector<SkippedOperation> skipped;

  /// The table, or nullptr.
  [[nodiscard]] const OperatorTable* table(std::string_view op, DataType type) const;
  [[nodiscard]] bool has_samples(std::string_view op, DataType type) const;
};

/// As a file: YAML, one line a sample; the same bytes for the same profile. Read by read_profile() of scenarios/.
[[nodiscard]] std::string to_yaml(const CalibrationProfile& profile);

}  // namespace contend
