#pragma once
// An entry of `serving`: how the jobs that name it answer requests.

#include "models/serving/fleet.hpp"
#include "sim/service.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace contend {

/// Lengths in tokens: log-normal, rounded, at least 1 and at most `cap`.
struct LengthSetup {
  double mean = 1;  ///< without the cap
  double cv = 0;    ///< standard deviation by mean; 0: all are equal
  std::optional<std::int64_t> cap{};
  bool operator==(const LengthSetup&) const = default;
};

/// The requests that a job gets: a trace, or a Poisson process with lengths by laws.
struct RequestsSetup {
  std::optional<std::string> trace{};  ///< path; without it the rest holds
  std::vector<double> rate{};          ///< requests a second, in each hour from the submission on, again after the last
  LengthSetup prompt{}, answer{};
  std::optional<Time> until{};  ///< no request comes then or later
  bool operator==(const RequestsSetup&) const = default;
};

/// Prefill on replicas of its own.
struct ApartSetup {
  int prefill = 1;   ///< replicas of it; the others decode
  Time latency{};    ///< of sending a cache
  Time per_token{};  ///< of sending the cache of a token
  bool operator==(const ApartSetup&) const = default;
};

/// Speculation by a draft model.
struct DraftSetup {
  int tokens = 1;
  double accepted = 0.5;  ///< probability of a draft to be accepted, if all before it are
  bool operator==(const DraftSetup&) const = default;
};

struct ServingEntry {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< members
  int gpus_per_replica = 1;                  ///< a job has as many replicas as these fit into its GPUs
  ReplicaSpec replica{};                     ///< its step and its limits
  RequestRouting route = RequestRouting::least;
  RequestsSetup requests{};
  ServiceTargets targets{};
  std::optional<ApartSetup> apart{};
  std::optional<DraftSetup> drafts{};
};

}  // namespace contend
