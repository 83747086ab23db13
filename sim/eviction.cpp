#include "sim/eviction.hpp"

#include "sim/check.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace contend {

namespace {

/// The GPU time that preempting the running job now costs.
GpuTime loss_of(const EngineState& state, const JobRun& run) {
  return run.body->undone(run) + GpuTime{state.costs_of(run).restart, run.width};
}

}  // namespace

bool Eviction::Unit::is_cheaper(const Unit& other) const {
  return std::tuple{lost, gpus, last, server} < std::tuple{other.lost, other.gpus, other.last, other.server};
}

/// Lists the candidates that hold GPUs which the job could use, and the room on their servers once they have left.
void Eviction::survey(std::span<const JobId> candidates, const JobSpec& job) {
  candidates_.clear();
  shares_.clear();
  shares_by_server_.clear();
  touched_.clear();
  units_.clear();
  units_used_ = 0;
  room_.resize(state_.servers(), kUntouched);
  share_at_.resize(state_.servers());
  const ServerRange usable = state_.capacity.servers_of(job.vc, type_);
  for (const JobId id : candidates) {
    const auto candidate = static_cast<std::uint32_t>(candidates_.size());
    const std::size_t before = shares_.size();
    for (const GpuId gpu : state_.run(id).gpus) {
      const ServerId server = state_.server_of(gpu);
      if (!usable.contains(server)) continue;
      // The GPUs of a job need not be in the order of their servers.
      std::uint32_t& at = share_at_[server.index()];
      if (at < before || at >= shares_.size() || shares_[at].server != server) {
        at = static_cast<std::uint32_t>(shares_.size());
        shares_.push_back({server, candidate, 0, 0});
      }
      ++shares_[at].gpus;
      int& room = room_[server.index()];
      if (room == kUntouched) {
        room = state_.free_gpus(server);
        touched_.push_back(server);
      }
      ++room;
    }
    if (shares_.size() > before) candidates_.push_back({id, {}, 0});
  }
}

/// False if the placement policy certainly has no place for the job, even without all candidates.
bool Eviction::may_suffice(JobId job) const {
  const int per_server = gpus_per_server(state_.spec, type_);
  const JobView view = state_.view_on(job, type_);
  const RoomNeeded needed = state_.policies.placement->room_needed(view, per_server);
  const ServerRange usable = state_.servers_for(view);
  const auto servers_with = [&](int room, int wanted) {
    int found = 0;
    for (const ServerId server : touched_) found += room_[server.index()] >= room ? 1 : 0;
    for (int free = room; free <= per_server; ++free) {
      for (ServerId at = state_.next_server(free, ServerId{usable.first});
           found < wanted && at.valid() && usable.contains(at);
           at = state_.next_server(free, ServerId{at.value() + 1})) {
        found += room_[at.index()] == kUntouched ? 1 : 0;
      }
    }
    return found >= wanted;
  };
  return servers_with(per_server, needed.whole_servers) &&
         (needed.rest == 0 || servers_with(needed.rest, needed.whole_servers + 1));
}

/// Adds the servers whose room is enough for as much of the gang as a server can hold, or those whose room is not.
void Eviction::price(int gpus, bool with_enough_room) {
  if (shares_by_server_.empty()) sort_shares();
  const int needed = std::min(gpus, gpus_per_server(state_.spec, type_));
  sorted_units_ = units_.size();
  for (std::size_t from = 0; from < shares_by_server_.size();) {
    const ServerId server = shares_by_server_[from].server;
    std::size_t to = from;
    while (to < shares_by_server_.size() && shares_by_server_[to].server == server) ++to;
    const auto first = shares_by_server_.begin() + static_cast<std::ptrdiff_t>(from);
    auto last = shares_by_server_.begin() + static_cast<std::ptrdiff_t>(to);
    Unit unit{.server = server, .first = from};
    from = to;
    if ((room_[server.index()] >= needed) != with_enough_room) continue;
    std::sort(first, last, [](const Share& a, const Share& b) {
      return std::tie(a.price, a.candidate) < std::tie(b.price, b.candidate);
    });
    int room = state_.free_gpus(server);
    auto end = first;
    while (end != last && room < needed) room += (end++)->gpus;
    // The dearest stay if it is enough without them.
    last =
        std::stable_partition(std::make_reverse_iterator(end), std::make_reverse_iterator(first), [&](const Share& s) {
          const bool stays = room - s.gpus >= needed;
          if (stays) room -= s.gpus;
          return stays;
        }).base();
    if (last == first) continue;
    unit.size = static_cast<std::size_t>(last - first);
    for (auto share = first; share != last; ++share) {
      unit.lost += candidates_[share->candidate].lost;
      unit.gpus += state_.run(candidates_[share->candidate].job).width;
      unit.last = std::max(unit.last, share->candidate);
    }
    units_.push_back(unit);
  }
}

/// Groups the shares by server and prices them.
void Eviction::sort_shares() {
  std::vector<std::uint32_t>& next = share_at_;
  for (const ServerId server : touched_) next[server.index()] = 0;
  for (const Share& share : shares_) ++next[share.server.index()];
  std::uint32_t sum = 0;
  for (const ServerId server : touched_) sum += std::exchange(next[server.index()], sum);
  for (Candidate& candidate : candidates_) candidate.lost = loss_of(state_, state_.run(candidate.job));
  shares_by_server_.resize(shares_.size());
  for (const Share& share : shares_) {
    const Candidate& candidate = candidates_[share.candidate];
    const int gpus = state_.run(candidate.job).width;
    Share& sorted = shares_by_server_[next[share.server.index()]++];
    sorted = share;
    sorted.price = (candidate.lost.to_seconds() + kSecondsForEachGpu * gpus) / share.gpus;
  }
}

