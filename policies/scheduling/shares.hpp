#pragma once
// SharePolicy is the base class of policies that divide the cluster among accounts, which are virtual clusters or
// users. The account with the smallest share goes next. Within an account jobs go in order of submission.
//
// A quota that may be exceeded (`borrows`) guarantees a virtual cluster that many GPUs. The virtual cluster may borrow
// GPUs that others leave idle, after all jobs within their quotas. It has to give them back when a job within the quota
// of its own virtual cluster finds too few free GPUs: the policy then preempts the job that started last in the virtual
// cluster furthest above its quota.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/lanes.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace contend {

/// The resources that an account holds.
struct Holdings {
  std::int64_t milli_gpus = 0;  ///< thousandths of GPUs, shares included
  std::int64_t milli_cpus = 0;
  std::int64_t host_bytes = 0;
};

/// The parameters of SharePolicy::Options.
inline constexpr ParameterInfo kByUser{"by_user", false, 0, 0, "accounts are users; false: virtual clusters"};
inline constexpr ParameterInfo kReclaim{
    "reclaim", true, 0, 0,
    "jobs within the quota of their virtual cluster preempt jobs of virtual clusters that borrow"};
inline constexpr ParameterInfo kStrictShares{"strict", false, 0, 0,
                                             "a job that can't start holds back accounts with larger shares"};

/// PolicyRow::accounts: users have no weights.
[[nodiscard]] inline AccountUse accounts_of_shares(const Parameters& parameters) {
  return {.weight = !parameters.get<bool>("by_user"), .guarantees = true};
}

class SharePolicy : public SchedulingPolicy {
 public:
  struct Options {
    bool by_user = false;  ///< accounts are users; false: virtual clusters
    bool strict = false;   ///< a job that can't start holds back the rest of its account and those with larger shares
    bool reclaim = true;   ///< jobs within their quotas take borrowed GPUs back
    std::vector<std::optional<double>> weights{};  ///< of virtual clusters; nothing: the quota is the weight
    Options(const Parameters& parameters, const PolicyContext& context);
  };
  explicit SharePolicy(Options options) : options_{std::move(options)} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const final { return job.submit.ns(); }
  void queued(const JobView& view) final;
  void left(JobId job) final;
  void resized(JobId id, const ClusterView& cluster) final;
  void pass(const ClusterView& cluster, SchedulingActions& actions) final;

 protected:
  /// Returns the current share of an account; the smallest share goes first. `weight` > 0 is the account's claim on the
  /// cluster relative to the other accounts.
  [[nodiscard]] virtual double share(std::int32_t account, const Holdings& held, double weight) = 0;
  /// Called first in a pass.
  virtual void look(const ClusterView& /*cluster*/) {}
  /// Counts how often GPUs of any server have gone out of service or come back.
  [[nodiscard]] std::uint64_t service_changes(const ClusterView& cluster) const;
  /// Called before the holdings of an account change; `held` are those until now.
  virtual void changes(std::int32_t /*account*/, const Holdings& /*held*/, Time /*now*/) {}

 private:
  struct Job {
    JobView view;
    std::uint64_t started = 0;  ///< number of its start, counted over all jobs; 0: the job waits
    Time since{};               ///< start of its run, or when it was resized
  };
  struct Account {
    Lanes lanes;
    Holdings held;
    std::int32_t vc = -1;
  };
  /// An account and the job of it to try next in this pass.
  struct Turn {
    double share = 0;
    std::int32_t account = 0;
    Lanes::Place next;
    bool operator<(const Turn& other) const { return share != other.share ? share < other.share : next < other.next; }
  };

  [[nodiscard]] Job& job(JobId id) { return jobs_[id.index()]; }
  [[nodiscard]] std::int32_t account_of(const JobView& view) const { return options_.by_user ? view.user : view.vc; }
  [[nodiscard]] double weight(const ClusterView& cluster, const Account& account) const;
  [[nodiscard]] static bool within_quota(const ClusterView& cluster, const JobView& view);
  void insert(const JobView& view);
  /// Returns the largest number of GPUs with which a job of the virtual cluster could start in this round.
  [[nodiscard]] int reach(const ClusterView& cluster, std::int32_t vc, bool borrowing) const;
  /// Returns the next job of the account that may start in this round, and nullptr if there is none.
  [[nodiscard]] const Lanes::Place* next_of(const ClusterView& cluster, Account& account, bool borrowing) const;
  void add_turn(const ClusterView& cluster, std::int32_t account, bool borrowing);
  [[nodiscard]] bool round(const ClusterView& cluster, SchedulingActions& actions, bool borrowing);
  enum class Attempt { refused, started, started_preempting };
  Attempt try_to_start(const ClusterView& cluster, SchedulingActions& actions, JobId job, bool borrowing);
  bool start_taking_back(const ClusterView& cluster, SchedulingActions& actions, const JobView& view);
  void explain(const ClusterView& cluster, SchedulingActions& actions);
  void hold(const JobView& view, int sign);
  void settle_left(const ClusterView& cluster);

  Options options_;
  Time now_{};
  bool in_pass_ = false;
  std::uint64_t starts_ = 0;
  Shapes shapes_;
  std::vector<Job> jobs_;  // by job
  std::map<std::int32_t, Account> accounts_;
  std::map<std::int32_t, std::map<std::uint64_t, JobId>> running_;  // by virtual cluster with a quota, by start
  std::set<Turn> turns_;                                            // of the current round
  std::set<std::int32_t> refused_;                                  // shapes of which no job can start in this round
  std::set<JobId> refused_jobs_;                                    // strict: in this pass
  JobId holds_back_all_;                                            // strict: the job that holds back every account
  std::map<std::int32_t, JobId> holds_back_;                        // strict: by account, the job that holds it back
  std::vector<JobId> left_;                                         // since the last pass
  std::vector<JobView> arrived_;                                    // since the last pass
};

}  // namespace contend
