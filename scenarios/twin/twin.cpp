#include "scenarios/twin/twin.hpp"

#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr double kNeverStarts = std::numeric_limits<double>::infinity();
constexpr Time kBehindSnapshot = Time::nanoseconds(2);  // jobs that wait are submitted 1 ns after the snapshot at most

class Twin {
 public:
  Twin(Scenario scenario, const TwinJobs& jobs) : scenario_{std::move(scenario)}, jobs_{jobs} {
    std::vector<JobRequest> requests = jobs.list.jobs;
    for (std::size_t a = 0; a < jobs.arrivals.size(); ++a) {
      JobRequest& arrival = requests.emplace_back(jobs.arrivals[a]);
      arrival.name = fmt::format("arrival~{}", a);
    }
    workload_ = workload_of(scenario_, scenario_.workload, requests);
    if (jobs.arrivals.empty()) return;
    const auto [first, last] = std::ranges::minmax(jobs.arrivals, {}, &JobRequest::submit);
    first_ = first.submit;
    span_ = last.submit - first.submit + Time::nanoseconds(1);
    // A draw ends when the jobs of the snapshot have ended, if it is known before which they are.
    Time until = kBehindSnapshot;
    for (const JobRequest& job : jobs.list.jobs) until = std::max(until, job.submit + kBehindSnapshot);
    if (std::ranges::all_of(jobs.list.jobs, [](const JobRequest& job) { return job.after.empty(); }))
      scenario_.measure = {.from = Time{}, .until = until};
  }

  [[nodiscard]] std::size_t listed() const { return jobs_.list.jobs.size(); }

  /// The starts of all listed jobs in a draw.
  [[nodiscard]] std::vector<double> drawn(const TwinOptions& options, std::size_t draw) const {
    const std::uint64_t seed = options.seed;
    RandomStream durations{seed, fmt::format("twin/{}/durations", draw)};
    std::map<std::string_view, Quantiles> of_user;
    Workload workload = workload_;
    for (std::size_t j = 0; j < listed(); ++j) {
      const JobRequest& job = jobs_.list.jobs[j];
      if (!workload.jobs[j].duration) continue;
      const auto [at, is_new] = of_user.try_emplace(job.user);
      if (is_new || !options.alike) {
        at->second.of_user = durations.uniform();
        at->second.of_all = durations.uniform();
      }
      set_duration(jobs_.history.draw(job, at->second), j, workload);
    }
    if (!jobs_.arrivals.empty()) {
      RandomStream arrivals{seed, fmt::format("twin/{}/arrivals", draw)};
      const Time offset = Time::nanoseconds(arrivals.uniform_integer(0, span_.ns() - 1));
      for (std::size_t a = 0; a < jobs_.arrivals.size(); ++a) {
        const Time since = jobs_.arrivals[a].submit - first_;
        JobSpec& job = workload.jobs[listed() + a];
        const Time submit = kBehindSnapshot + (since >= offset ? since - offset : since + span_ - offset);
        if (job.deadline) *job.deadline += submit - job.submit;
        job.submit = submit;
      }
    }
    return starts(std::move(workload), seed + draw, options.interrupted);
  }

  /// The starts if all jobs take their limits.
  [[nodiscard]] std::vector<double> by_limits(std::uint64_t seed, const std::function<bool()>& stop) const {
    Workload workload = workload_;
    workload.jobs.resize(listed());
    for (std::size_t j = 0; j < listed(); ++j)
      if (workload.jobs[j].duration) set_duration(duration_by_limit(jobs_.list.jobs[j]), j, workload);
    return starts(std::move(workload), seed, stop);
  }

 private:
  void set_duration(Time duration, std::size_t job, Workload& workload) const {
    workload.jobs[job].duration = duration - jobs_.list.jobs[job].elapsed.value_or(Time{});
  }

