#include "models/overlap/peers.hpp"

#include "network/link_matrix.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

LinkMatrix named_sites(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back("s" + std::to_string(i));
  return LinkMatrix{names};
}

void join(LinkMatrix& links, std::size_t a, std::size_t b, double mbps) {
  links.set(a, b, {Time::milliseconds(10), ByteRate{mbps * 125'000}});
  links.set(b, a, {Time::milliseconds(10), ByteRate{mbps * 125'000}});
}

/// Rates from 1 to 1000 Mbit/s; a link exists with this probability, the links of a random tree always.
LinkMatrix random_links(RandomStream& stream, std::size_t n, double density) {
  LinkMatrix links = named_sites(n);
  for (std::size_t a = 1; a < n; ++a) {
    const auto up = static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(a) - 1));
    for (std::size_t b = 0; b < a; ++b) {
      if (b == up || stream.uniform() < density) join(links, a, b, stream.uniform(1, 1000));
    }
  }
  return links;
}

PeerRule matched(int within, double threshold_mbps = 0, bool random_weights = false) {
  PeerRule rule;
  rule.kind = PeerRule::Kind::matched;
  rule.within = within;
  rule.threshold = ByteRate{threshold_mbps * 125'000};
  rule.random_weights = random_weights;
  return rule;
}

std::string complaint(const LinkMatrix& links, const PeerRule& rule) {
  try {
    static_cast<void>(peer_rounds(links, rule, 1));
    return {};
  } catch (const InputError& error) {
    return error.complaints().front().reason;
  }
}

/// Swaps of disjoint pairs along links.
bool is_pairing(const LinkMatrix& links, const PeerRound& round) {
  std::vector<int> sends(links.size());
  for (const PeerTransfer& each : round) {
    const bool back = std::find(round.begin(), round.end(), PeerTransfer{each.to, each.from}) != round.end();
    if (!back || !links.link(each.from, each.to) || ++sends[each.from] > 1) return false;
  }
  return true;
}

/// True if the transfers of `count` rounds from `first` on, in the repeated sequence, connect all sites.
bool connect(const std::vector<PeerRound>& rounds, std::size_t first, std::size_t count, std::size_t n) {
  std::vector<std::size_t> part(n);
  std::iota(part.begin(), part.end(), std::size_t{0});
  for (std::size_t i = first; i < first + count; ++i) {
    for (const PeerTransfer& each : rounds[i % rounds.size()]) {
      const std::size_t from = part[each.from], to = part[each.to];
      std::replace(part.begin(), part.end(), from, to);
    }
  }
  return std::count(part.begin(), part.end(), part.front()) == static_cast<std::ptrdiff_t>(n);
}

}  // namespace

TEST_CASE("a ring: one round to the right, one to the left") {
  LinkMatrix links = named_sites(3);
  for (std::size_t i = 0; i < 3; ++i) join(links, i, (i + 1) % 3, 100);
  PeerRule rule;
  rule.kind = PeerRule::Kind::ring;
  const std::vector<PeerRound> rounds = peer_rounds(links, rule, 1);
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0] == PeerRound{{0, 1}, {1, 2}, {2, 0}});
  CHECK(rounds[1] == PeerRound{{1, 0}, {2, 1}, {0, 2}});
}

TEST_CASE("matched pairs take the fastest links, and the slow one between them when the block runs out, by hand") {
  // Two fast pairs 0-1 and 2-3, slow links between them, 1-2 the best of those. Within 3 rounds: blocks of 2. The first
  // round is free: the fast pairs. They leave 2 components and 1 round: over 1-2, and 0 and 3 over their own link.
  LinkMatrix links = named_sites(4);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) join(links, a, b, 10);
  }
  join(links, 0, 1, 1000);
  join(links, 2, 3, 900);
  join(links, 1, 2, 20);
  const std::vector<PeerRound> rounds = peer_rounds(links, matched(3), 1);
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0] == PeerRound{{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  CHECK(rounds[1] == PeerRound{{0, 3}, {3, 0}, {1, 2}, {2, 1}});
  // Within 5: blocks of 3, of which the last joins.
  const std::vector<PeerRound> longer = peer_rounds(links, matched(5), 1);
  REQUIRE(longer.size() == 3);
  CHECK(longer[1] == rounds[0]);
  CHECK(longer[2] == rounds[1]);
}

TEST_CASE("a site without a partner over the threshold is paired over other links") {
  LinkMatrix links = named_sites(4);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) join(links, a, b, 300);
  }
  join(links, 0, 1, 500);  // 500 + 300 is less than 2 x 450, but only 0-1 reaches 480
  join(links, 0, 2, 450);
  join(links, 1, 3, 450);
  CHECK(peer_rounds(links, matched(9), 1).front() == PeerRound{{0, 2}, {2, 0}, {1, 3}, {3, 1}});
  for (const double threshold : {480.0, 500.0})
    CHECK(peer_rounds(links, matched(9, threshold), 1).front() == PeerRound{{0, 1}, {1, 0}, {2, 3}, {3, 2}});
}

