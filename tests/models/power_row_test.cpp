// Rows of racks with a budget of power, by hand and by the closed forms of docs/validation/serving.md; and replicas
// whose clock changes.

#include "models/serving/power_row.hpp"
#include "models/serving/fleet.hpp"
#include "models/serving/request_laws.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

PowerRowSpec polca_row(Time period) {
  return {.budget_w = 100'000,
          .base_w = 0,
          .period = period,
          .caps = RowCaps::polca,
          .low = 0.8,
          .high = 0.89,
          .release = 0.05,
          .delay = Time::seconds(40),
          .brake_delay = Time::seconds(5)};
}

/// A load whose power without a cap changes at instants, and is cut by each level of its row to a share.
class CappedLoad {
 public:
  CappedLoad(PowerRow& row, std::array<double, 4> shares) : row_{row}, shares_{shares} {
    row_.join([this](Time now) { return drawn(now); });
  }
  /// From `now` on, an instant of the row or one at which advance_to() has ended.
  void set(Time now, double watts) {
    drawn_ = drawn(now);
    since_ = now;
    watts_ = watts;
  }
  void advance_to(Time end) {
    for (Time next = row_.next(); next <= end; next = row_.next()) {
      row_.advance(next);
      if (row_.level() != level_) {
        set(next, watts_);
        level_ = row_.level();
      }
    }
  }
  [[nodiscard]] double watts() const { return watts_ * shares_[static_cast<std::size_t>(level_)]; }

 private:
  [[nodiscard]] Int128 drawn(Time now) const {
    return drawn_ + Int128{(now - since_).ns()} * static_cast<std::int64_t>(watts() * 1000);
  }
  PowerRow& row_;
  std::array<double, 4> shares_;
  RowLevel level_ = RowLevel::free;
  double watts_ = 0;
  Time since_;
  Int128 drawn_ = 0;
};

}  // namespace

