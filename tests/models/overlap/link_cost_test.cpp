#include "models/overlap/link_cost.hpp"

#include "network/ring_order.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr CollectiveKind kAllKinds[] = {
    CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather, CollectiveKind::broadcast,
    CollectiveKind::reduce,     CollectiveKind::all_to_all,     CollectiveKind::exchange};

LinkMatrix sites(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back("s" + std::to_string(i));
  return LinkMatrix{names};
}

SiteLink link(std::int64_t latency_us, double ns_per_byte) {
  return {Time::microseconds(latency_us), ByteRate{1e9 / ns_per_byte}};
}

LinkMatrix random_links(RandomStream& stream, std::size_t n) {
  LinkMatrix links = sites(n);
  for (const PeerTransfer& each : all_pairs(n)) {
    links.set(each.from, each.to, link(stream.uniform_integer(0, 100), stream.uniform(1, 100)));
  }
  return links;
}

Time cost(const ExchangeCost& costs, CollectiveKind kind, std::int64_t bytes) {
  return costs.sized(Bytes{bytes}, kind).of(Bytes{bytes});
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

TEST_CASE("a curve finds every line of the maximum, and no other") {
  RandomStream stream{1, "link cost test"};
  for (int i = 0; i < 500; ++i) {
    std::vector<CostLine> lines(static_cast<std::size_t>(stream.uniform_integer(1, 20)));
    for (CostLine& each : lines) {
      each = {static_cast<double>(stream.uniform_integer(0, 50)) * 1000,
              static_cast<double>(stream.uniform_integer(0, 50))};
    }
    const CostCurve curve{[&](double bytes) {
      return *std::max_element(lines.begin(), lines.end(),
                               [&](const CostLine& a, const CostLine& b) { return a.at(bytes) < b.at(bytes); });
    }};
    CHECK(curve.pieces() <= lines.size());
    for (int k = 0; k < 20; ++k) {
      const auto bytes = static_cast<std::int64_t>(stream.exponential(2000));
      std::vector<double> all;
      for (const CostLine& each : lines) all.push_back(each.at(static_cast<double>(bytes)));
      CHECK(curve.at(Bytes{bytes}).of(Bytes{bytes}).ns() == near(largest(all)));
      CHECK(curve.least().of(Bytes{bytes}) <= curve.at(Bytes{bytes}).of(Bytes{bytes}));
    }
  }
  CHECK(CostCurve{}.at(Bytes{100}).of(Bytes{100}) == Time{});
  CHECK_THROWS_AS(static_cast<void>(CostCurve::impossible("why not").at(Bytes{1})), InputError);
}

TEST_CASE("if all links are equal, every collective has the cost of the ring's formulas") {
  for (const int n : {2, 3, 4, 5, 8, 11, 16}) {
    LinkMatrix links = sites(static_cast<std::size_t>(n));
    for (const PeerTransfer& each : all_pairs(links.size())) links.set(each.from, each.to, link(50, 8));
    const TimePerByte gamma{0.5};
    const ExchangeCost even = link_cost(links, gamma, {}, 1);
    const ExchangeCost ring = ExchangeCost::ring(n, {Time::microseconds(50), TimePerByte{8}, gamma});
    for (const CollectiveKind kind : kAllKinds) {
      for (const std::int64_t bytes : {1, 1000, 100'000'000}) {
        INFO(n, " workers, kind ", static_cast<int>(kind), ", ", bytes, " bytes");
        CHECK(std::abs((cost(even, kind, bytes) - cost(ring, kind, bytes)).ns()) <= 3);
      }
    }
  }
}

TEST_CASE("a ring of three uneven links, by hand") {
  // 0 -> 1: 10 us and 1 ns a byte; 1 -> 2: 20 us and 2 ns; 2 -> 0: 30 us and 4 ns. An all-gather of 3000 bytes, blocks
  // of 1000, takes two steps. First: 0's block is at 1 after 10 + 1 us, 1's at 2 after 20 + 2, 2's at 0 after 30 + 4.
  // Second: from 0 at 34, at 1 at 45; from 1 at 11, at 2 at 33; from 2 at 22, at 0 at 56. So 56 us, by the latencies 20
  // and 30. Of large blocks of B, 2 -> 0 is busy with its own until 4 B, then with 1's until 8 B, and 30 us more.
  LinkMatrix links = sites(3);
  links.set(0, 1, link(10, 1));
  links.set(1, 2, link(20, 2));
  links.set(2, 0, link(30, 4));
  const ExchangeCost costs = link_cost(links, {}, {}, 1);
  CHECK(cost(costs, CollectiveKind::all_gather, 3000) == Time::microseconds(56));
  CHECK(cost(costs, CollectiveKind::all_gather, 3'000'000) == Time::microseconds(8030));
  // Four steps once round and one more link: 10 + 20 + 30 + 30 us and 1 + 2 + 4 + 4 us, the way over 2 -> 0 twice.
  CHECK(cost(costs, CollectiveKind::all_reduce, 3000) == Time::microseconds(101));
}

TEST_CASE("an exchange is the mean of its rounds, each as long as its slowest transfer, at every size") {
  RandomStream stream{2, "link cost test"};
  for (int i = 0; i < 20; ++i) {
    const LinkMatrix links = random_links(stream, static_cast<std::size_t>(stream.uniform_integer(2, 9)));
    PeerRule rule;
    rule.kind = static_cast<PeerRule::Kind>(stream.uniform_integer(0, 2));
    const ExchangeCost costs = link_cost(links, {}, rule, 5);
    const std::vector<PeerRound> rounds = peer_rounds(links, rule, 5);
    for (const double bytes : {1.0, 300.0, 1000.0, 3000.0, 10'000.0, 1e8}) {
      double sum = 0;
      for (const PeerRound& round : rounds) {
        std::vector<double> ends;
        for (const PeerTransfer& each : round) {
          const SiteLink& used = *links.link(each.from, each.to);
          ends.push_back(static_cast<double>(used.latency.ns()) + bytes * used.ns_per_byte());
        }
        sum += largest(ends);
      }
      const double mean = sum / static_cast<double>(rounds.size());
      CHECK(std::abs(static_cast<double>(cost(costs, CollectiveKind::exchange, static_cast<std::int64_t>(bytes)).ns()) -
                     mean) <= 2 + 1e-9 * mean);
    }
  }
}

TEST_CASE("property: no collective is slower than over its slowest link, or faster than over its fastest") {
  RandomStream stream{3, "link cost test"};
  for (int i = 0; i < effort(100); ++i) {
    const auto n = static_cast<std::size_t>(stream.uniform_integer(2, 10));
    const LinkMatrix links = random_links(stream, n);
    ChannelCost slow, fast{Time::never(), TimePerByte{1e9}, {}};
    for (const PeerTransfer& each : all_pairs(n)) {
      const SiteLink& used = *links.link(each.from, each.to);
      slow.alpha = std::max(slow.alpha, used.latency);
      slow.beta = std::max(slow.beta, TimePerByte{used.ns_per_byte()});
      fast.alpha = std::min(fast.alpha, used.latency);
      fast.beta = std::min(fast.beta, TimePerByte{used.ns_per_byte()});
    }
    const ExchangeCost costs = link_cost(links, {}, {}, 1);
    const ExchangeCost above = ExchangeCost::ring(static_cast<int>(n), slow);
    const ExchangeCost below = ExchangeCost::ring(static_cast<int>(n), fast);
    for (const CollectiveKind kind : kAllKinds) {
      for (const std::int64_t bytes : {1, 1000, 30'000, 1'000'000}) {
        INFO(n, " sites, kind ", static_cast<int>(kind), ", ", bytes, " bytes");
        CHECK(cost(costs, kind, bytes) <= cost(above, kind, bytes) + Time::nanoseconds(3));
        CHECK(cost(costs, kind, bytes) + Time::nanoseconds(3) >= cost(below, kind, bytes));
        CHECK(costs.of(kind).of(Bytes{bytes}) <= cost(costs, kind, bytes) + Time::nanoseconds(2));
      }
    }
  }
}

TEST_CASE("a collective whose links are missing is refused when it is sent, others aren't") {
  LinkMatrix links = sites(4);
  for (std::size_t i = 0; i < 4; ++i) links.set(i, (i + 1) % 4, link(10, 1));
  const ExchangeCost costs = link_cost(links, {}, {}, 1);
  CHECK(cost(costs, CollectiveKind::all_reduce, 100) > Time{});
  CHECK_THROWS_WITH_AS(
      static_cast<void>(costs.sized(Bytes{1}, CollectiveKind::all_to_all)),
      "no link from s0 to s2, s0 to s3, s1 to s0, s1 to s3, s2 to s0 and 3 more: an all-to-all needs it", InputError);
  CHECK_THROWS_AS(static_cast<void>(costs.sized(Bytes{1}, CollectiveKind::exchange)), InputError);
}

TEST_CASE("ring orders: the best of all, by trying all") {
  RandomStream stream{7, "link cost test"};
  for (int i = 0; i < 60; ++i) {
    const auto n = static_cast<std::size_t>(stream.uniform_integer(3, 7));
    LinkMatrix links = random_links(stream, n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double least_sum = 1e300, best_slowest = 1e300;
    const auto measure = [&](const std::vector<std::size_t>& ring) {
      double sum = 0, slowest = 0;
      for (std::size_t at = 0; at < n; ++at) {
        const double each = links.link(ring[at], ring[(at + 1) % n])->ns_per_byte();
        sum += each;
        slowest = std::max(slowest, each);
      }
      return std::pair{sum, slowest};
    };
    do {
      const auto [sum, slowest] = measure(order);
      least_sum = std::min(least_sum, sum);
      best_slowest = std::min(best_slowest, slowest);
    } while (std::next_permutation(order.begin() + 1, order.end()));
    CHECK(measure(ring_order(links, RingOrder::shortest)).first == near(least_sum));
    CHECK(measure(ring_order(links, RingOrder::widest)).second == near(best_slowest));
  }
}

TEST_CASE("ring orders: missing links are gone around, and a matrix without any ring keeps its order") {
  // 0 -> 2 -> 1 -> 3 -> 0 is the only ring.
  LinkMatrix links = sites(4);
  for (const auto& [from, to] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {2, 1}, {1, 3}, {3, 0}, {1, 0}})
    links.set(from, to, link(1, 1));
  for (const RingOrder order : {RingOrder::shortest, RingOrder::widest})
    CHECK(ring_order(links, order) == std::vector<std::size_t>{0, 2, 1, 3});
  CHECK(ring_order(links, RingOrder::table) == std::vector<std::size_t>{0, 1, 2, 3});
  LinkMatrix line = sites(4);
  for (std::size_t i = 0; i + 1 < 4; ++i) line.set(i, i + 1, link(1, 1));
  CHECK(ring_order(line, RingOrder::widest) == std::vector<std::size_t>{0, 1, 2, 3});
  // More sites than orders are tried for: sites in a circle, named in another order.
  const std::size_t n = kExactRing + 7;
  LinkMatrix many = sites(n);
  const auto place = [&](std::size_t site) { return 7 * site % n; };
  for (const PeerTransfer& each : all_pairs(n)) {
    const std::size_t apart = (place(each.to) + n - place(each.from)) % n;
    many.set(each.from, each.to, link(1, static_cast<double>(std::min(apart, n - apart))));
  }
  for (const RingOrder order : {RingOrder::shortest, RingOrder::widest}) {
    const std::vector<std::size_t> ring = ring_order(many, order);
    double slowest = 0;
    for (std::size_t at = 0; at < n; ++at)
      slowest = std::max(slowest, many.link(ring[at], ring[(at + 1) % n])->ns_per_byte());
    CHECK(slowest == near(1));
  }
}
