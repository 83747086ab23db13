#include "models/federated/peer_loop.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Each client that comes takes different ones of the ends of all links so far, so that links attract links.
std::vector<PeerLink> attached_links(std::int64_t links, std::size_t clients, RandomStream& draws) {
  std::vector<PeerLink> all;
  std::vector<ClientNumber> ends, chosen;
  const auto add = [&](std::size_t a, std::size_t b) {
    all.emplace_back(static_cast<ClientNumber>(a), static_cast<ClientNumber>(b));
    ends.insert(ends.end(), {all.back().first, all.back().second});
  };
  const auto first = std::min(static_cast<std::size_t>(links) + 1, clients);
  for (std::size_t b = 1; b < first; ++b)
    for (std::size_t a = 0; a < b; ++a) add(a, b);
  for (std::size_t b = first; b < clients; ++b) {
    chosen.clear();
    while (std::ssize(chosen) < links) {
      const ClientNumber a = ends[static_cast<std::size_t>(draws.uniform_integer(0, std::ssize(ends) - 1))];
      if (std::ranges::find(chosen, a) == chosen.end()) chosen.push_back(a);
    }
    for (const ClientNumber a : chosen) add(a, b);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::vector<PeerLink> peer_links(const NeighbourRule& rule, std::size_t clients, RandomStream draws) {
  if (rule.graph == PeerGraph::attached) return attached_links(rule.links, clients, draws);
  std::vector<PeerLink> all;
  for (std::size_t a = 0; a < clients; ++a) {
    const std::size_t end = rule.graph == PeerGraph::complete ? clients : std::min(a + 2, clients);
    for (std::size_t b = a + 1; b < end; ++b)
      all.emplace_back(static_cast<ClientNumber>(a), static_cast<ClientNumber>(b));
  }
  if (rule.graph == PeerGraph::ring && clients > 2) all.emplace_back(0, static_cast<ClientNumber>(clients - 1));
  std::ranges::sort(all);
  return all;
}

double exchange_rate(PeerGraph graph, std::size_t clients) {
  const auto n = static_cast<double>(clients);
  if (graph == PeerGraph::attached) return 0;
  const double half = (n - 1) / 2;
  const bool is_ring = graph == PeerGraph::ring && clients > 2;
  const double chi1 = is_ring ? n / (2 - 2 * std::cos(2 * std::numbers::pi / n)) : half;
  constexpr double kKept = 1e9;  // digits on which all C libraries agree
  return std::round(std::sqrt(2 * chi1 * half) * kKept) / kKept;
}

GossipLoop::GossipLoop(FederatedSpec spec)
    : FederatedLoop{std::move(spec)},
      links_{peer_links(this->spec().peers, this->spec().clients.size(),
                        {this->spec().seed, this->spec().stream + "/graph"})},
      peers_(this->spec().clients.size()),
      draws_{this->spec().seed, this->spec().stream + "/links"} {}

void GossipLoop::resume(Time now) {
  open_round().begin = now;
  for (Peer& peer : peers_) peer.begins = std::max(peer.begins, now);
  is_on_ = true;
  begin_round(now);
}

void GossipLoop::lose(Time /*now*/) {
  open_round().asked += round_.asked;
  open_round().lost += round_.asked;
  for (Peer& peer : peers_) peer.begins = peer.began;
  is_on_ = false;
}

void GossipLoop::advance(Time now) {
  open_round() += round_;
  close_round(now, round_.updates > 0);
  if (!is_over()) begin_round(now);
}

void GossipLoop::begin_round(Time now) {
  round_ = {};
  close_ = now;  // rounds close in order
  while (!compute()) {
  }
  const bool exchanges = spec().peers.chance >= 1 || draws_.uniform() < spec().peers.chance;
  up_.clear();
  if (exchanges) find_links();
  for (std::int64_t i = 0; i < spec().peers.exchanges && !up_.empty(); ++i) exchange();
  for (const Peer& peer : peers_) close_ = std::max(close_, peer.ready);
  if (spec().peers.merges && std::ssize(rounds()) + 1 == spec().rounds) merge();
  // Who was away goes on with its neighbours.
  for (Peer& peer : peers_)
    if (peer.has_computed) peer.begins = peer.ready;
  std::vector<bool> is_alone(peers_.size(), true);
  for (const auto& [a, b] : links_) {
    Peer &one = peers_[a], &other = peers_[b];
    if (one.has_computed == other.has_computed) continue;
    Peer &away = one.has_computed ? other : one, &there = one.has_computed ? one : other;
    away.begins = std::max(away.begins, there.ready);
    is_alone[one.has_computed ? b : a] = false;
  }
  // Nobody tells a client all of whose neighbours are away, too.
  for (std::size_t p = 0; p < peers_.size(); ++p)
    if (!peers_[p].has_computed && is_alone[p]) peers_[p].begins = std::max(peers_[p].begins, close_);
}

bool GossipLoop::compute() {
  Time comes = Time::never();
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    Peer& peer = peers_[p];
    const auto number = static_cast<ClientNumber>(p);
    const Client& client = spec().clients[p];
    peer.began = peer.begins;
    peer.has_computed = false;
    peer.alive = 0;
    peer.ready = Time{};
    const bool is_there = roster().is_there(number, peer.begins);
    const Time changes = roster().leaves(number);
    if (!is_there) {
      comes = std::min(comes, changes);
      continue;
    }
    ++round_.asked;
    const Time end = peer.begins + client.step * client.steps;
    peer.has_computed = end <= changes;
    if (peer.has_computed) {
      ++round_.updates;
      peer.ready = end;
    } else {
      ++round_.lost;
      peer.begins = changes;
      close_ = std::max(close_, changes);
    }
  }
  if (round_.asked > 0) return true;
  for (Peer& peer : peers_) peer.begins = std::max(peer.begins, comes);
  return false;
}

void GossipLoop::find_links() {
  for (const PeerLink& link : links_) {
    const bool is_up = spec().peers.broken <= 0 || draws_.uniform() >= spec().peers.broken;
    Peer &one = peers_[link.first], &other = peers_[link.second];
    if (!is_up || !one.has_computed || !other.has_computed) continue;
    ++one.alive;
    ++other.alive;
    up_.push_back(link);
  }
}

/// Neighbours have the model of a client when it has sent it to all of them. It is through when it has theirs, and its
/// own link has had the time to receive them.
void GossipLoop::exchange() {
  std::vector<Time> sent(peers_.size()), ready(peers_.size());
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    const Client& client = spec().clients[p];
    const Time out = transfer_time(spec().up, client.up) * peers_[p].alive;
    sent[p] = peers_[p].alive == 0 ? peers_[p].ready : peers_[p].ready + spec().peers.latency + out;
    ready[p] = peers_[p].ready;
  }
  std::vector<Time> through = sent;
  for (const auto& [a, b] : up_) {
    ready[a] = std::max(ready[a], peers_[b].ready);
    ready[b] = std::max(ready[b], peers_[a].ready);
    through[a] = std::max(through[a], sent[b]);
    through[b] = std::max(through[b], sent[a]);
  }
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    if (peers_[p].alive == 0) continue;
    const Time in = transfer_time(spec().up, spec().clients[p].down) * peers_[p].alive;
    peers_[p].ready = std::max(through[p], ready[p] + spec().peers.latency + in);
  }
  round_.up += spec().up * (2 * std::ssize(up_));
}

