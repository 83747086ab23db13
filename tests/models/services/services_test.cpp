// Services by hand and beside plain loops: starts, storage and caches, exchanges over a store.

#include "models/services/data_reading.hpp"
#include "models/services/start_up.hpp"
#include "models/services/stored_exchange.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("services: a start is the longest of as many draws as a job has workers") {
  const StartUp law{Time::seconds(3), Time::seconds(7)};
  Time before;
  for (int workers = 1; workers <= 64; ++workers) {
    const Time slowest = slowest_start(law, workers, 1, "start/a");
    CHECK(slowest >= before);  // the first draws are equal
    before = slowest;
  }
  CHECK(slowest_start(law, 8, 1, "start/a") == slowest_start(law, 8, 1, "start/a"));
  CHECK(slowest_start(law, 8, 1, "start/a") != slowest_start(law, 8, 1, "start/b"));
  CHECK(slowest_start(law, 8, 1, "start/a") != slowest_start(law, 8, 2, "start/a"));
  CHECK(slowest_start({Time::seconds(3), {}}, 8, 1, "start/a") == Time::seconds(3));
  CHECK(slowest_start({}, 8, 1, "start/a") == Time{});
  CHECK(mean_slowest_s(law, 1) == near(3, 1e-3));
}

TEST_CASE("services: random data sets, sample by sample") {
  RandomStream draws{1, "data sets"};
  for (int round = 0; round < 300; ++round) {
    DataReading data{.sample = Bytes{draws.uniform_integer(1, 1000)},
                     .seek = Time::nanoseconds(draws.uniform_integer(0, 1000)),
                     .rate = ByteRate{static_cast<double>(draws.uniform_integer(1, 100)) * 1e7},
                     .readers = static_cast<int>(draws.uniform_integer(1, 8)),
                     .prepare = Time::nanoseconds(draws.uniform_integer(0, 3000)),
                     .processes = static_cast<int>(draws.uniform_integer(1, 8))};
    const std::int64_t samples = draws.uniform_integer(1, 50);
    double disk = 0, prepared = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      for (int reader = 0; reader < data.readers; ++reader)
        disk += static_cast<double>(data.seek.ns()) + data.sample.to_double() / data.rate.bytes_per_second() * 1e9;
      prepared += static_cast<double>(data.prepare.ns()) / data.processes;
    }
    CHECK(static_cast<double>(fetch_time(data, samples).ns()) == near_absolute(disk, 1.01));
    CHECK(static_cast<double>(prepare_time(data, samples).ns()) == near_absolute(prepared, 1.01));
    CHECK(loading_time(data, samples) == std::max(fetch_time(data, samples), prepare_time(data, samples)));
    data.cache = 1;
    CHECK(fetch_time(data, samples) == Time{});
  }
}

TEST_CASE("services: blocks as large as samples are samples, and larger ones save seeks") {
  DataReading data{.sample = Bytes{100}, .seek = Time::nanoseconds(50), .rate = ByteRate{1e9}};
  const Time random = fetch_time(data, 10);
  CHECK(random == Time::nanoseconds(1500));
  data.order = ReadOrder::blocks;
  data.block = Bytes{100};
  CHECK(fetch_time(data, 10) == random);
  data.block = Bytes{1000};
  CHECK(fetch_time(data, 10) == Time::nanoseconds(1050));
  data.buffer = 0.1;
  CHECK(filling_time(data, 10) == Time::nanoseconds(105));
  data.order = ReadOrder::sequential;
  CHECK(fetch_time(data, 10) == Time::nanoseconds(1000));
  CHECK(copy_time({.copied = Bytes{100}, .copy_rate = ByteRate{1e9}}, 3) == Time::nanoseconds(300));
}

TEST_CASE("services: caches answer nothing, all, or what their rule says") {
  for (const CacheRule rule : {CacheRule::keep, CacheRule::lru}) {
    CHECK(hit_share(0, rule, ReadOrder::random) == 0);
    CHECK(hit_share(1, rule, ReadOrder::sequential) == 1);
  }
  CHECK(hit_share(0.5, CacheRule::lru, ReadOrder::sequential) == 0);
  CHECK(hit_share(0.5, CacheRule::keep, ReadOrder::sequential) == 0.5);
  CHECK(hit_share(0.5, CacheRule::lru, ReadOrder::random) == near(0.153426, 1e-5));
}

TEST_CASE("services: an exchange over a store, request by request") {
  const ChannelCost store{Time::nanoseconds(100), TimePerByte{2}, {}};
  for (int w = 2; w <= 20; ++w) {
    CAPTURE(w);
    const Bytes bytes{std::int64_t{w} * 60};
    const auto request = [&](std::int64_t part) { return 100 + 2 * bytes.count() / part; };
    std::int64_t reduce = request(1);                  // all write at once
    for (int r = 0; r < w; ++r) reduce += request(1);  // worker 0 reads them
    reduce += request(1) + 7 + request(1);             // it writes the sum; others look for it and read it
    CHECK(stored_exchange(w, store, Time::nanoseconds(7), false).of(CollectiveKind::all_reduce).of(bytes).ns() ==
          reduce);
    std::int64_t scatter = 0;
    for (int r = 1; r < w; ++r) scatter += 3 * request(w);  // writes pieces, reads pieces, and reads sums
    scatter += request(w);                                  // writes its sum
    CHECK(stored_exchange(w, store, Time::nanoseconds(7), true).of(CollectiveKind::all_reduce).of(bytes).ns() ==
          scatter);
  }
}
