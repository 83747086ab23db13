// Defines the all-reduces over levels, such as the GPUs of a server, the servers of a rack, and the racks.

#include "network/collectives/rows.hpp"

#include <cstdint>

namespace contend {

namespace {

std::string wrong_groups(CollectiveKind, const CollectiveShape& shape) {
  std::int64_t product = 1;
  for (const int size : shape.groups) {
    if (size < 1) return "every group size is at least 1, not " + std::to_string(size);
    product *= size;
    if (product > shape.ranks) break;
  }
  if (shape.groups.empty()) return "it needs the sizes of the groups of each level";
  if (product == shape.ranks) return {};
  return "the product of the group sizes is not the number of ranks, " + std::to_string(shape.ranks);
}

/// The members of each group of a level: ranks that differ only in the digit of that level.
template <class Visit>
void for_each_group(int ranks, int stride, int size, Visit visit) {
  std::vector<int> members(static_cast<std::size_t>(size));
  for (int first = 0; first < ranks; ++first) {
    if (first / stride % size != 0) continue;
    for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)] = first + i * stride;
    visit(members);
  }
}

/// Reduce-scatters level by level from inside to outside, each on the part that is left, and all-gathers back.
void expand_levels(const std::vector<int>& groups, int ranks, std::int64_t bytes, StepForm form,
                   CollectiveSchedule& schedule) {
  std::vector<std::vector<ByteRange>> held{std::vector<ByteRange>(static_cast<std::size_t>(ranks), {0, bytes})};
  std::vector<int> strides{1};
  std::size_t step = 0;
  for (const int size : groups) {
    const int stride = strides.back();
    std::vector<ByteRange> ranges = held.back();
    std::size_t end = step;
    for_each_group(ranks, stride, size, [&](const std::vector<int>& members) {
      end = ring_reduce_scatter(schedule, step, members, ranges[static_cast<std::size_t>(members[0])], form);
    });
    for (int rank = 0; rank < ranks; ++rank) {
      ByteRange& range = ranges[static_cast<std::size_t>(rank)];
      range = part_of(range, size, rank / stride % size);
    }
    held.push_back(std::move(ranges));
    strides.push_back(stride * size);
    step = end;
  }
  for (std::size_t level = groups.size(); level-- > 0;) {
    std::size_t end = step;
    for_each_group(ranks, strides[level], groups[level], [&](const std::vector<int>& members) {
      end = ring_all_gather(schedule, step, members, held[level][static_cast<std::size_t>(members[0])], form);
    });
    step = end;
  }
}

LinkCost levels_cost(const std::vector<int>& groups, const CollectiveCosts& costs) {
  LinkCost sum;
  double left = 1;  // part of the tensor that a rank still has
  for (std::size_t level = 0; level < groups.size(); ++level) {
    const auto [alpha, beta] = costs.on_level(level);
    const double n = groups[level];
    const double sent = (n - 1) / n * beta, added = (n - 1) / n * costs.gamma;
    sum.alpha += 2 * (n - 1) * alpha;
    sum.beta += left * (sent + added + sent);
    left /= n;
  }
  return sum;
}

void expand_hierarchical(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                         CollectiveSchedule& schedule) {
  expand_levels(shape.groups, shape.ranks, bytes, form, schedule);
}

LinkCost hierarchical_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  return levels_cost(shape.groups, costs);
}

/// The numbers of columns and rows: the group sizes if there are two, else the factors of n nearest to its square root.
std::vector<int> torus_sides(const CollectiveShape& shape) {
  if (shape.groups.size() == 2) return shape.groups;
  int rows = 1;
  for (int side = 1; side * side <= shape.ranks; ++side) {
    if (shape.ranks % side == 0) rows = side;
  }
  return {shape.ranks / rows, rows};
}

std::string wrong_sides(CollectiveKind kind, const CollectiveShape& shape) {
  if (shape.groups.size() <= 1) return {};
  if (shape.groups.size() != 2) return "it has two sides, not " + std::to_string(shape.groups.size());
  return wrong_groups(kind, shape);
}

void expand_torus(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                  CollectiveSchedule& schedule) {
  expand_levels(torus_sides(shape), shape.ranks, bytes, form, schedule);
}

