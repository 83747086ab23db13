#include "models/federated/federated_loop.hpp"

#include "models/federated/arrival_loop.hpp"
#include "models/federated/compass_loop.hpp"
#include "models/federated/peer_loop.hpp"
#include "models/federated/round_loop.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The bytes that a transfer of so many, which takes `whole`, has sent after `elapsed`.
Bytes sent_after(Bytes bytes, Time elapsed, Time whole) {
  if (elapsed >= whole) return bytes;
  if (elapsed <= Time{}) return Bytes{};
  return Bytes{static_cast<std::int64_t>(Int128{bytes.count()} * elapsed.ns() / whole.ns())};
}

FederatedSpec checked(FederatedSpec spec) {
  spec.check();
  return spec;
}

std::vector<ClientVisit> usual_visits(const FederatedSpec& spec) {
  std::vector<ClientVisit> all;
  if (!spec.devices.empty()) return all;
  for (const Client& client : spec.clients)
    all.push_back({.begin = {},
                   .down = transfer_time(spec.down, client.down),
                   .compute = client.step * client.steps,
                   .up = transfer_time(spec.up, client.up),
                   .down_bytes = spec.down,
                   .up_bytes = spec.up});
  const Time fastest = std::ranges::min_element(all, {}, &ClientVisit::arrival)->arrival();
  if (spec.rule == ClosingRule::round && spec.deadline && !spec.by_link && spec.whole <= 0 && fastest > *spec.deadline)
    throw InputError{{{.key = "deadline",
                       .reason = fmt::format("no client is back by then: the fastest takes {:.6g} s, and rounds close "
                                             "after {:.6g} s",
                                             fastest.to_seconds(), spec.deadline->to_seconds()),
                       .hint = "a later deadline, fewer steps, or a smaller model"}}};
  return all;
}

}  // namespace

Time transfer_time(Bytes bytes, ByteRate rate) {
  if (bytes == Bytes{}) return {};
  return Time::ceil_nanoseconds(bytes.to_double() * 1e9 / rate.bytes_per_second());
}

FederatedLoop::FederatedLoop(FederatedSpec spec)
    : spec_{checked(std::move(spec))},
      roster_{
          spec_.devices.empty() ? spec_.presence : PresenceSpec{}, spec_.clients.size(), {spec_.seed, spec_.stream}},
      usual_{usual_visits(spec_)} {}

FederatedRound FederatedLoop::totals() const {
  FederatedRound sum = open_;
  for (const FederatedRound& each : rounds_) sum += each;
  return sum;
}

Time FederatedLoop::busy(std::size_t /*device*/, Time now) const {
  return served_ - std::max(Time{}, free_ - now);
}

ClientVisit FederatedLoop::visit(ClientNumber client, std::int64_t steps, Time now) const {
  ClientVisit visit = usual_[client];
  visit.begin = now;
  if (steps != spec_.clients[client].steps) visit.compute = spec_.clients[client].step * steps;
  visit.leaves = roster_.leaves(client);
  return visit;
}

void FederatedLoop::settle(const ClientVisit& visit, Time end, bool is_update, std::int64_t clients) {
  const Time since = end - visit.begin;
  const Bytes down = sent_after(visit.down_bytes, since, visit.down);
  const Bytes up = sent_after(visit.up_bytes, since - visit.down - visit.compute, visit.up);
  open_.down += down;
  open_.up += up;
  if (since < visit.down) open_.dropped += down;
  if (is_update) {
    open_.updates += clients;
  } else {
    open_.lost += clients;
    open_.dropped += up;
  }
}

void FederatedLoop::count_age(std::int64_t versions) {
  open_.staleness_sum += versions;
  open_.staleness_max = std::max(open_.staleness_max, versions);
}

void FederatedLoop::close_round(Time end, bool has_version) {
  open_.end = end;
  open_.has_version = has_version;
  versions_ += has_version ? 1 : 0;
  rounds_.push_back(open_);
  open_ = {.begin = end, .end = end};
}

Time FederatedLoop::version_time(std::int64_t updates, Bytes sent, Time now) {
  const Time work = spec_.aggregate + spec_.pair * updates * updates;
  if (!spec_.tree) return work;
  const Time busy = work + tree_time(*spec_.tree, updates, sent);
  return busy + warm_.wait(*spec_.tree, updates, now, busy);
}

Time FederatedLoop::serve(Time from, Time length) {
  free_ = std::max(from, free_) + length;
  served_ += length;
  return free_;
}

void FederatedLoop::stop_server(Time now) {
  warm_ = {};
  served_ -= std::max(Time{}, free_ - now);
  free_ = std::min(free_, now);
}

