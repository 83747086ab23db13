#pragma once
// LinearCost is the cost of a transfer that is alone in the network, linear in its size.

#include "sim/units.hpp"

namespace contend {

/// A transfer of m bytes takes t(m) = alpha + beta m, rounded up to the nanosecond.
struct LinearCost {
  Time alpha;
  TimePerByte beta;
  [[nodiscard]] Time of(Bytes bytes) const {
    return alpha + Time::ceil_nanoseconds(bytes.to_double() * beta.ns_per_byte());
  }
};

/// The cost of two transfers of the same size, one after the other.
inline LinearCost operator+(const LinearCost& a, const LinearCost& b) {
  return {a.alpha + b.alpha, TimePerByte{a.beta.ns_per_byte() + b.beta.ns_per_byte()}};
}

}  // namespace contend
