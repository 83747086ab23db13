#include "models/federated/population.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace contend {

void PresenceSpec::check(std::size_t clients) const {
  if (there < Time{} || away < Time{} || (there == Time{}) != (away == Time{}))
    throw InputError("clients that come and go need a mean time to stay and a mean time away, both above 0");
  if (stays.empty()) return;
  if (stays.size() != clients)
    throw InputError(
        fmt::format("the table says of {} clients when they are there, and there are {}", stays.size(), clients));
  for (const std::vector<Time>& each : stays) {
    const bool rises = std::ranges::adjacent_find(each, std::ranges::greater_equal{}) == each.end();
    if (each.empty() || each.size() % 2 != 0 || !rises || each.front() < Time{} || each.back() > period)
      throw InputError(fmt::format("client {} is never there, or its times don't rise", &each - stays.data()));
  }
}

Presence::Presence(const PresenceSpec& spec, std::size_t clients) : spec_{spec} {
  spec_.check(clients);
  if (spec_.stays.empty() && spec_.there == Time{}) return;
  states_.reserve(clients);
  for (std::size_t c = 0; c < clients; ++c) {
    const auto number = static_cast<ClientNumber>(c);
    State& state = states_.emplace_back(State{{spec_.seed, fmt::format("{}/{}", spec_.stream, c)}});
    if (spec_.stays.empty()) {
      const double there = spec_.there.to_seconds();
      state.is_there = state.stream.uniform() >= there / (there + spec_.away.to_seconds());  // it changes at once
      go_on(state, number);
    } else if (spec_.stays[c].size() > 2 || spec_.stays[c][0] > Time{} || spec_.stays[c][1] < spec_.period) {
      state.is_there = false;
      state.until = in_table(number, 0);
    }
  }
}

Time Presence::in_table(ClientNumber client, std::size_t number) const {
  const std::vector<Time>& changes = spec_.stays[client];
  return changes[number % changes.size()] + spec_.period * static_cast<std::int64_t>(number / changes.size());
}

void Presence::go_on(State& state, ClientNumber client) const {
  state.is_there = !state.is_there;
  if (!spec_.stays.empty()) {
    state.until = in_table(client, ++state.next);
    return;
  }
  const Time mean = state.is_there ? spec_.there : spec_.away;
  const Time length = Time::ceil_nanoseconds(state.stream.exponential(static_cast<double>(mean.ns())));
  state.until = (state.until == Time::never() ? Time{} : state.until) + std::max(length, Time::nanoseconds(1));
}

bool Presence::is_there(ClientNumber client, Time now) {
  if (states_.empty()) return true;
  State& state = states_[client];
  while (state.until <= now) go_on(state, client);
  if (state.is_there && !spec_.stays.empty()) {
    // A stay that ends where the next begins goes on.
    while (state.until < Time::never() && in_table(client, state.next + 1) == state.until)
      state.until = in_table(client, state.next += 2);
  }
  return state.is_there;
}

Time Presence::changes(ClientNumber client) const {
  return states_.empty() ? Time::never() : states_[client].until;
}

Roster::Roster(const PresenceSpec& presence, std::size_t clients, RandomStream draws)
    : presence_{presence, clients}, draws_{draws}, idle_(clients) {
  std::iota(idle_.begin(), idle_.end(), ClientNumber{});
}

void Roster::ask(std::size_t wanted, Time now, std::vector<ClientNumber>& asked) {
  for (; !away_.empty() && away_.top().first <= now; away_.pop()) idle_.push_back(away_.top().second);
  while (wanted > 0 && !idle_.empty()) {
    const std::size_t last = idle_.size() - 1;
    const std::size_t drawn =
        last < wanted ? last : static_cast<std::size_t>(draws_.uniform_integer(0, std::ssize(idle_) - 1));
    std::swap(idle_[drawn], idle_[last]);
    const ClientNumber client = idle_[last];
    idle_.pop_back();
    if (presence_.is_there(client, now)) {
      asked.push_back(client);
      --wanted;
    } else {
      away_.emplace(presence_.changes(client), client);
    }
  }
}

}  // namespace contend
