#pragma once
// RoundPolicy is the base class of policies that divide the time of jobs among types of servers. A derived class says
// which share of its time each job should run on each type; rounds make these shares come true (Narayanan et al.,
// "Gavel", OSDI 2020, section 5, and its released scheduler).
//
// Time is cut into rounds. In a round a job runs on one type or waits. The priority of job i on type j is x_ij over the
// part of the type's time that it has received, and 10^9 x_ij if it has received none. At the begin of a round pairs of
// a job and a type are taken by falling priority, then deficit, share and speed, then in order of submission, unless
// the job has been taken already or too few GPUs of the type are left. The released scheduler lets one type after the
// other choose, in random order. A job that is taken on the type where it runs keeps its GPUs; others give theirs up,
// and those that start are placed in order of falling size.
//
// The shares are found again where a job has arrived or left, but not before `reallocate` has passed since the last
// time. Then each deficit grows by the share times that time, less the time received, and the received times begin
// again, at half a round each. So a job that arrives in between waits for the next time, as in the released scheduler;
// with `fill` it may use GPUs that are left over.
//
// GPUs are those in service on the servers that the jobs may use, of types on which any of them may run. A virtual
// cluster whose jobs would have more than its quota is divided by itself (parts_within_quotas). The shares are found
// again, too, where GPUs have gone out of service or have come back. Where jobs could need more CPUs or host memory
// than the servers of a type have, the shares keep to them.
//
// Where jobs may share GPUs (`pack`), pairs of jobs have shares, priorities and deficits of their own beside the
// shares, priorities and deficits of the jobs alone, and a pair is taken if none of its jobs has been taken in the
// round (section 5 of the paper). Each job of a pair counts its GPUs in its quota, in the shares as in the rounds.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/type_allocation.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace contend {

inline constexpr ParameterInfo kPack{
    "pack", false, 0, 0,
    "pairs of jobs with as many GPUs share them, where that makes the division better; needs scheduling.sharing"};
inline constexpr ParameterInfo kRoundParameters[] = {
    {"round_s", 360.0, 1, 1e6, "length of a round, in seconds"},
    {"reallocate_s", 1920.0, 0, 1e7,
     "shortest time between two new divisions of the cluster, in seconds; a job that arrives waits for the next"},
    {"fill", false, 0, 0,
     "jobs without a share yet, and those whose share is used up, run on GPUs that are left over, at any time"}};

class RoundPolicy : public SchedulingPolicy {
 public:
  /// `packs`: pairs of jobs may share GPUs.
  explicit RoundPolicy(const Parameters& parameters, bool packs = false);
  /// Jobs with a share of 0 take GPUs that are left over in a round, those with the largest deficit first.
  RoundPolicy(Time round, Time reallocate_after);

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& job) override;
  void left(JobId job) override;
  void pass(const ClusterView& cluster, SchedulingActions& actions) override;
  [[nodiscard]] bool idle_passes() const override { return true; }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override;
  [[nodiscard]] Time slice(int) const override { return round_; }

 protected:
  /// The shares for these jobs, all or the jobs of a virtual cluster whose quota limits them. `view` is what they were
  /// made of.
  [[nodiscard]] virtual TimeShares divide(const TypedCluster& cluster, const ClusterView& view) = 0;

 private:
  /// What a job, or a pair of jobs on the same GPUs, is to have of each type, and has had.
  struct Account {
    bool has_share = false;
    std::vector<double> shares, received, deficit;  ///< by type; received and deficit in seconds
  };
  struct Job {
    JobView view;
    std::int32_t type = -1;         ///< on which it runs; -1: it waits
    JobId partner = JobId::none();  ///< on the same GPUs
    Account alone;
    std::vector<double> rates;  ///< by type
    double isolated_s = 0;      ///< TypedJob::isolated
    double isolated_rate = 0;   ///< rate on its equal share since the last division
    double left_s = 0;          ///< work left at the last division
    bool is_taken = false;      ///< in this round
    PlaceInLine place{};        ///< in this round, where it is not taken: the best of all types
  };

  using Key = std::pair<std::int64_t, JobId>;  ///< JobView::tie
  /// A job or a pair on a type that might take it.
  struct Entry {
    double priority, deficit, share, rate;
    Job *first, *second;  ///< second may be nullptr
    std::size_t type;
  };
  /// A job or a pair that a type takes in a round.
  struct Taken {
    Job *first, *second;  ///< second may be nullptr
    std::int32_t type;
  };

  void count_time(Time now);
  void settle(Account& account, double elapsed_s, std::size_t types) const;
  static void set_shares(Account& account, std::span<const double> shares);
  static void add_quotas(const ClusterView& cluster, TypedCluster& typed);
  void add_hosts(const ClusterView& cluster, TypedCluster& typed) const;
  static void add_pairs(const ClusterView& cluster, SchedulingActions& actions, TypedCluster& typed);
  void part(Job& job);
  /// GPUs in service, by type, on the servers of the jobs; 0 of a type on which none of them may run.
  [[nodiscard]] std::vector<int> gpus_of(const ClusterView& cluster) const;
  void reallocate(const ClusterView& cluster, SchedulingActions& actions);
  /// The jobs of a part, which are these of `jobs_` in its order.
  [[nodiscard]] TypedCluster typed(const ClusterView& cluster, SchedulingActions& actions, const GpuPart& part,
                                   std::span<const Key> keys);
  [[nodiscard]] TypedJob typed(const ClusterView& cluster, Job& job, const JobView& view) const;
  /// Those that have a share, in the order in which types take them.
  [[nodiscard]] std::vector<Entry> entries(std::size_t types);
  /// Sets the places in line of the jobs that have not been taken.
  void line_up(std::span<const Entry> order, std::size_t types);
  /// Chooses the jobs of the round, each once.
  [[nodiscard]] std::vector<Taken> choose(const ClusterView& cluster);
  void start_round(const ClusterView& cluster, SchedulingActions& actions);
  void fill(const ClusterView& cluster, SchedulingActions& actions);

  Time round_, reallocate_after_;
  bool fills_, packs_, lends_ = false;
  std::map<Key, Job> jobs_;
  std::map<std::pair<Key, Key>, Account> pairs_;  // with a share; the smaller key is in front
  std::map<JobId, std::int64_t> ties_;
  Time counted_until_{};
  Time divided_at_ = Time::never(), next_round_{};
  bool has_changed_ = false;
  std::vector<int> divided_gpus_;  // gpus_of() at the last division
};

}  // namespace contend
