// Replicas that answer requests: cases worked out by hand to the nanosecond, each with leaps and step by step.

#include "models/serving/fleet.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr std::int64_t kUs = 1000, kMs = 1000 * kUs;  // ns

/// Overhead, weights, a token, a token in a cache: ns.
StepLaw serving_law(std::int64_t overhead, std::int64_t weights, std::int64_t token, std::int64_t cache) {
  StepLaw law;
  law.overhead = overhead * 1000;
  law.weights = weights * 1000;
  law.token = token * 1000;
  law.cache = cache * 1000;
  return law;
}

/// One replica without limits: 1 ms to read the weights, 2 us a token.
FleetSpec serving_spec(std::int64_t token = 2 * kUs, std::int64_t cache = 0) {
  FleetSpec spec;
  spec.replica.law = serving_law(0, kMs, token, cache);
  spec.replica.tokens = ReplicaSpec::kUnlimited;
  return spec;
}

/// Arrival in ns, prompt, answer, prefix, hits.
struct Asked {
  std::int64_t arrival, prompt, answer, prefix = 0, hits = 0;
};

struct Served {
  std::vector<std::int64_t> first, end, evictions;
  ServingTotals totals;
  std::vector<std::pair<Time, int>> scaled;
};

Served serve_all(FleetSpec spec, const std::vector<Asked>& asked, bool leaps) {
  spec.replica.leaps = leaps;
  Fleet fleet{spec};
  for (const Asked& a : asked) fleet.submit({Time::nanoseconds(a.arrival), a.prompt, a.answer, a.prefix, a.hits});
  for (Time now = fleet.next(); now != Time::never(); now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
  Served served;
  for (const RequestResult& record : fleet.records()) {
    served.first.push_back(record.first.ns());
    served.end.push_back(record.end.ns());
    served.evictions.push_back(record.evictions);
  }
  served.totals = fleet.totals();
  served.scaled.assign(fleet.scaled().begin(), fleet.scaled().end());
  return served;
}

using Instants = std::vector<std::int64_t>;

/// Checks the instants with leaps and without, and that both have equal counters; returns the run with leaps.
Served check_served(const FleetSpec& spec, const std::vector<Asked>& asked, const Instants& first,
                    const Instants& end) {
  Served leaping = serve_all(spec, asked, true);
  const Served stepping = serve_all(spec, asked, false);
  CHECK(leaping.first == first);
  CHECK(leaping.end == end);
  CHECK(stepping.first == first);
  CHECK(stepping.end == end);
  CHECK(leaping.evictions == stepping.evictions);
  CHECK(leaping.totals == stepping.totals);
  return leaping;
}

Instants in_ms(const std::vector<double>& ms) {
  Instants ns;
  for (const double t : ms) ns.push_back(std::llround(t * 1e6));
  return ns;
}

}  // namespace

TEST_CASE("serving: a prompt is bound by compute, tokens after it by the weights, and caches are read on top") {
  // S1 to S5. 600 tokens x 2 us = 1.2 ms, then three steps of 1 ms.
  check_served(serving_spec(), {{0, 600, 4}}, {1'200'000}, {4'200'000});
  // 10 ns a token in the cache: 600, then 601, 602 and 603.
  check_served(serving_spec(2 * kUs, 10), {{0, 600, 4}}, {1'206'000}, {4'224'060});
  check_served(serving_spec(), {{0, 300, 1}}, {kMs}, {kMs});
  // Step 2 of the first ends at 2,212,010; then 100 + 602 tokens in caches, and 101 tokens of 2 us are no bound.
  check_served(serving_spec(2 * kUs, 10), {{0, 600, 3}, {1'300'000, 100, 2}}, {1'206'000, 3'219'030},
               {3'219'030, 4'220'040});
  // Who arrives at the end of a step is in the next one.
  const Served s5 = check_served(serving_spec(), {{0, 100, 3}, {kMs, 100, 2}}, in_ms({1, 2}), in_ms({3, 3}));
  CHECK(s5.totals.steps == 3);
  CHECK(s5.totals.given == 5);
  CHECK(s5.totals.computed == 100 + 101 + 2);
  CHECK(s5.totals.cached_tokens == 100 + (101 + 100) + (102 + 101));
}

