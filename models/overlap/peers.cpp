#include "models/overlap/peers.hpp"

#include "network/link_matrix.hpp"
#include "network/matching.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::size_t kDrawn = 1000;
constexpr std::int64_t kRandomWeights = std::int64_t{1} << 20;
/// A weight larger than all random weights of a matching together, so that the number of pairs is maximal first.
constexpr std::int64_t kPair = std::int64_t{1} << 40;

void add_pair(PeerRound& round, std::size_t a, std::size_t b) {
  round.push_back({a, b});
  round.push_back({b, a});
}

std::vector<PeerRound> ring_rounds(const LinkMatrix& links) {
  const std::size_t n = links.size();
  std::vector<PeerRound> rounds(2);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t next = (i + 1) % n;
    rounds[0].push_back({i, next});
    rounds[1].push_back({next, i});
  }
  for (const PeerRound& round : rounds) require_links(links, round, "a ring in the order of the sites");
  return rounds;
}

/// The components of sites that the links in use connect.
class Components {
 public:
  explicit Components(std::size_t sites) : parent_(sites), count_{sites} {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t of(std::size_t site) const {
    while (parent_[site] != site) site = parent_[site];
    return site;
  }
  void join(std::size_t a, std::size_t b) {
    if (of(a) == of(b)) return;
    parent_[of(a)] = of(b);
    --count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::size_t> parent_;
  std::size_t count_;
};

class Pairing {
 public:
  Pairing(const LinkMatrix& links, std::uint64_t seed) : links_{links}, stream_{seed, "peers"} {}

  std::vector<PeerRound> random() {
    std::vector<std::size_t> order(links_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    require_links(links_, all_pairs(links_.size()), "a random pairing");
    std::vector<PeerRound> rounds;
    while (rounds.size() < kDrawn) {
      PeerRound& round = rounds.emplace_back();
      stream_.shuffle(std::span{order});
      for (std::size_t i = 0; i + 1 < order.size(); i += 2) add_pair(round, order[i], order[i + 1]);
    }
    return rounds;
  }

  std::vector<PeerRound> matched(const PeerRule& rule) {
    rule_ = rule;
    const auto block = static_cast<std::size_t>(rule.within + 1) / 2;
    check(block);
    std::vector<PeerRound> rounds;
    do {
      Components components{links_.size()};
      for (std::size_t i = 0; i < block; ++i) {
        rounds.push_back(matched_round(components, block - i));
        for (const PeerTransfer& each : rounds.back()) components.join(each.from, each.to);
      }
    } while (rule.random_weights && rounds.size() < kDrawn);
    return rounds;
  }

 private:
  /// The number of rounds in which maximum weight matchings certainly connect this many components. A component with an
  /// unmatched neighbour does not stay unmatched. If all links exist, at most one component is therefore left over, and
  /// c components become ceil(c / 2).
  [[nodiscard]] std::size_t rounds_to_connect(std::size_t components) const {
    if (!complete_) return components - 1;
    return static_cast<std::size_t>(std::bit_width(components - 1));
  }

  void check(std::size_t block) {
    complete_ = links_.complete();
    const std::size_t n = links_.size();
    Components all{n};
    ByteRate fastest;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        const auto rate = links_.slower_rate(a, b);
        if (!rate) continue;
        all.join(a, b);
        fastest = std::max(fastest, *rate);
      }
    }
    if (all.count() > 1)
      throw InputError{
          fmt::format("the links in both directions don't connect the {} sites: they are in {} parts", n, all.count())};
    if (fastest < rule_.threshold)
      throw InputError{
          fmt::format("no link reaches the threshold of {:g} Mbit/s in both directions; the fastest has {:g}",
                      rule_.threshold.bytes_per_second() * 8e-6, fastest.bytes_per_second() * 8e-6)};
    const std::size_t needed = rounds_to_connect(n);
    if (block < needed)
      throw InputError{fmt::format("{} rounds are too few to connect {} sites{}: expected at least {}", rule_.within, n,
                                   complete_ ? "" : " with missing links", 2 * needed - 1)};
  }

  PeerRound matched_round(const Components& components, std::size_t left) {
    std::vector<bool> taken(links_.size(), false);
    PeerRound round;
    if (components.count() > 1 && left <= rounds_to_connect(components.count())) {
      match(round, taken, [&](std::size_t a, std::size_t b, ByteRate) { return components.of(a) != components.of(b); });
    }
    match(round, taken, [&](std::size_t, std::size_t, ByteRate rate) { return rate >= rule_.threshold; });
    match(round, taken, [](std::size_t, std::size_t, ByteRate) { return true; });
    return round;
  }

  /// Pairs the sites without a partner over the links that may be used.
  template <class MayUse>
  void match(PeerRound& round, std::vector<bool>& taken, const MayUse& may_use) {
    const std::size_t n = links_.size();
    WeightedGraph graph{n};
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        const auto rate = links_.slower_rate(a, b);
        if (taken[a] || taken[b] || !rate || !may_use(a, b, *rate)) continue;
        graph.set(a, b, weight(*rate));
      }
    }
    const std::vector<std::size_t> partner = maximum_weight_matching(graph);
    for (std::size_t a = 0; a < n; ++a) {
      if (partner[a] == kUnmatched || partner[a] < a) continue;
      add_pair(round, a, partner[a]);
      taken[a] = taken[partner[a]] = true;
    }
  }

  [[nodiscard]] std::int64_t weight(ByteRate rate) {
    if (rule_.random_weights) return kPair + stream_.uniform_integer(1, kRandomWeights);
    return std::max<std::int64_t>(1, std::llround(rate.bytes_per_second()));
  }

  const LinkMatrix& links_;
  RandomStream stream_;
  PeerRule rule_;
  bool complete_ = true;
};

}  // namespace

std::vector<PeerTransfer> all_pairs(std::size_t sites) {
  std::vector<PeerTransfer> pairs;
  for (std::size_t from = 0; from < sites; ++from) {
    for (std::size_t to = 0; to < sites; ++to) {
      if (from != to) pairs.push_back({from, to});
    }
  }
  return pairs;
}

void require_links(const LinkMatrix& links, std::span<const PeerTransfer> transfers, std::string_view use) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> missing;
  for (const PeerTransfer& each : transfers) {
    if (!links.link(each.from, each.to))
      missing.push_back(fmt::format("{} to {}", links.sites()[each.from], links.sites()[each.to]));
  }
  if (missing.empty()) return;
  const std::size_t more = missing.size() - std::min(kNamed, missing.size());
  missing.resize(missing.size() - more);
  std::string text = fmt::format("no link from {}", fmt::join(missing, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  throw InputError{fmt::format("{}: {} needs it", text, use)};
}

std::vector<PeerRound> peer_rounds(const LinkMatrix& links, const PeerRule& rule, std::uint64_t seed) {
  if (links.size() < 2) throw InputError{"an exchange needs at least 2 sites"};
  switch (rule.kind) {
    case PeerRule::Kind::ring:
      return ring_rounds(links);
    case PeerRule::Kind::random:
      return Pairing{links, seed}.random();
    case PeerRule::Kind::matched:
      break;
  }
  return Pairing{links, seed}.matched(rule);
}

}  // namespace contend
