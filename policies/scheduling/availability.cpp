#include "policies/scheduling/availability.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace contend {

namespace {

constexpr std::size_t kMostBounds = 64;
constexpr Time kUnknown = Time::never();

template <class List>
auto iterator_at(List& list, std::size_t index) {
  return list.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

Availability::Availability(std::int64_t free, std::size_t steps_per_block) : most_{steps_per_block} {
  CONTEND_CHECK(steps_per_block >= 2, "a block can be split");
  blocks_.push_back({{{Time{}, free}}, 0, free, free});
  begins_.emplace_back();
}

void Availability::Block::measure() {
  smallest = INT64_MAX;
  largest = INT64_MIN;
  for (const Step& step : steps) {
    smallest = std::min(smallest, step.amount);
    largest = std::max(largest, step.amount);
  }
  smallest += added;
  largest += added;
}

Availability::Place Availability::find(Time time) const {
  const auto block = std::upper_bound(begins_.begin(), begins_.end(), time) - begins_.begin() - 1;
  const std::vector<Step>& steps = blocks_[static_cast<std::size_t>(block)].steps;
  const auto step = std::ranges::upper_bound(steps, time, {}, &Step::begin) - steps.begin() - 1;
  return {static_cast<std::size_t>(block), static_cast<std::size_t>(step)};
}

Availability::Place Availability::next(Place place) const {
  if (place.step + 1 < blocks_[place.block].steps.size()) return {place.block, place.step + 1};
  return {place.block + 1, 0};
}

void Availability::split(std::size_t index) {
  Block behind;
  std::vector<Step>& steps = blocks_[index].steps;
  const auto half = iterator_at(steps, steps.size() / 2);
  behind.steps.assign(half, steps.end());
  behind.added = blocks_[index].added;
  steps.erase(half, steps.end());
  blocks_[index].measure();
  behind.measure();
  begins_.insert(iterator_at(begins_, index + 1), behind.steps.front().begin);
  blocks_.insert(iterator_at(blocks_, index + 1), std::move(behind));
  for (Bounds& bounds : bounds_) {
    bounds.longest.insert(iterator_at(bounds.longest, index + 1), bounds.longest[index]);
  }
}

void Availability::drop_blocks(std::size_t first, std::size_t last) {
  const auto drop = [&](auto& list) { list.erase(iterator_at(list, first), iterator_at(list, last)); };
  drop(blocks_);
  drop(begins_);
  for (Bounds& bounds : bounds_) drop(bounds.longest);
}

void Availability::begin_step(Time time) {
  const auto [block, step] = find(time);
  std::vector<Step>& steps = blocks_[block].steps;
  if (steps[step].begin == time) return;
  steps.insert(iterator_at(steps, step + 1), {time, steps[step].amount});
  ++steps_;
  if (steps.size() > most_) split(block);
}

void Availability::join(Time time) {
  const Place place = find(time);
  const auto [block, step] = place;
  if (block == 0 && step == 0) return;
  const Place before = step > 0 ? Place{block, step - 1} : Place{block - 1, blocks_[block - 1].steps.size() - 1};
  if (amount(before) != amount(place)) return;
  std::vector<Step>& steps = blocks_[block].steps;
  steps.erase(iterator_at(steps, step));
  --steps_;
  if (steps.empty()) {
    drop_blocks(block, block + 1);
  } else if (step == 0) {
    begins_[block] = steps.front().begin;
    blocks_[block].measure();
  }
}

void Availability::subtract(std::size_t index, std::size_t first, std::size_t last, std::int64_t width) {
  Block& block = blocks_[index];
  if (last - first == block.steps.size()) {
    block.added -= width;
    block.smallest -= width;
    block.largest -= width;
    return;
  }
  for (std::size_t i = first; i < last; ++i) block.steps[i].amount -= width;
  block.measure();
}

void Availability::forget_bounds(Place from, Place to, bool gaps_grow) {
  std::size_t first = from.block;
  const std::size_t last = std::min(to.block + 1, blocks_.size());
  if (gaps_grow && !bounds_.empty()) {  // and those that begin before them
    const std::int64_t least = std::ranges::min_element(bounds_, {}, &Bounds::width)->width;
    bool reaches = true;
    while (first > 0 && reaches) reaches = blocks_[--first].smallest >= least;
  }
  for (Bounds& bounds : bounds_) {
    std::fill(iterator_at(bounds.longest, first), iterator_at(bounds.longest, last), kUnknown);
  }
}

void Availability::take(Time from, Time to, std::int64_t width) {
  if (from >= to || width == 0) return;
  begin_step(from);
  if (to != Time::never()) begin_step(to);
  const Place first = find(from);
  const Place last = to != Time::never() ? find(to) : Place{blocks_.size(), 0};
  for (std::size_t block = first.block; block <= last.block && block < blocks_.size(); ++block) {
    const std::size_t begin = block == first.block ? first.step : 0;
    const std::size_t end = block == last.block ? last.step : blocks_[block].steps.size();
    if (begin < end) subtract(block, begin, end, width);
  }
  forget_bounds(first, last, width < 0);
  if (to != Time::never()) join(to);
  join(from);
}

Availability::Bounds* Availability::bounds_of(std::int64_t width) {
  const auto at = std::ranges::lower_bound(bounds_, width, {}, &Bounds::width);  // the first that is not smaller
  if (at != bounds_.end() && at->width == width) return &*at;
  if (bounds_.size() < kMostBounds) {
    return &*bounds_.insert(at, {width, std::vector<Time>(blocks_.size(), kUnknown)});
  }
  return nullptr;
}

Time Availability::end_of_gap(Place place, std::int64_t width) const {
  for (auto [block, step] = place; block < blocks_.size(); ++block, step = 0) {
    if (blocks_[block].smallest >= width) continue;
    const std::vector<Step>& steps = blocks_[block].steps;
    const std::int64_t enough = width - blocks_[block].added;
    while (step < steps.size() && steps[step].amount >= enough) ++step;
    if (step < steps.size()) return steps[step].begin;
  }
  return Time::never();
}

Time Availability::gap_in(Place behind, bool is_open, Time length, std::int64_t width, Time& longest) const {
  const Block& block = blocks_[behind.block];
  const std::int64_t enough = width - block.added;
  const std::size_t count = block.steps.size();
  for (std::size_t step = behind.step;;) {
    while (is_open && step < count && block.steps[step].amount >= enough) ++step;
    while (step < count && block.steps[step].amount < enough) ++step;
    if (step == count) return Time::never();
    const Time begin = block.steps[step].begin;
    const Time end = end_of_gap({behind.block, step}, width);
    if (end == Time::never() || end - begin >= length) return begin;
    longest = std::max(longest, end - begin);
    is_open = true;
  }
}

Time Availability::earliest(Time from, Time length, std::int64_t width) {
  const Place first = find(from);
  bool is_open = amount(first) >= width;
  if (is_open) {
    const Time end = end_of_gap(first, width);
    if (end == Time::never() || end - from >= length) return from;
  }
  Time ignored;
  if (const Time found = gap_in(first, is_open, length, width, ignored); found != Time::never()) return found;
  Bounds* const bounds = bounds_of(width);
  for (std::size_t block = first.block + 1; block < blocks_.size(); ++block) {
    if (bounds != nullptr && bounds->longest[block] < length) continue;
    Time longest;
    if (blocks_[block].largest >= width) {
      is_open = blocks_[block - 1].amount(blocks_[block - 1].steps.size() - 1) >= width;
      const Time found = gap_in({block, 0}, is_open, length, width, longest);
      if (found != Time::never()) return found;
    }
    if (bounds != nullptr) bounds->longest[block] = longest;
  }
  return Time::never();
}

void Availability::forget(Time now) {
  begin_step(now);
  const auto [block, step] = find(now);
  for (std::size_t i = 0; i < block; ++i) steps_ -= blocks_[i].steps.size();
  drop_blocks(0, block);
  if (step == 0) return;
  std::vector<Step>& steps = blocks_.front().steps;
  steps.erase(steps.begin(), iterator_at(steps, step));
  steps_ -= step;
  blocks_.front().measure();
  begins_.front() = now;
}

}  // namespace contend
