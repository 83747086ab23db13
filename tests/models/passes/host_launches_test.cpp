// The pass that has hosts launch what the device does, on graphs whose iterations can be worked by hand. The fast
// executor, which other tests hold against the engine, gives the iterations.

#include "models/passes/host_launches.hpp"

#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/steady_state.hpp"
#include "sim/graph_plan.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

IterationGraph launched(std::string_view text, std::int64_t launch_ns) {
  return with_launches(graph_from_text(text), [&](OpId, const Op&) {
    return LaunchWork{Time::nanoseconds(launch_ns), {}};
  });
}

/// The iteration once the job has settled, on so many workers, which the engine confirms.
double iteration_ns(const IterationGraph& graph, int workers = 1) {
  const ExchangeCost cost = ExchangeCost::measured(LinearCost{Time{}, TimePerByte{1}});
  const SteadyState state = steady_state(graph, cost);
  CHECK(state.recurs);
  CHECK(engine_difference(graph, cost, workers, state) == "");
  return state.iteration_ns;
}

/// A worker that runs so many kernels of a length in a row.
std::string kernels(int count, std::int64_t ns) {
  std::string text = "role w 1";
  for (int i = 0; i < count; ++i) text += fmt::format(" | compute k{} w {}", i, ns);
  for (int i = 1; i < count; ++i) text += fmt::format(" | k{} -> k{}", i - 1, i);
  return text + fmt::format(" | k{} => k0", count - 1);
}

/// `before -> after` or `before => after`, by names.
std::vector<std::string> dependencies(const IterationGraph& graph) {
  std::vector<std::string> lines;
  for (const Dependency& each : graph.dependencies())
    lines.push_back(graph.ops()[each.before.index()].name + (each.lag == 0 ? " -> " : " => ") +
                    graph.ops()[each.after.index()].name);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool has(const IterationGraph& graph, std::string_view line) {
  const std::vector<std::string> all = dependencies(graph);
  return std::find(all.begin(), all.end(), line) != all.end();
}

}  // namespace

TEST_CASE("small kernels take as long as their launches, large ones hide them") {
  CHECK(iteration_ns(launched(kernels(40, 3), 10)) == 40 * 10);
  CHECK(iteration_ns(launched(kernels(40, 25), 10)) == 40 * 25);
  CHECK(iteration_ns(launched(kernels(40, 10), 10)) == 40 * 10);
  CHECK(iteration_ns(launched(kernels(40, 3), 0)) == 40 * 3);
}

TEST_CASE("where both change, the host catches up while the GPU is at large kernels, an iteration ahead at most") {
  // 10 kernels of 2, then one of 100: launches of 10 take 110, and kernels 120. The host is ahead.
  std::string text = kernels(10, 2);
  const std::string end = " | k9 => k0";
  text = text.substr(0, text.size() - end.size()) + " | compute big w 100 | k9 -> big | big => k0";
  CHECK(iteration_ns(launched(text, 10)) == 120);
  CHECK(iteration_ns(launched(text, 12)) == 11 * 12);
}

TEST_CASE("a host that waits for the end of each iteration hides the launches before") {
  // The host reads the loss: its task `read` waits for the last kernel, and it launches the next iteration after it.
  // Launches of 10 with kernels of 3: 40 launches, the last kernel, 5 for reading.
  const std::string waits = kernels(40, 3) + " | task read w 5 host | k39 -> read";
  CHECK(iteration_ns(launched(waits, 10)) == 40 * 10 + 3 + 5);
  // Kernels of 25: the first launch, the kernels, and reading.
  const std::string large = kernels(40, 25) + " | task read w 5 host | k39 -> read";
  CHECK(iteration_ns(launched(large, 10)) == 10 + 40 * 25 + 5);
}

