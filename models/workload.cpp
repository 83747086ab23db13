#include "models/workload.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

const TrainingProfile& profile_of(const std::string& model) {
  const TrainingProfile* profile = find_training_profile(model);
  if (profile == nullptr) throw InputError{fmt::format("there is no model `{}`", model)};
  return *profile;
}

}  // namespace

TrainedJob profile_job(const std::string& model, int gpus) {
  const TrainingProfile& profile = profile_of(model);
  IterationPlan plan;
  plan.compute = profile.forward + profile.backward;
  plan.samples = static_cast<double>(profile.batch) * gpus;
  TrainedJob job{.graph = data_parallel_graph(profile, gpus), .memory = profile.memory};
  job.notes.plan = std::make_shared<const IterationPlan>(std::move(plan));
  return job;
}

Time profile_iteration(const std::string& model) {
  const TrainingProfile& profile = profile_of(model);
  return profile.forward + profile.backward;
}

std::string variant_of(std::string_view base, const std::vector<std::pair<std::string_view, std::string>>& members) {
  std::string text{base};
  for (std::size_t i = 0; i < members.size(); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? " {" : ", ", members[i].first, members[i].second);
  return members.empty() ? text : text + "}";
}

std::string_view base_of(std::string_view model) {
  return model.substr(0, model.find(" {"));
}