void Eviction::give_back(const Candidate& candidate, bool take) {
  const JobRun& run = state_.run(candidate.job);
  const RankDemand rank{*run.spec};
  for (const GpuId gpu : run.gpus) {
    if (state_.is_covered(gpu)) continue;  // it is out of service
    take ? state_.take(gpu, rank) : state_.give_back(gpu, rank);
  }
  const auto width = static_cast<int>(run.gpus.size());
  state_.capacity.use_quota(run.spec->vc, take ? width : -width);
  take ? state_.show(candidate.job) : state_.hide(candidate.job);
}

void Eviction::send_away(std::uint32_t index) {
  if (candidates_[index].away_for++ == 0) give_back(candidates_[index], false);
}

void Eviction::bring_back(std::uint32_t index) {
  if (--candidates_[index].away_for == 0) give_back(candidates_[index], true);
}

/// Empties the `count` cheapest servers.
void Eviction::use_units(std::size_t count) {
  if (count > sorted_units_) {
    const auto at = [this](std::size_t i) { return units_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::partial_sort(at(sorted_units_), at(count), units_.end(),
                      [](const Unit& a, const Unit& b) { return a.is_cheaper(b); });
    sorted_units_ = count;
  }
  const auto for_each_leaving = [this](const Unit& unit, auto&& act) {
    for (std::size_t i = unit.first; i < unit.first + unit.size; ++i) act(shares_by_server_[i].candidate);
  };
  for (; units_used_ < count; ++units_used_) {
    for_each_leaving(units_[units_used_], [this](std::uint32_t candidate) { send_away(candidate); });
  }
  for (; units_used_ > count; --units_used_) {
    for_each_leaving(units_[units_used_ - 1], [this](std::uint32_t candidate) { bring_back(candidate); });
  }
}

bool Eviction::finds_place(JobId job, std::vector<GpuId>& chosen) {
  chosen.clear();
  const JobRun& run = state_.run(job);
  if (run.width > state_.capacity.quota_left(run.spec->vc)) return false;
  state_.policies.ask_placement(
      [&](PlacementPolicy& policy) { policy.place(state_, state_.view_on(job, type_), chosen); });
  return !chosen.empty();
}

void Eviction::keep_who_need_not_leave(JobId job, std::vector<GpuId>& chosen) {
  if (!finds_place(job, chosen)) return;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].away_for > 0) order.push_back(i);
  }
  const auto holds_chosen = [&](std::uint32_t i) {
    const std::vector<GpuId>& held = state_.run(candidates_[i].job).gpus;
    return std::any_of(held.begin(), held.end(),
                       [&](GpuId gpu) { return std::find(chosen.begin(), chosen.end(), gpu) != chosen.end(); });
  };
  // Most of those that have left for nothing hold none of the chosen GPUs.
  std::vector<std::uint32_t> spare = order;
  std::erase_if(spare, holds_chosen);
  for (const std::uint32_t i : spare) bring_back(i);
  if (std::vector<GpuId> other; finds_place(job, other)) {
    std::erase_if(order, [this](std::uint32_t i) { return candidates_[i].away_for == 0; });
  } else {  // they held a quota, CPUs or memory
    for (const std::uint32_t i : spare) send_away(i);
  }
  const auto is_dearer = [this](std::uint32_t a, std::uint32_t b) {
    const auto gpus_of = [this](std::uint32_t i) { return state_.run(candidates_[i].job).width; };
    return std::tuple{candidates_[b].lost, gpus_of(b), b} < std::tuple{candidates_[a].lost, gpus_of(a), a};
  };
  std::sort(order.begin(), order.end(), is_dearer);
  for (const std::uint32_t i : order) {
    bring_back(i);
    if (!finds_place(job, chosen)) send_away(i);
  }
}

/// Empties servers, from the cheapest on and the fewest, until the job has a place.
bool Eviction::empty_servers(JobId job, std::vector<GpuId>& chosen) {
  std::size_t too_few = units_used_, enough = 0;
  std::size_t step = 1 + static_cast<std::size_t>((state_.run(job).width - 1) / gpus_per_server(state_.spec, type_));
  for (;; step *= 2) {
    if (too_few == units_.size()) return false;
    enough = std::min(too_few + step, units_.size());
    use_units(enough);
    if (finds_place(job, chosen)) break;
    too_few = enough;
  }
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    use_units(middle);
    (finds_place(job, chosen) ? enough : too_few) = middle;
  }
  use_units(enough);
  return true;
}

bool Eviction::empty_all(JobId job, std::vector<GpuId>& chosen) {
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].away_for == 0) send_away(i);
  }
  return finds_place(job, chosen);
}

bool Eviction::choose(JobId job, std::int32_t type, std::span<const JobId> candidates, std::vector<JobId>& victims,
                      std::vector<GpuId>& chosen) {
  victims.clear();
  type_ = type;
  const JobSpec& spec = *state_.run(job).spec;
  survey(candidates, spec);
  bool found = false;
  if (!candidates_.empty() && may_suffice(job)) {
    price(state_.run(job).width, true);
    found = empty_servers(job, chosen);
    if (!found) {
      price(state_.run(job).width, false);
      found = empty_servers(job, chosen) || empty_all(job, chosen);
    }
    for (Candidate& each : candidates_) each.away_for = std::min(each.away_for, 1);
    if (found) {
      keep_who_need_not_leave(job, chosen);
      found = finds_place(job, chosen);
    }
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].away_for == 0) continue;
      if (found) victims.push_back(candidates_[i].job);
      bring_back(i);
    }
    CONTEND_DCHECK(state_.away.empty(), "all candidates are back");
  }
  for (const ServerId server : touched_) room_[server.index()] = kUntouched;
  return found;
}

}  // namespace contend
