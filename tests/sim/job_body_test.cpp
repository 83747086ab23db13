// The life of a job with a body of another kind than timed and graph jobs have: Allocation takes the steps of the life,
// and the body says what becomes of the work.

#include "sim/job_body.hpp"
#include "sim/allocation.hpp"
#include "tests/sim/test_kit.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Answers requests for as long as it has GPUs, and has always saved its work. Notes its steps with the GPUs that the
/// job holds then.
class Helpdesk final : public JobBody {
 public:
  explicit Helpdesk(EngineState& state) : state_{state} {}

  [[nodiscard]] bool has_iterations() const override { return false; }
  [[nodiscard]] bool shares_by_law() const override { return false; }
  void start(JobId job) override { note("start", job); }
  bool go_back(JobId job) override {
    note("go-back", job);
    return true;
  }
  void go_on(JobId job, Time /*stands*/, bool /*is_struck*/) override { note("go-on", job); }
  void leave(JobId job) override { note("leave", job); }
  bool settle(JobId job, Time held) override {
    note(fmt::format("settle-{}", held.ns()), job);
    return false;
  }
  [[nodiscard]] GpuTime undone(const JobRun& /*run*/) const override { return {}; }
  [[nodiscard]] GpuTime uncounted(const JobRun& /*run*/) const override { return {}; }
  [[nodiscard]] std::optional<GpuTime> executed(const JobRun& /*run*/) const override { return std::nullopt; }
  [[nodiscard]] Time busy_now(const JobRun& /*run*/, GpuId /*gpu*/, Time /*now*/) const override { return {}; }
  void add_present(const JobRun& /*run*/, JobTotals& /*totals*/) const override {}
  [[nodiscard]] std::int64_t iterations_done(const JobRun& /*run*/, std::int64_t completed,
                                             std::int64_t /*all*/) const override {
    return completed;
  }
  [[nodiscard]] std::string work_to_save(const PreemptionCosts& /*costs*/) const override { return "nothing"; }

  /// The steps since this was called last.
  [[nodiscard]] std::string steps() { return std::exchange(steps_, {}); }

 private:
  void note(const std::string& step, JobId job) {
    steps_ += fmt::format("{}{} {}", steps_.empty() ? "" : ", ", step, state_.run(job).gpus.size());
  }

  EngineState& state_;
  std::string steps_;
};

}  // namespace

TEST_CASE("the life of a job asks its body, whatever the body does") {
  Workload workload;
  workload.jobs = {timed_ns(0, 1000, 2)};
  workload.jobs[0].name = "A";
  EngineState state{ClusterSpec{2, 2, Bytes{100}}, std::move(workload), policies_of({}, {}),
                    std::make_unique<FixedNetwork>(1, 2, 1), SimulationOptions{}};
  Helpdesk service{state};
  Allocation allocation{state};
  const JobId job{0U};
  JobRun& run = state.run(job);
  run.body = &service;
  const auto wait = [&] {
    run.waits = true;
    run.since = state.clock;
    ++state.waiting;
  };
  const auto pass_time = [&](int ns) { state.clock += Time::nanoseconds(ns); };
  state.set_state(job, JobState::queued);
  wait();
  pass_time(3);
  allocation.start(job, std::vector{GpuId{0U}, GpuId{1U}});
  CHECK(service.steps() == "start 2");
  CHECK(run.totals.waited == Time::nanoseconds(3));
  CHECK(state.free_gpus() == 2);
  pass_time(7);
  CHECK(allocation.stop(job));
  CHECK(service.steps() == "go-back 2, leave 2, settle-7 2");
  CHECK(run.state == JobState::preempted);
  CHECK(run.totals.preemptions == 1);
  CHECK(state.free_gpus() == 4);
  wait();
  allocation.start(job, std::vector{GpuId{1U}, GpuId{2U}});
  pass_time(5);
  CHECK(allocation.resize(job, std::vector{GpuId{0U}, GpuId{3U}}));
  CHECK(service.steps() == "start 2, go-back 2, leave 2, settle-5 2, start 2");
  CHECK(run.servers_spanned == 2);
  pass_time(11);
  CHECK(allocation.interrupt(job, JobState::queued, false, false));
  CHECK(service.steps() == "go-back 2, leave 2, settle-11 2");
  CHECK(run.struck == 1);
  CHECK(run.totals.held == Time::nanoseconds(7 + 5 + 11));
  CHECK(run.totals.gpu_time == GpuTime::nanoseconds(2 * (7 + 5 + 11)));
  CHECK(state.free_gpus() == 4);
}
