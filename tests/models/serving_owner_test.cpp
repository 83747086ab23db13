// What owners of a fleet do, such as to lose replicas; and speculation by an acceptance rate.

#include "models/serving/fleet.hpp"
#include "models/serving/request_laws.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Steps of 1 ms, without limits.
FleetSpec owned_spec() {
  FleetSpec spec;
  spec.replica.law.weights = 1'000'000'000;
  spec.replica.tokens = ReplicaSpec::kUnlimited;
  return spec;
}

void serve_owned(Fleet& fleet, Time end = Time::never()) {
  for (Time now = fleet.next(); now < end; now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
}

}  // namespace

TEST_CASE("serving owners: a cache on its way is lost with the replica that sends it") {
  FleetSpec spec = owned_spec();
  spec.decode.replicas = 1;
  spec.decode.latency = Time::milliseconds(10);
  Fleet fleet{spec};
  fleet.submit({Time{}, 400, 3});
  serve_owned(fleet, Time::milliseconds(5));
  fleet.advance(Time::milliseconds(5));
  fleet.lose(Time::milliseconds(5), 0);
  fleet.begin_steps();
  serve_owned(fleet);
  // Computed again from 5 to 6 ms, which gives the second token; sent until 16 ms; the third at 17 ms.
  CHECK(fleet.record(0).first == Time::milliseconds(1));
  CHECK(fleet.record(0).end == Time::milliseconds(17));
  CHECK(fleet.totals().recomputed == 400);
  CHECK(fleet.totals().given == 3);
}

TEST_CASE("serving owners: the record says what a request waited for") {
  FleetSpec spec = owned_spec();
  spec.replica.blocks = 10;
  Fleet fleet{spec};
  // The first holds 6 blocks and more; 5 are not free for the second before 3 ms. The third comes in the last step.
  fleet.submit({Time{}, 6, 3});
  fleet.submit({Time::microseconds(500), 5, 1});
  fleet.submit({Time::microseconds(2500), 1, 1});
  serve_owned(fleet);
  CHECK(fleet.record(0).waited_for == RequestWait::none);
  CHECK(fleet.record(1).waited_for == RequestWait::memory);
  CHECK(fleet.record(1).admitted == Time::milliseconds(3));
  CHECK(fleet.record(2).waited_for == RequestWait::none);
  spec.replica.batch = 1;
  Fleet narrow{spec};
  for (int i = 0; i < 2; ++i) narrow.submit({Time{}, 1, 2});
  serve_owned(narrow);
  CHECK(narrow.record(1).waited_for == RequestWait::batch);
}

