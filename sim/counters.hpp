#pragma once
// Counters of a run (Counter in sim/graph.hpp).

#include "sim/calendar.hpp"
#include "sim/ids.hpp"
#include "sim/pending_counts.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace contend {

/// A counter, and the operations that wait for it.
struct CounterState {
  struct Waiting {
    JobId job;
    OpId op;
    Slot slot = 0;
    std::int64_t until = 0;    ///< the value at which the await ends
    Time end = Time::never();  ///< when the counter has reached this value
    EventHandle event{};       ///< at `end`
  };
  std::int64_t value = 0;
  std::map<JobId, std::int64_t> posted;  ///< the iterations that have posted
  std::vector<Waiting> waiting;          ///< in order of beginning
};

}  // namespace contend
