#include "tests/policies/scheduling_kit.hpp"

#include "tests/policies/policy_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/core.h>

namespace contend::test {

namespace {

/// The first server on which the whole job fits.
class OneServer final : public PlacementPolicy {
 public:
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const std::size_t per_server = cluster.gpus() / cluster.servers();
    for (std::size_t s = 0; s < cluster.servers(); ++s) {
      for (std::size_t g = s * per_server; g < (s + 1) * per_server; ++g) {
        if (cluster.fits(GpuId{g}, job) && chosen.size() < static_cast<std::size_t>(job.gpus)) chosen.emplace_back(g);
      }
      if (chosen.size() == static_cast<std::size_t>(job.gpus)) return;
      chosen.clear();
    }
  }
};

class AnyMessage final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override { return true; }
};

const char* text_of(Why why) {
  constexpr std::array kTexts{"no GPUs",     "no place",  "no domain",        "place taken",
                              "quota",       "behind",    "reserved",         "outranked",
                              "passed over", "throttled", "between decisions"};
  return kTexts.at(static_cast<std::size_t>(why));
}

std::string name_of(JobId job) {
  return job.index() < 26 ? std::string(1, static_cast<char>('A' + static_cast<int>(job.index())))
                          : std::to_string(job.index());
}

class Watch final : public SchedulingPolicy, private SchedulingActions {
 public:
  Watch(std::unique_ptr<SchedulingPolicy> policy, Played& played) : policy_{std::move(policy)}, played_{played} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return policy_->key(job); }
  void queued(const JobView& job) override {
    if (actions_ != nullptr) stop(job.id);  // it was preempted in this pass
    waiting_.insert(job.id);
    policy_->queued(job);
  }
  void left(JobId job) override {
    left_.push_back(job);
    policy_->left(job);
  }
  void resized(JobId job, const ClusterView& cluster) override { policy_->resized(job, cluster); }
  [[nodiscard]] bool idle_passes() const override { return true; }  // to see when jobs end
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
    return !waiting_.empty() || policy_->idle_passes() ? policy_->next_decision(cluster) : Time::never();
  }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    cluster_ = &cluster;
    actions_ = &actions;
    for (const JobId job : std::exchange(left_, {})) close(job);
    see_shrunk();
    if (!waiting_.empty() || policy_->idle_passes()) policy_->pass(cluster, *this);
    look();
    actions_ = nullptr;
  }

 private:
  [[nodiscard]] bool refused_alike() const override { return actions_->refused_alike(); }
  bool start(JobId job) override {
    if (!actions_->start(job)) return false;
    open(job);
    return true;
  }
  bool start_in(JobId job, const ClusterView& usable) override {
    if (!actions_->start_in(job, usable)) return false;
    open(job);
    return true;
  }
  bool plan_in(JobId job, const ClusterView& then, std::vector<GpuId>& place) override {
    if (!actions_->plan_in(job, then, place)) return false;
    played_.first_plans.try_emplace(job, then.now());
    return true;
  }
  bool start_on(JobId job, std::int32_t type) override {
    if (!actions_->start_on(job, type)) return false;
    open(job);
    return true;
  }
  bool start_with(JobId job, int gpus, std::int32_t type) override {
    if (!actions_->start_with(job, gpus, type)) return false;
    open(job);
    return true;
  }
  bool start_at(JobId job, std::span<const GpuId> gpus) override {
    if (!actions_->start_at(job, gpus)) return false;
    open(job);
    return true;
  }
  bool resize(JobId job, int gpus) override {
    const bool is_other = cluster_->job(job).gpus != gpus;
    if (!actions_->resize(job, gpus)) return false;
    if (is_other) stop(job);
    if (is_other) open(job);
    return true;
  }
  void refuse(JobId job, std::string_view reason) override {
    actions_->refuse(job, reason);
    waiting_.erase(job);
  }
  bool start_preempting(JobId job, std::span<const JobId> candidates) override {
    if (!actions_->start_preempting(job, candidates)) return false;
    open(job);
    return true;
  }
  void place_anew(std::span<const Claim> order, std::int64_t capacity) override {
    actions_->place_anew(order, capacity);
    for (const auto& [job, width] : order) {
      if (cluster_->job(job).running && !open_.contains(job)) open(job);
    }
  }
  void open(JobId job) {
    waiting_.erase(job);
    const auto gpus = cluster_->gpus_of(job);
    Hold run{job, {gpus.begin(), gpus.end()}, cluster_->now(), Time::never()};
    if (run.gpus.size() != static_cast<std::size_t>(cluster_->job(job).gpus)) fault(job, "has not its whole gang");
    for (const GpuId gpu : run.gpus) {
      if (cluster_->job(job).gpu_share == kWholeGpu && !holder_.try_emplace(gpu, job).second) {
        fault(job, fmt::format("shares GPU {}", gpu.value()));
      }
    }
    open_[job] = played_.runs.size();
    played_.runs.push_back(std::move(run));
  }
  bool plan_together(std::span<SizedClaim> claims) override { return actions_->plan_together(claims); }
  void take_places(std::span<const SizedClaim> claims) override {
    std::map<JobId, std::vector<GpuId>> held;
    for (const SizedClaim& claim : claims) {
      const auto gpus = cluster_->gpus_of(claim.job);
      held[claim.job] = {gpus.begin(), gpus.end()};
    }
    actions_->take_places(claims);  // queued() closes those that are preempted
    std::vector<JobId> moved;
    for (const SizedClaim& claim : claims) {
      const bool stays = open_.contains(claim.job) && std::ranges::equal(held[claim.job], cluster_->gpus_of(claim.job));
      if (stays) continue;
      if (open_.contains(claim.job)) stop(claim.job);
      moved.push_back(claim.job);
    }
    for (const JobId job : moved) open(job);
  }
  [[nodiscard]] bool preemption_costs() const override { return actions_->preemption_costs(); }
  [[nodiscard]] RoomNeeded room_needed(JobId job) const override { return actions_->room_needed(job); }
  void preempt(JobId job, JobId by) override { actions_->preempt(job, by); }
  void blocked(JobId job, Why why, JobId by) override {
    actions_->blocked(job, why, by);
    const std::string reason = text_of(why) + (by.valid() ? ", " + name_of(by) : std::string{});
    std::string& known = reasons_[job];
    if (known == reason) return;
    known = reason;
    played_.waits.push_back(fmt::format("{:g} {}: {}", cluster_->now().to_seconds(), name_of(job), reason));
  }
  void reserved(JobId job, Time start, std::span<const GpuId> gpus) override {
    actions_->reserved(job, start, gpus);
    std::map<std::size_t, int> counts;
    for (const GpuId gpu : gpus) ++counts[cluster_->server_of(gpu).index()];
    std::string text = fmt::format("{:g}@", start.to_seconds());
    for (const auto& [server, number] : counts) text += fmt::format("{}:{} ", server, number);
    text.pop_back();
    std::vector<std::string>& known = played_.reservations[job];
    if (known.empty() || known.back() != text) known.push_back(text);
  }
  void remark(std::string_view what, std::span<const JobId> jobs) override { actions_->remark(what, jobs); }
  [[nodiscard]] bool placement_is_due() const override { return actions_->placement_is_due(); }
  [[nodiscard]] bool recording() const override { return true; }

  /// The policy takes the GPUs of the job.
  void stop(JobId job) {
    if (played_.runs[open_.at(job)].start == cluster_->now())
      played_.vain_starts.push_back(fmt::format("{} at {:g} s", name_of(job), cluster_->now().to_seconds()));
    close(job);
  }
  void close(JobId job) {
    Hold& run = played_.runs[open_.at(job)];
    run.end = cluster_->now();
    for (const GpuId gpu : run.gpus) holder_.erase(gpu);
    open_.erase(job);
  }
  /// Jobs that lost GPUs of servers that were lent.
  void see_shrunk() {
    if (cluster_->loanable().size() == 0) return;
    std::vector<JobId> shrunk;
    for (const auto& [job, run] : open_)
      if (played_.runs[run].gpus.size() != cluster_->gpus_of(job).size()) shrunk.push_back(job);
    for (const JobId job : shrunk) close(job);
    for (const JobId job : shrunk) open(job);
  }
  void look() {
    bool is_idle = false, is_out_of_order = false;
    std::vector<JobView> running;
    for (const auto& [id, run] : open_) running.push_back(cluster_->job(id));
    for (const JobId id : waiting_) {
      const JobView job = cluster_->job(id);
      const PolicyKey its_key = policy_->key(job);
      is_out_of_order = is_out_of_order || std::ranges::any_of(running, [&](const JobView& runs) {
                          return job.gpus <= runs.gpus && its_key < policy_->key(runs);
                        });
      is_idle = is_idle || (job.gpus <= cluster_->free_gpus_of_vc(job.vc) && job.gpus <= cluster_->quota_left(job.vc));
    }
    played_.passes_with_idle_room += is_idle ? 1 : 0;
    played_.passes_out_of_order += is_out_of_order ? 1 : 0;
    for (std::int32_t vc = 0; vc < 8; ++vc) {
      int& most = played_.most_of_vc[vc];
      most = std::max(most, cluster_->vc_used(vc));
    }
  }
  void fault(JobId job, const std::string& what) {
    played_.faults.push_back(fmt::format("job {} {}", job.value(), what));
  }

  std::unique_ptr<SchedulingPolicy> policy_;
  Played& played_;
  const ClusterView* cluster_ = nullptr;
  SchedulingActions* actions_ = nullptr;
  std::set<JobId> waiting_;
  std::vector<JobId> left_;
  std::map<JobId, std::size_t> open_;
  std::map<GpuId, JobId> holder_;
  std::map<JobId, std::string> reasons_;  // the last of each job
};

}  // namespace