TEST_CASE("hosts launch in program order: collectives behind what made their data") {
  const IterationGraph graph = launched(
      "role w 4 | compute a w 1 | compute b w 1 | compute c w 1 | all-reduce g w 100 | all-reduce h w 100 | timer t w "
      "1 | "
      "a -> b | b -> c | a -> g | c -> h | h -> t | g => a | t => a",
      2);
  CHECK(graph.ops().size() == 6 + 5);
  CHECK(graph.ops()[0].name == "a");
  const Op& first = graph.ops()[6];
  CHECK(first.name == "launch a");
  CHECK(first.kind == OpKind::task);
  CHECK(first.lane == Lane::host);
  CHECK(first.duration == Time::nanoseconds(2));
  for (const char* line :
       {"launch a -> launch g", "launch g -> launch b", "launch b -> launch c", "launch c -> launch h",
        "launch h => launch a", "launch a -> a", "launch h -> h", "a -> b", "g => a", "t => a"})
    CHECK_MESSAGE(has(graph, line), line);
  CHECK(graph.dependencies().size() == 7 + 5 + 4 + 1);
  CHECK(Plan{graph}.foldable);
}

TEST_CASE("priorities decide between what may come next, and each role has its own host") {
  const IterationGraph graph = launched(
      "role s 2 | role t 2 | compute x s 2 | compute y s 2 | priority y -1 | joint-message m s t 9 | compute z t 2 | "
      "y -> m | m -> z | z => x",
      3);
  for (const char* line : {"launch y -> launch m", "launch m -> launch x", "launch x => launch y",
                           "launch z => launch z", "launch m -> m", "launch z -> z"})
    CHECK_MESSAGE(has(graph, line), line);
  CHECK(graph.dependencies().size() == 3 + 4 + 2 + 2);
}

TEST_CASE("what an iteration doesn't have, it doesn't launch") {
  // Of two iterations one has p, the other q; `first` and `last` are in both.
  const IterationGraph graph = launched(
      "role w 1 | compute first w 1 | compute p w 1 | compute q w 1 | compute last w 1 | cycle 1 1 | phase 0 p | "
      "phase 1 q | first -> p | first -> q | p -> last | q -> last | last => first",
      10);
  for (const char* line : {"launch first -> launch p", "launch first -> launch q", "launch p -> launch last",
                           "launch q -> launch last", "launch last => launch first"})
    CHECK_MESSAGE(has(graph, line), line);
  CHECK_FALSE(has(graph, "launch p -> launch q"));
  CHECK(iteration_ns(graph) == 30);
}

TEST_CASE("ranks that are left behind leave their launches behind") {
  const IterationGraph graph =
      launched("role w 3 | late w 1 | compute a w 5 | compute b w 5 | all-reduce g w 10 | a -> b | b -> g | g => a", 4);
  graph.validate();
  for (const char* line : {"b -> begin g", "launch g -> begin g", "begin g -> g", "g => a"})
    CHECK_MESSAGE(has(graph, line), line);
  CHECK_FALSE(has(graph, "b -> g"));
  const Plan plan{graph};
  CHECK(plan.leaves_behind);
  CHECK(std::count_if(plan.ops.begin(), plan.ops.end(), [](const auto& op) { return op.may_be_dropped; }) == 6);
}

TEST_CASE("the fast executor has lanes as the engine has them") {
  const std::string text =
      "role s 1 | role t 1 | compute f s 7 | task p s 4 copy-in | task k s 9 stream-0 | compute g t 6 | task o t 11 "
      "host "
      "| f -> k | p -> f | f -> g | g -> o | k => f | o => g";
  for (const std::int64_t launch : {0, 1, 2, 5, 20}) {
    CAPTURE(launch);
    static_cast<void>(iteration_ns(launched(text, launch)));
  }
}

namespace {

/// Works by operation, each as first launch and the others.
IterationGraph launched(std::string_view text, const std::map<std::string, std::pair<int, int>>& works,
                        std::string_view waiting = {}, Time step = {}, bool waits = false) {
  const auto work = [&](OpId, const Op& op) {
    const auto& [first, rest] = works.at(op.name);
    return LaunchWork{Time::nanoseconds(first), Time::nanoseconds(rest), op.name == waiting};
  };
  return with_launches(graph_from_text(text), work, step, waits);
}

std::ptrdiff_t host_tasks(const IterationGraph& graph) {
  return std::ranges::count(graph.ops(), Lane::host, &Op::lane);
}

}  // namespace

