#pragma once
// What a scenario says about failures and checkpoints, as plain data (keys `failures.*` and `checkpoints.*`).

#include "models/services/start_up.hpp"
#include "sim/failure_spec.hpp"
#include "sim/redundancy.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A law of durations as it is written: `{law: weibull, mean: 100d, shape: 0.7}`.
struct LawChoice {
  const LawKind* law = &duration_laws().front();
  std::optional<Time> mean;
  std::optional<double> per_day;  ///< or its reciprocal: events a day; 0: never
  std::optional<double> shape;    ///< of laws with LawParameter::shape
  std::optional<double> sigma;    ///< of laws with LawParameter::sigma
  std::optional<Time> median;     ///< or this, from which sigma follows: sigma^2 = 2 ln(mean / median)
  bool operator==(const LawChoice&) const = default;
  [[nodiscard]] bool is_never() const { return per_day && *per_day == 0; }
};

/// `link`: both directions of a cable between two switches; `nic`: the links between an interface and the fabric;
/// `fabric_switch`: all links of a switch of the fabric.
enum class ComponentScope : std::uint8_t { gpu, server, domain, link, nic, fabric_switch };

/// Components that fail alike.
struct FailingComponents {
  std::string name;
  ComponentScope of = ComponentScope::server;
  std::optional<int> servers;  ///< of a domain, such as a rack
  bool drains = true;          ///< a GPU that fails takes its server with it
  std::optional<LawChoice> fails;
  std::optional<LawChoice> repair;  ///< not given: FailureSetup::repair
  std::optional<double> slows;      ///< how many times as long its computing takes while it is ill; it fails if neither
  std::optional<double> slows_network;  ///< how many times as long its transfers take
  std::optional<FoundBy> found_by;      ///< not given: FailureSetup::detection, or nobody of what is slow or a
                                        ///< part of the fabric, of which only FoundBy::timeout is possible
  std::optional<double> factor;         ///< of links: what is left of their bandwidth until the repair; 0
  /// True for a part of the fabric, which takes no GPU out of service.
  [[nodiscard]] bool is_of_fabric() const { return of >= ComponentScope::link; }
  /// True if it slows down where others fail.
  [[nodiscard]] bool is_slow() const { return slows || slows_network; }
  bool operator==(const FailingComponents&) const = default;
};

struct FailureSetup {
  std::optional<std::string> preset;          ///< name of a failure_preset()
  std::vector<FailingComponents> components;  ///< beside the preset's components
  std::optional<LawChoice> jobs;              ///< in place of the preset's law
  std::optional<LawChoice> repair;
  std::optional<std::string> events;  ///< path of a list of outages
  double jitter = 0;                  ///< of each task: standard deviation of the logarithm of its time
  Time detection, diagnosis;
  Detectors detectors;
  double slow = 1.1;                     ///< Detectors::slow as a factor
  std::optional<FoundBy> jobs_found_by;  ///< of failures of jobs by themselves that aren't hangs
  double hangs = 0;
  bool holds_gpus = true;
  bool requeues_last = false;
  std::optional<int> retries;
  int spares = 0, cold_spares = 0;
  Time spare_delay, cold_delay;
  RedundancyRule redundancy;
  double step_cost = 1;  ///< RedundancyRule::step_cost as a factor
  Mitigation mitigation;

  /// True if jobs fail by themselves.
  [[nodiscard]] bool has_own() const { return preset || jobs; }
  [[nodiscard]] bool any() const { return any_of_servers() || !components.empty(); }
  /// True if servers or jobs may fail or slow down, and not only parts of the fabric.
  [[nodiscard]] bool any_of_servers() const {
    const auto is_of_server = [](const FailingComponents& each) { return !each.is_of_fabric(); };
    return preset || jobs || events || spares + cold_spares > 0 || jitter > 0 || stalls_fail() ||
           std::ranges::any_of(components, is_of_server);
  }
  /// FailureSpec::stalls_fail
  [[nodiscard]] bool stalls_fail() const {
    return std::ranges::any_of(components,
                               [](const FailingComponents& each) { return each.is_of_fabric() && each.found_by; });
  }
};

enum class CheckpointPolicy : std::uint8_t { continuous, none, synchronous, asynchronous, just_in_time };

/// A time between checkpoints, or the one for which a job takes least time (optimal_period()).
struct CheckpointPeriod {
  Time time;
  bool optimal = false;
  bool operator==(const CheckpointPeriod&) const = default;
};

/// The bytes that each GPU of a job saves, or equal parts of the weights and the optimizer of its model.
struct CheckpointSize {
  Bytes bytes;
  bool of_model = false;
  bool operator==(const CheckpointSize&) const = default;
};

struct CheckpointSetup {
  CheckpointPolicy policy = CheckpointPolicy::continuous;
  CheckpointPeriod period;                 ///< of work; of jobs of iterations, time without stops
  std::optional<std::int64_t> iterations;  ///< of jobs of iterations, in place of `period`
  Time cost;                               ///< that each checkpoint stops the job; with just_in_time: at a failure
  Time persist;                            ///< of an asynchronous one: until it can be restored
  std::optional<CheckpointSize> size;      ///< of each GPU's part; then cost or persist follow from it
  std::optional<ByteRate>
      rate;  ///< at which the parts of all GPUs of a job are written together; the most with `store`
  std::optional<ByteRate> store;  ///< at which all jobs together write
  /// At which each GPU copies its part to host memory beside the passes of an iteration; then `cost` is the rest.
  std::optional<ByteRate> copy_rate;
  Time restart;
  StartUp start;                 ///< of each worker of a job, at each start of the job (`start.*`)
  std::optional<Time> lifetime;  ///< after which its workers are stopped and start again, in place of `period`

  /// True if checkpoints are some way apart.
  [[nodiscard]] bool has_period() const {
    return policy == CheckpointPolicy::synchronous || policy == CheckpointPolicy::asynchronous;
  }
};

}  // namespace contend
