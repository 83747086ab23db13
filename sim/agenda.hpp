#pragma once
// Agenda holds what failures, spares, loans and slow jobs have due later on. For all of it the calendar has one event,
// at the earliest of these times.

#include "sim/engine_state.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

class Agenda {
 public:
  /// What becomes due. Of several things at one instant the kinds come in this order, and of one kind the least index
  /// first.
  enum class Kind : std::uint8_t {
    turn,       ///< a component fails or comes back; index of the component
    spare,      ///< a spare has started; index of its server
    drain,      ///< the GPUs of a planned outage are withheld from now on; index of the component
    isolation,  ///< a component has been slow for long enough to be isolated; its index
    loans,      ///< the number of lent servers changes; 0
    step,       ///< a slow job takes its next step; index of the job
  };
  struct Due {
    Time at;
    Kind kind;
    std::uint32_t index;
    auto operator<=>(const Due&) const = default;
  };

  explicit Agenda(EngineState& state) : state_{state} {}

  /// The next component may turn and be isolated.
  void add_component() { times_.emplace_back(); }
  /// A component turns once and is isolated once, at the time that was given last. never(): not at all.
  void schedule(Time at, Kind kind, std::uint32_t index);
  [[nodiscard]] Time turn_of(std::uint32_t component) const { return times_[component].turn; }
  /// When the component turns or is isolated next.
  [[nodiscard]] Time next_of(std::uint32_t component) const;
  /// Takes the first thing off the list that is due at this instant, if there is one.
  [[nodiscard]] std::optional<Due> take();
  /// Has the calendar come back at the earliest time. To be called after changes.
  void settle();

 private:
  struct Times {
    Time turn = Time::never(), isolation = Time::never();
  };

  Due pop();
  [[nodiscard]] bool is_taken_back(const Due& due) const;

  EngineState& state_;
  std::vector<Due> due_;  // a heap: the earliest is in front
  std::vector<Times> times_;
  EventHandle event_;
  Time event_at_;
};

}  // namespace contend
