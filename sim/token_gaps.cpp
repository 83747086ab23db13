#include "sim/token_gaps.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace contend {

namespace {

constexpr std::int64_t kParts = 32;  // of a doubling
constexpr int kPartBits = 5;
constexpr Int128 kGapUnit = 1000;

std::size_t class_of(std::int64_t ns) {
  if (ns < kParts) return static_cast<std::size_t>(ns);
  const int shift = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ns))) - 1 - kPartBits;
  return static_cast<std::size_t>((shift + 1) * kParts + (ns >> shift) - kParts);
}

/// The first nanosecond of a class.
std::int64_t begin_of(std::size_t number) {
  const auto place = static_cast<std::int64_t>(number);
  if (place < kParts) return place;
  return (place % kParts + kParts) << (place / kParts - 1);
}

}  // namespace

void TokenGaps::add_series(Int128 first_ps, Int128 growth_ps, std::int64_t steps, std::int64_t count) {
  while (steps > 0 && count > 0) {
    const auto ns = static_cast<std::int64_t>((first_ps + kGapUnit - 1) / kGapUnit);
    const std::size_t place = class_of(ns);
    std::int64_t here = steps;
    if (growth_ps > 0) {
      // A step is of this class as long as it takes at most the last nanosecond of the class.
      const Int128 last_ps = (Int128{begin_of(place + 1)} - 1) * kGapUnit;
      here = static_cast<std::int64_t>(std::min<Int128>(steps, (last_ps - first_ps) / growth_ps + 1));
    }
    if (counts_.size() <= place) counts_.resize(place + 1);
    counts_[place] += here * count;
    first_ps += growth_ps * here;
    steps -= here;
  }
}

std::int64_t TokenGaps::count() const {
  std::int64_t sum = 0;
  for (const std::int64_t each : counts_) sum += each;
  return sum;
}

Time TokenGaps::quantile(double share) const {
  const double wanted = share * static_cast<double>(count());
  double below = 0;
  for (std::size_t place = 0; place < counts_.size(); ++place) {
    below += static_cast<double>(counts_[place]);
    if (counts_[place] == 0 || below < wanted) continue;
    return Time::nanoseconds((begin_of(place) + begin_of(place + 1) - 1) / 2);
  }
  return Time{};
}

TokenGaps& TokenGaps::operator+=(const TokenGaps& other) {
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t place = 0; place < other.counts_.size(); ++place) counts_[place] += other.counts_[place];
  return *this;
}

}  // namespace contend