TEST_CASE("serving: running requests go first, and prompts share what is left of a step's tokens") {
  FleetSpec chunks = serving_spec();
  chunks.replica.tokens = 512;
  // S6: chunks of 511, 511 and 178 tokens beside one that decodes.
  check_served(chunks, {{0, 10, 6}, {500'000, 1200, 2}}, {kMs, 4'048'000}, {6'048'000, 5'048'000});
  FleetSpec whole = serving_spec();
  whole.replica.tokens = 500;
  whole.replica.chunked = false;
  // S7: 500 tokens fit only when both others have ended.
  check_served(whole, {{0, 10, 3}, {0, 10, 4}, {100'000, 500, 2}}, in_ms({1, 1, 5}), in_ms({3, 4, 6}));
  CHECK_THROWS_WITH_AS(serve_all(whole, {{0, 501, 1}}, true), doctest::Contains("aren't chunked"), InputError);
}

TEST_CASE("serving: a batch that is full makes waves") {
  FleetSpec spec = serving_spec();
  spec.replica.batch = 1;
  // S8
  check_served(spec, {{0, 100, 2}, {0, 100, 2}, {2'500'000, 100, 2}}, in_ms({1, 3, 5}), in_ms({2, 4, 6}));
  spec = serving_spec(0);
  spec.replica.batch = 4;
  // S9: ten requests of three steps, four at a time.
  const Served waves = check_served(spec, std::vector<Asked>(10, {0, 1, 3}), in_ms({1, 1, 1, 1, 4, 4, 4, 4, 7, 7}),
                                    in_ms({3, 3, 3, 3, 6, 6, 6, 6, 9, 9}));
  CHECK(waves.totals.batch_ns == (4 + 4 + 2) * 3 * kMs);
}

TEST_CASE("serving: KV memory that runs out evicts the last that runs, which computes its tokens again") {
  FleetSpec spec = serving_spec(300 * kUs);
  spec.replica.blocks = 10;
  // S10: 6 tokens of 3 + 3 after three steps; the second has 5 in its cache, and computes 6 at 300 us after 4.8 ms.
  const Served pair = check_served(spec, {{0, 3, 4}, {0, 3, 4}}, in_ms({1.8, 1.8}), in_ms({4.8, 6.6}));
  CHECK(pair.evictions == Instants{0, 1});
  CHECK(pair.totals.recomputed == 5);
  CHECK(pair.totals.computed == 2 * (3 + 4 - 1) + 5);
  CHECK(pair.totals.most_blocks == 10);
  // S11: the fourth is evicted first, then the third, which stands before it in the queue.
  spec = serving_spec(0);
  spec.replica.block = 2;
  spec.replica.blocks = 12;
  const Served four =
      check_served(spec, {{0, 6, 6}, {0, 6, 6}, {0, 6, 6}, {0, 2, 2}}, in_ms({1, 1, 1, 1}), in_ms({6, 6, 9, 7}));
  CHECK(four.evictions == Instants{0, 0, 1, 1});
  // S12: the second prompt doesn't fit beside the first; the third would, and waits behind it.
  spec.replica.block = 16;
  spec.replica.blocks = 10;
  check_served(spec, {{0, 96, 3}, {0, 80, 2}, {0, 16, 2}}, in_ms({1, 4, 4}), in_ms({3, 5, 5}));
  CHECK_THROWS_WITH_AS(serve_all(spec, {{0, 100, 62}}, true), doctest::Contains("KV memory"), InputError);
}

TEST_CASE("serving: with prefill and decode apart, caches are sent one after the other") {
  FleetSpec spec = serving_spec();
  spec.decode.replicas = 1;
  spec.decode.latency = Time::microseconds(100);
  spec.decode.per_token = Time::microseconds(1);
  // S13: both prompts end at 1.6 ms; the caches come at 2.1 and 2.6 ms; the second waits until 3.1 ms.
  check_served(spec, {{0, 400, 3}, {0, 400, 3}}, in_ms({1.6, 1.6}), in_ms({4.1, 5.1}));
}

TEST_CASE("serving: prefix hits and accepted drafts cost no computing") {
  FleetSpec hits = serving_spec(20 * kUs);
  hits.replica.block = 16;
  hits.replica.blocks = 100;
  // S14: 128 of 640 tokens at 20 us.
  check_served(hits, {{0, 640, 2, 0, 512}}, {2'560'000}, {3'560'000});
  FleetSpec drafts = serving_spec(100 * kUs);
  drafts.speculation.drafts = 3;
  drafts.speculation.accepted = {2, 0, 3};
  // S15: 1 + 3 + 1 + 4 + 3 tokens.
  check_served(drafts, {{0, 10, 12}}, in_ms({1}), in_ms({5}));
}

TEST_CASE("serving: routing in turn, by outstanding requests and by prefix") {
  FleetSpec spec = serving_spec();
  spec.replicas = 2;
  spec.replica.batch = 1;
  spec.routing = RequestRouting::round_robin;
  const std::vector<Asked> asked{{0, 100, 6}, {0, 100, 1}, {1'100'000, 100, 6}, {1'200'000, 100, 2}};
  check_served(spec, asked, in_ms({1, 1, 7, 2.2}), in_ms({6, 1, 12, 3.2}));  // S16
  spec.routing = RequestRouting::least;
  check_served(spec, asked, in_ms({1, 1, 2.1, 7}), in_ms({6, 1, 7.1, 8}));  // S17
  spec.routing = RequestRouting::affinity;                                  // S18
  check_served(spec, {{0, 100, 2, 7}, {0, 100, 2, 7}, {0, 100, 2, 4}, {0, 100, 1, 7}}, in_ms({1, 3, 1, 5}),
               in_ms({2, 4, 2, 5}));
}

TEST_CASE("serving: replicas start and stop by the number of outstanding requests") {
  FleetSpec spec = serving_spec(0);
  spec.replica.batch = 1;
  spec.scaling = {Time::milliseconds(2), 2, 1, Time::milliseconds(3), 1, 2};
  // S19: three are left at 2 ms, so that a second replica is ready at 5 ms; one at 8 ms, so that it takes no more.
  const Served served =
      check_served(spec, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {5'500'000, 1, 2}, {5'500'000, 1, 2}},
                   in_ms({1, 3, 5, 7, 6.5, 8.5}), in_ms({2, 4, 6, 8, 7.5, 9.5}));
  using Change = std::pair<Time, int>;
  CHECK(served.scaled == std::vector<Change>{{Time::milliseconds(5), 2}, {Time::milliseconds(8), 1}});
}

TEST_CASE("serving: a step law in picoseconds leaps exactly") {
  // Every step ends between two nanoseconds: 999 steps end at their exact sum, rounded up once.
  constexpr std::int64_t kWeights = 1'000'300'001, kCache = 7'001;  // ps
  FleetSpec spec = serving_spec(0);
  spec.replica.law.weights = kWeights;
  spec.replica.law.cache = kCache;
  const std::int64_t first = kWeights + 100 * kCache, rest = 999 * kWeights + kCache * (999 * 100 + 999 * 1000 / 2);
  const auto up = [](std::int64_t ps) { return (ps + 999) / 1000; };
  check_served(spec, {{0, 100, 1000}}, {up(first)}, {up(first + rest)});
  // A step that begins later doesn't begin at the exact end of an earlier one.
  check_served(spec, {{0, 100, 1}, {5 * kMs, 100, 1}}, {up(first), 5 * kMs + up(first)},
               {up(first), 5 * kMs + up(first)});
}

TEST_CASE("serving: a fleet that is held stops at the end of a step, and loses its caches if asked") {
  // Steps of 1 ms; held at 2.5 ms, or at 3 ms, the end of a step, it stands from 3 ms on, and goes on at 4 ms. If its
  // caches are lost, the prompt and three tokens are computed once more, 103 tokens of 10 us in one step.
  const auto serve_until = [](Fleet& fleet, Time end) {
    for (Time now = fleet.next(); now < end; now = fleet.next()) {
      fleet.advance(now);
      fleet.begin_steps();
    }
  };
  for (const int run : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const bool recompute = run % 2 == 1, at_end = run / 2 % 2 == 1;
    FleetSpec spec = serving_spec(10 * kUs);
    spec.replica.leaps = run / 4 == 0;
    Fleet fleet{spec};
    fleet.submit({Time{}, 100, 6});
    const Time held = Time::microseconds(at_end ? 3000 : 2500);
    serve_until(fleet, held);
    fleet.advance(held);
    fleet.hold();
    CHECK(fleet.stands() == at_end);
    serve_until(fleet, Time::never());
    CHECK(fleet.stands());
    CHECK(fleet.totals().given == 3);
    fleet.advance(Time::milliseconds(4));
    fleet.release(recompute);
    fleet.begin_steps();
    serve_until(fleet, Time::never());
    CHECK(fleet.record(0).first == Time::milliseconds(1));
    CHECK(fleet.record(0).end == Time::microseconds(recompute ? 7030 : 7000));
    CHECK(fleet.totals().recomputed == (recompute ? 102 : 0));
  }
}

TEST_CASE("serving: a failure loses the step and the caches, but no token") {
  // Lost at 2.5 ms: two tokens have been given; the prompt and both are computed in a step of 1.02 ms, which gives the
  // third, and three more steps follow.
  for (const bool leaps : {true, false}) {
    FleetSpec spec = serving_spec(10 * kUs);
    spec.replica.leaps = leaps;
    Fleet fleet{spec};
    fleet.submit({Time{}, 100, 6});
    const Time lost = Time::microseconds(2500);
    for (Time now = fleet.next(); now != Time::never();
         now = std::min(fleet.next(), now < lost ? lost : Time::never())) {
      fleet.advance(now);
      if (now == lost) fleet.lose(now);
      fleet.begin_steps();
    }
    CHECK(fleet.record(0).end == Time::microseconds(2500 + 1020 + 3000));
    CHECK(fleet.totals().recomputed == 101);
    CHECK(fleet.totals().given == 6);
  }
}

TEST_CASE("serving: what ends at the instant of a failure isn't lost") {
  // Six steps of 1 ms give the first answer. Then the other prompt of 1 and its six tokens are computed in a step,
  // which gives the seventh; one more step follows.
  for (const bool leaps : {true, false}) {
    FleetSpec spec = serving_spec(10 * kUs);
    spec.replica.leaps = leaps;
    Fleet fleet{spec};
    fleet.submit({Time{}, 1, 6});
    fleet.submit({Time{}, 1, 8});
    const Time lost = Time::milliseconds(6);
    while (fleet.next() < lost) {
      fleet.advance(fleet.next());
      fleet.begin_steps();
    }
    fleet.lose(lost);
    CHECK(std::ranges::equal(fleet.ended(), std::vector<RequestNumber>{0}));
    CHECK(fleet.outstanding() == 1);
    CHECK(!fleet.done());
    fleet.begin_steps();
    for (; !fleet.done(); fleet.begin_steps()) fleet.advance(fleet.next());
    CHECK(fleet.record(0).end == lost);
    CHECK(fleet.record(1).end == Time::milliseconds(8));
    CHECK(fleet.totals().recomputed == 6);
    CHECK(fleet.totals().given == 14);
  }
}
