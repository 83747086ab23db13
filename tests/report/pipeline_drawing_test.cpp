#include "report/pipeline_drawing.hpp"
#include "policies/registry.hpp"
#include "tests/models/parallel/equal_costs.hpp"
#include "tests/text_checks.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct DrawnPipeline {
  PipelinePlan plan;
  PipelineTimes times;
};

/// A schedule on four ranks; passes through a stage of one chunk take 1 ms, so a whole backward pass takes 2 ms.
DrawnPipeline drawn_pipeline(std::string_view name, int micro_batches, int chunks = 0) {
  for (const PolicyRow<PipelineSchedule>& row : pipeline_schedules()) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& parameter : row.parameters) values.emplace_back(parameter.name, parameter.default_value);
    const auto schedule = row.make(Parameters{std::move(values)}, {});
    PipelinePlan plan = schedule->plan({.ranks = 4, .micro_batches = micro_batches, .chunks = chunks});
    const Time pass = Time::microseconds(4000 / plan.stages);
    PipelineTimes times = evaluate(plan, test::equal_costs(plan, pass, pass, pass));
    return {std::move(plan), std::move(times)};
  }
  FAIL("no such schedule");
  return {};
}

std::string drawing_of(const DrawnPipeline& pipeline) {
  return pipeline_svg({"a pipeline", pipeline.plan, pipeline.times});
}

}  // namespace

TEST_CASE("a pipeline is drawn with a box for each pass, its number where there is room, and its times") {
  const DrawnPipeline one = drawn_pipeline("1f1b", 8);
  const std::string svg = drawing_of(one);
  CHECK(occurrences(svg, "stage 0: ") == 16);
  CHECK(occurrences(svg, "stage 3: ") == 16);
  CHECK(occurrences(svg, ">7</text>") == 8);  // micro-batch 7 passes four ranks twice
  CHECK(contains(svg, "<title>F0.0 stage 3: 3 to 4 ms</title>"));
  CHECK(contains(svg, "<title>B7.0 stage 0: 31 to 33 ms</title>"));
  CHECK(contains(svg, "time [ms]"));
  CHECK(contains(svg, ">rank 3</text>"));
  CHECK(contains(svg, ">forward</text>"));
  CHECK_FALSE(contains(svg, "gradient of weights"));  // it has none of its own
  CHECK_FALSE(contains(svg, "fill-opacity"));

  const DrawnPipeline many = drawn_pipeline("1f1b", 400);
  CHECK(occurrences(drawing_of(many), "<rect") == 4 * 800 + 1 + 2);  // passes, ground and legend
  CHECK_FALSE(contains(drawing_of(many), ">399</text>"));            // no room
}

TEST_CASE("chunks have shades, gradients of weights a colour, and merged passes share a lane") {
  const std::string interleaved = drawing_of(drawn_pipeline("interleaved", 8, 2));
  CHECK(contains(interleaved, "fill-opacity=\"0.55\""));
  CHECK(contains(interleaved, "lighter: the next chunk of the rank"));
  const std::string split = drawing_of(drawn_pipeline("zb-h1", 8));
  CHECK(contains(split, ">gradient of weights</text>"));
  CHECK(contains(split, "<title>W7.0 stage 3: "));
  const DrawnPipeline dual = drawn_pipeline("dualpipe", 8);
  const std::string merged = drawing_of(dual);
  int halves = 0;
  for (const auto& steps : dual.plan.order)
    for (const PipelineStep& step : steps) halves += step.is_merged ? 2 : 0;
  CHECK(occurrences(merged, "height=\"11.00\"") == static_cast<std::size_t>(halves));
}

TEST_CASE("the figure of the page on pipelines is what the program draws") {
  std::vector<DrawnPipeline> all;
  for (const std::string_view name : {"gpipe", "1f1b", "zb-h1", "zb-v", "dualpipe"})
    all.push_back(drawn_pipeline(name, 8));
  all.insert(all.begin() + 2, drawn_pipeline("interleaved", 8, 2));
  const std::vector<std::string> titles{
      "gpipe",
      "1f1b",
      "interleaved: two chunks of half a stage on each rank",
      "zb-h1",
      "zb-v: two chunks of half a stage on each rank, in a V",
      "dualpipe: micro-batches 0 to 3 go down the ranks, 4 to 7 up; each rank holds two stages"};
  std::vector<PipelinePanel> panels;
  for (std::size_t i = 0; i < all.size(); ++i) panels.push_back({titles[i], all[i].plan, all[i].times});
  const std::string fresh = pipeline_svg(panels);
  const std::string file = "docs/images/pipeline-schedules.svg";  // tests run in the root of the repository
  if (std::getenv("CONTEND_WRITE_FIGURES") != nullptr) std::ofstream{file} << fresh;
  std::ifstream kept{file};
  const bool is_same = std::string{std::istreambuf_iterator<char>{kept}, {}} == fresh;
  CHECK_MESSAGE(is_same, "run this test with CONTEND_WRITE_FIGURES=1 in the environment, and look at the figure");
}
