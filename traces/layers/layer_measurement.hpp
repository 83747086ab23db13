#pragma once
// Times of a layer measured in a run that also communicated, for comparison with a communication model.

#include "sim/units.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct LayerMeasurement {
  std::string name;
  std::int64_t elements = 0;  ///< parameters; 0 if it has none or the trace does not say
  Time backward;
  Time communication;  ///< all-reduce of this layer alone; 0 if it has none or none was measured
};

}  // namespace contend
