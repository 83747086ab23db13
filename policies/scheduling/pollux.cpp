// Pollux (Qiao et al., OSDI 2021, section 4.2, with the constants of its released simulator) divides the GPUs again in
// each period, so that
//
//     fitness = (mean_i (u_i + 0.001)^-1)^-1,   u_i = speedup_i x r_i x N / G
//
// is largest, with N servers and G GPUs. speedup_i is the speed (the goodput of the job, by workload.goodput) with its
// GPUs over that with its fair share of ceil(G / jobs) GPUs. r_i = max(age_i - restarts_i x 30 s, 0) / (age_i + 30 s)
// if its number of GPUs changes, and 1 if not: a job that was often restarted, or is young, is left alone.
// Without a period the numerator of a job without GPUs is a nanosecond at least: there may be no later decision.
//
// With `doubles` a job starts on its fewest GPUs and has at most twice as many as it ever had: the released code learns
// speeds while jobs run, and lets no job grow faster than that.
//
// The released code searches with a genetic algorithm over the replicas of jobs on servers. Here the placement policy
// chooses servers, the speed is that on as few as can hold the job, and a dynamic program over jobs and GPUs finds the
// best numbers exactly. Of equally good divisions it takes the one in which the last jobs have fewest GPUs. Its time
// grows with jobs x GPUs x sizes of a job.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

namespace contend {

namespace {

constexpr double kSmallestUtility = 1e-3, kYoungest_s = 1e-9;

class Pollux final : public ElasticPolicy {
 public:
  Pollux(const DecisionTimes& decisions, double restart_s, bool doubles)
      : ElasticPolicy{decisions},
        restart_s_{restart_s},
        doubles_{doubles},
        youngest_s_{decisions.has_period() ? 0 : kYoungest_s} {}

  void left(JobId job) override {
    most_.erase(job);
    ElasticPolicy::left(job);
  }

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> types, Time now) override {
    const int gpus = types.front();
    const auto all = static_cast<std::size_t>(gpus);
    const auto count = static_cast<int>(jobs.size());
    const int fair = (gpus + count - 1) / count;
    std::vector<double> least(all + 1, 0);  // of the jobs so far, by GPUs that they may have
    std::vector<std::vector<std::int32_t>> choices;
    for (const ElasticJob& job : jobs) {
      std::vector<double> next(all + 1);
      std::vector<std::int32_t>& choice = choices.emplace_back(all + 1, 0);
      std::vector<double> costs;
      for (const int size : job.sizes) costs.push_back(cost(job, size, fair, gpus, now));
      const double none = cost(job, 0, fair, gpus, now);
      const int most = most_gpus(job);
      for (std::size_t g = 0; g <= all; ++g) {
        next[g] = least[g] + none;
        for (std::size_t s = 0; s < job.sizes.size(); ++s) {
          const auto size = static_cast<std::size_t>(job.sizes[s]);
          if (job.sizes[s] > most) break;
          if (size > g || least[g - size] + costs[s] >= next[g]) continue;
          next[g] = least[g - size] + costs[s];
          choice[g] = job.sizes[s];
        }
      }
      least = std::move(next);
    }
    Division division;
    division.gpus.assign(jobs.size(), 0);
    std::size_t left = all;
    for (std::size_t i = jobs.size(); i-- > 0;) {
      division.gpus[i] = choices[i][left];
      left -= static_cast<std::size_t>(division.gpus[i]);
    }
    return division;
  }

 private:
  [[nodiscard]] int most_gpus(const ElasticJob& job) {
    if (job.sizes.empty() || !doubles_) return std::numeric_limits<int>::max();
    int& most = most_[job.view.id];
    most = std::max(most, job.held);
    return std::max(2 * most, job.sizes.front());
  }

  [[nodiscard]] double cost(const ElasticJob& job, int gpus, int fair, int all, Time now) const {
    if (job.sizes.empty()) return 0;
    const int share = std::max(job.size_within(fair), job.sizes.front());
    double utility = job.speed_on(gpus) / job.speed_on(share) * static_cast<double>(servers()) / all;
    if (gpus != job.held) {
      const double age_s = (now - job.view.submit).to_seconds();
      const int restarts = std::max(0, job.starts - 1);
      const double floor_s = job.held > 0 ? 0 : youngest_s_;
      utility *= std::max(age_s - restarts * restart_s_, floor_s) / std::max(age_s + restart_s_, kYoungest_s);
    }
    return 1 / (utility + kSmallestUtility);
  }

  double restart_s_;
  bool doubles_;
  double youngest_s_;          // least age of a job without GPUs, less restarts
  std::map<JobId, int> most_;  // GPUs that a job ever had; only if `doubles`
};

std::unique_ptr<SchedulingPolicy> make_pollux(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Pollux>(elastic_decisions(parameters, context), parameters.get<double>("restart_s"),
                                  parameters.get<bool>("doubles"));
}

}  // namespace

PolicyRow<SchedulingPolicy> pollux_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      elastic_period_parameter(60),
      {"restart_s", 30.0, 0, 1e6, "what the policy takes a restart to cost a job, in seconds"},
      {"doubles", false, 0, 0,
       "as in the released code: a job starts on its fewest GPUs and has at most twice as many as it ever had"}};
  return {.name = "pollux",
          .summary = "the division with the largest fitness of goodputs against fair shares; jobs grow and shrink",
          .source = "Qiao et al., OSDI 2021",
          .parameters = kParameters,
          .make = make_pollux,
          .one_type = true};
}

}  // namespace contend
