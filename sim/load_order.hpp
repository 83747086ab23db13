#pragma once
// LoadOrder finds the least loaded GPUs and servers without looking at all of them. It keeps lower bounds of the loads
// in a tree over the servers and computes loads only where a bound is small enough to matter. The engine notes the
// cells whose load changes (EngineState::change_load), and a search first brings the bounds on their servers up to
// date.
//
// Some loads fall with time alone. The bound of a GPU that runs a chain of tasks is its load at the end of the chain,
// and timed jobs don't count, so that the bounds hold until the next note.

#include "sim/ids.hpp"
#include "sim/server_tree.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

struct EngineState;
struct JobView;

/// Lower bounds of the loads of some servers and of their GPUs.
struct LoadBounds {
  Time gpu = Time::never(), server = Time::never();
  bool operator==(const LoadBounds&) const = default;
  friend LoadBounds join(const LoadBounds& a, const LoadBounds& b) {
    return {std::min(a.gpu, b.gpu), std::min(a.server, b.server)};
  }
};

class LoadOrder {
 public:
  /// As ClusterView::least_loaded and ClusterView::least_loaded_servers.
  void gpus(const EngineState& state, const JobView& job, std::size_t count, std::vector<GpuId>& chosen);
  void servers(const EngineState& state, const JobView& job, std::size_t ranks, std::vector<ServerId>& chosen);

 private:
  /// Servers below a node of the tree, with a bound of what is least loaded among them; or, if `node` is 0, a GPU or
  /// server with its load. Ids are those of GPUs or servers, as is sought.
  struct Entry {
    Time load;
    std::size_t first;  // id
    std::size_t node;
  };
  void refresh(const EngineState& state);
  /// Takes what is sought in order of load, then id, until `take(id)` returns false. `list(server, push)` calls
  /// push(load, id) for all of it on a server.
  template <class List, class Take>
  void search(const EngineState& state, const JobView& job, Time LoadBounds::*bound, std::size_t ids_per_server,
              const List& list, const Take& take);

  std::optional<ServerTree<LoadBounds>> tree_;
  std::vector<bool> is_stale_;        // by server; scratch
  std::vector<std::uint32_t> stale_;  // scratch
  std::vector<Entry> heap_;           // scratch
  std::vector<GpuId> found_;          // scratch
};

}  // namespace contend
