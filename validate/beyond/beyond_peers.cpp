// Clients that exchange without a server, beside closed forms: DADAO's clocks, gossip on graphs, single merging, and
// MASHA's exchanges by chance. docs/models/federated.md has the rules and their sources.

#include "models/federated/federated_loop.hpp"
#include "models/federated/peer_loop.hpp"
#include "validate/beyond/beyond_suite.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kEqual = 1e-9, kMeans = 0.01;
constexpr std::int64_t kPeerModel = 1'000'000;

/// So many clients with steps of a second and links of 100 models a second.
FederatedSpec peers_of(std::size_t clients, ClosingRule rule, std::int64_t rounds) {
  FederatedSpec spec;
  spec.clients.assign(clients, {.step = Time::seconds(1), .down = ByteRate{1e8}, .up = ByteRate{1e8}});
  spec.asked = clients;
  spec.rule = rule;
  spec.rounds = rounds;
  spec.up = Bytes{kPeerModel};
  return spec;
}

std::unique_ptr<FederatedLoop> run_of(const FederatedSpec& spec) {
  std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
  for (loop->resume(Time{}); !loop->is_over();) loop->advance(loop->next());
  return loop;
}

/// What each client sends in all, in models.
double models_each(const FederatedSpec& spec) {
  return run_of(spec)->totals().up.to_double() / kPeerModel / static_cast<double>(spec.clients.size());
}

struct Counts {
  double mean = 0, variance = 0;
};

/// Of the counts of rounds.
Counts counts_of(const FederatedLoop& loop, std::int64_t FederatedRound::*count) {
  double sum = 0, squares = 0;
  for (const FederatedRound& each : loop.rounds()) {
    const auto n = static_cast<double>(each.*count);
    sum += n;
    squares += n * n;
  }
  const auto rounds = static_cast<double>(loop.rounds().size());
  return {sum / rounds, squares / rounds - sum / rounds * (sum / rounds)};
}

}  // namespace

CheckedTable federated_clocks() {
  CheckedTable table;
  table.title = "DADAO: clocks of ten clients";
  const auto add = [&](std::string name, double published, double ours, double tolerance) {
    table.checks.push_back({std::move(name), published, ours, tolerance, {}});
  };
  constexpr std::size_t kClients = 10;
  add("exchanges in the time of a step, ring", 15.350, exchange_rate(PeerGraph::ring, kClients), 5e-4 / 15.35);
  add("complete graph", 9 / std::sqrt(2.), exchange_rate(PeerGraph::complete, kClients), kEqual);
  constexpr double kOfVariances = 0.05;
  for (const auto& [graph, name] : {std::pair{PeerGraph::ring, "ring"}, {PeerGraph::complete, "complete"}}) {
    FederatedSpec spec = peers_of(kClients, ClosingRule::clocks, 20'000);
    spec.peers.graph = graph;
    const auto loop = run_of(spec);
    const Counts steps = counts_of(*loop, &FederatedRound::asked), pairs = counts_of(*loop, &FederatedRound::updates);
    const double rate = exchange_rate(graph, kClients);
    add(fmt::format("{}: steps a round, mean", name), 10, steps.mean, kMeans);
    add(fmt::format("{}: their variance", name), 10, steps.variance, kOfVariances);
    add(fmt::format("{}: exchanges a round, mean", name), rate, pairs.mean, kMeans);
    add(fmt::format("{}: models sent by an exchange", name), 2,
        loop->totals().up.to_double() / kPeerModel / static_cast<double>(loop->totals().updates), 0);
  }
  // A link that takes no time doesn't change when exchanges begin, so that their number is a Poisson one.
  FederatedSpec spec = peers_of(kClients, ClosingRule::clocks, 20'000);
  spec.up = Bytes{};
  add("ring, messages that take no time: variance of exchanges", 15.350,
      counts_of(*run_of(spec), &FederatedRound::updates).variance, kOfVariances);
  return table;
}

CheckedTable federated_gossip() {
  CheckedTable table;
  table.title = "gossip: models that each client sends in ten rounds, and seconds";
  const auto add = [&](std::string name, double published, double ours, double tolerance = kEqual) {
    table.checks.push_back({std::move(name), published, ours, tolerance, {}});
  };
  constexpr std::size_t kClients = 8;
  FederatedSpec spec = peers_of(kClients, ClosingRule::gossip, 10);
  add("ring, two neighbours", 20, models_each(spec));
  add("ring: seconds", 10 * (1 + .02), run_of(spec)->rounds().back().end.to_seconds());
  spec.peers.exchanges = 4;
  add("DFedSAM-MGS, four exchanges a round", 80, models_each(spec));
  add("four exchanges: seconds", 10 * (1 + 4 * .02), run_of(spec)->rounds().back().end.to_seconds());
  spec.peers.exchanges = 1;
  spec.peers.graph = PeerGraph::complete;
  add("complete, seven neighbours", 70, models_each(spec));
  spec.peers.graph = PeerGraph::ring;
  spec.peers.chance = 0;
  spec.peers.merges = true;
  add("single merging, no gossip: 2 (n - 1) / n", 2 * 7 / 8., models_each(spec));
  add("ten steps and 14 eighths of a model: seconds", 10 + 14 * .00125, run_of(spec)->rounds().back().end.to_seconds());
  spec.rounds = 20'000;
  spec.peers.chance = .25;
  add("gossip in a quarter of 20,000 rounds", .25 * 20'000 * 2 + 2 * 7 / 8., models_each(spec), 5 * kMeans);
  spec = peers_of(kClients, ClosingRule::gossip, 20'000);
  spec.peers.broken = .5;
  add("half of the links down, a round", 1, models_each(spec) / 20'000, kMeans);
  // Clients 2 and 5 of the ring are away: the links 0-1, 0-7, 3-4 and 6-7 are left.
  spec = peers_of(kClients, ClosingRule::gossip, 10);
  spec.presence.stays.assign(kClients, {Time{}, Time::seconds(1000)});
  spec.presence.period = Time::seconds(1000);
  spec.presence.stays[2] = spec.presence.stays[5] = {Time::seconds(900), Time::seconds(1000)};
  add("ring cut in two places: models in all", 10 * 2 * 4, run_of(spec)->totals().up.to_double() / kPeerModel);
  return table;
}

CheckedTable federated_whole_by_chance() {
  CheckedTable table;
  table.title = "MASHA: models that a client sends and receives in a round";
  FederatedSpec spec = peers_of(4, ClosingRule::round, 20'000);
  spec.down = spec.up = Bytes{kPeerModel / 100};
  spec.whole_bytes = Bytes{kPeerModel};
  for (const double chance : {.1, .5}) {
    spec.whole = chance;
    const FederatedRound sum = run_of(spec)->totals();
    const double ours = (sum.up + sum.down).to_double() / kPeerModel / 4 / 20'000;
    table.checks.push_back({fmt::format("1% of the model, all of it in {:g} of the rounds", chance),
                            2 * chance + .02 * (1 - chance),
                            ours,
                            3 * kMeans,
                            {}});
  }
  return table;
}

}  // namespace contend