double gpu_seconds_of(const JobRequest& job, const IterationTime& iteration) {
  double seconds = job.duration ? job.duration->to_seconds()
                                : static_cast<double>(job.iterations) * iteration(job.model).to_seconds();
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
  // Jobs are large, so their numbers are sorted.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].submit < jobs[b].submit; });
  std::vector<JobRequest> sorted;
  sorted.reserve(jobs.size());
  for (const std::size_t job : order) {
    sorted.push_back(std::move(jobs[job]));
    sorted.back().name = fmt::format("job-{}", sorted.size() - 1);
  }
  return sorted;
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

namespace {

/// What the maker gives, or its complaint with the name of the job.
TrainedJob made_for(const JobRequest& request, const GraphMaker& maker) {
  try {
    return maker(request.model, request.gpus);
  } catch (const InputError& error) {
    std::vector<Complaint> complaints = error.complaints();
    for (Complaint& each : complaints) each.reason = fmt::format("job `{}`: {}", request.name, each.reason);
    throw InputError{std::move(complaints)};
  }
}

}  // namespace

namespace {

/// The ids of all jobs by name, if any comes after another.
std::unordered_map<std::string_view, JobId> ids_of_predecessors(const std::vector<JobRequest>& requests) {
  std::unordered_map<std::string_view, JobId> ids;
  if (std::ranges::all_of(requests, [](const JobRequest& job) { return job.after.empty(); })) return ids;
  for (std::size_t j = 0; j < requests.size(); ++j) ids.emplace(requests[j].name, JobId{j});
  for (const JobRequest& job : requests)
    for (const std::string& name : job.after)
      if (!ids.contains(name))
        throw InputError{fmt::format("job `{}` comes after `{}`, which there isn't", job.name, name)};
  return ids;
}

}  // namespace

std::vector<GpuId> gpus_of_place(const std::vector<PlacePart>& place, int gpus_per_server) {
  const auto each = static_cast<std::uint32_t>(gpus_per_server);
  std::vector<GpuId> gpus;
  for (const PlacePart& part : place) {
    const std::uint32_t last = part.last.value_or(each - 1);
    for (std::uint32_t g = part.first; g <= last; ++g) gpus.emplace_back(part.server * each + g);
  }
  return gpus;
}

namespace {

/// A job as its request describes it, without what a workload has numbers for.
constexpr Time kInstant = Time::nanoseconds(1);

JobSpec as_requested(const JobRequest& request) {
  JobSpec job;
  job.name = request.name;
  job.model = request.model;
  job.submit = request.submit;
  job.gpus = request.gpus;
  job.iterations = request.iterations;
  job.tells_iterations = request.tells_iterations;
  job.duration = request.duration;
  job.attempts = request.attempts;
  job.think = request.think;
  job.limit = request.limit;
  job.measured_wait = request.measured_wait;
  job.outcome = request.outcome;
  job.gpu_share = request.gpu_share;
  job.milli_cpus = request.milli_cpus;
  job.host_memory = request.host_memory;
  job.memory_per_gpu = request.gpu_memory;
  job.priority = request.priority;
  if (request.deadline) job.deadline = request.submit + *request.deadline;
  if (!request.elapsed) return job;
  *job.duration -= *request.elapsed;
  if (job.limit) job.limit = std::max(*job.limit - *request.elapsed, kInstant);  // it may have overrun its limit
  return job;
}

}  // namespace

std::int32_t level_index(Workload& workload, const LevelWish& wish) {
  const auto known = std::ranges::find(workload.levels, wish);
  if (known == workload.levels.end()) workload.levels.push_back(wish);
  return static_cast<std::int32_t>(std::ranges::find(workload.levels, wish) - workload.levels.begin());
}

Workload build_workload(const std::vector<JobRequest>& requests, const GraphMaker& maker, int gpus_per_server) {
  Workload workload;
  std::map<std::vector<GpuId>, std::int32_t> places;
  workload.jobs.reserve(requests.size());
  const std::unordered_map<std::string_view, JobId> ids = ids_of_predecessors(requests);
  Names vcs{workload.vcs}, users{workload.users}, types{workload.gpu_types};
  struct Made {
    std::size_t graph = 0;
    Bytes memory;
    RankLayout layout;
    std::int64_t extra_iterations = 0;
  };
  std::map<std::pair<std::string, int>, Made> known;
  const bool any_runs = std::ranges::any_of(requests, [](const JobRequest& each) { return each.elapsed.has_value(); });
  for (const JobRequest& request : requests) {
    JobSpec job = as_requested(request);
    if (any_runs && !request.elapsed) job.submit = std::max(job.submit, kInstant);
    for (const std::string& name : request.after) job.after.push_back(ids.at(name));
    job.vc = vcs.number(request.vc);
    job.user = users.number(request.user);
    job.gpu_type = types.number(request.gpu_type);
    if (!request.place.empty()) {
      CONTEND_CHECK(gpus_per_server > 0, "a place is on servers of a known size");
      const auto [place, is_new] =
          places.try_emplace(gpus_of_place(request.place, gpus_per_server), static_cast<std::int32_t>(places.size()));
      if (is_new) workload.places.push_back(place->first);
      job.place = place->second;
    }
    if (request.level.any()) job.level = level_index(workload, request.level);
    if (request.service) {
      job.service = static_cast<std::int32_t>(workload.services.size());
      workload.services.push_back(*request.service);
    }
    if (!request.duration) {
      const auto [made, is_new] = known.try_emplace({request.model, request.gpus});
      if (is_new) {
        TrainedJob trained = made_for(request, maker);
        made->second = {workload.graphs.size(), trained.memory, trained.layout, trained.extra_iterations};
        workload.graphs.push_back(std::move(trained.graph));
        workload.notes.push_back(trained.notes);
        const IterationGraph& graph = workload.graphs.back();
        for (std::size_t role = 0; role < graph.roles().size(); ++role)
          workload.notes.back().passes = std::max(workload.notes.back().passes, graph.compute_per_rank(RoleId{role}));
        workload.torn.push_back(std::move(trained.torn));
      }
      job.memory_per_gpu = made->second.memory;
      job.layout = made->second.layout;
      job.extra_iterations = made->second.extra_iterations;
      job.iterations += job.extra_iterations;
      job.graph = made->second.graph;
    }
    workload.jobs.push_back(std::move(job));
  }
  return workload;
}

}  // namespace contend
