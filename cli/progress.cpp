#include "cli/progress.hpp"

#include "cli/output.hpp"

#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

namespace contend {

ProgressLine::ProgressLine(ProgressMode mode, std::size_t runs)
    : enabled_{mode == ProgressMode::always || (mode == ProgressMode::automatic && ::isatty(STDERR_FILENO) == 1)},
      runs_(runs) {}

ProgressLine::~ProgressLine() {
  if (visible_) print_message("\r\x1b[K");
}

void ProgressLine::update(std::size_t run, const Progress& progress) {
  if (!enabled_) return;
  const std::scoped_lock lock{mutex_};
  runs_[run] = progress;
  const Clock::time_point at = Clock::now();
  if (at - begin_ < std::chrono::seconds{1} || at - shown_ < std::chrono::milliseconds{100}) return;
  shown_ = at;
  visible_ = true;
  print_message("\r{}\x1b[K", text(progress.now, at));
  std::fflush(stderr);
}

std::string ProgressLine::text(Time now, Clock::time_point at) const {
  std::size_t ended_runs = 0, ended = 0, jobs = 0;
  std::uint64_t events = 0;
  for (const Progress& each : runs_) {
    if (each.jobs > 0 && each.jobs_ended == each.jobs) ++ended_runs;
    ended += each.jobs_ended;
    jobs += each.jobs;
    events += each.events;
  }
  const double seconds = std::chrono::duration<double>(at - begin_).count();
  const std::string runs = runs_.size() > 1 ? fmt::format("run {}/{}  ", ended_runs, runs_.size()) : "";
  return fmt::format("{}jobs {}/{}  simulated {:.1f} s  {:.2f} M events/s", runs, ended, jobs, now.to_seconds(),
                     static_cast<double>(events) / seconds * 1e-6);
}

}  // namespace contend
