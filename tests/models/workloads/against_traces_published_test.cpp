// What the form of the model loses: jobs drawn like a whole trace against that trace, to which the workload was fitted.
// This shows whether a table of figures describes the trace it came from; whether it holds for other days shows
// tests/validate/held_out_published_test.cpp. The figures are the figures of docs/models/workloads.md with bands a few
// times as wide as other seeds would move them, so that a change of the fit or the draw shows up, for the better too.

#include "tests/effort.hpp"
#include "tests/models/workloads/trace_kit.hpp"
#include "tests/near.hpp"
#include "tests/skip.hpp"

#include <cstdint>
#include <optional>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Band {
  double expected, half_width;
};

/// Distances of ten replicas from the trace, and ratios of drawn to real.
struct Fidelity {
  Band durations, sizes, gaps, gpu_time, hourly, daily;
};

void check_band(const char* what, double found, const Band& band) {
  INFO(what);
  CHECK(found == near_absolute(band.expected, band.half_width));
}

void compare(const Trace& trace, const Fidelity& expected) {
  if (kSanitized) return skip_case("drawings are compared with traces in optimised builds only");
  const std::optional<Sample> found = read_trace(trace);
  if (!found) return;
  const Sample& real = *found;
  const FittedWorkload& fit = *find_fitted_workload(trace.name);
  CHECK(static_cast<std::int64_t>(real.submits.size()) == fit.fitted_jobs);
  Sample drawn;
  double hourly = 0, daily = 0;
  constexpr int kReplicas = 10;
  for (std::uint64_t seed = 1; seed <= kReplicas; ++seed) {
    const Sample replica = draw_like(fit, seed);
    for (std::size_t i = 0; i < replica.submits.size(); ++i)
      drawn.add(1e9 * static_cast<double>(seed) + replica.submits[i], replica.durations[i], replica.gpus[i]);
    hourly += burstiness(replica, 3600) / kReplicas;
    daily += burstiness(replica, 86400) / kReplicas;
  }
  check_band("durations, KS", distance(real.durations, drawn.durations), expected.durations);
  check_band("sizes, total variation", distance(real, drawn), expected.sizes);
  check_band("gaps, KS", distance(gaps(real), gaps(drawn)), expected.gaps);
  check_band("GPU time", drawn.mean_gpu_time() / real.mean_gpu_time(), expected.gpu_time);
  check_band("variation of hourly counts", hourly / burstiness(real, 3600), expected.hourly);
  check_band("variation of daily counts", daily / burstiness(real, 86400), expected.daily);
}

}  // namespace

TEST_CASE("published: like philly, against the trace it is fitted to") {
  compare(kPhilly, {.durations = {0.034, 0.01},
                    .sizes = {0.001, 0.003},
                    .gaps = {0.047, 0.01},
                    .gpu_time = {1.01, 0.05},
                    .hourly = {1.00, 0.06},
                    .daily = {0.84, 0.1}});
}

TEST_CASE("published: like helios-venus, against the slice of Helios Venus") {
  // One batch of 313 jobs is a sixth of this trace. A drawing may have none or several, which moves the gaps; the
  // busiest hours, which it makes, vary by 30% less. The factors of days are the factors of the GPU time submitted,
  // which varies less than the counts.
  compare(kHeliosVenus, {.durations = {0.042, 0.02},
                         .sizes = {0.047, 0.03},
                         .gaps = {0.324, 0.05},
                         .gpu_time = {0.80, 0.2},
                         .hourly = {0.70, 0.12},
                         .daily = {0.77, 0.15}});
}

TEST_CASE("published: like openb, against OpenB") {
  // The busiest hours and days are outbursts of several users at once, which independent batches don't have, and which
  // bring little GPU time, to which the factors of days are fitted.
  compare(kOpenb, {.durations = {0.022, 0.01},
                   .sizes = {0.001, 0.003},
                   .gaps = {0.084, 0.015},
                   .gpu_time = {0.90, 0.1},
                   .hourly = {0.78, 0.06},
                   .daily = {0.54, 0.1}});
}
