#pragma once
// The engine: runs a workload on a cluster under given policies and a network model, and returns what happened.
//
// Everything that falls on one instant is handled in a fixed order of phases (sim/phase.hpp): ends of operations and
// transfers, arrivals, the scheduling pass, messages that may enter the network, and last the idle GPUs, each of which
// takes the ready task of the job with the smallest key. Tasks are never interrupted.

#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/ports.hpp"
#include "sim/result.hpp"
#include "sim/scheduling_rules.hpp"

#include <functional>
#include <memory>
#include <string>

namespace contend {

/// The parts that a study swaps. Names are for error messages.
struct PolicySet {
  std::unique_ptr<SchedulingPolicy> scheduling;
  std::unique_ptr<PlacementPolicy> placement;
  std::unique_ptr<CommunicationPolicy> communication;
  std::string scheduling_name, placement_name, communication_name;
};

struct Progress {
  Time now;
  std::size_t jobs_ended = 0;
  std::size_t jobs = 0;
  std::uint64_t events = 0;
};

struct SimulationOptions {
  bool leap = true;            ///< skip whole periods exactly; false executes every event
  Time until = Time::never();  ///< stop at this instant; jobs still alive stay unfinished
  SchedulingRules rules{};
  Observer* observer = nullptr;                  ///< sees every task and transfer; turns leaping off
  DecisionObserver* decisions = nullptr;         ///< sees every decision about a job
  std::function<bool(const Progress&)> monitor;  ///< called every few thousand events; false interrupts
};

class Simulation {
 public:
  /// Throws InputError if a job of the workload or the cluster is not well formed.
  Simulation(const ClusterSpec& cluster, Workload workload, PolicySet policies, std::unique_ptr<NetworkModel> network,
             SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs to the end; call once.
  RunResult run();

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace contend
