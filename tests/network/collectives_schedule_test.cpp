// Tests the schedules of the algorithms: each computes the result of its collective, and its cost is the closed form.

#include "network/collectives/double_tree.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/network/collectives_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::all_cases;
using contend::test::CollectiveCase;

namespace {

using Buffers = std::vector<std::vector<std::uint64_t>>;

std::uint64_t value(std::size_t rank, std::size_t at) {
  std::uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15ULL + (at + 1) * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 31;
  return x * 0x94d049bb133111ebULL;
}

/// Executes the schedule on data, with one number for each byte. All messages of a step leave before any arrives.
void execute(const CollectiveSchedule& schedule, Buffers& buffers) {
  for (const Step& step : schedule.steps) {
    const Buffers before = buffers;
    std::set<std::tuple<int, std::int64_t>> overwritten;
    for (const Send& send : step.sends) {
      for (std::int64_t at = send.range.offset; at < send.range.offset + send.range.bytes; ++at) {
        const auto i = static_cast<std::size_t>(at);
        auto& target = buffers[static_cast<std::size_t>(send.to)][i];
        const std::uint64_t sent = before[static_cast<std::size_t>(send.from)][i];
        target = send.reduced ? target + sent : sent;
        if (!send.reduced && !overwritten.insert({send.to, at}).second) FAIL_CHECK("overwritten twice in one step");
      }
    }
  }
}

/// True if every rank has the result of the collective after the schedule.
bool computes(const CollectiveCase& each, std::int64_t bytes) {
  const auto n = static_cast<std::size_t>(each.shape.ranks);
  const auto size = static_cast<std::size_t>(bytes);
  const auto owner_part = [&](std::size_t rank) {
    return part_of({0, bytes}, each.shape.ranks, static_cast<int>(rank));
  };
  const auto in_part = [&](std::size_t rank, std::size_t at) {
    const ByteRange part = owner_part(rank);
    return static_cast<std::int64_t>(at) >= part.offset && static_cast<std::int64_t>(at) < part.offset + part.bytes;
  };
  std::vector<std::uint64_t> sum(size, 0);
  Buffers buffers(n, std::vector<std::uint64_t>(size));
  for (std::size_t rank = 0; rank < n; ++rank) {
    for (std::size_t at = 0; at < size; ++at) {
      buffers[rank][at] = value(rank, at);
      sum[at] += value(rank, at);
    }
  }
  execute(expand_collective(*each.algorithm, each.kind, each.shape, Bytes{bytes}), buffers);
  for (std::size_t rank = 0; rank < n; ++rank) {
    for (std::size_t at = 0; at < size; ++at) {
      const std::uint64_t got = buffers[rank][at];
      bool right = true;
      switch (each.kind) {
        case CollectiveKind::all_reduce:
          right = got == sum[at];
          break;
        case CollectiveKind::reduce_scatter:
          right = !in_part(rank, at) || got == sum[at];
          break;
        case CollectiveKind::broadcast:
          right = got == value(0, at);
          break;
        case CollectiveKind::reduce:
          right = rank != 0 || got == sum[at];
          break;
        case CollectiveKind::all_gather:
          for (std::size_t owner = 0; owner < n; ++owner)
            right = right && (!in_part(owner, at) || got == value(owner, at));
          break;
        case CollectiveKind::exchange: {
          const std::size_t half = n / 2;
          const std::size_t partner = rank < half ? rank + half : rank < 2 * half ? rank - half : rank;
          right = got == value(partner, at);
          break;
        }
        case CollectiveKind::all_to_all:
          break;  // see below
      }
      if (!right) return false;
    }
  }
  return true;
}

/// The cost of a schedule by rank, on ranks that send, receive and reduce one message after the other.
double by_rank_seconds(const CollectiveSchedule& schedule, double alpha, double beta, double gamma) {
  const auto n = static_cast<std::size_t>(schedule.ranks);
  std::vector<double> has(n, 0), has_sent(n, 0), on_wire(n, 0);
  double end = 0;
  for (const Step& step : schedule.steps) {
    for (std::int64_t i = 0; i < step.repeat; ++i) {
      std::vector<double> has_next = has, has_sent_next = has_sent, on_wire_next = on_wire;
      for (const Send& send : step.sends) {
        const auto from = static_cast<std::size_t>(send.from);
        const auto to = static_cast<std::size_t>(send.to);
        const double sent =
            std::max({has[from], has_sent[from], on_wire[to]}) + static_cast<double>(send.range.bytes) * beta;
        has_sent_next[from] = on_wire_next[to] = sent;
        const double added = send.reduced ? static_cast<double>(send.range.bytes) * gamma : 0;
        has_next[to] = std::max(sent + alpha, added > 0 ? has[to] : 0) + added;
        end = std::max(end, has_next[to]);
      }
      has = has_next;
      has_sent = has_sent_next;
      on_wire = on_wire_next;
    }
  }
  return end;
}

/// The cost of a schedule in lock-step. Each step costs alpha, plus beta times the largest number of bytes that a rank
/// sends or receives, plus gamma times the largest number that a rank reduces.
double port_model_seconds(const CollectiveSchedule& schedule, double alpha, double beta, double gamma) {
  if (schedule.by_rank) return by_rank_seconds(schedule, alpha, beta, gamma);
  double seconds = 0;
  for (const Step& step : schedule.steps) {
    const auto n = static_cast<std::size_t>(schedule.ranks);
    std::vector<std::int64_t> out(n, 0), in(n, 0), reduced(n, 0);
    for (const Send& send : step.sends) {
      out[static_cast<std::size_t>(send.from)] += send.range.bytes;
      in[static_cast<std::size_t>(send.to)] += send.range.bytes;
      if (send.reduced) reduced[static_cast<std::size_t>(send.to)] += send.range.bytes;
    }
    const std::int64_t moved =
        std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
    const std::int64_t added = *std::max_element(reduced.begin(), reduced.end());
    seconds += static_cast<double>(step.repeat) *
               (alpha + static_cast<double>(moved) * beta + static_cast<double>(added) * gamma);
  }
  return seconds;
}

}  // namespace

