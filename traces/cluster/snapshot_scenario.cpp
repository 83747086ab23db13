#include "traces/cluster/snapshot_scenario.hpp"

#include "models/workload.hpp"
#include "sim/error.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"
#include "traces/cluster/snapshot_parts.hpp"
#include "traces/job_list.hpp"
#include "traces/jobs/timestamp.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

/// Nodes that are alike and next to each other in the scenario.
struct NodeGroup {
  std::string name;
  std::string kind;  ///< the name, but for the number of GPUs that tells groups of one kind apart
  const SnapshotNode* first;
  std::vector<const SnapshotNode*> nodes{};
};

/// A text in YAML and in messages.
std::string in_quotes(const std::string& text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

/// The largest priority that weight_qos can tell from its neighbours: its range ends at 10^9.
constexpr std::int64_t kLargestPriority = 400'000'000;
// The policy's priority is floor(weight x priority / largest). With this weight it is another for each priority.
constexpr std::int64_t kWeightOfPriority = 2;

class ScenarioMaker {
 public:
  ScenarioMaker(ClusterSnapshot& snapshot, std::optional<Time> limit) : snapshot_{snapshot}, limit_{limit} {
    for (const SnapshotJob& job : snapshot_.jobs) named_.insert(job.partitions.begin(), job.partitions.end());
    for (const SnapshotPartition& each : snapshot_.partitions) partitions_.try_emplace(each.name, each);
    for (const SnapshotQueue& each : snapshot_.queues)
      partitions_.try_emplace(each.name, SnapshotPartition{.name = each.name});
    for (const std::string& name : named_) partitions_.try_emplace(name, SnapshotPartition{.name = name});
    group_nodes();
    rank_priorities();
  }

  SnapshotScenario make(const std::string& jobs_name) {
    std::vector<JobRequest> jobs;
    for (const SnapshotJob& job : snapshot_.jobs) add_request(job, jobs);
    drop_missing(jobs);
    check_limits();
    SnapshotScenario made;
    made.counts = counts(jobs);
    made.yaml = yaml(jobs.empty() ? "" : jobs_name);
    if (!jobs.empty()) made.jobs = job_list_csv(jobs);
    for (const auto& [name, partition] : partitions_) {
      SnapshotJob any;
      any.partitions = {name};
      if (std::string types = types_of(any, false); !types.empty()) made.types[name] = std::move(types);
    }
    return made;
  }

 private:
  /// Jobs that aren't in the scenario are none for which others wait.
  static void drop_missing(std::vector<JobRequest>& jobs) {
    std::set<std::string, std::less<>> kept;
    for (const JobRequest& job : jobs) kept.insert(job.name);
    for (JobRequest& job : jobs)
      std::erase_if(job.after, [&](const std::string& name) { return !kept.contains(name); });
  }

  void group_nodes() {
    for (const SnapshotNode& node : snapshot_.nodes) {
      if (!node.out.empty()) {
        ++snapshot_.left_out["nodes out of service"][fmt::format("{} ({})", node.name, node.out)];
        out_.insert(node.name);
        continue;
      }
      std::string name = node.gpu_type.empty() ? "gpu" : node.gpu_type;
      for (const std::string& partition : node.partitions)
        if (named_.contains(partition)) name += '-' + partition;
      std::ranges::replace(name, '+', '_');  // which joins types in a job list
      const auto is_alike = [&](const NodeGroup& group) {
        return group.kind == name && group.first->gpus == node.gpus;
      };
      auto group = std::ranges::find_if(groups_, is_alike);
      if (group == groups_.end()) {
        std::string unique = name;
        while (std::ranges::find(groups_, unique, &NodeGroup::name) != groups_.end())
          unique += fmt::format("-{}", node.gpus);
        groups_.push_back({std::move(unique), name, &node});
        group = std::prev(groups_.end());
      }
      group->nodes.push_back(&node);
    }
    std::uint32_t server = 0;
    for (const NodeGroup& group : groups_)
      for (const SnapshotNode* const node : group.nodes) servers_[node->name] = server++;
  }

  /// Large priorities, such as priority/basic gives, are replaced by their ranks.
  void rank_priorities() {
    std::set<std::int64_t> all;
    for (const SnapshotJob& job : snapshot_.jobs) all.insert(job.priority);
    const bool fits = all.empty() || (*all.rbegin() <= kLargestPriority && *all.begin() >= 0);
    std::int64_t rank = 0;
    for (const std::int64_t each : all) priorities_[each] = fits ? each : ++rank;
    if (!fits) ++snapshot_.left_out["priorities"]["replaced by their ranks"];
    if (all.size() > 1) largest_priority_ = priorities_.rbegin()->second;
  }

  /// True if the job is on nodes of the group, or waits and may run there: one of its partitions has them, or the files
  /// name no partitions.
  [[nodiscard]] static bool is_for(const SnapshotJob& job, const NodeGroup& group) {
    if (job.started)
      return std::ranges::any_of(job.holds, [&](const NodeGpus& held) {
        return std::ranges::find(group.nodes, held.node, &SnapshotNode::name) != group.nodes.end();
      });
    const std::vector<std::string>& of = group.first->partitions;
    return of.empty() || std::ranges::any_of(job.partitions, [&](const std::string& each) {
             return std::ranges::find(of, each) != of.end();
           });
  }

  /// The types on which the job runs or may run, from the first to the last, since types that a job mixes stand side by
  /// side. `tells`: counts servers that have to be among them.
  [[nodiscard]] std::string types_of(const SnapshotJob& job, bool tells = true) {
    if (groups_.size() < 2) return {};
    const auto is_its = [&](const NodeGroup& group) { return is_for(job, group); };
    const auto first = std::ranges::find_if(groups_, is_its);
    const auto last = std::find_if(groups_.rbegin(), groups_.rend(), is_its).base();
    std::string types;
    for (auto group = first; group < last; ++group) {
      if (tells && !is_its(*group) && !job.started)
        ++snapshot_.left_out["servers between two servers of a partition, on which its jobs may run"][group->name];
      types += (types.empty() ? "" : "+") + group->name;
    }
    return types;
  }

  /// Where a running job is. The indices of the GPUs follow each other, since the files may name some of them twice.
  void set_place(const SnapshotJob& job, JobRequest& request) {
    request.gpus = 0;
    for (const NodeGpus& held : job.holds) {
      const auto server = servers_.find(held.node);
      if (server == servers_.end()) {
        if (!out_.contains(held.node))
          throw InputError{
              fmt::format("job {} runs on {}, which no file has as a node with GPUs", job.name, held.node)};
        ++snapshot_.left_out["GPUs of running jobs on nodes out of service"][held.node];
        continue;
      }
      std::uint32_t& used = used_[server->second];
      const auto first = used;
      used += static_cast<std::uint32_t>(held.gpus);
      request.gpus += held.gpus;
      request.place.push_back({server->second, first, used - 1});
    }
  }

  void add_request(const SnapshotJob& job, std::vector<JobRequest>& jobs) {
    JobRequest request;
    request.name = job.name;
    if (!names_.insert(job.name).second) request.name += "~waiting";  // the pods of its gang that have no node yet
    request.user = job.user;
    request.gpus = job.gpus;
    if (partitions_.size() > 1 && !job.partitions.empty()) request.vc = job.partitions.front();
    if (job.partitions.size() > 1) ++snapshot_.left_out["partitions of jobs behind the first"][job.partitions[1]];
    request.priority = static_cast<int>(priorities_.at(job.priority));
    request.after = job.after;
    request.limit = job.limit;
    if (!request.limit && !job.partitions.empty()) request.limit = partitions_.at(job.partitions.front()).max_time;
    if (!request.limit) request.limit = limit_;
    if (!request.limit) {
      unlimited_.push_back(job.name);
      return;
    }
    if (!job.started && std::ranges::none_of(groups_, [&](const NodeGroup& group) { return is_for(job, group); })) {
      ++snapshot_.left_out["waiting jobs of whose partitions no node is in service"][job.name];
      return;
    }
    request.duration = request.limit;
    request.gpu_type = types_of(job);
    if (job.started) {
      request.elapsed = snapshot_.now - *job.started;
      request.duration = std::max(*request.limit, *request.elapsed + Time::seconds(1));
      if (*request.elapsed >= *request.limit) ++snapshot_.left_out["running jobs beyond their limits"][job.name];
      set_place(job, request);
      if (request.gpus == 0) return;  // on nodes out of service
    } else {
      const int per_server = groups_.empty() ? 1 : groups_.front().first->gpus;
      if (job.nodes > (job.gpus + per_server - 1) / per_server)
        ++snapshot_.left_out["jobs that ask for more nodes than their GPUs need"][fmt::format("{} nodes", job.nodes)];
    }
    jobs.push_back(std::move(request));
  }

  void check_limits() const {
    if (!unlimited_.empty()) {
      const std::vector<std::string> first{unlimited_.begin(),
                                           unlimited_.begin() + std::min<std::ptrdiff_t>(3, std::ssize(unlimited_))};
      throw InputError{{.key = "--limit",
                        .reason = fmt::format("{} of {} jobs have no time limit: {}{}", unlimited_.size(),
                                              snapshot_.jobs.size(), join(first), unlimited_.size() > 3 ? ", ..." : ""),
                        .hint = "say how long such jobs take at most, such as --limit 24h"}};
    }
    for (const auto& [name, server] : servers_) {
      const auto used = used_.find(server);
      const auto node = std::ranges::find(snapshot_.nodes, name, &SnapshotNode::name);
      if (used != used_.end() && used->second > static_cast<std::uint32_t>(node->gpus))
        throw InputError{
            fmt::format("the running jobs hold {} GPUs of {}, which has {}", used->second, name, node->gpus)};
    }
  }

  [[nodiscard]] SnapshotCounts counts(const std::vector<JobRequest>& jobs) const {
    SnapshotCounts counts;
    for (const SnapshotNode& node : snapshot_.nodes) {
      const bool is_usable = servers_.contains(node.name);
      ++counts.nodes;
      counts.usable_nodes += is_usable ? 1 : 0;
      counts.gpus += node.gpus;
      counts.usable_gpus += is_usable ? node.gpus : 0;
    }
    for (const JobRequest& job : jobs) {
      (job.elapsed ? counts.running : counts.waiting) += 1;
      (job.elapsed ? counts.running_gpus : counts.waiting_gpus) += job.gpus;
      counts.dependent += job.after.empty() ? 0 : 1;
    }
    counts.free_gpus = counts.usable_gpus - counts.running_gpus;
    return counts;
  }

  [[nodiscard]] std::string yaml(const std::string& jobs_name) const {
    std::string out = fmt::format("# The cluster {} at {} UTC.\n# server0 and the servers that follow are the nodes\n",
                                  in_quotes(snapshot_.name), format_timestamp(snapshot_.now));
    for (const NodeGroup& group : groups_) {
      std::vector<std::string> nodes;
      for (const SnapshotNode* const node : group.nodes) nodes.push_back(node->name);
      out += fmt::format("#   {}\n", join(nodes));
    }
    out += fmt::format("schema_version: 2\nname: {}\ncluster:\n", in_quotes(snapshot_.name));
    bool is_capacity = false;
    if (groups_.size() == 1) {
      out += fmt::format("  servers: {}\n  gpus_per_server: {}\n", groups_.front().nodes.size(),
                         groups_.front().first->gpus);
    } else {
      out += "  types:\n";
      for (const NodeGroup& group : groups_)
        out += fmt::format("    - {{name: {}, servers: {}, gpus_per_server: {}}}\n", in_quotes(group.name),
                           group.nodes.size(), group.first->gpus);
    }
    if (partitions_.size() > 1) {
      out += "  vcs:\n";
      std::int64_t gpus = 0;
      for (const NodeGroup& group : groups_) gpus += std::ssize(group.nodes) * group.first->gpus;
      for (const SnapshotQueue& each : snapshot_.queues) {
        SnapshotQueue queue = each;
        if (snapshot_.scheduler == "kueue" && queue.parent.empty()) queue.may_borrow = queue.is_cohort;
        out += fmt::format("    - {}\n", queue_yaml(queue, in_quotes(queue.name),
                                                    queue.parent.empty() ? "" : in_quotes(queue.parent), gpus));
        if (queue.is_deserved) is_capacity = true;
      }
      const auto is_queue = [&](const std::string& name) {
        return std::ranges::find(snapshot_.queues, name, &SnapshotQueue::name) != snapshot_.queues.end();
      };
      for (const auto& [name, partition] : partitions_)
        if (!is_queue(name))
          out += fmt::format("    - {{name: {}, weight: 1, priority: {}}}\n", in_quotes(name), partition.tier);
    }
    const std::string scheduler = snapshot_.scheduler.empty() ? "fifo" : snapshot_.scheduler;
    std::string parameters = is_capacity ? ", capacity: true" : "";
    if (scheduler == "slurm-backfill") {
      for (const auto& [name, value] : snapshot_.parameters) parameters += fmt::format(", {}: {}", name, value);
      if (largest_priority_ > 0) parameters += fmt::format(", weight_qos: {}", kWeightOfPriority * largest_priority_);
    }
    out += fmt::format("policies:\n  scheduling: {{policy: {}{}}}\n  placement: consolidated\n", scheduler, parameters);
    if (!jobs_name.empty()) out += fmt::format("workload: {{jobs: {}}}\n", in_quotes(jobs_name));
    return out;
  }

  ClusterSnapshot& snapshot_;
  std::optional<Time> limit_;
  std::set<std::string> named_, out_, names_;  ///< partitions of jobs; nodes out of service; jobs
  std::map<std::string, SnapshotPartition> partitions_;
  std::vector<NodeGroup> groups_;
  std::map<std::string, std::uint32_t> servers_;
  std::map<std::uint32_t, std::uint32_t> used_;  ///< GPUs of servers
  std::map<std::int64_t, std::int64_t> priorities_;
  std::int64_t largest_priority_ = 0;
  std::vector<std::string> unlimited_;
};

}  // namespace

SnapshotScenario scenario_of(ClusterSnapshot& snapshot, const std::string& jobs_name, std::optional<Time> limit) {
  return ScenarioMaker{snapshot, limit}.make(jobs_name);
}

}  // namespace contend
