#pragma once
// Services that start: functions of a serverless platform, containers of a cluster. Each worker of a job takes a random
// time until it runs, and a job waits for the slowest of its workers. Source of the law and of the figures: cold starts
// of a large serverless platform (sir-lab/data-release, CC-BY 4.0), log-normal with a mean of 3.24 s and a standard
// deviation of 7.10 s.

#include "sim/units.hpp"

#include <cstdint>
#include <string_view>

namespace contend {

/// The time from the moment at which a worker gets its GPU until it runs: log-normal; all alike with a deviation of 0.
struct StartUp {
  Time mean{};  ///< >= 0; 0: workers run at once
  Time deviation{};
  bool operator==(const StartUp&) const = default;
  [[nodiscard]] bool given() const { return mean > Time{}; }
};

/// Mean and standard deviation of the logarithm of such a time in nanoseconds. The mean is above 0.
struct LogNormal {
  double mu = 0, sigma = 0;
};
[[nodiscard]] LogNormal log_of(const StartUp& start);

/// The time until the slowest of so many workers runs, >= 1 of them, drawn from the stream of that name.
[[nodiscard]] Time slowest_start(const StartUp& start, int workers, std::uint64_t seed, std::string_view stream);
/// The mean of that time over all draws, by integration of the law; in seconds.
[[nodiscard]] double mean_slowest_s(const StartUp& start, int workers);

/// Of a function that is kept for `keep_s` after each request, requests being short and a Poisson process of this rate
/// a second: the share that find it cold, e^(-rate x keep).
[[nodiscard]] double cold_share(double rate, double keep_s);

}  // namespace contend
