#pragma once
// An entry of `federated`: federated training by the jobs that name it, whose GPUs are the server's.

#include "models/federated/federated_spec.hpp"
#include "scenarios/spec/serving_entry.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace contend {

/// A number of each client: log-normal about this mean; equal with a spread of 0.
template <class T>
struct ClientLaw {
  T mean{};
  double cv = 0;  ///< standard deviation by mean
  bool operator==(const ClientLaw&) const = default;
};

/// The clients: by a table, or drawn from laws. Rates of links are in bytes a second.
struct ClientsSetup {
  std::optional<std::string> table{};  ///< path; without it the laws hold
  std::int64_t count = 1;
  ClientLaw<Time> step{};      ///< a local step
  LengthSetup steps{};         ///< local steps of a round
  ClientLaw<ByteRate> down{};  ///< of its link
  ClientLaw<ByteRate> up{};
  std::optional<std::string> presence{};  ///< path of a table of when clients are there
  Time there{}, away{};                   ///< or means; both 0: clients are always there
  bool operator==(const ClientsSetup&) const = default;
};

/// Clients that run on the GPUs of the job, one after the other.
struct PackingSetup {
  Time step{};          ///< of a GPU
  Time start{};         ///< of each client
  double slowdown = 0;  ///< GPU k of n takes 1 + slowdown k / n times as long
  ByteRate rate{};      ///< of the link of each GPU, both ways
  bool operator==(const PackingSetup&) const = default;
};

struct FederatedEntry {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< members
  ClientsSetup clients{};
  double compute = 1;                   ///< factor of local steps' time
  std::int64_t rounds = 100;            ///< FederatedSpec::rounds
  std::optional<std::int64_t> asked{};  ///< none: all
  Bytes model{};                        ///< of which payloads are shares
  double down = 1, up = 1;
  std::optional<double> by_link{};
  ClosingRule rule = ClosingRule::round;
  std::optional<std::int64_t> first{};
  std::optional<Time> deadline{};
  double least = 0;  ///< share of `first`, or of `asked`, with which a round makes a version
  std::int64_t buffer = 1;
  Time window{};
  std::optional<std::int64_t> stalest{};
  CompassRule compass{};
  NeighbourRule peers{};
  double whole = 0;  ///< FederatedSpec::whole
  Time aggregate{}, stale{}, pair{};
  std::optional<AggregationTree> tree{};
  AnchorRule anchors{};
  std::optional<PackingSetup> packing{};
};

}  // namespace contend
