#pragma once
// The points of a search as coordinates for a Gaussian process, and the points with which the search begins.

#include "scenarios/sweep/sweep_store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The points of a sweep in a cube, in which each parameter that varies has one or more coordinates.
struct TuneSpace {
  /// By point: for a parameter with numbers one coordinate in [0, 1], the rank of its number among all; for each word
  /// of a parameter, and for its absence, a coordinate of its own, so that two words are as far apart as the ends of a
  /// range. A point without a number has the middle rank.
  std::vector<std::vector<double>> places;
  std::vector<std::size_t> key_of;  ///< by coordinate: the number of its key
  struct Key {
    std::string name;                         ///< of the parameter
    std::vector<std::vector<double>> levels;  ///< its coordinates for each of its values
  };
  std::vector<Key> keys;  ///< the parameters that vary
};

[[nodiscard]] TuneSpace tune_space(const StoreInfo& info, std::span<const StorePoint> points);

/// So many points that spread over the space: each is the one nearest to a scrambled Sobol point that is not taken yet.
/// Another `start` gives others. At most as many as there are; not in any order.
[[nodiscard]] std::vector<std::size_t> first_points(const TuneSpace& space, std::size_t count, std::uint64_t start);

}  // namespace contend
