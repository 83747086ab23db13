// These tests cover compression methods on servers of several workers, and methods that exchange weights instead of
// gradients, at another moment.

#include "models/overlap/bound.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/iteration.hpp"
#include "models/overlap/volume.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::compression;
using contend::test::fusion;
using contend::test::random_problem;
using contend::test::v100_kernels;

namespace {

using Given = std::vector<std::pair<std::string, ParameterValue>>;

/// 610 values in three gradients on `servers` of `per_server` workers.
OverlapProblem problem_on(int servers, int per_server) {
  OverlapProblem problem;
  problem.layers = {{"low", Time::microseconds(50), Time::microseconds(100)},
                    {"high", Time::microseconds(50), Time::microseconds(100)}};
  problem.gradients = {{1, Bytes{1600}, 40, 10}, {0, Bytes{200}, 50, 1}, {0, Bytes{640}, 20, 8}};
  problem.workers = servers * per_server;
  problem.cost = ExchangeCost::two_level(servers, per_server, {Time::microseconds(1), TimePerByte{0.1}, {}},
                                         {Time::microseconds(5), TimePerByte{1}, {}});
  problem.kernels = v100_kernels();
  return problem;
}

constexpr const char* kScopes[] = {"", " server", " leaders", " peers"};

/// Returns the stages for all gradients as one group, such as `all-gather inside 96 server, kernel add up, ...`.
std::string stages(const OverlapProblem& problem, std::string_view name, const Given& given = {}) {
  std::string text;
  for (const ExchangeStage& stage : compression(name, given)->stages(problem, {0, 2})) {
    if (!text.empty()) text += ", ";
    if (stage.collective) {
      text += stage.name + " " + std::to_string(stage.bytes.count()) + kScopes[static_cast<std::size_t>(stage.scope)];
    } else {
      CHECK(stage.duration > Time{});
      text += "kernel " + stage.name;
    }
  }
  return text;
}

const Given kInServers{{"hierarchical", true}};

/// A random problem with everything that the method needs.
OverlapProblem random_levels(std::uint64_t seed) {
  test::ProblemRange range;
  range.most_layers = 6;
  range.servers = false;
  range.levels = true;
  OverlapProblem problem = random_problem(seed, range);
  problem.kernels = v100_kernels();
  for (auto& each : problem.gradients) {  // a matrix for methods of low rank
    const std::int64_t elements = each.size.count() / 4;
    each.columns = std::gcd(elements, std::int64_t{16});
    each.rows = elements / each.columns;
  }
  return problem;
}

/// Returns nothing if policy and method do not go together.
std::optional<IterationGraph> plan(const FusionPolicy& policy, const OverlapProblem& problem) {
  try {
    return policy.plan(problem).graph;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("stages on three servers of two workers, by hand: 610 values, 2440 bytes") {
  const OverlapProblem problem = problem_on(3, 2);
  // Shards of 305 values.
  CHECK(stages(problem, "hierarchical") ==
        "reduce-scatter inside 2440 server, all-reduce between 1220 peers, all-gather inside 2440 server");
  CHECK(stages(problem, "hierarchical", {{"leaders", true}}) ==
        "reduce inside 2440 server, all-reduce between 2440 leaders, broadcast inside 2440 server");
  // 1 % of 305 values are 4 values, which are 32 bytes with their indices, from each of three servers.
  CHECK(stages(problem, "hitopk", {{"density", 0.01}}) ==
        "reduce-scatter inside 2440 server, kernel select, all-gather between 96 peers, kernel add up, "
        "all-gather inside 2440 server");
  // All 305 values of each of three servers; on two servers of three workers shards of 204 values.
  CHECK(stages(problem, "hitopk", {{"density", 1.0}}).find("all-gather between 7320 peers") != std::string::npos);
  CHECK(stages(problem_on(2, 3), "hitopk", {{"density", 1.0}}).find("all-gather between 3264 peers") !=
        std::string::npos);
  // Three chunks of 204 values: 204 bytes and a range of 8 each; as signs 26 bytes and a scale of 4.
  CHECK(stages(problem, "byte-grad", kInServers) ==
        "reduce inside 2440 server, kernel encode, all-to-all 636 leaders, kernel add up, all-gather 636 leaders, "
        "kernel decode, broadcast inside 2440 server");
  CHECK(stages(problem, "onebit-adam", kInServers) == "all-reduce 2440");
  OverlapProblem after = problem;
  after.phase = 1;
  CHECK(stages(after, "onebit-adam", kInServers) ==
        "reduce inside 2440 server, kernel encode, all-to-all 90 leaders, kernel add up, all-gather 90 leaders, "
        "kernel decode, broadcast inside 2440 server");
  // Six chunks of 102 values and a range.
  CHECK(stages(after, "q-adam") ==
        "kernel momentum, kernel encode, all-to-all 660, kernel add up, all-gather 660, kernel decode");
  CHECK(stages(problem, "q-adam") == "all-reduce 2440");
  CHECK(stages(problem, "decentralized") == "all-reduce weights 2440, kernel average");
  CHECK(stages(problem, "decentralized", {{"all", false}}) == "swap 2440, kernel average");
  CHECK(stages(problem, "decentralized", {{"all", false}, {"hierarchical", true}}) ==
        "reduce inside 2440 server, swap 2440 leaders, kernel average, broadcast inside 2440 server");
  // 610 bytes and a range. Around a ring one worker of each server sends out of it.
  for (const char* name : {"dcd-psgd", "ecd-psgd"}) {
    CHECK(stages(problem, name) == "kernel encode, to the left 618 leaders, to the right 618 leaders, kernel correct");
    CHECK(stages(problem, name, {{"bits", std::int64_t{4}}, {"hierarchical", true}}) ==
          "reduce inside 2440 server, kernel encode, to the left 313 leaders, to the right 313 leaders, "
          "kernel correct, broadcast inside 2440 server");
  }
  CHECK(stages(problem, "local-sgd").empty());
  CHECK(stages(after, "local-sgd") == "all-reduce weights 2440");
}

TEST_CASE("stages on one server, on two, and without levels") {
  const OverlapProblem one = problem_on(1, 4);
  CHECK(stages(one, "hierarchical") == "reduce-scatter inside 2440 server, all-gather inside 2440 server");
  CHECK(stages(one, "hitopk") == "reduce-scatter inside 2440 server, all-gather inside 2440 server");
  for (const char* name : {"byte-grad", "decentralized", "dcd-psgd", "ecd-psgd"})
    CHECK(stages(one, name, kInServers) == "reduce inside 2440 server, broadcast inside 2440 server");
  CHECK(stages(one, "dcd-psgd") == "kernel encode, to the left 618 server, to the right 618 server, kernel correct");
  // Two leaders have one neighbour.
  CHECK(stages(problem_on(2, 2), "dcd-psgd", kInServers) ==
        "reduce inside 2440 server, kernel encode, to the left 618 leaders, kernel correct, "
        "broadcast inside 2440 server");
  const OverlapProblem flat = problem_on(4, 1);
  CHECK(stages(flat, "dcd-psgd") == "kernel encode, to the left 618, to the right 618, kernel correct");
  for (const char* name : {"hierarchical", "hitopk"})
    CHECK_THROWS_AS(static_cast<void>(compression(name)->stages(flat, {0, 2})), InputError);
  for (const char* name : {"byte-grad", "q-adam", "decentralized", "dcd-psgd", "ecd-psgd"}) {
    OverlapProblem later = flat;
    later.phase = 1;
    CHECK_THROWS_AS(static_cast<void>(compression(name, kInServers)->stages(later, {0, 2})), InputError);
  }
}

TEST_CASE("DCD-PSGD keeps one more vector right than ECD-PSGD: its own") {
  OverlapProblem problem = problem_on(4, 1);
  problem.gradients = {{0, Bytes{32'000'000}, 8'000'000, 1}};
  const auto correct = [&](const char* name) { return compression(name)->stages(problem, {0, 0}).back().duration; };
  // 8 million x (8 + 1) bytes at 0.8 x 900 GB/s: 100 us a vector; a launch of 5 us each.
  CHECK(correct("dcd-psgd") == Time::microseconds(3 * 105));
  CHECK(correct("ecd-psgd") == Time::microseconds(2 * 105));
}

TEST_CASE("workers of a ring average with their neighbours, take the difference and encode it, by hand") {
  OverlapProblem problem = problem_on(4, 1);
  problem.gradients = {{0, Bytes{36'000'000}, 9'000'000, 1}};
  // 9 million values at 0.8 x 900 GB/s: to average three vectors into one of them is 4 passes of 36 MB, 200 us; the
  // difference of two is 3 passes, 150 us; to quantise, two reads of 4 bytes and a write of 1 are 112.5 us. A launch
  // of 5 us each, of which quantising needs three: two for the range and one for the code.
  for (const char* name : {"dcd-psgd", "ecd-psgd"}) {
    const ExchangeStage encode = compression(name)->stages(problem, {0, 0}).front();
    CHECK(encode.duration == Time::nanoseconds(205'000 + 155'000 + 127'500));
  }
}

TEST_CASE("an asynchronous average is sent in as many pieces as fit into the computing of an iteration, by hand") {
  // Computing takes 300 us, an all-reduce of m bytes among 4 workers 30 us and 1.5 ns a byte: 180,000 bytes fit.
  OverlapProblem problem = problem_on(4, 1);
  problem.gradients = {{1, Bytes{400'000}, 100'000, 1}, {0, Bytes{200'000}, 50'000, 1}};
  const auto compressor = compression("async-average");
  CHECK(compressor->stages(problem, {0, 0}).empty());
  CHECK(compressor->stages(problem, {0, 1})[1].bytes == Bytes{150'000});
  problem.gradients[1].size = Bytes{140'000};  // 3 x 180,000: as a whole
  CHECK(compressor->stages(problem, {1, 1})[1].bytes == Bytes{180'000});
  problem.gradients[1].size = Bytes{140'001};
  CHECK(compressor->stages(problem, {1, 1})[1].bytes == Bytes{135'001});
  // Copies to the host and back at 4 bytes a nanosecond are 0.5 ns a byte more: 135,000 bytes fit, a quarter.
  problem.gradients[1].size = Bytes{140'000};
  problem.staging = ByteRate{4e9};
  CHECK(compressor->stages(problem, {1, 1})[1].bytes == Bytes{135'000});
  problem.staging.reset();
  problem.cost = ExchangeCost::ring(4, {Time::microseconds(50), TimePerByte{1}, {}});  // 6 x 50
  CHECK_THROWS_AS(static_cast<void>(compressor->stages(problem, {0, 1})), InputError);
}

TEST_CASE("an iteration that averages asynchronously is computing and kernels, to the nanosecond") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    OverlapProblem problem = random_levels(seed);
    const auto compressor = compression("async-average");
    problem.method = compressor.get();
    for (const char* name : {"bsp", "wfbp", "mg-wfbp", "asc-wfbp"}) {
      const auto graph = plan(*fusion(name), problem);
      if (!graph) continue;
      INFO("seed ", seed, " ", name, ": ", test::describe(problem));
      CHECK(steady_state(*graph, problem.cost).iteration_ns ==
            static_cast<double>(graph->compute_per_rank(RoleId{0U}).ns()));
      ++compared;
    }
  }
  CHECK(compared > effort(std::size_t{500}));
}

TEST_CASE("when weights are exchanged, by hand: one gradient, forward 10 us, backward 20 us, swapped in 35 us") {
  OverlapProblem problem = problem_on(4, 1);
  problem.layers = {{"only", Time::microseconds(10), Time::microseconds(20)}};
  problem.gradients = {{0, Bytes{30'000}, 7'500, 1}};
  const auto time = [&](const char* method, const std::vector<std::pair<std::string, ParameterValue>>& given = {}) {
    const auto compressor = compression(method, given);
    problem.method = compressor.get();
    problem.phase = static_cast<int>(compressor->phases().count()) - 1;
    const IterationGraph graph = fusion("bsp")->plan(problem).graph;
    const auto kernels = graph.compute_per_rank(RoleId{0U}) - Time::microseconds(30);
    return Time::nanoseconds(std::llround(steady_state(graph, problem.cost).iteration_ns)) - kernels;
  };
  // Beside computing: 5 + 30 us from one update to the next. After it: 30 + 6 x 5 + 1.5 x 30.
  CHECK(time("decentralized", {{"all", false}}) == Time::microseconds(35));
  CHECK(time("decentralized") == Time::microseconds(75));  // 6 x 5 + 1.5 x 30
  CHECK(time("local-sgd") == Time::microseconds(105));
}

TEST_CASE(
    "a kernel between two collectives goes before the next backward task, one after the last when nothing else is") {
  OverlapProblem problem = problem_on(2, 2);
  problem.layers = {{"low", Time::microseconds(50), Time::microseconds(100)},
                    {"middle", Time::microseconds(50), Time::microseconds(100)},
                    {"high", Time::microseconds(50), Time::microseconds(100)}};
  problem.gradients = {{2, Bytes{4000}, 1000, 1}, {0, Bytes{4000}, 1000, 1}};
  const auto compressor = compression("byte-grad");
  problem.method = compressor.get();
  const IterationGraph graph = fusion("wfbp")->plan(problem).graph;
  SteadyStateOptions options;
  options.iterations = 2;
  options.spans = true;
  for (const SteadyState& run :
       {steady_state(graph, problem.cost, options), measure_in_engine(graph, problem.cost, 2, options)}) {
    std::map<std::string, Time> start;
    for (const Span& span : run.spans) {
      if (span.iteration == 0) start[graph.ops()[span.op.index()].name] = span.start;
    }
    // The all-to-all of the upper gradient is through while the middle layer computes.
    CHECK(start["middle backward"] < start["add up #0 high"]);
    CHECK(start["add up #0 high"] < start["low backward"]);
    CHECK(start["low backward"] < start["decode #0 high"]);
  }
}

TEST_CASE("a dense all-reduce through peers sends as much as a flat ring, and less out of a server") {
  for (const int servers : {2, 3, 16}) {
    for (const int per_server : {2, 4, 8}) {
      const OverlapProblem problem = problem_on(servers, per_server);
      const int n = problem.workers;
      SentVolume sent;
      OverlapProblem even = problem;
      even.gradients = {{0, Bytes{4 * n * 8}, n * 8, 1}};
      for (const ExchangeStage& stage : compression("hierarchical")->stages(even, {0, 0})) {
        const SentVolume part = sent_volume(*stage.collective, stage.scope, stage.bytes, n, per_server);
        sent.by_worker += part.by_worker;
        sent.by_interface += part.by_interface;
      }
      const double size = even.gradient().to_double();
      CHECK(sent.by_worker == near(2.0 * (n - 1) / n * size));
      CHECK(sent.by_interface == near(2.0 * (servers - 1) / servers * size));
    }
  }
}

TEST_CASE("every method on levels under every fusion policy: the fast executor ends on the engine's ns") {
  std::size_t compared = 0;
  std::map<std::string, std::size_t, std::less<>> of_method;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{60}); ++seed) {
    for (const PolicyRow<CompressionMethod>& method : compression_policies()) {
      if (method.name == "none") continue;
      OverlapProblem problem = random_levels(seed);
      const bool second = seed % 2 == 1;
      const auto compressor = compression(
          method.name, {{"hierarchical", second && problem.cost.levels()}, {"leaders", second}, {"density", 0.01}});
      problem.method = compressor.get();
      problem.phase = static_cast<int>(seed % compressor->phases().count());
      for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
        const auto graph = plan(*fusion(row.name), problem);
        if (!graph) continue;
        INFO("seed ", seed, " ", method.name, " ", row.name, ": ", test::describe(problem));
        graph->validate();
        SteadyStateOptions options;
        options.iterations = 6;
        CHECK(steady_state(*graph, problem.cost, options).ends ==
              measure_in_engine(*graph, problem.cost, 2, options).ends);
        ++compared;
        ++of_method[std::string{method.name}];
      }
    }
  }
  CHECK(compared > effort(5000));
  for (const PolicyRow<CompressionMethod>& method : compression_policies()) {
    INFO(std::string{method.name});
    if (method.name != "none") CHECK(of_method[std::string{method.name}] > effort(100));
  }
}

TEST_CASE("no dense all-reduce on levels beats the lower bound") {
  std::map<std::string, std::size_t, std::less<>> compared;
  for (std::uint64_t seed = 2000; seed < 2000 + effort(std::uint64_t{400}); ++seed) {
    OverlapProblem problem = random_levels(seed);
    const double bound = static_cast<double>(iteration_bound(problem).value().ns());
    for (const bool leaders : {false, true}) {
      const auto compressor = compression("hierarchical", {{"leaders", leaders}});
      problem.method = compressor.get();
      for (const PolicyRow<FusionPolicy>& row : fusion_policies()) {
        const auto policy = fusion(row.name);
        const auto graph = plan(*policy, problem);
        if (!graph || policy->staleness() > 0) continue;
        INFO("seed ", seed, " ", row.name, ": ", test::describe(problem));
        CHECK(steady_state(*graph, problem.cost).iteration_ns >= bound);
        ++compared[std::string{row.name}];
      }
    }
  }
  CHECK(compared.size() >= 5);
  for (const auto& entry : compared) CHECK_MESSAGE(entry.second > effort(std::size_t{100}), entry.first);
}