/// A ring among all that have computed: 2 (m - 1) steps of an m-th of the model each.
void GossipLoop::merge() {
  const std::int64_t m = round_.updates;
  if (m < 2) return;
  ByteRate least{};
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    if (!peers_[p].has_computed) continue;
    const Client& client = spec().clients[p];
    const double rate = std::min(client.up.bytes_per_second(), client.down.bytes_per_second());
    if (least == ByteRate{} || rate < least.bytes_per_second()) least = ByteRate{rate};
  }
  const Time part = transfer_time(Bytes{(spec().up.count() + m - 1) / m}, least);
  close_ += (spec().peers.latency + part) * (2 * (m - 1));
  for (Peer& peer : peers_)
    if (peer.has_computed) peer.ready = close_;
  round_.up += spec().up * (2 * (m - 1));
}

ClockLoop::ClockLoop(FederatedSpec spec)
    : FederatedLoop{std::move(spec)},
      links_{peer_links(this->spec().peers, this->spec().clients.size(),
                        {this->spec().seed, this->spec().stream + "/graph"})},
      free_(this->spec().clients.size()),
      draws_{this->spec().seed, this->spec().stream + "/links"} {
  double steps_per_ns = 0;
  for (std::size_t c = 0; c < free_.size(); ++c) {
    const Client& client = this->spec().clients[c];
    steps_per_ns += 1 / static_cast<double>((client.step * client.steps).ns());
    steps_.emplace_back(this->spec().seed, fmt::format("{}/steps/{}", this->spec().stream, c));
  }
  const double unit_ns = static_cast<double>(free_.size()) / steps_per_ns;
  const NeighbourRule& rule = this->spec().peers;
  gap_ns_ = unit_ns / rule.rate.value_or(exchange_rate(rule.graph, free_.size()));
  unit_ = std::max(Time::nanoseconds(1), Time::nanoseconds(std::llround(unit_ns)));
}

