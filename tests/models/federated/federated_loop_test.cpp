// Federated training by hand: closing rules, payloads, presence, packing, FedCompass, losses of the server.

#include "models/federated/federated_loop.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace contend {
namespace {

Time fed_s(double seconds) {
  return Time::nanoseconds(static_cast<std::int64_t>(seconds * 1e9 + 0.5));
}

/// Clients of one step of so many seconds.
FederatedSpec clients_of(const std::vector<double>& seconds) {
  FederatedSpec spec;
  for (const double each : seconds)
    spec.clients.push_back({.step = fed_s(each), .down = ByteRate{10}, .up = ByteRate{10}});
  spec.asked = seconds.size();
  return spec;
}

std::unique_ptr<FederatedLoop> run_loop(FederatedSpec spec) {
  auto loop = federated_loop(std::move(spec));
  loop->resume(Time{});
  while (!loop->is_over()) loop->advance(loop->next());
  return loop;
}

/// When its rounds end, in seconds.
std::vector<double> ends_of(const FederatedLoop& loop) {
  std::vector<double> ends;
  for (const FederatedRound& each : loop.rounds()) ends.push_back(static_cast<double>(each.end.ns()) / 1e9);
  return ends;
}

double mean_age(const FederatedLoop& loop) {
  const FederatedRound sum = loop.totals();
  return static_cast<double>(sum.staleness_sum) / static_cast<double>(sum.updates);
}

std::string refused(FederatedSpec spec) {
  try {
    (void)federated_loop(std::move(spec));
  } catch (const InputError& error) {
    return error.complaints().front().reason;
  }
  return {};
}

}  // namespace

TEST_CASE("federated: a round of all ends with the slowest, and then the server makes a version") {
  FederatedSpec spec = clients_of({1, 4, 2});
  spec.rounds = 2;
  spec.aggregate = fed_s(0.5);
  spec.down = Bytes{10};  // a second
  spec.up = Bytes{20};    // two
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{7.5, 15.0});
  CHECK(loop->totals().updates == 6);
  CHECK(loop->totals().down == Bytes{60});
  CHECK(loop->totals().up == Bytes{120});
  CHECK(loop->totals().dropped == Bytes{});
  CHECK(loop->busy(0, fed_s(15)) == fed_s(1));
}

TEST_CASE("federated: a version of n updates takes n x n pairs, and a tree of aggregators adds them up") {
  FederatedSpec spec = clients_of({1, 1, 1, 1});
  spec.rounds = 2;
  spec.pair = fed_s(0.5);
  CHECK(ends_of(*run_loop(spec)) == std::vector{9.0, 18.0});
  spec.pair = {};
  spec.up = Bytes{10};  // a second
  spec.tree =
      AggregationTree{.fan_in = 2, .per_node = 1, .memory = ByteRate{10}, .link = ByteRate{5}, .start = fed_s(3)};
  // Two levels of two updates each, and a message between: 2 + 2 + 2 s. Aggregators are gone when the next round ends.
  CHECK(ends_of(*run_loop(spec)) == std::vector{11.0, 22.0});
  spec.tree->keep = fed_s(2);
  CHECK(ends_of(*run_loop(spec)) == std::vector{11.0, 19.0});
  spec.tree->per_node = 2;
  CHECK(ends_of(*run_loop(spec)) == std::vector{9.0, 15.0});
  spec.tree->fan_in = 4;
  CHECK(ends_of(*run_loop(spec)) == std::vector{9.0, 15.0});
}

TEST_CASE("federated: anchors take other steps, each client by chance") {
  FederatedSpec spec = clients_of({1, 2, 3});
  spec.anchors = {.share = 1, .steps = 5};
  CHECK(ends_of(*run_loop(spec)) == std::vector{15.0});
  spec.anchors.share = 0.3;
  spec.rounds = 2000;
  double anchors = 0;
  const auto loop = run_loop(spec);
  for (const FederatedRound& each : loop->rounds()) anchors += each.end - each.begin > fed_s(3) ? 1 : 0;
  CHECK(anchors / 2000 == near(1 - 0.7 * 0.7 * 0.7, 0.05));
}

