#pragma once
// The clients of federated training: their steps and messages, when they are there, and who is asked next.

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// A client by its number, from 0.
using ClientNumber = std::uint32_t;

/// A phone or a site that trains on data of its own.
struct Client {
  Time step{};             ///< of a local step; > 0
  std::int64_t steps = 1;  ///< local steps of a round, >= 1
  ByteRate down{}, up{};   ///< of its link; > 0 where it sends or receives anything
};

/// When clients are there. By default they always are.
struct PresenceSpec {
  /// By law, alternately and exponentially distributed: means, both > 0. At instant 0 the share there / (there + away)
  /// of the clients is there.
  Time there{}, away{};
  std::uint64_t seed = 1;
  std::string stream{};  ///< the name of the random stream of a client is this and `/` and its number
  /// By table: for each client from, until, from, until ... rising, from 0 on. A client is there from `from` and no
  /// longer at `until`. The table repeats after `period`, which no `until` exceeds.
  std::vector<std::vector<Time>> stays{};
  Time period{};

  /// Throws InputError for means that aren't above 0, and for a table with a client that is never there or with times
  /// that fall.
  void check(std::size_t clients) const;
};

/// Who is there. Instants that are asked for never go back for a client.
class Presence {
 public:
  Presence(const PresenceSpec& spec, std::size_t clients);
  [[nodiscard]] bool is_there(ClientNumber client, Time now);
  /// The next instant after the last one asked for at which this client comes or leaves; Time::never() if it stays.
  [[nodiscard]] Time changes(ClientNumber client) const;

 private:
  struct State {
    RandomStream stream;
    bool is_there = true;
    Time until = Time::never();
    std::size_t next = 0;  // in the table: of the change at `until`
  };
  void go_on(State& state, ClientNumber client) const;
  [[nodiscard]] Time in_table(ClientNumber client, std::size_t number) const;

  PresenceSpec spec_;
  std::vector<State> states_;  // empty: all are always there
};

/// The clients that work, and the idle clients that can be asked.
class Roster {
 public:
  Roster(const PresenceSpec& presence, std::size_t clients, RandomStream draws);

  /// Appends clients that are idle and there at `now`, each with equal chance, until `wanted` are found or no other is.
  void ask(std::size_t wanted, Time now, std::vector<ClientNumber>& asked);
  /// The client is idle again.
  void release(ClientNumber client) { idle_.push_back(client); }
  /// The next instant at which a client comes that was looked for in vain; Time::never() if there is none.
  [[nodiscard]] Time comes() const { return away_.empty() ? Time::never() : away_.top().first; }
  /// True if a client that isn't idle is there.
  [[nodiscard]] bool is_there(ClientNumber client, Time now) { return presence_.is_there(client, now); }
  /// When a client leaves that was there at the last instant.
  [[nodiscard]] Time leaves(ClientNumber client) const { return presence_.changes(client); }

 private:
  using Away = std::pair<Time, ClientNumber>;
  Presence presence_;
  RandomStream draws_;
  std::vector<ClientNumber> idle_;  // but for those in `away_`
  std::priority_queue<Away, std::vector<Away>, std::greater<>> away_;
};

}  // namespace contend
