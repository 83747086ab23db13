#include "models/catalogue/catalogue.hpp"
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/iteration.hpp"
#include "models/overlap/phases.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "tests/devices.hpp"
#include "tests/near.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Given = std::vector<std::pair<std::string, ParameterValue>>;

/// Four workers; a matrix of 40 x 10 in the upper layer, a vector of 50 and a matrix of 20 x 8 below, all fp32.
OverlapProblem three_gradients() {
  OverlapProblem problem;
  problem.layers = {{"low", Time::microseconds(50), Time::microseconds(100)},
                    {"high", Time::microseconds(50), Time::microseconds(100)}};
  problem.gradients = {{1, Bytes{1600}, 40, 10}, {0, Bytes{200}, 50, 1}, {0, Bytes{640}, 20, 8}};
  problem.workers = 4;
  problem.cost = ExchangeCost::ring(4, {Time::microseconds(5), TimePerByte{1}, {}});
  problem.kernels = v100_kernels();
  return problem;
}

/// Returns the collectives that send the whole gradient, 610 values, as one group, such as `all-gather 96, ...`.
std::string sent(std::string_view name, const Given& given = {}, int phase = 0) {
  OverlapProblem problem = three_gradients();
  const auto compressor = compression(name, given);
  problem.phase = phase;
  std::string text;
  for (const ExchangeStage& stage : compressor->stages(problem, {0, 2})) {
    CHECK((stage.collective || stage.duration > Time{}));
    if (!stage.collective) continue;
    if (!text.empty()) text += ", ";
    text += stage.name + " " + std::to_string(stage.bytes.count());
  }
  return text;
}

struct Factors {
  std::int64_t p = 0, q = 0, vectors = 0;
};

/// Returns the elements that a low-rank method sends of a model of the catalogue.
Factors factors_of(std::string_view model, std::int64_t rank) {
  TimedModel timed = roofline_times(build_model(*find_model(model), 0), v100(), 1);
  OverlapProblem problem = overlap_problem(timed, 4, ExchangeCost::ring(4, {}));
  problem.kernels = v100_kernels();
  const auto power = compression("power-sgd", {{"rank", rank}});
  const auto stages = power->stages(problem, {0, problem.gradients.size() - 1});
  Factors factors;
  for (const auto& each : problem.gradients) {
    if (each.rows == 1 || each.columns == 1) factors.vectors += each.rows * each.columns;
  }
  factors.p = stages[1].bytes.count() / 4 - factors.vectors;
  factors.q = stages[3].bytes.count() / 4;
  return factors;
}

}  // namespace

TEST_CASE("the time of a selection can be given: gamma x d log2(d)") {
  // 2048 bytes are 512 values, and log2(512) = 9: at 1000 ps 4608 ns, at 500 ps 2304 ns.
  OverlapProblem problem = three_gradients();
  problem.gradients = {{1, Bytes{2048}, 512, 1}};
  for (const char* name : {"top-k", "gtop-k"}) {
    const auto select = [&](double gamma_ps) {
      return compression(name, {{"gamma_ps", gamma_ps}})->stages(problem, {0, 0}).front().duration;
    };
    CHECK(select(1000) - select(500) == Time::nanoseconds(2304));
    CHECK(select(1000) > Time::nanoseconds(4608));  // adding the residual takes time, too
    CHECK(select(1000) < Time::nanoseconds(4608) + Time::microseconds(100));
    CHECK(select(1e-3) - select(1e-6) == Time{});  // at least 1 ns
  }
}

TEST_CASE("a sum that is as large as the dense gradient comes back dense, and is not unpacked") {
  // 512 values: at a density of 1/8 four workers select 64 each, together 256 pairs of 8 bytes, as many bytes as 512
  // values have. A smaller density sends pairs.
  OverlapProblem problem = three_gradients();
  problem.gradients = {{1, Bytes{2048}, 512, 1}};
  problem.cost = ExchangeCost::parameter_server(4, 2, false, {Time::microseconds(5), TimePerByte{1}, {}});
  const auto text = [&](double density) {
    std::string all;
    for (const ExchangeStage& stage : compression("top-k", {{"density", density}})->stages(problem, {0, 0}))
      all += " " + stage.name + (stage.collective ? " " + std::to_string(stage.bytes.count()) : "");
    return all;
  };
  CHECK(text(0.125) == " select push 512 pull 2048");
  CHECK(text(0.123) == " select push 504 pull 2016 add up");  // 63 values
}

