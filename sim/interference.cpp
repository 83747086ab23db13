#include "sim/interference.hpp"

namespace contend {

Time PacedTask::end() const {
  const Int128 rest = (left_ + rate() - 1) / rate();
  const auto ns = static_cast<std::int64_t>(rest);
  if (Int128{ns} != rest) throw_time_overflow();
  return since_ + Time::nanoseconds(ns);
}

}  // namespace contend
