#include "report/timeline_codec.hpp"

#include "report/packing.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <doctest/doctest.h>
#include <zlib.h>

using namespace contend;

namespace {

/// Reads what encode_spans() wrote, straight from its description.
class Decoder {
 public:
  Decoder(const Timeline& timeline, const TimelineBytes& bytes) : timeline_{timeline}, bytes_{bytes} {}

  std::vector<TimelineSpan> lane(const TimelineLane& lane) {
    std::vector<std::uint32_t> order;
    const std::size_t kinds = timeline_.kinds.size();
    std::vector<std::int64_t> gap(kinds), length(kinds), number(kinds);
    std::int64_t other = 0;
    std::vector<TimelineSpan> spans;
    std::int64_t free = 0, first = 0;
    for (std::size_t i = 0; i < lane.spans.size(); ++i) {
      std::uint64_t code = next(0);
      std::uint32_t kind = 0;
      if (code < kRecentKinds) {
        kind = order.at(code);
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(code));
      } else {
        code -= kRecentKinds;
        other += code % 2 == 0 ? static_cast<std::int64_t>(code / 2) : -static_cast<std::int64_t>(code / 2) - 1;
        kind = static_cast<std::uint32_t>(other);
        if (order.size() == kRecentKinds) order.pop_back();
      }
      order.insert(order.begin(), kind);
      TimelineSpan span;
      span.kind = kind;
      if (lane.bin == Time{}) {
        gap[kind] += next_signed(1);
        length[kind] += next_signed(2);
        number[kind] += next_signed(3);
        span.start = Time::nanoseconds(free + gap[kind]);
        span.end = span.start + Time::nanoseconds(length[kind]);
        span.number = number[kind];
        free = span.end.ns();
      } else {
        first += static_cast<std::int64_t>(next(1));
        span.start = lane.bin * first;
        span.end = lane.bin * (first + static_cast<std::int64_t>(next(2)) + 1);
        span.number = static_cast<std::int64_t>(next(3));
        span.share = static_cast<double>(next(4)) / 100;
      }
      spans.push_back(span);
    }
    return spans;
  }

 private:
  std::uint64_t next(std::size_t column) {
    std::uint64_t value = 0, factor = 1;
    while (true) {
      const auto byte = static_cast<unsigned char>(bytes_.columns[column].at(at_[column]++));
      value += (byte & 127U) * factor;
      factor *= 128;
      if (byte < 128) return value;
    }
  }
  std::int64_t next_signed(std::size_t column) {
    const std::uint64_t value = next(column);
    return value % 2 == 0 ? static_cast<std::int64_t>(value / 2) : -static_cast<std::int64_t>(value / 2) - 1;
  }

  const Timeline& timeline_;
  const TimelineBytes& bytes_;
  std::array<std::size_t, 5> at_{};
};

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  REQUIRE(::inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
  std::string input = packed, out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::inflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("base64 as RFC 4648, section 10, has it") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xFF\xFE\xFD") == "//79");
}

TEST_CASE("gzip unpacks to what went in, and holds no time") {
  const std::string text(100000, 'x');
  const std::string packed = gzip(text);
  CHECK(packed.size() < 300);
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));
  CHECK(gunzip(packed) == text);
  CHECK(gunzip(gzip("")).empty());
}

TEST_CASE("numbers of variable length at their edges") {
  std::string out;
  append_varint(out, 127);
  append_varint(out, 128);
  append_signed_varint(out, -1);
  append_signed_varint(out, -64);
  append_signed_varint(out, 64);
  CHECK(out == std::string("\x7F\x80\x01\x01\x7F\x80\x01", 7));
}

TEST_CASE("property: any timeline comes back from its bytes") {
  std::mt19937 random{5};
  std::size_t spans_compared = 0;
  for (int round = 0; round < 50; ++round) {
    Timeline timeline;
    timeline.kinds.resize(round % 5 == 0 ? 200 : 1 + random() % 9);  // more than the recent ones, and fewer
    for (int l = 0; l < 5; ++l) {
      TimelineLane lane;
      if (random() % 2 == 0) lane.bin = Time::milliseconds(1 + static_cast<std::int64_t>(random() % 100));
      std::int64_t at = 0;
      for (std::size_t left = random() % (round % 5 == 0 ? 600 : 60); left > 0; --left) {
        TimelineSpan span;
        span.kind = static_cast<std::uint32_t>(random() % timeline.kinds.size());
        span.number = static_cast<std::int64_t>(random() % 1000);
        if (lane.bin == Time{}) {
          at += static_cast<std::int64_t>(random() % 3) * 1'000'000'007;  // gaps of more than 32 bits' worth
          span.start = Time::nanoseconds(at);
          at += static_cast<std::int64_t>(random());
          span.end = Time::nanoseconds(at);
        } else {
          at += static_cast<std::int64_t>(random() % 3);
          span.start = lane.bin * at;
          span.end = lane.bin * (at + 1 + static_cast<std::int64_t>(random() % 300));
          span.share = static_cast<double>(1 + random() % 100) / 100;
        }
        lane.spans.push_back(span);
      }
      timeline.lanes.push_back(std::move(lane));
    }
    const TimelineBytes bytes = encode_spans(timeline);
    Decoder decoder{timeline, bytes};
    for (const TimelineLane& lane : timeline.lanes) {
      const std::vector<TimelineSpan> spans = decoder.lane(lane);
      REQUIRE(spans.size() == lane.spans.size());
      spans_compared += spans.size();
      for (std::size_t i = 0; i < spans.size(); ++i) {
        REQUIRE(spans[i].start == lane.spans[i].start);
        REQUIRE(spans[i].end == lane.spans[i].end);
        REQUIRE(spans[i].kind == lane.spans[i].kind);
        REQUIRE(spans[i].number == lane.spans[i].number);
        REQUIRE(spans[i].share == near(lane.spans[i].share));
      }
    }
  }
  CHECK(spans_compared > 5000);
}

TEST_CASE("a job after the other takes a few bytes for each, however many there are") {
  for (const std::uint32_t jobs : {1'000U, 100'000U}) {
    Timeline timeline;
    TimelineLane lane;
    for (std::uint32_t job = 0; job < jobs; ++job) {
      timeline.kinds.push_back({.job = JobId{job}, .op = "run"});
      lane.spans.push_back({Time::seconds(job), Time::seconds(job + 1), job, 0, 1});
    }
    timeline.lanes = {lane, lane};
    // The code of a kind that is new in the lane is its distance to the last new one: one byte, and the list of recent
    // kinds, which is searched for it, has kRecentKinds entries at most.
    CHECK(encode_spans(timeline).columns[0].size() == 2 * jobs);
  }
}
