#include "report/timeline_codec.hpp"

#include "report/packing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace contend {
namespace {

enum Column : std::size_t { kKind, kGapColumn, kLength, kNumber, kShare };

/// A list of kinds, the most recently used first.
class RecentFirst {
 public:
  explicit RecentFirst(std::size_t kinds) : order_(kinds) { std::iota(order_.begin(), order_.end(), 0U); }
  std::size_t position(std::uint32_t kind) {
    const auto at = std::ranges::find(order_, kind);
    const auto position = static_cast<std::size_t>(at - order_.begin());
    std::rotate(order_.begin(), at, at + 1);
    return position;
  }

 private:
  std::vector<std::uint32_t> order_;
};

struct LastSeen {
  std::int64_t gap = 0, length = 0, number = 0;
};

void encode_exact(const TimelineLane& lane, std::size_t kinds, TimelineBytes& out) {
  RecentFirst recent{kinds};
  std::vector<LastSeen> last(kinds);
  Time free;
  for (const TimelineSpan& span : lane.spans) {
    LastSeen& guess = last[span.kind];
    const LastSeen now{(span.start - free).ns(), (span.end - span.start).ns(), span.number};
    append_varint(out.columns[kKind], recent.position(span.kind));
    append_signed_varint(out.columns[kGapColumn], now.gap - guess.gap);
    append_signed_varint(out.columns[kLength], now.length - guess.length);
    append_signed_varint(out.columns[kNumber], now.number - guess.number);
    guess = now;
    free = span.end;
  }
}

void encode_summaries(const TimelineLane& lane, std::size_t kinds, TimelineBytes& out) {
  RecentFirst recent{kinds};
  std::int64_t before = 0;
  for (const TimelineSpan& span : lane.spans) {
    const std::int64_t first = span.start.ns() / lane.bin.ns();
    append_varint(out.columns[kKind], recent.position(span.kind));
    append_varint(out.columns[kGapColumn], static_cast<std::uint64_t>(first - before));
    append_varint(out.columns[kLength], static_cast<std::uint64_t>((span.end - span.start).ns() / lane.bin.ns() - 1));
    append_varint(out.columns[kNumber], static_cast<std::uint64_t>(span.number));
    append_varint(out.columns[kShare], static_cast<std::uint64_t>(std::llround(span.share * 100)));
    before = first;
  }
}

}  // namespace

std::string TimelineBytes::joined() const {
  std::string all;
  for (const std::string& column : columns) all += column;
  return all;
}

TimelineBytes encode_spans(const Timeline& timeline) {
  TimelineBytes out;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.bin == Time{})
      encode_exact(lane, timeline.kinds.size(), out);
    else
      encode_summaries(lane, timeline.kinds.size(), out);
  }
  return out;
}

}  // namespace contend
