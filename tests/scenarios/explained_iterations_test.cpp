// For what a job of a cluster spends its iterations, and which messages have to do with it.
#include "scenarios/run/explain_job.hpp"
#include "scenarios/study/study_run.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

namespace contend {
namespace {

constexpr const char* kMembers[] = {"fusion: ddp, framework: horovod", "fusion: wfbp, input: 2ms", "fusion: horovod",
                                    "fusion: bsp, compression: top-k, host_ns_per_value: 3",
                                    "fusion: ddp, exchange: parameter-server, colocated: true"};

std::string network_of(const std::string& fidelity) {
  return fmt::format(
      "network: {{fidelity: {}, nic: 10Gbps, alpha: 30us, formula: ring, inside: {{bandwidth: 100Gbps, alpha: "
      "5us}}}}\n",
      fidelity);
}

double seconds_of(const StudyMessages& job, IterationPart part) {
  double sum = 0;
  for (const AccountRow& row : job.account)
    if (row.part == part) sum += row.seconds;
  return sum;
}

double sum_of(const StudyMessages& job) {
  double sum = 0;
  for (const AccountRow& row : job.account) sum += row.seconds;
  return sum;
}

/// The rows are all the time that the job had GPUs.
void check_sum(const ExplainedJob& explained) {
  REQUIRE(explained.iteration);
  const JobResult& job = explained.result.jobs[explained.job.index()];
  CHECK(sum_of(*explained.iteration) * static_cast<double>(job.iterations_done) == near(job.held.to_seconds(), 1e-9));
}

Scenario jobs_of(const std::string& network, const std::string& cluster, const std::string& entries,
                 const std::string& generate, const std::string& policies = "placement: consolidated") {
  return parsed(fmt::format("{}cluster: {{{}}}\ntraining: {{{}}}\npolicies: {{{}}}\nworkload: {{generate: {{{}}}}}\n",
                            network, cluster, entries, policies, generate));
}

}  // namespace

TEST_CASE("a job that is alone spends its iterations as the study of its entry says, message by message") {
  for (const std::string fidelity : {"analytic", "contention", "flow"}) {
    for (const std::string members : kMembers) {
      INFO(fidelity, " ", members);
      const std::string entry = fmt::format("it: {{model: resnet18, batch: 16, {}}}", members);
      if (fidelity == "flow" && members.find("server") != std::string::npos) continue;
      const std::string network = fidelity == "flow"
                                      ? "network: {fidelity: flow, nic: 10Gbps, fabric: {kind: single-switch}}\n"
                                      : network_of(fidelity);
      const Scenario study = parsed(network + "cluster: {gpus_per_server: 2}\ntraining: {" + entry +
                                    "}\noverlap: {training: it, workers: [8]}\n");
      const StudyMessages expected = messages_of_study(study).front();
      const Scenario jobs = jobs_of(network, "servers: 4, gpus_per_server: 2", entry,
                                    "models: [it], sizes: {8: 1}, iterations: [300, 300], arrivals: 1ms");
      const ExplainedJob explained = explain_job(jobs, 1, "job-0");
      check_sum(explained);
      const StudyMessages& found = *explained.iteration;
      for (const IterationPart part : {IterationPart::compute, IterationPart::input, IterationPart::kernels,
                                       IterationPart::exposed, IterationPart::timer}) {
        INFO(to_string(part));
        // The first iteration has no messages to wait for, and the last one waits for all of its own.
        CHECK(seconds_of(found, part) == near_absolute(seconds_of(expected, part), 0.01 * sum_of(expected)));
      }
      REQUIRE(found.phases.size() == expected.phases.size());
      double exposed = 0;
      for (std::size_t phase = 0; phase < found.phases.size(); ++phase) {
        REQUIRE(found.phases[phase].messages.size() == expected.phases[phase].messages.size());
        for (std::size_t i = 0; i < found.phases[phase].messages.size(); ++i) {
          const StudyMessage &one = found.phases[phase].messages[i], &other = expected.phases[phase].messages[i];
          CHECK(one.name == other.name);
          CHECK(one.sent_bytes == other.sent_bytes);
          CHECK(one.transfer.to_seconds() == near(other.transfer.to_seconds(), 0.01));
          CHECK(one.exposed_s == near_absolute(other.exposed_s, 0.01 * sum_of(expected)));
          exposed += one.exposed_s * found.phases[phase].share;
        }
      }
      CHECK(exposed == near(seconds_of(found, IterationPart::exposed), 1e-3));
    }
  }
}

TEST_CASE("jobs that take turns on a GPU wait for it, and that is no communication") {
  const Scenario scenario =
      jobs_of("", "servers: 1, gpus_per_server: 1", "it: {model: resnet18, batch: 4}",
              "models: [it], sizes: {1: 2}, iterations: [50, 50], arrivals: 1ms", "placement: first-fit");
  const ExplainedJob explained = explain_job(scenario, 1, "job-1");
  check_sum(explained);
  const StudyMessages& job = *explained.iteration;
  CHECK(seconds_of(job, IterationPart::exposed) == 0);
  // The other job goes first until it has ended, and this one gets a task in between before that at most.
  CHECK(seconds_of(job, IterationPart::shared) + seconds_of(job, IterationPart::start) > 0);
}

TEST_CASE(
    "a message that waits beside the task of another job is exposed, and a task that is ready waits for the GPU") {
  const Scenario scenario =
      jobs_of(network_of("contention"), "servers: 2, gpus_per_server: 1", "it: {model: vgg16, batch: 4, fusion: bsp}",
              "models: [it], sizes: {2: 2}, iterations: [40, 40], arrivals: 1ms",
              "placement: first-fit, communication: {policy: srsf, ways: 1}");
  const ExplainedJob explained = explain_job(scenario, 1, "job-0");
  check_sum(explained);
  const StudyMessages& job = *explained.iteration;
  const JobResult& result = explained.result.jobs[explained.job.index()];
  CHECK(seconds_of(job, IterationPart::exposed) > 0);
  // Its messages end in order, so that it is idle for all of the time of the one message, and for no more.
  CHECK(seconds_of(job, IterationPart::exposed) <=
        result.communication.to_seconds() / static_cast<double>(result.iterations_done) * (1 + 1e-9));
}

TEST_CASE("what comes before the first task and after a preemption is a part of its own") {
  const Scenario scenario =
      jobs_of(network_of("analytic"), "servers: 2, gpus_per_server: 2", "it: {model: resnet18, batch: 8}",
              "models: [it], sizes: {1: 3, 2: 4, 4: 3}, iterations: [20, 600], arrivals: 3s",
              "scheduling: {policy: srtf, preemptive: true}, placement: consolidated");
  std::size_t preempted = 0;
  for (int number = 0; number < 10; ++number) {
    const ExplainedJob explained = explain_job(scenario, 3, fmt::format("job-{}", number));
    check_sum(explained);
    if (explained.result.jobs[explained.job.index()].preemptions == 0) continue;
    ++preempted;
  }
  CHECK(preempted > 0);
}

TEST_CASE("without iterations the run leaps, and gives the same") {
  const Scenario scenario = jobs_of(network_of("contention"), "servers: 4, gpus_per_server: 2", "it: {model: resnet18}",
                                    "models: [it], sizes: {2: 4, 8: 3}, iterations: [100, 900], arrivals: 20s");
  const ExplainedJob fast = explain_job(scenario, 1, "job-3", {}, ExplainWhat::waits);
  const ExplainedJob whole = explain_job(scenario, 1, "job-3");
  CHECK_FALSE(fast.iteration);
  CHECK(fast.result.digest == whole.result.digest);
  CHECK(fast.result.leapt_events > 0);
  CHECK(whole.result.leapt_events == 0);
  check_sum(whole);
}

TEST_CASE("a job that stands in the middle and begins again spends its iterations as before") {
  // GPU 3 computes 1.5 times as long for 300 s. A step that takes 10 s of standing gives its work to the others.
  ListedJobs slow;
  const std::string text =
      "cluster: {servers: 1, gpus_per_server: 8}\npolicies: {scheduling: fifo}\n"
      "training: {it: {model: resnet18, single_worker: 62ms}}\nworkload: {jobs: " +
      slow.file("jobs.csv", "job_id,submit_s,model,gpus,iterations\ntrain,0,it,8,10000\n") +
      "}\nfailures: {events: " + slow.file("events.csv", "component,down_s,up_s,slows\ngpu3,100,400,1.5\n") +
      ", mitigation: {microbatches: 10s}}\n";
  const ExplainedJob explained = explain_job(parsed(text), 1, "train");
  check_sum(explained);
  const double computes = seconds_of(*explained.iteration, IterationPart::compute);
  CHECK(computes > 0.0619);
  CHECK(computes < 0.064);  // a few more of its micro-batches for 270 s
  const double stands = explained.result.jobs.front().overhead.to_seconds() / 10'000;
  CHECK(stands == near(10.0 / 10'000));
  CHECK(seconds_of(*explained.iteration, IterationPart::start) < 1.1 * stands);
}

TEST_CASE("a new topology without anything slow is kept until the slowness is over") {
  ListedJobs slow;
  const auto end_with = [&](const std::string& members) {
    const Scenario scenario = parsed(
        "cluster: {servers: 2, gpus_per_server: 2}\nnetwork: {nic: 25Gbps, alpha: 20us}\n"
        "policies: {scheduling: fifo}\ntraining: {it: {model: resnet18, batch: 16}}\nworkload: {jobs: " +
        slow.file("jobs.csv", "job_id,submit_s,model,gpus,iterations\ntrain,0,it,4,1000\n") + "}\nfailures: {events: " +
        slow.file("events.csv", "component,down_s,up_s,slows,slows_network\nserver1,5,20,,3\n") + members + "}\n");
    return run_scenario(scenario, 1).end.to_seconds();
  };
  const auto with = [&](double left) {
    return end_with(fmt::format(", mitigation: {{topology: 1s, left: {}}}", left));
  };
  CHECK(with(0) < with(0.01));
  CHECK(with(0.01) < with(0.3));
  CHECK(with(0.3) < end_with(""));
}

}  // namespace contend
