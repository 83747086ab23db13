// Defines the ring algorithms, in which every rank sends only to its successor.

#include "network/collectives/rows.hpp"

#include <algorithm>

namespace contend {

namespace {

/// One turn of the ring: n-1 steps; in step s member i sends part i - s - lag (mod n).
std::size_t turn(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members, ByteRange range,
                 StepForm form, int lag, bool reduced) {
  const int n = static_cast<int>(members.size());
  if (n < 2) return first;
  const auto next_of = [&](int i) { return members[static_cast<std::size_t>((i + 1) % n)]; };
  if (form == StepForm::steady) {
    const ByteRange largest = part_of(range, n, 0);
    for (int i = 0; i < n; ++i)
      schedule.send(first, members[static_cast<std::size_t>(i)], next_of(i), largest, reduced);
    schedule.step(first).repeat = n - 1;
    return first + 1;
  }
  for (int s = 0; s < n - 1; ++s) {
    for (int i = 0; i < n; ++i) {
      const int part = ((i - s - lag) % n + n) % n;
      schedule.send(first + static_cast<std::size_t>(s), members[static_cast<std::size_t>(i)], next_of(i),
                    part_of(range, n, part), reduced);
    }
  }
  return first + static_cast<std::size_t>(n - 1);
}

/// Sends chunks one after the other along the chain of ranks, from its first member (broadcast) or to it (reduce).
/// While all hops are busy every step is the same; the steady form has one repeated step for them.
void expand_chain(const CollectiveShape& shape, const std::vector<int>& members, ByteRange whole, bool reduce,
                  StepForm form, CollectiveSchedule& schedule) {
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
      schedule.send(step, members[first], members[reduce ? first - 1 : first + 1], range, reduce);
    }
    if (repeats > 0 && i == hops - 1) schedule.step(step).repeat = repeats;
  }
}

void expand_ring(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                 CollectiveSchedule& schedule) {
  const bool reduce = kind == CollectiveKind::reduce;
  for_each_stripe(shape, bytes, [&](std::vector<int> members, ByteRange range) {
    if (reduce || kind == CollectiveKind::broadcast) {
      // The chain follows the ring of the stripe from rank 0, the root.
      std::rotate(members.begin(), std::find(members.begin(), members.end(), 0), members.end());
      expand_chain(shape, members, range, reduce, form, schedule);
      return;
    }
    std::size_t step = 0;
    if (kind != CollectiveKind::all_gather) step = ring_reduce_scatter(schedule, step, members, range, form);
    if (kind != CollectiveKind::reduce_scatter) ring_all_gather(schedule, step, members, range, form);
  });
  schedule.drop_empty_steps();
}

double ring_seconds(CollectiveKind kind, const CollectiveShape& shape, double bytes, const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  const double n = shape.ranks;
  const double part = bytes / n;
  const double m = shape.chunks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return (n - 1) * (2 * alpha + 2 * part * beta + part * costs.gamma);
    case CollectiveKind::reduce_scatter:
      return (n - 1) * (alpha + part * (beta + costs.gamma));
    case CollectiveKind::all_gather:
      return (n - 1) * (alpha + part * beta);
    case CollectiveKind::broadcast:
      return (n - 2 + m) * (alpha + bytes / m * beta);
    default:
      return (n - 2 + m) * (alpha + bytes / m * (beta + costs.gamma));
  }
}

double chain_chunks(CollectiveKind kind, const CollectiveShape& shape, double bytes, const LinkCost& cost) {
  if (kind != CollectiveKind::broadcast && kind != CollectiveKind::reduce) return 1;
  return pipeline_optimum(shape.ranks - 2, 1, 1, bytes, cost);
}

void expand_both_ways(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                      CollectiveSchedule& schedule) {
  for_each_stripe(shape, bytes, [&](const std::vector<int>& forward, ByteRange part) {
    const std::vector<int> backward{forward.rbegin(), forward.rend()};
    for (const int half : {0, 1}) {
      const std::vector<int>& members = half == 0 ? forward : backward;
      const ByteRange range = part_of(part, 2, half);
      const std::size_t step = ring_reduce_scatter(schedule, 0, members, range, form);
      ring_all_gather(schedule, step, members, range, form);
    }
  });
}

double both_ways_seconds(CollectiveKind kind, const CollectiveShape& shape, double bytes,
                         const CollectiveCosts& costs) {
  CollectiveCosts each = costs;
  // Two links carry half of the bytes each; one interface carries all of them. Two ranks have one link between them.
  if (costs.two_ports && shape.ranks > 2) each.flat.beta /= 2;
  return ring_seconds(kind, shape, bytes, each);
}

constexpr CollectiveKind kRingKinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::reduce};
}  // namespace

std::size_t ring_reduce_scatter(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                                ByteRange range, StepForm form) {
  return turn(schedule, first, members, range, form, 1, true);
}

std::size_t ring_all_gather(CollectiveSchedule& schedule, std::size_t first, const std::vector<int>& members,
                            ByteRange range, StepForm form) {
  return turn(schedule, first, members, range, form, 0, false);
}

CollectiveAlgorithm ring_row() {
  return {"ring",
          "each rank to its successor: reduce-scatter and all-gather; broadcast and reduce as a pipelined chain",
          "2(n-1) a + 2(n-1)/n V b + (n-1)/n V g; broadcast in m chunks: (n-2+m) (a + V/m b)",
          "Patarasuk and Yuan, JPDC 69 (2009); Chan et al., Concurrency and Computation 19 (2007), section 7",
          kRingKinds,
          never_refused,
          expand_ring,
          ring_seconds,
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
          both_ways_seconds,
          nullptr};
}

}  // namespace contend
