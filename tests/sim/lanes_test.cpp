// Lanes beside the GPU: hosts that launch, copies, and further streams. Times are worked by hand; random graphs are
// held against tests/sim/graph_oracle.hpp.

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/graph_oracle.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr std::string_view kLaunched = "role w 1 | task h w {} host | compute k w {} | h -> k";

std::string launched(std::int64_t launch, std::int64_t kernel) {
  return fmt::format(fmt::runtime(kLaunched), launch, kernel);
}

std::string why_no_lane(const std::string& graph) {
  try {
    static_cast<void>(graph_from_text(graph));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A job of one GPU on each server, the last of which is slow for a while.
struct SlowedRun {
  int servers = 1;
  std::string graph;
  std::int64_t iterations = 1;
  std::int32_t factor = Slowdown::kFullPace;
  std::int64_t from = 0, until = 0;

  [[nodiscard]] RunResult run(bool leap, Observer* observer = nullptr) const {
    std::vector<std::uint32_t> gpus;
    for (int g = 0; g < servers; ++g) gpus.push_back(static_cast<std::uint32_t>(g));
    const std::vector<TestJob> jobs{{graph, gpus, iterations}};
    SimulationOptions options;
    options.leap = leap;
    options.observer = observer;
    const auto last = static_cast<std::uint32_t>(servers - 1);
    options.failures.outages.push_back(
        {Time::nanoseconds(from), Time::nanoseconds(until), last, last + 1, Slowdown{factor, Slowdown::kFullPace}});
    Simulation simulation{{servers, 1, Bytes{100}},
                          workload_of(jobs),
                          policies_of({}, jobs),
                          std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), 1),
                          std::move(options)};
    return simulation.run();
  }
  [[nodiscard]] Recorder seen() const {
    Recorder recorder;
    static_cast<void>(run(false, &recorder));
    return recorder;
  }
};

