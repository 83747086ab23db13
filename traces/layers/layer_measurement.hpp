#pragma once
// What was measured for a layer in a run that also communicated: for comparing a model of communication with it.

#include "sim/units.hpp"

#include <cstdint>
#include <string>

namespace contend {

struct LayerMeasurement {
  std::string name;
  std::int64_t elements = 0;  ///< parameters; 0 if it has none or the trace doesn't say
  Time backward;
  Time communication;  ///< all-reduce of this layer alone; 0 if it has none or none was measured
};

}  // namespace contend
