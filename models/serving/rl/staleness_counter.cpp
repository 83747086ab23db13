#include "models/serving/rl/staleness_counter.hpp"

#include "sim/check.hpp"

#include <cmath>

namespace contend {

namespace {

/// A product of decimals that is whole may miss its number by a rounding.
std::int64_t rounded_up(double groups) {
  constexpr double kRounding = 1e-9;
  return static_cast<std::int64_t>(std::ceil(groups * (1 - kRounding)));
}

}  // namespace

StalenessCounter::StalenessCounter(const StalenessBound& bound, BatchOrder order)
    : bound_{bound},
      order_{order},
      per_version_{bound.groups * bound.every},
      beyond_{rounded_up(static_cast<double>(bound.groups * bound.every) * bound.eta)} {
  CONTEND_CHECK(bound.groups >= 1 && bound.every >= 1 && bound.eta >= 0, "a bound of staleness that lets none begin");
}

GroupNumber StalenessCounter::begin() {
  groups_.push_back({version_, std::nullopt});
  ++running_;
  return std::ssize(groups_) - 1;
}

void StalenessCounter::score(GroupNumber group, bool is_kept) {
  Group& scored = groups_[static_cast<std::size_t>(group)];
  CONTEND_CHECK(!scored.is_kept, "a group is scored twice");
  scored.is_kept = is_kept;
  --running_;
  accepted_ += is_kept ? 1 : 0;
  if (order_ == BatchOrder::finished) {
    if (is_kept) ready_.push_back(group);
  } else if (order_ == BatchOrder::submitted || running_ == 0) {
    make_ready_in_order();
  }
}

void StalenessCounter::make_ready_in_order() {
  for (; looked_at_ < begun() && groups_[static_cast<std::size_t>(looked_at_)].is_kept; ++looked_at_)
    if (*groups_[static_cast<std::size_t>(looked_at_)].is_kept) ready_.push_back(looked_at_);
}

std::vector<TakenGroup> StalenessCounter::take() {
  CONTEND_CHECK(has_batch(), "a training begins without its groups");
  std::vector<TakenGroup> batch;
  for (std::int64_t g = 0; g < bound_.groups; ++g) {
    const GroupNumber group = ready_.front();
    ready_.pop_front();
    batch.push_back({group, version_ - groups_[static_cast<std::size_t>(group)].version});
  }
  return batch;
}

std::int64_t StalenessCounter::drop_ready() {
  const std::int64_t dropped = std::ssize(ready_);
  accepted_ -= dropped;
  ready_.clear();
  return dropped;
}

}  // namespace contend
