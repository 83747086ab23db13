#include "validate/beyond/federated_case.hpp"

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include <fmt/format.h>

namespace contend {
namespace {

/// Small numbers, so that much falls on one instant.
class CaseDraws {
 public:
  explicit CaseDraws(std::uint64_t seed) : stream_{seed, "federated case"} {}
  std::int64_t whole(std::int64_t least, std::int64_t most) { return stream_.uniform_integer(least, most); }
  Time ns(std::int64_t least, std::int64_t most) { return Time::nanoseconds(whole(least, most)); }
  bool one_in(std::int64_t n) { return whole(1, n) == 1; }

 private:
  RandomStream stream_;
};

PresenceSpec random_presence(std::size_t clients, CaseDraws& draws) {
  PresenceSpec presence;
  presence.period = Time::nanoseconds(120);
  for (std::size_t c = 0; c < clients; ++c) {
    std::vector<Time>& stays = presence.stays.emplace_back();
    for (std::int64_t at = draws.whole(0, 30); at < 120;) {
      const std::int64_t until = std::min<std::int64_t>(at + draws.whole(1, 90), 120);
      stays.insert(stays.end(), {Time::nanoseconds(at), Time::nanoseconds(until)});
      at = until + draws.whole(1, 40);
    }
  }
  return presence;
}

std::string text_of(const FederatedRound& round) {
  return fmt::format("{}-{} asked {} updates {} lost {} age {}/{} bytes {}+{}-{}{}", round.begin.ns(), round.end.ns(),
                     round.asked, round.updates, round.lost, round.staleness_sum, round.staleness_max,
                     round.down.count(), round.up.count(), round.dropped.count(), round.has_version ? "" : " failed");
}

/// Bytes that were received, as `spec` has them for clients that were asked, and for updates; each client whose payload
/// arrived has it whole.
std::string broken_sum(const FederatedLoop& loop) {
  const FederatedRound sum = loop.totals();
  if (sum.asked != sum.updates + sum.lost)
    return fmt::format("{} clients were asked, {} have an update, and {} lost their work", sum.asked, sum.updates,
                       sum.lost);
  const std::int64_t updates = loop.spec().up.count() * sum.updates;
  const std::int64_t model = std::max<std::int64_t>(loop.spec().down.count(), 1);
  const std::int64_t received = (sum.down + sum.up - sum.dropped).count() - updates;
  return received >= 0 && received % model == 0 && received / model <= sum.asked
             ? std::string{}
             : fmt::format("{} bytes were received that are in no update, and the model has {}", received, model);
}

}  // namespace

FederatedSpec random_federated_case(std::uint64_t seed) {
  CaseDraws draws{seed};
  FederatedSpec spec;
  const std::int64_t clients = draws.whole(1, 7);
  for (std::int64_t c = 0; c < clients; ++c)
    spec.clients.push_back({.step = draws.ns(1, 12),
                            .steps = draws.whole(1, 4),
                            .down = ByteRate{static_cast<double>(draws.whole(1, 3)) * 1e9},
                            .up = ByteRate{static_cast<double>(draws.whole(1, 3)) * 1e9}});
  spec.asked = static_cast<std::size_t>(clients);
  spec.rounds = draws.whole(1, 25);
  spec.down = Bytes{draws.whole(0, 12)};
  spec.up = Bytes{draws.whole(0, 12)};
  constexpr std::array kRules{ClosingRule::round, ClosingRule::buffer, ClosingRule::window, ClosingRule::compass};
  spec.rule = kRules[static_cast<std::size_t>(seed % kRules.size())];
  if (draws.one_in(2)) spec.presence = random_presence(spec.clients.size(), draws);
  if (!spec.presence.stays.empty() && spec.rule != ClosingRule::round)
    spec.presence.stays[0] = {Time{}, spec.presence.period};  // somebody gets on, so that it ends
  if (spec.rule != ClosingRule::compass) spec.aggregate = draws.one_in(2) ? Time{} : draws.ns(1, 9);
  if (spec.rule != ClosingRule::compass && draws.one_in(3)) spec.pair = draws.ns(1, 3);
  if (spec.rule == ClosingRule::round) {
    spec.first = static_cast<std::size_t>(draws.whole(0, clients));
    if (draws.one_in(2)) spec.deadline = draws.ns(84, 120);
    if (draws.one_in(3)) spec.least = static_cast<std::size_t>(draws.whole(1, clients));
    return spec;
  }
  if (spec.rule == ClosingRule::compass) {
    spec.compass.least = draws.whole(1, 4);
    spec.compass.most = spec.compass.least + draws.whole(0, 12);
    spec.compass.latest = 1 + 0.25 * static_cast<double>(draws.whole(0, 4));
    return spec;
  }
  spec.buffer = static_cast<std::size_t>(draws.whole(1, clients));
  spec.window = draws.ns(1, 40);
  if (draws.one_in(3)) spec.stalest = draws.whole(0, 3);
  if (draws.one_in(3)) spec.stale = draws.ns(1, 5);
  return spec;
}

std::string federated_difference(const FederatedSpec& spec) {
  const std::vector<FederatedRound> plain = plain_federated(spec);
  const std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
  for (loop->resume(Time{}); !loop->is_over();) loop->advance(loop->next());
  const std::span<const FederatedRound> ours = loop->rounds();
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (!(ours[i] == plain[i]))
      return fmt::format("round {}: {}; by plain loops {}", i, text_of(ours[i]), text_of(plain[i]));
  return broken_sum(*loop);
}

}  // namespace contend
