#include "scenarios/spec/meter_setup.hpp"

#include <algorithm>

namespace contend {

CapPoint PowerSetup::at_cap() const {
  const auto member = limit ? &CapPoint::limit : &CapPoint::clock;
  const double cap = limit.value_or(clock.value_or(0));
  const auto cap_of = [&](const CapPoint& point) { return (point.*member).value_or(0); };
  const auto above = std::ranges::find_if(curve, [&](const CapPoint& point) { return cap_of(point) >= cap; });
  if (above == curve.end()) return curve.back();
  if (above == curve.begin() || cap_of(*above) <= cap) return *above;
  const CapPoint& below = *(above - 1);
  const double part = (cap - cap_of(below)) / (cap_of(*above) - cap_of(below));
  const auto between = [part](double low, double high) { return low + part * (high - low); };
  CapPoint at{limit, clock, between(below.watts, above->watts), between(below.pace, above->pace), {}};
  if (below.decode || above->decode) at.decode = between(below.decode_pace(), above->decode_pace());
  return at;
}

}  // namespace contend
