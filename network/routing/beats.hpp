#pragma once
// Beats: when jobs that share links begin their iterations, so that they use the links in turns (CASSINI, Rajasekaran
// et al., NSDI 2024, arXiv 2308.00852; network/routing/cassini.hpp has its circles, scores and affinity graph).
//
// Each iteration of a job is taken to compute first and then to send. Only links count on which the jobs together
// demand more than there is. Of links with the same jobs, or with some of the jobs of another one, the one with most
// demand counts. Jobs that are connected by links get beats together. If what they send takes more than their
// iterations, the periods of all are longer than their iterations by so much. The periods are rounded up to a common
// unit, by at most a tenth, with as little loss as possible. Jobs get no beats if their graph has a cycle, or if in no
// unit shifts have a better score than none and leave no link with a score below kBeatScore: who sends into the time of
// others would be late, and wait for a beat in vain.

#include "network/topology.hpp"
#include "sim/units.hpp"

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// A job that sends in each of its iterations.
struct SendingJob {
  Time iteration;                                ///< if it is alone
  Time communication;                            ///< the last part of it, in which it sends; at most `iteration`
  std::vector<std::pair<LinkId, double>> bytes;  ///< of an iteration on each link; each link once
};

/// A job begins its iterations at `shift`, `shift` + `period`, ... from the start of the run on.
struct Beat {
  Time period;
  Time shift;  ///< in [0, period)
  bool operator==(const Beat&) const = default;
};

/// How late, in parts of the period, an iteration may begin without waiting for the next beat (section 4.3: servers
/// adjust when they are off by more than that).
inline constexpr double kBeatTolerance = 0.05;

inline constexpr double kBeatScore = 0.99;

/// By job: its beat; nothing if it need not keep one. `rate` is the rate of a link in bytes per second, > 0.
[[nodiscard]] std::vector<std::optional<Beat>> plan_beats(std::span<const SendingJob> jobs,
                                                          const std::function<double(LinkId)>& rate);

/// From now until an iteration of a job with this beat may begin.
[[nodiscard]] Time wait_for(const Beat& beat, Time now);

}  // namespace contend
