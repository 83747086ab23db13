#include "calibration/measure.hpp"

#include "calibration/median.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kMostLaunches = 1 << 20;
constexpr int kFastestGrowth = 10;
/// Samples after which drift is tested for even if the interval is still wide.
constexpr std::size_t kLooks = 32;
/// The largest share of the limit that one sample may take, so that enough of them fit.
constexpr double kLargestShare = 0.05;

/// From here on an operation is a heavy one.
constexpr double kHeavySeconds = 1e-3;

/// Where and why a measurement ends early.
struct Stop {
  contend_status status;
  std::string reason;
};

std::string reason_of(contend_status status, const char* message) {
  return *message == '\0' ? std::string{to_string(status)} : std::string{message};
}

/// An operation made ready on the device, as long as the object is there.
class Prepared {
 public:
  Prepared(const contend_backend& backend, const OperatorInfo& info, DataType type, const OperatorShape& shape)
      : backend_{backend}, name_{info.name}, type_{to_string(type)} {
    CONTEND_CHECK(shape.size() == info.dimensions.size() && shape.size() <= CONTEND_MAX_DIMENSIONS,
                  "a shape of other dimensions than its operator's");
    contend_operation operation{};
    operation.name = name_.c_str();
    operation.type = type_.c_str();
    operation.dimensions = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), std::begin(operation.shape));
    std::array<char, 256> message{};
    const contend_status status = backend.prepare(&operation, &prepared_, message.data(), message.size());
    if (status != CONTEND_OK) throw Stop{status, reason_of(status, message.data())};
  }
  ~Prepared() { backend_.release(prepared_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  /// Seconds of so many executions.
  double run(int launches) {
    std::array<char, 256> message{};
    double seconds = 0;
    const contend_status status = backend_.run(prepared_, launches, &seconds, message.data(), message.size());
    if (status != CONTEND_OK) throw Stop{status, reason_of(status, message.data())};
    if (!(seconds >= 0) || !std::isfinite(seconds))
      throw Stop{CONTEND_FAILED, fmt::format("the device reports a time of {} s", seconds)};
    return seconds;
  }

 private:
  const contend_backend& backend_;
  std::string name_, type_;
  void* prepared_ = nullptr;
};

class Repetition {
 public:
  Repetition(Prepared& prepared, const RepetitionRules& rules, const WallClock& clock)
      : prepared_{prepared}, rules_{rules}, clock_{clock}, begin_{clock()} {}

  MeasuredOperation measure() {
    warm_up();
    while (static_cast<int>(samples_.size()) < rules_.most_samples) {
      if (enough_samples() && !fits_another()) break;
      samples_.push_back(prepared_.run(launches_) / launches_);
      if (static_cast<int>(samples_.size()) < rules_.least_samples) continue;
      const bool done = narrow();
      if (!done && samples_.size() % kLooks != 0) continue;
      // The device is still warming up, or another process has come or gone: keep the later half.
      if (drifts(samples_, rules_.half_width))
        samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(samples_.size() / 2));
      else if (done)
        break;
    }
    return result();
  }

 private:
  [[nodiscard]] double elapsed() const { return clock_() - begin_; }
  [[nodiscard]] bool enough_samples() const { return samples_.size() >= kLeastForInterval; }
  [[nodiscard]] bool fits_another() const { return elapsed() + last_ <= rules_.limit_seconds; }
  [[nodiscard]] bool narrow() const { return median_interval(samples_).half_width() <= rules_.half_width; }

  /// Finds how many executions make a sample, and runs them for as long as a warm-up takes.
  void warm_up() {
    const double wanted = std::min(rules_.sample_seconds, kLargestShare * rules_.limit_seconds);
    for (bool first = true;; first = false) {
      last_ = prepared_.run(launches_);
      // The first run may include lazy loading, so it only counts if it is hopelessly slow.
      const double patience = std::max(rules_.limit_seconds, rules_.patience_seconds);
      const bool hopeless = last_ > patience;
      if (launches_ == 1 && (hopeless || (!first && elapsed() + kLeastForInterval * last_ > patience)))
        throw Stop{CONTEND_OK, fmt::format("too slow: {:.3g} s each, and {:.3g} s for {} of them", last_, patience,
                                           kLeastForInterval)};
      if (last_ >= wanted) {
        const double least = last_ / launches_ >= kHeavySeconds
                                 ? std::max(rules_.warm_up_seconds, rules_.heavy_warm_up_seconds)
                                 : rules_.warm_up_seconds;
        if (!first && elapsed() >= std::min(least, rules_.limit_seconds / 2)) return;
        continue;
      }
      if (launches_ == kMostLaunches) {
        if (last_ > 0) return;
        throw Stop{CONTEND_FAILED, "the device's clock does not advance"};
      }
      const double growth = last_ > 0 ? std::min(1.2 * wanted / last_, double{kFastestGrowth}) : kFastestGrowth;
      launches_ = std::min(static_cast<int>(std::ceil(launches_ * growth)), kMostLaunches);
    }
  }

  [[nodiscard]] MeasuredOperation result() const {
    const MedianInterval interval = median_interval(samples_);
    MeasuredOperation out;
    out.launches = launches_;
    out.outliers = static_cast<int>(count_outliers(samples_));
    out.drifted = drifts(samples_, rules_.half_width);
    if (interval.median > 0)
      out.sample = OperatorSample{.shape = {},
                                  .seconds = interval.median,
                                  .half_width = interval.half_width(),
                                  .repetitions = static_cast<int>(samples_.size())};
    else
      out.status = CONTEND_FAILED, out.reason = "most executions took no time by the device's clock";
    return out;
  }

  Prepared& prepared_;
  const RepetitionRules& rules_;
  const WallClock& clock_;
  double begin_;
  int launches_ = 1;
  double last_ = 0;  ///< seconds of the last sample of the warm-up
  std::vector<double> samples_;
};

}  // namespace

MeasuredOperation measure(const contend_backend& backend, const OperatorInfo& info, DataType type,
                          const OperatorShape& shape, const RepetitionRules& rules, const WallClock& clock) {
  try {
    Prepared prepared{backend, info, type, shape};
    MeasuredOperation out = Repetition{prepared, rules, clock}.measure();
    if (out.sample) out.sample->shape = shape;
    return out;
  } catch (const Stop& stop) {
    MeasuredOperation out;
    out.status = stop.status;
    out.reason = stop.reason;
    return out;
  }
}

std::string unsupported_reason(const contend_backend& backend, const OperatorInfo& info, DataType type,
                               const OperatorShape& shape) {
  try {
    const Prepared prepared{backend, info, type, shape};
    return {};
  } catch (const Stop& stop) {
    return stop.status == CONTEND_UNSUPPORTED ? stop.reason : std::string{};
  }
}

std::string_view to_string(contend_status status) {
  switch (status) {
    case CONTEND_OK:
      return "ok";
    case CONTEND_NO_DEVICE:
      return "no such device";
    case CONTEND_NO_PERMISSION:
      return "no permission to use the device";
    case CONTEND_BUSY:
      return "the device is in exclusive use";
    case CONTEND_UNSUPPORTED:
      return "not supported here";
    case CONTEND_OUT_OF_MEMORY:
      return "out of memory";
    case CONTEND_FAILED:
      return "the device failed";
    case CONTEND_BROKEN:
      return "the device can no longer be used by this process";
  }
  return "an answer that nobody knows";
}

}  // namespace contend
