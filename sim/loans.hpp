#pragma once
// Servers that belong to others and are lent to this cluster while their owner does not need them, as an inference
// cluster lends to training at night (Lyra: Li et al., EuroSys 2023, sections 3 and 4). How many are lent follows a
// schedule; which ones go back when fewer are lent is a choice, by ReclaimRule. A server that is not lent is out of
// service (sim/outages.hpp). A job that can do with the GPUs that it keeps shrinks to them; others on a server that
// goes back are preempted as by a planned outage, and queue again at once.

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace contend {

/// Which of the lent servers go back. They are chosen one after the other, ties the one of the largest number first.
enum class ReclaimRule : std::uint8_t {
  /// Where the jobs that would be preempted have the least sum of 1 / (servers of the job); of a job that is preempted
  /// anyway, or that shrinks, nothing counts (Lyra, section 4).
  least_cost,
  fewest_jobs,  ///< where the fewest jobs run, of those that are not yet to be preempted
  last,         ///< the one of the largest number
  random,       ///< any, by a random stream of its own
};

/// From this time on so many servers are lent.
struct LoanChange {
  Time at;
  int lent = 0;
  bool operator==(const LoanChange&) const = default;
};

struct LoanSpec {
  int servers = 0;                    ///< the last ones of the cluster are lent at times; 0: none
  std::vector<LoanChange> changes{};  ///< in order of time, the first at 0
  Time period = Time::never();        ///< > the last of these times: they repeat; never(): the last one holds for ever
  ReclaimRule reclaim = ReclaimRule::least_cost;

  [[nodiscard]] bool any() const { return servers > 0; }
  /// The most that are lent at once.
  [[nodiscard]] int most_lent() const;
};

/// A job that has GPUs of lent servers.
struct LoanGuest {
  int held = 0;                       ///< GPUs, also those on servers that aren't lent
  int least = 0;                      ///< GPUs without which it is preempted: `held` if it is not elastic
  int servers = 1;                    ///< on which it runs
  std::map<std::uint32_t, int> gpus;  ///< by lent server
};

/// Which `count` of the lent servers go back, in the order of their choice. Only ReclaimRule::random draws numbers.
[[nodiscard]] std::vector<std::uint32_t> servers_to_return(std::vector<std::uint32_t> lent,
                                                           std::vector<LoanGuest> guests, int count, ReclaimRule rule,
                                                           RandomStream& stream);

}  // namespace contend