TEST_CASE("what each method sends of 610 values among 4 workers, by hand") {
  CHECK(sent("fp16") == "all-reduce 1220");
  // 1 % of 610 are 7 values, with their indices 56 bytes from each of 4 workers.
  CHECK(sent("top-k", {{"density", 0.01}}) == "all-gather 224");
  CHECK(sent("gaussian-k", {{"density", 0.01}}) == "all-gather 224");
  CHECK(sent("ms-top-k", {{"density", 0.01}}) == "all-gather 224");
  CHECK(sent("dgc", {{"density", 0.01}}) == "all-gather 224");
  CHECK(sent("gtop-k", {{"density", 0.01}}) == "merge up 56, broadcast 56");
  CHECK(sent("random-k", {{"density", 0.01}}) == "all-reduce 28");
  // The same 7 weights on both sides, so no indices; all 610 to each neighbour.
  CHECK(sent("saps") == "swap 28");
  CHECK(sent("d-psgd") == "to the right 2440, to the left 2440");
  // 610 bytes and ceil(610 / 512) = 2 norms, from each.
  CHECK(sent("qsgd") == "all-gather 2472");
  CHECK(sent("qsgd", {{"bits", std::int64_t{4}}}) == "all-gather 1252");
  // Buckets that the values fill: 2 of 305, one of 610.
  CHECK(sent("qsgd", {{"bucket", std::int64_t{305}}}) == "all-gather 2472");
  CHECK(sent("qsgd", {{"bucket", std::int64_t{610}}}) == "all-gather 2456");
  // Two bits a value: 153 bytes, and a scale. One: 77.
  CHECK(sent("terngrad") == "all-gather 628");
  CHECK(sent("sign-sgd") == "all-gather 308");
  CHECK(sent("ef-sign-sgd") == "all-gather 324");
  // Chunks of 153 values: 153 bytes and a range, four of them; as signs 20 bytes and a scale.
  CHECK(sent("byte-grad") == "all-to-all 644, all-gather 644");
  CHECK(sent("onebit-adam") == "all-reduce 2440");
  CHECK(sent("onebit-adam", {}, 1) == "all-to-all 96, all-gather 96");
  // Rank 4: P is 40 x 4 and 20 x 4, Q 10 x 4 and 8 x 4; the vector of 50 goes with P, in ACP-SGD with either.
  CHECK(sent("power-sgd") == "all-reduce P 1160, all-reduce Q 288");
  CHECK(sent("acp-sgd") == "all-reduce P 1160");
  CHECK(sent("acp-sgd", {}, 1) == "all-reduce Q 488");
  // No more than the smaller side of a matrix: 10 and 8.
  CHECK(sent("power-sgd", {{"rank", std::int64_t{99}}}) == "all-reduce P 2440, all-reduce Q 656");
}

