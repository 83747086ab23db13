#pragma once
// CASSINI (Rajasekaran et al., NSDI 2024, arXiv 2308.00852): jobs that share a link use it in turns if their iterations
// are shifted against each other. A job on a link is a circle as long as its iteration, with its demand around it.

#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// What a job demands of a link at the times [from, until) of each iteration.
struct DemandArc {
  Time from, until;  ///< 0 <= from < until <= the period
  double rate = 0;   ///< >= 0, in the unit of the link's capacity
};

/// A job on a link.
struct LinkDemand {
  Time period;                  ///< of its iterations, > 0
  std::vector<DemandArc> arcs;  ///< ascending, without overlaps
};

/// Periods of a job in the unified circle, the least common multiple of all periods; at most.
inline constexpr std::int64_t kMostTurns = 100'000;

/// How well the demands go together on a link of this capacity > 0 if job j begins its iterations at `shifts[j]`: 1 -
/// the mean over the unified circle of max(0, sum of demands - capacity) / capacity (section 3). 1: they fit; below 0:
/// worse than twice full. Throws InputError for arcs outside of their period, and if the unified circle has more than
/// kMostTurns iterations of a job: round the periods to a common unit.
[[nodiscard]] double link_score(std::span<const LinkDemand> demands, double capacity, std::span<const Time> shifts);

struct LinkShifts {
  std::vector<Time> shifts;  ///< by job, in [0, its period); 0 for the first
  double score = 1;
};

/// Shifts of a good score, and never of a worse one than without shifts. The score is piecewise linear in a shift, so
/// the best one of a job lines up an edge of its demand with an edge of another's; for two jobs this is the optimum.
/// With more, jobs are shifted one after the other until none gains.
[[nodiscard]] LinkShifts best_shifts(std::span<const LinkDemand> demands, double capacity);

/// A job uses a link, where it has been given this shift.
struct AffinityEdge {
  std::size_t job = 0, link = 0;
  Time shift;
};

/// One shift for each job that agrees with those on all links, up to a rotation of each connected part: going along an
/// edge (j, l) and on to job k, t_k = t_j - shift of (j, l) + shift of (k, l), modulo the period of k (algorithm 1).
/// The first job of each part has 0. Nothing if the graph of jobs and links has a cycle: such a placement is discarded.
[[nodiscard]] std::optional<std::vector<Time>> affinity_shifts(std::span<const Time> periods, std::size_t links,
                                                               std::span<const AffinityEdge> edges);

}  // namespace contend
