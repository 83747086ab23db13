#include "report/span_recorder.hpp"

#include "report/span_bins.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

Time milliseconds(std::int64_t value) {
  return Time::milliseconds(value);
}

Op compute_op() {
  Op op;
  op.name = "forward";
  return op;
}

/// An exchange of a job between servers 0 and 1.
TransferRequest request_of(JobId job, std::span<const ServerId> servers, std::span<const GpuId> gpus) {
  TransferRequest request;
  request.job = job;
  request.bytes = Bytes{1000};
  request.ranks = 2;
  request.servers = servers;
  request.gpus = gpus;
  return request;
}

}  // namespace

TEST_CASE("a recorder has a lane for each GPU and as many for an interface as transfers overlap") {
  // Two servers with one GPU each. Transfers of jobs 0 [0, 10), 1 [5, 15) and 0 [12, 20): the second needs a lane of
  // its own, the third goes back to the first. Both interfaces are busy for 20 ms in all.
  SpanRecorder recorder{{1, 1}, {}};
  const Op op = compute_op();
  const ServerId servers[] = {ServerId{0U}, ServerId{1U}};
  const GpuId gpus[] = {GpuId{0U}, GpuId{1U}};
  recorder.compute(GpuId{1U}, JobId{0U}, op, 3, milliseconds(1), milliseconds(4));
  recorder.transfer(request_of(JobId{0U}, servers, gpus), op, 3, milliseconds(0), milliseconds(10));
  recorder.transfer(request_of(JobId{1U}, servers, gpus), op, 1, milliseconds(5), milliseconds(15));
  recorder.transfer(request_of(JobId{0U}, servers, gpus), op, 4, milliseconds(12), milliseconds(20));
  Time busy;
  for (std::size_t i = 0; i < recorder.nic_busy().size(); ++i) busy += recorder.nic_busy().busy(1, i);
  CHECK(busy == milliseconds(20));

  const Timeline timeline = recorder.take();
  CHECK(timeline.recorded == 7);
  REQUIRE(timeline.lanes.size() == 6);
  CHECK(timeline.lanes[0].name == "GPU 0");
  CHECK(timeline.lanes[0].spans.empty());
  CHECK(timeline.lanes[1].name == "server0/nic");
  CHECK(timeline.lanes[1].spans.size() == 2);
  CHECK(timeline.lanes[2].name == "server0/nic #2");
  CHECK(timeline.lanes[2].spans.size() == 1);
  CHECK(timeline.lanes[3].name == "GPU 1");
  REQUIRE(timeline.lanes[3].spans.size() == 1);
  CHECK(timeline.lanes[3].spans[0].start == milliseconds(1));
  CHECK(timeline.lanes[3].spans[0].number == 3);
  REQUIRE(timeline.kinds.size() == 3);  // compute of job 0, transfers of jobs 0 and 1
  CHECK(timeline.kinds[1].servers == 2);
}

TEST_CASE("servers have lanes for the GPUs that they have, numbered by the largest server") {
  SpanRecorder recorder{{1, 3}, {}};
  recorder.compute(GpuId{4U}, JobId{0U}, compute_op(), 0, milliseconds(0), milliseconds(1));
  const Timeline timeline = recorder.take();
  std::vector<std::string> names;
  for (const TimelineLane& lane : timeline.lanes) names.push_back(lane.name);
  CHECK(names == std::vector<std::string>{"GPU 0", "server0/nic", "GPU 3", "GPU 4", "GPU 5", "server1/nic"});
  CHECK(timeline.lanes[3].spans.size() == 1);
}

TEST_CASE("a transfer inside a server has a lane there") {
  SpanRecorder recorder{{2, 2}, {}};
  const GpuId gpus[] = {GpuId{2U}, GpuId{3U}};
  recorder.transfer(request_of(JobId{0U}, {}, gpus), compute_op(), 0, milliseconds(0), milliseconds(1));
  const Timeline timeline = recorder.take();
  REQUIRE(timeline.lanes.size() == 7);
  CHECK(timeline.lanes.back().name == "server1/inside");
  CHECK(timeline.lanes.back().spans.size() == 1);
}

TEST_CASE("a window keeps what touches it") {
  SpanRecorder recorder{{1}, {.from = milliseconds(10), .to = milliseconds(20)}};
  for (int i = 0; i < 4; ++i)
    recorder.compute(GpuId{0U}, JobId{0U}, compute_op(), i, milliseconds(8 * i), milliseconds(8 * i + 8));
  const Timeline timeline = recorder.take();
  REQUIRE(timeline.lanes[0].spans.size() == 2);  // [8, 16) and [16, 24)
  CHECK(timeline.lanes[0].spans[0].number == 1);
}

