// What every fusion policy makes of the same random problems: iterations in all and messages in all, plain and with
// compressed gradients. Ties between merges, buckets that are just full and the order in which the search tries plans
// decide these figures; whoever changes a policy on purpose changes its line.

#include "models/overlap/iteration.hpp"
#include "models/overlap/steady_state.hpp"
#include "policies/fusion/search.hpp"
#include "sim/error.hpp"
#include "tests/policies/fusion/message_count.hpp"
#include "tests/policies/fusion/random_problem.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr std::uint64_t kProblems = 30;

/// A random problem with a shape for each gradient, as low-rank methods need it.
OverlapProblem shaped_problem(std::uint64_t seed) {
  OverlapProblem problem = random_problem(seed, {.levels = true});
  for (OverlapProblem::Gradient& each : problem.gradients) {
    const std::int64_t elements = each.size.count() / problem.gradient_element_bytes;
    for (std::int64_t rows = 1; rows <= 64; ++rows) {
      if (elements % rows == 0) each.rows = rows;
    }
    each.columns = elements / each.rows;
  }
  problem.kernels = v100_kernels();
  return problem;
}

/// Sums over the problems and the phases of the method; `plan` gives the iteration of each.
template <class Plan>
std::string summed(const CompressionMethod* method, Plan plan) {
  std::int64_t ns = 0;
  std::size_t messages = 0, refused = 0;
  const std::size_t phases = method == nullptr ? 1 : method->phases().count();
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      OverlapProblem problem = shaped_problem(seed);
      problem.method = method;
      problem.phase = static_cast<int>(phase);
      try {
        const FusedIteration iteration = plan(problem);
        ns += std::llround(steady_state(iteration.graph, problem.cost).iteration_ns);
        messages += test::message_count(iteration.graph);
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  return fmt::format("{} ns, {} messages, {} refused", ns, messages, refused);
}

struct FusionLine {
  const char* name;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  std::string plain, compressed;
};

}  // namespace

