#include "policies/scheduling/server_rooms.hpp"

#include <algorithm>
#include <bit>

namespace contend {

/// Returns the first time after `now` at which the order of the two may be another one.
Time ServerRooms::crossing(const Stand& a, const Stand& b, Time now) {
  if (a.kind != Stand::Kind::held || b.kind != Stand::Kind::held || a.at.rate == b.at.rate) return Time::never();
  PolicyKey ahead = a.at.key_at(now) - b.at.key_at(now);
  PolicyKey closing = PolicyKey{a.at.rate} - b.at.rate;  // in each ns
  if (ahead < 0) {
    ahead = -ahead;
    closing = -closing;
  }
  if (ahead == 0) return now + Time::nanoseconds(1);
  if (closing <= 0) return Time::never();
  const PolicyKey wait = (ahead + closing - 1) / closing;
  return wait < Time::never().ns() - now.ns() ? now + Time::nanoseconds(static_cast<std::int64_t>(wait))
                                              : Time::never();
}

ServerRooms::ServerRooms(std::size_t servers, int gpus_per_server, Holders holders)
    : servers_{servers},
      leaves_{std::bit_ceil(servers)},
      per_server_{static_cast<std::size_t>(gpus_per_server)},
      holders_{std::move(holders)},
      is_touched_(servers, true),
      reorders_at_(servers, Time::never()) {
  for (std::uint32_t server = 0; server < servers; ++server) touched_.push_back(server);
}

void ServerRooms::touch(ServerId server) {
  if (is_touched_[server.index()]) return;
  is_touched_[server.index()] = true;
  touched_.push_back(server.value());
}

std::uint32_t ServerRooms::winner(const Tournament& tournament, std::size_t node) const {
  return node >= leaves_ ? static_cast<std::uint32_t>(node - leaves_) : tournament.matches[node].winner;
}

void ServerRooms::play(Tournament& tournament, std::size_t node, Time now) const {
  const std::uint32_t left = winner(tournament, 2 * node), right = winner(tournament, 2 * node + 1);
  const Stand& a = tournament.stands[left];
  const Stand& b = tournament.stands[right];
  Match& match = tournament.matches[node];
  match = {b.is_behind(a, now) ? right : left, crossing(a, b, now)};
  if (2 * node >= leaves_) return;
  match.expires =
      std::min({match.expires, tournament.matches[2 * node].expires, tournament.matches[2 * node + 1].expires});
}

void ServerRooms::play_all_of(Tournament& tournament, std::size_t server, Time now) const {
  for (std::size_t node = (leaves_ + server) / 2; node > 0; node /= 2) {
    const Match before = tournament.matches[node];
    play(tournament, node, now);
    const Match& after = tournament.matches[node];
    if (after.winner == before.winner && after.winner != server && after.expires == before.expires) return;
  }
}

void ServerRooms::play_expired(Tournament& tournament, std::size_t node, Time now) const {
  if (node >= leaves_ || tournament.matches[node].expires > now) return;
  play_expired(tournament, 2 * node, now);
  play_expired(tournament, 2 * node + 1, now);
  play(tournament, node, now);
}

/// Fills `gpus_` with the GPUs of the server, the one that stands furthest back first.
void ServerRooms::survey(std::uint32_t server, Time now) {
  gpus_.clear();
  Time reorders = Time::never();
  for (std::size_t g = server * per_server_; g < (server + 1) * per_server_; ++g) {
    ranks_.clear();
    Stand stand;
    if (holders_(GpuId{g}, ranks_)) {
      stand.kind = Stand::Kind::free;
      // The foremost of its jobs counts.
      for (const MovingRank& rank : ranks_) {
        const Stand other{Stand::Kind::held, rank};
        reorders = std::min(reorders, crossing(stand, other, now));
        if (stand.is_behind(other, now)) stand = other;
      }
    }
    gpus_.push_back(stand);
  }
  std::sort(gpus_.begin(), gpus_.end(), [now](const Stand& a, const Stand& b) { return a.is_behind(b, now); });
  for (std::size_t i = 1; i < gpus_.size(); ++i) reorders = std::min(reorders, crossing(gpus_[i - 1], gpus_[i], now));
  Time& noted = reorders_at_[server];
  if (reorders == noted) return;
  if (noted != Time::never()) reorderings_.erase({noted, server});
  noted = reorders;
  if (noted != Time::never()) reorderings_.emplace(noted, server);
}

void ServerRooms::look_at(std::uint32_t server, Time now) {
  survey(server, now);
  for (auto& [gpus, tournament] : tournaments_) {
    const Stand& stand = gpus_[static_cast<std::size_t>(gpus - 1)];
    if (tournament.stands[server] == stand) continue;
    tournament.stands[server] = stand;
    play_all_of(tournament, server, now);
  }
}

ServerRooms::Tournament& ServerRooms::tournament_for(int gpus, Time now) {
  const auto [at, is_new] = tournaments_.try_emplace(gpus);
  Tournament& tournament = at->second;
  if (!is_new) return tournament;
  tournament.stands.resize(leaves_);
  tournament.matches.resize(leaves_);
  for (std::uint32_t server = 0; server < servers_; ++server) {
    survey(server, now);
    tournament.stands[server] = gpus_[static_cast<std::size_t>(gpus - 1)];
  }
  for (std::size_t node = leaves_; --node > 0;) play(tournament, node, now);
  return tournament;
}

int ServerRooms::count_in(const Tournament& tournament, std::size_t node, const Rank& place, Time now,
                          int enough) const {
  const Stand& best = tournament.stands[winner(tournament, node)];
  const bool counts = best.is_at_or_behind(place, now);
  if (!counts || node >= leaves_) return counts ? 1 : 0;
  int found = count_in(tournament, 2 * node, place, now, enough);
  if (found < enough) found += count_in(tournament, 2 * node + 1, place, now, enough - found);
  return found;
}

const ServerRooms::Tournament& ServerRooms::tournament_at(int gpus, Time now) {
  while (!reorderings_.empty() && reorderings_.begin()->first <= now) {
    const std::uint32_t server = reorderings_.begin()->second;
    reorderings_.erase(reorderings_.begin());
    reorders_at_[server] = Time::never();
    touch(ServerId{server});
  }
  for (const std::uint32_t server : touched_) {
    is_touched_[server] = false;
    look_at(server, now);
  }
  touched_.clear();
  Tournament& tournament = tournament_for(gpus, now);
  play_expired(tournament, 1, now);
  return tournament;
}

int ServerRooms::count(int gpus, const Rank& place, Time now, int enough) {
  return count_in(tournament_at(gpus, now), 1, place, now, enough);
}

std::vector<ServerId> ServerRooms::furthest_back(int gpus, const Rank& place, Time now, std::size_t limit) {
  const Tournament& tournament = tournament_at(gpus, now);
  const auto stand_of = [&](std::size_t node) -> const Stand& { return tournament.stands[winner(tournament, node)]; };
  const auto is_in_front = [&](std::size_t a, std::size_t b) {
    const auto order = stand_of(a).compare(stand_of(b), now);
    return order < 0 || (order == 0 && winner(tournament, a) > winner(tournament, b));
  };
  std::vector<ServerId> servers;
  std::vector<std::size_t> open;  // a heap of nodes whose servers have yet to be looked at
  const auto add = [&](std::size_t node) {
    if (!stand_of(node).is_at_or_behind(place, now)) return;
    open.push_back(node);
    std::push_heap(open.begin(), open.end(), is_in_front);
  };
  add(1);
  while (!open.empty() && servers.size() < limit) {
    std::pop_heap(open.begin(), open.end(), is_in_front);
    std::size_t node = open.back();
    open.pop_back();
    const std::uint32_t server = winner(tournament, node);
    servers.emplace_back(server);
    while (node < leaves_) {  // what the server has beaten comes after it
      node *= 2;
      const bool is_left = winner(tournament, node) == server;
      add(is_left ? node + 1 : node);
      if (!is_left) ++node;
    }
  }
  return servers;
}

}  // namespace contend
