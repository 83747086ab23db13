// Federated training of the program beside plain loops, and what holds for every run.

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "validate/beyond/beyond_suite.hpp"
#include "validate/beyond/federated_case.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("federated: random runs equal plain loops, and bytes are received or dropped") {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{2000}); ++seed) {
    CAPTURE(seed);
    CHECK(federated_difference(random_federated_case(seed)) == "");
  }
}

TEST_CASE("federated: runs whose server is gone at random instants lose what was under way, and nothing else") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const FederatedSpec spec = random_federated_case(seed);
    RandomStream instants{seed, "losses"};
    const std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
    Time now;
    loop->resume(now);
    for (int losses = 0; losses < 3 && !loop->is_over();) {
      const Time lost = now + Time::nanoseconds(instants.uniform_integer(0, 60));
      while (!loop->is_over() && loop->next() <= lost) loop->advance(loop->next());
      if (loop->is_over()) break;
      loop->lose(lost);
      const FederatedRound sum = loop->totals();
      CHECK(sum.asked == sum.updates + sum.lost);
      now = lost + Time::nanoseconds(instants.uniform_integer(0, 20));
      loop->resume(now);
      ++losses;
    }
    while (!loop->is_over()) loop->advance(loop->next());
    CHECK(loop->totals().asked == loop->totals().updates + loop->totals().lost);
    CHECK(std::ssize(loop->rounds()) == spec.rounds);
  }
}

TEST_CASE("federated: the gates of the suite hold") {
  for (const CheckedTable& table :
       {federated_closing_rules(), federated_compass(), federated_packing(), federated_volumes(), services_exchange(),
        services_starts(), services_storage(), services_aggregators(), federated_clocks(), federated_gossip(),
        federated_whole_by_chance()})
    CHECK_MESSAGE(holds(table), table.title);
}

namespace {

std::vector<FederatedRound> rounds_of(const FederatedSpec& spec) {
  const std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
  for (loop->resume(Time{}); !loop->is_over();) loop->advance(loop->next());
  return {loop->rounds().begin(), loop->rounds().end()};
}

/// Random clients that are always there, for a rule that the caller sets.
FederatedSpec random_clients(std::uint64_t seed) {
  RandomStream draws{seed, "properties"};
  FederatedSpec spec;
  for (std::int64_t c = draws.uniform_integer(1, 8); c > 0; --c)
    spec.clients.push_back({.step = Time::nanoseconds(draws.uniform_integer(1, 50)),
                            .steps = draws.uniform_integer(1, 5),
                            .down = ByteRate{static_cast<double>(draws.uniform_integer(1, 4)) * 1e9},
                            .up = ByteRate{static_cast<double>(draws.uniform_integer(1, 4)) * 1e9}});
  spec.asked = spec.clients.size();
  spec.down = Bytes{draws.uniform_integer(0, 20)};
  spec.up = Bytes{draws.uniform_integer(0, 20)};
  spec.rounds = 20;
  return spec;
}

Time time_of(const FederatedSpec& spec, const Client& client) {
  return transfer_time(spec.down, client.down) + client.step * client.steps + transfer_time(spec.up, client.up);
}

}  // namespace

TEST_CASE("federated: a window of a nanosecond is each instant of arrivals, and a buffer of one each arrival") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    FederatedSpec spec = random_clients(seed);
    spec.rule = ClosingRule::window;
    spec.window = Time::nanoseconds(1);
    const std::vector<FederatedRound> windows = rounds_of(spec);
    spec.rule = ClosingRule::buffer;
    spec.rounds = 200;
    std::vector<Time> instants;
    for (const FederatedRound& each : rounds_of(spec))
      if (instants.empty() || instants.back() < each.end) instants.push_back(each.end);
    for (std::size_t w = 0; w < windows.size() && w < instants.size(); ++w) CHECK(windows[w].end == instants[w]);
  }
}

TEST_CASE("federated: who contributes to a round satisfies its closing rule, and payloads add up") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    FederatedSpec spec = random_clients(seed);
    std::vector<Time> times;
    for (const Client& client : spec.clients) times.push_back(time_of(spec, client));
    std::ranges::sort(times);
    for (std::size_t first = 1; first <= times.size(); ++first) {
      spec.first = first;
      for (const FederatedRound& each : rounds_of(spec)) {
        CHECK(each.end - each.begin == times[first - 1]);
        CHECK(each.updates == static_cast<std::int64_t>(first));
        const Bytes received = each.down + each.up - each.dropped;  // models of clients, and updates in the version
        const auto at = [&](const Client& client) { return transfer_time(spec.down, client.down) <= times[first - 1]; };
        CHECK(received == spec.down * std::ranges::count_if(spec.clients, at) + spec.up * each.updates);
      }
    }
    spec.first = 0;
    spec.deadline = times[times.size() / 2];
    for (const FederatedRound& each : rounds_of(spec))
      CHECK(each.updates == std::ranges::count_if(times, [&](Time time) { return time <= *spec.deadline; }));
  }
}

TEST_CASE("federated: a client for each device is a round of all, and who is always there needs no table") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    FederatedSpec spec = random_clients(seed);
    const std::vector<FederatedRound> rounds = rounds_of(spec);
    FederatedSpec there = spec;
    there.presence.period = Time::nanoseconds(100);
    there.presence.stays.assign(spec.clients.size(), {Time{}, Time::nanoseconds(100)});
    CHECK(rounds_of(there) == rounds);
    FederatedSpec packed = spec;
    packed.down = packed.up = spec.down = spec.up = Bytes{};
    for (Client& client : spec.clients) client.step = Time::nanoseconds(7);
    packed.devices.assign(spec.clients.size(), {.step = Time::nanoseconds(7)});
    const std::vector<FederatedRound> alone = rounds_of(spec), on_devices = rounds_of(packed);
    for (std::size_t r = 0; r < alone.size(); ++r) CHECK(on_devices[r].end == alone[r].end);
  }
}
