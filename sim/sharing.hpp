#pragma once
// Jobs with a duration that share a GPU slow each other down. A run of such a job has a clock of its own, which shows
// the time that the run would have needed alone so far: its restart, its work and its checkpoints. Alone, the clock
// goes as time does. Beside others on a GPU it goes at the speed that a law gives, once a restart is over, which takes
// its time whoever is there. So the work that is done is the integral of the speed, and all else about a run
// (sim/scheduling_rules.hpp) is a function of its clock.
//
// A job of several GPUs goes as its slowest one does. Speeds are integers in thousand-millionths, and the clock counts
// in thousand-millionths of a nanosecond, so that nothing is rounded where a speed changes. Only what an end rounds up
// to the nanosecond is lost.
//
// Jobs that go on without GPUs that have failed (sim/redundancy.hpp) have such a clock, too, which also stands still.
//
// Jobs of iterations share GPUs by running their tasks in turn, and no law holds for them.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// The speed of a job that has its GPUs to itself.
inline constexpr std::int64_t kFullSpeed = 1'000'000'000;
/// The slowest speed but 0: a thousandth.
inline constexpr std::int64_t kSlowestSpeed = kFullSpeed / 1000;

/// What an iteration of a job alone needs one after the other, in any unit of time: storage, CPUs, GPU, network. All 0:
/// not known.
using StageTimes = std::array<double, 4>;
inline constexpr std::size_t kGpuStage = 2;  ///< of StageTimes

/// How fast timed jobs are beside each other. Answers depend on the arguments alone.
class SharingLaw {
 public:
  virtual ~SharingLaw() = default;
  /// The speed of a job beside `others`, ascending, at least one and without it, on a GPU of that type of servers (-1:
  /// there are no types): kSlowestSpeed to kFullSpeed, or 0: it can't run beside them.
  [[nodiscard]] virtual std::int64_t speed(JobId job, std::span<const JobId> others, std::int32_t type) const = 0;
  [[nodiscard]] virtual StageTimes stages(JobId /*job*/) const { return {}; }
};

/// Which timed jobs may share a GPU, and how fast they are then.
struct GpuSharing {
  std::shared_ptr<const SharingLaw> law{};  ///< nullptr: none share, and those that reserve parts don't slow each other
  int most = 1;                             ///< on a GPU that none of them reserved a part of; >= 2 with a law
  bool by_priority = false;  ///< a job is slowed down only by those on its GPU whose priority is at least its own
  [[nodiscard]] bool any() const { return law != nullptr; }
};

/// The clock of a run that has shared a GPU, or that goes on without some.
class SharedClock {
 public:
  /// A run that began at `since`, has been alone until `now` and begins with such a restart.
  SharedClock(Time since, Time restart, Time now)
      : at_{now}, shown_{Int128{(now - since).ns()} * kFullSpeed}, restart_{Int128{restart.ns()} * kFullSpeed} {}

  /// The time that the clock shows at `now`, which is not before the last call of set_speed(), in thousand-millionths
  /// of a nanosecond.
  [[nodiscard]] Int128 exact(Time now) const;
  /// The time of exact(), rounded down.
  [[nodiscard]] Time shown(Time now) const;
  /// When it will show that; the last change if it shows that already. Throws InputError beyond the range of Time.
  [[nodiscard]] Time when(Time shows) const;
  [[nodiscard]] std::int64_t speed() const { return speed_; }
  [[nodiscard]] Time changed() const { return at_; }  ///< later than now while it stands still
  /// From `now` on it stands still for `stands`, and until the end of any standstill before, and then goes at `speed`.
  void set_speed(std::int64_t speed, Time now, Time stands = {}) {
    shown_ = exact(now);
    at_ = std::max(at_, now + stands);
    speed_ = speed;
  }

  std::vector<JobId> beside{};    ///< the jobs on its GPUs since the last change, ascending
  std::vector<char> is_shared{};  ///< by rank: 1 if others have held its GPU since then
  double gpus = 0;                ///< since then: its GPUs, each divided by the jobs that hold it
  double paid_gpu_s = 0;          ///< GPU time until then, divided by the jobs that hold each GPU

 private:
  Time at_;
  Int128 shown_, restart_;
  std::int64_t speed_ = kFullSpeed;
};

/// How long a job has been beside the same others.
struct SharedTime {
  JobId job;
  std::vector<JobId> beside;  ///< ascending
  Time time;
  Time lost;  ///< part of `time` by which it came to be later, rounded down
};

}  // namespace contend
