#include "models/overlap/link_cost.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// An instant as the sum of the costs along the path that leads to it, for messages of one size.
struct Instant {
  CostLine line;
  double ns = 0;

  bool operator<(const Instant& other) const {
    return ns < other.ns || (ns == other.ns && line.ns_per_byte < other.line.ns_per_byte);
  }
};

class Messages {
 public:
  /// The costs of collectives of `bytes`, the size of the full tensor on one rank.
  Messages(const LinkMatrix& links, TimePerByte gamma, double bytes)
      : links_{links}, n_{links.size()}, gamma_{gamma.ns_per_byte()}, bytes_{bytes} {}

  /// Blocks go round the ring one after the other; in the first `adding` steps the receiver adds them.
  [[nodiscard]] CostLine ring(std::size_t steps, std::size_t adding) const {
    const double block = 1.0 / static_cast<double>(n_);
    std::vector<Instant> ready(n_), free(n_), arrived(n_);
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < n_; ++i) {
        const SiteLink& link = *links_.link(i, (i + 1) % n_);
        const Instant start = std::max(ready[i], free[i]);
        free[i] = after(start, 0, block * link.ns_per_byte());
        arrived[(i + 1) % n_] = after(free[i], latency(link), step < adding ? block * gamma_ : 0);
      }
      ready = arrived;
    }
    return latest(ready);
  }

  [[nodiscard]] CostLine all_to_all() const {
    const double block = 1.0 / static_cast<double>(n_);
    std::vector<Instant> at(n_), next(n_);
    for (std::size_t step = 1; step < n_; ++step) {
      for (std::size_t i = 0; i < n_; ++i) {
        const std::size_t to = (i + step) % n_, from = (i + n_ - step) % n_;
        next[i] = std::max(transfer(at[i], i, to, block), transfer(at[from], from, i, block));
      }
      at = next;
    }
    return latest(at);
  }

  /// Goes down the tree of the first site, or up it: the same with time and links reversed.
  [[nodiscard]] CostLine tree(bool up) const {
    std::vector<Instant> at(n_);
    for (std::size_t distance = std::bit_ceil(n_) / 2; distance > 0; distance /= 2) {
      for (std::size_t i = 0; i + distance < n_; i += 2 * distance) {
        const std::size_t to = i + distance;
        at[i] = at[to] = up ? after(transfer(at[i], to, i, 1), 0, gamma_) : transfer(at[i], i, to, 1);
      }
    }
    return latest(at);
  }

  [[nodiscard]] CostLine mean_of(const std::vector<PeerRound>& rounds) const {
    CostLine sum;
    for (const PeerRound& round : rounds) {
      Instant end;
      for (const PeerTransfer& each : round) end = std::max(end, transfer({}, each.from, each.to, 1));
      sum.alpha_ns += end.line.alpha_ns;
      sum.ns_per_byte += end.line.ns_per_byte;
    }
    const auto count = static_cast<double>(rounds.size());
    return {sum.alpha_ns / count, sum.ns_per_byte / count};
  }

 private:
  [[nodiscard]] static double latency(const SiteLink& link) { return static_cast<double>(link.latency.ns()); }
  [[nodiscard]] Instant after(const Instant& start, double alpha_ns, double ns_per_byte) const {
    const CostLine line{start.line.alpha_ns + alpha_ns, start.line.ns_per_byte + ns_per_byte};
    return {line, line.at(bytes_)};
  }
  /// The cost of a message with that share of the tensor.
  [[nodiscard]] Instant transfer(const Instant& start, std::size_t from, std::size_t to, double share) const {
    const SiteLink& link = *links_.link(from, to);
    return after(start, latency(link), share * link.ns_per_byte());
  }
  [[nodiscard]] static CostLine latest(const std::vector<Instant>& instants) {
    return std::max_element(instants.begin(), instants.end())->line;
  }

  const LinkMatrix& links_;
  std::size_t n_;
  double gamma_, bytes_;
};

std::vector<PeerTransfer> ring_links(std::size_t n) {
  std::vector<PeerTransfer> links;
  for (std::size_t i = 0; i < n; ++i) links.push_back({i, (i + 1) % n});
  return links;
}

std::vector<PeerTransfer> tree_links(std::size_t n, bool up) {
  std::vector<PeerTransfer> links;
  for (std::size_t distance = std::bit_ceil(n) / 2; distance > 0; distance /= 2) {
    for (std::size_t i = 0; i + distance < n; i += 2 * distance) {
      links.push_back(up ? PeerTransfer{i + distance, i} : PeerTransfer{i, i + distance});
    }
  }
  return links;
}

}  // namespace

ExchangeCost link_cost(const LinkMatrix& links, TimePerByte gamma, const PeerRule& rule, std::uint64_t seed,
                       RingOrder order) {
  const std::size_t n = links.size();
  CONTEND_CHECK(n >= 2, "an exchange needs at least two sites");
  std::array<CostCurve, kCollectiveKinds> curves;
  using SharedLinks = std::shared_ptr<const LinkMatrix>;  // curves find their pieces when they are asked
  const auto set = [&](CollectiveKind kind, const SharedLinks& matrix, const std::vector<PeerTransfer>& needed,
                       const char* name, std::function<CostLine(const Messages&)> cost) {
    CostCurve& curve = curves[static_cast<std::size_t>(kind)];
    try {
      require_links(*matrix, needed, name);
      curve = CostCurve{[=, cost = std::move(cost)](double bytes) { return cost(Messages{*matrix, gamma, bytes}); }};
    } catch (const InputError& error) {
      curve = CostCurve::impossible(error.complaints().front().reason);
    }
  };
  const auto ring = std::make_shared<const LinkMatrix>(links.only(ring_order(links, order)));
  const auto set_ring = [&](CollectiveKind kind, const char* name, std::size_t steps, std::size_t adding) {
    set(kind, ring, ring_links(n), name, [=](const Messages& m) { return m.ring(steps, adding); });
  };
  const std::size_t half = n - 1;
  set_ring(CollectiveKind::all_reduce, "a ring all-reduce", 2 * half, half);
  set_ring(CollectiveKind::reduce_scatter, "a ring", half, half);
  set_ring(CollectiveKind::all_gather, "a ring all-gather", half, 0);
  const auto all = std::make_shared<const LinkMatrix>(links);
  set(CollectiveKind::all_to_all, all, all_pairs(n), "an all-to-all", [](const Messages& m) { return m.all_to_all(); });
  set(CollectiveKind::broadcast, all, tree_links(n, false), "a tree", [](const Messages& m) { return m.tree(false); });
  set(CollectiveKind::reduce, all, tree_links(n, true), "a tree", [](const Messages& m) { return m.tree(true); });
  const auto rounds = std::make_shared<std::vector<PeerRound>>();
  set(CollectiveKind::exchange, all, {}, "", [=](const Messages& m) {
    if (rounds->empty()) *rounds = peer_rounds(*all, rule, seed);
    return m.mean_of(*rounds);
  });
  return ExchangeCost::on_links(std::move(curves));
}

}  // namespace contend
