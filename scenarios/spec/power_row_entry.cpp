#include "scenarios/spec/power_row_entry.hpp"

namespace contend {

CapPoint ServicePower::at_clock(double mhz) const {
  if (curve.empty()) return {};
  PowerSetup capped;
  capped.clock = mhz;
  capped.curve = curve;
  return capped.at_cap();
}

}  // namespace contend