TEST_CASE("how long the kernels of each method take for a matrix of 4500 x 2000 among 4 workers, by hand") {
  // On a V100, at 0.8 x 900 GB/s, a pass over the 9 million values takes 50 us, a launch 5 us. Computing would take
  // less than that, also for small kernels, for which it is taken to be as efficient as for large ones. Times in ns.
  OverlapProblem problem = three_gradients();
  RooflineOptions options;
  options.ramp = Time{};
  problem.kernels.emplace(v100(), options);
  problem.gradients = {{1, Bytes{36'000'000}, 4500, 2000}};
  const auto kernels = [&](std::string_view name, const Given& given = {}, int phase = 0) {
    problem.phase = phase;
    std::string text;
    for (const ExchangeStage& stage : compression(name, given)->stages(problem, {0, 0})) {
      if (!stage.collective)
        text += (text.empty() ? "" : ", ") + stage.name + " " + std::to_string(stage.duration.ns());
    }
    return text;
  };
  // To add a residual is 3 passes and a launch. A radix select of 9000 values is 5 passes and 9 launches, and writes
  // 72 KB, 0.1 us: 155 + 295.1. To add up 4 x 9000 pairs is a pass, 72 bytes each, and 2 launches.
  CHECK(kernels("top-k", {{"density", 0.001}}) == "select 450100, add up 63600");
  // Twice a radix select of 18,000 values, 0.6 us and 9 launches, and 9000 pairs added to 9000, 0.95 us and 2 launches.
  CHECK(kernels("gtop-k", {{"density", 0.001}}) == "select 450100, merge 113100, unpack 60900");
  // The residual and the velocity, 90,000 values at random places of 36 bytes, a radix select among them of 90 values,
  // 2.501 us and 9 launches, and a pass that writes 9000 pairs, with 2 launches: 2 x 155 + 9.5 + 47.501 + 60.1.
  CHECK(kernels("dgc", {{"density", 0.001}}) == "select 427101, add up 63600");
  // The residual, 90,000 values of 36 bytes, and a pass with 72 bytes for each and 2 launches.
  CHECK(kernels("random-k", {{"density", 0.01}}) == "select 164500, unpack 69000");
  // Two reads and 1 bit are 8.125 bytes a value, 101.5625 us and 3 launches, between the residual and its rest, a pass.
  // To add up is to write 4 bytes and to read 4 bits: 56.25 us and a launch.
  CHECK(kernels("ef-sign-sgd") == "encode 326563, decode 61250");
  // DeepSpeed's chains read and write 100 bytes a value to encode (18 launches, one of them for each of 4 slices), 34
  // to add up each of 4 quarters (6 launches), after which a quarter is encoded again, and 38 to unpack (6 launches):
  // 1250 + 90, 425 + 30 + 312.5 + 90, 475 + 30 us.
  CHECK(kernels("onebit-adam", {}, 1) == "encode 1340000, add up 857500, decode 505000");
  // Fused they are the kernels of ef-sign-sgd; a quarter of 4 bits and 4 bytes a value is added up and encoded again.
  CHECK(kernels("onebit-adam", {{"fused", true}}, 1) == "encode 326563, add up 119454, decode 56563");
  // The momentum reads two and writes one. 9 bytes a value and 3 launches; a quarter is written and read from each of
  // 4, 8 bytes a value, and encoded again; decoded are 5 bytes a value.
  CHECK(kernels("q-adam", {}, 1) == "momentum 155000, encode 127500, add up 73125, decode 67500");
  // The matrix and its two factors of rank 4 are 36.104 MB, 50.145 us with a launch of 5. Four columns of 4500 are made
  // orthogonal in 0.5 us and 4 launches, of 2000 in 0.223.
  CHECK(kernels("power-sgd") == "make P 210145, make Q 75645, restore 210145");
  CHECK(kernels("acp-sgd") == "make P 230368, restore 210145");
  CHECK(kernels("acp-sgd", {}, 1) == "make Q 230645, restore 210145");
  // A sum of values that no collective adds up: 4 bytes read from each of 4, and written, for all or for a quarter.
  problem.collective = MessageRoute::all_gather;
  CHECK(kernels("random-k", {{"density", 0.01}}) == "select 164500, add up 7500, unpack 69000");
  problem.collective = MessageRoute::scatter_gather;
  CHECK(kernels("random-k", {{"density", 0.01}}) == "select 164500, add up 5625, unpack 69000");
}

TEST_CASE("factors of low rank as derived from the architectures (in thousands of elements)") {
  const auto thousands = [](std::int64_t n) { return std::llround(static_cast<double>(n) / 1000); };
  const Factors resnet50 = factors_of("resnet50", 4);
  CHECK(thousands(resnet50.p) == 110);
  CHECK(thousands(resnet50.q) == 220);
  CHECK(thousands(resnet50.vectors) == 54);
  const Factors resnet152 = factors_of("resnet152", 4);
  CHECK(thousands(resnet152.p) == 307);
  CHECK(thousands(resnet152.q) == 678);
  CHECK(thousands(resnet152.vectors) == 152);
  const Factors base = factors_of("bert-base", 32);
  CHECK(thousands(base.p) == 3696);
  CHECK(thousands(base.q) == 2756);
  CHECK(thousands(base.vectors) == 155);
  const Factors large = factors_of("bert-large", 32);
  CHECK(thousands(large.p) == 8137);
  CHECK(thousands(large.q) == 7213);
  CHECK(thousands(large.vectors) == 356);
}

