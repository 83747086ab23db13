// GPUs for jobs whose services ask for more, or need some no longer (sim/service.hpp).

#include "sim/admission.hpp"
#include "sim/job_body.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

void Admission::on_service(JobId job) {
  const JobRun& run = state_.run(job);
  const Service& service = *run.serving->its;
  if (const std::vector<std::size_t> unused = service.unused(); !unused.empty()) {
    std::vector<GpuId> kept;
    for (std::size_t rank = 0; rank < run.gpus.size(); ++rank)
      if (std::ranges::find(unused, rank) == unused.end()) kept.push_back(run.gpus[rank]);
    shrink(job, kept);
  }
  const std::size_t asks = service.asks().size();
  if (asks == 0) {
    asking_.erase(job);
  } else if (std::size_t& known = asking_[job]; std::exchange(known, asks) != asks) {
    pass_is_due_ = true;
  }
}

void Admission::give_to_services() {
  allocation_.forget_refusals();
  std::erase_if(asking_, [this](const auto& each) {
    const JobRun& run = state_.run(each.first);
    return run.state != JobState::running || !run.serving->begun;
  });
  std::vector<JobId> jobs;
  for (const auto& [job, asks] : asking_) jobs.push_back(job);
  const auto is_more_urgent = [this](JobId a, JobId b) {
    return state_.run(a).spec->priority > state_.run(b).spec->priority;
  };
  std::stable_sort(jobs.begin(), jobs.end(), is_more_urgent);
  for (const JobId job : jobs)
    if (state_.run(job).state == JobState::running) give_to_service(job);
}

void Admission::give_to_service(JobId job) {
  JobRun& run = state_.run(job);
  std::vector<GpuId> more;
  for (const int gpus : run.serving->its->asks()) {
    if (!find_replica_place(job, gpus)) break;
    allocation_.reserve(job, chosen_, true);
    more.insert(more.end(), chosen_.begin(), chosen_.end());
  }
  if (more.empty()) return;
  allocation_.reserve(job, more, false);
  more.insert(more.begin(), run.gpus.begin(), run.gpus.end());
  go_on_with(job, more);
}

bool Admission::find_replica_place(JobId job, int gpus) {
  JobRun& run = state_.run(job);
  const int had = std::exchange(run.width, gpus);
  chosen_.clear();
  victims_.clear();
  if (allocation_.has_room(*run.spec, gpus, run.type)) {
    JobView view = state_.view_on(job, run.type);
    view.running = false;  // the replica is to be placed
    state_.policies.ask_placement([&](PlacementPolicy& policy) { policy.place(state_, view, chosen_); });
  }
  std::vector<JobId> candidates;
  if (chosen_.empty()) {
    std::ranges::copy_if(state_.running, std::back_inserter(candidates),
                         [&](JobId each) { return state_.run(each).spec->priority < run.spec->priority; });
    std::ranges::sort(candidates, {}, [this](JobId each) {  // what runs for the shortest time gives way first
      return std::tuple{state_.run(each).spec->priority, Time{} - state_.run(each).since, each};
    });
    if (!eviction_.choose(job, run.type, candidates, victims_, chosen_)) {
      chosen_.clear();
      victims_.clear();
    }
  }
  run.width = had;
  in_pass_ = true;  // a decision, though not of the policy
  for (const JobId victim : victims_) {
    if (shrinks(victim, chosen_)) continue;
    state_.policies.ask_scheduling([&](SchedulingPolicy& policy) { policy.left(victim); });
    preempt(victim, job);
  }
  in_pass_ = false;
  return !chosen_.empty();
}

}  // namespace contend
