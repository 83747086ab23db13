#include "sim/levels.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

/// The room of each domain of a level, and of each domain of `inner` beside the domain of `level` in which it lies.
struct InnerRoom {
  std::uint32_t outer = 0;
  std::int64_t ranks = 0;
};

std::vector<InnerRoom> inner_rooms(const LevelTree& levels, std::size_t level, std::size_t inner,
                                   std::span<const int> rooms) {
  std::vector<InnerRoom> found(levels.domains(inner));
  for (std::size_t s = 0; s < rooms.size(); ++s) {
    InnerRoom& domain = found[levels.domain_of(inner, s)];
    domain.outer = levels.domain_of(level, s);
    domain.ranks += rooms[s];
  }
  return found;
}

std::size_t level_or_cluster(const LevelTree& levels, int level) {
  return level < 0 ? levels.all.size() : static_cast<std::size_t>(level);
}

}  // namespace

std::size_t Level::domains() const {
  return domain.empty() ? 0 : std::size_t{1} + *std::ranges::max_element(domain);
}

bool has_room(const LevelTree& levels, const LevelDemand& demand, int ranks, std::span<const int> rooms) {
  const std::size_t outer = level_or_cluster(levels, demand.required);
  const bool has_segments = demand.segment > 0;
  const std::size_t inner = has_segments ? level_or_cluster(levels, demand.segment_level) : outer;
  const std::int64_t size = has_segments ? std::min(demand.segment, ranks) : ranks;
  const std::int64_t segments = ranks / size, rest = ranks % size;
  struct Room {
    std::int64_t segments = 0;
    std::int64_t most_left = 0;  // beside whole segments
  };
  std::vector<Room> found(levels.domains(outer));
  // A segment may be larger than what a job has to lie in; both then hold in the smaller one.
  for (const InnerRoom& each : inner_rooms(levels, outer, std::min(inner, outer), rooms)) {
    Room& room = found[each.outer];
    room.segments += each.ranks / size;
    room.most_left = std::max(room.most_left, each.ranks % size);
  }
  return std::ranges::any_of(found, [&](const Room& room) {
    return room.segments > segments || (room.segments == segments && room.most_left >= rest);
  });
}

std::int64_t largest_room(const LevelTree& levels, std::size_t level, std::span<const int> rooms) {
  std::int64_t most = 0;
  for (const InnerRoom& each : inner_rooms(levels, level, level, rooms)) most = std::max(most, each.ranks);
  return most;
}

bool lies_right(const LevelTree& levels, const LevelDemand& demand, std::span<const ServerId> servers) {
  const auto is_within = [&](std::span<const ServerId> ranks, int level) {
    if (level < 0) return true;
    const std::vector<std::uint32_t>& domain = levels.all[static_cast<std::size_t>(level)].domain;
    return std::ranges::all_of(ranks,
                               [&](ServerId rank) { return domain[rank.index()] == domain[ranks.front().index()]; });
  };
  if (servers.empty()) return true;
  if (!is_within(servers, demand.required)) return false;
  if (demand.segment == 0) return true;
  const auto size = static_cast<std::size_t>(demand.segment);
  for (std::size_t first = 0; first < servers.size(); first += size)
    if (!is_within(servers.subspan(first, std::min(size, servers.size() - first)), demand.segment_level)) return false;
  return true;
}

}  // namespace contend
