#pragma once
// Laws of durations: times between failures, and of repairs. A law is a row of duration_laws().

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// What a law has beside its mean.
enum class LawParameter : std::uint8_t {
  none,
  shape,  ///< > 0: of a Weibull law below 1 the failure rate falls with time, above 1 it grows
  sigma   ///< >= 0: the standard deviation of the logarithm
};

/// A kind of law. `location` is what follows once from the mean in ns and the parameter, and `draw` takes both.
struct LawKind {
  std::string_view name;
  LawParameter parameter = LawParameter::none;
  double (*location)(double mean_ns, double parameter);
  double (*draw)(RandomStream& stream, double location, double parameter);
};

/// All kinds of laws; the first is the default of scenarios.
[[nodiscard]] std::span<const LawKind> duration_laws();

/// Times between failures of single jobs are mostly taken as exponential; times between failures of clusters have a
/// Weibull law with a shape below 1, and repairs a log-normal law with a heavy tail (Schroeder and Gibson, DSN 2006).
class DurationLaw {
 public:
  static constexpr Time kLongest = Time::seconds(100LL * 365 * 86'400);

  /// A law of a kind of duration_laws() with a mean > 0 of at most kLongest, and its parameter, if it has one.
  DurationLaw(const LawKind& kind, Time mean, double parameter = 0);
  [[nodiscard]] static DurationLaw constant(Time value);
  [[nodiscard]] static DurationLaw exponential(Time mean);
  [[nodiscard]] static DurationLaw weibull(Time mean, double shape);
  [[nodiscard]] static DurationLaw lognormal(Time mean, double sigma);

  /// At least a nanosecond; never() if it is longer than kLongest.
  [[nodiscard]] Time draw(RandomStream& stream) const;
  [[nodiscard]] Time mean() const { return mean_; }
  [[nodiscard]] bool operator==(const DurationLaw&) const = default;

 private:
  const LawKind* kind_;
  Time mean_;
  double parameter_ = 0;
  double location_ = 0;
};

}  // namespace contend