TEST_CASE("one graph for all phases: the mean of acp-sgd lies between an iteration with P and one with Q") {
  OverlapProblem problem = three_gradients();
  const auto compressor = compression("acp-sgd");
  problem.method = compressor.get();
  const auto policy = fusion("wfbp");
  const IterationGraph both = plan_iteration(*policy, problem).graph;
  std::vector<double> alone, computes;
  for (std::size_t phase = 0; phase < 2; ++phase) {
    problem.phase = static_cast<int>(phase);
    const IterationGraph planned = policy->plan(problem).graph;
    const IterationGraph taken_out = graph_of_phase(both, phase);
    CHECK(taken_out.ops().size() == planned.ops().size());
    CHECK(taken_out.dependencies().size() == planned.dependencies().size());
    alone.push_back(steady_state(planned, problem.cost).iteration_ns);
    CHECK(steady_state(taken_out, problem.cost).iteration_ns == alone.back());
    computes.push_back(planned.compute_per_rank(RoleId{0U}).to_seconds());
  }
  CHECK(alone[0] != alone[1]);
  const double mean = steady_state(both, problem.cost).iteration_ns;
  CHECK(mean > std::min(alone[0], alone[1]));
  CHECK(mean < std::max(alone[0], alone[1]));
  CHECK(mean_compute_s(both) == near((computes[0] + computes[1]) / 2));
  CHECK(repeating_graphs(both).size() == 1);
  // Every eighth iteration of local SGD sends: the mean is the mean of seven silent ones and one that sends.
  const auto local = compression("local-sgd");
  problem.method = local.get();
  const IterationGraph eight = plan_iteration(*policy, problem).graph;
  const double silent = steady_state(graph_of_phase(eight, 0), problem.cost).iteration_ns;
  const double sends = steady_state(graph_of_phase(eight, 1), problem.cost).iteration_ns;
  CHECK(sends > silent);
  CHECK(steady_state(eight, problem.cost).iteration_ns == near((7 * silent + sends) / 8));
  // A warm-up happens once, so each of its two graphs counts by its share.
  const auto warmed = compression("onebit-adam", {{"warm_up", 0.25}});
  problem.method = warmed.get();
  const std::vector<SharedGraph> graphs = repeating_graphs(plan_iteration(*policy, problem).graph);
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[0].share == 0.25);
  CHECK(graphs[1].share == 0.75);
  const auto at_once = compression("onebit-adam", {{"warm_up", 0.0}});
  problem.method = at_once.get();
  CHECK(repeating_graphs(plan_iteration(*policy, problem).graph).size() == 1);
}

TEST_CASE("rounds of local steps: which iterations send which layers, and what") {
  // Ten steps in four fragments: the parts of the round end behind steps 2, 5, 7 and 10, so fragments are sent in the
  // steps 1, 4, 6 and 9 (from 0), after 1, 2, 1 and 2 steps without exchange.
  const auto rounds = compression("diloco", {{"period", std::int64_t{10}}, {"fragments", std::int64_t{4}}});
  std::vector<std::size_t> phases;
  for (std::int64_t i = 0; i < 10; ++i) phases.push_back(rounds->phases().at(i, 1000));
  CHECK(phases == std::vector<std::size_t>{0, 1, 2, 2, 3, 4, 5, 6, 6, 7});
  // Of two layers the first fragment has `low`, 210 values, the second one `high`, 400; together the gradient.
  const Given two{{"period", std::int64_t{10}}, {"fragments", std::int64_t{2}}};
  CHECK(sent("diloco", two, 0).empty());
  CHECK(sent("diloco", two, 1) == "all-reduce 840");
  CHECK(sent("diloco", two, 2).empty());
  CHECK(sent("diloco", two, 3) == "all-reduce 1600");
  CHECK(sent("diloco", {{"period", std::int64_t{10}}, {"bits", std::int64_t{4}}}, 1) == "all-reduce 305");
  CHECK(sent("diloco", {{"period", std::int64_t{1}}}) == "all-reduce 2440");
  CHECK(compression("diloco", {{"period", std::int64_t{1}}})->phases().count() == 1);
  // A piece of each of eight iterations of the round that follows, rounded up.
  CHECK(sent("co2", {{"period", std::int64_t{8}}}) == "all-reduce weights 305");
  const Given too_many{{"period", std::int64_t{3}}, {"fragments", std::int64_t{4}}};
  CHECK_THROWS_AS(static_cast<void>(compression("diloco", too_many)), InputError);
  OverlapProblem problem = three_gradients();
  problem.phase = 1;
  const auto three = compression("diloco", {{"period", std::int64_t{10}}, {"fragments", std::int64_t{3}}});
  CHECK_THROWS_AS(static_cast<void>(three->stages(problem, {0, 2})), InputError);
}

