// Defines the ring algorithms, in which every rank sends only to its successor.

#include "network/collectives/hops.hpp"
#include "network/collectives/rows.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

namespace {

/// One turn of the ring: n-1 steps; in step s member i sends part i - s - lag (mod n).
std::size_t turn(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members, ByteRange range,
                 StepForm form, int lag, bool reduced, int stripe) {
  const int n = static_cast<int>(members.size());
  if (n < 2) return first;
  const auto next_of = [&](int i) { return members[static_cast<std::size_t>((i + 1) % n)]; };
  if (form == StepForm::steady) {
    const ByteRange largest = part_of(range, n, 0);
    for (int i = 0; i < n; ++i)
      schedule.send(first, members[static_cast<std::size_t>(i)], next_of(i), largest, reduced, stripe);
    schedule.step(first).repeat = n - 1;
    return first + 1;
  }
  for (int s = 0; s < n - 1; ++s) {
    for (int i = 0; i < n; ++i) {
      const int part = ((i - s - lag) % n + n) % n;
      schedule.send(first + static_cast<std::size_t>(s), members[static_cast<std::size_t>(i)], next_of(i),
                    part_of(range, n, part), reduced, stripe);
    }
  }
  return first + static_cast<std::size_t>(n - 1);
}

/// Sends chunks one after the other along the chain of ranks, from its first member (broadcast) or to it (reduce).
/// While all hops are busy all steps are equal; the steady form has one repeated step for them.
void expand_chain(const CollectiveShape& shape, const std::vector<int>& members, ByteRange whole, int stripe,
                  bool reduce, StepForm form, CollectiveSchedule& schedule) {
  const int hops = shape.ranks - 1;
  const bool steady = form == StepForm::steady;
  const int repeats = steady ? std::max(0, shape.chunks - hops + 1) : 0;
  const int left = hops + shape.chunks - 1 - std::max(0, repeats - 1);
  for (int i = 0; i < left; ++i) {
    const int t = repeats > 0 && i >= hops ? i + repeats - 1 : i;
    const auto step = static_cast<std::size_t>(i);
    for (int hop = std::max(0, t - shape.chunks + 1); hop <= std::min(t, hops - 1); ++hop) {
      const auto first = static_cast<std::size_t>(reduce ? hops - hop : hop);
      const ByteRange range = part_of(whole, shape.chunks, steady ? 0 : t - hop);
      schedule.send(step, members[first], members[reduce ? first - 1 : first + 1], range, reduce, stripe);
    }
    if (repeats > 0 && i == hops - 1) schedule.step(step).repeat = repeats;
  }
}

void expand_ring(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                 CollectiveSchedule& schedule) {
  schedule.by_rank = true;
  const bool reduce = kind == CollectiveKind::reduce;
  for_each_stripe(shape, bytes, [&](std::vector<int> members, ByteRange range, int stripe) {
    if (reduce || kind == CollectiveKind::broadcast) {
      // The chain follows the ring of the stripe from rank 0, the root.
      std::rotate(members.begin(), std::find(members.begin(), members.end(), 0), members.end());
      expand_chain(shape, members, range, stripe, reduce, form, schedule);
      return;
    }
    std::size_t step = 0;
    if (kind != CollectiveKind::all_gather) step = ring_reduce_scatter(schedule, step, members, range, form, stripe);
    if (kind != CollectiveKind::reduce_scatter) ring_all_gather(schedule, step, members, range, form, stripe);
  });
  schedule.drop_empty_steps();
}

/// The start-up times of the hops around the ring in order of rank.
std::vector<double> hops_of(const CollectiveShape& shape, const CollectiveCosts& costs) {
  if (!costs.hops.empty()) return costs.hops;
  std::vector<double> hops(static_cast<std::size_t>(shape.ranks), costs.flat.alpha);
  if (costs.levels.empty()) return hops;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    // The outermost level at which rank i and the next rank are in different groups.
    std::size_t outermost = 0;
    std::size_t stride = 1;
    for (std::size_t level = 0; level < shape.groups.size(); ++level) {
      if ((i + 1) % stride == 0) outermost = level;
      stride *= static_cast<std::size_t>(shape.groups[level]);
    }
    hops[i] = costs.on_level(outermost).alpha;
  }
  return hops;
}

