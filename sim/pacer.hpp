#pragma once
// The pacer slows tasks and transfers that share a GPU (sim/interference.hpp). It runs once everything at an instant
// has been handled, so that what begins as another ends changes no rate.
//
// A GPU takes part in a collective of its role, whatever the scope, and in the messages that it sends or receives.

#include "sim/engine_state.hpp"

#include <vector>

namespace contend {

class Pacer {
 public:
  explicit Pacer(EngineState& state) : state_{state} {}

  /// Sets the rates of the tasks on all cells that were marked (EngineState::mark_pace), and of the transfers of their
  /// jobs. Nothing may be left to happen at this instant.
  void settle();

 private:
  [[nodiscard]] bool takes_part(const Occupant& occupant, const Traffic& traffic) const;
  [[nodiscard]] bool communicates(const Cell& cell) const;
  [[nodiscard]] bool computes_beside(const Traffic& traffic) const;

  EngineState& state_;
  std::vector<JobId> affected_;  // scratch
};

}  // namespace contend
