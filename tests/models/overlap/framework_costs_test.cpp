// Tests what frameworks do around messages, and work of the host, against iterations worked out by hand.

#include "models/overlap/framework_costs.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "models/overlap/steady_state.hpp"
#include "tests/devices.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Two layers of 1 + 2 and 3 + 4 ms with a gradient of a million values each; an all-reduce takes 1 ns a byte.
OverlapProblem two_layers() {
  OverlapProblem problem;
  problem.layers = {{"a", Time::milliseconds(1), Time::milliseconds(2)},
                    {"b", Time::milliseconds(3), Time::milliseconds(4)}};
  problem.gradients = {{1, Bytes{4'000'000}, 0, 0}, {0, Bytes{4'000'000}, 0, 0}};
  problem.workers = 2;
  problem.cost = ExchangeCost::measured({Time{}, TimePerByte{1}});
  return problem;
}

/// 1 ns for each byte, and 1 us a launch.
OverlapProblem::Framework one_ns_a_byte(const FrameworkCosts& costs) {
  Device device = v100();
  RooflineOptions options;
  device.memory_bandwidth = ByteRate{1e9 / options.memory_efficiency};
  options.launch_overhead = Time::microseconds(1);
  return {costs, KernelCosts{device, options}};
}

/// One message after the backward pass, or one for each layer.
IterationGraph graph_of(const OverlapProblem& problem, bool at_once) {
  IterationBuilder builder{problem};
  builder.use_channel(1, Bytes{1});
  if (at_once) {
    static_cast<void>(builder.exchange("all", {0, 1}, builder.forward(0)));
  } else {
    for (std::size_t i = 0; i < 2; ++i)
      static_cast<void>(builder.exchange("#" + std::to_string(i), {i, i}, builder.forward(0)));
  }
  return builder.take().graph;
}

double milliseconds(const OverlapProblem& problem, bool at_once) {
  const IterationGraph graph = graph_of(problem, at_once);
  const SteadyState fast = steady_state(graph, problem.cost);
  CHECK(engine_difference(graph, problem.cost, 2, fast).empty());
  return fast.iteration_ns * 1e-6;
}

}  // namespace

TEST_CASE("copies come before and after a message, on the GPU") {
  OverlapProblem problem = two_layers();
  CHECK(milliseconds(problem, true) == near(10 + 8));
  problem.framework = one_ns_a_byte({.bytes_before = 3, .bytes_after = 2, .launches = 1});
  // 3 and 2 ms a million values; two tensors are two launches before and two after.
  CHECK(milliseconds(problem, true) == near(10 + 8 + 6 + 4 + 0.004));
  // Of layer b: ready at 8, copied until 11.001, sent until 15.001. Layer a goes on at 11.001, is ready at 13.001,
  // copied until 16.002, sent until 20.002. The copy out of b, from 16.002 on, is hidden; the copy out of a ends at
  // 22.003.
  CHECK(milliseconds(problem, false) == near(22.003));
}

TEST_CASE("each tensor takes a time before its message is sent") {
  OverlapProblem problem = two_layers();
  problem.framework = one_ns_a_byte({.tensor_before = Time::milliseconds(1)});
  CHECK(milliseconds(problem, true) == near(10 + 2 + 8));
  // Layer b is ready at 8, cast until 9 and sent until 13; a goes on at 9, is ready at 11, cast until 12, sent 13
  // to 17.
  CHECK(milliseconds(problem, false) == near(17));
}

TEST_CASE("work of the host delays messages and not the GPU, and is done one after the other") {
  OverlapProblem problem = two_layers();
  problem.host_ns_per_value = 5;
  CHECK(milliseconds(problem, true) == near(10 + 10 + 8));
  // Host: b from 8 to 13, a from 13 to 18; all-reduces 13 to 17, 18 to 22.
  CHECK(milliseconds(problem, false) == near(22));
  problem.framework = one_ns_a_byte({.bytes_before = 3, .bytes_after = 0, .launches = 0});
  // Copy of b 8 to 11.001, host to 16.001; a is ready at 13.001, copied until 16.002, host to 21.002, sent to 25.002.
  CHECK(milliseconds(problem, false) == near(25.002));
}

TEST_CASE("messages are copied to the host before they are sent, and back, while the GPU computes") {
  OverlapProblem problem = two_layers();
  problem.staging = ByteRate{4e9};  // 1 ms a gradient, in each direction
  CHECK(milliseconds(problem, true) == near(10 + 2 + 8 + 2));
  // Layer b to the host from 8 to 9, sent until 13, back until 14; a 10 to 11, 13 to 17, 18.
  CHECK(milliseconds(problem, false) == near(18));
  problem.staging = ByteRate{1e9};  // one copy after the other in each direction: b 8 to 12, 16, 20; a 12 to 16, 20, 24
  CHECK(milliseconds(problem, false) == near(24));
  problem.host_ns_per_value = 1;  // the thread works on a message before it is copied: b 8 to 9, 13, 17, 21; a 13 to 17
  CHECK(milliseconds(problem, false) == near(25));
}

TEST_CASE("a framework that does nothing adds nothing") {
  const OverlapProblem problem = two_layers();
  OverlapProblem wrapped = problem;
  wrapped.framework = one_ns_a_byte({});
  CHECK(graph_of(problem, false).ops().size() == graph_of(wrapped, false).ops().size());
}

TEST_CASE("the frameworks of the table have the counted bytes") {
  const auto costs = [](std::string_view name) {
    return std::ranges::find(frameworks(), name, &NamedFramework::name)->costs;
  };
  CHECK(costs("none").none());
  CHECK(costs("ddp").bytes_before + costs("ddp").bytes_after == 24);  // 16 for copies, 8 to divide
  CHECK(costs("horovod").bytes_before + costs("horovod").bytes_after == 16);
  CHECK(costs("ddp-views").bytes_before == 8);
  CHECK(costs("ddp").before(10, 3).launches == 3);
  CHECK(costs("ddp-views").before(10, 3).launches == 1);
  for (const NamedFramework& each : frameworks()) CHECK_FALSE(each.source.empty());
}
