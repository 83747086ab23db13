#pragma once
// What a scenario says about servers that others lend to the cluster, as plain data (keys `loans.*`).

#include "sim/loans.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>

namespace contend {

struct LoanSetup {
  int servers = 0;                    ///< the last ones of the cluster; 0: none
  std::optional<std::string> events;  ///< path of a list of loads, or of numbers of servers; else the load is a law:
  double low = 0.4, high = 0.95;      ///< its least and largest value, with half a cosine between them
  Time high_at;                       ///< when it is largest
  Time every = Time::seconds(300);    ///< between two looks at it
  std::optional<Time> period;         ///< not given: a day, and a list does not repeat
  double headroom = 0.02;             ///< part of the servers that is not lent, beside those that are needed
  ReclaimRule reclaim = ReclaimRule::least_cost;
};

}  // namespace contend