TEST_CASE("serving owners: drafts that are accepted with a probability give the tokens of its sum") {
  FleetSpec spec = owned_spec();
  spec.speculation.drafts = 3;
  spec.speculation.acceptance = 0.8;
  spec.replica.batch = 1;
  Fleet fleet{spec};
  fleet.submit({Time{}, 1, 60'000});
  serve_owned(fleet);
  // 1 + 0.8 + 0.64 + 0.512 tokens a step.
  CHECK(59'999.0 / static_cast<double>(fleet.totals().steps - 1) == near(2.952, 0.01));
}

TEST_CASE("serving owners: a specification that allows no step is refused") {
  const auto refused = [](auto change) {
    FleetSpec spec = owned_spec();
    change(spec);
    CHECK_THROWS_AS(Fleet{spec}, InputError);
  };
  refused([](FleetSpec& spec) { spec.replicas = 0; });
  refused([](FleetSpec& spec) { spec.replica.law.weights = 0; });
  refused([](FleetSpec& spec) { spec.replica.law.cache = -1; });
  refused([](FleetSpec& spec) { spec.replica.blocks = 0; });
  refused([](FleetSpec& spec) { spec.replica.batch = 0; });
  refused([](FleetSpec& spec) { spec.speculation.acceptance = 1.5; });
  refused([](FleetSpec& spec) { spec.scaling = {Time::seconds(1), 2, 1, Time{}, 2, 4}; });
  refused([](FleetSpec& spec) { spec.scaling = {Time::seconds(1), 1, 2, Time{}, 1, 4}; });
  Fleet fleet{owned_spec()};
  CHECK_THROWS_AS(fleet.submit({Time{}, 0, 1}), InputError);
  CHECK_THROWS_AS(fleet.submit({Time{}, 1, 0}), InputError);
  fleet.advance(Time{});
  fleet.submit({Time::seconds(1), 1, 1});
  serve_owned(fleet);
  CHECK_THROWS_AS(fleet.submit({Time{}, 1, 1}), InputError);
}

TEST_CASE("serving owners: requests of a replica that stops are sent to the others when that is noticed") {
  // At 2.5 ms the first has given two tokens of six, and 101 tokens are in its cache. It is noticed at 4 ms, at the end
  // of a step of the second replica, whose next step computes 102 tokens and gives the third.
  FleetSpec spec = owned_spec();
  spec.replicas = 2;
  Fleet fleet{spec};
  for (int i = 0; i < 2; ++i) fleet.submit({Time{}, 100, 6});
  serve_owned(fleet, Time::microseconds(2500));
  fleet.advance(Time::microseconds(2500));
  fleet.stop(Time::microseconds(2500), 0, Time::milliseconds(4));
  fleet.begin_steps();
  CHECK(fleet.asked() == 1);
  CHECK(fleet.vacant() == 0);
  serve_owned(fleet);
  CHECK(fleet.record(0).first == Time::milliseconds(1));
  CHECK(fleet.record(0).end == Time::milliseconds(8));
  CHECK(fleet.record(0).replica == 1);
  CHECK(fleet.record(1).end == Time::milliseconds(6));
  CHECK(fleet.totals().recomputed == 101);
  CHECK(fleet.totals().given == 12);
  CHECK(fleet.totals().computed == 2 * 105 + 101);
}

TEST_CASE("serving owners: requests wait while no replica takes any, and one that comes back takes them") {
  FleetSpec spec = owned_spec();
  Fleet fleet{spec};
  fleet.submit({Time{}, 100, 3});
  fleet.submit({Time::milliseconds(2), 100, 1});
  serve_owned(fleet, Time::microseconds(1500));
  fleet.advance(Time::microseconds(1500));
  fleet.stop(Time::microseconds(1500), 0, Time::microseconds(1500));
  serve_owned(fleet, Time::milliseconds(3));
  CHECK(fleet.record(1).replica == -1);
  fleet.start(Time::milliseconds(3), Time::milliseconds(10));
  CHECK(fleet.asked() == 0);
  serve_owned(fleet);
  // From 10 ms on both: the first gives its second and third token, the second its only one.
  CHECK(fleet.record(0).end == Time::milliseconds(12));
  CHECK(fleet.record(1).end == Time::milliseconds(11));
}

TEST_CASE("serving owners: the rule asks, and the owner starts and stops replicas") {
  // Case S19, in which a second replica is asked for at 2 ms; its owner has a place for it at 2.5 ms. At 8 ms one
  // request is left, on the second, which takes no more, and has ended its answer at 9.5 ms.
  FleetSpec spec = owned_spec();
  spec.replica.batch = 1;
  spec.scaling = {
      .period = Time::milliseconds(2), .up = 2, .down = 1, .cold = {}, .least = 1, .most = 2, .by_owner = true};
  Fleet fleet{spec};
  for (int i = 0; i < 4; ++i) fleet.submit({Time{}, 1, 2});
  for (int i = 0; i < 2; ++i) fleet.submit({Time::microseconds(5500), 1, 2});
  serve_owned(fleet, Time::microseconds(2500));
  CHECK(fleet.asked() == 1);
  fleet.advance(Time::microseconds(2500));
  fleet.start(Time::microseconds(2500), Time::milliseconds(5));
  serve_owned(fleet, Time::milliseconds(9));
  CHECK_FALSE(fleet.drained(1));
  serve_owned(fleet, Time::milliseconds(10));
  CHECK(fleet.drained(1));
  CHECK(fleet.vacant() == 2);  // it is the owner's until it stops
  fleet.advance(Time::milliseconds(10));
  fleet.stop(Time::milliseconds(10), 1, Time::milliseconds(10));
  CHECK(fleet.vacant() == 1);
  CHECK(fleet.asked() == 0);
}

TEST_CASE("serving owners: the integral of the batch is the sum of the times in it") {
  // Little's law, exact: who is admitted runs in every step until the end, if nobody is evicted.
  RequestLaws laws;
  laws.arrivals.per_second = {40};
  laws.prompt.mu = 4;
  laws.prompt.sigma = 1;
  laws.answer.mu = 3;
  laws.answer.sigma = 1;
  RequestStream stream{laws, 1, "little"};
  FleetSpec spec = owned_spec();
  spec.replicas = 3;
  spec.replica.law.token = 20'000'000;
  spec.replica.law.cache = 7'013;
  spec.replica.batch = 4;
  Fleet fleet{spec};
  for (int i = 0; i < 2000; ++i) fleet.submit(stream.next());
  serve_owned(fleet);
  Int128 in_batch = 0;
  for (const RequestResult& record : fleet.records()) in_batch += (record.end - record.admitted).ns();
  CHECK(fleet.totals().batch_ns == in_batch);
  CHECK(fleet.totals().ended == 2000);
}
