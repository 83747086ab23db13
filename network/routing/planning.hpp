#pragma once
// Plans the paths of the connections of all jobs that run, and the priorities of their bytes.
//
// A connection keeps its path from the start of its job on. It is the one of its shortest paths whose fullest link is
// emptiest, where the load of a link is the bytes that all connections on it send in an iteration of their jobs, and a
// link is as full as its load over its bandwidth. Of equals the path counts whose second fullest link is emptier, and
// so on, then the one with the first links. Within a job the largest connection chooses first.
//
// C4P (Dong et al., HPCA 2025, arXiv 2406.04594) spreads the few large flows of each leaf over the spines like that,
// job by job, and plans again when a link fails. Crux (Cao et al., SIGCOMM 2024, section 4.1) has the jobs choose in
// order of their intensity, the work of an iteration over the time for which its fullest link sends (4.3: and sends the
// bytes of the more intense ones first).
// With CASSINI's shifts (NSDI 2024) jobs use the links that they share in turns.

#include "network/clos.hpp"
#include "network/routing.hpp"

#include <cstdint>
#include <memory>

namespace contend {

/// In which order jobs choose their paths.
enum class PlanningOrder : std::uint8_t {
  arrival,    ///< as they start; the paths of all are chosen again when a link fails or comes back
  intensity,  ///< the most intense first; the paths of all are chosen again when a job starts or leaves, too
};

inline constexpr int kMostPriorityLevels = 8;

struct PlanningOptions {
  PlanningOrder order = PlanningOrder::arrival;
  /// Levels of priority, 1..kMostPriorityLevels. With more than one, jobs that share links are put on different ones as
  /// far as possible (network/routing/priority_levels.hpp), where a job counts as much as its intensity.
  int levels = 1;
  /// Jobs that share links begin their iterations in turns (network/routing/beats.hpp), planned again when a job starts
  /// or leaves.
  bool shifts = false;
};

/// A router that does so. Flows that no job has announced (Router::enter) choose
/// when they start, those that start together together.
///
/// Jobs that have spines in `reserved` choose among these alone, as long as their links work (vClos, arXiv 2308.05692).
[[nodiscard]] std::unique_ptr<Router> make_planning_router(const Topology& topology, PlanningOptions options,
                                                           std::shared_ptr<const ReservedSpines> reserved = {});

}  // namespace contend
