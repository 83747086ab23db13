#include "sim/pulse.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a pulse asks now and then, however long a piece of work takes, and not again after a no") {
  int asked = 0;
  Pulse pulse{[&] { return ++asked < 4; }};
  // Pieces of no length: at most once in each 5 ms.
  const auto begin = Pulse::Clock::now();
  for (int piece = 0; piece < 1000; ++piece) pulse.stops(false);
  const auto passed = Pulse::Clock::now() - begin;
  CHECK(asked <= passed / Pulse::kBeat);
  if (asked > 2) return;  // the machine has slept through this
  // Long pieces: after each, but for those that the last look at the clock has not foreseen.
  const int before = asked;
  int pieces = 0;
  while (asked == before) {
    std::this_thread::sleep_for(Pulse::kBeat);
    pulse.stops(false);
    ++pieces;
  }
  CHECK(pieces <= 17);
  std::this_thread::sleep_for(Pulse::kBeat);
  pulse.stops(false);
  CHECK(asked == before + 2);
  while (asked < 3) CHECK(!pulse.stops(true));  // asked for at once
  CHECK(pulse.stops(true));
  CHECK(pulse.has_stopped());
  CHECK(pulse.stops(true));
  CHECK(asked == 4);
}

TEST_CASE("a pulse without a monitor never stops") {
  Pulse pulse{{}};
  CHECK(!pulse.stops(true));
  CHECK(!pulse.stops(false));
  CHECK(!pulse.has_stopped());
}
