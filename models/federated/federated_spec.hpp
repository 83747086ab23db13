#pragma once
// Federated training in numbers: clients, messages, and the rule by which rounds close. docs/models/federated.md
// has the rules with their sources.

#include "models/federated/aggregation.hpp"
#include "models/federated/client_packing.hpp"
#include "models/federated/population.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// When the server makes a version of the model of the updates that it has.
enum class ClosingRule : std::uint8_t {
  round,    ///< clients are asked together; FedAvg, FedScale, Google's protocol
  buffer,   ///< at so many updates, of clients that go on one by one; 1: asynchronous FedAvg; FedBuff
  window,   ///< at whole multiples of a time; FedFix
  compass,  ///< at the updates of a group of clients, which gets steps so that all arrive together; FedCompass
  gossip,   ///< no server: a round is over for a client when it has the models of its neighbours
  clocks,   ///< no server: clients compute, and pairs of them exchange, at random instants; DADAO
};

/// FedCompass' numbers; the defaults are its own.
struct CompassRule {
  std::int64_t most = 100, least = 20;  ///< local steps, 1 <= least <= most
  double latest = 1.5;                  ///< a group waits so many times as long as is expected, >= 1
  double momentum = 0.9;                ///< weight of the last time in the estimate of a client's step, 0 to 1
};

/// Clients of a round that take other steps than their own, such as FedAMD's anchors: a gradient of a large batch.
struct AnchorRule {
  double share = 0;        ///< chance of each client that is asked, 0 to 1
  std::int64_t steps = 1;  ///< that it takes then, >= 1
  bool operator==(const AnchorRule&) const = default;
};

/// Who is a neighbour of whom where there is no server.
enum class PeerGraph : std::uint8_t {
  ring,
  complete,
  attached,  ///< each client but the first ones links to `links` earlier ones, drawn by their links (Barabasi, Albert)
};

/// Clients that exchange models among themselves (models/federated/peer_loop.hpp).
struct NeighbourRule {
  PeerGraph graph = PeerGraph::ring;
  std::int64_t links = 2;      ///< attached: of each client that comes; >= 1
  std::int64_t exchanges = 1;  ///< gossip: in a round with all neighbours, one after the other; >= 0
  double chance = 1;           ///< gossip: of each round that it has exchanges
  double broken = 0;           ///< gossip: chance of each link to be down in a round
  bool merges = false;         ///< gossip: an all-reduce among all who are there ends the last round
  /// clocks: exchanges of all pairs in the mean time of a step, > 0; none: sqrt(2 chi1 chi2) of DADAO
  std::optional<double> rate{};
  Time latency{};  ///< of each message
  bool operator==(const NeighbourRule&) const = default;
};

struct FederatedSpec {
  std::vector<Client> clients;
  PresenceSpec presence{};
  std::int64_t rounds = 1;  ///< that are closed, well or not, or versions, after which it is over; >= 1
  std::size_t asked = 1;    ///< clients that work at once at most, from 1 to all

  ClosingRule rule = ClosingRule::round;
  std::size_t first = 0;                  ///< round: updates at which it closes, up to `asked`; 0: all
  std::optional<Time> deadline{};         ///< round: after which it closes at the latest; > 0
  std::size_t least = 1;                  ///< round: fewer updates make no version
  std::size_t buffer = 1;                 ///< updates, from 1 to `asked`
  Time window = Time::nanoseconds(1);     ///< > 0
  std::optional<std::int64_t> stalest{};  ///< updates older than so many versions are dropped; not for rounds
  CompassRule compass{};
  NeighbourRule peers{};  ///< gossip and clocks: a message between clients has `up` bytes

  Bytes down{}, up{};               ///< a client's payload, >= 0
  std::optional<double> by_link{};  ///< round: BCRS' ratio, in (0, 1]; `up` is of the whole model then
  /// round: chance that all send and receive these bytes instead, as MASHA's exchanges of the whole model
  double whole = 0;
  Bytes whole_bytes{};
  Time aggregate{};                       ///< time in which the server makes a version
  Time pair{};                            ///< that a version of n updates takes n^2 times, as robust aggregators do
  std::optional<AggregationTree> tree{};  ///< that adds up updates, beside `aggregate`
  AnchorRule anchors{};                   ///< round, of clients that run on no device
  Time stale{};                           ///< time that each update adds whose client began with an older version

  /// If there are any, clients run on these devices instead (PackedClients): their own steps, links and presence don't
  /// count, and each device receives the model and sends one sum. Rounds only, with neither `first` nor `by_link`.
  std::vector<PackingDevice> devices{};
  ByteRate device_rate{};  ///< of each device, both ways; > 0 if it sends or receives anything

  std::uint64_t seed = 1;
  std::string stream = "federated";  ///< name of the random stream that says who is asked

  /// Throws InputError with the reason if it can't work, such as a round that never closes.
  void check() const;
};

}  // namespace contend