TEST_CASE("averages that are used late overlap the next iteration, and nothing after it") {
  // Forward 100 us, backward 200 us; the all-reduce of 2,440 bytes takes 30 us and 3 n / 2 of a byte's time c: 3,660 c.
  // With a round of one step and c = 0.5 ns, 31.83 us, the exchange begins behind the backward pass and ends before the
  // next one does. Kernels take time of the GPU, and nothing else is waited for.
  OverlapProblem problem = three_gradients();
  const auto at_once = compression("diloco", {{"period", std::int64_t{1}}});
  const auto late = compression("diloco", {{"period", std::int64_t{1}}, {"late", true}});
  const auto time_of = [&](const CompressionMethod& method, double ns_per_byte) {
    problem.cost = ExchangeCost::ring(4, {Time::microseconds(5), TimePerByte{ns_per_byte}, {}});
    problem.method = &method;
    const IterationGraph graph = plan_iteration(*fusion("bsp"), problem).graph;
    return std::pair{steady_state(graph, problem.cost).iteration_ns, graph.compute_per_rank(RoleId{0U})};
  };
  const auto [hidden_ns, computes] = time_of(*late, .5);
  CHECK(hidden_ns == static_cast<double>(computes.ns()));
  CHECK(time_of(*at_once, .5).first == near(static_cast<double>(computes.ns()) + 30'000 + 1'830));
  // At 1 us a byte the exchange takes 3,690 us, longer than computing: one follows the other.
  const auto [slow_ns, same] = time_of(*late, 1000);
  CHECK(same == computes);
  CHECK(slow_ns == near(3'690'000));
  // CO2: a round of two steps takes as long as its computing or its exchange, in two pieces.
  const auto co2 = compression("co2", {{"period", std::int64_t{2}}});
  CHECK(time_of(*co2, .5).first == static_cast<double>(time_of(*co2, .5).second.ns()));
  CHECK(time_of(*co2, 1000).first == near(30'000 + 1'830'000));
}

TEST_CASE("phases: a warm-up, and P and Q in turn") {
  CHECK(compression("onebit-adam", {{"warm_up", 0.25}})->phases().shares() == std::vector<double>{0.25, 0.75});
  CHECK(compression("acp-sgd")->phases().shares() == std::vector<double>{0.5, 0.5});
  // 1 / (w + (1 - w) / 16) of the volume in fp16 at w = 0.15 is 4.92; the abstract's "up to 5x".
  OverlapProblem problem = three_gradients();
  problem.gradients = {{1, Bytes{1'600'000}, 400'000, 1}, {0, Bytes{1'600'000}, 400'000, 1}};
  const auto compressor = compression("onebit-adam");
  std::vector<double> bytes;
  for (problem.phase = 0; problem.phase < 2; ++problem.phase) {
    double ns = 0;
    for (const ExchangeStage& stage : compressor->stages(problem, {0, 1})) {
      if (stage.collective) ns += stage.bytes.to_double() * problem.cost.of(*stage.collective).beta.ns_per_byte();
    }
    bytes.push_back(ns);
  }
  const double reduction = bytes[0] / 2 / (0.15 * bytes[0] / 2 + 0.85 * bytes[1]);  // the reference sends fp16
  CHECK(reduction == near(1 / (0.15 + 0.85 / 16), 1e-4));
}

TEST_CASE("kernels before the first collective hold up the backward pass, those after it don't") {
  OverlapProblem problem = three_gradients();
  const auto compressor = compression("sign-sgd");
  problem.method = compressor.get();
  const IterationGraph graph = fusion("wfbp")->plan(problem).graph;
  const auto op = [&](std::string_view begin) {
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      if (graph.ops()[i].name.starts_with(begin)) return OpId{i};
    }
    return OpId{};
  };
  const auto depends = [&](OpId after, OpId before) {
    return std::any_of(graph.dependencies().begin(), graph.dependencies().end(),
                       [&](const Dependency& d) { return d.before == before && d.after == after && d.lag == 0; });
  };
  CHECK(depends(op("encode #0"), op("high backward")));
  CHECK(depends(op("low backward"), op("encode #0")));
  CHECK_FALSE(depends(op("low backward"), op("decode #0")));
  CHECK(depends(op("decode #0"), op("all-gather #0")));
}

TEST_CASE("every method under every fusion policy: a sound graph, and the fast executor ends on the engine's ns") {
  const std::vector<std::string> cut{"dear", "bytescheduler", "p3"};
  const std::vector<std::string> of_gradients{"horovod", "last-batch"};
  for (const PolicyRow<CompressionMethod>& method : compression_policies()) {
    if (method.name == "none" || method.name == "hierarchical" || method.name == "hitopk") continue;  // levels_test.cpp
    for (const PolicyRow<FusionPolicy>& fusion : fusion_policies()) {
      INFO(std::string{method.name}, " with ", std::string{fusion.name});
      OverlapProblem problem = three_gradients();
      const auto compressor = compression(method.name);
      problem.method = compressor.get();
      const auto policy = contend::test::fusion(fusion.name);
      const bool refused = std::find(of_gradients.begin(), of_gradients.end(), fusion.name) != of_gradients.end() &&
                           compressor->moment() != ExchangeMoment::gradients;
      if (refused || std::find(cut.begin(), cut.end(), fusion.name) != cut.end()) {
        CHECK_THROWS_AS(static_cast<void>(policy->plan(problem)), InputError);
        continue;
      }
      const IterationGraph all_phases = plan_iteration(*policy, problem).graph;
      all_phases.validate();
      if (all_phases.phases().repeats()) {
        const SteadyState fast = steady_state(all_phases, problem.cost);
        REQUIRE(fast.recurs);
        CHECK(engine_difference(all_phases, problem.cost, 2, fast) == "");
      }
      for (std::size_t phase = 0; phase < compressor->phases().count(); ++phase) {
        problem.phase = static_cast<int>(phase);
        const IterationGraph graph = policy->plan(problem).graph;
        graph.validate();
        const SteadyState fast = steady_state(graph, problem.cost);
        REQUIRE(fast.recurs);
        SteadyStateOptions options;
        options.iterations = fast.warm_up + fast.period;
        const SteadyState engine = measure_in_engine(graph, problem.cost, 2, options);
        REQUIRE(engine.ends.size() >= fast.ends.size());
        CHECK(std::equal(fast.ends.begin(), fast.ends.end(), engine.ends.begin()));
        CHECK(fast.iteration_ns >= static_cast<double>(graph.compute_per_rank(RoleId{0U}).ns()));
      }
    }
  }
}

TEST_CASE("peers of a worker: a ring, pairs over fast links, or any worker") {
  CHECK(compression("top-k")->peers().kind == PeerRule::Kind::random);
  CHECK(compression("d-psgd")->peers().kind == PeerRule::Kind::ring);
  CHECK(compression("saps", {{"matched", false}})->peers().kind == PeerRule::Kind::random);
  const PeerRule saps = compression("saps", {{"threshold_mbps", 80.0}, {"within", std::int64_t{7}}})->peers();
  CHECK(saps.kind == PeerRule::Kind::matched);
  CHECK(saps.threshold == ByteRate{1e7});
  CHECK(saps.within == 7);
}

TEST_CASE("a ring of two has one neighbour") {
  OverlapProblem problem = three_gradients();
  problem.workers = 2;
  CHECK(compression("d-psgd")->stages(problem, {0, 2}).size() == 2);
}

TEST_CASE("a method refuses gradients that it can't work on") {
  OverlapProblem halves = three_gradients();
  halves.gradient_element_bytes = 2;
  CHECK_THROWS_AS(static_cast<void>(compression("fp16")->stages(halves, {0, 2})), InputError);
  OverlapProblem layers = three_gradients();
  layers.gradients[1].rows = layers.gradients[1].columns = 0;  // several tensors
  CHECK_THROWS_AS(static_cast<void>(compression("acp-sgd")->stages(layers, {0, 2})), InputError);
  OverlapProblem shapeless = three_gradients();
  for (auto& each : shapeless.gradients) {
    each.rows = each.size.count() / 4;
    each.columns = 1;
  }
  CHECK_THROWS_AS(static_cast<void>(compression("power-sgd")->stages(shapeless, {0, 2})), InputError);
}

TEST_CASE("a kernel takes the roofline's time, by hand") {
  // V100-SXM2: 0.8 of 900 GB/s; 7.2 MB take 10 us, and 3 launches 15 us more.
  CHECK(v100_kernels().of({7.2e6, 0, 3}) == Time::microseconds(25));
  CHECK(KernelCosts(v100(), RooflineOptions{}, 4).of({7.2e6, 0, 3}) == Time::microseconds(55));
  CHECK_THROWS_AS(KernelCosts(v100(), RooflineOptions{}, 0), InputError);
}
