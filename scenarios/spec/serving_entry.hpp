#pragma once
// An entry of `serving`: how the jobs that name it answer requests.

#include "models/devices.hpp"
#include "models/serving/fleet.hpp"
#include "scenarios/spec/device_choice.hpp"
#include "scenarios/spec/power_row_entry.hpp"
#include "sim/service.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace contend {

/// Lengths in tokens: log-normal, or by quantiles, rounded, at least 1 and at most `cap`.
struct LengthSetup {
  double mean = 1;  ///< without the cap
  double cv = 0;    ///< standard deviation by mean; 0: all are equal
  std::optional<std::int64_t> cap{};
  std::vector<double> quantiles{};  ///< in place of mean and cv: LengthLaw::quantiles
  bool operator==(const LengthSetup&) const = default;
};

/// The requests that a job gets: a trace, or times and lengths by laws.
struct RequestsSetup {
  std::optional<std::string> trace{};  ///< path; without it all but `cache` holds
  /// Blocks of a cache of prompts' first blocks, which all replicas share; of a trace that names the blocks.
  std::optional<std::int64_t> cache{};
  std::vector<double> rate{};  ///< requests a second, in each hour from the submission on, again after the last
  double gap_cv = 1;           ///< ArrivalLaw::cv
  LengthSetup prompt{}, answer{};
  std::int64_t prefixes = 0;    ///< RequestLaws::prefixes
  double hits = 0;              ///< RequestLaws::hits
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

/// The number of replicas follows the load (ScalingRule).
struct ScaleSetup {
  int min = 1, max = 1;             ///< replicas
  double up = 0, down = 0;          ///< outstanding requests of a replica
  Time period = Time::seconds(15);  ///< between two looks at the load, as Kubernetes' horizontal autoscaler has it
  Time cold_start{};
  bool operator==(const ScaleSetup&) const = default;
};

/// How many GPUs of a replica divide its model each way (ServingLayout).
struct ServedDegrees {
  int tensor = 1, pipeline = 1, expert = 1;
  bool operator==(const ServedDegrees&) const = default;
};

/// What the host of a replica takes.
struct ServedHost {
  Time step{}, sequence{};  ///< a step, and for each of its sequences
  bool operator==(const ServedHost&) const = default;
};

/// The model of a replica, from which its step and its KV memory follow.
struct ServedModel {
  std::optional<std::string> name{};     ///< of transformer_names()
  std::optional<std::string> config{};   ///< or the path of a config.json; none of both: `step` is given
  std::optional<DeviceChoice> device{};  ///< a sheet
  DataType type = DataType::bf16;        ///< of weights and products
  std::optional<DataType> cache_type{};  ///< of the KV cache; none: as `type`, but 2 bytes with fp8
  ServedDegrees parallel{};
  double memory_share = 0.9;    ///< of the GPU's memory, for weights and KV cache
  std::int64_t context = 2048;  ///< ServingLayout::context
  ServedHost host{};

  [[nodiscard]] bool given() const { return name || config; }
};

struct ServingEntry {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< members
  int gpus_per_replica = 1;                  ///< without a model
  ReplicaSpec replica{};                     ///< its step and its limits
  ServedModel served{};
  RequestRouting route = RequestRouting::least;
  RequestsSetup requests{};
  ServiceTargets targets{};
  std::optional<ApartSetup> apart{};
  std::optional<DraftSetup> drafts{};
  std::optional<ScaleSetup> scale{};
  std::optional<ServicePower> power{};  ///< none: nothing is known of it

  /// Of a replica; a job has as many replicas as its GPUs are a multiple of them.
  [[nodiscard]] int gpus() const {
    return served.given() ? served.parallel.tensor * served.parallel.pipeline : gpus_per_replica;
  }
};

}  // namespace contend
