#pragma once
// Crux (Cao et al., SIGCOMM 2024): jobs whose GPUs wait most for each byte go first. Here are its measure, its choice
// of paths (section 4.1) and how it fits the jobs into few priority levels (section 4.3).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// A flow of a job in each of its iterations, and the paths that it may take: lists of links.
struct CruxFlow {
  double bytes = 0;
  std::vector<std::vector<std::size_t>> paths;  ///< at least one
};

struct CruxJob {
  double work = 0;  ///< of an iteration, in GPU seconds or floating point operations
  std::vector<CruxFlow> flows;
};

/// By job and flow: the index of the path.
using CruxPaths = std::vector<std::vector<std::size_t>>;

/// The time that an iteration communicates if the job is alone: the largest time of a link, M_je / B_e. `rates` has the
/// bytes in a unit of time of each link, > 0.
[[nodiscard]] double crux_time(const CruxJob& job, std::span<const std::size_t> paths, std::span<const double> rates);
/// The intensity I_j = W_j / t_j; infinite for a job that doesn't communicate.
[[nodiscard]] double crux_intensity(const CruxJob& job, std::span<const std::size_t> paths,
                                    std::span<const double> rates);

/// Paths for all flows: the jobs by intensity on their first paths, the highest first, and of each flow, largest first,
/// the path on which the fullest link, with the flow, is emptiest so far; ties go to the first.
[[nodiscard]] CruxPaths crux_paths(std::span<const CruxJob> jobs, std::span<const double> rates);

/// Two jobs that share links. It costs `weight` if they get the same level.
struct CruxConflict {
  std::size_t high = 0, low = 0;  ///< the one of higher priority, and the other
  double weight = 0;              ///< >= 0
};

struct CruxLevels {
  std::vector<int> level;  ///< by job, 0 is the highest
  double kept = 0;         ///< weight of the conflicts whose jobs have different levels
};

/// Levels for `jobs` jobs, 1 <= levels, that keep much of the weight: of `tries` random orders in which no job comes
/// before one of higher priority that it conflicts with, each is cut into levels in the best way, and the best result
/// is taken. No conflict is turned around. Conflicts must not form a circle (InputError).
[[nodiscard]] CruxLevels crux_levels(std::size_t jobs, std::span<const CruxConflict> conflicts, int levels, int tries,
                                     std::uint64_t seed);

}  // namespace contend
