#pragma once
// FailureSpec says what fails in a run, how often, and what happens then: components of the cluster, jobs by
// themselves, and outages of a list. Everything is drawn from streams of its own, one for each component and one for
// each job, so that another policy meets the same failures.

#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A law of durations. Times between failures of single jobs are mostly taken as exponential; those of clusters have a
/// Weibull law with a shape below 1, and repairs a log-normal law with a heavy tail (Schroeder and Gibson, DSN 2006).
class DurationLaw {
 public:
  /// All means and medians are > 0 and at most kLongest.
  [[nodiscard]] static DurationLaw constant(Time value);
  [[nodiscard]] static DurationLaw exponential(Time mean);
  /// shape > 0: below 1 the failure rate falls with time, above 1 it grows.
  [[nodiscard]] static DurationLaw weibull(Time mean, double shape);
  /// sigma >= 0: the standard deviation of the logarithm.
  [[nodiscard]] static DurationLaw lognormal(Time mean, double sigma);
  static constexpr Time kLongest = Time::seconds(100LL * 365 * 86'400);

  /// At least a nanosecond; never() if it is longer than kLongest.
  [[nodiscard]] Time draw(RandomStream& stream) const;
  [[nodiscard]] Time mean() const { return mean_; }
  [[nodiscard]] bool operator==(const DurationLaw&) const = default;

 private:
  enum class Kind : std::uint8_t { constant, exponential, weibull, lognormal };
  DurationLaw(Kind kind, Time mean, double shape);
  Kind kind_;
  Time mean_;
  double shape_ = 0;     // of Weibull, or sigma
  double location_ = 0;  // in ns: mean, scale, or the mean of the logarithm
};

/// What a component does while something ails it: how much longer its work takes, in thousandths. A component that does
/// not work at all has none.
struct Slowdown {
  static constexpr std::int32_t kFullPace = 1'000;
  static constexpr std::int32_t kSlowest = 1'000'000;
  std::int32_t compute = kFullPace;  ///< of the tasks on its GPUs, kFullPace..kSlowest: 1300 is 1.3 times as long
  std::int32_t network = kFullPace;  ///< of each byte of a transfer that touches one of its servers, likewise
  bool operator==(const Slowdown&) const = default;
};

/// `rest` of a task at one pace, at another: rest x now / before, rounded up.
[[nodiscard]] Time stretched(Time rest, std::int32_t now, std::int32_t before);

/// Components that fail alike. They divide the GPUs of the cluster in order of their ids; the last may have fewer.
struct ComponentClass {
  std::string name;                 ///< part of the names of the random streams
  int gpus = 1;                     ///< of one component: 1 for a GPU, those of a server, of a rack, ...; >= 1
  bool drains = false;              ///< a failure takes down whole servers, though the component is a part of one
  DurationLaw failure;              ///< of the time for which a component works, whether jobs use it or not
  DurationLaw repair;               ///< of the time until it works again
  std::optional<Slowdown> slows{};  ///< given: a failure slows it down and interrupts nobody
};

/// GPUs first, ..., last - 1 that don't work in [from, until).
struct Outage {
  Time from, until;
  std::uint32_t first = 0, last = 0;
  std::optional<Slowdown> slows{};  ///< as in ComponentClass
  /// Given: the outage is planned. From this time on, at most `from`, the GPUs are withheld as jobs leave them. What
  /// still runs at `from` is interrupted without detection and diagnosis, and nothing counts as a failure.
  std::optional<Time> drain{};
};

struct FailureSpec {
  std::vector<ComponentClass> components;
  std::vector<Outage> outages;
  /// Of the time for which a job runs until it fails by itself, whatever its size; no GPU is down then.
  std::optional<DurationLaw> of_jobs{};
  /// Of the time of each task: it is drawn anew, log-normal with the planned time as its median and this standard
  /// deviation of its logarithm. 0: tasks take as long as planned. A run with jitter does not leap.
  double jitter = 0;
  std::uint64_t seed = 1;

  /// From the failure until the job is back in the queue: until somebody notices, and until the cause is known.
  Time detection, diagnosis;
  bool holds_gpus = true;      ///< until then the job keeps those of its GPUs that work
  bool requeues_last = false;  ///< it queues as if it were submitted then; false: as when it was submitted first
  /// Interruptions after which a job queues again; with one more it ends, failed. Not given: any number.
  std::optional<int> retries{};
  int spares = 0;    ///< the last servers of the cluster, which no job gets while enough others work
  Time spare_delay;  ///< until a spare takes the place of a server that failed

  /// True if anything is slower than planned at some time.
  [[nodiscard]] bool slows() const;

  [[nodiscard]] bool any() const {
    return !components.empty() || !outages.empty() || of_jobs.has_value() || spares > 0 || jitter > 0;
  }
};

}  // namespace contend
