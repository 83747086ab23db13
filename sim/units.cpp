#include "sim/units.hpp"

#include "sim/error.hpp"

namespace contend {

void throw_time_overflow() {
  throw InputError{"a simulated time is beyond 292 years, the longest that the simulator can count in nanoseconds"};
}

void throw_bytes_overflow() {
  throw InputError{"an amount of data is beyond 9.2 EB (2^63 bytes), the most that the simulator can count"};
}

}  // namespace contend
