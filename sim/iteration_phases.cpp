#include "sim/iteration_phases.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace contend {

IterationPhases IterationPhases::cycle(std::vector<std::int64_t> lengths) {
  CONTEND_CHECK(!lengths.empty() &&
                    std::ranges::all_of(lengths, [](std::int64_t each) { return each >= 1 && each <= kLongestCycle; }),
                "each phase of a cycle has iterations");
  IterationPhases phases;
  phases.cycle_ = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  CONTEND_CHECK(phases.cycle_ <= kLongestCycle, "a cycle of phases is not too long");
  phases.lengths_ = std::move(lengths);
  return phases;
}

IterationPhases IterationPhases::warm_up(double share) {
  CONTEND_CHECK(share >= 0 && share <= 1, "a warm-up is a share of the iterations");
  IterationPhases phases;
  phases.lengths_.clear();
  phases.warm_up_ = share;
  return phases;
}

std::vector<double> IterationPhases::shares() const {
  if (!repeats()) return {warm_up_, 1 - warm_up_};
  std::vector<double> shares;
  for (const std::int64_t each : lengths_) shares.push_back(static_cast<double>(each) / static_cast<double>(cycle_));
  return shares;
}

std::int64_t IterationPhases::warm_up_end(std::int64_t iterations) const {
  return std::llround(warm_up_ * static_cast<double>(iterations));
}

std::size_t IterationPhases::at(std::int64_t iteration, std::int64_t iterations) const {
  if (!repeats()) return iteration < warm_up_end(iterations) ? 0 : 1;
  std::int64_t position = iteration % cycle_;
  std::size_t phase = 0;
  while (position >= lengths_[phase]) position -= lengths_[phase++];
  return phase;
}

std::int64_t IterationPhases::left(std::size_t phase, std::int64_t from, std::int64_t iterations) const {
  if (!repeats()) {
    const std::int64_t end = warm_up_end(iterations);
    return phase == 0 ? std::max<std::int64_t>(0, end - from) : iterations - std::max(end, from);
  }
  const std::int64_t begin =
      std::accumulate(lengths_.begin(), lengths_.begin() + static_cast<std::ptrdiff_t>(phase), std::int64_t{0});
  const auto before = [&](std::int64_t iteration) {
    return iteration / cycle_ * lengths_[phase] +
           std::clamp<std::int64_t>(iteration % cycle_ - begin, 0, lengths_[phase]);
  };
  return before(iterations) - before(from);
}

std::int64_t IterationPhases::regular_until(std::int64_t iteration, std::int64_t iterations) const {
  return !repeats() && at(iteration, iterations) == 0 ? warm_up_end(iterations) : iterations;
}

}  // namespace contend
