#pragma once
// ServerRooms counts the servers on which enough GPUs are free or held by running jobs that stand far enough back in
// the order of a preemptive policy. With it the policy knows at once that no set of victims would make room for a job.
//
// For each number of GPUs that is asked for, the servers meet in a tournament. A server stands where the job stands
// that holds the last GPU needed, if its GPUs are taken from the back of the order. The server furthest back wins a
// match. Jobs move in the order with time, each at its own rate, so a match has a time at which it must be played
// again: a kinetic tournament (Basch, Guibas, Hershberger, Journal of Algorithms 31, 1999).

#include "policies/scheduling/moving_rank.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace contend {

class ServerRooms {
 public:
  /// Appends the places of the jobs that hold a GPU. Returns false if one of them never gives way.
  using Holders = std::function<bool(GpuId, std::vector<MovingRank>&)>;

  ServerRooms(std::size_t servers, int gpus_per_server, Holders holders);

  /// Notes that jobs have started or stopped on a server, or have moved in the order.
  void touch(ServerId server);
  /// Returns the number of servers, but `enough` at most, on which at least `gpus` GPUs are free or held only by jobs
  /// at `place` or behind it. 1 <= gpus <= GPUs of a server; times must not decrease.
  [[nodiscard]] int count(int gpus, const Rank& place, Time now, int enough);
  /// Returns such servers, the one that stands furthest back first, but `limit` at most.
  [[nodiscard]] std::vector<ServerId> furthest_back(int gpus, const Rank& place, Time now, std::size_t limit);

 private:
  /// Where a GPU or a server stands.
  struct Stand {
    enum class Kind { never, held, free };  // from front to back
    Kind kind = Kind::never;
    MovingRank at{};
    bool operator==(const Stand&) const = default;
    [[nodiscard]] std::strong_ordering compare(const Stand& other, Time now) const {
      if (kind != other.kind || kind != Kind::held) return kind <=> other.kind;
      return at.compare(other.at, now);
    }
    [[nodiscard]] bool is_behind(const Stand& other, Time now) const { return compare(other, now) > 0; }
    [[nodiscard]] bool is_at_or_behind(const Rank& place, Time now) const {
      return kind == Kind::free || (kind == Kind::held && at.compare({place, 0}, now) >= 0);
    }
  };
  struct Match {
    std::uint32_t winner = 0;
    Time expires = Time::never();
  };
  struct Tournament {
    std::vector<Stand> stands;   // by server
    std::vector<Match> matches;  // a heap of which the leaves, one for each server, are left out
  };

  [[nodiscard]] static Time crossing(const Stand& a, const Stand& b, Time now);
  [[nodiscard]] std::uint32_t winner(const Tournament& tournament, std::size_t node) const;
  void play(Tournament& tournament, std::size_t node, Time now) const;
  void play_all_of(Tournament& tournament, std::size_t server, Time now) const;
  void play_expired(Tournament& tournament, std::size_t node, Time now) const;
  [[nodiscard]] int count_in(const Tournament& tournament, std::size_t node, const Rank& place, Time now,
                             int enough) const;
  /// Brings the tournament up to date.
  const Tournament& tournament_at(int gpus, Time now);
  Tournament& tournament_for(int gpus, Time now);
  void look_at(std::uint32_t server, Time now);
  void survey(std::uint32_t server, Time now);

  std::size_t servers_, leaves_;
  std::size_t per_server_;
  Holders holders_;
  std::map<int, Tournament> tournaments_;  // by number of GPUs
  std::vector<std::uint32_t> touched_;
  std::vector<bool> is_touched_;
  std::set<std::pair<Time, std::uint32_t>> reorderings_;  // when GPUs of a server pass each other
  std::vector<Time> reorders_at_;                         // by server
  std::vector<Stand> gpus_;                               // scratch: the GPUs of a server, from the back
  std::vector<MovingRank> ranks_;                         // scratch
};

}  // namespace contend