TEST_CASE("parts of 10 bytes by three: 4, 3, 3") {
  const ByteRange ten{5, 10};
  CHECK(part_of(ten, 3, 0).offset == 5);
  CHECK(part_of(ten, 3, 0).bytes == 4);
  CHECK(part_of(ten, 3, 1).offset == 9);
  CHECK(part_of(ten, 3, 2).offset == 12);
  CHECK(part_of(ten, 3, 2).bytes == 3);
  CHECK(part_of({0, 2}, 5, 3).bytes == 0);
}

TEST_CASE("ring all-reduce of 9 bytes over 3 ranks, by hand") {
  // Part 0 starts at rank 1, part 1 at rank 2, part 2 at rank 0; after two steps rank i has part i, then they go round.
  CollectiveShape shape;
  shape.ranks = 3;
  const CollectiveAlgorithm& ring = find_collective_algorithm("ring", CollectiveKind::all_reduce);
  const CollectiveSchedule schedule = expand_collective(ring, CollectiveKind::all_reduce, shape, Bytes{9});
  REQUIRE(schedule.steps.size() == 4);
  CHECK(schedule.steps[0].sends == std::vector<Send>{{0, 1, {6, 3}, true}, {1, 2, {0, 3}, true}, {2, 0, {3, 3}, true}});
  CHECK(schedule.steps[1].sends == std::vector<Send>{{0, 1, {3, 3}, true}, {1, 2, {6, 3}, true}, {2, 0, {0, 3}, true}});
  CHECK(schedule.steps[2].sends ==
        std::vector<Send>{{0, 1, {0, 3}, false}, {1, 2, {3, 3}, false}, {2, 0, {6, 3}, false}});
  CHECK(schedule.steps[3].sends ==
        std::vector<Send>{{0, 1, {6, 3}, false}, {1, 2, {0, 3}, false}, {2, 0, {3, 3}, false}});
}

TEST_CASE("every algorithm computes its collective, whatever the number of ranks and the size") {
  std::size_t computed = 0;
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 30, 32, 33}) {
    if (kSanitized && n > 17) break;
    for (const CollectiveCase& each : all_cases(n)) {
      if (each.kind == CollectiveKind::all_to_all) continue;  // its ranges have no offsets
      for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{n - 1}, std::int64_t{3 * n + 1}}) {
        INFO(each.name(), " bytes ", bytes);
        CHECK(computes(each, bytes));
        ++computed;
      }
    }
  }
  CHECK(computed > (kSanitized ? 50U : 500U));
}

TEST_CASE("all-to-all: every block arrives") {
  // Pairwise: rank i sends one message to each j, of the size of block j.
  for (const int n : {2, 3, 8, 13}) {
    CollectiveShape shape;
    shape.ranks = n;
    const std::int64_t bytes = 5 * n + 2;
    const CollectiveAlgorithm& pairwise = find_collective_algorithm("pairwise", CollectiveKind::all_to_all);
    std::set<std::pair<int, int>> pairs;
    const CollectiveSchedule schedule = expand_collective(pairwise, CollectiveKind::all_to_all, shape, Bytes{bytes});
    for (const Step& step : schedule.steps) {
      for (const Send& send : step.sends) {
        CHECK(pairs.insert({send.from, send.to}).second);
        CHECK(send.range.bytes == part_of({0, bytes}, n, send.to).bytes);
      }
    }
    CHECK(pairs.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1));
  }
}

