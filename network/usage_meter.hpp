#pragma once
// UsageMeter accumulates the totals of the transfers of a job or on an interface over time.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// Measures the time with at least one active transfer and the time with at least one contended transfer, and counts
/// transfers and their bytes.
class UsageMeter {
 public:
  /// Changes the numbers of active and of contended transfers from `now` on.
  void change(int active, int contended, Time now) {
    bring_to(now);
    active_ += active;
    contended_ += contended;
  }
  void count_transfer(Bytes bytes) {
    ++usage_.transfers;
    usage_.bytes += bytes;
  }
  /// The totals, if nothing is active.
  [[nodiscard]] const NetworkModel::Usage& ended() const { return usage_; }
  /// Adds to the totals.
  void add(const NetworkModel::Usage& more) { usage_ = usage_ + more; }
  /// The totals at `now`.
  [[nodiscard]] NetworkModel::Usage at(Time now) const {
    UsageMeter copy = *this;
    copy.bring_to(now);
    return copy.usage_;
  }
  /// As LeapableNetwork::leap_usage.
  void leap(const NetworkModel::Usage& per_period, std::int64_t times, Time by) {
    usage_.active += per_period.active * times;
    usage_.contended += per_period.contended * times;
    usage_.transfers += per_period.transfers * times;
    usage_.bytes += per_period.bytes * times;
    since_ += by;
  }

 private:
  void bring_to(Time now) {
    if (active_ > 0) usage_.active += now - since_;
    if (contended_ > 0) usage_.contended += now - since_;
    since_ = now;
  }

  NetworkModel::Usage usage_;
  Time since_;
  int active_ = 0;
  int contended_ = 0;
};

}  // namespace contend
