// The pipelines of a recorded run, drawn with stages as lanes.

#include "report/pipeline_timeline.hpp"
#include "tests/text_checks.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct RecordedSpan {
  const char* op;
  std::int64_t iteration, start, end;
};

/// Adds a lane of a GPU with spans of job 0; times are milliseconds.
void add_recorded(Timeline& timeline, const std::vector<RecordedSpan>& spans) {
  TimelineLane& lane = timeline.lanes.emplace_back();
  for (const RecordedSpan& each : spans) {
    std::uint32_t kind = 0;
    while (kind < timeline.kinds.size() && timeline.kinds[kind].op != each.op) ++kind;
    if (kind == timeline.kinds.size()) timeline.kinds.push_back({.job = JobId{0U}, .op = each.op});
    lane.spans.push_back({Time::milliseconds(each.start), Time::milliseconds(each.end), kind, each.iteration, 1});
  }
}

Timeline two_stages() {
  Timeline timeline;
  add_recorded(timeline, {{"F0.0 stage 1", 0, 11, 20}, {"B0.0 stage 1", 0, 20, 40}, {"update", 0, 40, 41}});
  add_recorded(timeline, {{"F0.0 stage 0", 0, 0, 10},
                          {"B0.0 stage 0 part 1", 0, 41, 50},
                          {"B0.0 stage 0 part 0", 0, 52, 60},
                          {"update", 0, 60, 61}});
  // A second GPU of the first stage.
  add_recorded(timeline, {{"F0.0 stage 0", 0, 0, 10}, {"B0.0 stage 0 part 1", 0, 41, 50}});
  return timeline;
}

std::optional<PassLanes> drawn_of(const Timeline& timeline, JobId job) {
  return Pipelines{timeline}.of(job);
}

}  // namespace

TEST_CASE("a recorded pipeline has a lane for each rank, by stage, and a box for each pass") {
  const std::optional<PassLanes> drawn = drawn_of(two_stages(), JobId{0U});
  REQUIRE(drawn);
  REQUIRE(drawn->lanes.size() == 2);
  CHECK(drawn->lanes[0].name == "rank 0");
  REQUIRE(drawn->lanes[0].boxes.size() == 2);
  const PassBox& backward = drawn->lanes[0].boxes[1];  // both of its parts, and the wait between them
  CHECK(backward.pass == PipelinePass{PassKind::backward, 0, 0});
  CHECK(backward.start == Time::milliseconds(41));
  CHECK(backward.end == Time::milliseconds(60));
  REQUIRE(drawn->lanes[1].boxes.size() == 2);
  CHECK(drawn->lanes[1].boxes[0].start == Time::milliseconds(11));
  CHECK(drawn->until() == Time::milliseconds(60));
  const std::string svg = pass_lanes_svg(std::span{&*drawn, 1});
  CHECK(contains(svg, "<title>B0.0 stage 0: 41 to 60 ms</title>"));
  CHECK(contains(svg, ">rank 1</text>"));
}

TEST_CASE("of three iterations the second is drawn, from its first pass on") {
  Timeline timeline;
  for (int stage = 0; stage < 2; ++stage) {
    const char* const op = stage == 0 ? "F0.0 stage 0" : "F0.0 stage 1";
    add_recorded(timeline, {{op, 0, 0 + stage, 1 + stage}, {op, 1, 10 + stage, 12 + stage}, {op, 2, 20, 23}});
  }
  const std::optional<PassLanes> drawn = drawn_of(timeline, JobId{0U});
  REQUIRE(drawn);
  CHECK(drawn->title == "iteration 1");
  CHECK(drawn->lanes[0].boxes[0].start == Time{});
  CHECK(drawn->lanes[1].boxes[0].end == Time::milliseconds(3));
}

TEST_CASE("passes that were executed together share the height of their lane") {
  Timeline timeline;
  add_recorded(timeline, {{"F1.0 stage 0 + B0.1 stage 3", 0, 0, 10}});
  add_recorded(timeline, {{"F1.0 stage 1", 0, 0, 10}});
  const std::optional<PassLanes> drawn = drawn_of(timeline, JobId{0U});
  REQUIRE(drawn);
  REQUIRE(drawn->lanes[0].boxes.size() == 2);
  CHECK(drawn->lanes[0].boxes[0].parts == 2);
  CHECK(drawn->lanes[0].boxes[1].part == 1);
  CHECK(drawn->lanes[0].boxes[1].pass.kind == PassKind::backward);
}

TEST_CASE("jobs without a pipeline, other jobs and summaries have no drawing") {
  CHECK_FALSE(drawn_of(two_stages(), JobId{1U}));
  Timeline summaries = two_stages();
  for (TimelineLane& lane : summaries.lanes) lane.bin = Time::milliseconds(1);
  CHECK_FALSE(drawn_of(summaries, JobId{0U}));
  Timeline alone;
  add_recorded(alone, {{"F0.0 stage 0", 0, 0, 10}});
  CHECK_FALSE(drawn_of(alone, JobId{0U}));
}

TEST_CASE("the spans of many jobs are looked at a few times each, however many jobs there are") {
  for (const std::uint32_t jobs : {100U, 10'000U}) {
    // Two lanes, on which jobs of two stages follow each other; every tenth job is no pipeline.
    Timeline timeline;
    timeline.lanes.resize(2);
    for (std::uint32_t job = 0; job < jobs; ++job) {
      for (std::uint32_t stage = 0; stage < 2; ++stage) {
        const auto kind = static_cast<std::uint32_t>(timeline.kinds.size());
        const bool is_pipeline = job % 10 != 0;
        timeline.kinds.push_back(
            {.job = JobId{job}, .op = is_pipeline ? stage == 0 ? "F0.0 stage 0" : "F0.0 stage 1" : "run"});
        timeline.lanes[stage].spans.push_back({Time::seconds(job), Time::seconds(job + 1), kind, 0, 1});
      }
    }
    Pipelines pipelines{timeline};
    std::size_t drawn = 0;
    for (std::uint32_t job = 0; job < jobs; ++job) drawn += pipelines.of(JobId{job}) ? 1U : 0U;
    CHECK(drawn == jobs / 10 * 9);
    // Once to find the passes; for each drawing once each for the stages, the iterations and the boxes.
    CHECK(pipelines.looks() == 2 * jobs + 3 * 2 * drawn);
  }
}
