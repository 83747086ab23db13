#pragma once
// Simulation is the engine: it runs a workload on a cluster under given policies and a network model, and returns the
// results.
//
// Everything at one instant is handled in a fixed order (sim/phase.hpp): the ends of operations and transfers,
// arrivals, the scheduling pass, the messages that may enter the network, and last the idle GPUs, each of which takes
// the ready task of the job with the smallest key. Other tasks never interrupt a task.

#include "sim/ask_policy.hpp"
#include "sim/cluster.hpp"
#include "sim/failure_spec.hpp"
#include "sim/interference.hpp"
#include "sim/job.hpp"
#include "sim/policy_failure.hpp"
#include "sim/ports.hpp"
#include "sim/result.hpp"
#include "sim/scheduling_rules.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// The policies of a run. Their names are for error messages. The functions call a policy and turn its exceptions
/// into a PolicyError.
struct PolicySet {
  std::unique_ptr<SchedulingPolicy> scheduling;
  std::unique_ptr<PlacementPolicy> placement;
  std::unique_ptr<CommunicationPolicy> communication;
  std::string scheduling_name, placement_name, communication_name;

  template <class Call>
  decltype(auto) ask_scheduling(Call&& call) const {
    return ask_policy("scheduling", scheduling_name, *scheduling, std::forward<Call>(call));
  }
  template <class Call>
  decltype(auto) ask_placement(Call&& call) const {
    return ask_policy("placement", placement_name, *placement, std::forward<Call>(call));
  }
  template <class Call>
  decltype(auto) ask_communication(Call&& call) const {
    return ask_policy("communication", communication_name, *communication, std::forward<Call>(call));
  }
};

/// How far a run has got.
struct Progress {
  Time now;
  std::size_t jobs_ended = 0;
  std::size_t jobs = 0;
  std::uint64_t events = 0;
};

/// The jobs that a run is about: those submitted in [from, until). Jobs before them bring the cluster to its usual
/// state, and jobs after them keep it there. With `until` the run ends when its measured jobs have ended, but not
/// before `until`.
struct MeasuredWindow {
  Time from, until = Time::never();
  [[nodiscard]] bool holds(Time submit) const { return from <= submit && submit < until; }
  [[nodiscard]] bool given() const { return from > Time{} || until < Time::never(); }
};

struct SimulationOptions {
  bool keeps_uses = false;     ///< RunResult::uses says when jobs held GPUs
  bool leap = true;            ///< skip whole periods exactly; false executes every event
  Time until = Time::never();  ///< stop at this instant; jobs that have not ended stay unfinished
  MeasuredWindow window{};
  SchedulingRules rules{};
  FailureSpec failures{};
  /// What is saved of a job's work, where that differs from job to job; else `rules.preemption` holds for all.
  std::function<PreemptionCosts(const JobSpec&)> costs{};
  Interference interference{};                   ///< between tasks and transfers on the same GPU
  GpuSharing sharing{};                          ///< between timed jobs on the same GPU
  std::shared_ptr<HostModel> hosts{};            ///< what GPUs share of their servers; null: servers limit nothing
  Observer* observer = nullptr;                  ///< sees every task and transfer; turns leaping off
  DecisionObserver* decisions = nullptr;         ///< sees every decision about a job
  std::function<bool(const Progress&)> monitor;  ///< called every few thousand events; false interrupts
  /// Where policies outside of the program report that they can't decide any more; that interrupts at once.
  std::shared_ptr<PolicyFailure> failure{};
};

class Simulation {
 public:
  /// Throws InputError if the cluster, a job of the workload, the rules or the interference are invalid.
  Simulation(const ClusterSpec& cluster, Workload workload, PolicySet policies, std::unique_ptr<NetworkModel> network,
             SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// By job: the reason why it can never start, or an empty text. To be called before run(), if at all.
  [[nodiscard]] std::vector<std::string> why_never_start();
  /// Runs to the end. To be called once. Throws InputError if a policy returns an illegal decision.
  RunResult run();
  [[nodiscard]] const Workload& workload() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace contend
