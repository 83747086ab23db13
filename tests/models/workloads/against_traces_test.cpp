// Compares jobs drawn like a trace with the trace itself, if its files exist in CONTEND_DATA or ../shared/data.

#include "models/workloads/synthetic.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// One trace, or one drawing, as the comparison sees it.
struct Sample {
  std::vector<double> submits, durations;
  std::map<int, double> sizes;
  double gpu_time = 0;
  void add(double submit, double duration, int gpus) {
    submits.push_back(submit);
    durations.push_back(duration);
    ++sizes[gpus];
    gpu_time += duration * gpus;
  }
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream{line};
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

using TraceRow = std::function<void(const std::vector<std::string>&, Sample&)>;

std::optional<Sample> read(const std::string& file, const TraceRow& row) {
  const char* const root = std::getenv("CONTEND_DATA");
  const std::string path = std::string{root != nullptr ? root : "../shared/data"} + "/traces/" + file;
  std::ifstream stream{path};
  if (!stream) {
    MESSAGE("skipped: no " << path);
    return std::nullopt;
  }
  Sample sample;
  bool header = true;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!header) row(split(line), sample);
    header = false;
  }
  return sample;
}

/// Seconds since 1970 of "2017-10-09 07:01:55".
double seconds_of(const std::string& text) {
  const auto part = [&](std::size_t at, std::size_t n) { return std::stoi(text.substr(at, n)); };
  const std::chrono::year_month_day day{std::chrono::year{part(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(part(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(part(8, 2))}};
  return 86400.0 * static_cast<double>(std::chrono::sys_days{day}.time_since_epoch().count()) + 3600 * part(11, 2) +
         60 * part(14, 2) + part(17, 2);
}

/// Two-sample Kolmogorov-Smirnov distance: the largest difference of the two distribution functions.
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

/// Total variation: half the sum of differences of the shares.
double distance(const Sample& a, const Sample& b) {
  std::map<int, double> shares;
  for (const auto& [gpus, n] : a.sizes) shares[gpus] += n / static_cast<double>(a.submits.size());
  for (const auto& [gpus, n] : b.sizes) shares[gpus] -= n / static_cast<double>(b.submits.size());
  double sum = 0;
  for (const auto& entry : shares) sum += std::abs(entry.second) / 2;
  return sum;
}

std::vector<double> gaps(const Sample& sample) {
  std::vector<double> sorted = sample.submits, result;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) result.push_back(sorted[i] - sorted[i - 1]);
  return result;
}

/// Coefficient of variation of the number of jobs in spans of so many seconds, which measures burstiness.
double burstiness(const Sample& sample, double span) {
  const double first = *std::min_element(sample.submits.begin(), sample.submits.end());
  const double last = *std::max_element(sample.submits.begin(), sample.submits.end());
  std::vector<double> counts(static_cast<std::size_t>((last - first) / span) + 1);
  for (const double submit : sample.submits) ++counts[static_cast<std::size_t>((submit - first) / span)];
  double mean = 0, square = 0;
  for (const double n : counts) mean += n / static_cast<double>(counts.size());
  for (const double n : counts) square += (n - mean) * (n - mean) / static_cast<double>(counts.size());
  return std::sqrt(square) / mean;
}

struct Tolerance {
  double durations, sizes, gaps, gpu_time, hourly;
};

void compare(const char* name, const std::string& file, const TraceRow& row, const Tolerance& tolerance) {
  const std::optional<Sample> found = read(file, row);
  if (!found) return;
  const Sample& real = *found;
  const FittedWorkload& fit = *find_fitted_workload(name);
  CHECK(static_cast<std::int64_t>(real.submits.size()) == fit.fitted_jobs);
  SyntheticWorkload options;
  options.like = &fit;
  Sample drawn;
  double hourly = 0, daily = 0;
  constexpr int kReplicas = 10;
  for (std::uint64_t seed = 1; seed <= kReplicas; ++seed) {
    Sample replica;
    for (const JobRequest& job : generate_like(options, 1, seed)) {
      replica.add(job.submit.to_seconds(), job.duration->to_seconds(), job.gpus);
      drawn.add(1e9 * static_cast<double>(seed) + job.submit.to_seconds(), job.duration->to_seconds(), job.gpus);
    }
    hourly += burstiness(replica, 3600) / kReplicas;
    daily += burstiness(replica, 86400) / kReplicas;
  }
  const double durations = distance(real.durations, drawn.durations), sizes = distance(real, drawn),
               between = distance(gaps(real), gaps(drawn)),
               work = drawn.gpu_time / static_cast<double>(drawn.submits.size()) *
                      static_cast<double>(fit.fitted_jobs) / real.gpu_time;
  MESSAGE(std::string{name} << ": durations KS " << durations << ", sizes TV " << sizes << ", gaps KS " << between
                            << ", GPU time drawn / real " << work << ", variation of hourly counts " << hourly
                            << " (real " << burstiness(real, 3600) << "), daily " << daily << " (real "
                            << burstiness(real, 86400) << ")");
  CHECK(durations < tolerance.durations);
  CHECK(sizes < tolerance.sizes);
  CHECK(between < tolerance.gaps);
  CHECK(std::abs(work - 1) < tolerance.gpu_time);
  CHECK(std::abs(hourly / burstiness(real, 3600) - 1) < tolerance.hourly);
}

}  // namespace

TEST_CASE("the distance of two samples, by hand") {
  // Below 2: 2/4 against 0/2; below 5: 3/4 against 1/2. The largest difference is 1/2.
  CHECK(distance({1, 1, 4, 9}, {3, 9}) == near(0.5));
  CHECK(distance({1, 2, 3}, {3, 2, 1}) == 0);
  CHECK(distance({1, 2}, {5}) == 1);
}

TEST_CASE("like philly, against Philly") {
  const auto row = [](const std::vector<std::string>& f, Sample& sample) {
    if (f[0] >= "2017-09-24") sample.add(seconds_of(f[0]), std::stod(f[1]), std::stoi(f[2]));
  };
  compare("philly", "philly/philly_pollux.csv", row, {0.05, 0.01, 0.1, 0.15, 0.3});
}

TEST_CASE("like helios-venus, against the slice of Helios Venus") {
  const auto row = [](const std::vector<std::string>& f, Sample& sample) {
    sample.add(std::stod(f[4]) / 1e6, std::stod(f[8]), std::stoi(f[5]));
  };
  compare("helios-venus", "helios/helios_venus_2vc_sept.csv", row, {0.06, 0.15, 0.35, 0.3, 0.6});
}

TEST_CASE("like openb, against OpenB") {
  const auto row = [](const std::vector<std::string>& f, Sample& sample) {
    if (f[3] == "0" || f.size() < 11 || f[10].empty()) return;
    if (std::stod(f[8]) < 115 * 86400.0) return;  // before the log is complete
    sample.add(std::stod(f[8]), std::stod(f[9]) - std::stod(f[10]), std::stoi(f[3]));
  };
  compare("openb", "openb_v2023/openb_pod_list_default.csv", row, {0.05, 0.01, 0.1, 0.15, 0.3});
}