LinkCost torus_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  return levels_cost(torus_sides(shape), costs);
}

/// The members send their parts to the first member one after the other (or get them from it).
std::size_t collect(CollectiveSchedule& schedule, std::size_t step, const std::vector<int>& members, ByteRange range,
                    bool scatter) {
  const int size = static_cast<int>(members.size());
  for (int i = 1; i < size; ++i, ++step) {
    const int member = members[static_cast<std::size_t>(i)];
    const int from = scatter ? members[0] : member;
    schedule.send(step, from, scatter ? member : members[0], part_of(range, size, i), false);
  }
  return step;
}

void expand_leaders(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                    CollectiveSchedule& schedule) {
  const ByteRange all{0, bytes};
  std::vector<int> strides{1};
  for (const int size : shape.groups) strides.push_back(strides.back() * size);
  std::size_t step = 0;
  // At level l only the leaders of the level below take part: the ranks that are multiples of its stride.
  const auto at_level = [&](std::size_t level, auto phase) {
    std::size_t end = step;
    for_each_group(shape.ranks, strides[level], shape.groups[level], [&](const std::vector<int>& members) {
      if (members[0] % strides[level] == 0) end = phase(members);
    });
    step = end;
  };
  const std::size_t top = shape.groups.size() - 1;
  for (std::size_t level = 0; level < top; ++level) {
    at_level(level, [&](const auto& members) { return ring_reduce_scatter(schedule, step, members, all, form); });
    at_level(level, [&](const auto& members) { return collect(schedule, step, members, all, false); });
  }
  at_level(top, [&](const auto& members) { return ring_reduce_scatter(schedule, step, members, all, form); });
  at_level(top, [&](const auto& members) { return ring_all_gather(schedule, step, members, all, form); });
  for (std::size_t level = top; level-- > 0;) {
    at_level(level, [&](const auto& members) { return collect(schedule, step, members, all, true); });
    at_level(level, [&](const auto& members) { return ring_all_gather(schedule, step, members, all, form); });
  }
}

LinkCost leaders_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  LinkCost sum;
  for (std::size_t level = 0; level < shape.groups.size(); ++level) {
    const auto [alpha, beta] = costs.of_leaders(level);
    const double n = shape.groups[level];
    const double turns = level + 1 < shape.groups.size() ? 4 : 2;
    sum.alpha += (n - 1) * turns * alpha;
    sum.beta += (n - 1) / n * (turns * beta + costs.gamma);
  }
  return sum;
}

}  // namespace

CollectiveAlgorithm hierarchical_row() {
  return {"hierarchical",
          "reduce-scatter inside, all-reduce of each part outside, all-gather inside; two, three or more levels",
          "sum over levels i of 2(g_i-1) a_i + 2(g_i-1)/g_i V_i b_i + (g_i-1)/g_i V_i g, V_1 = V, V_i+1 = V_i/g_i",
          "Cho et al., BlueConnect, IBM J. Res. Dev. 63 (2019)",
          kAllReduce,
          wrong_groups,
          expand_hierarchical,
          hierarchical_cost,
          OnServers::levels,
          nullptr};
}

CollectiveAlgorithm torus_2d_row() {
  return {"torus-2d",
          "the hierarchical all-reduce over rows and columns: those of two groups, else as square as n allows",
          "as hierarchical, g_1 columns and g_2 rows",
          "Mikami et al., arXiv 1811.05233 (2018)",
          kAllReduce,
          wrong_sides,
          expand_torus,
          torus_cost,
          OnServers::levels,
          nullptr};
}

CollectiveAlgorithm hierarchical_leader_row() {
  return {"hierarchical-leader",
          "reduce to the first rank of each group, ring all-reduce among those, broadcast; two or more levels",
          "inner levels 4(g_i-1) a_i + 4(g_i-1)/g_i V b_i + (g_i-1)/g_i V g; outermost as ring",
          "Jia et al., arXiv 1807.11205 (2018): 4(k-1) + 2(p/k-1) steps",
          kAllReduce,
          wrong_groups,
          expand_leaders,
          leaders_cost,
          OnServers::levels,
          nullptr};
}

}  // namespace contend
