#pragma once
// Pulse asks the monitor of a run whether the run goes on.
//
// Instants differ by orders of magnitude: a task that ends on a GPU of its own takes less than a microsecond, and a
// transfer that moves the rates of a thousand others takes milliseconds. So the monitor is asked every few milliseconds
// of real time. What happens in simulated time depends on the answers alone.

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace contend {

class Pulse {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kBeat{5};

  /// Without a monitor the run always goes on. The monitor answers false where the run is to stop.
  explicit Pulse(std::function<bool()> monitor) : monitor_{std::move(monitor)} {}

  /// To be called after each piece of work: an instant of the run, or a look of the leaper at a group. Asks the monitor
  /// if the last answer is a while ago, or in any case if `asks`. True once the monitor has said that the run is to
  /// stop; it is not asked again.
  bool stops(bool asks) {
    if (stopped_) return true;
    if (!asks && ++pieces_ < pieces_until_look_) return false;
    return look(asks);
  }
  [[nodiscard]] bool has_stopped() const { return stopped_; }

 private:
  // Looking at the clock costs a tenth of a short piece.
  static constexpr std::uint32_t kMostPieces = 16;

  bool look(bool asks) {
    pieces_ = 0;
    if (!monitor_) return false;
    const Clock::time_point now = Clock::now();
    const Clock::duration passed = now - looked_;
    looked_ = now;
    pieces_until_look_ = passed < kBeat ? kMostPieces : 1;
    if (!asks && now - asked_ < kBeat) return false;
    asked_ = now;
    stopped_ = !monitor_();
    return stopped_;
  }

  std::function<bool()> monitor_;
  std::uint32_t pieces_ = 0;
  std::uint32_t pieces_until_look_ = 1;
  Clock::time_point looked_ = Clock::now(), asked_ = looked_;
  bool stopped_ = false;
};

}  // namespace contend