TEST_CASE("federated: the first two of four close a round; what the others have sent is dropped") {
  FederatedSpec spec = clients_of({1, 5, 2, 1});
  spec.first = 2;
  spec.down = Bytes{10};
  spec.up = Bytes{20};
  const auto loop = run_loop(spec);
  // Arrivals 4, 8, 5, 4: closed at 4, when client 2 has sent for a second of two, and client 1 still computes.
  CHECK(ends_of(*loop) == std::vector{4.0});
  const FederatedRound sum = loop->totals();
  CHECK(sum.updates == 2);
  CHECK(sum.lost == 2);
  CHECK(sum.down == Bytes{40});
  CHECK(sum.up == Bytes{50});
  CHECK(sum.dropped == Bytes{10});
}

TEST_CASE("federated: of updates that come at once the lower numbers are the first") {
  FederatedSpec spec = clients_of({1, 1, 1});
  spec.first = 2;
  spec.up = Bytes{10};
  CHECK(run_loop(spec)->totals().dropped == Bytes{10});
}

TEST_CASE("federated: a deadline closes a round, which fails with too few updates") {
  FederatedSpec spec = clients_of({1, 2, 4});
  spec.deadline = fed_s(2);
  auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{2.0});
  CHECK(loop->totals().updates == 2);
  CHECK(loop->versions() == 1);
  spec.least = 3;
  loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{2.0});
  CHECK(loop->totals().updates == 0);
  CHECK(loop->totals().lost == 3);
  CHECK(loop->versions() == 0);
  spec.deadline = fed_s(9);
  CHECK(ends_of(*run_loop(spec)) == std::vector{4.0});
}

TEST_CASE("federated: each arrival makes a version, by the closed form of reference D1") {
  FederatedSpec spec = clients_of({1, 2, 4, 8});
  spec.rule = ClosingRule::buffer;
  spec.rounds = 15 * 100;
  const auto loop = run_loop(spec);
  CHECK(loop->rounds().back().end == fed_s(800));
  CHECK(mean_age(*loop) == near(3, 0.01));
}

TEST_CASE("federated: a buffer of three, and the ages of its updates") {
  FederatedSpec spec = clients_of({1, 2.5});
  spec.asked = 2;
  spec.rule = ClosingRule::buffer;
  spec.buffer = 2;
  spec.rounds = 2;
  spec.up = Bytes{10};
  // Updates at 2 and 3.5, of version 0: version 1. Client 0 has begun again at 2, and comes at 4, a version old; then
  // at 6. The update of client 1, of version 1, would come at 7.
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{3.5, 6.0});
  CHECK(loop->rounds()[0].staleness_sum == 0);
  CHECK(loop->rounds()[1].staleness_sum == 1);
  CHECK(loop->totals().lost == 1);  // client 1, which computes still
  CHECK(loop->totals().up == Bytes{40});
  CHECK(loop->totals().dropped == Bytes{});
}

TEST_CASE("federated: updates that are too old are dropped, and stale ones cost the server time") {
  FederatedSpec spec = clients_of({1, 2.5});
  spec.rule = ClosingRule::buffer;
  spec.rounds = 3;
  spec.up = Bytes{10};
  spec.stalest = 1;
  // Client 0 comes at 2, 4, 6, client 1 at 3.5 (a version old): versions at 2, 3.5, 4 (one old).
  auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{2.0, 3.5, 4.0});
  spec.stalest = 0;  // those at 3.5 and then none is dropped: 2, 4, 6
  loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{2.0, 4.0, 6.0});
  CHECK(loop->totals().dropped == Bytes{10});  // client 1, which came at 3.5, computes until 6
  spec.stalest.reset();
  spec.stale = fed_s(1);
  // 2; client 1 is served from 3.5 to 4.5, client 0 waits from 4 on, is a version old and served until 5.5.
  loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{2.0, 4.5, 5.5});
  CHECK(loop->busy(0, fed_s(5.5)) == fed_s(2));
}