TEST_CASE("hierarchical all-to-all of 16 bytes per rank on 2 x 2, by hand") {
  // Blocks of 4 bytes. Rank 0 gives rank 1 its blocks for ranks 1 and 3, then exchanges with rank 2 what both ranks of
  // its group have for rank 2.
  CollectiveShape shape;
  shape.ranks = 4;
  shape.groups = {2, 2};
  const CollectiveSchedule schedule =
      expand_collective(find_collective_algorithm("hierarchical-all-to-all", CollectiveKind::all_to_all),
                        CollectiveKind::all_to_all, shape, Bytes{16});
  REQUIRE(schedule.steps.size() == 2);
  CHECK(schedule.steps[0].sends ==
        std::vector<Send>{{0, 1, {0, 8}, false}, {1, 0, {0, 8}, false}, {2, 3, {0, 8}, false}, {3, 2, {0, 8}, false}});
  CHECK(schedule.steps[1].sends ==
        std::vector<Send>{{0, 2, {0, 8}, false}, {1, 3, {0, 8}, false}, {2, 0, {0, 8}, false}, {3, 1, {0, 8}, false}});
}

TEST_CASE("the closed form is the cost of the schedule on ranks with one port, 2 to 64 ranks") {
  CollectiveCosts costs;
  costs.flat = {5e-6, 1e-9};
  costs.levels = {costs.flat};
  costs.gamma = 0.25e-9;
  std::size_t compared = 0;
  for (int n = 2; n <= (kSanitized ? 17 : 64); ++n) {
    for (const CollectiveCase& each : all_cases(n)) {
      const Bytes bytes{test::divisible_bytes(each)};
      const double closed = collective_seconds(*each.algorithm, each.kind, each.shape, bytes, costs);
      for (const StepForm form : {StepForm::exact, StepForm::steady}) {
        const double executed = port_model_seconds(
            expand_collective(*each.algorithm, each.kind, each.shape, bytes, form), 5e-6, 1e-9, 0.25e-9);
        INFO(each.name());
        CHECK(executed == near(closed));
        ++compared;
      }
    }
  }
  CHECK(compared > (kSanitized ? 300U : 3000U));
}

TEST_CASE("steady form: the same steps, without their offsets") {
  using Shape = std::vector<std::tuple<int, int, std::int64_t, bool>>;
  const auto shapes_of = [](const CollectiveSchedule& schedule) {
    std::vector<Shape> shapes;
    for (const Step& step : schedule.steps) {
      Shape shape;
      for (const Send& send : step.sends) shape.emplace_back(send.from, send.to, send.range.bytes, send.reduced);
      std::sort(shape.begin(), shape.end());
      shapes.insert(shapes.end(), static_cast<std::size_t>(step.repeat), shape);
    }
    std::sort(shapes.begin(), shapes.end());
    return shapes;
  };
  std::size_t shorter = 0;
  for (const int n : {2, 3, 4, 5, 8, 12, 30}) {
    for (CollectiveCase each : all_cases(n)) {
      for (const int more : {0, 40}) {
        each.shape.chunks += each.algorithm->best_chunks == nullptr ? 0 : more;
        INFO(each.name());
        const Bytes bytes{test::divisible_bytes(each)};
        const CollectiveSchedule exact = expand_collective(*each.algorithm, each.kind, each.shape, bytes);
        const CollectiveSchedule steady =
            expand_collective(*each.algorithm, each.kind, each.shape, bytes, StepForm::steady);
        CHECK(steady.step_count() == exact.step_count());
        CHECK(steady.bytes_sent() == exact.bytes_sent());
        CHECK(shapes_of(steady) == shapes_of(exact));
        if (exact.steps.size() > 70) CHECK(steady.steps.size() < exact.steps.size());
        shorter += steady.steps.size() < exact.steps.size() ? 1U : 0U;
      }
    }
  }
  CHECK(shorter > 20);
}

