// Workloads against days that they have not seen. Each is fitted, by scripts/fit_workloads.py --first-half, to the
// first half of the days of a trace; its drawings are compared with the second half. No model of the first half can be
// expected to be nearer to the second than the first half itself is, so that distance, computed here from the data, is
// the measure: replicas may on average be 1.5 times as far, plus three standard errors of that average.
//
// What this shows: the form of the model and the procedure of the fit add little to what the days of a trace differ
// anyway, and don't depend on having seen the days that they are judged by. What the test can't show: that a cluster in
// a later month looks like the drawing. The halves of these traces differ much (helios-venus: half of the jobs by size;
// philly: twice the rate), and where they do, the bound is as wide. Nor does it judge the numbers of the shipped
// tables, which are fitted to both halves: against_traces_published_test.cpp does.

#include "tests/effort.hpp"
#include "tests/models/workloads/trace_kit.hpp"
#include "tests/near.hpp"
#include "tests/skip.hpp"
#include "validate/workloads/first_half.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr std::array<const char*, 7> kMeasures{"durations", "sizes", "gaps", "GPU time", "rate", "hourly", "daily"};
using Distances = std::array<double, kMeasures.size()>;

/// KS distances of durations and gaps, total variation of sizes, and logarithms of ratios of the mean GPU time, the
/// rate, and the variation of the hourly and daily counts.
Distances distances(const Sample& a, const Sample& b) {
  return {distance(a.durations, b.durations),
          distance(a, b),
          distance(gaps(a), gaps(b)),
          std::log(a.mean_gpu_time() / b.mean_gpu_time()),
          std::log(a.jobs_per_second() / b.jobs_per_second()),
          std::log(burstiness(a, 3600) / burstiness(b, 3600)),
          std::log(burstiness(a, 86400) / burstiness(b, 86400))};
}

/// Mean and standard error of distances of replicas.
struct Replicas {
  Distances mean{}, error{};
};

constexpr int kDrawings = 10;

Replicas replicas(const FittedWorkload& fit, const Sample& unseen, const std::function<void(Sample&)>& change) {
  Distances sum{}, squares{};
  for (std::uint64_t seed = 1; seed <= kDrawings; ++seed) {
    Sample drawn = draw_like(fit, seed);
    change(drawn);
    const Distances each = distances(drawn, unseen);
    for (std::size_t i = 0; i < each.size(); ++i) {
      sum[i] += each[i];
      squares[i] += each[i] * each[i];
    }
  }
  Replicas result;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = sum[i] / kDrawings;
    result.mean[i] = mean;
    result.error[i] = std::sqrt(std::max(0.0, squares[i] / kDrawings - mean * mean) / (kDrawings - 1));
  }
  return result;
}

/// A deviation that is known to be at the bound or beyond it.
struct Known {
  double expected, half_width;
};

void check_held_out(const Trace& trace, const FittedWorkload& fit, const std::map<std::string, Known>& known = {}) {
  if (kSanitized) return skip_case("drawings are compared with traces in optimised builds only");
  const std::optional<Sample> found = read_trace(trace);
  if (!found) return;
  const double middle = trace.begin + 86400 * fit.fitted_days;
  const Sample seen = found->between(trace.begin, middle);
  const Sample unseen = found->between(middle, std::numeric_limits<double>::infinity());
  REQUIRE(static_cast<std::int64_t>(seen.submits.size()) == fit.fitted_jobs);
  const Distances halves = distances(seen, unseen);
  const Replicas drawn = replicas(fit, unseen, [](Sample&) {});
  Distances bound{};
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    bound[i] = 1.5 * std::abs(halves[i]) + 3 * drawn.error[i];
    INFO(kMeasures[i] << ": the halves differ by " << halves[i] << ", drawn and unseen by " << drawn.mean[i] << " +- "
                      << drawn.error[i]);
    if (const auto entry = known.find(kMeasures[i]); entry != known.end()) {
      CHECK(drawn.mean[i] == near_absolute(entry->second.expected, entry->second.half_width));
    } else {
      CHECK(std::abs(drawn.mean[i]) <= bound[i]);
    }
  }
  // The bounds are not so wide that anything passes: a wrong drawing is beyond the one that should see it.
  const auto beyond = [&](std::size_t measure, const std::function<void(Sample&)>& change) {
    INFO("control: " << kMeasures[measure]);
    CHECK(std::abs(replicas(fit, unseen, change).mean[measure]) > bound[measure]);
  };
  beyond(3, [](Sample& jobs) {
    for (double& duration : jobs.durations) duration *= 10;
  });
  beyond(1, [](Sample& jobs) {
    for (int& gpus : jobs.gpus) gpus *= 1024;
  });
  beyond(4, [](Sample& jobs) {
    for (double& submit : jobs.submits) submit *= 10;
  });
  beyond(6, [](Sample& jobs) {  // evenly, without days, hours or batches
    const double span = static_cast<double>(jobs.submits.size()) / jobs.jobs_per_second();
    for (std::size_t i = 0; i < jobs.submits.size(); ++i)
      jobs.submits[i] = span * static_cast<double>(i) / static_cast<double>(jobs.submits.size());
  });
}

}  // namespace

TEST_CASE("published: philly fitted to 45 days, against the next 45") {
  // The counts of hours and days vary less than in the second half by about e^0.2 and e^0.6, at 1.5 times the
  // difference of the halves: batches and days are independent in the model, and a day of an outage or of a deadline
  // changes the rate of its hours together.
  check_held_out(kPhilly, first_half_of("philly"), {{"hourly", {-0.21, 0.08}}, {"daily", {-0.61, 0.2}}});
}

TEST_CASE("published: helios-venus fitted to 13 days, against the next 13") {
  check_held_out(kHeliosVenus, first_half_of("helios-venus"));
}

TEST_CASE("published: openb fitted to 17 days, against the next 18") {
  check_held_out(kOpenb, first_half_of("openb"));
}
