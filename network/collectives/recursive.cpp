// Defines the algorithms that halve the data or double the distance from step to step.

#include "network/collectives/rows.hpp"

#include <algorithm>

namespace contend {

namespace {

/// The ranks that take part in the power-of-two core of the all-reduce: the even ones of the first 2r ranks and all
/// others.
struct Core {
  int size = 1;   ///< largest power of two <= n
  int extra = 0;  ///< r = n - size
  [[nodiscard]] int rank(int virtual_rank) const {
    return virtual_rank < extra ? 2 * virtual_rank : virtual_rank + extra;
  }
};

Core core_of(int ranks) {
  const int size = 1 << floor_log2(ranks);
  return {size, ranks - size};
}

/// In each pair of the first 2r ranks each rank reduces half of the vector; then the even one gets the other half too.
std::size_t fold(const Core& core, ByteRange all, CollectiveSchedule& schedule) {
  if (core.extra == 0) return 0;
  for (int even = 0; even < 2 * core.extra; even += 2) {
    schedule.send(0, even, even + 1, part_of(all, 2, 1), true);
    schedule.send(0, even + 1, even, part_of(all, 2, 0), true);
    schedule.send(1, even + 1, even, part_of(all, 2, 1), false);
  }
  return 2;
}

void expand_all_reduce(int ranks, std::int64_t bytes, CollectiveSchedule& schedule) {
  const Core core = core_of(ranks);
  const ByteRange all{0, bytes};
  std::size_t step = fold(core, all, schedule);
  // The range that each rank of the core is responsible for; nearest partners exchange the largest messages.
  std::vector<std::vector<ByteRange>> owned{std::vector<ByteRange>(static_cast<std::size_t>(core.size), all)};
  for (int mask = 1; mask < core.size; mask *= 2) {
    std::vector<ByteRange> kept = owned.back();
    for (int v = 0; v < core.size; ++v) {
      ByteRange& range = kept[static_cast<std::size_t>(v)];
      const int upper = (v & mask) == 0 ? 0 : 1;
      schedule.send(step, core.rank(v), core.rank(v ^ mask), part_of(range, 2, 1 - upper), true);
      range = part_of(range, 2, upper);
    }
    owned.push_back(std::move(kept));
    ++step;
  }
  for (int mask = core.size / 2; mask >= 1; mask /= 2) {
    const std::vector<ByteRange>& ranges = owned.back();
    for (int v = 0; v < core.size; ++v) {
      schedule.send(step, core.rank(v), core.rank(v ^ mask), ranges[static_cast<std::size_t>(v)], false);
    }
    owned.pop_back();
    ++step;
  }
  for (int even = 0; even < 2 * core.extra; even += 2) schedule.send(step, even, even + 1, all, false);
}

/// Parts [first, first + count) of n, as one range.
ByteRange parts(std::int64_t bytes, int n, int first, int count) {
  const ByteRange last = part_of({0, bytes}, n, first + count - 1);
  const std::int64_t offset = part_of({0, bytes}, n, first).offset;
  return {offset, last.offset + last.bytes - offset};
}

/// Recursive doubling with the parts in order of rank: at distance d a rank has the parts of its block of d ranks. The
/// reduce-scatter runs the same steps backwards, and the receiver of each message reduces it.
void expand_gather_or_scatter(int n, std::int64_t bytes, bool scatter, CollectiveSchedule& schedule) {
  const int steps = floor_log2(n);
  for (int k = 0; k < steps; ++k) {
    const int distance = 1 << k;
    const auto step = static_cast<std::size_t>(scatter ? steps - 1 - k : k);
    for (int rank = 0; rank < n; ++rank) {
      const int partner = rank ^ distance;
      const int mine = (scatter ? partner : rank) / distance * distance;
      schedule.send(step, rank, partner, parts(bytes, n, mine, distance), scatter);
    }
  }
}

void expand_halving_doubling(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                             CollectiveSchedule& schedule) {
  if (kind == CollectiveKind::all_reduce) {
    expand_all_reduce(shape.ranks, bytes, schedule);
  } else {
    expand_gather_or_scatter(shape.ranks, bytes, kind == CollectiveKind::reduce_scatter, schedule);
  }
}

LinkCost halving_doubling_cost(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  const Core core = core_of(shape.ranks);
  const double log = floor_log2(core.size);
  const double part = static_cast<double>(core.size - 1) / core.size;
  const double sent = part * beta, added = part * costs.gamma;
  if (kind == CollectiveKind::reduce_scatter) return {log * alpha, sent + added};
  if (kind == CollectiveKind::all_gather) return {log * alpha, sent};
  const LinkCost all_reduce{2 * log * alpha, sent + added + sent};
  if (core.extra == 0) return all_reduce;
  return {all_reduce.alpha + 3 * alpha, all_reduce.beta + (2 * beta + costs.gamma / 2)};
}

std::string power_of_two(CollectiveKind kind, const CollectiveShape& shape) {
  if (kind == CollectiveKind::all_reduce || core_of(shape.ranks).extra == 0) return {};
  return "its " + std::string{name_of(kind)} + " needs a power of two of ranks, not " + std::to_string(shape.ranks) +
         "; bruck takes any number";
}

/// Step k of the all-gather: rank i has the parts of ranks i .. i+2^k-1 (mod n) and sends them to rank i-2^k. A range
/// that wraps around is two messages. The reduce-scatter runs the same steps backwards.
void expand_bruck(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                  CollectiveSchedule& schedule) {
  const int n = shape.ranks;
  const bool scatter = kind == CollectiveKind::reduce_scatter;
  const int steps = ceil_log2(n);
  for (int k = 0; k < steps; ++k) {
    const int distance = 1 << k;
    const int count = std::min(distance, n - distance);
    const auto step = static_cast<std::size_t>(scatter ? steps - 1 - k : k);
    for (int i = 0; i < n; ++i) {
      const int below = (i - distance + n) % n;
      const int straight = std::min(count, n - i);
      const int from = scatter ? below : i;
      const int to = scatter ? i : below;
      schedule.send(step, from, to, parts(bytes, n, i, straight), scatter);
      if (straight < count) schedule.send(step, from, to, parts(bytes, n, 0, count - straight), scatter);
    }
  }
}

LinkCost bruck_cost(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  const double part = static_cast<double>(shape.ranks - 1) / shape.ranks;
  const double sent = part * beta, added = kind == CollectiveKind::reduce_scatter ? part * costs.gamma : 0;
  return {ceil_log2(shape.ranks) * alpha, sent + added};
}

constexpr CollectiveKind kReduceAndGather[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                               CollectiveKind::all_gather};
constexpr CollectiveKind kGatherAndScatter[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter};

}  // namespace

CollectiveAlgorithm halving_doubling_row() {
  return {"halving-doubling",
          "recursive vector halving and doubling; all-reduce folds other numbers of ranks onto a power of two",
          "2 log2(p) a + 2(p-1)/p V b + (p-1)/p V g, p = 2^floor(log2 n); if p < n: + 3 a + 2 V b + V/2 g",
          "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005), section 4; Rabenseifner, ICCS 2004",
          kReduceAndGather,
          power_of_two,
          expand_halving_doubling,
          halving_doubling_cost,
          OnServers::counted,
          nullptr};
}

CollectiveAlgorithm bruck_row() {
  return {"bruck",
          "all-gather in ceil(log2 n) steps for any n, doubling the distance; reduce-scatter is the same backwards",
          "all-gather: ceil(log2 n) a + (n-1)/n V b",
          "Bruck et al., IEEE TPDS 8 (1997); Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005), section 4.1",
          kGatherAndScatter,
          never_refused,
          expand_bruck,
          bruck_cost,
          OnServers::counted,
          nullptr};
}

}  // namespace contend
