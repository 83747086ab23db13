#include "report/span_bins.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace contend {
namespace {

/// A lane is settled after this many further blocks.
constexpr std::size_t kUnsettled = 512;
/// A span is looked for among so many of the last blocks of its lane.
constexpr std::ptrdiff_t kRecent = 4;
/// A run in fewer bins than this shows nothing over time.
constexpr std::int64_t kFewestBins = 64;

}  // namespace

SpanBins::SpanBins(std::size_t lanes, std::size_t limit, Time length)
    : lanes_(lanes), limit_{limit}, width_{Time::microseconds(1)} {
  // A span then covers no more bins than the limit leaves to a lane.
  const auto bins = static_cast<std::int64_t>(std::max<std::size_t>(1, limit / std::max<std::size_t>(1, lanes)));
  while (width_ * bins < length) width_ = width_ * 2;
}

void SpanBins::add(std::size_t lane, Who who, Time start, Time end) {
  Lane& into = lanes_[lane];
  if (!by_job_) who.job = JobId::none();
  const std::size_t before = into.blocks.size();
  const std::int64_t last = std::max(start.ns(), end.ns() - 1) / width_.ns();
  last_bin_ = std::max(last_bin_, last);
  for (std::int64_t bin = start.ns() / width_.ns(); bin <= last; ++bin) {
    const Time from = std::max(start, width_ * bin), to = std::min(end, width_ * (bin + 1));
    const Block block = {.bin = bin, .who = who, .busy = to - from, .count = bin == last ? 1 : 0};
    // Most spans fall into the bin of one of the last few of their lane.
    const auto recent = into.blocks.end() - std::min<std::ptrdiff_t>(kRecent, std::ssize(into.blocks));
    const auto same = std::find_if(recent, into.blocks.end(), [&](const Block& b) {
      return b.bin == bin && b.who.job == who.job && b.who.transfer == who.transfer;
    });
    if (same == into.blocks.end()) {
      into.blocks.push_back(block);
    } else {
      same->busy += block.busy;
      same->count += block.count;
    }
  }
  blocks_ += into.blocks.size() - before;
  if (into.blocks.size() - into.settled > std::max(into.settled, kUnsettled)) {
    blocks_ -= into.blocks.size();
    settle(into);
    blocks_ += into.blocks.size();
  }
  while (blocks_ > limit_ + kUnsettled * lanes_.size()) coarsen();
}

std::tuple<std::int64_t, JobId, bool> SpanBins::key(const Block& block) {
  return {block.bin, block.who.job, block.who.transfer};
}

void SpanBins::settle(Lane& lane) {
  const auto middle = lane.blocks.begin() + static_cast<std::ptrdiff_t>(lane.settled);
  if (middle == lane.blocks.end()) return;
  std::ranges::sort(middle, lane.blocks.end(), {}, key);
  // Spans come nearly in order of time, so what is new meets only the last of the settled blocks.
  const auto first = std::ranges::lower_bound(lane.blocks.begin(), middle, key(*middle), {}, key);
  std::ranges::inplace_merge(first, middle, lane.blocks.end(), {}, key);
  merge_equal(lane, first);
}

void SpanBins::merge_equal(Lane& lane, Blocks::iterator first) {
  auto kept = first;
  for (auto block = first; block != lane.blocks.end(); ++block) {
    if (kept != first && key(*(kept - 1)) == key(*block)) {
      (kept - 1)->busy += block->busy;
      (kept - 1)->count += block->count;
    } else {
      *kept++ = *block;
    }
  }
  lane.blocks.erase(kept, lane.blocks.end());
  lane.settled = lane.blocks.size();
}

void SpanBins::coarsen_settled(Lane& lane, std::int64_t bins_in_one) const {
  for (Block& block : lane.blocks) {
    block.bin /= bins_in_one;
    if (!by_job_) block.who.job = JobId::none();
  }
  // Only what is in one bin now can be out of order.
  for (auto from = lane.blocks.begin(); from != lane.blocks.end();) {
    const auto to = std::ranges::find_if(from, lane.blocks.end(), [&](const Block& b) { return b.bin != from->bin; });
    std::ranges::sort(from, to, {}, key);
    from = to;
  }
  merge_equal(lane, lane.blocks.begin());
}

void SpanBins::coarsen() {
  blocks_ = 0;
  for (Lane& lane : lanes_) {
    settle(lane);
    blocks_ += lane.blocks.size();
  }
  if (blocks_ <= limit_) return;
  // However wide the bins are, each lane has a summary of each of its jobs.
  const bool drops_jobs = by_job_ && last_bin_ + 1 < 2 * kFewestBins;
  if (drops_jobs) {
    by_job_ = false;
  } else {
    width_ = width_ * 2;
    last_bin_ /= 2;
  }
  blocks_ = 0;
  for (Lane& lane : lanes_) {
    coarsen_settled(lane, drops_jobs ? 1 : 2);
    blocks_ += lane.blocks.size();
  }
}

void SpanBins::finish() {
  while (blocks_ > limit_ && (by_job_ || last_bin_ > 0)) coarsen();
  for (Lane& lane : lanes_) settle(lane);
}

std::vector<TimelineSpan> SpanBins::take(std::size_t lane, std::vector<SpanKind>& kinds) {
  std::vector<TimelineSpan> spans;
  const std::vector<Block>& blocks = lanes_[lane].blocks;
  const auto alone = [&](std::size_t i) {
    return (i == 0 || blocks[i - 1].bin != blocks[i].bin) &&
           (i + 1 == blocks.size() || blocks[i + 1].bin != blocks[i].bin);
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    const auto [at, is_new] =
        kind_of_.try_emplace({block.who.job.value(), block.who.transfer}, static_cast<std::uint32_t>(kinds.size()));
    if (is_new) kinds.push_back({.job = block.who.job, .op = "", .transfer = block.who.transfer});
    const double share = static_cast<double>(block.busy.ns()) / static_cast<double>(width_.ns());
    const TimelineSpan span = {.start = width_ * block.bin,
                               .end = width_ * (block.bin + 1),
                               .kind = at->second,
                               .number = block.count,
                               .share = std::max(0.01, std::round(share * 100) / 100)};
    // A job that is alone and equally busy in the next bin: one summary over both.
    if (!spans.empty() && alone(i) && alone(i - 1) && spans.back().end == span.start &&
        spans.back().kind == span.kind && spans.back().share == span.share) {
      spans.back().end = span.end;
      spans.back().number += span.number;
    } else {
      spans.push_back(span);
    }
  }
  lanes_[lane] = {};
  return spans;
}

}  // namespace contend
