// Compares the contention model with the obvious computation in doubles, which recomputes every k, rate and remaining
// amount at every change, on random transfers that start, end and are cancelled.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/network_kit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

class ObviousNetwork {
 public:
  struct Transfer {
    TransferId id;
    std::vector<std::uint32_t> servers;
    double alpha_left = 0, bytes_left = 0;
    double k = 1;
  };

  ObviousNetwork(double alpha, double beta, double eta, std::size_t servers)
      : alpha_{alpha}, beta_{beta}, eta_{eta}, busy(servers, 0.0), contended(servers, 0.0) {}

  void start(TransferId id, std::vector<std::uint32_t> servers, double bytes) {
    transfers.push_back({id, std::move(servers), alpha_, bytes, 1});
    recompute();
  }
  void remove(TransferId id) {
    std::erase_if(transfers, [&](const Transfer& transfer) { return transfer.id == id; });
    recompute();
  }
  [[nodiscard]] double time_left(const Transfer& transfer) const {
    return transfer.alpha_left + transfer.bytes_left * per_byte(transfer);
  }
  void advance(double by) {
    for (Transfer& transfer : transfers) {
      const double start_up = std::min(by, transfer.alpha_left);
      transfer.alpha_left -= start_up;
      transfer.bytes_left = std::max(0.0, transfer.bytes_left - (by - start_up) / per_byte(transfer));
    }
    for (std::size_t s = 0; s < busy.size(); ++s) {
      if (count(static_cast<std::uint32_t>(s)) >= 1) busy[s] += by;
      if (count(static_cast<std::uint32_t>(s)) >= 2) contended[s] += by;
    }
  }

  std::vector<Transfer> transfers;

 private:
  [[nodiscard]] double per_byte(const Transfer& transfer) const { return transfer.k * beta_ + (transfer.k - 1) * eta_; }
  [[nodiscard]] std::size_t count(std::uint32_t server) const {
    return static_cast<std::size_t>(std::count_if(transfers.begin(), transfers.end(), [&](const Transfer& transfer) {
      return std::find(transfer.servers.begin(), transfer.servers.end(), server) != transfer.servers.end();
    }));
  }
  void recompute() {
    for (Transfer& transfer : transfers) {
      std::size_t k = 1;
      for (const std::uint32_t server : transfer.servers) k = std::max(k, count(server));
      transfer.k = static_cast<double>(k);
    }
  }

  double alpha_, beta_, eta_;

 public:
  std::vector<double> busy, contended;
};

/// Within 1e-9 of the whole, plus the nanosecond to which an end is rounded up.
Near rounded_from(double exact) {
  return near_absolute(exact, 1e-9 * std::abs(exact) + 1.5);
}

}  // namespace

TEST_CASE("contention equals the obvious computation on random traffic") {
  std::uint64_t ended_in_all = 0, contended_in_all = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    INFO("seed ", seed);
    RandomStream random{seed, "contention-property"};
    const auto servers = static_cast<std::size_t>(random.uniform_integer(2, 6));
    const double beta = random.uniform(0.3, 3), eta = random.uniform(0, 2);
    const std::int64_t alpha = random.uniform_integer(0, 1) * 1'000'000;
    Driver driver{cost(alpha, beta, eta), true, servers, 64};
    ObviousNetwork obvious{static_cast<double>(alpha), beta, eta, servers};
    std::int64_t now = 0;
    int started = 0;
    while (started < 60 || !obvious.transfers.empty()) {
      // The next thing to happen: an end, a start or, now and then, a cancellation.
      const std::int64_t next_end = driver.network->next_end().ns();
      std::int64_t then = now + random.uniform_integer(0, 200'000'000);
      const bool is_end = next_end <= then || started >= 60;
      if (is_end) then = next_end;
      obvious.advance(static_cast<double>(then - now));
      now = then;
      driver.network->set_now(Time::nanoseconds(now));
      if (is_end) {
        const std::vector<TransferId> ended = driver.finish(now);
        REQUIRE_FALSE(ended.empty());
        for (const TransferId id : ended) {
          const auto found = std::find_if(obvious.transfers.begin(), obvious.transfers.end(),
                                          [&](const ObviousNetwork::Transfer& t) { return t.id == id; });
          REQUIRE(found != obvious.transfers.end());
          if (found->k >= 2) ++contended_in_all;
          CHECK(static_cast<double>(now) + obvious.time_left(*found) == rounded_from(static_cast<double>(now)));
          obvious.remove(id);
          ++ended_in_all;
        }
      } else if (!obvious.transfers.empty() && random.uniform() < 0.1) {
        const TransferId id = obvious
                                  .transfers[static_cast<std::size_t>(random.uniform_integer(
                                      0, static_cast<std::int64_t>(obvious.transfers.size()) - 1))]
                                  .id;
        driver.network->cancel(id, Time::nanoseconds(now));
        obvious.remove(id);
      } else {
        std::vector<std::uint32_t> touched;
        for (std::uint32_t s = 0; s < servers; ++s) {
          if (random.uniform() < 0.4) touched.push_back(s);
        }
        if (touched.size() < 2) touched = {0, 1};
        const std::int64_t bytes = random.uniform_integer(1'000'000, 500'000'000);
        const auto job = static_cast<std::uint32_t>(started++);
        obvious.start(driver.start(job, bytes, touched, now), touched, static_cast<double>(bytes));
      }
      // No end may be late: the next end is the one of the obvious model.
      double soonest = 1e300;
      for (const ObviousNetwork::Transfer& transfer : obvious.transfers) {
        soonest = std::min(soonest, obvious.time_left(transfer));
      }
      if (!obvious.transfers.empty()) CHECK(driver.next() == rounded_from(static_cast<double>(now) + soonest));
      for (std::uint32_t s = 0; s < servers; ++s) {
        CHECK(driver.server(s, now).active.ns() == rounded_from(obvious.busy[s]));
        CHECK(driver.server(s, now).contended.ns() == rounded_from(obvious.contended[s]));
      }
    }
    CHECK(driver.network->next_end() == Time::never());
  }
  CHECK(ended_in_all > effort(200) * 40);  // the rest is cancelled
  CHECK(contended_in_all * 3 > ended_in_all);
}

TEST_CASE("alone in the network, contention and analytic agree to the nanosecond") {
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomStream random{seed, "alone"};
    const AlphaBeta price = cost(random.uniform_integer(0, 1000), random.uniform(0.1, 5), random.uniform(0, 5),
                                 random.uniform_integer(0, 1) * 1000);
    Driver contention{price, true, 4, 2}, analytic{price, false, 4, 2};
    std::int64_t now = 0;
    for (int i = 0; i < 20; ++i) {
      now += random.uniform_integer(0, 10'000);
      const std::int64_t bytes = random.uniform_integer(0, 100'000);
      // Two at once, on different servers: still alone.
      for (Driver* driver : {&contention, &analytic}) {
        driver->start(0, bytes, {0, 1}, now);
        driver->start(1, bytes / 2, {2, 3}, now);
      }
      for (std::size_t ended = 0; ended < 2; ended += analytic.finish(now).size()) {
        REQUIRE(contention.next() == analytic.next());
        now = analytic.next();
        contention.finish(now);
      }
    }
    CHECK(contention.job(0, now).active == analytic.job(0, now).active);
  }
}