LinkCost ring_cost(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const double beta = costs.flat.beta;
  const std::vector<double> hops = hops_of(shape, costs);
  const bool is_even =
      costs.hops.empty() && costs.levels.empty();  // exactly as long as a hierarchical one of one level
  const auto alphas = [&](int steps) { return is_even ? steps * costs.flat.alpha : longest_run(hops, steps); };
  const double n = shape.ranks;
  const double m = shape.chunks;
  const double all_hops = std::accumulate(hops.begin(), hops.end() - 1, 0.0);
  const double sent = (n - 1) / n * beta, added = (n - 1) / n * costs.gamma;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {alphas(2 * (shape.ranks - 1)), sent + added + sent};
    case CollectiveKind::reduce_scatter:
      return {alphas(shape.ranks - 1), sent + added};
    case CollectiveKind::all_gather:
      return {alphas(shape.ranks - 1), sent};
    case CollectiveKind::broadcast:
      return {all_hops, (n - 2 + m) / m * beta};
    default:
      return {all_hops, (n - 1) / m * (beta + costs.gamma) + (m - 1) / m * std::max(beta, costs.gamma)};
  }
}

/// More chunks always fill the chain sooner. This number is where one chunk takes as long to send as to start up, which
/// leaves at most twice the start-up times.
double chain_chunks(CollectiveKind kind, const CollectiveShape& shape, double bytes, const LinkCost& cost) {
  if ((kind != CollectiveKind::broadcast && kind != CollectiveKind::reduce) || shape.ranks < 3) return 1;
  return bytes * cost.beta / cost.alpha;
}

void expand_both_ways(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                      CollectiveSchedule& schedule) {
  for_each_stripe(shape, bytes, [&](const std::vector<int>& forward, ByteRange part, int stripe) {
    const std::vector<int> backward{forward.rbegin(), forward.rend()};
    for (const int half : {0, 1}) {
      const std::vector<int>& members = half == 0 ? forward : backward;
      const ByteRange range = part_of(part, 2, half);
      const std::size_t step = ring_reduce_scatter(schedule, 0, members, range, form, stripe);
      ring_all_gather(schedule, step, members, range, form, stripe);
    }
  });
}

LinkCost both_ways_cost(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  CollectiveCosts each = costs;
  each.levels.clear();  // in lock-step every step has the largest start-up time
  each.hops.clear();
  // Two links carry half of the bytes each; one interface carries all of them. Two ranks have one link between them.
  if (costs.two_ports && shape.ranks > 2) each.flat.beta /= 2;
  return ring_cost(kind, shape, each);
}

constexpr CollectiveKind kRingKinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::reduce};
}  // namespace

std::size_t ring_reduce_scatter(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                                ByteRange range, StepForm form, int stripe) {
  return turn(schedule, first, members, range, form, 1, true, stripe);
}

std::size_t ring_all_gather(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                            ByteRange range, StepForm form, int stripe) {
  return turn(schedule, first, members, range, form, 0, false, stripe);
}

CollectiveAlgorithm ring_row() {
  return {"ring",
          "each rank to its successor: reduce-scatter and all-gather; broadcast and reduce as a pipelined chain",
          "2(n-1) a + 2(n-1)/n V b + (n-1)/n V g; broadcast in m chunks: (n-1) a + (n-2+m) V/m b",
          "Patarasuk and Yuan, JPDC 69 (2009); Chan et al., Concurrency and Computation 19 (2007), section 7",
          kRingKinds,
          never_refused,
          expand_ring,
          ring_cost,
          OnServers::around,
          chain_chunks};
}

CollectiveAlgorithm bidirectional_ring_row() {
  return {"bidirectional-ring",
          "two rings in opposite directions, each with half of the bytes",
          "2(n-1) a + 2(n-1)/n V b + (n-1)/n V g; with a link to each side b counts half",
          "Chan et al., Concurrency and Computation 19 (2007), section 7; two rings of V/2",
          kAllReduce,
          never_refused,
          expand_both_ways,
          both_ways_cost,
          OnServers::around,
          nullptr};
}

}  // namespace contend
