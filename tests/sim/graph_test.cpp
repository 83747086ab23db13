#include "sim/graph.hpp"

#include "sim/error.hpp"
#include "tests/text_checks.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The complaint about a graph, or an empty string if there is none.
std::string complaint(const IterationGraph& graph) {
  try {
    graph.validate();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string complaint(std::string_view text) {
  try {
    static_cast<void>(graph_from_text(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("text: every kind of item is read") {
  const IterationGraph graph = graph_from_text(
      "role worker 4 | role server 4\n"
      "compute forward worker 36 | all-reduce grads worker 1000\n"
      "message push worker server 10 | reduce-scatter rs server 7 | all-gather ag server 8 | broadcast bc server 9\n"
      "reduce rd server 11 | all-to-all a2a server 12\n"
      "forward -> grads | grads => forward");
  REQUIRE(graph.roles().size() == 2);
  CHECK(graph.roles()[0].name == "worker");
  CHECK(graph.roles()[1].ranks == 4);
  CHECK(graph.ranks() == 8);

  REQUIRE(graph.ops().size() == 8);
  const Op& forward = graph.ops()[0];
  CHECK(forward.name == "forward");
  CHECK(forward.kind == OpKind::compute);
  CHECK(forward.role == RoleId{0U});
  CHECK(forward.duration == Time::nanoseconds(36));
  const Op& grads = graph.ops()[1];
  CHECK(grads.kind == OpKind::collective);
  CHECK(grads.collective == CollectiveKind::all_reduce);
  CHECK(grads.bytes == Bytes{1000});
  const Op& push = graph.ops()[2];
  CHECK(push.kind == OpKind::message);
  CHECK(push.role == RoleId{0U});
  CHECK(push.peer == RoleId{1U});
  CHECK(push.bytes == Bytes{10});
  const CollectiveKind kinds[] = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather, CollectiveKind::broadcast,
                                  CollectiveKind::reduce, CollectiveKind::all_to_all};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(graph.ops()[3 + i].collective == kinds[i]);
    CHECK(graph.ops()[3 + i].role == RoleId{1U});
  }

  REQUIRE(graph.dependencies().size() == 2);
  CHECK(graph.dependencies()[0].before == OpId{0U});
  CHECK(graph.dependencies()[0].after == OpId{1U});
  CHECK(graph.dependencies()[0].lag == 0);
  CHECK(graph.dependencies()[1].before == OpId{1U});
  CHECK(graph.dependencies()[1].lag == 1);
}

TEST_CASE("text: spaces, tabs, empty items and empty lines do not matter") {
  const IterationGraph graph = graph_from_text("\n  role\tw   2 | |\n\n compute f w 5 |");
  CHECK(graph.ranks() == 2);
  CHECK(graph.ops().size() == 1);
}

TEST_CASE("text: an item that can't be read is quoted") {
  CHECK(contains(complaint("role w 1 | compute f w"), "compute f w"));
  CHECK(contains(complaint("role w 1 | compute f w 3.5"), "compute f w 3.5"));
  CHECK(contains(complaint("role w 1 | compute f w 3x"), "compute f w 3x"));
  CHECK(contains(complaint("role w 1 | compute f v 3"), "compute f v 3"));            // no such role
  CHECK(contains(complaint("role w 1 | compute f w 3 | f -> g"), "f -> g"));          // no such operation
  CHECK(contains(complaint("role w 1 | all-gossip g w 3"), "all-gossip g w 3"));      // no such collective
  CHECK(contains(complaint("role w 1 | compute f w 99999999999999999999"), "9999"));  // does not fit
  CHECK(contains(complaint("role w 1 | compute f w 3 | f -- f"), "f -- f"));
}

TEST_CASE("compute time: per rank by role, and summed over all ranks") {
  // a: 2 ranks x (3 + 4); b: 5 ranks x 10. Communication is no compute.
  const IterationGraph graph =
      graph_from_text("role a 2 | role b 5 | compute x a 3 | compute y a 4 | compute z b 10 | all-reduce g b 1000");
  CHECK(graph.compute_per_rank(RoleId{0U}) == Time::nanoseconds(7));
  CHECK(graph.compute_per_rank(RoleId{1U}) == Time::nanoseconds(10));
  CHECK(graph.compute_total() == GpuTime::nanoseconds(2 * 7 + 5 * 10));
}

TEST_CASE("validate: a cycle within an iteration is named, one across iterations is legal") {
  const std::string cycle =
      complaint("role w 1 | compute a w 1 | compute b w 1 | compute c w 1 | a -> b | b -> c | c -> b");
  CHECK(contains(cycle, "cycle"));
  CHECK(contains(cycle, "`b`"));
  CHECK(contains(complaint("role w 1 | compute a w 1 | a -> a"), "cycle"));
  CHECK(complaint("role w 1 | compute a w 1 | compute b w 1 | a -> b | b => a") == "");
}

TEST_CASE("validate: sizes, roles and lags") {
  CHECK(contains(complaint(""), "no operation"));
  CHECK(contains(complaint("role w 0 | compute f w 1"), "at least one rank"));
  CHECK(contains(complaint("role w 1 | compute f w -1"), "negative"));
  CHECK(contains(complaint("role w 2 | all-reduce g w -1"), "negative"));
  CHECK(complaint("role w 2 | compute f w 0 | all-reduce g w 0") == "");

  // Rank i meets rank i: roles of different size can't be joined, except through a collective.
  CHECK(contains(complaint("role a 2 | role b 3 | message m a b 1"), "different size"));
  CHECK(contains(complaint("role a 2 | role b 3 | compute x a 1 | compute y b 1 | x -> y"), "different size"));
  CHECK(complaint("role a 2 | role b 3 | compute x a 1 | broadcast c b 1 | x -> c") == "");

  CHECK(contains(complaint("role w 2 | all-reduce g w 100 200"), "can't read"));
  CHECK(contains(complaint("role w 2 | message m w w"), "can't read"));
  CHECK(complaint("role w 1 | compute e w 1 | compute f w 1 | cycle 2 3 | phase 1 f") == "");
  CHECK(contains(complaint("role w 1 | compute e w 1 | compute f w 1 | cycle 2 3 | phase 2 f"), "doesn't exist"));

  IterationGraph lag;
  const RoleId role = lag.add_role("w", 1);
  const OpId f = lag.add_compute("f", role, Time::nanoseconds(1));
  lag.add_dependency(f, f, 2);
  CHECK(contains(complaint(lag), "lag"));

  // Of one operation, role and channel the number is 0; 1 is the first that doesn't exist.
  for (const auto& [before, after] : {std::pair{OpId{0U}, OpId{1U}}, {OpId{1U}, OpId{0U}}, {OpId{0U}, OpId{7U}}}) {
    IterationGraph stranger;
    stranger.add_compute("f", stranger.add_role("w", 1), Time::nanoseconds(1));
    stranger.add_dependency(before, after);
    CHECK(contains(complaint(stranger), "names an operation that does not exist"));
  }
  for (const RoleId missing : {RoleId{1U}, RoleId{3U}, RoleId::none()}) {
    IterationGraph homeless;
    homeless.add_role("w", 1);
    homeless.add_compute("f", missing, Time::nanoseconds(1));
    CHECK(contains(complaint(homeless), "no role"));

    IterationGraph deaf;
    deaf.add_message("m", deaf.add_role("w", 1), missing, Bytes{1});
    CHECK(contains(complaint(deaf), "no receiver"));
  }
}

TEST_CASE("a timer takes time on no GPU: it is not part of the computing, and a faster device doesn't shorten it") {
  const IterationGraph graph =
      graph_from_text("role w 4 | compute f w 10 | timer t w 7 | all-reduce g w 5 | f -> t | t -> g | g => f");
  CHECK(graph.ops()[1].kind == OpKind::timer);
  CHECK_FALSE(graph.ops()[1].per_rank());
  CHECK_FALSE(graph.ops()[1].sends());
  CHECK(graph.compute_per_rank(RoleId{0U}) == Time::nanoseconds(10));
  CHECK(graph.compute_total() == GpuTime{Time::nanoseconds(10), 4});
  const IterationGraph faster = graph.with_compute_times(0.5);
  CHECK(faster.ops()[0].duration == Time::nanoseconds(5));
  CHECK(faster.ops()[1].duration == Time::nanoseconds(7));
}
