#pragma once
// LoadOrder finds the least loaded GPUs and servers without looking at all of them. It keeps lower bounds of the loads
// in a tree over the servers and computes loads only where a bound is small enough to matter. The engine notes the
// cells whose load changes (EngineState::change_load), and a search first brings the bounds on their servers up to
// date. The ranks of most jobs demand one of few amounts of memory, so there are bounds for each of the first few
// demands; for others, what has room is found by a tree of rooms.
//
// Some loads fall with time alone. The bound of a GPU that runs a chain of tasks is its load at the end of the chain,
// and timed jobs don't count, so that the bounds hold until the next note.

#include "sim/cluster.hpp"
#include "sim/execution.hpp"
#include "sim/fetch.hpp"
#include "sim/ids.hpp"
#include "sim/server_tree.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace contend {

struct EngineState;
struct JobView;

/// Lower bounds of the loads of some servers and of their GPUs, in nanoseconds: infinity if there is none. As narrow
/// numbers, of which a node of the tree fills one line of memory and the processor joins several at once.
struct alignas(kCacheLine) LoadBounds {
  static constexpr std::size_t kDemands = 7;
  static constexpr std::size_t kAny = kDemands;  ///< in place of a demand: with or without room
  static constexpr float kNone = std::numeric_limits<float>::infinity();
  using Bounds = std::array<float, kDemands + 1>;

  Bounds gpu = none();     ///< by demand: of GPUs that have room for it
  Bounds server = none();  ///< by demand: of servers that have such a GPU
  bool operator==(const LoadBounds& other) const {
    using Words = std::array<std::uint64_t, sizeof(LoadBounds) / sizeof(std::uint64_t)>;
    const Words mine = std::bit_cast<Words>(*this), theirs = std::bit_cast<Words>(other);
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) differ |= mine[i] ^ theirs[i];
    return differ == 0;
  }
  friend LoadBounds join(const LoadBounds& a, const LoadBounds& b) {
    LoadBounds joined;
    for (std::size_t i = 0; i <= kDemands; ++i) joined.gpu[i] = std::min(a.gpu[i], b.gpu[i]);
    for (std::size_t i = 0; i <= kDemands; ++i) joined.server[i] = std::min(a.server[i], b.server[i]);
    return joined;
  }
  static constexpr Bounds none() {
    Bounds bounds{};
    bounds.fill(kNone);
    return bounds;
  }
  /// A bound of a load, which is less than the load by at most 2^-22 of it.
  static float of(Time load) { return static_cast<float>(load.ns()) * (1 - 0x1p-23F); }
  /// The bound as a load.
  static Time load_of(float bound) {
    return bound < 0x1p63F ? Time::nanoseconds(static_cast<std::int64_t>(bound)) : Time::never();
  }
};

class LoadOrder {
 public:
  /// As ClusterView::least_loaded and ClusterView::least_loaded_servers.
  void gpus(const EngineState& state, const JobView& job, std::size_t count, std::vector<GpuId>& chosen);
  void servers(const EngineState& state, const JobView& job, std::size_t ranks, std::vector<ServerId>& chosen);
  /// Says that jobs hold more or less of a server than before, whose cells are noted, too.
  void note_room(ServerId server) {
    if (!room_is_known_.empty()) room_is_known_[server.index()] = 0;
  }

 private:
  /// Servers below a node of the tree, with a bound of what is least loaded among them; or, if `node` is 0, a GPU or
  /// server with its load. The ids name GPUs or servers, as is sought.
  struct Entry {
    Time load;
    std::size_t first;  // id
    std::size_t node;
  };
  void refresh(const EngineState& state);
  /// Brings the bounds of the GPUs of a cell up to date, and notes their servers as stale.
  void bound_cell(const EngineState& state, CellId id);
  void find_rooms(const EngineState& state, std::size_t server);
  /// Which of the bounds are for this demand; LoadBounds::kAny if none are.
  [[nodiscard]] std::size_t number_of(const RankDemand& rank);
  /// Takes what is sought in order of load, then id, until `take(id)` returns false. `list(server, push)` calls
  /// push(load, id) for all of it on a server, `bounds` are the bounds of its loads.
  template <class List, class Take>
  void search(const EngineState& state, const JobView& job, LoadBounds::Bounds LoadBounds::*bounds,
              std::size_t ids_per_server, const List& list, const Take& take);

  std::optional<ServerTree<LoadBounds>> tree_;
  std::vector<RankDemand> demands_;          // that the bounds are for
  bool has_new_demand_ = false;              // since refresh()
  std::vector<Time> bounds_;                 // by GPU: of its load, but not rounded
  std::vector<std::uint8_t> rooms_;          // by GPU: a bit for each demand for which it has room
  std::vector<std::uint8_t> room_is_known_;  // by server: of its GPUs, in rooms_
  std::vector<std::uint8_t> is_stale_;       // by server; scratch
  std::vector<std::uint32_t> stale_;         // scratch
  std::vector<Entry> heap_;                  // scratch
  std::vector<GpuId> found_;                 // scratch
};

}  // namespace contend
