#include "models/workload.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

const TrainingProfile& profile_of(const JobRequest& job) {
  const TrainingProfile* profile = find_training_profile(job.model);
  if (profile == nullptr) throw InputError{fmt::format("job `{}`: there is no model `{}`", job.name, job.model)};
  return *profile;
}

}  // namespace

Time time_of_iteration(const JobRequest& job) {
  const TrainingProfile& profile = profile_of(job);
  return profile.forward + profile.backward;
}

double gpu_seconds_of(const JobRequest& job) {
  double seconds = job.duration ? job.duration->to_seconds()
                                : static_cast<double>(job.iterations) * time_of_iteration(job).to_seconds();
  for (const Time attempt : job.attempts) seconds += attempt.to_seconds();
  return seconds * job.gpus * (job.gpu_share == 0 ? 1.0 : job.gpu_share / 1000.0);
}

std::vector<JobRequest> generate_jobs(const GeneratedWorkload& mix, std::uint64_t seed) {
  // Each column has a stream of its own, so that a change of one range does not change the other columns.
  RandomStream models{seed, "workload.models"};
  RandomStream iterations{seed, "workload.iterations"};
  RandomStream arrivals{seed, "workload.arrivals"};
  const std::int64_t window_ms = std::max<std::int64_t>(1, mix.arrival_window.ns() / 1'000'000);
  std::vector<JobRequest> jobs;
  for (const auto& [gpus, count] : mix.sizes) {
    for (int i = 0; i < count; ++i) {
      JobRequest job;
      job.model = mix.models[static_cast<std::size_t>(
          models.uniform_integer(0, static_cast<std::int64_t>(mix.models.size()) - 1))];
      job.gpus = gpus;
      job.iterations = iterations.uniform_integer(mix.min_iterations, mix.max_iterations);
      job.submit = Time::milliseconds(arrivals.uniform_integer(0, window_ms - 1));
      jobs.push_back(std::move(job));
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobRequest& a, const JobRequest& b) { return a.submit < b.submit; });
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].name = fmt::format("job-{}", i);
  return jobs;
}

namespace {

/// Numbers names in order of appearance; no name is -1.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_{names} {}
  std::int32_t number(const std::string& name) {
    if (name.empty()) return -1;
    const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::int32_t> numbers_;
};

}  // namespace

Workload build_workload(const std::vector<JobRequest>& requests) {
  Workload workload;
  workload.jobs.reserve(requests.size());
  Names vcs{workload.vcs}, users{workload.users}, types{workload.gpu_types};
  std::map<std::pair<const TrainingProfile*, int>, std::size_t> graphs;
  for (const JobRequest& request : requests) {
    JobSpec job;
    job.name = request.name;
    job.model = request.model;
    job.submit = request.submit;
    job.gpus = request.gpus;
    job.iterations = request.iterations;
    job.duration = request.duration;
    job.attempts = request.attempts;
    job.limit = request.limit;
    job.measured_wait = request.measured_wait;
    job.outcome = request.outcome;
    job.gpu_share = request.gpu_share;
    job.milli_cpus = request.milli_cpus;
    job.host_memory = request.host_memory;
    job.priority = request.priority;
    job.vc = vcs.number(request.vc);
    job.user = users.number(request.user);
    job.gpu_type = types.number(request.gpu_type);
    if (!request.duration) {
      const TrainingProfile* const profile = &profile_of(request);
      const auto [entry, is_new] = graphs.try_emplace({profile, request.gpus}, workload.graphs.size());
      if (is_new) workload.graphs.push_back(data_parallel_graph(*profile, request.gpus));
      job.memory_per_gpu = profile->memory;
      job.graph = entry->second;
    }
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

}  // namespace contend
