#include "sim/load_order.hpp"

#include "sim/engine_state.hpp"
#include "sim/fetch.hpp"

#include <tuple>
#include <utility>

namespace contend {

namespace {

constexpr std::size_t kAhead = 8;  // cells that are fetched while others are looked at

/// A load below which the GPUs of the cell won't fall until it is noted again.
Time bound_of(const EngineState& state, CellId id) {
  Time load = state.away.empty() ? state.loads[id.index()].on_each_of(1) : state.load_of_graph_jobs(id);
  if (!state.options.leap) return load;  // there are no chains, and cells need not be looked at
  const Cell& cell = state.cells[id.index()];
  if (cell.busy && cell.chained) load -= cell.end - cell.started;
  return load;
}

}  // namespace

void LoadOrder::bound_cell(const EngineState& state, CellId id) {
  const Time bound = bound_of(state, id);
  const auto set = [&](GpuId gpu) {
    bounds_[gpu.index()] = bound;
    const std::size_t server = state.server_of(gpu).index();
    if (is_stale_[server] != 0) return;
    is_stale_[server] = 1;
    stale_.push_back(static_cast<std::uint32_t>(server));
  };
  if (!state.fold) return set(GpuId{id.index()});
  for (const GpuId gpu : state.cells[id.index()].gpus) set(gpu);
}

void LoadOrder::refresh(const EngineState& state) {
  const bool is_first = !tree_;
  if (is_first) {
    tree_.emplace(state.servers());
    is_stale_.resize(state.servers());
    room_is_known_.resize(state.servers());
    rooms_.resize(state.gpu.size());
    bounds_.resize(state.gpu.size());
  }
  if (is_first || has_new_demand_) {
    std::fill(room_is_known_.begin(), room_is_known_.end(), std::uint8_t{0});
    for (std::size_t c = 0; c < state.cells.size(); ++c)
      if (!state.cells[c].gpus.empty()) bound_cell(state, CellId{c});
  }
  has_new_demand_ = false;
  const std::vector<CellId>& changed = state.changed_loads;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (state.fold && i + kAhead < changed.size()) {
      const Cell& soon = state.cells[changed[i + kAhead].index()];
      fetch_lines<1>(&soon);
      fetch_lines<1>(&soon.gpus);
    }
    state.load_is_noted[changed[i].index()] = 0;
    bound_cell(state, changed[i]);
  }
  state.changed_loads.clear();
  const auto per_server = static_cast<std::size_t>(state.spec.gpus_per_server);
  for (const std::uint32_t server : stale_) {
    if (room_is_known_[server] == 0) find_rooms(state, server);
    LoadBounds bounds;
    Time sum;
    for (std::size_t g = server * per_server; g < (server + 1) * per_server; ++g) {
      sum += bounds_[g];
      const float load = LoadBounds::of(bounds_[g]);
      bounds.gpu[LoadBounds::kAny] = std::min(bounds.gpu[LoadBounds::kAny], load);
      for (std::size_t d = 0; d < demands_.size(); ++d)
        if ((rooms_[g] >> d & 1) != 0) bounds.gpu[d] = std::min(bounds.gpu[d], load);
    }
    for (std::size_t d = 0; d <= LoadBounds::kDemands; ++d)
      if (bounds.gpu[d] < LoadBounds::kNone) bounds.server[d] = LoadBounds::of(sum);
    tree_->set(server, bounds);
    is_stale_[server] = 0;
  }
  stale_.clear();
}

void LoadOrder::find_rooms(const EngineState& state, std::size_t server) {
  const auto per_server = static_cast<std::size_t>(state.spec.gpus_per_server);
  for (std::size_t g = server * per_server; g < (server + 1) * per_server; ++g) {
    unsigned fitting = 0;
    for (std::size_t d = 0; d < demands_.size(); ++d)
      fitting |= unsigned{state.capacity.fits(GpuId{g}, demands_[d])} << d;
    rooms_[g] = static_cast<std::uint8_t>(fitting);
  }
  room_is_known_[server] = 1;
}

