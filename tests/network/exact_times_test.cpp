// Compares the ends of transfers that share an interface with those in exact fractions: whole numbers of 1/d of a byte,
// where d is a multiple of all times per byte. Doubles alone put up to one end in twelve a nanosecond too late, and
// what follows by up to 8 ns.

#include "sim/random_stream.hpp"
#include "tests/network/network_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr int kTransfers = 8;

/// Of k transfers at once a byte takes (k beta + (k-1) eta) / kUnit ns.
struct SharedRates {
  static constexpr std::int64_t kUnit = 100;
  std::int64_t beta, eta;

  [[nodiscard]] std::int64_t at(std::int64_t k) const { return k * beta + (k - 1) * eta; }
  [[nodiscard]] std::int64_t common_multiple() const {
    std::int64_t all = 1;
    for (std::int64_t k = 1; k <= kTransfers; ++k) all = std::lcm(all, at(k));
    return all;
  }
};

class ExactInterface {
 public:
  explicit ExactInterface(const SharedRates& rates) : rates_{rates}, parts_{rates.common_multiple()} {}

  void start(std::size_t id, std::int64_t bytes, std::int64_t now) {
    active_.push_back({id, Int128{bytes} * parts_, 0, now, 0});
    share(now);
  }
  [[nodiscard]] std::int64_t next() const {
    std::int64_t next = INT64_MAX;
    for (const Transfer& each : active_) next = std::min(next, each.end);
    return next;
  }
  /// Ends what is due, and what is then due because others have ended.
  void finish(std::int64_t now, std::vector<std::int64_t>& ends) {
    while (next() <= now) {
      std::erase_if(active_, [&](const Transfer& each) {
        if (each.end <= now) ends[each.id] = now;
        return each.end <= now;
      });
      share(now);
    }
  }

 private:
  struct Transfer {
    std::size_t id;
    Int128 left;  ///< in 1 / parts_ of a byte, at `since`
    std::int64_t k, since, end;
  };

  void share(std::int64_t now) {
    const auto k = static_cast<std::int64_t>(active_.size());
    for (Transfer& each : active_) {
      if (each.k == k) continue;
      if (each.k > 0) {
        const Int128 sent = Int128{now - each.since} * SharedRates::kUnit * (parts_ / rates_.at(each.k));
        each.left = std::max(Int128{0}, each.left - sent);
      }
      each.k = k;
      each.since = now;
      const Int128 above = each.left * rates_.at(k), below = Int128{parts_} * SharedRates::kUnit;
      each.end = now + static_cast<std::int64_t>((above + below - 1) / below);
    }
  }

  SharedRates rates_;
  std::int64_t parts_;
  std::vector<Transfer> active_;
};

}  // namespace

TEST_CASE("transfers that share an interface end at the nanosecond of exact fractions") {
  RandomStream stream{57, "exact transfers"};
  for (const SharedRates rates :
       {SharedRates{80, 0}, SharedRates{80, 20}, SharedRates{8, 0}, SharedRates{32, 8}, SharedRates{2, 0}}) {
    for (const double scale : {1e5, 1e8, 1e10}) {
      for (int run = 0; run < 100; ++run) {
        Driver driver{cost(0, static_cast<double>(rates.beta) / SharedRates::kUnit,
                           static_cast<double>(rates.eta) / SharedRates::kUnit),
                      true, 2, kTransfers};
        ExactInterface exact{rates};
        std::vector<std::int64_t> starts, expected(kTransfers), ends(kTransfers);
        for (int i = 0; i < kTransfers; ++i) starts.push_back(static_cast<std::int64_t>(stream.uniform() * scale));
        std::ranges::sort(starts);
        std::vector<TransferId> ids(kTransfers);
        std::size_t begun = 0;
        const auto end_until = [&](std::int64_t last) {
          for (std::int64_t now = driver.next(); now <= last && now < INT64_MAX; now = driver.next())
            for (const TransferId id : driver.finish(now))
              for (std::size_t i = 0; i < begun; ++i)
                if (ids[i] == id && ends[i] == 0) ends[i] = now;
          while (exact.next() <= last && exact.next() < INT64_MAX) exact.finish(exact.next(), expected);
        };
        for (std::size_t i = 0; i < kTransfers; ++i) {
          end_until(starts[i]);
          const auto bytes = static_cast<std::int64_t>(1 + stream.uniform() * scale / 3);
          ids[i] = driver.start(static_cast<std::uint32_t>(i), bytes, {0, 1}, starts[i]);
          exact.start(i, bytes, starts[i]);
          begun = i + 1;
        }
        end_until(INT64_MAX);
        CHECK(ends == expected);
      }
    }
  }
}
