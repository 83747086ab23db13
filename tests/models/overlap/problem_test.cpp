#include "models/overlap/problem.hpp"

#include "sim/error.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace contend;

namespace {

TimedLayer layer(const std::string& name, std::vector<std::int64_t> elements, std::int64_t forward,
                 std::int64_t backward) {
  TimedLayer made{name, {}, Time::nanoseconds(forward), Time::nanoseconds(backward), "by hand"};
  for (std::size_t i = 0; i < elements.size(); ++i) made.tensors.push_back({"t" + std::to_string(i), elements[i], {}});
  return made;
}

TimedModel model() {
  return {"m",
          "d",
          1,
          4,
          {layer("pad", {}, 1, 2), layer("a", {10, 1}, 3, 4), layer("relu", {}, 5, 6), layer("b", {20}, 7, 8)}};
}

}  // namespace

TEST_CASE("layers without gradients join the layer before them; gradients come last layer first") {
  const OverlapProblem problem = overlap_problem(model(), 4, {});
  REQUIRE(problem.layers.size() == 3);  // pad, a + relu, b
  CHECK(problem.layers[1].forward == Time::nanoseconds(8));
  CHECK(problem.layers[1].backward == Time::nanoseconds(10));
  REQUIRE(problem.gradients.size() == 3);
  CHECK(problem.gradients[0].size == Bytes{80});
  CHECK(problem.gradients[1].size == Bytes{4});
  CHECK(problem.gradients[2].size == Bytes{40});
  CHECK(problem.gradients[2].layer == 1);
  // b is ready at 8; a when relu and a have been passed: 8 + 6 + 4.
  CHECK(problem.ready() == std::vector{Time::nanoseconds(8), Time::nanoseconds(18), Time::nanoseconds(18)});
  CHECK(problem.compute() == Time::nanoseconds(36));
  const OverlapProblem by_layer = overlap_problem(model(), 4, {}, Granularity::layer);
  REQUIRE(by_layer.gradients.size() == 2);
  CHECK(by_layer.gradients[1].size == Bytes{44});
}

TEST_CASE("a layer of one tensor keeps its rows and columns; several tensors have none together") {
  TimedModel shaped = model();
  shaped.layers[3].tensors[0].shape = {4, 5};
  shaped.layers[1].tensors[0].shape = {2, 5};
  const OverlapProblem by_layer = overlap_problem(shaped, 4, {}, Granularity::layer);
  CHECK(by_layer.gradients[0].rows == 4);
  CHECK(by_layer.gradients[0].columns == 5);
  CHECK(by_layer.gradients[1].rows == 0);
  CHECK(by_layer.gradients[1].columns == 0);
  CHECK(overlap_problem(shaped, 4, {}).gradients[2].rows == 2);
}

TEST_CASE("bad models are refused with every fault") {
  TimedModel bad = model();
  bad.layers[1].forward = Time::nanoseconds(-1);
  bad.layers[3].name = "a";
  try {
    static_cast<void>(overlap_problem(bad, 2, {}));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().size() == 2);
  }
  TimedModel empty = model();
  for (TimedLayer& each : empty.layers) each.tensors.clear();
  CHECK_THROWS_AS(static_cast<void>(overlap_problem(empty, 2, {})), InputError);
  TimedModel idle = model();
  for (TimedLayer& each : idle.layers) each.backward = Time{};
  CHECK_THROWS_AS(static_cast<void>(overlap_problem(idle, 2, {})), InputError);
  CHECK_THROWS_AS(static_cast<void>(overlap_problem(model(), 0, {})), InputError);
}
