// Sums over jobs that are drawn like each trace. Draws use only operations with the same result on every machine, so
// these figures hold everywhere; whoever changes a table or the drawing on purpose changes them.
#include "models/workloads/synthetic.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

std::string figures(const SyntheticWorkload& options) {
  std::int64_t duration = 0, gpu_time = 0, submits = 0, share = 0, failed = 0, text = 0;
  for (const JobRequest& job : generate_like(options, 64, 5)) {
    const std::int64_t seconds = job.duration->ns() / 1'000'000'000;
    submits += job.submit.ns() / 1'000'000'000;
    duration += seconds;
    gpu_time += seconds * job.gpus;
    share += job.gpu_share + job.milli_cpus;
    failed += job.outcome == JobOutcome::completed ? 0 : 1;
    for (const char c : job.user + job.vc) text += c;
  }
  return fmt::format("{} {} {} {} {} {}", submits, duration, gpu_time, share, failed, text);
}

}  // namespace

TEST_CASE("the sums of 400 jobs like each trace: submissions, durations, GPU time, demands, failures, names") {
  struct Line {
    const char* like;
    std::string usual, loaded, small;
  };
  const Line lines[] = {
      {"acme-kalos", "67717447 518754 65296249 0 177 0", "463467285 778132 97944968 0 177 0",
       "270870342 140541 316885 0 177 0"},
      {"acme-seren", "2030560 567188 4777043 0 193 0", "33905509 850772 7165322 0 193 0",
       "8122880 231195 408069 0 193 0"},
      {"helios", "838836 2339527 8432694 0 144 0", "59853651 3509296 12648963 0 144 0",
       "3355957 369886 602989 0 144 0"},
      {"helios-venus", "165488406 1614792 77287681 0 206 425084", "662761490 2422187 115932279 0 206 425084",
       "548011473 48741 135811 0 39 423395"},
      {"itp", "4427527 8529102 29654619 0 0 348769", "233354665 12793658 44481953 0 0 348769",
       "17162502 1227318 1235627 0 0 348900"},
      {"openb", "45774043 3256801 3321821 3853466 114 0", "22826176 4885205 4982738 3853466 114 0",
       "178352273 541358 562194 3883786 111 0"},
      {"philly", "12162902 4423605 5849140 0 149 157514", "51252602 6635421 8773745 0 149 157514",
       "40998872 680613 763505 0 149 153996"},
  };
  REQUIRE(fitted_workloads().size() == std::size(lines));
  for (const Line& line : lines) {
    CAPTURE(std::string{line.like});
    SyntheticWorkload options;
    options.like = find_fitted_workload(line.like);
    REQUIRE(options.like != nullptr);
    options.jobs = 400;
    CHECK(figures(options) == line.usual);
    SyntheticWorkload loaded = options, small = options;
    loaded.load = 0.7;
    loaded.durations = 1.5;
    CHECK(figures(loaded) == line.loaded);
    small.largest = 4;
    small.longest = Time::seconds(3600);
    small.rate = 0.25;
    CHECK(figures(small) == line.small);
  }
}
