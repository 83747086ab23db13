#pragma once
// LentServers lends servers and takes them back (sim/loans.hpp): when, which ones go back, and which jobs shrink. Each
// server that may be lent is a component, which is down while it is not lent.

#include "sim/admission.hpp"
#include "sim/agenda.hpp"
#include "sim/components.hpp"
#include "sim/engine_state.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

class LentServers {
 public:
  LentServers(EngineState& state, Admission& admission, Agenda& agenda, const Components& components);

  /// Schedules the next change of the list.
  void schedule();
  /// Carries out the change that is due, and schedules the next one. The components of the servers that are lent from
  /// now on, or go back.
  [[nodiscard]] std::vector<std::uint32_t> change();
  /// No earlier than this the server is lent or goes back; never(), if that never happens.
  [[nodiscard]] Time next_on(ServerId server) const;
  /// Has an elastic job that loses these GPUs of lent servers go on with as many of the others as it can use, the first
  /// ones by rank. False if it can't.
  [[nodiscard]] bool shrinks(JobId job, std::span<const GpuId> lost);

 private:
  [[nodiscard]] std::vector<std::uint32_t> choose_reclaimed(int count);
  [[nodiscard]] std::uint32_t component_of(std::uint32_t server) const {
    return components_.first_lent() + server - first_;
  }
  [[nodiscard]] bool is_lent(std::uint32_t server) const { return !components_[component_of(server)].is_down; }

  EngineState& state_;
  const LoanSpec& spec_;
  Admission& admission_;
  Agenda& agenda_;
  const Components& components_;
  std::uint32_t first_, end_;    // servers first_, ..., end_ - 1 may be lent
  RandomStream stream_;          // of ReclaimRule::random
  std::size_t next_change_ = 0;  // of LoanSpec::changes
  Time begin_;                   // of the period that it belongs to
  Time next_ = Time::never();    // when it is due
};

}  // namespace contend
