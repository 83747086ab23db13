#include "sim/check_input.hpp"

#include "sim/check_regimes.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::int64_t kLargestPart = 1'000'000;  // JobSize::parts

void check_costs(const PreemptionCosts& costs) {
  if (costs.restart < Time{} || costs.checkpoint_interval < Time{} || costs.checkpoint < Time{} ||
      costs.persist < Time{} || costs.rescue < Time{} || costs.start < Time{} || costs.iterations < 0) {
    throw InputError{"a cost of preemption or of a checkpoint is negative"};
  }
  if (costs.renews && costs.checkpoint < costs.start)
    throw InputError{"workers that start again after a checkpoint take longer for that than the checkpoint"};
  if (costs.checkpoint_interval > kNeverSaved) throw InputError{"checkpoints are further apart than any job is long"};
  if (costs.persist > costs.checkpoint_interval && costs.checkpoint_interval > Time{})
    throw InputError{"a checkpoint takes longer to become durable than there is work between two of them"};
  if (costs.written < Bytes{} || (costs.written > Bytes{} && costs.persist > Time{}))
    throw InputError{"a checkpoint has less than no bytes, or bytes and a time of its own to become durable"};
}

void check_types(const ClusterSpec& spec) {
  int servers = 0, most = 0;
  for (const ServerType& type : spec.types) {
    if (type.servers < 1 || type.gpus_per_server < 1 || type.price < 0)
      throw InputError{fmt::format("servers of type `{}`: at least one with one GPU, at a price >= 0", type.name)};
    servers += type.servers;
    most = std::max(most, type.gpus_per_server);
  }
  if (!spec.types.empty() && (servers != spec.servers || most != spec.gpus_per_server))
    throw InputError{"the types of servers must have all servers of the cluster, and its most GPUs of a server"};
}

/// Complains of a job with a service that can't have one.
template <class Complain>
void check_service(const JobSpec& job, const Workload& workload, const Complain& complain) {
  if (job.service < 0) return;
  if (job.service >= std::ssize(workload.services)) complain("it has no service");
  if (!job.duration || *job.duration <= Time{}) complain("a job with a service has a duration > 0");
  if (!job.attempts.empty() || job.outcome != JobOutcome::completed)
    complain("its requests say when it ends, so it has neither attempts nor another outcome");
  if (job.gpu_share > 0 && job.gpu_share < kWholeGpu) complain("a service has its GPUs whole");
  if (job.sizes >= 0 || job.regimes >= 0) complain("a service has neither other sizes nor regimes");
}

void check_job(const JobSpec& job, const Workload& workload) {
  const auto complain = [&](std::string_view reason) {
    throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
  };
  if (job.submit < Time{}) complain("it is submitted before time 0");
  if (job.submit > kLongestJobTime) complain("it is submitted later than 100 years after time 0");
  if (job.memory_per_gpu < Bytes{}) complain("its memory is negative");
  if (job.gpus < 1) complain("it needs at least one GPU");
  if (job.gpu_share < 0 || job.gpu_share > kWholeGpu) complain("its share of a GPU is not within 0..1000 thousandths");
  if (job.milli_cpus < 0 || job.host_memory < Bytes{}) complain("its demand for CPUs or memory is negative");
  check_service(job, workload, complain);
  if (job.duration) {
    const auto is_negative = [](Time time) { return time < Time{}; };
    if (is_negative(*job.duration) || std::any_of(job.attempts.begin(), job.attempts.end(), is_negative)) {
      complain("its duration is negative");
    }
    if (const std::string reason = why_too_long(workload, job); !reason.empty()) complain(reason);
    return;
  }
  if (!job.attempts.empty()) complain("it has attempts but no duration");
  if (job.graph >= workload.graphs.size()) complain("it has no iteration graph");
  if (job.iterations < 1) complain("it needs at least one iteration");
  if (job.gpus != workload.graphs[job.graph].ranks())
    complain("the number of ranks in its graph differs from its GPUs");
  if (const std::string reason = why_too_long(workload, job); !reason.empty()) complain(reason);
}

