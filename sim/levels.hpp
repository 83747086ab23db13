#pragma once
// Levels above the servers: racks, blocks, NVLink domains. Each level divides the servers into domains, and a domain of
// a level lies in one domain of the next one. Jobs may have to lie in one domain.

#include "sim/ids.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A level of the tree.
struct Level {
  std::string name;                   ///< unique, of one domain: `rack`
  std::vector<std::uint32_t> domain;  ///< by server; numbered from 0 in order of their first servers
  [[nodiscard]] std::size_t domains() const;
  bool operator==(const Level&) const = default;
};

/// What a job wants of the levels, by index into LevelTree::all; -1: nothing.
struct LevelDemand {
  int required = -1;       ///< all its ranks lie in one domain of this level
  int preferred = -1;      ///< they do if there is room; else in one of a higher level, as low as possible
  int segment = 0;         ///< ranks in groups of so many, in their order, the last of which may be smaller; 0: none
  int segment_level = -1;  ///< each group lies in one domain of this level
  bool operator==(const LevelDemand&) const = default;
};

struct LevelTree {
  std::vector<Level> all;            ///< from the lowest up
  std::vector<LevelDemand> demands;  ///< of JobSpec::level
  /// The domain of a server; of the level beyond the last, which is the cluster, 0.
  [[nodiscard]] std::uint32_t domain_of(std::size_t level, std::size_t server) const {
    return level < all.size() ? all[level].domain[server] : 0;
  }
  [[nodiscard]] std::size_t domains(std::size_t level) const { return level < all.size() ? all[level].domains() : 1; }
  [[nodiscard]] const LevelDemand& demand(std::int32_t index) const { return demands[static_cast<std::size_t>(index)]; }
};

/// True if a job of so many ranks has room in the number of ranks that each server can take: in one domain of the level
/// that it requires, and there for each of its segments in one domain of their level.
[[nodiscard]] bool has_room(const LevelTree& levels, const LevelDemand& demand, int ranks, std::span<const int> rooms);
/// The most ranks that a domain of the level can take.
[[nodiscard]] std::int64_t largest_room(const LevelTree& levels, std::size_t level, std::span<const int> rooms);
/// False if ranks on these servers, in their order, don't lie as they have to.
[[nodiscard]] bool lies_right(const LevelTree& levels, const LevelDemand& demand, std::span<const ServerId> servers);

}  // namespace contend
