#include "network/ring_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace contend {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// The costs of links that a ring may use: by from, then to.
class RingCosts {
 public:
  /// Links below `least` bytes/s count as missing.
  RingCosts(const LinkMatrix& links, double least) : n_{links.size()}, costs_(n_ * n_, kNone) {
    for (std::size_t from = 0; from < n_; ++from)
      for (std::size_t to = 0; to < n_; ++to)
        if (const auto& link = links.link(from, to); from != to && link && link->rate.bytes_per_second() >= least)
          costs_[from * n_ + to] = 1 / link->rate.bytes_per_second();
  }
  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] double of(std::size_t from, std::size_t to) const { return costs_[from * n_ + to]; }
  [[nodiscard]] double of(const std::vector<std::size_t>& ring) const {
    double sum = 0;
    for (std::size_t i = 0; i < ring.size(); ++i) sum += of(ring[i], ring[(i + 1) % ring.size()]);
    return sum;
  }

 private:
  std::size_t n_;
  std::vector<double> costs_;
};

using Ring = std::optional<std::vector<std::size_t>>;

/// The best ring by the dynamic program of Held and Karp (1962) over sets of sites and their last site.
Ring best_ring(const RingCosts& costs) {
  const std::size_t n = costs.size(), sets = std::size_t{1} << (n - 1);  // of the sites but 0
  std::vector<double> least(sets * n, kNone);
  std::vector<std::size_t> before(sets * n, 0);
  for (std::size_t site = 1; site < n; ++site) least[(std::size_t{1} << (site - 1)) * n + site] = costs.of(0, site);
  for (std::size_t set = 1; set < sets; ++set) {
    for (std::size_t last = 1; last < n; ++last) {
      const double here = least[set * n + last];
      if (here == kNone) continue;
      for (std::size_t next = 1; next < n; ++next) {
        const std::size_t bit = std::size_t{1} << (next - 1);
        const double cost = here + costs.of(last, next);
        double& there = least[(set | bit) * n + next];
        if ((set & bit) != 0 || cost >= there) continue;
        there = cost;
        before[(set | bit) * n + next] = last;
      }
    }
  }
  std::size_t set = sets - 1, last = 0;
  double best = kNone;
  for (std::size_t site = 1; site < n; ++site) {
    const double cost = least[set * n + site] + costs.of(site, 0);
    if (cost >= best) continue;
    best = cost;
    last = site;
  }
  if (best == kNone) return std::nullopt;
  std::vector<std::size_t> ring;
  while (set != 0) {
    ring.push_back(last);
    const std::size_t previous = before[set * n + last];
    set &= ~(std::size_t{1} << (last - 1));
    last = previous;
  }
  ring.push_back(0);
  std::ranges::reverse(ring);
  return ring;
}

/// The ring that inserting the sites one by one, each at its cheapest place, gives; then single sites move while that
/// helps. A missing link costs more than any ring.
Ring good_ring(const RingCosts& costs) {
  const std::size_t n = costs.size();
  const auto finite = [&](std::size_t from, std::size_t to) { return std::min(costs.of(from, to), 1e6); };
  const auto detour = [&](const std::vector<std::size_t>& ring, std::size_t at, std::size_t site) {
    const std::size_t from = ring[at], to = ring[(at + 1) % ring.size()];
    return finite(from, site) + finite(site, to) - (from == to ? 0 : finite(from, to));
  };
  std::vector<std::size_t> ring{0};
  const auto insert = [&](std::size_t site) {
    std::size_t best = 0;
    for (std::size_t at = 1; at < ring.size(); ++at)
      if (detour(ring, at, site) < detour(ring, best, site)) best = at;
    ring.insert(ring.begin() + static_cast<std::ptrdiff_t>(best) + 1, site);
  };
  for (std::size_t site = 1; site < n; ++site) insert(site);
  const auto length = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += finite(ring[i], ring[(i + 1) % n]);
    return sum;
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t site = 1; site < n; ++site) {
      const std::vector<std::size_t> old = ring;
      const double before = length();
      std::erase(ring, site);
      insert(site);
      if (length() < before * (1 - 1e-12))
        moves = true;
      else
        ring = old;
    }
  }
  if (costs.of(ring) == kNone) return std::nullopt;
  return ring;
}

Ring shortest_ring(const LinkMatrix& links, double least) {
  const RingCosts costs{links, least};
  return links.size() <= kExactRing ? best_ring(costs) : good_ring(costs);
}

}  // namespace

std::vector<std::size_t> ring_order(const LinkMatrix& links, RingOrder order) {
  std::vector<std::size_t> ring(links.size());
  std::iota(ring.begin(), ring.end(), std::size_t{0});
  if (order == RingOrder::table || links.size() < 3) return ring;
  if (order == RingOrder::shortest) return shortest_ring(links, 0).value_or(ring);
  std::vector<double> rates;
  for (std::size_t from = 0; from < links.size(); ++from)
    for (std::size_t to = 0; to < links.size(); ++to)
      if (const auto& link = links.link(from, to); from != to && link) rates.push_back(link->rate.bytes_per_second());
  std::ranges::sort(rates);
  // Fewer links never allow more rings.
  std::size_t low = 0, high = rates.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (auto found = shortest_ring(links, rates[middle])) {
      ring = std::move(*found);
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return ring;
}

}  // namespace contend
