#pragma once
// Reads published traces and measures how far two lists of jobs are apart.

#include "models/workloads/synthetic.hpp"
#include "tests/test_data.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace contend::test {

/// One trace, or one drawing, as the comparison sees it.
struct Sample {
  std::vector<double> submits, durations;  ///< seconds
  std::vector<int> gpus;

  void add(double submit, double duration, int job_gpus) {
    submits.push_back(submit);
    durations.push_back(duration);
    gpus.push_back(job_gpus);
  }
  /// The jobs submitted in [begin, end).
  [[nodiscard]] Sample between(double begin, double end) const {
    Sample part;
    for (std::size_t i = 0; i < submits.size(); ++i)
      if (submits[i] >= begin && submits[i] < end) part.add(submits[i], durations[i], gpus[i]);
    return part;
  }
  [[nodiscard]] double mean_gpu_time() const {
    double sum = 0;
    for (std::size_t i = 0; i < gpus.size(); ++i) sum += durations[i] * gpus[i];
    return sum / static_cast<double>(gpus.size());
  }
  [[nodiscard]] double jobs_per_second() const {
    const auto [first, last] = std::minmax_element(submits.begin(), submits.end());
    return static_cast<double>(submits.size()) / (*last - *first);
  }
};

inline std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream{line};
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

/// Seconds since 1970 of "2017-10-09 07:01:55".
inline double seconds_of(const std::string& text) {
  const auto part = [&](std::size_t at, std::size_t n) { return std::stoi(text.substr(at, n)); };
  const std::chrono::year_month_day day{std::chrono::year{part(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(part(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(part(8, 2))}};
  return 86400.0 * static_cast<double>(std::chrono::sys_days{day}.time_since_epoch().count()) + 3600 * part(11, 2) +
         60 * part(14, 2) + part(17, 2);
}

/// A trace to which a workload was fitted: its file, the time from which on it was fitted, and how to read a row.
struct Trace {
  const char* name;  ///< of the workload
  const char* file;
  double begin;
  void (*row)(const std::vector<std::string>& fields, Sample& sample);
};

/// timestamp, duration, num_gpus, cluster
inline const Trace kPhilly{"philly", "traces/philly/philly_pollux.csv", seconds_of("2017-09-24 00:00:00"),
                           [](const std::vector<std::string>& f, Sample& sample) {
                             sample.add(seconds_of(f[0]), std::stod(f[1]), std::stoi(f[2]));
                           }};
inline const Trace kHeliosVenus{"helios-venus", "traces/helios/helios_venus_2vc_sept.csv", 0,
                                [](const std::vector<std::string>& f, Sample& sample) {
                                  sample.add(std::stod(f[4]) / 1e6, std::stod(f[8]), std::stoi(f[5]));
                                }};
inline const Trace kOpenb{"openb", "traces/openb_v2023/openb_pod_list_default.csv", 115 * 86400.0,
                          [](const std::vector<std::string>& f, Sample& sample) {
                            if (f[3] == "0" || f.size() < 11 || f[10].empty()) return;
                            sample.add(std::stod(f[8]), std::stod(f[9]) - std::stod(f[10]), std::stoi(f[3]));
                          }};

/// The jobs of a trace from its begin on; nothing where its file is absent.
inline std::optional<Sample> read_trace(const Trace& trace) {
  const std::optional<std::string> path = test_data(trace.file);
  if (!path) return std::nullopt;
  std::ifstream stream{*path};
  Sample all;
  bool header = true;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!header) trace.row(split(line), all);
    header = false;
  }
  return all.between(trace.begin, std::numeric_limits<double>::infinity());
}

/// The jobs drawn like a workload with a seed, as many as were fitted.
inline Sample draw_like(const FittedWorkload& fit, std::uint64_t seed) {
  SyntheticWorkload options;
  options.like = &fit;
  Sample sample;
  for (const JobRequest& job : generate_like(options, 1, seed))
    sample.add(job.submit.to_seconds(), job.duration->to_seconds(), job.gpus);
  return sample;
}

/// Two-sample Kolmogorov-Smirnov distance: the largest difference of the two distribution functions.
inline double distance(std::vector<double> a, std::vector<double> b) {
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

/// Total variation of the sizes: half the sum of differences of their shares.
inline double distance(const Sample& a, const Sample& b) {
  std::map<int, double> shares;
  for (const int gpus : a.gpus) shares[gpus] += 1 / static_cast<double>(a.gpus.size());
  for (const int gpus : b.gpus) shares[gpus] -= 1 / static_cast<double>(b.gpus.size());
  double sum = 0;
  for (const auto& entry : shares) sum += std::abs(entry.second) / 2;
  return sum;
}

inline std::vector<double> gaps(const Sample& sample) {
  std::vector<double> sorted = sample.submits, result;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) result.push_back(sorted[i] - sorted[i - 1]);
  return result;
}

/// Coefficient of variation of the number of jobs in spans of so many seconds, which measures burstiness.
inline double burstiness(const Sample& sample, double span) {
  const double first = *std::min_element(sample.submits.begin(), sample.submits.end());
  const double last = *std::max_element(sample.submits.begin(), sample.submits.end());
  std::vector<double> counts(static_cast<std::size_t>((last - first) / span) + 1);
  for (const double submit : sample.submits) ++counts[static_cast<std::size_t>((submit - first) / span)];
  double mean = 0, square = 0;
  for (const double n : counts) mean += n / static_cast<double>(counts.size());
  for (const double n : counts) square += (n - mean) * (n - mean) / static_cast<double>(counts.size());
  return std::sqrt(square) / mean;
}

}  // namespace contend::test
