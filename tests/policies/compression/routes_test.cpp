// These tests send the messages of compression methods by other collectives than usual, and through parameter servers.
#include "models/overlap/engine_measurement.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/merging.hpp"
#include "tests/devices.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

using Given = std::vector<std::pair<std::string, ParameterValue>>;

/// Four workers; 610 values: a matrix of 40 x 10, a vector of 50 and a matrix of 20 x 8, all fp32.
OverlapProblem three_gradients(bool servers = false) {
  OverlapProblem problem;
  problem.layers = {{"low", Time::microseconds(50), Time::microseconds(100)},
                    {"high", Time::microseconds(50), Time::microseconds(100)}};
  problem.gradients = {{1, Bytes{1600}, 40, 10}, {0, Bytes{200}, 50, 1}, {0, Bytes{640}, 20, 8}};
  problem.workers = 4;
  const ChannelCost link{Time::microseconds(5), TimePerByte{1}, {}};
  problem.cost = servers ? ExchangeCost::parameter_server(4, 2, false, link) : ExchangeCost::ring(4, link);
  problem.kernels.emplace(v100(), RooflineOptions{});
  return problem;
}

/// Returns the collectives that send the whole gradient as one group, such as `all-gather 96, ...`.
std::string sent(std::string_view name, MessageRoute route, const Given& given = {}, int phase = 1) {
  OverlapProblem problem = three_gradients(route == MessageRoute::server);
  problem.collective = route == MessageRoute::server ? MessageRoute::usual : route;
  const auto compressor = compression(name, given);
  CHECK_FALSE(compressor->refusal(route));
  problem.phase = std::min(phase, static_cast<int>(compressor->phases().count()) - 1);
  std::string text;
  for (const ExchangeStage& stage : compressor->stages(problem, {0, 2})) {
    if (!stage.collective) continue;
    if (!text.empty()) text += ", ";
    text += stage.name + " " + std::to_string(stage.bytes.count());
  }
  return text;
}

constexpr MessageRoute kForced[] = {MessageRoute::all_reduce, MessageRoute::all_gather, MessageRoute::scatter_gather,
                                    MessageRoute::server};

}  // namespace

TEST_CASE("what is sent by another collective, by hand") {
  const auto gather = [](std::string_view name, const Given& given = {}) {
    return sent(name, MessageRoute::all_gather, given);
  };
  const auto scatter = [](std::string_view name, const Given& given = {}) {
    return sent(name, MessageRoute::scatter_gather, given);
  };
  // From each of 4: 1220 bytes; 610 and a range of 8; 77 and a scale; 7 values of 4 bytes without indices.
  CHECK(gather("fp16") == "all-gather 4880");
  CHECK(gather("byte-grad") == "all-gather 2472");
  CHECK(gather("onebit-adam") == "all-gather 324");
  CHECK(gather("random-k") == "all-gather 112");
  // P and the vector are 1160 bytes, Q 288.
  CHECK(gather("power-sgd") == "all-gather P 4640, all-gather Q 1152");
  // Chunks of 153 values: 306 bytes; 20 and a scale or nothing; 153 and a norm. Random-k: 2 of 7 values.
  CHECK(scatter("fp16") == "all-to-all 1224, all-gather 1224");
  CHECK(scatter("sign-sgd") == "all-to-all 80, all-gather 80");
  CHECK(scatter("ef-sign-sgd") == "all-to-all 96, all-gather 96");
  CHECK(scatter("qsgd") == "all-to-all 628, all-gather 628");
  CHECK(scatter("random-k") == "all-to-all 32, all-gather 32");
  CHECK(scatter("power-sgd") == "all-to-all P 1168, all-gather P 1168, all-to-all Q 288, all-gather Q 288");
  // The warm-up in full precision is all-reduced, unless servers do it.
  CHECK(sent("onebit-adam", MessageRoute::all_gather, {}, 0) == "all-reduce 2440");
  CHECK(sent("onebit-adam", MessageRoute::scatter_gather, {}, 0) == "all-reduce 2440");
  CHECK(sent("onebit-adam", MessageRoute::server, {}, 0) == "push 2440, pull 2440");
}

