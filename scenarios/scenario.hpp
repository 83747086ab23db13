#pragma once
// A scenario: plain validated data, every default filled in, no behaviour.

#include "models/devices.hpp"
#include "models/overlap/problem.hpp"
#include "models/workload.hpp"
#include "models/workloads/synthetic.hpp"
#include "network/topologies/topology_spec.hpp"
#include "policies/registry.hpp"
#include "results/expectations.hpp"
#include "scenarios/keys/device_choice.hpp"
#include "scenarios/sweep/sweep_spec.hpp"
#include "sim/error.hpp"
#include "sim/scheduling_rules.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// eta / beta where a scenario does not give eta: 0.235 / 0.856 ms per MiB, the fit for 10 GbE in the authors'
/// simulator of arXiv 2002.10105.
inline constexpr double kEtaOverBeta = 0.235 / 0.856;

struct PolicyChoice {
  std::string name;
  Parameters parameters;  ///< complete: every parameter of the policy has a value
};
[[nodiscard]] inline bool same_choice(const PolicyChoice& a, const PolicyChoice& b) {
  return a.name == b.name && a.parameters.values() == b.parameters.values();
}

enum class Fidelity : std::uint8_t { analytic, contention, flow };

/// How a flow finds its route through a topology (network/routing.hpp).
enum class Routing : std::uint8_t { shortest_path, ecmp, spraying };

/// How the cost of a collective follows from that of a link (ExchangeCost).
enum class ExchangeFormula : std::uint8_t { ring, halving_doubling, measured };

/// Iterations that a compression method needs to reach a target, over those without compression: an input, because
/// convergence is not simulated.
struct IterationsToTarget {
  PolicyChoice compression;
  bool by_name =
      false;  ///< an entry of a map: for the method whatever its parameters, and whether it is studied or not
  double factor = 1;
  std::string source;  ///< where the factor comes from, such as a paper and its table

  [[nodiscard]] bool is_for(const PolicyChoice& choice) const {
    return by_name ? compression.name == choice.name : same_choice(compression, choice);
  }
};

/// A study of one iteration of one job (`overlap.*`): the same model under several fusion policies and numbers of
/// workers. It is one if it has a model or a file of layer times.

struct IterationStudy {
  std::optional<std::string> model;   ///< a name of the catalogue
  std::optional<std::string> layers;  ///< path of a file of layer times
  std::string select;                 ///< which of several models in that file
  DeviceChoice device;
  DataType type = DataType::fp32;
  std::optional<int> batch, sequence;
  std::optional<Time> single_worker;  ///< iteration of one worker that the layer times are scaled to
  Granularity granularity = Granularity::tensor;
  std::vector<int> workers{8};
  int per_server = 1;  ///< workers on each server; those of one server reach each other over `inside`
  struct Inside {
    Time alpha;
    std::optional<ByteRate> bandwidth;
    std::optional<TimePerByte> beta;  ///< or 1 / bandwidth
  } inside;
  ExchangeKind exchange = ExchangeKind::all_reduce;
  ExchangeFormula formula = ExchangeFormula::ring;
  TimePerByte gamma;  ///< adding up a byte
  /// Among how many ranks the timings were taken that `network` was fitted to; not given: nobody says.
  std::optional<std::vector<int>> fitted_workers;
  struct FittedBytes {
    Bytes least, most;
  };
  std::optional<FittedBytes> fitted_bytes;  ///< sizes of the exchanges that were timed, likewise
  std::optional<int> servers;               ///< parameter servers; as many as workers if not given
  bool colocated = false;                   ///< servers on the machines of the workers
  std::optional<std::string> links;         ///< path of links between sites, one worker each (LinkMatrix)
  std::optional<double> two_at_once;        ///< time per byte of each of two transfers, in units of that of one alone
  bool engine = false;                      ///< the engine executes it too, and must agree to the nanosecond
  std::vector<PolicyChoice> fusion;
  std::vector<PolicyChoice> compression;          ///< each is studied under each fusion policy
  MessageRoute collective = MessageRoute::usual;  ///< forced on all of them
  std::vector<IterationsToTarget> iterations_to_target;
  double kernel_factor = 1;  ///< time of the kernels of compression over that of a roofline
  /// Where each key that is given was given last, for what shows only when the study runs; without reasons.
  std::vector<Complaint> places;

  [[nodiscard]] bool given() const { return model || layers; }
};

/// A virtual cluster of `cluster.vcs`: so many servers of its own, or so many GPUs on those that nobody owns.
struct NamedVirtualCluster {
  std::string name;
  std::optional<int> servers, gpus;
  bool borrow = false;
  bool operator==(const NamedVirtualCluster&) const = default;
};

struct Scenario {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;  ///< of the first replica
  int repeat = 1;          ///< replicas, with seeds seed, seed + 1, ...

  struct Cluster {
    int servers = 16;
    int gpus_per_server = 4;
    Bytes gpu_memory = Bytes::mebibytes(32768);
    std::optional<double> cpus;        ///< of each server; not counted if not given
    std::optional<Bytes> host_memory;  ///< of each server; not counted if not given
    std::vector<NamedVirtualCluster> vcs;
  } cluster;

  struct Network {
    Fidelity fidelity = Fidelity::contention;
    std::optional<ByteRate> nic;  ///< line rate of each interface; beta = 1 / nic if beta is not given
    Time alpha;                   ///< start-up of a transfer
    // analytic and contention only
    std::optional<TimePerByte> beta;  ///< time per byte of a transfer that is alone
    std::optional<TimePerByte> eta;   ///< further time per byte for each other transfer on the interface
    Time tick;                        ///< transfers end at the next multiple of this; 0: at their exact end
    // flow only
    TopologySpec topology;  ///< but for server.nic_bandwidth, which is `nic`: see topology_spec()
    Routing routing = Routing::ecmp;
    std::optional<std::string> routes;       ///< path of planned routes; flows that it doesn't name follow `routing`
    std::string collectives = "ring";        ///< algorithm of network/collectives, or `auto`
    Time step_overhead;                      ///< of each step of a collective
    double contention_penalty = 0;           ///< eta / beta on the links of interfaces, as in Fidelity::contention
    std::vector<double> efficiency;          ///< of a link with 1, 2, ... flows, the last for more; empty: always 1
    std::optional<std::string> events;       ///< path of changes of links over time
    Time link_interval = Time::seconds(60);  ///< between samples of the utilisation of links; 0: none
  } network;

  PolicyChoice scheduling, placement, communication;
  SchedulingRules rules;  ///< beside the policy; without the penalty for scattering

  struct Work {
    std::optional<std::string> jobs;  ///< path of a job list; if neither it nor `like` is given, the mix is generated
    std::optional<std::string> like;  ///< a name of fitted_workloads()
    SyntheticWorkload synthetic;      ///< but for `like`
    GeneratedWorkload generate;
    std::vector<double> scatter_penalty;  ///< factors; SchedulingRules::scatter_penalty
  } workload;

  IterationStudy overlap;
  SweepSpec sweep;  ///< for `contend sweep`; a single run has none

  struct Engine {
    bool leap = true;
    std::optional<Time> until;
  } engine;

  std::vector<Expectation> expect;  ///< what its figures must be
};

}  // namespace contend