TEST_CASE("federated: windows of 3 s, as FedFix has them") {
  FederatedSpec spec = clients_of({1, 4});
  spec.rule = ClosingRule::window;
  spec.window = fed_s(3);
  spec.rounds = 4;
  // Client 0 lands at 3, 6, 9, 12; client 1 at 6, of version 0, and at 12, of version 2.
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{3.0, 6.0, 9.0, 12.0});
  CHECK(loop->totals().updates == 6);
  CHECK(loop->totals().staleness_sum == 2);
}

TEST_CASE("federated: a window of a nanosecond is each arrival") {
  FederatedSpec spec = clients_of({1, 2.3, 4.7});
  spec.rounds = 30;
  spec.rule = ClosingRule::window;
  const auto windows = run_loop(spec);
  spec.rule = ClosingRule::buffer;
  const auto arrivals = run_loop(spec);
  CHECK(ends_of(*windows) == ends_of(*arrivals));
  CHECK(windows->totals() == arrivals->totals());
}

TEST_CASE("federated: the timeline of FedCompass") {
  FederatedSpec spec = clients_of({1, 1.5, 3.2, 7});
  spec.rule = ClosingRule::compass;
  spec.rounds = 9;
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{100.0, 150.0, 200.0, 300.0, 320.0, 400.0, 500.0, 600.0, 700.0});
  std::vector<std::int64_t> updates;
  for (const FederatedRound& each : loop->rounds()) updates.push_back(each.updates);
  CHECK(updates == std::vector<std::int64_t>{1, 1, 2, 2, 1, 3, 3, 3, 3});
}

TEST_CASE("federated: a client that leaves loses its round and nothing else") {
  FederatedSpec spec = clients_of({1, 4});
  spec.rounds = 3;
  spec.up = Bytes{10};
  // Client 1 is there until 3.5 and from 6.5 on, in each 20 s.
  spec.presence.stays = {{Time{}, fed_s(20)}, {Time{}, fed_s(3.5), fed_s(6.5), fed_s(20)}};
  spec.presence.period = fed_s(20);
  // It goes at 3.5, which closes the round with client 0. Client 0 alone: 5.5. At 5.5 client 1 is still away: 7.5.
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{3.5, 5.5, 7.5});
  CHECK(loop->totals().asked == 4);
  CHECK(loop->totals().lost == 1);
  CHECK(loop->totals().dropped == Bytes{});
}

TEST_CASE("federated: a table in which all are there, and no table, are equal") {
  FederatedSpec spec = clients_of({1, 2, 3});
  spec.rounds = 20;
  spec.asked = 2;
  const auto without = run_loop(spec);
  spec.presence.stays.assign(3, {Time{}, fed_s(5)});
  spec.presence.period = fed_s(5);
  CHECK(ends_of(*run_loop(spec)) == ends_of(*without));
}

TEST_CASE("federated: nobody is there, so the round waits") {
  FederatedSpec spec = clients_of({1});
  spec.rounds = 2;
  spec.presence.stays = {{fed_s(2), fed_s(3.5)}};
  spec.presence.period = fed_s(10);
  CHECK(ends_of(*run_loop(spec)) == std::vector{3.0, 3.5});  // the second loses its client
  spec.rule = ClosingRule::buffer;
  CHECK(ends_of(*run_loop(spec)) == std::vector{3.0, 13.0});
}

TEST_CASE("federated: clients that come and go by law are there for their share of the time") {
  PresenceSpec law{.there = fed_s(10), .away = fed_s(30), .stream = "here"};
  Presence presence{law, 2000};
  std::int64_t there = 0;
  for (int instant = 0; instant < 20; ++instant)
    for (ClientNumber client = 0; client < 2000; ++client)
      there += presence.is_there(client, fed_s(25.0 * instant)) ? 1 : 0;
  CHECK(static_cast<double>(there) / 40'000 == near(0.25, 0.02));
}

TEST_CASE("federated: uploads by their links end together") {
  FederatedSpec spec = clients_of({1, 1, 1});
  spec.clients[1].up = ByteRate{20};
  spec.clients[2].up = ByteRate{100};
  spec.up = Bytes{100};
  spec.by_link = 0.25;
  // Ratios 0.25, 0.5 and 1 (2.5 is more than whole): 50, 100 and 200 bytes, in 5, 5 and 2 s.
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{6.0});
  CHECK(loop->totals().up == Bytes{350});
}

