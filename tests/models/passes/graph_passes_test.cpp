// Passes over iteration graphs, each on a graph small enough to be followed by hand.

#include "models/passes/graph_passes.hpp"

#include "models/passes/pass.hpp"
#include "sim/error.hpp"
#include "tests/devices.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Two workers that add up their gradients, `grads`, while nothing else goes on.
constexpr std::string_view kWorkers =
    "role worker 2 | compute forward worker 10 | compute backward worker 20 | all-reduce grads worker 1000 | "
    "forward -> backward | backward -> grads | backward => forward | grads => forward";
/// A pipeline of two ranks, one micro-batch, with an update on each.
constexpr std::string_view kPipeline =
    "role a 1 | role b 1 | compute Fa a 10 | compute Fb b 10 | compute Bb b 20 | compute Ba a 20 | compute Ua a 3 | "
    "compute Ub b 3 | joint-message act a b 100 | joint-message grad b a 100 | Fa -> act | act -> Fb | Fb -> Bb | "
    "Bb -> grad | grad -> Ba | Fa -> Ba | Ba -> Ua | Bb -> Ub | Ua => Fa | Ub => Fb";

std::size_t index_of(const IterationGraph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.ops(), name, &Op::name);
  REQUIRE(found != graph.ops().end());
  return static_cast<std::size_t>(found - graph.ops().begin());
}

bool leads(const IterationGraph& graph, std::string_view before, std::string_view after, int lag = 0) {
  const OpId from{index_of(graph, before)}, to{index_of(graph, after)};
  return std::ranges::any_of(graph.dependencies(), [&](const Dependency& each) {
    return each.before == from && each.after == to && each.lag == lag;
  });
}

/// The iteration of a graph whose collective `grads` sums two tensors.
FusedIteration exchanging(std::string_view text) {
  FusedIteration made{graph_from_text(text), {}};
  made.messages.push_back({"g", 2, Bytes{1000}, {OpId{index_of(made.graph, "grads")}}});
  return made;
}