void check_paces(const Workload& workload, const ClusterSpec& spec) {
  for (const std::vector<JobPace>& paces : workload.paces) {
    if (paces.size() != spec.types.size()) throw InputError{"a job needs a pace on each type of server"};
    for (const JobPace& pace : paces) {
      if (pace.together < 0 || pace.together > kSlowestPace || pace.spread < 0 || pace.spread > kSlowestPace)
        throw InputError{"a pace is not within 0..10^15"};
      if (pace.graph >= std::ssize(workload.graphs)) throw InputError{"a pace has no iteration graph"};
    }
  }
  for (const JobSpec& job : workload.jobs) {
    if (job.pace >= std::ssize(workload.paces)) throw InputError{fmt::format("job `{}`: it has no pace", job.name)};
    if (job.deadline && *job.deadline <= job.submit)
      throw InputError{fmt::format("job `{}`: its deadline is not after its submission", job.name)};
    if (job.pace < 0 || job.duration) continue;
    for (const JobPace& pace : workload.paces[static_cast<std::size_t>(job.pace)]) {
      if (pace.graph >= 0 && workload.graphs[static_cast<std::size_t>(pace.graph)].ranks() != job.gpus)
        throw InputError{fmt::format("job `{}`: the ranks of a graph differ from its GPUs", job.name)};
    }
  }
}

void check_sizes(const Workload& workload, const ClusterSpec& spec) {
  for (const JobSpec& job : workload.jobs) {
    if (job.sizes < 0) continue;
    const auto complain = [&](std::string_view reason) {
      throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
    };
    if (job.sizes >= std::ssize(workload.sizes)) complain("it has no sizes");
    if (job.place >= 0) complain("a job with a place of its own can't have other numbers of GPUs");
    const std::vector<JobSize>& sizes = workload.sizes[static_cast<std::size_t>(job.sizes)];
    if (std::ranges::find(sizes, job.gpus, &JobSize::gpus) == sizes.end())
      complain("the number of GPUs that it prefers is not among its sizes");
    int last = 0;
    for (const JobSize& size : sizes) {
      if (size.gpus <= last) complain("its sizes don't rise");
      last = size.gpus;
      if (size.paces.size() != std::max<std::size_t>(1, spec.types.size()))
        complain("each of its sizes needs a pace on each type of server");
      if (size.parts < 1 || size.parts > kLargestPart) complain("the parts of its work are not within 1..10^6");
      for (const JobPace& pace : size.paces) {
        if (pace.together < 0 || pace.together > kSlowestPace || pace.spread < 0 || pace.spread > kSlowestPace)
          complain("a pace is not within 0..10^15");
        if (job.duration || pace.together == 0) continue;
        const std::int64_t graph = pace.graph < 0 ? static_cast<std::int64_t>(job.graph) : pace.graph;
        if (graph >= std::ssize(workload.graphs) ||
            workload.graphs[static_cast<std::size_t>(graph)].ranks() != size.gpus)
          complain("the ranks of a graph differ from the GPUs of its size");
      }
    }
    if (!job.duration && job.iterations > INT64_MAX / kLargestPart) complain("an elastic job has too many iterations");
  }
}

/// Throws InputError if a job comes after one that there isn't, or, over others or not, after itself.
void check_order(const Workload& workload) {
  const auto complain = [](const JobSpec& job, std::string_view reason) {
    throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
  };
  std::vector<std::vector<std::size_t>> after(workload.jobs.size());
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    if (job.think < Time{}) complain(job, "it is submitted before the end of a job that it comes after");
    if (job.think > kLongestJobTime) complain(job, "it is submitted more than 100 years after another");
    for (const JobId other : job.after) {
      if (other.index() >= workload.jobs.size()) complain(job, "it comes after a job that there isn't");
      after[j].push_back(other.index());
    }
  }
  if (const std::vector<std::size_t> never = never_submitted(after); !never.empty())
    complain(workload.jobs[never.front()], "it comes after jobs that come after it, so it is never submitted");
}