/// As GraphOracle::run() has them.
std::vector<std::string> lines_of(const Recorder& seen) {
  std::vector<std::string> lines;
  const auto add = [&lines](const Recorder::Span& span) {
    std::string line = span.text.substr(2);  // without the name of the job
    const std::string rank = span.gpu.valid() ? fmt::format("{}", span.gpu.value()) : "-";
    lines.push_back(line.insert(line.find(' '), " " + rank));
  };
  std::for_each(seen.tasks.begin(), seen.tasks.end(), add);
  for (const auto& each : seen.lanes) std::for_each(each.second.begin(), each.second.end(), add);
  std::for_each(seen.transfers.begin(), seen.transfers.end(), add);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("names of lanes are read back") {
  for (const Lane lane : {Lane::compute, Lane::host, Lane::copy_in, Lane::copy_out, stream_lane(0), stream_lane(7)})
    CHECK(lane_named(name_of(lane)) == lane);
  CHECK(name_of(Lane::copy_in) == "copy-in");
  CHECK(name_of(stream_lane(7)) == "stream-7");
  CHECK_FALSE(lane_named("stream-8"));
  CHECK_FALSE(lane_named("gpu"));
}

TEST_CASE("a task has a lane beside the GPU, and nothing else has one") {
  CHECK(graph_from_text("role w 1 | task t w 5 compute").ops()[0].kind == OpKind::compute);
  const IterationGraph graph = graph_from_text("role w 2 | task t w 5 stream-3 | compute c w 4");
  CHECK(graph.ops()[0].kind == OpKind::task);
  CHECK(graph.ops()[0].lane == stream_lane(3));
  CHECK(graph.compute_per_rank(RoleId{0U}) == Time::nanoseconds(4));
  CHECK(contains(why_no_lane("role w 1 | task t w 5 gpu"), "can't read"));
  IterationGraph wrong;
  Op op;
  op.name = "t";
  op.role = wrong.add_role("w", 1);
  op.kind = OpKind::task;
  wrong.add(op);
  CHECK_THROWS_AS(wrong.validate(), InputError);
  IterationGraph timer;
  op.role = timer.add_role("w", 1);
  op.kind = OpKind::timer;
  op.lane = Lane::host;
  timer.add(op);
  CHECK_THROWS_AS(timer.validate(), InputError);
}

TEST_CASE("a faster GPU shortens its computing, on further streams too, but neither launches nor copies") {
  const IterationGraph graph = graph_from_text(
      "role w 1 | compute c w 10 | task s w 20 stream-0 | task h w 30 host | task i w 40 copy-in | task o w 50 "
      "copy-out");
  const IterationGraph half = graph.with_compute_times(0.5);
  std::vector<std::int64_t> times;
  for (const Op& op : half.ops()) times.push_back(op.duration.ns());
  CHECK(times == std::vector<std::int64_t>{5, 10, 30, 40, 50});
}

TEST_CASE("small kernels take as long as their launches") {
  // Launches follow each other without a gap, because nothing on the host waits for the GPU.
  const Run run = simulate({}, {{launched(10, 3), {0}, 5}});
  CHECK(run.seen.lane(0, Lane::host) == "A.h#0 0-10 | A.h#1 10-20 | A.h#2 20-30 | A.h#3 30-40 | A.h#4 40-50");
  CHECK(run.seen.gpu(0) == "A.k#0 10-13 | A.k#1 20-23 | A.k#2 30-33 | A.k#3 40-43 | A.k#4 50-53");
  CHECK(run.finish(0) == 53);
  CHECK(run.result.gpus[0].busy.ns() == 5 * 3);
  CHECK(run.result.jobs[0].compute.ns() == 5 * 3);
  CHECK(run.result.jobs[0].host.ns() == 5 * 10);
}

TEST_CASE("large kernels hide their launches, and the host runs ahead by an iteration at most") {
  const Run run = simulate({}, {{launched(1, 10), {0}, 4}});
  CHECK(run.seen.lane(0, Lane::host) == "A.h#0 0-1 | A.h#1 1-2 | A.h#2 11-12 | A.h#3 21-22");
  CHECK(run.seen.gpu(0) == "A.k#0 1-11 | A.k#1 11-21 | A.k#2 21-31 | A.k#3 31-41");
}

TEST_CASE("a host that waits for the GPU hides nothing") {
  const Run run = simulate({}, {{launched(10, 3) + " | k => h", {0}, 3}});
  CHECK(run.seen.lane(0, Lane::host) == "A.h#0 0-10 | A.h#1 13-23 | A.h#2 26-36");
  CHECK(run.finish(0) == 3 * 13);
}

TEST_CASE("lanes run side by side, each in order of iteration, priority and id") {
  const Run run = simulate({}, {{"role w 1 | compute c w 10 | task s w 10 stream-0 | task i w 4 copy-in | "
                                 "task o w 5 copy-out | task x w 2 host | task y w 3 host | priority x 1",
                                 {0},
                                 2}});
  CHECK(run.seen.gpu(0) == "A.c#0 0-10 | A.c#1 10-20");
  CHECK(run.seen.lane(0, stream_lane(0)) == "A.s#0 0-10 | A.s#1 10-20");
  CHECK(run.seen.lane(0, Lane::copy_in) == "A.i#0 0-4 | A.i#1 4-8");
  CHECK(run.seen.lane(0, Lane::copy_out) == "A.o#0 0-5 | A.o#1 5-10");
  CHECK(run.seen.lane(0, Lane::host) == "A.y#0 0-3 | A.x#0 3-5 | A.y#1 5-8 | A.x#1 8-10");
  CHECK(run.result.gpus[0].busy.ns() == 20);
}

TEST_CASE("a collective begins when all ranks have launched it") {
  const Run run =
      simulate({2, 1}, {{"role w 2 | task h w 5 host | compute k w 2 | all-reduce g w 7 | task l w 4 host | "
                         "h -> k | k -> g | h -> l | l -> g | g => h",
                         {0, 1},
                         2}});
  CHECK(run.seen.network() == "A.g#0 9-16 | A.g#1 25-32");
  CHECK(run.result.jobs[0].host.ns() == 2 * 2 * 9);
}

TEST_CASE("another job on the GPU has lanes of its own") {
  const Run run = simulate({}, {{launched(10, 3), {0}, 2}, {launched(10, 3), {0}, 2}});
  CHECK(run.seen.lane(0, Lane::host) == "A.h#0 0-10 | B.h#0 0-10 | A.h#1 10-20 | B.h#1 10-20");
  CHECK(run.seen.gpu(0) == "A.k#0 10-13 | B.k#0 13-16 | A.k#1 20-23 | B.k#1 23-26");
}

TEST_CASE("a job that comes between splits the cells of tasks on lanes") {
  // A's four hosts launch for 100 ns when B takes one of its GPUs at 50, and C another at 1050.
  const std::string a =
      "role w 4 | task h w 100 host | compute k w 30 | task s w 7 stream-1 | all-reduce g w 9 | "
      "h -> k | k -> s | s -> g";
  const std::string b = "role w 1 | task h w 13 host | compute k w 5 | h -> k | k => h";
  const Run run = simulate({2, 2}, {{a, {0, 1, 2, 3}, 400}, {b, {1}, 300, 50}, {b, {2}, 4, 1050}});
  CHECK(run.seen.lane(1, Lane::host).starts_with("B.h#0 50-63 | B.h#1 68-81 | B.h#2 86-99 | A.h#0 0-100 | "));
  CHECK(run.result.jobs[0].host.ns() == 4 * 400 * 100);
  CHECK(run.result.jobs[1].host.ns() == 300 * 13);
  const RunResult large = simulate_once({2, 2}, {{a, {0, 1, 2, 3}, 40'000'000}}, true);
  CHECK(large.leaps > 0);
  CHECK(large.events < 2000);
  CHECK(large.jobs[0].host.ns() == Int128{4} * 40'000'000 * 100);
  CHECK(large.jobs[0].finish.ns() == std::int64_t{40'000'000} * 100 + 30 + 7 + 9);
}

TEST_CASE("a preempted job loses the tasks on its lanes, and begins them again") {
  Setup setup{.gpu_memory = 1, .key = by_remaining_service, .preemptive = true};
  // B comes at 15, in A's second launch, and has the GPU until 18. A begins its second iteration again.
  const Run run = simulate(setup, {{launched(10, 3), {0}, 10}, {launched(2, 1), {0}, 1, 15}});
  CHECK(run.finish(1) == 18);
  CHECK(run.seen.lane(0, Lane::host).starts_with("A.h#0 0-10 | B.h#0 15-17 | A.h#1 18-28 | A.h#2 28-38 | "));
  CHECK(run.finish(0) == 18 + 9 * 10 + 3);
  CHECK(run.result.jobs[0].host.ns() == 10 * 10);
}

TEST_CASE("a slow GPU slows its streams, but neither its host nor copies") {
  // From 5 to 9 everything on the GPU takes twice as long: 5 ns are left then, of which 2 are done until 9.
  const std::string graph = "role w 1 | compute c w 10 | task s w 10 stream-0 | task h w 10 host | task i w 10 copy-in";
  SlowedRun slowed{1, graph, 1, 2000, 5, 9};
  const Recorder seen = slowed.seen();
  CHECK(seen.gpu(0) == "A.c#0 0-12");
  CHECK(seen.lane(0, stream_lane(0)) == "A.s#0 0-12");
  CHECK(seen.lane(0, Lane::host) == "A.h#0 0-10");
  CHECK(seen.lane(0, Lane::copy_in) == "A.i#0 0-10");
  // One of three GPUs: its cell is split, and joined again.
  const std::string all =
      "role w 3 | task h w 10 host | task s w 40 stream-0 | compute c w 6 | all-reduce g w 5 | "
      "h -> s | h -> c | s -> g | c -> g | g => h";
  for (const std::int64_t from : {3, 27, 1000, 1047}) {
    const SlowedRun cluster{3, all, 500, 1500, from, from + 5000};
    CHECK(difference(cluster.run(false), cluster.run(true)) == "");
  }
}

TEST_CASE("late ranks drop what they have left to do on their lanes") {
  // The last of four ranks takes 200 on its stream. g begins without it at 110, and all go on at 117.
  const std::string graph =
      "role w 4 | late w 1 | task h w 10 host | task s w 100 stream-0 | task u w 150 host | "
      "compute x w 1 | all-reduce g w 7 | h -> s | h -> u | s -> g | g -> x | x => h";
  CHECK(contains(why_no_lane(graph + " | u -> g"), "waits for more than one task"));
  const SlowedRun cluster{4, graph, 50, 2000, 1, 1'000'000'000};
  const RunResult run = cluster.run(true);
  CHECK(difference(cluster.run(false), run) == "");
  CHECK(run.jobs[0].left_behind == 50);
  // u, for which g doesn't wait, is 150 long on all but the late rank, which drops it at 110, after 100. The others
  // run u of the first iteration until 160, and the host has h of the second from 160 on (118 + 42).
  const std::string seen = cluster.seen().lane(0, Lane::host);
  CHECK(seen.starts_with("A.h#0 0-10 | A.u#0 10-160 | A.h#1 160-170"));
  const std::string late = cluster.seen().lane(3, Lane::host);
  CHECK(late.starts_with("A.h#0 0-10 | A.u#0 10-110 | A.h#1 119-129"));
}

TEST_CASE("random graphs with lanes, lists and counters run as by the oracle, and leap to the same end") {
  std::uint64_t counted = 0, deeper = 0, listed = 0;
  constexpr Lane kLanes[] = {Lane::host, Lane::host, Lane::copy_in, stream_lane(0), stream_lane(5)};
  std::uint64_t tasks = 0, leapt = 0;
  const std::uint64_t cases = effort(std::uint64_t{300});
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomStream random{seed, "lanes"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
    const auto ranks = static_cast<int>(in(1, 3));
    const bool pair = in(0, 2) == 0;
    std::string text = fmt::format("role a {}", ranks);
    if (pair) text += fmt::format(" | role b {}", ranks);
    const std::int64_t ops = in(2, 7), depth = in(0, 1) == 0 ? 2 : in(3, 4);
    if (depth > 2) text += fmt::format(" | in-flight {}", depth);
    deeper += depth > 2 ? 1U : 0U;
    // One operation may post, and another wait for it, perhaps less in each iteration.
    const std::int64_t post = in(0, 2) == 0 ? in(0, ops - 1) : -1, await = post < 0 ? -1 : in(0, ops - 1);
    const bool counts = post >= 0 && await != post;
    const std::int64_t waits_for = in(1, 2), amount = waits_for + (in(0, 3) == 0 ? 1 : 0);
    if (counts) text += " | counter c";
    counted += counts ? 1U : 0U;
    const auto role = [&] { return pair && in(0, 1) == 1 ? "b" : "a"; };
    for (std::int64_t i = 0; i < ops; ++i) {
      const std::int64_t takes = in(0, 9) == 0 ? 0 : in(1, 6);
      const std::int64_t kind = counts && (i == post || i == await) ? 10 : in(0, 9);
      if (counts && i == post) {
        text += fmt::format(" | post o{} {} c {}", i, role(), amount);
      } else if (counts && i == await) {
        text += fmt::format(" | await o{} {} c {} {}", i, role(), waits_for, await > post ? in(0, 2) : in(1, 2));
      } else if (kind < 3) {
        text += fmt::format(" | compute o{} {} {}", i, role(), takes);
      } else if (kind < 7) {
        text += fmt::format(" | task o{} {} {} {}", i, role(), takes, name_of(kLanes[in(0, 4)]));
        ++tasks;
      } else if (kind == 7) {
        text += fmt::format(" | timer o{} {} {}", i, role(), takes);
      } else if (kind == 8 && pair) {
        text += fmt::format(" | {} o{} a b {}", in(0, 1) == 0 ? "message" : "joint-message", i, takes);
      } else {
        text += fmt::format(" | all-reduce o{} {} {}", i, role(), takes);
        std::string lists[2];
        for (int rank = 0; rank < ranks; ++rank)
          if (const std::int64_t list = in(0, 2); list < 2)
            lists[list] += fmt::format("{}{}", lists[list].empty() ? " " : ",", rank);
        const std::string all = lists[0] + lists[1];
        if (in(0, 1) == 0 && !all.empty()) {
          text += fmt::format(" | lists o{}{}", i, all);
          ++listed;
        }
      }
      if (kind < 7 && in(0, 2) == 0) text += fmt::format(" | priority o{} {}", i, in(-1, 1));
      for (std::int64_t j = 0; j < i; ++j)
        if (in(0, 2) == 0) text += fmt::format(" | o{} -> o{}", j, i);
    }
    for (std::int64_t n = in(0, 2); n > 0; --n) text += fmt::format(" | o{} => o{}", in(0, ops - 1), in(0, ops - 1));
    CAPTURE(text);
    const IterationGraph graph = graph_from_text(text);
    std::vector<std::uint32_t> gpus;
    for (int g = 0; g < graph.ranks(); ++g) gpus.push_back(static_cast<std::uint32_t>(g));
    const Setup setup{.servers = graph.ranks()};
    Recorder seen;
    const std::int64_t iterations = in(1, 5);
    static_cast<void>(simulate_once(setup, {{text, gpus, iterations}}, false, &seen));
    CHECK(lines_of(seen) == GraphOracle{graph, iterations}.run());
    const std::vector<TestJob> longer{{text, gpus, 60}};
    const RunResult fast = simulate_once(setup, longer, true);
    CHECK(difference(simulate_once(setup, longer, false), fast) == "");
    leapt += fast.leaps > 0 ? 1 : 0;
  }
  CHECK(tasks > cases);
  CHECK(counted * 6 > cases);
  CHECK(listed * 4 > cases);
  CHECK(deeper * 3 > cases);
  CHECK(leapt * 3 > cases * 2);
}
