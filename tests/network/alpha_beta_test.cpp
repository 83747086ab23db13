#include "network/alpha_beta.hpp"

#include "tests/near.hpp"
#include "tests/network/network_kit.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("a transfer on its own takes alpha + beta M, rounded up to a whole nanosecond") {
  for (const bool contention : {false, true}) {
    // 50 + 0.856 x 1000 = 906; 50 + 0.856 x 1001 = 906.856, so 907.
    Driver driver{cost(50, 0.856, 0.235), contention, 2, 1};
    const auto servers = Driver::ids({0, 1});
    CHECK(driver.network->solo_time(Driver::request(0, 1000, servers)).ns() == 906);
    CHECK(driver.network->solo_time(Driver::request(0, 1001, servers)).ns() == 907);
    CHECK(driver.network->next_end() == Time::never());
    const TransferId id = driver.start(0, 1001, {0, 1}, 10'000);
    CHECK(driver.next() == 10'907);
    CHECK(driver.finish(10'906).empty());
    CHECK(driver.finish(10'907) == std::vector{id});
    CHECK(driver.network->next_end() == Time::never());
    CHECK(driver.network->active_count(ServerId{0U}) == 0);
  }
}

TEST_CASE("k transfers on one interface take k beta + (k-1) eta per byte") {
  // beta 2, eta 1, 100 bytes: k = 1: 200, k = 2: 5 x 100, k = 3: 8 x 100, k = 4: 11 x 100.
  for (std::uint32_t k = 1; k <= 4; ++k) {
    Driver driver{cost(0, 2, 1), true, 2, 4};
    for (std::uint32_t job = 0; job < k; ++job) driver.start(job, 100, {0, 1}, 0);
    CHECK(driver.next() == (3 * k - 1) * 100);
    CHECK(driver.finish(driver.next()).size() == k);
  }
  Driver analytic{cost(0, 2, 1), false, 2, 4};
  for (std::uint32_t job = 0; job < 4; ++job) analytic.start(job, 100, {0, 1}, 0);
  CHECK(analytic.next() == 200);
  CHECK(analytic.finish(200).size() == 4);
}

TEST_CASE("k is the largest count on any server that the transfer touches") {
  // Beta 1, eta 0. Transfer 0: servers 0-1, 1: servers 1-2, 2: servers 2-3, 3: servers 2-4.
  // Server 1 has 2, server 2 has 3: k of 0 is 2, of the others 3.
  Driver driver{cost(0, 1, 0), true, 5, 4};
  const TransferId first = driver.start(0, 100, {0, 1}, 0);
  driver.start(1, 100, {1, 2}, 0);
  driver.start(2, 100, {2, 3}, 0);
  driver.start(3, 100, {2, 4}, 0);
  CHECK(driver.network->active_count(ServerId{1U}) == 2);
  CHECK(driver.network->active_count(ServerId{2U}) == 3);
  CHECK(driver.next() == 200);
  CHECK(driver.finish(200) == std::vector{first});
  // The others have sent 200 / 3 bytes. Server 2 still carries three: no change of rate, they end at 300.
  CHECK(driver.left(3, 0, 200) == near(100 - 200.0 / 3));
  CHECK(driver.next() == 300);
}

TEST_CASE("one that joins half-way: progress is kept when k changes, both ways") {
  // Beta 2, eta 1. A (100 bytes) alone until 100: 50 left. B (20 bytes) joins: 5 ns a byte for both. B ends at
  // 100 + 100 = 200, A has sent 20 more: 30 left, alone again: 200 + 60 = 260.
  Driver driver{cost(0, 2, 1), true, 3, 2};
  driver.start(0, 100, {0, 1}, 0);
  driver.start(1, 20, {1, 2}, 100);
  CHECK(driver.left(0, 0, 100) == 50);
  CHECK(driver.left(0, 0, 150) == 40);
  CHECK(driver.left(1, 1, 150) == 10);
  CHECK(driver.next() == 200);
  CHECK(driver.finish(200).size() == 1);
  CHECK(driver.left(0, 0, 200) == 30);
  CHECK(driver.next() == 260);
  CHECK(driver.finish(260).size() == 1);

  // Busy 260, contended 100; of the servers, 1 saw both, 0 and 2 one each.
  CHECK(driver.job(0, 300).active.ns() == 260);
  CHECK(driver.job(0, 300).contended.ns() == 100);
  CHECK(driver.job(1, 300).active.ns() == 100);
  CHECK(driver.job(1, 300).contended.ns() == 100);
  CHECK(driver.server(0, 300).active.ns() == 260);
  CHECK(driver.server(0, 300).contended.ns() == 0);
  CHECK(driver.server(1, 300).active.ns() == 260);
  CHECK(driver.server(1, 300).contended.ns() == 100);
  CHECK(driver.server(1, 300).transfers == 2);
  CHECK(driver.server(1, 300).bytes == Bytes{120});
  CHECK(driver.server(2, 300).active.ns() == 100);
}

TEST_CASE("usage is counted up to any instant, also in the middle of transfers") {
  Driver driver{cost(0, 2, 1), true, 2, 2};
  driver.start(0, 100, {0, 1}, 10);
  driver.start(1, 100, {0, 1}, 60);
  CHECK(driver.job(0, 50).active.ns() == 40);
  CHECK(driver.job(0, 70).contended.ns() == 10);
  CHECK(driver.server(0, 70).active.ns() == 60);
  CHECK(driver.server(0, 70).contended.ns() == 10);
  CHECK(driver.job(0, 70).transfers == 1);
}

TEST_CASE("two transfers of one job: its active time is the time of either, not the sum") {
  Driver driver{cost(0, 1, 0), false, 4, 1};
  driver.start(0, 100, {0, 1}, 0);
  driver.start(0, 100, {2, 3}, 50);
  CHECK(driver.finish(100).size() == 1);
  CHECK(driver.finish(150).size() == 1);
  CHECK(driver.job(0, 200).active.ns() == 150);
  CHECK(driver.job(0, 200).transfers == 2);
  CHECK(driver.job(0, 200).bytes == Bytes{200});
}

TEST_CASE("alpha passes at the same speed whatever k is, and before any byte") {
  // Alpha 100, beta 1, eta 0, 50 bytes. A at 0; B at 60, while A starts up. A's bytes begin at 100 with k = 2: 100 +
  // 100. B begins at 160, then A has 50 - 30 = 20 left; A ends at 200, B has sent 20 by then: 200 + 30.
  Driver driver{cost(100, 1, 0), true, 2, 2};
  driver.start(0, 50, {0, 1}, 0);
  driver.start(1, 50, {0, 1}, 60);
  CHECK(driver.left(0, 0, 99) == 50);
  CHECK(driver.left(0, 0, 160) == 20);
  CHECK(driver.next() == 200);
  CHECK(driver.finish(200).size() == 1);
  CHECK(driver.left(0, 0, 200) == 30);
  CHECK(driver.next() == 230);
}

TEST_CASE("a cancelled transfer is gone at once, the others speed up, its usage stays") {
  // Beta 1, eta 0: at 100 both have sent 50 of 100. A is cancelled: B ends at 150.
  Driver driver{cost(0, 1, 0), true, 2, 2};
  const TransferId a = driver.start(0, 100, {0, 1}, 0);
  const TransferId b = driver.start(1, 100, {0, 1}, 0);
  driver.network->cancel(a, Time::nanoseconds(100));
  CHECK(driver.network->active_count(ServerId{0U}) == 1);
  CHECK(driver.next() == 150);
  CHECK(driver.finish(150) == std::vector{b});
  CHECK(driver.job(0, 200).active.ns() == 100);
  CHECK(driver.job(0, 200).contended.ns() == 100);
  CHECK(driver.job(0, 200).transfers == 1);
  CHECK(driver.job(1, 200).active.ns() == 150);
  CHECK(driver.job(1, 200).contended.ns() == 100);
}

TEST_CASE("ticks: a transfer ends at the next multiple, and an end on a multiple stays") {
  // Beta 1, tick 10: 25 bytes from 3 would end at 28: 30. 27 bytes from 3 end at 30.
  Driver driver{cost(0, 1, 0, 10), true, 4, 3};
  driver.start(0, 25, {0, 1}, 3);
  driver.start(1, 27, {2, 3}, 3);
  CHECK(driver.next() == 30);
  CHECK(driver.finish(29).empty());
  CHECK(driver.finish(30).size() == 2);
  driver.start(2, 28, {0, 1}, 33);
  CHECK(driver.next() == 70);
  CHECK(driver.network->solo_time(Driver::request(2, 28, Driver::ids({0, 1}))).ns() == 28);  // its cost, not its end
}

TEST_CASE("transfers that end together are reported in order of their ids") {
  Driver driver{cost(0, 1, 0), true, 6, 3};
  const TransferId a = driver.start(2, 100, {0, 1}, 0);
  const TransferId b = driver.start(1, 60, {2, 3}, 40);
  const TransferId c = driver.start(0, 80, {4, 5}, 20);
  CHECK(driver.finish(100) == std::vector{a, b, c});
}

TEST_CASE("a transfer without bytes ends at once and slows no other transfer down") {
  Driver driver{cost(0, 2, 1), true, 2, 2};
  driver.start(0, 100, {0, 1}, 0);
  driver.start(1, 0, {0, 1}, 50);
  CHECK(driver.next() == 50);
  CHECK(driver.finish(50).size() == 1);
  CHECK(driver.next() == 200);
  CHECK(driver.job(0, 200).contended.ns() == 0);
}

TEST_CASE("leaping: the state is relative to now, and a shift moves the end with everything else") {
  Driver driver{cost(100, 2, 1), true, 2, 2};
  const TransferId a = driver.start(0, 100, {0, 1}, 1000);
  std::vector<std::uint64_t> before, after, later;
  driver.network->leaping()->save_state(a, Time::nanoseconds(1040), before);
  driver.network->leaping()->shift(a, Time::nanoseconds(5000));
  driver.network->leaping()->save_state(a, Time::nanoseconds(6040), after);
  driver.network->leaping()->save_state(a, Time::nanoseconds(6041), later);
  CHECK(before == after);
  CHECK(before != later);
  CHECK(driver.next() == 1000 + 300 + 5000);

  NetworkModel::Usage period;
  period.active = Time::nanoseconds(300);
  period.contended = Time::nanoseconds(7);
  period.transfers = 1;
  period.bytes = Bytes{100};
  driver.network->leaping()->leap_usage(JobId{0U}, period, 10, Time::nanoseconds(5000));
  driver.network->leaping()->leap_usage(ServerId{1U}, period, 10, Time::nanoseconds(5000));
  CHECK(driver.finish(6300).size() == 1);
  CHECK(driver.job(0, 7000).active.ns() == 3000 + 300);
  CHECK(driver.job(0, 7000).contended.ns() == 70);
  CHECK(driver.job(0, 7000).transfers == 11);
  CHECK(driver.server(1, 7000).active.ns() == 3000 + 300);
  CHECK(driver.server(1, 7000).bytes == Bytes{1100});
}

TEST_CASE("leaping: with ticks, the phase within a tick belongs to the state") {
  Driver driver{cost(0, 1, 0, 10), true, 2, 1};
  CHECK(driver.network->leaping()->grid().ns() == 10);
  CHECK(Driver{cost(0, 1, 0), true, 2, 1}.network->leaping()->grid().ns() == 0);
  const TransferId a = driver.start(0, 100, {0, 1}, 3);
  std::vector<std::uint64_t> now, later;
  driver.network->leaping()->save_state(a, Time::nanoseconds(5), now);
  driver.network->leaping()->shift(a, Time::nanoseconds(40));
  driver.network->leaping()->save_state(a, Time::nanoseconds(45), later);
  CHECK(now == later);
}