TEST_CASE("federated: Parrot's packing, and a sum of each device") {
  const std::vector<std::int64_t> steps{9, 6, 5, 3, 2, 2};
  const std::vector<PackingDevice> devices(3, {.step = fed_s(1)});
  CHECK(pack_clients(steps, devices).makespan() == fed_s(9));
  CHECK(pack_clients(std::vector<std::int64_t>{6, 7, 8, 9, 10, 11, 12}, devices).makespan() == fed_s(25));
  FederatedSpec spec;
  for (const std::int64_t each : steps) spec.clients.push_back({.steps = each});
  spec.asked = 6;
  spec.devices = devices;
  spec.devices[2].start = fed_s(1);
  spec.device_rate = ByteRate{10};
  spec.down = spec.up = Bytes{10};
  // 9 on device 0, 6 on 1, 5 on 2 (6 s), 3 on 1 (9 s), 2 on 2 (9 s); the last 2 makes 11 s on 0.
  const auto loop = run_loop(spec);
  CHECK(ends_of(*loop) == std::vector{13.0});
  CHECK(loop->totals().updates == 6);
  CHECK(loop->totals().up == Bytes{30});
  CHECK(loop->busy(0, fed_s(13)) == fed_s(11));
  CHECK(loop->busy(2, fed_s(13)) == fed_s(9));
}

TEST_CASE("federated: a server that is gone loses the round, and begins it again") {
  FederatedSpec spec = clients_of({2, 3});
  spec.rounds = 2;
  spec.up = Bytes{10};
  for (const ClosingRule rule : {ClosingRule::round, ClosingRule::buffer, ClosingRule::window, ClosingRule::compass}) {
    spec.rule = rule;
    spec.buffer = 2;
    spec.window = fed_s(4);
    spec.compass = {.most = 1, .least = 1};
    auto loop = federated_loop(spec);
    loop->resume(Time{});
    while (loop->next() <= fed_s(2.5)) loop->advance(loop->next());
    loop->lose(fed_s(2.5));  // client 0 has sent 5 of its 10 bytes
    CHECK(loop->totals().dropped == Bytes{5});
    CHECK(loop->totals().lost == 2);
    loop->resume(fed_s(10));
    while (!loop->is_over()) loop->advance(loop->next());
    CHECK(loop->rounds()[0].end > fed_s(12.9));
    const FederatedRound sum = loop->totals();
    CHECK(sum.asked == sum.updates + sum.lost);
  }
}

TEST_CASE("federated: what can't work is refused with its reason") {
  const auto with = [](auto change) {
    FederatedSpec spec = clients_of({1, 2});
    spec.down = spec.up = Bytes{1};
    change(spec);
    return refused(spec);
  };
  CHECK(with([](FederatedSpec&) {}).empty());
  CHECK(with([](FederatedSpec& s) { s.first = 3; }) == "a round never has 3 updates: 2 clients are asked");
  CHECK(with([](FederatedSpec& s) { s.asked = 3; }) == "3 clients can't be asked: there are 2");
  CHECK(with([](FederatedSpec& s) { s.clients[1].step = {}; }) == "client 1 has no speed: its step takes no time");
  CHECK(with([](FederatedSpec& s) { s.clients[0].up = {}; }) == "the link of client 0 has no rate");
  CHECK(with([](FederatedSpec& s) {
          s.rule = ClosingRule::buffer;
          s.buffer = 3;
        }) == "3 updates never come together: 2 clients work at once");
  CHECK(with([](FederatedSpec& s) { s.deadline = fed_s(1.1); }) ==
        "no client is back by then: the fastest takes 1.2 s, and rounds close after 1.1 s");
  CHECK(with([](FederatedSpec& s) {
          s.presence.stays = {{Time{}, fed_s(1)}};
        }).starts_with("the table says of 1 clients"));
}

}  // namespace contend