  [[nodiscard]] std::vector<double> starts(Workload workload, std::uint64_t seed,
                                           const std::function<bool()>& stop) const {
    RunHooks hooks;
    if (stop) hooks.monitor = [&](const Progress&) { return !stop(); };
    const RunResult result = run_workload(scenario_, std::move(workload), seed, hooks);
    std::vector<double> starts;
    for (std::size_t j = 0; j < listed(); ++j) {
      const Time start = result.jobs[j].start;
      starts.push_back(start == Time::never() ? kNeverStarts : start.to_seconds());
    }
    return starts;
  }

  Scenario scenario_;
  const TwinJobs& jobs_;
  Workload workload_;  ///< with the arrivals behind the list
  Time first_{}, span_{};
};

}  // namespace

double StartForecast::quantile(double share) const {
  if (draws_s.empty()) return kNeverStarts;
  const double at = share * static_cast<double>(draws_s.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, draws_s.size() - 1);
  const double part = at - static_cast<double>(low);
  if (part == 0) return draws_s[low];
  return std::isinf(draws_s[high]) ? kNeverStarts : draws_s[low] + part * (draws_s[high] - draws_s[low]);
}

std::vector<JobRequest> arrivals_like(const ClusterSetup& cluster, const JobList& list, std::vector<JobRequest> earlier,
                                      const std::string& file) {
  // The first waiting job of each user in a virtual cluster, of each virtual cluster, and of all.
  std::map<std::pair<std::string_view, std::string_view>, const JobRequest*> of_user;
  std::map<std::string_view, const JobRequest*> of_vc;
  const JobRequest* any = nullptr;
  for (const JobRequest& job : list.jobs) {
    if (job.elapsed) continue;
    of_user.try_emplace({job.user, job.vc}, &job);
    of_vc.try_emplace(job.vc, &job);
    if (any == nullptr) any = &job;
  }
  const auto like = [&](const JobRequest& job) {
    if (const auto found = of_user.find({job.user, job.vc}); found != of_user.end()) return found->second;
    const auto found = of_vc.find(job.vc);
    return found != of_vc.end() ? found->second : any;
  };
  const auto others = std::ranges::find_if(cluster.vcs, &NamedVirtualCluster::others);
  for (JobRequest& job : earlier) {
    const bool has_vc =
        cluster.vcs.empty() || std::ranges::find(cluster.vcs, job.vc, &NamedVirtualCluster::name) != cluster.vcs.end();
    if (!has_vc && others == cluster.vcs.end())
      throw InputError{{.file = file,
                        .reason = fmt::format("job {} is of the virtual cluster \"{}\", which cluster.vcs lacks",
                                              job.name, job.vc)}};
    if (!has_vc) job.vc = others->name;
    job.after.clear();
    job.place.clear();
    job.elapsed.reset();
    const JobRequest* const model = like(job);
    if (model == nullptr) continue;
    if (job.priority == 0) job.priority = model->priority;
    if (std::ranges::find(cluster.types, job.gpu_type, &NamedServerType::name) == cluster.types.end())
      job.gpu_type = cluster.types.empty() ? std::string{} : model->gpu_type;
  }
  return earlier;
}

std::vector<StartForecast> forecast_starts(Scenario scenario, const TwinJobs& jobs, const TwinOptions& options) {
  const Twin twin{std::move(scenario), jobs};
  std::vector<std::vector<double>> draws(options.draws + 1);  // the last one is by limits
  const auto stop = [&] { return options.interrupted && options.interrupted(); };
  parallel_for(
      options.threads, draws.size(),
      [&] {
        return [&](std::size_t draw) {
          draws[draw] =
              draw == options.draws ? twin.by_limits(options.seed, options.interrupted) : twin.drawn(options, draw);
        };
      },
      stop);
  std::vector<StartForecast> forecasts;
  if (stop()) return forecasts;
  for (std::size_t j = 0; j < jobs.list.jobs.size(); ++j) {
    if (jobs.list.jobs[j].elapsed) continue;
    StartForecast& forecast = forecasts.emplace_back(StartForecast{.job = j, .by_limits_s = draws.back()[j]});
    for (std::size_t d = 0; d < options.draws; ++d) forecast.draws_s.push_back(draws[d][j]);
    std::ranges::sort(forecast.draws_s);
  }
  return forecasts;
}

}  // namespace contend