TEST_CASE(
    "property: links of any `within` consecutive rounds connect all sites; complete links leave at most one site out") {
  RandomStream stream{1, "peers test"};
  std::size_t complete_windows = 0, other_windows = 0;
  for (int i = 0; i < effort(300); ++i) {
    const auto n = static_cast<std::size_t>(stream.uniform_integer(2, 14));
    const bool complete = stream.uniform() < 0.5;
    const LinkMatrix links = random_links(stream, n, complete ? 1 : stream.uniform(0, 0.9));
    std::int64_t least = 1;
    if (links.complete()) {
      while ((std::size_t{1} << ((least + 1) / 2)) < n) least += 2;
    } else {
      least = 2 * static_cast<std::int64_t>(n - 1) - 1;
    }
    const auto within = static_cast<int>(stream.uniform_integer(least, least + 8));
    CHECK(complaint(links, matched(static_cast<int>(least) - 1)) != "");
    const bool random_weights = stream.uniform() < 0.3;
    const std::vector<PeerRound> rounds = peer_rounds(links, matched(within, 0, random_weights), 7);
    // Whole blocks; with random weights as many as a thousand rounds need.
    const auto block = static_cast<std::size_t>((within + 1) / 2);
    REQUIRE(rounds.size() == (random_weights ? (1000 + block - 1) / block * block : block));
    const std::size_t windows = std::min<std::size_t>(rounds.size(), 40);
    for (std::size_t first = 0; first < windows; ++first) {
      REQUIRE(is_pairing(links, rounds[first]));
      REQUIRE(connect(rounds, first, static_cast<std::size_t>(within), n));
      if (links.complete()) REQUIRE(rounds[first].size() == n / 2 * 2);  // an odd one out at most
      ++(links.complete() ? complete_windows : other_windows);
    }
  }
  CHECK(complete_windows > effort(std::size_t{500}));
  CHECK(other_windows > effort(std::size_t{500}));
}

TEST_CASE("random weights: of the three pairings of four sites, the one with the larger sum") {
  LinkMatrix links = named_sites(4);
  for (std::size_t a = 1; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b) join(links, a, b, 100);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    RandomStream stream{seed, "peers"};
    std::int64_t weight[4][4] = {};
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a + 1; b < 4; ++b) weight[a][b] = stream.uniform_integer(1, std::int64_t{1} << 20);
    const std::int64_t sums[] = {weight[0][1] + weight[2][3], weight[0][2] + weight[1][3], weight[0][3] + weight[1][2]};
    const std::size_t partner = 1 + static_cast<std::size_t>(std::max_element(sums, sums + 3) - sums);
    const std::vector<PeerRound> rounds = peer_rounds(links, matched(3, 0, true), seed);
    CHECK(std::count(rounds[0].begin(), rounds[0].end(), PeerTransfer{0, partner}) == 1);
    CHECK(std::count(rounds[0].begin(), rounds[0].end(), PeerTransfer{partner, 0}) == 1);
  }
}

TEST_CASE("random pairs cover all sites but an odd one, are equally likely, and depend only on the seed") {
  RandomStream stream{2, "peers test"};
  const LinkMatrix links = random_links(stream, 5, 1);
  const std::vector<PeerRound> rounds = peer_rounds(links, {}, 3);
  REQUIRE(rounds.size() == 1000);
  std::vector<int> met(25);
  for (const PeerRound& round : rounds) {
    REQUIRE(is_pairing(links, round));
    CHECK(round.size() == 4);
    for (const PeerTransfer& each : round) ++met[each.from * 5 + each.to];
  }
  // Each of 10 pairs in a fifth of the 1000 rounds, with a standard deviation of 13.
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a + 1; b < 5; ++b) CHECK(met[a * 5 + b] == near(200, 0.25));  // four of those
  }
  CHECK(peer_rounds(links, {}, 3) == rounds);
  CHECK(peer_rounds(links, {}, 4) != rounds);
}

TEST_CASE("links without a possible pairing are refused, with what would be right") {
  LinkMatrix links = named_sites(5);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a + 1; b < 5; ++b) join(links, a, b, 100);
  }
  CHECK(complaint(links, matched(10, 101)) ==
        "no link reaches the threshold of 101 Mbit/s in both directions; the fastest has 100");
  CHECK(complaint(links, matched(4)) == "4 rounds are too few to connect 5 sites: expected at least 5");
  CHECK(complaint(links.first(1), {}) == "an exchange needs at least 2 sites");
  LinkMatrix apart = named_sites(4);
  join(apart, 0, 1, 10);
  join(apart, 2, 3, 10);
  CHECK(complaint(apart, matched(99)) == "the links in both directions don't connect the 4 sites: they are in 2 parts");
  CHECK(complaint(apart, {}) ==
        "no link from s0 to s2, s0 to s3, s1 to s2, s1 to s3, s2 to s0 and 3 more: a random pairing needs it");
  PeerRule ring;
  ring.kind = PeerRule::Kind::ring;
  CHECK(complaint(apart, ring) == "no link from s1 to s2, s3 to s0: a ring in the order of the sites needs it");
}