TEST_CASE("what is pushed to servers and pulled, by hand") {
  const auto server = [](std::string_view name, const Given& given = {}) {
    return sent(name, MessageRoute::server, given);
  };
  CHECK(server("fp16") == "push 1220, pull 1220");
  CHECK(server("qsgd") == "push 618, pull 618");
  CHECK(server("sign-sgd") == "push 77, pull 77");
  CHECK(server("terngrad") == "push 157, pull 157");
  CHECK(server("random-k") == "push 28, pull 28");
  CHECK(server("power-sgd") == "push P 1160, pull P 1160, push Q 288, pull Q 288");
  // 7 pairs; the sum has up to 28. Of 30 %, 183 pairs, the sum may have all 610 values, as pairs 4880 bytes: dense.
  CHECK(server("top-k", {{"density", 0.01}}) == "push 56, pull 224");
  CHECK(server("top-k", {{"density", 0.3}}) == "push 1464, pull 2440");
}

TEST_CASE("what can't be done is refused with a reason") {
  const auto refused = [](std::string_view name) {
    std::string text;
    const auto compressor = compression(name);
    for (const MessageRoute route : kForced) text += compressor->refusal(route) ? '-' : '+';
    CHECK_FALSE(compressor->refusal(MessageRoute::usual));
    return text;
  };
  // All-reduce, all-gather, scatter-gather, servers.
  for (const char* name : {"fp16", "random-k", "power-sgd", "acp-sgd"}) CHECK(refused(name) == "++++");
  for (const char* name : {"qsgd", "terngrad", "sign-sgd", "ef-sign-sgd", "byte-grad", "onebit-adam", "apm-squeeze"})
    CHECK(refused(name) == "-+++");
  for (const char* name : {"top-k", "gaussian-k", "ms-top-k", "dgc"}) CHECK(refused(name) == "-+-+");
  CHECK(refused("lags") == "-+--");
  for (const char* name : {"gtop-k", "lossless"}) CHECK(refused(name) == "----");
  const auto indices = compression("top-k")->refusal(MessageRoute::all_reduce);
  REQUIRE(indices);
  CHECK(indices->reason.find("can't be added up on the way") != std::string::npos);
  CHECK(indices->hint == "collective: all-gather");
}

TEST_CASE("methods by every route that they take: planners see it, and the engine ends on the fast executor's ns") {
  int combinations = 0;
  for (const PolicyRow<CompressionMethod>& method : compression_policies()) {
    if (method.name == "none") continue;
    const auto compressor = compression(method.name);
    for (const MessageRoute route : kForced) {
      if (compressor->refusal(route)) continue;
      OverlapProblem problem = three_gradients(route == MessageRoute::server);
      if (route != MessageRoute::server) problem.collective = route;
      problem.method = compressor.get();
      problem.phase = static_cast<int>(compressor->phases().count()) - 1;
      for (const char* policy : {"wfbp", "mg-wfbp", "omgs", "ddp"}) {
        INFO(std::string{method.name}, " by route ", static_cast<int>(route), " with ", std::string{policy});
        const IterationGraph graph = fusion(policy)->plan(problem).graph;
        graph.validate();
        const SteadyState fast = steady_state(graph, problem.cost);
        REQUIRE(fast.recurs);
        SteadyStateOptions options;
        options.iterations = fast.warm_up + fast.period;
        const SteadyState engine = measure_in_engine(graph, problem.cost, 2, options);
        REQUIRE(engine.ends.size() >= fast.ends.size());
        CHECK(std::equal(fast.ends.begin(), fast.ends.end(), engine.ends.begin()));
        ++combinations;
      }
    }
  }
  CHECK(combinations >= 4 * (4 * 4 + 7 * 3 + 4 * 2 + 1));
}
