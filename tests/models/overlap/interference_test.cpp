// Tests what computing and communicating on the same GPU cost each other, against closed forms and hand-worked runs.

#include "sim/interference.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/exchange_network.hpp"
#include "models/overlap/steady_state.hpp"
#include "models/overlap/time_together.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

constexpr std::int64_t kMillion = 1'000'000;

ExchangeCost one_ns_a_byte(Interference interference) {
  ExchangeCost cost = ExchangeCost::measured({Time{}, TimePerByte{1}});
  cost.interference = interference;
  return cost;
}

/// The ends of `iterations` iterations, after both executors have agreed on them.
std::vector<Time> ends(const std::string& text, Interference interference, std::int64_t iterations) {
  SteadyStateOptions options;
  options.iterations = iterations;
  const IterationGraph graph = graph_from_text(text);
  const ExchangeCost cost = one_ns_a_byte(interference);
  const std::vector<Time> fast = steady_state(graph, cost, options).ends;
  CHECK(measure_in_engine(graph, cost, 3, options).ends == fast);
  return fast;
}

/// What time_together() says of a task and a message, measured: the task and the message follow a start that takes no
/// time, and the next start waits for both.
double measured(std::int64_t c_time, std::int64_t m_time, Interference interference) {
  const std::string text = fmt::format(
      "role w 3 | compute s w 0 | compute c w {} | all-reduce m w {} | compute e w 0 | s -> c | s -> m | c -> e | "
      "m -> e | e => s",
      c_time, m_time);
  const std::vector<Time> all = ends(text, interference, 4);
  CHECK((all[1] - all[0]) == (all[3] - all[2]));
  return static_cast<double>((all[3] - all[2]).ns());
}

}  // namespace

TEST_CASE("a task and a message that start together take as long as the closed form says") {
  struct Case {
    std::int64_t c_time, m_time, c, x;
    double expected;
  };
  for (const Case& each : {Case{100, 60, 250, 0, 112}, Case{100, 60, 250, 250, 115}, Case{100, 60, 200, 100, 111},
                           Case{60, 100, 250, 250, 115}, Case{60, 100, 250, 0, 100}, Case{100, 100, 1000, 1000, 200},
                           Case{100, 90, 250, 0, 118}}) {
    INFO(each.c_time, " ", each.m_time, " ", each.c, " ", each.x);
    const Time both =
        time_together(Time::microseconds(each.c_time), Time::microseconds(each.m_time), {each.c * 1000, each.x * 1000});
    CHECK(static_cast<double>(both.ns()) == near(each.expected * 1000));
    const double found = measured(each.c_time * kMillion, each.m_time * kMillion, {each.c * 1000, each.x * 1000});
    CHECK(found >= each.expected * kMillion - 1e-3);
    CHECK(found <= each.expected * kMillion + 1);
  }
}

TEST_CASE("the measured time follows the closed form to a nanosecond for any lengths and factors") {
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t c_time = 1 + i * 7919 % 100'003;
    const std::int64_t m_time = 1 + i * 104'729 % 99'991;
    const Interference interference{i * 15'485'863 % 1'300'000, i % 4 == 0 ? 0 : i * 32'452'843 % 900'000};
    INFO(c_time, " ", m_time, " ", interference.compute, " ", interference.network);
    const auto expected =
        static_cast<double>(time_together(Time::nanoseconds(c_time), Time::nanoseconds(m_time), interference).ns());
    const double found = measured(c_time, m_time, interference);
    CHECK(found >= expected - 1 - 1e-6 * expected);
    CHECK(found <= expected + 2);  // both ends are rounded up
  }
}

TEST_CASE("several messages at once slow a task down once") {
  // Two messages of 40 share the network: 0-80. The task of 100 does 80 / 1.25 = 64 by then and 36 at full rate.
  const std::vector<Time> all = ends(
      "role w 3 | compute s w 0 | compute c w 100000 | all-reduce m w 40000 | all-reduce n w 40000 | compute e w 0 | "
      "s -> c | s -> m | s -> n | c -> e | m -> e | n -> e | e => s",
      {250'000, 0}, 2);
  CHECK((all[1] - all[0]).ns() == 116'000);
}

TEST_CASE("computing and communicating one after the other are not slowed down") {
  const char* const kInTurn = "role w 3 | compute c w 100 | all-reduce m w 70 | c -> m | m => c";
  CHECK(ends(kInTurn, {}, 6) == ends(kInTurn, {900'000, 700'000}, 6));
}

TEST_CASE("a task of another role is not slowed down") {
  // The host thread h works while the workers communicate.
  const char* const kHost =
      "role w 3 | role h 3 | compute c w 100 | compute t h 300 | all-reduce m w 200 | c -> m | m => c | t => t | t => "
      "c";
  CHECK(ends(kHost, {}, 6) == ends(kHost, {900'000, 700'000}, 6));
}

TEST_CASE("a start-up is not slowed down, only the bytes are") {
  ExchangeCost cost = ExchangeCost::measured({Time::nanoseconds(1000), TimePerByte{1}});
  ExchangeLanes lanes{cost};
  const TransferId id = lanes.start(CollectiveKind::all_reduce, CollectiveScope::all, Bytes{100}, Time{});
  lanes.slow_down(id, 2, Time{});
  CHECK(lanes.next_end().ns() == 1200);
  lanes.slow_down(id, 1, Time::nanoseconds(1100));  // 50 bytes are left
  CHECK(lanes.next_end().ns() == 1150);
}

TEST_CASE("a task whose rate changes ends at the same time however often somebody looks") {
  const Interference third{333'333, 0};
  PacedTask seldom{Time::nanoseconds(1'000'003), Time{}, third};
  PacedTask often = seldom;
  seldom.set_slowed(true, Time::nanoseconds(17));
  often.set_slowed(true, Time::nanoseconds(17));
  for (std::int64_t at = 18; at < 900'000; at += 1237) often.set_slowed(true, Time::nanoseconds(at));
  CHECK(often.end() == seldom.end());
  // 17 at full rate, 999986 x 1.333333 rounded up.
  CHECK(seldom.end().ns() == 17 + 1'333'315);
  seldom.set_slowed(false, Time::nanoseconds(17));
  CHECK(seldom.end().ns() == 1'000'003);
  seldom.shift(Time::nanoseconds(5));
  CHECK(seldom.end().ns() == 1'000'008);
}

TEST_CASE("a task that would end after the clock is an error, not a wrong figure") {
  PacedTask task{Time::nanoseconds(INT64_MAX / 2), Time::nanoseconds(INT64_MAX / 4), {kMillion, 0}};
  CHECK(task.end().ns() > 0);
  task.set_slowed(true, Time::nanoseconds(INT64_MAX / 4));
  CHECK_THROWS_AS((void)task.end(), InputError);
}
