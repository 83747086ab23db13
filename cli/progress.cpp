#include "cli/progress.hpp"

#include "cli/output.hpp"

#include <fmt/core.h>
#include <unistd.h>

namespace contend {

std::string progress_text(std::span<const Progress> runs, Time now, double seconds) {
  std::size_t ended_runs = 0;
  std::uint64_t events = 0;
  double shares = 0;
  for (const Progress& each : runs) {
    if (each.jobs > 0 && each.jobs_ended == each.jobs) ++ended_runs;
    if (each.jobs > 0) shares += static_cast<double>(each.jobs_ended) / static_cast<double>(each.jobs);
    events += each.events;
  }
  // The jobs of runs that have not begun are not known, so a sum over runs would grow.
  const std::string done = runs.size() == 1 ? fmt::format("jobs {}/{}", runs[0].jobs_ended, runs[0].jobs)
                                            : fmt::format("run {}/{}  {:.0f} % of the jobs", ended_runs, runs.size(),
                                                          100 * shares / static_cast<double>(runs.size()));
  return fmt::format("{}  simulated {:.1f} s  {:.2f} M events/s", done, now.to_seconds(),
                     static_cast<double>(events) / seconds * 1e-6);
}

ProgressLine::ProgressLine(ProgressMode mode, std::size_t runs)
    : enabled_{mode == ProgressMode::always || (mode == ProgressMode::automatic && ::isatty(STDERR_FILENO) == 1)},
      runs_(runs) {}

ProgressLine::~ProgressLine() {
  if (visible_) write_progress("");
}

void ProgressLine::update(std::size_t run, const Progress& progress) {
  if (!enabled_) return;
  const std::scoped_lock lock{mutex_};
  runs_[run] = progress;
  const Clock::time_point at = Clock::now();
  if (at - begin_ < std::chrono::seconds{1} || at - shown_ < std::chrono::milliseconds{100}) return;
  shown_ = at;
  visible_ = true;
  write_progress(progress_text(runs_, progress.now, std::chrono::duration<double>(at - begin_).count()));
}

}  // namespace contend
