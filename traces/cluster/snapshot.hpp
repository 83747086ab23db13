#pragma once
// A cluster at one instant, as its scheduler shows it: servers, partitions, and the jobs that run and wait. The readers
// here make one of the files of Slurm or Kubernetes; snapshot_scenario.hpp makes a scenario and a job list of it.

#include "sim/units.hpp"
#include "text/json_reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

struct SnapshotNode {
  std::string name, gpu_type;           ///< the kind of its GPUs; may be empty
  int gpus = 0;                         ///< > 0
  std::vector<std::string> partitions;  ///< that have it, in order of name
  std::string out;                      ///< why no job can start there; empty: jobs can
};

struct SnapshotPartition {
  std::string name;
  int tier = 1;                    ///< jobs of a larger one go first
  std::optional<Time> max_time{};  ///< the limit of a job without one
};

/// GPUs that a job holds on a node.
struct NodeGpus {
  std::string node;
  int gpus = 0;
};

struct SnapshotJob {
  std::string name, user;
  std::vector<std::string> partitions;  ///< in which it may run; the first one counts where one is needed
  int gpus = 0;                         ///< > 0
  int nodes = 1;                        ///< for which it asks
  std::int64_t priority = 0;            ///< larger goes first
  std::optional<Time> limit{};
  Time submitted;                  ///< since 1970
  std::optional<Time> started{};   ///< of a job that runs
  std::vector<NodeGpus> holds{};   ///< of a job that runs
  std::vector<std::string> after;  ///< jobs that must have ended first
};

/// A queue of Kueue, Volcano or KAI, or a cohort of Kueue, with its quotas of GPUs.
struct SnapshotQueue {
  std::string name, parent;
  std::optional<std::int64_t> gpus{};  ///< quota, or GPUs that it deserves; -1: any number
  std::optional<std::int64_t> borrowing_limit{}, lending_limit{}, guarantee{};
  std::optional<std::int64_t> most{};  ///< that it may use: limit, capability
  double weight = 1;                   ///< 0: nothing over the quota
  std::int64_t priority = 1;
  bool is_cohort = false, is_strict = false, is_reclaimable = true, borrows_preempting = false;
  bool is_deserved = false;       ///< the plugin capacity of Volcano
  bool may_borrow = true;         ///< false: it has no cohort to borrow from
  std::string within, reclaim{};  ///< rules of preemption as in scenarios; empty: never
  std::optional<std::int64_t> threshold{};
};

/// What the files say and the scenario doesn't: how often each thing occurs, by kind and name.
using LeftOut = std::map<std::string, std::map<std::string, std::int64_t>>;

struct ClusterSnapshot {
  std::string name = "cluster";
  std::string scheduler;  ///< the policy of the scenario that plays the cluster's scheduler; empty: the files don't say
  std::map<std::string, std::string> parameters;  ///< of the policy, value by name
  Time now{};                                     ///< since 1970
  std::string now_source;                         ///< what says so, in words
  std::vector<SnapshotNode> nodes;                ///< each name once; only nodes with GPUs
  std::vector<SnapshotPartition> partitions;
  std::vector<SnapshotJob> jobs;                    ///< each name once
  std::vector<SnapshotQueue> queues;                ///< each name once
  std::map<std::string, std::string> local_queues;  ///< of Kueue: `namespace/name`, and the queue for which it stands
  LeftOut left_out;
  std::vector<std::string> files;  ///< that were read

  // While the files are read.
  Time last_seen{};                              ///< when the scheduler looked at a job last
  std::set<std::string, std::less<>> known;      ///< nodes, jobs and pods
  std::vector<SnapshotNode> configured;          ///< nodes of slurm.conf, which count where no file has their states
  std::map<std::string, std::string> gpu_types;  ///< of gres.conf, by node; "": of all others
};

/// Reads the files of a cluster; a folder stands for all files in it, of which files of other kinds are noted. `now` is
/// the instant of the snapshot since 1970, where the files don't say it. Throws InputError with file and line, or file
/// and JSON path, for a file that is damaged, is of another kind, contradicts another file, or has no GPU.
/// `yaml` reads manifests of Kubernetes: the documents of a text as the list `items` of an object.
using ManifestReader = std::function<JsonValue(const std::string& text, const std::string& file)>;
[[nodiscard]] ClusterSnapshot read_snapshot(std::span<const std::string> paths, std::optional<Time> now,
                                            const ManifestReader& yaml = {});

/// The names in a list of hosts of Slurm: `gpu[001-004,007],login1`. Nothing if it has another form, or more than
/// 100,000 names.
[[nodiscard]] std::optional<std::vector<std::string>> slurm_hosts(std::string_view list);

/// GPUs in a list of generic resources of Slurm, `gpu:h100:8(S:0-1),shard:4`, and their kinds, joined by `/`.
struct GresGpus {
  std::int64_t gpus = 0;
  std::string type;
};
/// Nothing if a number of GPUs isn't one.
[[nodiscard]] std::optional<GresGpus> slurm_gres(std::string_view list);

// The readers of the kinds of files. Each adds to the snapshot what one file says.

/// `squeue --json` of any version. Jobs that have ended, are held or have no GPUs are left out and counted.
void add_squeue(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot);
/// `sinfo --json` and `scontrol show nodes --json` of any version.
void add_slurm_nodes(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot);
/// slurm.conf, gres.conf, or what `scontrol show config` or `scontrol show node` prints; which one the text says
/// itself. False if it is none.
[[nodiscard]] bool add_slurm_text(std::string_view text, const std::string& file, ClusterSnapshot& snapshot);
/// `kubectl get nodes -o json`, `kubectl get pods -o json`, or both in one list. Pods of one job are one job.
void add_kubernetes(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot);

}  // namespace contend
