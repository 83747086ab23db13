#include "models/parallel/offload.hpp"

#include <algorithm>

namespace contend {

Time time_at(double bytes, ByteRate rate) {
  constexpr double kNanoseconds = 1e9;
  return bytes > 0 ? Time::ceil_nanoseconds(bytes / rate.bytes_per_second() * kNanoseconds) : Time{};
}

Time offloaded_update_time(double parameters, const OffloadedUpdate& each, const OffloadRates& rates) {
  const Time link = time_at(parameters * each.weight, rates.link);
  const Time memory = time_at(parameters * each.memory, rates.memory);
  const Time stored = time_at(parameters * 2 * each.stored, rates.nvme);
  return std::max({link, memory, stored});
}

}  // namespace contend
