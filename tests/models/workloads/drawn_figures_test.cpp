// Sums over jobs that are drawn like each trace. Draws use only operations with the same result on every machine, so
// these figures hold everywhere; whoever changes a table or the drawing on purpose changes them.
#include "models/workloads/synthetic.hpp"
#include "sim/fingerprint.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
      {"helios-venus", "126536606 2200068 64129010 0 199 425088", "481874161 3300103 96193552 0 199 425088",
       "426253697 54463 154746 0 40 423289"},
      {"itp", "5358054 4408581 14058611 0 0 348826", "137020048 6612893 21087949 0 0 348826",
       "20463423 1402871 1402871 0 0 347354"},
      {"openb", "43541217 2054077 2228044 3879466 115 0", "18988493 3081111 3342061 3879466 115 0",
       "162380055 518713 527761 3911596 116 0"},
      {"philly", "15244803 4296748 21121337 0 149 153782", "205341916 6445108 31682012 0 149 153782",
       "43983860 555938 638922 0 149 157403"},
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

TEST_CASE(
    "every demand of 3,000 jobs like some traces, in their order: jobs of one second keep the order of their draws") {
  const std::vector<std::pair<const char*, std::string>> expected{{"philly", "f7d74b00b5854ced"},
                                                                  {"helios-venus", "52e50f7d147923cf"},
                                                                  {"itp", "ee1c04c4e96ff468"},
                                                                  {"openb", "3a604331f35b9240"}};
  for (const auto& each : expected) {
    CAPTURE(std::string{each.first});
    SyntheticWorkload options;
    options.like = find_fitted_workload(each.first);
    REQUIRE(options.like != nullptr);
    options.jobs = 3000;
    Fingerprint hash;
    int ties = 0;
    const std::vector<JobRequest> jobs = generate_like(options, 1, 1);
    for (const JobRequest& job : jobs) {
      if (&job != &jobs.front() && job.submit == (&job - 1)->submit) ++ties;
      for (const std::int64_t figure_of_job : {job.submit.ns(), job.duration ? job.duration->ns() : -1,
                                               std::int64_t{job.gpus}, std::int64_t{job.gpu_share}})
        hash.add(static_cast<std::uint64_t>(figure_of_job));
    }
    CHECK(ties > 10);
    CHECK(fmt::format("{:016x}", hash.value()) == each.second);
  }
}