namespace {

/// Throws InputError about a member of an entry of `federated`.
void need(bool holds, const char* member, std::string what) {
  if (!holds) throw InputError{{{.key = member, .reason = std::move(what)}}};
}

void check_peers(const FederatedSpec& spec) {
  constexpr std::size_t kMostComplete = 5'000;
  const NeighbourRule& peers = spec.peers;
  need(spec.clients.size() >= 2, "clients", "clients that exchange with each other are two at least");
  need(spec.asked == spec.clients.size(), "asked", "without a server nobody asks: all clients take part");
  need(spec.devices.empty(), "packing", "without a server clients run on no device");
  need(
      peers.graph != PeerGraph::complete || spec.clients.size() <= kMostComplete, "peers",
      fmt::format("a complete graph of {} clients has too many links: {} at most", spec.clients.size(), kMostComplete));
  need(peers.links >= 1 &&
           (peers.graph != PeerGraph::attached || peers.links < static_cast<std::int64_t>(spec.clients.size())),
       "peers", fmt::format("a client that comes can't have {} links", peers.links));
  need(peers.exchanges >= 0 && peers.chance >= 0 && peers.chance <= 1 && peers.broken >= 0 && peers.broken <= 1 &&
           peers.latency >= Time{},
       "peers", "a chance isn't between 0 and 1, or a number or time is below 0");
  need(!peers.rate || *peers.rate > 0, "peers", "there are no exchanges: their rate isn't above 0");
  need(spec.rule == ClosingRule::gossip || peers.rate || peers.graph != PeerGraph::attached, "peers",
       "rate is missing: exchanges in the mean time of a step, for which there are formulas for rings and complete "
       "graphs only");
}

void check_rule(const FederatedSpec& spec) {
  switch (spec.rule) {
    case ClosingRule::round:
      need(std::max(spec.first, spec.least) <= spec.asked, "first",
           fmt::format("a round never has {} updates: {} clients are asked", std::max(spec.first, spec.least),
                       spec.asked));
      need(!spec.deadline || *spec.deadline > Time{}, "deadline", "a round has no time");
      need(!spec.by_link || (*spec.by_link > 0 && *spec.by_link <= 1), "by_link", "a ratio isn't between 0 and 1");
      return need(!spec.stalest, "stalest", "updates of rounds are never stale");
    case ClosingRule::buffer:
      return need(spec.buffer >= 1 && spec.buffer <= spec.asked, "buffer",
                  fmt::format("{} updates never come together: {} clients work at once", spec.buffer, spec.asked));
    case ClosingRule::window:
      return need(spec.window > Time{}, "window", "a window has no time");
    case ClosingRule::gossip:
    case ClosingRule::clocks:
      return check_peers(spec);
    case ClosingRule::compass:
      need(spec.compass.least >= 1 && spec.compass.least <= spec.compass.most, "compass",
           "the least steps aren't between 1 and the most");
      need(spec.compass.latest >= 1, "compass", "latest is below 1, before a group is expected");
      return need(spec.compass.momentum >= 0 && spec.compass.momentum <= 1, "compass",
                  "a weight isn't between 0 and 1");
  }
}

void check_clients(const FederatedSpec& spec) {
  const bool is_packed = !spec.devices.empty();
  for (const Client& client : spec.clients) {
    const auto number = &client - spec.clients.data();
    need(client.steps >= 1, "clients", fmt::format("client {} has no local steps", number));
    if (is_packed) continue;
    need(client.step > Time{}, "clients", fmt::format("client {} has no speed: its step takes no time", number));
    const bool sends_whole = spec.whole > 0 && spec.whole_bytes > Bytes{};
    need(((spec.down == Bytes{} && !sends_whole) || client.down.bytes_per_second() > 0) &&
             ((spec.up == Bytes{} && !sends_whole) || client.up.bytes_per_second() > 0),
         "clients", fmt::format("the link of client {} has no rate", number));
  }
  if (!is_packed) return;
  need(spec.rule == ClosingRule::round && spec.first == 0 && !spec.by_link, "packing",
       "a device sends one sum for all clients that it runs, in rounds that wait for all");
  need(spec.device_rate.bytes_per_second() > 0 || (spec.down == Bytes{} && spec.up == Bytes{}), "packing",
       "the link of the devices has no rate");
}

}  // namespace

void FederatedSpec::check() const {
  need(!clients.empty(), "clients", "there are no clients");
  need(rounds >= 1, "rounds", "there are no rounds");
  need(asked >= 1 && asked <= clients.size(), "asked",
       fmt::format("{} clients can't be asked: there are {}", asked, clients.size()));
  need(down >= Bytes{} && up >= Bytes{}, "model", "a payload is below 0");
  need(aggregate >= Time{} && stale >= Time{} && pair >= Time{}, "aggregate", "a time is below 0");
  if (tree)
    need(tree->fan_in >= 2 && tree->per_node >= 1, "tree",
         "aggregators add up at least 2 updates, and nodes have at least one of them");
  need(anchors.share >= 0 && anchors.share <= 1 && anchors.steps >= 1, "anchors",
       "a share isn't between 0 and 1, or an anchor has no steps");
  need(whole >= 0 && whole <= 1 && whole_bytes >= Bytes{} && (whole == 0 || devices.empty()), "whole",
       "a chance isn't between 0 and 1, or devices send the whole model by chance");
  check_rule(*this);
  check_clients(*this);
}

std::unique_ptr<FederatedLoop> federated_loop(FederatedSpec spec) {
  switch (spec.rule) {
    case ClosingRule::round:
      return std::make_unique<RoundLoop>(std::move(spec));
    case ClosingRule::buffer:
    case ClosingRule::window:
      return std::make_unique<ArrivalLoop>(std::move(spec));
    case ClosingRule::gossip:
      return std::make_unique<GossipLoop>(std::move(spec));
    case ClosingRule::clocks:
      return std::make_unique<ClockLoop>(std::move(spec));
    case ClosingRule::compass:
      break;
  }
  return std::make_unique<CompassLoop>(std::move(spec));
}

}  // namespace contend
