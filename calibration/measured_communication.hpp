#pragma once
// What a profile says of communication: the times of collectives inside a server, and what computing and communicating
// cost each other on one device.

#include "calibration/collective_sample.hpp"
#include "calibration/profile.hpp"

#include <string>
#include <vector>

namespace contend {

/// The collectives and copies between devices of a profile, as the samples of a benchmark; empty if there are none.
/// Their ranks are devices of one server.
[[nodiscard]] std::vector<CollectiveSample> measured_collectives(const CalibrationProfile& profile);

/// An operation and a reduction beside each other, in one shape.
struct MeasuredPair {
  std::string op;  ///< `gemm`
  DataType type = DataType::fp32;
  OperatorShape shape;              ///< of the operation
  double compute = 0, network = 0;  ///< as in sim/interference.hpp: times beside over times alone, less 1; >= 0
};

/// The two factors of sim/interference.hpp, by a profile's group `contention`.
struct MeasuredInterference {
  std::int64_t blocks = 0;  ///< of the reductions
  std::vector<MeasuredPair> pairs;
  double compute = 0, network = 0;  ///< medians over the pairs
};

/// The factors for reductions of so many blocks. A pair counts if its operation and the reduction were measured alone
/// too. Throws InputError if the profile has no pair with that many blocks; the message names those it has.
[[nodiscard]] MeasuredInterference measured_interference(const CalibrationProfile& profile, std::int64_t blocks);
/// True if the profile has a pair of any number of blocks.
[[nodiscard]] bool has_interference(const CalibrationProfile& profile);

}  // namespace contend