TEST_CASE("above the limit spans become summaries, and busy time is kept") {
  // 3000 spans of 3 ms, each followed by a pause of 1 ms, of two jobs in turn: 75% of the time, half of it each.
  SpanRecorder recorder{{1}, {.exact = 500, .summaries = 200}};
  for (int i = 0; i < 3000; ++i)
    recorder.compute(GpuId{0U}, JobId{static_cast<std::size_t>(i % 2)}, compute_op(), i / 2, milliseconds(4 * i),
                     milliseconds(4 * i + 3));
  const Timeline timeline = recorder.take();
  CHECK(timeline.recorded == 3000);
  const TimelineLane& lane = timeline.lanes[0];
  REQUIRE(lane.bin > Time{});
  CHECK(lane.spans.size() <= 200);
  CHECK(timeline.kinds.size() == 2);
  double busy_s = 0;
  std::int64_t count = 0;
  for (const TimelineSpan& span : lane.spans) {
    busy_s += span.share * (span.end - span.start).to_seconds();
    count += span.number;
    CHECK(span.share <= 0.5);
  }
  CHECK(count == 3000);
  CHECK(busy_s == near(9.0, 0.015));  // shares are rounded to hundredths
}

TEST_CASE("jobs that are more than the summaries are one summary in each bin") {
  // 5000 jobs of 3 ms, one after the other with pauses of 1 ms, on both GPUs: however wide a bin is, a lane would have
  // a summary of each job.
  SpanRecorder recorder{{2}, {.exact = 500, .summaries = 200}};
  for (int i = 0; i < 5000; ++i)
    for (const unsigned gpu : {0U, 1U})
      recorder.compute(GpuId{gpu}, JobId{static_cast<std::size_t>(i)}, compute_op(), 0, milliseconds(4 * i),
                       milliseconds(4 * i + 3));
  const Timeline timeline = recorder.take();
  REQUIRE(timeline.kinds.size() == 1);
  CHECK_FALSE(timeline.kinds[0].job.valid());
  CHECK_FALSE(timeline.kinds[0].transfer);
  for (const unsigned gpu : {0U, 1U}) {
    const TimelineLane& lane = timeline.lanes[gpu];
    CHECK(lane.spans.size() <= 100);
    REQUIRE(!lane.spans.empty());
    double busy_s = 0;
    std::int64_t count = 0, bins = 0;
    for (const TimelineSpan& span : lane.spans) {
      busy_s += span.share * (span.end - span.start).to_seconds();
      count += span.number;
      bins += (span.end - span.start).ns() / lane.bin.ns();
    }
    CHECK(count == 5000);
    CHECK(bins > 32);  // the run still has a shape
    CHECK(busy_s == near(15.0, 0.015));
  }
}

TEST_CASE("lanes that are more than the summaries have one summary each") {
  SpanRecorder recorder{std::vector<std::size_t>(500, 1), {.exact = 500, .summaries = 200}};
  for (unsigned i = 0; i < 2000; ++i)
    recorder.compute(GpuId{i % 500}, JobId{i}, compute_op(), 0, milliseconds(4 * i), milliseconds(4 * i + 3));
  const Timeline timeline = recorder.take();
  std::int64_t count = 0;
  std::size_t summaries = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    summaries += lane.spans.size();
    for (const TimelineSpan& span : lane.spans) count += span.number;
  }
  CHECK(count == 2000);
  CHECK(summaries == 500);
}

TEST_CASE("property: summaries add up to the spans, whatever the order in which they came") {
  std::mt19937 random{11};
  for (int round = 0; round < 20; ++round) {
    SpanBins bins{3, 60, milliseconds(1)};
    std::vector<double> busy(3);
    std::int64_t count = 0;
    for (int i = 0; i < 400; ++i) {
      const std::size_t lane = random() % 3;
      const auto start = static_cast<std::int64_t>(random() % 5000),
                 length = static_cast<std::int64_t>(1 + random() % 200);
      bins.add(lane, {.job = JobId{static_cast<std::size_t>(random() % 4)}}, milliseconds(start),
               milliseconds(start + length));
      busy[lane] += static_cast<double>(length) * 1e-3;
      ++count;
    }
    bins.finish();
    std::vector<SpanKind> kinds;
    std::int64_t seen = 0;
    std::size_t summaries = 0;
    for (std::size_t lane = 0; lane < 3; ++lane) {
      Time before;
      double sum = 0;
      for (const TimelineSpan& span : bins.take(lane, kinds)) {
        CHECK(span.start >= before);
        before = span.start;
        seen += span.number;
        sum += span.share * (span.end - span.start).to_seconds();
        ++summaries;
      }
      CHECK(sum == near(busy[lane], 0.01));
    }
    CHECK(seen == count);
    CHECK(summaries <= 60);
  }
}