TEST_CASE("power rows: a step in load is beyond the budget for the brake's delay, and for the reading") {
  for (const Time period : {Time::seconds(1), Time::milliseconds(1)}) {
    PowerRow row{polca_row(period), Time{}};
    CappedLoad load{row, {1, 0.9, 0.8, 0.3}};
    load.set(Time{}, 70'000);
    load.advance_to(Time::seconds(10));
    CHECK(row.totals().caps == 0);
    load.set(Time::seconds(10), 105'000);
    load.advance_to(Time::seconds(30));
    // 5 kW x 5 s, and x a period until it is seen.
    CHECK(row.totals().over_joule == near(25'000 + 5'000 * period.to_seconds()));
    CHECK(row.totals().over * period.ns() == 5'000'000'000 + period.ns());
    CHECK(row.level() == RowLevel::brake);
    CHECK(row.totals().brakes == 1);
    CHECK(row.totals().peak_w == near(105'000));
  }
}

TEST_CASE("power rows: caps come one after the other, act after 40 s, and are released 5 points below") {
  PowerRow row{polca_row(Time::seconds(2)), Time{}};
  CappedLoad load{row, {1, 0.9, 0.8, 0.3}};
  load.set(Time{}, 84'000);
  load.advance_to(Time::seconds(41));  // read at 2 s
  CHECK(row.level() == RowLevel::free);
  load.advance_to(Time::seconds(42));
  CHECK(row.level() == RowLevel::first);
  CHECK(load.watts() == near(75'600));
  load.advance_to(Time::seconds(200));  // 75.6% is above 75%
  CHECK(row.level() == RowLevel::first);
  load.set(Time::seconds(200), 99'500);  // capped 89.6%: second caps, 79.6%, which is below 84%: and so on
  load.advance_to(Time::seconds(242));
  CHECK(row.level() == RowLevel::second);
  load.advance_to(Time::seconds(284));
  CHECK(row.level() == RowLevel::first);
  CHECK(row.totals().caps == 2);
  CHECK(row.totals().brakes == 0);
  load.set(Time::seconds(284), 60'000);
  load.advance_to(Time::seconds(400));
  CHECK(row.level() == RowLevel::free);
}

TEST_CASE("power rows: oversubscription by 30%, half of it low priority, is below the budget under the lock") {
  // Each server peaks at 0.79 of what the row has for it, so 1 / 0.79 as many fit; 1.3 as many draw 1.027 of the
  // budget.
  CHECK(1 / 0.79 == near(1.2658, 1e-4));
  PowerRowSpec spec = polca_row(Time::seconds(1));
  spec.brake_delay = spec.delay;
  PowerRow row{spec, Time{}};
  CappedLoad low{row, {1, 0.8, 0.8, 0.8}}, high{row, {1, 1, 1, 1}};
  low.set(Time{}, 1.3 * 79'000 / 2);
  high.set(Time{}, 1.3 * 79'000 / 2);
  low.advance_to(Time::seconds(40));
  CHECK(row.totals().peak_w / spec.budget_w == near(1.027));
  low.advance_to(Time::seconds(41));
  CHECK((low.watts() + high.watts()) / spec.budget_w == near(0.9243, 1e-4));
}

TEST_CASE("power rows: without caps a row only measures, and one that sleeps makes up for its readings") {
  PowerRowSpec spec = polca_row(Time::seconds(1));
  spec.caps = RowCaps::none;
  spec.base_w = 1000;
  PowerRow row{spec, Time{}};
  row.join([](Time) { return Int128{0}; });
  row.advance(Time::milliseconds(10'500));
  CHECK(row.totals().periods == 10);
  CHECK(row.totals().joule == near(10'000));
  CHECK(row.next() == Time::seconds(11));
  PowerRowSpec wrong = spec;
  wrong.low = 0.95;
  CHECK_THROWS_AS((PowerRow{wrong, Time{}}), InputError);
}

namespace {

/// The full clock, and one at which prompts take twice as long and other steps a quarter longer.
ReplicaSpec clocked_replica(bool leaps) {
  ReplicaSpec spec;
  spec.law.weights = 1'000'000'000;
  spec.law.token = 2'000'000;
  spec.law.cache = 10'000;
  spec.law.overhead = 1'000'000;
  spec.blocks = 4000;
  spec.leaps = leaps;
  const ReplicaPower full{.idle = 80'000, .prompts = 400'000, .decodes = {{1, 236'000}, {5, 256'000}}};
  const ReplicaPower low{.idle = 80'000, .prompts = 250'000, .decodes = {{1, 180'000}}};
  spec.clocks = {{.prompts = spec.law, .decodes = spec.law, .power = full},
                 {.prompts = at_pace(spec.law, 0.5), .decodes = at_pace(spec.law, 0.8), .power = low}};
  return spec;
}

}  // namespace

TEST_CASE("serving clocks: prompts slow in proportion, decoding less, the host not at all; and energy, by hand") {
  FleetSpec spec;
  spec.replica = clocked_replica(true);
  spec.replica.law.cache = 0;
  for (StepClock& clock : spec.replica.clocks) clock.prompts.cache = clock.decodes.cache = 0;
  Fleet fleet{spec};
  fleet.submit({Time{}, 600, 4});
  fleet.advance(Time{});
  fleet.set_clock(1);
  fleet.begin_steps();
  for (Time now = fleet.next(); now < Time::never(); now = fleet.next()) {
    fleet.advance(now);
    fleet.begin_steps();
  }
  // 1 us + 2 x 1.2 ms, then three steps of 1 us + 1.25 x 1 ms.
  CHECK(fleet.record(0).first == Time::microseconds(2401));
  CHECK(fleet.record(0).end == Time::microseconds(2401 + 3 * 1251));
  CHECK(fleet.drawn(0, Time::seconds(1)) == Int128{2'401'000} * 250'000 + Int128{3 * 1'251'000} * 180'000);
  CHECK(spec.replica.clocks[0].power.decoding(1) == 236'000);
  CHECK(spec.replica.clocks[0].power.decoding(3) == 246'000);
  CHECK(spec.replica.clocks[0].power.decoding(99) == 256'000);
}

TEST_CASE("serving clocks: leaps and single steps agree where clocks change and replicas lose their steps") {
  constexpr int kCases = 60;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    std::vector<ServingTotals> totals;
    std::vector<std::vector<RequestResult>> records;
    for (const bool leaps : {true, false}) {
      FleetSpec spec;
      spec.replica = clocked_replica(leaps);
      spec.replicas = 2;
      Fleet fleet{spec};
      RandomStream stream{seed, "clocks"};
      for (int i = 0; i < 20; ++i)
        fleet.submit({Time::nanoseconds(static_cast<std::int64_t>(stream.uniform() * 2e8)),
                      1 + static_cast<std::int64_t>(stream.uniform() * 900),
                      1 + static_cast<std::int64_t>(stream.uniform() * 300)});
      for (int change = 1; change <= 12; ++change) {
        const Time at = Time::nanoseconds(static_cast<std::int64_t>((change + stream.uniform()) * 2e7));
        for (Time now = fleet.next(); now < at; now = fleet.next()) {
          fleet.advance(now);
          fleet.begin_steps();
        }
        fleet.advance(at);
        if (change % 4 == 3) fleet.lose(at, 1);
        fleet.set_clock(static_cast<std::size_t>(change) % 2);
        fleet.begin_steps();
      }
      for (Time now = fleet.next(); now < Time::never(); now = fleet.next()) {
        fleet.advance(now);
        fleet.begin_steps();
      }
      totals.push_back(fleet.totals());
      records.emplace_back(fleet.records().begin(), fleet.records().end());
    }
    CHECK(totals[0] == totals[1]);
    CHECK(totals[0].drawn > 0);
    CHECK(records[0] == records[1]);
  }
}
