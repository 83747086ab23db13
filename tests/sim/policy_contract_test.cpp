// What is wrong with a policy ends the run wherever the policy runs: one sentence with kind and name of the policy, and
// the results until then.

#include "sim/ask_policy.hpp"
#include "sim/policy_failure.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Starts each job at once, but does what the test says in its pass number `at`, from 1, if that is not an empty
/// function.
class Rogue final : public SchedulingPolicy {
 public:
  using Deed = std::function<void(SchedulingActions&)>;
  Rogue(int at, Deed deed, bool starts = true) : at_{at}, starts_{starts}, deed_{std::move(deed)} {}
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] Time next_decision(const ClusterView&) override {
    return floods_at_ == passes_ ? Time{} : Time::never();
  }
  void flood_after(int pass) { floods_at_ = pass; }
  void queued(const JobView& job) override { waiting_.push_back(job.id); }
  void pass(const ClusterView&, SchedulingActions& actions) override {
    if (++passes_ == at_ && deed_) deed_(actions);
    if (starts_) std::erase_if(waiting_, [&](JobId job) { return actions.start(job); });
  }

 private:
  int at_, passes_ = 0, floods_at_ = -1;
  bool starts_;
  Deed deed_;
  std::vector<JobId> waiting_;
};

class ThrowingPlacement final : public PlacementPolicy {
 public:
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (job.id == JobId{1U}) throw std::out_of_range{"no such rack"};
    if (cluster.free_gpus() > 0) chosen.emplace_back(0U);
  }
};

class ThrowingCommunication final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override {
    throw std::runtime_error{"lost"};
  }
};

struct Ended {
  std::string reason;
  RunResult result;
};

/// A, submitted at 0, and B, submitted at 5 ns, which both take 10 ns. The GPU has no memory for both.
const std::vector<TestJob> kTwoShortJobs{{"role w 1 | compute a w 10", {0}, 1, 0, 60},
                                         {"role w 1 | compute b w 10", {0}, 1, 5, 60}};

Ended run_with(std::function<void(PolicySet&)> change, bool keeps = true, std::vector<TestJob> jobs = kTwoShortJobs,
               int servers = 1) {
  PolicySet policies = policies_of({}, jobs);
  policies.scheduling_name = "rogue";
  policies.placement_name = "racks";
  policies.communication_name = "words";
  change(policies);
  const auto failure = std::make_shared<PolicyFailure>();
  SimulationOptions options;
  if (keeps) options.failure = failure;
  Simulation simulation{{servers, 1, Bytes{100}},
                        workload_of(jobs),
                        std::move(policies),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), jobs.size()),
                        std::move(options)};
  Ended ended{.reason = {}, .result = simulation.run()};
  ended.reason = failure->reason();
  return ended;
}

Ended run_rogue(int at, Rogue::Deed deed, bool starts = true) {
  return run_with([&](PolicySet& set) { set.scheduling = std::make_unique<Rogue>(at, std::move(deed), starts); });
}

}  // namespace

TEST_CASE("a scheduling policy that throws ends the run, and the results until then are kept") {
  const Ended whole = run_rogue(0, {});
  CHECK(whole.reason.empty());
  CHECK(whole.result.jobs[1].finish == Time::nanoseconds(20));

  // The third pass is at 10 ns, when A has ended.
  const Ended thrown = run_rogue(3, [](SchedulingActions&) { throw std::logic_error{"what now"}; });
  CHECK(thrown.reason == "scheduling policy `rogue` threw an exception: what now");
  CHECK(thrown.result.interrupted);
  CHECK(thrown.result.jobs[0].state == JobState::finished);
  CHECK(thrown.result.jobs[0].finish == Time::nanoseconds(10));
  CHECK(thrown.result.jobs[1].state == JobState::queued);
  CHECK(thrown.result.end == Time::nanoseconds(10));

  CHECK(run_rogue(1, [](SchedulingActions&) { throw 7; }).reason ==
        "scheduling policy `rogue` threw an object that is no std::exception");
}

