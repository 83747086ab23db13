#include "policies/placement/tree_placement.hpp"

#include "policies/placement/free_servers.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

namespace {

class TreePlacement final : public PlacementPolicy {
 public:
  TreePlacement(TreeRule rule, DomainRule domains, int task_gpus, std::shared_ptr<const LevelTree> levels)
      : rule_{rule}, domains_{domains}, task_gpus_{task_gpus}, levels_{std::move(levels)} {
    if (levels_ == nullptr) levels_ = std::make_shared<const LevelTree>();
  }

  [[nodiscard]] bool refuses_alike() const override { return true; }
  [[nodiscard]] bool ignores_progress() const override { return true; }
  [[nodiscard]] bool takes_free_gpus() const override { return true; }
  [[nodiscard]] DomainRule domain_rule(const JobView& job, int gpus_per_server) const override {
    DomainRule rule = domains_;
    rule.task = task_of(job, gpus_per_server);
    return rule;
  }
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (asks_for_share(job)) return place_share(cluster, job, false, chosen);
    FreeServers servers{cluster, job};
    const int task = task_of(job, servers.per_server());
    TreeProblem problem{*levels_, servers.range(), std::vector<int>(cluster.servers()), job.gpus / task};
    if (job.level >= 0) problem.demand = &levels_->demand(job.level);
    for (std::uint32_t s = problem.range.first; s < problem.range.last; ++s)
      problem.rooms[s] = servers.room(ServerId{s}) / task;
    if (domains_.one_task)
      for (int& room : problem.rooms) room = std::min(room, 1);
    if (std::accumulate(problem.rooms.begin(), problem.rooms.end(), std::int64_t{0}) < problem.tasks) return;
    for (const auto& [server, tasks] : rule_(problem)) servers.take(server, tasks * task, chosen);
  }

 private:
  /// The size of the job's tasks. A part of a job has whole tasks, as far as its segments have.
  [[nodiscard]] int task_of(const JobView& job, int gpus_per_server) const {
    int most = task_gpus_ > 0 ? std::min(task_gpus_, gpus_per_server) : gpus_per_server;
    int whole = job.gpus;
    if (job.level >= 0)
      if (const int segment = levels_->demand(job.level).segment; segment > 0)
        whole = std::gcd(std::gcd(whole, segment), job.preferred_gpus);
    while (whole % most != 0) --most;
    return most;
  }

  TreeRule rule_;
  DomainRule domains_;
  int task_gpus_;
  std::shared_ptr<const LevelTree> levels_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_tree_placement(TreeRule rule, DomainRule domains, int task_gpus,
                                                     std::shared_ptr<const LevelTree> levels) {
  return std::make_unique<TreePlacement>(rule, domains, task_gpus, std::move(levels));
}

}  // namespace contend
