#include "cli/sweep_progress.hpp"

#include "cli/output.hpp"

#include <string>

#include <fmt/core.h>
#include <unistd.h>

namespace contend {

SweepProgress::SweepProgress(ProgressMode mode, std::int64_t runs)
    : enabled_{mode == ProgressMode::always || (mode == ProgressMode::automatic && ::isatty(STDERR_FILENO) == 1)},
      runs_{runs} {}

SweepProgress::~SweepProgress() {
  if (visible_) write_progress("");
}

void SweepProgress::recorded(bool failed) {
  ++ended_;
  if (failed) ++failed_;
  if (!enabled_) return;
  const Clock::time_point at = Clock::now();
  if (at - begin_ < std::chrono::seconds{1} || at - shown_ < std::chrono::milliseconds{200}) return;
  shown_ = at;
  visible_ = true;
  const double seconds = std::chrono::duration<double>(at - begin_).count();
  const double rate = static_cast<double>(ended_) / seconds;
  const std::string failures = failed_ > 0 ? fmt::format("  {} failed", failed_) : "";
  write_progress(fmt::format("run {}/{}  {:.1f} runs/s{}  {} left", ended_, runs_, rate, failures,
                             duration_text(static_cast<double>(runs_ - ended_) / rate)));
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (seconds < kMinute) return fmt::format("{} s", whole);
  if (seconds < kHour) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace contend
