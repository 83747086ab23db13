#pragma once
// What the transfers of a job, or those on an interface, accumulate over time.

#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// Accumulates the time in which a count is at least one, and at least one of them is contended.
class UsageMeter {
 public:
  void change(int active, int contended, Time now) {
    bring_to(now);
    active_ += active;
    contended_ += contended;
  }
  void count_transfer(Bytes bytes) {
    ++usage_.transfers;
    usage_.bytes += bytes;
  }
  [[nodiscard]] NetworkModel::Usage at(Time now) const {
    UsageMeter copy = *this;
    copy.bring_to(now);
    return copy.usage_;
  }
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