Time ClockLoop::next() const {
  return is_over() || events_.empty() ? Time::never() : std::get<Time>(events_.top());
}

void ClockLoop::step(ClientNumber client, Time now) {
  const Client& its = spec().clients[client];
  const double mean = static_cast<double>((its.step * its.steps).ns());
  events_.emplace(now + Time::ceil_nanoseconds(steps_[client].exponential(mean)), Kind::step, client);
}

Time ClockLoop::length_of(PeerLink link) const {
  const Client &one = spec().clients[link.first], &other = spec().clients[link.second];
  const auto way = [&](ByteRate from, ByteRate to) {
    return transfer_time(spec().up, from.bytes_per_second() < to.bytes_per_second() ? from : to);
  };
  return spec().peers.latency + std::max(way(one.up, other.down), way(other.up, one.down));
}

void ClockLoop::exchange(Time now) {
  events_.emplace(now + Time::ceil_nanoseconds(draws_.exponential(gap_ns_)), Kind::exchange, 0);
  const auto drawn = static_cast<std::size_t>(draws_.uniform_integer(0, std::ssize(links_) - 1));
  const auto& [a, b] = links_[drawn];
  const bool both = roster().is_there(a, now) && roster().is_there(b, now);
  if (!both) {
    ++open_round().lost;
    return;
  }
  free_[a] = free_[b] = std::max({now, free_[a], free_[b]}) + length_of(links_[drawn]);
  events_.emplace(free_[a], Kind::ends, drawn);
}

void ClockLoop::resume(Time now) {
  if (!std::exchange(has_begun_, true)) open_round().begin = now;
  for (std::size_t c = 0; c < free_.size(); ++c) step(static_cast<ClientNumber>(c), now);
  events_.emplace(now + Time::ceil_nanoseconds(draws_.exponential(gap_ns_)), Kind::exchange, 0);
  events_.emplace(now + unit_, Kind::round, 0);
}

void ClockLoop::lose(Time now) {
  for (; !events_.empty(); events_.pop())
    if (std::get<Kind>(events_.top()) == Kind::ends) ++open_round().lost;
  std::ranges::fill(free_, now);
}

void ClockLoop::advance(Time now) {
  while (!is_over() && !events_.empty() && std::get<Time>(events_.top()) == now) {
    const auto [at, kind, id] = events_.top();
    events_.pop();
    switch (kind) {
      case Kind::step:
        if (roster().is_there(static_cast<ClientNumber>(id), now)) ++open_round().asked;
        step(static_cast<ClientNumber>(id), now);
        break;
      case Kind::exchange:
        exchange(now);
        break;
      case Kind::ends:
        ++open_round().updates;
        open_round().up += spec().up * 2;
        break;
      case Kind::round:
        events_.emplace(now + unit_, Kind::round, 0);
        close_round(now, open_round().updates > 0);
        break;
    }
  }
}

}  // namespace contend