TEST_CASE("a steady ring over 16384 ranks is two steps") {
  CollectiveShape shape;
  shape.ranks = 16384;
  const CollectiveSchedule steady =
      expand_collective(find_collective_algorithm("ring", CollectiveKind::all_reduce), CollectiveKind::all_reduce,
                        shape, Bytes::mebibytes(1024), StepForm::steady);
  CHECK(steady.steps.size() == 2);
  CHECK(steady.step_count() == 2 * 16383);
  CHECK(steady.bytes_sent() == 2 * 16383 * Bytes::mebibytes(1024).count());
}

TEST_CASE("the double tree over four ranks by hand") {
  // In order 1, 2, 3, 4 the root is 4, its child 2 with the children 1 and 3. In the first tree these are the ranks 0,
  // 1, 2, 3, in the second one earlier: 3, 0, 1, 2.
  std::vector<std::vector<int>> edges;
  for (const TreeEdge& edge : double_tree(4)) edges.push_back({edge.tree, edge.parent, edge.child});
  CHECK(edges == std::vector<std::vector<int>>{{0, 3, 1}, {0, 1, 0}, {0, 1, 2}, {1, 2, 0}, {1, 0, 3}, {1, 0, 1}});
}

TEST_CASE("double binary tree: spanning, inner in one tree only, one message each way in a step") {
  for (int n = 2; n <= 130; ++n) {
    INFO(n);
    const std::vector<TreeEdge> edges = double_tree(n);
    const auto ranks = static_cast<std::size_t>(n);
    REQUIRE(edges.size() == 2 * (ranks - 1));
    std::vector<int> children[2] = {std::vector<int>(ranks, 0), std::vector<int>(ranks, 0)};
    std::set<std::tuple<int, int>> sends, receipts, entered;
    for (const TreeEdge& edge : edges) {
      ++children[edge.tree][static_cast<std::size_t>(edge.parent)];
      CHECK(entered.insert({edge.tree, edge.child}).second);
      CHECK(sends.insert({edge.parent, edge.step % 2}).second);
      CHECK(receipts.insert({edge.child, edge.step % 2}).second);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      CHECK(children[0][rank] <= 2);
      CHECK(children[1][rank] <= 2);
      CHECK((children[0][rank] == 0 || children[1][rank] == 0));
    }
    int log = 0;
    while ((1 << log) < n) ++log;
    CHECK(double_tree_depth(edges) <= 2 * log + 1);
    if (n >= 3) CHECK(double_tree_steps(edges, 10) == double_tree_depth(edges) + 18);
  }
}

TEST_CASE("invalid requests are refused with every reason") {
  const auto reasons = [](std::string_view name, CollectiveKind kind, const CollectiveShape& shape,
                          std::int64_t bytes) {
    const std::span<const CollectiveAlgorithm> all = collective_algorithms();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
    std::vector<std::string> list;
    try {
      static_cast<void>(expand_collective(*found, kind, shape, Bytes{bytes}));
    } catch (const InputError& error) {
      for (const Complaint& complaint : error.complaints()) list.push_back(complaint.reason);
    }
    return list;
  };
  CollectiveShape shape;
  shape.ranks = 6;
  shape.groups = {4, 2};
  CHECK(reasons("hierarchical", CollectiveKind::all_reduce, shape, 8) ==
        std::vector<std::string>{
            "collective hierarchical: the product of the group sizes is not the number of ranks, 6"});
  const std::vector<std::string> no_product{
      "collective hierarchical-all-to-all: the product of the group sizes is not the number of ranks, 6"};
  for (const std::vector<int>& groups : {std::vector<int>{4, 2}, {0, 2}, {2, 0}, {-3, -2}}) {
    shape.groups = groups;
    CHECK(reasons("hierarchical-all-to-all", CollectiveKind::all_to_all, shape, 8) == no_product);
  }
  shape.groups = {4, 2};
  CHECK(
      reasons("halving-doubling", CollectiveKind::all_gather, shape, 8) ==
      std::vector<std::string>{
          "collective halving-doubling: its all-gather needs a power of two of ranks, not 6; bruck takes any number"});
  shape.servers = 7;
  CHECK(reasons("parameter-server", CollectiveKind::all_reduce, shape, 8).size() == 1);
  shape.ranks = 1;
  shape.chunks = 0;
  CHECK(reasons("ring", CollectiveKind::all_to_all, shape, 0).size() == 4);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_collective_algorithm("rign", CollectiveKind::all_reduce)),
                       doctest::Contains("did you mean \"ring\"?"), InputError);
  CHECK_THROWS_AS(static_cast<void>(find_collective_algorithm("pairwise", CollectiveKind::all_reduce)), InputError);
  CHECK_THROWS_AS(static_cast<void>(point_to_point(Bytes{0})), InputError);
}