std::string refusal_of(FusedIteration iteration, int copy_ranks = 1) {
  try {
    leave_ranks_behind(iteration, 1, {}, copy_ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("load_beside: the next iteration waits for its data, which are loaded beside this one") {
  IterationGraph graph = graph_from_text(kWorkers);
  load_beside(graph, Time::nanoseconds(50), Time::nanoseconds(3));
  graph.validate();
  CHECK(leads(graph, "backward", "fill buffer", 1));
  CHECK(leads(graph, "load input", "fill buffer", 1));
  CHECK(leads(graph, "fill buffer", "load input"));
  CHECK(leads(graph, "fill buffer", "forward"));
  CHECK(leads(graph, "grads", "forward", 1));
  IterationGraph pipeline = graph_from_text(kPipeline);
  const std::size_t before = pipeline.ops().size();
  load_beside(pipeline, Time::nanoseconds(50), Time{});
  pipeline.validate();
  CHECK(pipeline.ops().size() == before + 2);  // only the first stage begins without another
  load_beside(pipeline, Time{}, Time{});
  CHECK(pipeline.ops().size() == before + 2);
}

TEST_CASE("begin_with: a task before the first one, beside which the exchange of the iteration before goes on") {
  IterationGraph graph = graph_from_text(kWorkers);
  begin_with(graph, "wait", Time::nanoseconds(5));
  graph.validate();
  CHECK(graph.ops().size() == 4);
  CHECK(graph.compute_per_rank(RoleId{0U}) == Time::nanoseconds(35));
  CHECK(leads(graph, "wait", "forward"));
  CHECK(leads(graph, "backward", "wait", 1));
  CHECK_FALSE(leads(graph, "backward", "forward", 1));
  CHECK(leads(graph, "grads", "forward", 1));

  IterationGraph same = graph_from_text(kWorkers);
  begin_with(same, "wait", Time{});
  CHECK(same.ops().size() == 3);
}

TEST_CASE("begin_with: in a pipeline only ranks that wait for no other one") {
  IterationGraph graph = graph_from_text(kPipeline);
  begin_with(graph, "wait", Time::nanoseconds(5));
  graph.validate();
  CHECK(std::ranges::count(graph.ops(), std::string{"wait"}, &Op::name) == 1);
  CHECK(leads(graph, "wait", "Fa"));
  CHECK(leads(graph, "Ua", "wait", 1));
  CHECK(graph.compute_per_rank(RoleId{1U}) == Time::nanoseconds(33));
}

TEST_CASE("begin_with: where an update on the host comes last, the wait begins with the last task") {
  IterationGraph graph = graph_from_text(
      "role worker 2 | compute forward worker 10 | compute backward worker 20 | timer update worker 7 | "
      "forward -> backward | backward -> update | update => forward");
  begin_with(graph, "wait", Time::nanoseconds(5));
  graph.validate();
  CHECK(leads(graph, "backward", "wait", 1));
  CHECK(leads(graph, "update", "forward", 1));
}

TEST_CASE("add_exchange_work: kernels and copies around an exchange, in the order of its stream") {
  FusedIteration iteration = exchanging(
      "role worker 2 | compute forward worker 10 | compute last worker 20 | compute first worker 20 | "
      "compute update worker 1 | all-reduce grads worker 1000 | timer turn worker 9 | forward -> last | last -> first "
      "| "
      "last -> grads | grads -> turn | first -> update | grads -> update | update => forward");
  ExchangeWork work;
  work.staging = ByteRate{1e9};  // a byte each nanosecond
  work.host_ns_per_value = 2;    // of 250 values
  add_exchange_work(iteration, 4, [&](RoleId) -> const ExchangeWork& { return work; });
  iteration.graph.validate();
  const IterationGraph& graph = iteration.graph;
  CHECK(leads(graph, "last", "host work g"));
  CHECK(leads(graph, "host work g", "copy to host g"));
  CHECK(leads(graph, "copy to host g", "grads"));
  CHECK(leads(graph, "grads", "copy to GPU g"));
  CHECK(leads(graph, "copy to GPU g", "update"));
  CHECK(leads(graph, "grads", "turn"));  // which only orders collectives
  CHECK_FALSE(leads(graph, "last", "grads"));
  CHECK_FALSE(leads(graph, "grads", "update"));
  CHECK(graph.ops()[index_of(graph, "host work g")].duration == Time::nanoseconds(500));
  CHECK(graph.ops()[index_of(graph, "copy to GPU g")].duration == Time::nanoseconds(1000));
  CHECK(iteration.messages.front().ops.size() == 4);
}

TEST_CASE("share_sums: all-reduces become reduce-scatters, other collectives have no shares") {
  IterationGraph graph = graph_from_text(kWorkers);
  share_sums(graph, 2, 4);
  CHECK(graph.ops()[2].collective == CollectiveKind::reduce_scatter);
  CHECK(graph.ops()[2].bytes == Bytes{1000});
  IterationGraph other = graph_from_text("role w 2 | compute a w 1 | all-gather g w 10 | a -> g | a => a | g => a");
  CHECK_THROWS_WITH_AS(share_sums(other, 2, 4), "`g` is no sum over all ranks, of which each could keep its share",
                       InputError);
}

TEST_CASE("add_exchange_work: two exchanges of the same gradients, one of which begins with a kernel") {
  FusedIteration iteration{
      graph_from_text(
          "role w 2 | compute f w 1 | compute b1 w 1 | compute b0 w 1 | compute u w 1 | all-reduce e w 1000 | "
          "compute k w 1 | all-gather g w 10 | f -> b1 | b1 -> b0 | b0 -> u | b1 -> e | e -> u | b1 -> k | "
          "k -> b0 | k -> g | g -> u | u => f"),
      {{"e", 1, Bytes{1000}, {OpId{4U}}}, {"g", 1, Bytes{1000}, {OpId{5U}, OpId{6U}}}}};
  ExchangeWork work;
  FrameworkCosts costs;
  costs.bytes_before = 8;
  costs.launches = 1;
  work.framework = ExchangeWork::Framework{costs, KernelCosts{v100(), RooflineOptions{}, 1}};
  add_exchange_work(iteration, 4, [&](RoleId) -> const ExchangeWork& { return work; });
  iteration.graph.validate();  // without a cycle
  CHECK(leads(iteration.graph, "copy in e", "copy in g"));
  CHECK(leads(iteration.graph, "copy in g", "k"));
  CHECK(leads(iteration.graph, "copy in g", "b0"));
}

TEST_CASE("add_exchange_work: of exchanges in two halves, in the order in which halves can begin") {
  // Both halves of the last unit end after the halves of the first one, and its first half begins before.
  FusedIteration iteration{
      graph_from_text(
          "role w 2 | compute f0 w 1 | compute f1 w 1 | compute b1 w 1 | compute b0 w 1 | "
          "reduce-scatter s1 w 1000 | reduce-scatter s0 w 1000 | all-gather g0 w 1000 | all-gather g1 w 1000 | "
          "f0 -> f1 | f1 -> b1 | b1 -> b0 | b0 => f0 | b1 -> s1 | b0 -> s0 | s1 => g0 | s0 => g0 | g0 -> g1 | "
          "g0 -> f0 | g1 -> f1"),
      {{"0", 1, Bytes{1000}, {OpId{5U}, OpId{6U}}}, {"1", 1, Bytes{1000}, {OpId{4U}, OpId{7U}}}}};
  ExchangeWork work;
  work.staging = ByteRate{1e9};
  add_exchange_work(iteration, 4, [&](RoleId) -> const ExchangeWork& { return work; });
  iteration.graph.validate();
  const IterationGraph& graph = iteration.graph;
  CHECK(leads(graph, "b1", "copy to host 1"));
  CHECK(leads(graph, "copy to host 1", "s1"));
  CHECK(leads(graph, "copy to host 1", "copy to host 0"));
  CHECK(leads(graph, "g0", "copy to GPU 0"));
  CHECK(leads(graph, "copy to GPU 0", "f0"));
  CHECK(leads(graph, "copy to GPU 0", "copy to GPU 1"));
  CHECK(leads(graph, "g0", "g1"));  // which only orders them
  CHECK_FALSE(leads(graph, "s0", "g0"));
}

TEST_CASE("share_sums: gathered halves bring weights") {
  IterationGraph graph = graph_from_text(
      "role w 2 | compute a w 1 | reduce-scatter s w 1000 | all-gather g w 1000 | a -> s | s => g | g -> a | a => a");
  share_sums(graph, 2, 4);
  CHECK(graph.ops()[1].bytes == Bytes{1000});
  CHECK(graph.ops()[2].collective == CollectiveKind::all_gather);
  CHECK(graph.ops()[2].bytes == Bytes{500});
}

TEST_CASE("leave_ranks_behind: what the graph has to be like") {
  FusedIteration workers = exchanging(kWorkers);
  leave_ranks_behind(workers, 1, {}, 1);
  CHECK(workers.graph.roles().front().late == 1);
  CHECK(refusal_of(exchanging(kWorkers), 8) ==
        "a copy of the model lies on 8 ranks, which would have to be late together");
  CHECK(refusal_of({graph_from_text(kPipeline), {}}) ==
        "a copy of the model lies on ranks of 2 roles, such as `a` and `b`, which would have to be late together");
  // Weights that are gathered before each use: a rank that is late is waited for there.
  CHECK(refusal_of(exchanging("role w 2 | all-gather weights w 10 | compute forward w 10 | compute backward w 20 | "
                              "reduce-scatter grads w 10 | weights -> forward | forward -> backward | "
                              "backward -> grads | grads => weights | backward => forward")) ==
        "`grads` waits for `backward`, which begins when all ranks are there");
}

TEST_CASE("passes are applied in their order, and what each leaves is checked and recorded") {
  FusedIteration iteration = exchanging(kWorkers);
  std::vector<PassRecord> records;
  apply_passes<FusedIteration>(
      iteration,
      {{"input", [](FusedIteration& each) { begin_with(each.graph, "wait", Time::nanoseconds(5)); }},
       {"shard", [](FusedIteration& each) { share_sums(each.graph, 2, 4); }}},
      records);
  REQUIRE(records.size() == 2);
  CHECK(records[0].name == "input");
  CHECK(records[0].before == GraphSizes{3, 1, 4, Time::nanoseconds(30), Bytes{1000}});
  CHECK(records[0].after == GraphSizes{4, 1, 5, Time::nanoseconds(35), Bytes{1000}});
  CHECK(records[1].before == records[0].after);
  CHECK(records[1].after == records[1].before);
  const Pass<FusedIteration> circle{"circle",
                                    [](FusedIteration& each) { each.graph.add_dependency(OpId{1U}, OpId{0U}); }};
  CHECK_THROWS_AS(apply_passes<FusedIteration>(iteration, {circle}, records), InputError);
}
