#include "models/federated/federated_loop.hpp"

#include "models/federated/arrival_loop.hpp"
#include "models/federated/compass_loop.hpp"
#include "models/federated/round_loop.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Of a transfer that takes `whole`, what is sent after `elapsed`.
Bytes sent_after(Bytes bytes, Time elapsed, Time whole) {
  if (elapsed >= whole) return bytes;
  if (elapsed <= Time{}) return Bytes{};
  return Bytes{static_cast<std::int64_t>(Int128{bytes.count()} * elapsed.ns() / whole.ns())};
}

Time transfer(Bytes bytes, ByteRate rate) {
  if (bytes == Bytes{}) return {};
  return Time::ceil_nanoseconds(bytes.to_double() * 1e9 / rate.bytes_per_second());
}

FederatedSpec checked(FederatedSpec spec) {
  spec.check();
  return spec;
}

std::vector<Visit> usual_visits(const FederatedSpec& spec) {
  std::vector<Visit> all;
  if (!spec.devices.empty()) return all;
  for (const Client& client : spec.clients)
    all.push_back({.begin = {},
                   .down = transfer(spec.down, client.down),
                   .compute = client.step * client.steps,
                   .up = transfer(spec.up, client.up),
                   .down_bytes = spec.down,
                   .up_bytes = spec.up});
  return all;
}

}  // namespace

void FederatedRound::operator+=(const FederatedRound& other) {
  asked += other.asked;
  updates += other.updates;
  lost += other.lost;
  staleness_sum += other.staleness_sum;
  staleness_max = std::max(staleness_max, other.staleness_max);
  down += other.down;
  up += other.up;
  dropped += other.dropped;
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

Visit FederatedLoop::visit(ClientNumber client, std::int64_t steps, Time now) const {
  Visit visit = usual_[client];
  visit.begin = now;
  if (steps != spec_.clients[client].steps) visit.compute = spec_.clients[client].step * steps;
  visit.leaves = roster_.leaves(client);
  return visit;
}

void FederatedLoop::settle(const Visit& visit, Time end, bool is_update, std::int64_t clients) {
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

Time FederatedLoop::serve(Time from, Time length) {
  free_ = std::max(from, free_) + length;
  served_ += length;
  return free_;
}

void FederatedLoop::stop_server(Time now) {
  served_ -= std::max(Time{}, free_ - now);
  free_ = std::min(free_, now);
}

namespace {

void need(bool holds, const char* what) {
  if (!holds) throw InputError(what);
}

void check_rule(const FederatedSpec& spec) {
  switch (spec.rule) {
    case ClosingRule::round:
      need(!spec.deadline || *spec.deadline > Time{}, "the deadline of a round isn't above 0");
      need(!spec.by_link || (*spec.by_link > 0 && *spec.by_link <= 1), "a ratio by link isn't between 0 and 1");
      need(!spec.stalest, "updates of rounds are never stale");
      return;
    case ClosingRule::buffer:
      if (spec.buffer < 1 || spec.buffer > spec.asked)
        throw InputError(
            fmt::format("a buffer of {} updates never fills: {} clients work at once", spec.buffer, spec.asked));
      return;
    case ClosingRule::window:
      return need(spec.window > Time{}, "a window isn't above 0");
    case ClosingRule::compass:
      need(spec.compass.least >= 1 && spec.compass.least <= spec.compass.most,
           "FedCompass' least steps aren't between 1 and the most");
      need(spec.compass.latest >= 1, "FedCompass' latest is below 1, before groups are expected");
      return need(spec.compass.momentum >= 0 && spec.compass.momentum <= 1, "a weight isn't between 0 and 1");
  }
}

void check_clients(const FederatedSpec& spec) {
  const bool is_packed = !spec.devices.empty();
  for (const Client& client : spec.clients) {
    const auto number = &client - spec.clients.data();
    if (client.steps < 1) throw InputError(fmt::format("client {} has no local steps", number));
    if (is_packed) continue;
    if (client.step <= Time{}) throw InputError(fmt::format("client {} has no speed: its step takes no time", number));
    if ((spec.down > Bytes{} && client.down.bytes_per_second() <= 0) ||
        (spec.up > Bytes{} && client.up.bytes_per_second() <= 0))
      throw InputError(fmt::format("the link of client {} has no rate", number));
  }
  if (!is_packed) return;
  need(spec.rule == ClosingRule::round && spec.first == 0 && !spec.by_link,
       "devices send one sum for the clients that they run, so they pack rounds that wait for all");
  need(spec.device_rate.bytes_per_second() > 0 || (spec.down == Bytes{} && spec.up == Bytes{}),
       "the link of the devices has no rate");
}

}  // namespace

void FederatedSpec::check() const {
  need(!clients.empty(), "there are no clients");
  need(rounds >= 1, "there are no rounds");
  if (asked < 1 || asked > clients.size())
    throw InputError(fmt::format("{} clients can't be asked: there are {}", asked, clients.size()));
  if (rule == ClosingRule::round && std::max(first, least) > asked)
    throw InputError(fmt::format("a round never has {} updates: {} clients are asked", std::max(first, least), asked));
  need(down >= Bytes{} && up >= Bytes{} && aggregate >= Time{} && stale >= Time{}, "a payload or a time is below 0");
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
    case ClosingRule::compass:
      break;
  }
  return std::make_unique<CompassLoop>(std::move(spec));
}

}  // namespace contend
