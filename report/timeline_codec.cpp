#include "report/timeline_codec.hpp"

#include "report/packing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace contend {
namespace {

enum Column : std::size_t { kKind, kGapColumn, kLength, kNumber, kShare };

/// The kinds of a lane that were used last, the most recent one first.
class RecentKinds {
 public:
  /// The code of a kind, which becomes the most recent one.
  std::uint64_t code(std::uint32_t kind) {
    const auto at = std::ranges::find(order_, kind);
    if (at != order_.end()) {
      const auto position = static_cast<std::uint64_t>(at - order_.begin());
      std::rotate(order_.begin(), at, at + 1);
      return position;
    }
    if (order_.size() == kRecentKinds) order_.pop_back();
    order_.insert(order_.begin(), kind);
    return kRecentKinds + zigzag(std::int64_t{kind} - std::exchange(other_, kind));
  }

 private:
  std::vector<std::uint32_t> order_;
  std::int64_t other_ = 0;  ///< the last kind that was not in the list
};

/// What the last span of a kind was like in a lane.
struct LastSeen {
  std::size_t lane = SIZE_MAX;
  std::int64_t gap = 0, length = 0, number = 0;
};

/// `last` has an entry for each kind, which other lanes may have left.
void encode_exact(const TimelineLane& lane, std::size_t index, std::vector<LastSeen>& last, TimelineBytes& out) {
  RecentKinds recent;
  Time free;
  for (const TimelineSpan& span : lane.spans) {
    LastSeen& guess = last[span.kind];
    if (guess.lane != index) guess = {};
    const LastSeen now{index, (span.start - free).ns(), (span.end - span.start).ns(), span.number};
    append_varint(out.columns[kKind], recent.code(span.kind));
    append_signed_varint(out.columns[kGapColumn], now.gap - guess.gap);
    append_signed_varint(out.columns[kLength], now.length - guess.length);
    append_signed_varint(out.columns[kNumber], now.number - guess.number);
    guess = now;
    free = span.end;
  }
}

void encode_summaries(const TimelineLane& lane, TimelineBytes& out) {
  RecentKinds recent;
  std::int64_t before = 0;
  for (const TimelineSpan& span : lane.spans) {
    const std::int64_t first = span.start.ns() / lane.bin.ns();
    append_varint(out.columns[kKind], recent.code(span.kind));
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
  std::vector<LastSeen> last(timeline.kinds.size());
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    if (timeline.lanes[i].bin == Time{})
      encode_exact(timeline.lanes[i], i, last, out);
    else
      encode_summaries(timeline.lanes[i], out);
  }
  return out;
}

}  // namespace contend