void check_jobs(const Workload& workload, const SchedulingRules& rules) {
  boost::unordered_flat_set<std::string_view> names;
  names.reserve(workload.jobs.size());
  bool is_twice = false;
  std::string_view twice;  // the first by name
  for (const JobSpec& job : workload.jobs) {
    check_job(job, workload);
    if (job.level >= std::ssize(workload.levels))
      throw InputError{fmt::format("job `{}`: it asks for levels that there aren't", job.name)};
    if (const std::string reason = why_not_killed(rules, job); !reason.empty())
      throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
    if (const std::string reason = why_not_retried(rules, job); !reason.empty())
      throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
    const bool is_new = names.insert(job.name).second;
    if (!is_new && (!is_twice || job.name < twice)) twice = job.name;
    is_twice = is_twice || !is_new;
  }
  if (is_twice) throw InputError{fmt::format("job `{}`: the name is used twice", twice)};
  if (std::ranges::any_of(workload.jobs, [](const JobSpec& job) { return !job.after.empty(); })) check_order(workload);
}

}  // namespace

void check_costs(const PreemptionCosts& costs, const JobSpec& job, const SchedulingRules& rules) {
  check_costs(costs);
  const bool costs_time = costs.checkpoint > Time{} || costs.persist > Time{} || costs.written > Bytes{};
  if (job.service < 0 && (job.duration ? costs_time : costs.iterations == 0) && costs.checkpoint_interval == Time{})
    throw InputError{"checkpoints have a cost but no interval"};
  if (costs.written == Bytes{}) return;
  if (!rules.store) throw InputError{"checkpoints are written to a store that there isn't"};
  if (job.duration && rules.kill_at_limit)
    throw InputError{
        fmt::format("job `{}` has a duration, and can't be killed at a limit while it writes to a store", job.name)};
}

void check_rules(const SchedulingRules& rules) {
  if (rules.quantum < Time{}) throw InputError{"a quantum is negative"};
  check_costs(rules.preemption);
  for (const RetryRule& rule : {rules.failures, rules.timeouts}) {
    if (rule.times.value_or(0) < 0 || rule.delay < Time{} || rule.max_delay < Time{} || rule.growth < 1000) {
      throw InputError{"a number or a delay of retries is negative, or the delay shrinks"};
    }
  }
  for (const std::int32_t factor : rules.scatter_penalty) {
    if (factor < 1000) throw InputError{"a scatter penalty makes a job on more servers faster"};
  }
}

const ClusterSpec& checked(const ClusterSpec& spec) {
  if (spec.servers < 1 || spec.gpus_per_server < 1) {
    throw InputError{"a cluster needs at least one server with at least one GPU"};
  }
  check_types(spec);
  std::vector<ServerRange> owned;
  for (const VirtualCluster& vc : spec.vcs) {
    if (vc.quota < 0) throw InputError{"the quota of a virtual cluster is negative"};
    if (vc.servers != ServerRange{}) owned.push_back(vc.servers);
  }
  std::sort(owned.begin(), owned.end(), [](ServerRange a, ServerRange b) { return a.first < b.first; });
  std::uint32_t next = 0;
  for (const ServerRange range : owned) {
    if (range.first != next || range.last <= next || range.last > static_cast<std::uint32_t>(spec.servers)) {
      throw InputError{"virtual clusters must own the first servers of the cluster, without gaps or overlaps"};
    }
    next = range.last;
  }
  return spec;
}

void check_interference(const Interference& interference, const NetworkModel& network) {
  if (interference.compute < 0 || interference.network < 0) throw InputError{"an interference is negative"};
  if (interference.network > 0 && !network.can_slow_down()) {
    throw InputError{"this network model can't slow transfers down: its interference must be 0"};
  }
}

void check_sharing(const GpuSharing& sharing) {
  if (sharing.any() && sharing.most < 2) throw InputError{"a law of sharing without at least two jobs on a GPU"};
}

void check_counters(std::span<const IterationGraph> graphs) {
  std::set<std::string_view> posted, awaited;
  for (const IterationGraph& graph : graphs) {
    for (const Op& op : graph.ops()) {
      if (!op.counts() || !graph.counters()[op.counter.index()].shared) continue;
      (op.kind == OpKind::post ? posted : awaited).insert(graph.counters()[op.counter.index()].name);
    }
  }
  for (const std::string_view name : awaited)
    if (!posted.contains(name))
      throw InputError{fmt::format("a job waits for counter `{}`, to which no job of the run posts", name)};
}

void check_workload(const Workload& workload, const ClusterSpec& spec, const SchedulingRules& rules) {
  check_jobs(workload, rules);
  check_paces(workload, spec);
  check_sizes(workload, spec);
  check_regimes(workload);
}

}  // namespace contend