TEST_CASE("a pass of many kernels begins with the first launch, and the next one after the last") {
  const std::string long_passes = "role w 1 | compute f w 100 | compute b w 200 | f -> b | b => f";
  const std::map<std::string, std::pair<int, int>> works{{"f", {10, 60}}, {"b", {10, 90}}};
  const IterationGraph ahead = launched(long_passes, works);
  CHECK(iteration_ns(ahead) == 300);
  CHECK(host_tasks(ahead) == 2);  // the first launch, and all others
  // Passes of 20 and 40 wait for launches of 70 and 100.
  CHECK(iteration_ns(launched("role w 1 | compute f w 20 | compute b w 40 | f -> b | b => f", works)) == 170);
  // Once an iteration the host takes 150 more.
  CHECK(iteration_ns(launched(long_passes, works, {}, Time::nanoseconds(150))) == 320);
  // It waits for the GPU: the first launch isn't hidden.
  CHECK(iteration_ns(launched(long_passes, works, {}, {}, true)) == 310);
}

TEST_CASE("a host that waits before the update has nothing launched behind it") {
  const std::string text = "role w 1 | compute f w 100 | compute b w 200 | compute u w 20 | f -> b | b -> u | u => f";
  // The launch of the update is seen; the launch of the next f hides behind the update.
  CHECK(iteration_ns(launched(text, {{"f", {10, 20}}, {"b", {10, 40}}, {"u", {10, 5}}}, "u")) == 330);
  // All launches one after the other.
  CHECK(iteration_ns(launched(text, {{"f", {10, 200}}, {"b", {10, 400}}, {"u", {10, 5}}}, "u")) == 635);
}

TEST_CASE("on a faster GPU the launches are the same") {
  // Two passes of 20 and launches of 15: the host is ahead, but not of passes of 10.
  const std::string text = "role w 1 | compute f w 20 | compute b w 20 | f -> b | b => f";
  const auto launch = [&](double fastest) {
    return with_launches(
        graph_from_text(text),
        [](OpId, const Op&) {
          return LaunchWork{Time::nanoseconds(15), {}};
        },
        {}, false, fastest);
  };
  CHECK(iteration_ns(launch(1)) == 40);
  CHECK(iteration_ns(launch(2)) == 40);
  CHECK(iteration_ns(launch(2).with_compute_times(0.5)) == 30);
}

TEST_CASE("launches that are left out change no iteration") {
  // In a graph of two phases no task is left out.
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "launches"};
    const auto draw = [&](int most) { return static_cast<int>(random.uniform_integer(0, most)); };
    const int count = 2 + draw(6);
    std::string text = "role w 2 | channel c 1 1";
    std::map<std::string, std::pair<int, int>> works;
    for (int i = 0; i < count; ++i) {
      text += fmt::format(" | compute k{} w {} | all-reduce g{} w {} | put g{} c {} | k{} -> g{}", i, draw(60), i,
                          draw(30), i, i, i, i);
      if (i > 0) text += fmt::format(" | k{} -> k{}", i - 1, i);
      if (i > 1 && draw(2) == 0) text += fmt::format(" | g{} -> k{}", i - 2, i);
      works[fmt::format("k{}", i)] = {draw(20), draw(40)};
      works[fmt::format("g{}", i)] = {draw(20), 0};
    }
    text += fmt::format(" | g{} => k0 | k{} => k0", draw(count - 1), count - 1);
    const std::string waiting = draw(1) == 0 ? fmt::format("k{}", draw(count - 1)) : "";
    const bool waits = draw(2) == 0;
    const Time step = Time::nanoseconds(draw(30));
    const IterationGraph few = launched(text, works, waiting, step, waits);
    const IterationGraph all = launched(text + " | cycle 1 1", works, waiting, step, waits);
    CHECK(host_tasks(few) <= host_tasks(all));
    if (!steady_state(all, ExchangeCost::measured(LinearCost{Time{}, TimePerByte{1}})).recurs) continue;
    ++compared;
    CHECK(iteration_ns(few, 2) == iteration_ns(all, 2));
  }
  CHECK(compared > 290);
}