std::unique_ptr<PlacementPolicy> one_server() {
  return std::make_unique<OneServer>();
}

std::string Played::finishes() const {
  std::string text;
  for (const JobResult& job : result.jobs) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", job.name, job.finish.ns() / 1'000'000'000);
  }
  return text;
}

std::string holds(const Played& played) {
  std::string text;
  for (const Hold& run : played.runs)
    text += fmt::format("{}{}{} {:.4g}-{:.4g}", text.empty() ? "" : ", ",
                        static_cast<char>('A' + static_cast<int>(run.job.index())), run.gpus.size(),
                        run.start.to_seconds(), run.end.to_seconds());
  return text;
}

std::string Played::preemptions() const {
  std::string text;
  for (const JobResult& job : result.jobs) {
    if (job.preemptions > 0) text += fmt::format("{}{}{}", text.empty() ? "" : " ", job.name, job.preemptions);
  }
  return text;
}

double Played::mean_jct_s() const {
  double sum = 0;
  for (const JobResult& job : result.jobs) sum += job.jct().to_seconds();
  return sum / static_cast<double>(result.jobs.size());
}

std::int64_t Played::total_preemptions() const {
  std::int64_t sum = 0;
  for (const JobResult& job : result.jobs) sum += job.preemptions;
  return sum;
}