TEST_CASE("a scheduling policy that decides what can't be: the job, the instant and the reason") {
  static constexpr JobId kA{0U}, kB{1U}, kNobody{7U};
  const auto reason_of = [](int at, Rogue::Deed deed) { return run_rogue(at, std::move(deed)).reason; };
  CHECK(reason_of(1, [](SchedulingActions& actions) { actions.start(kA), actions.start(kA); }) ==
        "scheduling policy `rogue`: job `A` can't be started at 0 s: it runs");
  CHECK(reason_of(1, [](SchedulingActions& actions) { actions.start(kB); }) ==
        "scheduling policy `rogue`: job `B` can't be started at 0 s: it isn't queued yet");
  CHECK(reason_of(3, [](SchedulingActions& actions) { actions.start(kA); }) ==
        "scheduling policy `rogue`: job `A` can't be started at 1e-08 s: it is finished");
  CHECK(reason_of(1, [](SchedulingActions& actions) { actions.start(kNobody); }) ==
        "scheduling policy `rogue`: job number 7 can't be started at 0 s: the last of the 2 jobs has number 1");
  CHECK(reason_of(1, [](SchedulingActions& actions) { actions.preempt(kA, JobId::none()); }) ==
        "scheduling policy `rogue`: job `A` can't be preempted at 0 s: it waits");
}

TEST_CASE("a scheduling policy that starts nothing for ever") {
  const Ended never = run_rogue(0, {}, false);
  CHECK(
      never.reason ==
      "scheduling policy `rogue`: the run ended at 5e-09 s because nothing can happen any more: 1 GPU is free, 2 jobs "
      "wait, first `A` on 1 GPU, and the policy starts none");
  CHECK(never.result.jobs[0].state == JobState::queued);
  // A placement that has no room yet is not the fault of a policy that tries.
  CHECK(run_with([](PolicySet& set) { set.scheduling = std::make_unique<Rogue>(0, Rogue::Deed{}); }).reason.empty());
}

TEST_CASE("a scheduling policy that floods: it asks for passes that are not later than now") {
  const Ended flooded = run_with([](PolicySet& set) {
    auto rogue = std::make_unique<Rogue>(0, Rogue::Deed{});
    rogue->flood_after(2);  // at 5 ns, when B waits
    set.scheduling = std::move(rogue);
  });
  CHECK(flooded.reason == "scheduling policy `rogue`: asked for a pass that is not later than now, 5e-09 s");
  CHECK(flooded.result.interrupted);
  CHECK(flooded.result.jobs[0].state == JobState::running);
  CHECK(flooded.result.jobs[1].state == JobState::queued);
}

TEST_CASE("while a policy is asked, its thread knows which one") {
  const Ended asked = run_rogue(1, [](SchedulingActions&) {
    throw std::runtime_error{std::string{asked_policy.kind} + " " + asked_policy.name};
  });
  CHECK(asked.reason == "scheduling policy `rogue` threw an exception: scheduling rogue");
  CHECK(asked_policy.kind.empty());
}

TEST_CASE("placement and communication policies that throw are named by kind") {
  const Ended placed = run_with([](PolicySet& set) {
    set.scheduling = std::make_unique<Rogue>(0, Rogue::Deed{});
    set.placement = std::make_unique<ThrowingPlacement>();
  });
  CHECK(placed.reason == "placement policy `racks` threw an exception: no such rack");

  const Ended sent = run_with([](PolicySet& set) { set.communication = std::make_unique<ThrowingCommunication>(); },
                              true, {{"role w 2 | compute f w 10 | all-reduce g w 100 | f -> g", {0, 1}}}, 2);
  CHECK(sent.reason == "communication policy `words` threw an exception: lost");
  CHECK(sent.result.jobs[0].state == JobState::running);

  // Without a place for the reason the exception goes on to the caller.
  CHECK_THROWS_WITH_AS(run_with([](PolicySet& set) { set.placement = std::make_unique<ThrowingPlacement>(); }, false),
                       "placement policy `racks` threw an exception: no such rack", PolicyError);
}