std::size_t LoadOrder::number_of(const RankDemand& rank) {
  const auto known = std::find(demands_.begin(), demands_.end(), rank);
  const auto number = static_cast<std::size_t>(known - demands_.begin());
  if (known != demands_.end() || number == LoadBounds::kDemands) return number;
  demands_.push_back(rank);
  has_new_demand_ = true;
  return number;
}

template <class List, class Take>
void LoadOrder::search(const EngineState& state, const JobView& job, LoadBounds::Bounds LoadBounds::*bounds,
                       std::size_t ids_per_server, const List& list, const Take& take) {
  const RankDemand rank{job};
  const std::size_t demand = number_of(rank);
  refresh(state);
  const ServerRange usable = state.servers_for(job);
  const ServerTree<ServerRoom>* const rooms = demand == LoadBounds::kAny ? &state.capacity.rooms() : nullptr;
  const auto goes_later = [](const Entry& a, const Entry& b) {
    return std::tuple{a.load, a.first, a.node == 0} > std::tuple{b.load, b.first, b.node == 0};
  };
  const auto push = [&](const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), goes_later);
  };
  const auto may_hold = [&](std::size_t node, std::size_t first, std::size_t count) {
    if (first >= usable.last || first + count <= usable.first) return false;
    return rooms == nullptr ? tree_->at(node).gpu[demand] < LoadBounds::kNone : rooms->at(node).may_fit(rank);
  };
  const auto entry_of = [&](std::size_t node, std::size_t first) {
    return Entry{LoadBounds::load_of((tree_->at(node).*bounds)[demand]), first * ids_per_server, node};
  };
  heap_.clear();
  if (may_hold(1, 0, tree_->size_of(1))) push(entry_of(1, 0));
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), goes_later);
    Entry entry = heap_.back();
    heap_.pop_back();
    // One of the children has the bound of the node and mostly goes next, so only the other one has to wait.
    std::size_t count = entry.node == 0 ? 1 : tree_->size_of(entry.node);  // servers below
    for (count /= 2; count > 0; count /= 2) {
      const std::size_t left = 2 * entry.node, first = entry.first / ids_per_server;
      const bool has_left = may_hold(left, first, count), has_right = may_hold(left + 1, first + count, count);
      if (!has_left && !has_right) break;  // a server below has room, but not one that the job may use
      entry = has_left ? entry_of(left, first) : entry_of(left + 1, first + count);
      if (!has_left || !has_right) continue;
      Entry other = entry_of(left + 1, first + count);
      if (goes_later(entry, other)) std::swap(entry, other);
      push(other);
    }
    if (entry.node != 0 && !tree_->is_server(entry.node)) continue;
    if (!heap_.empty() && goes_later(entry, heap_.front())) {
      push(entry);
    } else if (entry.node == 0) {
      if (!take(entry.first)) return;
    } else {
      list(ServerId{tree_->first_of(entry.node)}, [&](Time load, std::size_t id) { push({load, id, 0}); });
    }
  }
}

void LoadOrder::gpus(const EngineState& state, const JobView& job, std::size_t count, std::vector<GpuId>& chosen) {
  const auto list = [&](ServerId server, const auto& push) {
    found_.clear();
    state.gpus_with_room(server, job, found_);
    for (const GpuId gpu : found_) push(state.load(gpu), gpu.index());
  };
  const std::size_t end = chosen.size() + count;
  if (count == 0) return;
  search(state, job, &LoadBounds::gpu, static_cast<std::size_t>(state.spec.gpus_per_server), list,
         [&](std::size_t gpu) {
           chosen.emplace_back(gpu);
           return chosen.size() < end;
         });
}

void LoadOrder::servers(const EngineState& state, const JobView& job, std::size_t ranks,
                        std::vector<ServerId>& chosen) {
  const auto list = [&](ServerId server, const auto& push) {
    found_.clear();
    state.gpus_with_room(server, job, found_);
    if (!found_.empty()) push(state.load_of_server(server), server.index());
  };
  std::vector<GpuId> with_room;
  if (ranks == 0) return;
  search(state, job, &LoadBounds::server, 1, list, [&](std::size_t server) {
    chosen.emplace_back(server);
    state.gpus_with_room(ServerId{server}, job, with_room);
    return with_room.size() < ranks;
  });
}

}  // namespace contend
