#include "models/overlap/time_together.hpp"

#include <algorithm>

namespace contend {

Time time_together(Time task, Time transfer, const Interference& interference) {
  if (interference.none() || task == Time{} || transfer == Time{}) return std::max(task, transfer);
  const double c = 1 + static_cast<double>(interference.compute) * 1e-6, x = interference.network_slowdown();
  const auto one = static_cast<double>(task.ns()), other = static_cast<double>(transfer.ns());
  // What is left once the shorter one has ended goes on at its full rate.
  const double both = one * c <= other * x ? other + one * c * (x - 1) / x : one + other * x * (c - 1) / c;
  return Time::ceil_nanoseconds(both);
}

}  // namespace contend