TEST_CASE("the figures of every fusion policy on thirty problems, plain and with one value in a hundred") {
  const FusionLine lines[] = {
      {"bsp", {}, "549990872 ns, 36 messages, 0 refused", "268956457 ns, 36 messages, 0 refused"},
      {"wfbp", {}, "464479743 ns, 246 messages, 0 refused", "245707662 ns, 246 messages, 0 refused"},
      {"threshold", {{"mib", 0.2}}, "474249164 ns, 100 messages, 0 refused", "241995640 ns, 100 messages, 0 refused"},
      {"ddp",
       {{"mib", 0.3}, {"first_mib", 0.1}},
       "470444638 ns, 93 messages, 0 refused",
       "246185227 ns, 93 messages, 0 refused"},
      {"horovod",
       {{"mib", 0.2}, {"cycle_ms", 0.002}},
       "463230234 ns, 203 messages, 0 refused",
       "243370200 ns, 203 messages, 0 refused"},
      {"mg-wfbp", {}, "455847797 ns, 131 messages, 0 refused", "241104050 ns, 174 messages, 0 refused"},
      {"mg-wfbp",
       {{"optimal", false}},
       "456741395 ns, 109 messages, 0 refused",
       "241744416 ns, 191 messages, 0 refused"},
      {"omgs", {}, "455847797 ns, 131 messages, 0 refused", "235065813 ns, 59 messages, 0 refused"},
      {"omgs", {{"optimal", false}}, "455850233 ns, 109 messages, 0 refused", "236570075 ns, 89 messages, 0 refused"},
      {"asc-wfbp", {}, "461528078 ns, 125 messages, 0 refused", "244222468 ns, 238 messages, 0 refused"},
      {"asc-wfbp",
       {{"streams", std::int64_t{3}}},
       "461527991 ns, 125 messages, 0 refused",
       "244222468 ns, 238 messages, 0 refused"},
      {"dear", {{"mib", 0.1}}, "316425304 ns, 198 messages, 6 refused", "0 ns, 0 messages, 30 refused"},
      {"dear", {{"mib", 0.1}, {"tune", true}}, "351368809 ns, 58 messages, 6 refused", "0 ns, 0 messages, 30 refused"},
      {"bytescheduler",
       {{"partition", std::int64_t{5000}}, {"credit", std::int64_t{20'000}}},
       "538800855 ns, 1434 messages, 0 refused",
       "0 ns, 0 messages, 30 refused"},
      {"p3", {{"slice", std::int64_t{5000}}}, "531248445 ns, 1434 messages, 0 refused", "0 ns, 0 messages, 30 refused"},
      {"last-batch", {}, "371601855 ns, 36 messages, 0 refused", "217116190 ns, 36 messages, 0 refused"},
  };
  const auto top = compression("top-k", {{"density", 0.01}});
  for (const FusionLine& line : lines) {
    CAPTURE(std::string{line.name});
    const auto policy = fusion(line.name, line.parameters);
    const auto plan = [&](const OverlapProblem& problem) { return policy->plan(problem); };
    CHECK(summed(nullptr, plan) == line.plain);
    CHECK(summed(top.get(), plan) == line.compressed);
  }
}

TEST_CASE("the figures of the search with few trials and with many") {
  const auto top = compression("top-k", {{"density", 0.01}});
  for (const auto& [evaluations, plain, compressed] :
       {std::tuple{8, "429055264 ns, 183 messages, 0 refused", "234712894 ns, 59 messages, 0 refused"},
        {40, "419447560 ns, 239 messages, 0 refused", "234712894 ns, 59 messages, 0 refused"},
        {200, "417011892 ns, 2273 messages, 0 refused", "234412894 ns, 61 messages, 0 refused"}}) {
    const auto plan = [trials = evaluations](const OverlapProblem& problem) {
      return search_plan(problem, {}, trials);
    };
    CHECK(summed(nullptr, plan) == plain);
    CHECK(summed(top.get(), plan) == compressed);
  }
}

TEST_CASE("the figures of every compression method with every gradient on its own") {
  const std::pair<const char*, const char*> lines[] = {
      {"none", "464479743 ns, 246 messages, 0 refused; 474249164 ns, 100 messages, 0 refused"},
      {"fp16", "317850305 ns, 246 messages, 0 refused; 319385070 ns, 100 messages, 0 refused"},
      {"top-k", "232619691 ns, 246 messages, 0 refused; 224197096 ns, 100 messages, 0 refused"},
      {"gtop-k", "289336608 ns, 404 messages, 0 refused; 245525223 ns, 162 messages, 0 refused"},
      {"gaussian-k", "236462439 ns, 246 messages, 0 refused; 225656225 ns, 100 messages, 0 refused"},
      {"ms-top-k", "291782728 ns, 246 messages, 0 refused; 248196294 ns, 100 messages, 0 refused"},
      {"dgc", "239445403 ns, 246 messages, 0 refused; 226853855 ns, 100 messages, 0 refused"},
      {"lags", "239760998 ns, 246 messages, 0 refused; 233868580 ns, 100 messages, 0 refused"},
      {"random-k", "227656794 ns, 246 messages, 0 refused; 222318610 ns, 100 messages, 0 refused"},
      {"saps", "227009375 ns, 202 messages, 0 refused; 224203817 ns, 81 messages, 0 refused"},
      {"d-psgd", "1568264078 ns, 404 messages, 0 refused; 1565857673 ns, 162 messages, 0 refused"},
      {"qsgd", "628855236 ns, 246 messages, 0 refused; 640412290 ns, 100 messages, 0 refused"},
      {"terngrad", "286056322 ns, 246 messages, 0 refused; 286857594 ns, 100 messages, 0 refused"},
      {"sign-sgd", "241239266 ns, 246 messages, 0 refused; 245384193 ns, 100 messages, 0 refused"},
      {"ef-sign-sgd", "246998636 ns, 246 messages, 0 refused; 247708186 ns, 100 messages, 0 refused"},
      {"byte-grad", "335787240 ns, 404 messages, 0 refused; 322450838 ns, 162 messages, 0 refused"},
      {"onebit-adam", "778545035 ns, 650 messages, 0 refused; 735042126 ns, 262 messages, 0 refused"},
      {"apm-squeeze", "710028540 ns, 650 messages, 0 refused; 707415960 ns, 262 messages, 0 refused"},
      {"lossless", "368580467 ns, 278 messages, 0 refused; 368267159 ns, 111 messages, 0 refused"},
      {"hierarchical", "360177511 ns, 345 messages, 13 refused; 366854009 ns, 129 messages, 13 refused"},
      {"hitopk", "288315178 ns, 345 messages, 13 refused; 269339965 ns, 129 messages, 13 refused"},
      {"q-adam", "801921274 ns, 650 messages, 0 refused; 797382175 ns, 262 messages, 0 refused"},
      {"decentralized", "331575058 ns, 202 messages, 0 refused; 321065166 ns, 81 messages, 0 refused"},
      {"dcd-psgd", "287198150 ns, 404 messages, 0 refused; 280492768 ns, 162 messages, 0 refused"},
      {"ecd-psgd", "286432481 ns, 404 messages, 0 refused; 280167076 ns, 162 messages, 0 refused"},
      {"async-average", "215261748 ns, 30 messages, 0 refused; 215261748 ns, 30 messages, 0 refused"},
      {"local-sgd", "683305573 ns, 202 messages, 0 refused; 672236036 ns, 81 messages, 0 refused"},
      {"power-sgd", "257633720 ns, 492 messages, 0 refused; 255326429 ns, 200 messages, 0 refused"},
      {"acp-sgd", "472267027 ns, 492 messages, 0 refused; 473552303 ns, 200 messages, 0 refused"},
  };
  const auto each_alone = fusion("wfbp"), merged = fusion("threshold", {{"mib", 0.2}});
  for (const auto& line : lines) {
    CAPTURE(std::string{line.first});
    const auto method = compression(line.first);
    std::string text = summed(method.get(), [&](const OverlapProblem& problem) { return each_alone->plan(problem); });
    text += "; " + summed(method.get(), [&](const OverlapProblem& problem) { return merged->plan(problem); });
    CHECK(text == line.second);
  }
}
