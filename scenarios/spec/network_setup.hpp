#pragma once
// The network of a scenario: how detailed it is, what transfers cost, and the fabric of fidelity `flow`.

#include "models/scales.hpp"
#include "network/ring_order.hpp"
#include "network/routing/planning.hpp"
#include "network/topologies/topology_spec.hpp"
#include "scenarios/spec/fidelity.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// How the path of a flow through a topology is chosen (network/routing.hpp).
enum class Routing : std::uint8_t { shortest_path, ecmp, spraying, ethereal, planned };

/// The value of `network.collectives` and `network.formula` with which a library chooses.
inline constexpr std::string_view kNcclCollectives = "nccl";
/// The value of `network.formula` for costs of a measured all-reduce.
inline constexpr std::string_view kMeasuredFormula = "measured";
/// The values of `network.formula` for an exchange over a store (models/services/stored_exchange.hpp).
inline constexpr std::string_view kStoreFormula = "store", kStoreScatterFormula = "store-scatter";
/// The value of `network.formula` that is `measured` where network.beta is given, else `ring`.
inline constexpr std::string_view kAutoFormula = "auto";

/// The network (`network.*`).
struct NetworkSetup {
  Fidelity fidelity = Fidelity::contention;
  [[nodiscard]] const FidelityTraits& traits() const { return traits_of(fidelity); }
  bool as_framework = false;            ///< what isn't given is as libraries have it on the machine, not an ideal
  std::optional<std::string> machine;   ///< an entry of machines(), for what isn't given
  std::vector<std::string> of_machine;  ///< keys of the scenario that this gave
  std::optional<ByteRate> nic;          ///< line rate of each interface; default of beta: 1 / nic
  Time alpha;                           ///< start-up time of a transfer
  std::string formula{kAutoFormula};    ///< a row of cost_formulas(), or kAutoFormula
  struct Inside {
    Time alpha;
    std::optional<ByteRate> bandwidth;
    std::optional<TimePerByte> beta;  ///< or 1 / bandwidth
    [[nodiscard]] bool given() const { return bandwidth || beta; }
  } inside;           ///< between the GPUs of a server; not given: no time at all
  TimePerByte gamma;  ///< time to add up a received byte
  Time poll;          ///< with kStoreFormula: what workers wait until they look for the sum again
  /// The library of the formula `nccl`, and what a user has measured in place of its constants.
  struct Nccl {
    std::optional<std::string> machine;    ///< a name of nccl_machines()
    std::optional<std::string> version;    ///< one that read_nccl_version() knows; none: NcclMachine::version
    std::optional<std::string> between;    ///< an entry `network` of the catalogue; none: NcclMachine::between
    std::vector<double> further;           ///< NetworkTimes::further, us; empty: as `between` has them
    std::vector<double> shares;            ///< NetworkTimes: ring, tree, nvls, sends, ll128; empty: as in `between`
    bool measured = true;                  ///< NcclChoices::measured
    bool in_place = true;                  ///< NcclChoices::in_place
    bool sharp = false;                    ///< the switches of the network add
    Time latency;                          ///< of the network's plug-in
    std::optional<Time> hop;               ///< NcclFit::hop
    std::optional<ByteRate> channel_rate;  ///< NcclFit::channel_rate
  } nccl;
  /// One factor for both, or those that are usual on the device of the jobs.
  struct InterferenceChoice {
    bool usual = false;  ///< usual_interference(), else `factor`
    double factor = 0;
  };
  struct {
    std::optional<InterferenceChoice> both;  ///< in place of the two factors
    double compute = 0, network = 0;         ///< as in sim/interference.hpp, as plain factors
  } interference;
  /// Where many servers send at once, a byte takes (servers / free)^exponent times as long, if that is more than 1.
  struct ManySenders {
    std::optional<double> free;  ///< servers that don't disturb each other; not given: any number
    double exponent = 1.6;
  } many_senders;
  /// eta / beta, in place of `eta`: on the interfaces of servers at `contention`, on their links at `flow`.
  std::optional<double> contention_penalty;
  /// Bytes that a GPU may have under way to another, at `flow` or between `sites`; none: as NCCL has, else any number.
  std::optional<Bytes> in_flight;
  TransferScales scales;  ///< no key
  // analytic and contention only
  std::optional<TimePerByte> beta;    ///< time per byte of a transfer without contention
  std::optional<TimePerByte> eta;     ///< further time per byte for each other transfer on the interface
  std::optional<std::string> sites;   ///< path of a table of links between sites, of which each server of the cluster
                                      ///< is one (LinkMatrix)
  RingOrder ring = RingOrder::table;  ///< of collectives between `sites`
  /// Servers with a network of their own, beside the one that joins all (`nic`, `alpha`).
  struct Island {
    int servers = 1;            ///< >= 1
    ByteRate nic;               ///< line rate of each server's interface to it
    std::optional<Time> alpha;  ///< start-up time of a transfer in it; none: as in the other
    bool operator==(const Island&) const = default;
  };
  std::vector<Island> islands;  ///< the first has the first servers, and so on; other servers are on none
  /// Numbers of ranks in the measurements to which alpha and beta were fitted; not given if unknown.
  std::optional<std::vector<int>> fitted_workers;
  struct FittedBytes {
    Bytes least, most;
  };
  std::optional<FittedBytes> fitted_bytes;  ///< message sizes in those measurements; not given if unknown
  Time tick;                                ///< transfers end at the next multiple of this; 0 is exact
  // flow only
  TopologySpec topology;  ///< without server.nic_bandwidth, which is `nic`: see topology_spec()
  Routing routing = Routing::ecmp;
  EcmpHash ecmp_hash = EcmpHash::per_switch;  ///< of Routing::ecmp
  PlanningOptions planning;                   ///< of Routing::planned
  std::optional<std::string> routes;          ///< path of planned routes; other flows follow `routing`
  std::string collectives = "ring";           ///< algorithm of network/collectives, `auto`, or kNcclCollectives
  Time step_overhead;                         ///< of each step of a collective
  std::vector<double> efficiency;             ///< LinkEfficiency::factors of every link
  std::optional<std::string> events;          ///< path of link changes over time
  Time link_interval = Time::seconds(60);     ///< interval of link utilisation samples; 0: none
  bool delays = false;                        ///< write down by whose traffic transfers are slowed down
};

}  // namespace contend