Played play(const Choice& choice, const ClusterSpec& cluster, std::vector<JobSpec> jobs,
            std::unique_ptr<PlacementPolicy> placement, const SchedulingRules& rules,
            std::vector<std::vector<JobSize>> sizes, std::vector<std::vector<BatchRegime>> regimes,
            const FailureSpec& failures, std::vector<std::vector<JobPace>> paces, const AccountTree& accounts) {
  Played played;
  Workload workload;
  workload.paces = std::move(paces);
  workload.sizes = std::move(sizes);
  workload.regimes = std::move(regimes);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].name = jobs.size() <= 26 ? std::string(1, static_cast<char>('A' + static_cast<int>(j))) : std::to_string(j);
  }
  workload.jobs = std::move(jobs);
  PolicyContext context;
  context.quantum = rules.quantum;
  context.accounts = [&] { return accounts; };
  PolicySet policies{std::make_unique<Watch>(scheduling(choice, context), played),
                     placement ? std::move(placement) : std::make_unique<AnyGpus>(),
                     std::make_unique<AnyMessage>(),
                     choice.name,
                     "any-gpus",
                     "any-message"};
  auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), workload.jobs.size());
  SimulationOptions options;
  options.rules = rules;
  options.failures = failures;
  Simulation simulation{cluster, workload, std::move(policies), std::move(network), std::move(options)};
  played.result = simulation.run();
  return played;
}

Played play(const Choice& choice, int gpus, std::vector<JobSpec> jobs) {
  ClusterSpec cluster;
  cluster.gpus_per_server = gpus;
  cluster.gpu_memory = Bytes{1};
  return play(choice, cluster, std::move(jobs));
}

}  // namespace contend::test
