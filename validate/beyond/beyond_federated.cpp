// Federated training beside closed forms and cases by hand. Sources: FedScale (closing at the first k), FLASH (Google's
// deadline), FedBuff, FedFix, FedCompass and Parrot; docs/validation/beyond.md has the equations.

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"
#include "validate/beyond/beyond_suite.hpp"
#include "validate/beyond/federated_case.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kExact = 1e-9, kOfMeans = 0.01;

Time seconds(double s) {
  return Time::nanoseconds(std::llround(s * 1e9));
}

/// Clients whose steps take so many seconds.
FederatedSpec clients_of(std::initializer_list<double> steps) {
  FederatedSpec spec;
  for (const double each : steps) spec.clients.push_back({.step = seconds(each)});
  spec.asked = spec.clients.size();
  return spec;
}

std::unique_ptr<FederatedLoop> run(const FederatedSpec& spec) {
  std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
  for (loop->resume(Time{}); !loop->is_over();) loop->advance(loop->next());
  return loop;
}

double mean_round_s(const FederatedLoop& loop) {
  return loop.rounds().back().end.to_seconds() / static_cast<double>(loop.rounds().size());
}
double mean_age(const FederatedLoop& loop) {
  const FederatedRound sum = loop.totals();
  return static_cast<double>(sum.staleness_sum) / static_cast<double>(sum.updates);
}

/// A population whose steps are exponential with a mean of 1 s: the quantiles at the middles of equal shares.
FederatedSpec exponential_clients(std::size_t asked) {
  constexpr int kClients = 100'000;
  FederatedSpec spec;
  for (int c = 0; c < kClients; ++c) spec.clients.push_back({.step = seconds(-std::log((c + .5) / kClients))});
  spec.asked = asked;
  spec.rounds = 20'000;
  return spec;
}

double harmonic(int n) {
  double sum = 0;
  for (int i = 1; i <= n; ++i) sum += 1.0 / i;
  return sum;
}

}  // namespace

CheckedTable federated_closing_rules() {
  CheckedTable table;
  table.title = "closing rules by closed forms";
  const auto add = [&](std::string name, double published, double ours, double tolerance) {
    table.checks.push_back({std::move(name), published, ours, tolerance, {}});
  };
  FederatedSpec spec = exponential_clients(100);
  add("all of 100, exponential: seconds", harmonic(100), mean_round_s(*run(spec)), kOfMeans);
  spec.deadline = seconds(2.7);
  const auto deadline = run(spec);
  add("deadline of 2.7 s: updates of 100", 100 * (1 - std::exp(-2.7)),
      static_cast<double>(deadline->totals().updates) / static_cast<double>(deadline->rounds().size()), kOfMeans);
  spec = exponential_clients(130);
  spec.first = 100;
  add("the first 100 of 130: seconds", harmonic(130) - harmonic(30), mean_round_s(*run(spec)), kOfMeans);

  spec = clients_of({1, 2, 4, 8});
  spec.rounds = 15'000;
  spec.rule = ClosingRule::buffer;
  const auto arrivals = run(spec);
  add("each arrival of 1, 2, 4, 8 s: versions/s", 1.875, 1 / mean_round_s(*arrivals), kOfMeans);
  add("each arrival: staleness", 3, mean_age(*arrivals), kOfMeans);
  spec.buffer = 3;
  const auto buffer = run(spec);
  add("buffer of 3: versions/s", 0.625, 1 / mean_round_s(*buffer), kOfMeans);
  add("buffer of 3: staleness", 1, mean_age(*buffer), kOfMeans);
  spec.rule = ClosingRule::window;
  spec.window = seconds(3);
  const auto windows = run(spec);
  add("windows of 3 s: versions/s", 1. / 3, 1 / mean_round_s(*windows), kExact);
  add("windows of 3 s: updates/s", 1. / 3 + 1. / 3 + 1. / 6 + 1. / 9,
      static_cast<double>(windows->totals().updates) / windows->rounds().back().end.to_seconds(), kOfMeans);
  spec.window = seconds(8);
  add("a window as long as the slowest: seconds", 8, mean_round_s(*run(spec)), kExact);

  // A server that takes a second for each update: 4 clients of a second each keep it busy, one version a second.
  spec = clients_of({1, 1, 1, 1});
  spec.rule = ClosingRule::buffer;
  spec.rounds = 10'000;
  spec.aggregate = seconds(1);
  const auto served = run(spec);
  add("a server at its limit: versions/s", 1, 1 / mean_round_s(*served), kOfMeans);
  add("a server at its limit: staleness", 3, mean_age(*served), kOfMeans);
  return table;
}

CheckedTable federated_compass() {
  CheckedTable table;
  table.title = "FedCompass: seconds of versions";
  FederatedSpec spec = clients_of({1, 1.5, 3.2, 7});
  spec.rule = ClosingRule::compass;
  struct Version {
    double at_s;
    std::int64_t updates;
  };
  constexpr std::array<Version, 9> kVersions{
      {{100, 1}, {150, 1}, {200, 2}, {300, 2}, {320, 1}, {400, 3}, {500, 3}, {600, 3}, {700, 3}}};
  spec.rounds = std::ssize(kVersions);
  const auto loop = run(spec);
  for (std::size_t v = 0; v < kVersions.size(); ++v) {
    const FederatedRound& round = loop->rounds()[v];
    table.checks.push_back({fmt::format("version {}", v + 1), kVersions[v].at_s, round.end.to_seconds(), kExact, {}});
    table.checks.push_back({fmt::format("its clients, version {}", v + 1),
                            static_cast<double>(kVersions[v].updates),
                            static_cast<double>(round.updates),
                            kExact,
                            {}});
  }
  return table;
}

CheckedTable federated_packing() {
  CheckedTable table;
  table.title = "Parrot: makespan of packed clients";
  const auto add = [&](std::string name, double published, const std::vector<std::int64_t>& steps,
                       const std::vector<PackingDevice>& devices) {
    table.checks.push_back(
        {std::move(name), published, pack_clients(steps, devices).makespan().to_seconds(), kExact, {}});
  };
  const std::vector<PackingDevice> three(3, {.step = seconds(1)});
  add("9, 6, 5, 3, 2, 2 on 3", 9, {9, 6, 5, 3, 2, 2}, three);
  add("12, 11, 10, 9, 8, 7, 6 on 3", 25, {12, 11, 10, 9, 8, 7, 6}, three);
  // By hand: 8 goes to the fast one (8 s), 6 to it, too (14 s, against 12 + 1 on the slow one: 13 s, which is less).
  add("8, 6 on 1 s and 2 s a step, 1 s a client", 13, {8, 6},
      {{.step = seconds(1)}, {.step = seconds(2), .start = seconds(1)}});
  return table;
}

CheckedTable federated_volumes() {
  CheckedTable table;
  table.title = "what methods send in a round, in models a client";
  constexpr std::int64_t kModel = 1'000'000;
  struct Method {
    const char* name;
    double down, up;
  };
  constexpr std::array<Method, 5> kMethods{{{"FedAvg", 1, 1},
                                            {"momentum", 2, 1},
                                            {"SCAFFOLD", 2, 2},
                                            {"AutoFLIP", 0.645, 0.645},
                                            {"HideNseek, 1 bit of 32", 1. / 32, 1. / 32}}};
  for (const Method& each : kMethods) {
    FederatedSpec spec = clients_of({1, 2, 3});
    for (Client& client : spec.clients) client.down = client.up = ByteRate{1e6};
    spec.down = Bytes{std::llround(kModel * each.down)};
    spec.up = Bytes{std::llround(kModel * each.up)};
    const FederatedRound sum = run(spec)->totals();
    const double models = 3.0 * kModel;
    table.checks.push_back({fmt::format("{}, down", each.name), each.down, sum.down.to_double() / models, kExact, {}});
    table.checks.push_back({fmt::format("{}, up", each.name), each.up, sum.up.to_double() / models, kExact, {}});
  }
  // BCRS: ratios 0.1, 0.2 and 1 of values and indices, so that the first two send for 0.2 s.
  FederatedSpec spec = clients_of({1, 1, 1});
  constexpr std::array kRates{1e6, 2e6, 2e7};
  for (std::size_t c = 0; c < kRates.size(); ++c) spec.clients[c].up = ByteRate{kRates[c]};
  spec.up = Bytes{kModel};
  spec.by_link = 0.1;
  const auto bcrs = run(spec);
  table.checks.push_back({"BCRS, up in all", 2.6, bcrs->totals().up.to_double() / kModel, kExact, {}});
  table.checks.push_back({"BCRS, seconds of uploads", 0.2, mean_round_s(*bcrs) - 1, kExact, {}});
  // Parrot: a device sends one sum for all that it runs.
  spec = clients_of({1, 1, 1, 1, 1, 1});
  spec.down = spec.up = Bytes{kModel};
  spec.devices.assign(2, {.step = seconds(1)});
  spec.device_rate = ByteRate{1e9};
  table.checks.push_back(
      {"Parrot, 6 clients on 2 devices, up", 2, run(spec)->totals().up.to_double() / kModel, kExact, {}});
  return table;
}

CheckedTable federated_random_cases() {
  CheckedTable table;
  table.title = "random cases of federated training";
  std::uint64_t equal = 0;
  for (std::uint64_t seed = 1; seed <= kFederatedCases; ++seed) {
    const std::string difference = federated_difference(random_federated_case(seed));
    if (difference.empty()) ++equal;
    if (!difference.empty()) table.notes.push_back(fmt::format("case {}: {}", seed, difference));
  }
  table.checks.push_back(
      {"equal to plain loops", static_cast<double>(kFederatedCases), static_cast<double>(equal), 0, {}});
  return table;
}

}  // namespace contend
