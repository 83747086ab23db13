// Training entries whose steps leave late workers behind: backup workers and gradient coding in runs, and what is
// refused.

#include "scenarios/keys/print.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A job of 8 GPUs on one server, each iteration of which takes 62 ms. GPU 3 takes 3 times as long from 1 s on.
struct LateWorkers : ListedJobs {
  explicit LateWorkers(const std::string& members, std::int64_t iterations = 1000) {
    const std::string jobs =
        file("jobs.csv", fmt::format("job_id,submit_s,gpus,model,iterations\ntrain,0,8,it,{}\n", iterations));
    const std::string events = file("events.csv", "component,down_s,up_s,slows,slows_network\ngpu3,1,1000000,3,\n");
    scenario =
        parsed(fmt::format("cluster: {{servers: 1, gpus_per_server: 8}}\npolicies: {{scheduling: fifo}}\n"
                           "training: {{it: {{model: published-resnet50, fusion: bsp{}}}}}\n"
                           "workload: {{jobs: {}}}\nfailures: {{events: {}}}\n",
                           members, jobs, events));
  }
};

std::string entry_errors(const std::string& members) {
  return LateWorkers{members}.refusals();
}

bool speaks_of(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("late workers: a step goes on without a backup worker's gradient, or with what the code makes up for") {
  const RunResult plain = LateWorkers{""}.run();
  // 16 iterations until 0.992 s; the 17th has run for 8 ms then, all others take 186 ms.
  CHECK(plain.end.to_seconds() == near(0.992 + 0.008 + 3 * 0.054 + 983 * 0.186, 1e-9));
  CHECK(plain.jobs[0].left_behind == 0);

  const RunResult backup = LateWorkers{", backup_workers: 1"}.run();
  CHECK(backup.end.to_seconds() == near(62.0, 1e-9));
  CHECK(backup.jobs[0].left_behind == 984);
  // In the first of these GPU 3 had ended its forward pass, after 8 + 3 x 17 ms, and had 3 ms of the backward pass
  // behind it; in the others it still was in its forward pass.
  CHECK(backup.jobs[0].slowed.to_seconds() == near(0.034, 1e-9));
  CHECK(backup.jobs[0].dropped.to_seconds() == near(0.003 + 983 * 0.062, 1e-9));
  REQUIRE(backup.jobs[0].notes.plan != nullptr);
  CHECK(backup.jobs[0].notes.plan->samples == 7 * 16);

  const RunResult coded = LateWorkers{", gradient_coding: 1"}.run();
  CHECK(coded.end.to_seconds() == near(124.0, 1e-9));
  CHECK(coded.jobs[0].left_behind == 992);  // 8 iterations of 124 ms had ended after a second
  CHECK(coded.jobs[0].notes.plan->samples == 8 * 16);
}

TEST_CASE("late workers: sequential codes compute less than GC, and wait for who was late not long before") {
  // M-SGC(1, 2, 1): 4/3 of a part, 82.7 ms, and a step more than asked for. 12 steps have ended after a second; from
  // the 13th on GPU 3 is late each time, and steps without it and with it take turns.
  const RunResult multiplexed =
      LateWorkers{", gradient_coding: {code: m-sgc, stragglers: 1, burst: 1, window: 2}"}.run();
  constexpr std::int64_t kStep = 82'666'667;
  CHECK(multiplexed.end.ns() == 12 * kStep + 495 * 2 * kStep + 494 * 3 * kStep);
  CHECK(multiplexed.jobs[0].iterations == 1000);
  CHECK(multiplexed.jobs[0].iterations_done == 1000);
  CHECK(multiplexed.jobs[0].iteration().ns() == multiplexed.end.ns() / 1000);
  CHECK(multiplexed.jobs[0].left_behind == 495);
  CHECK(multiplexed.jobs[0].notes.plan->samples == 8 * 16);
  // SR-SGC(1, 2, 1): 2 parts, and a step more.
  const RunResult repeated = LateWorkers{", gradient_coding: {code: sr-sgc, stragglers: 1}"}.run();
  CHECK(repeated.end.to_seconds() == near(8 * 0.124 + 497 * 0.248 + 496 * 0.372, 1e-9));
  CHECK(repeated.jobs[0].left_behind == 497);
  // GC(1) with the same patience never waits for all, and with none for nobody but 7 of 8.
  const RunResult patient = LateWorkers{", gradient_coding: {code: gc, stragglers: 1, tolerance: 1}"}.run();
  CHECK(patient.end.to_seconds() == near(8 * 0.124 + 992 * 0.248, 1e-9));
  const RunResult impatient = LateWorkers{", gradient_coding: {code: gc, stragglers: 1}"}.run();
  CHECK(impatient.end.to_seconds() == near(124.0, 1e-9));
  // Nobody is late beyond 2.5 times the fastest in steps of 3 times: with a tolerance of 2 all are waited for.
  const RunResult tolerant = LateWorkers{", gradient_coding: {code: sr-sgc, stragglers: 1, tolerance: 2}"}.run();
  CHECK(tolerant.jobs[0].left_behind == 0);
  CHECK(tolerant.end.to_seconds() == near(8 * 0.124 + 0.008 + 0.116 * 3 + 992 * 0.372, 1e-9));
}

TEST_CASE("late workers: codes are printed as they are read") {
  const auto printed = [](const std::string& code) {
    const std::string text = to_yaml(parsed("training: {it: {model: resnet18, gradient_coding: " + code + "}}\n"));
    const std::size_t at = text.find("gradient_coding: ");
    return at == std::string::npos ? std::string{} : text.substr(at + 17, text.find_first_of("}\n", at) - at - 17);
  };
  CHECK(printed("3").starts_with("3"));
  CHECK(printed("{code: gc, stragglers: 3}").starts_with("3"));
  CHECK(printed("{code: m-sgc, stragglers: 2, burst: 2, window: 4, tolerance: 0.5}") ==
        "{code: m-sgc, stragglers: 2, burst: 2, window: 4, tolerance: 0.5");
}

TEST_CASE("late workers: all that GPUs do is accounted for") {
  for (const std::string member : {"backup_workers: 1", "backup_workers: 3", "gradient_coding: 1", "gradient_coding: 3",
                                   "gradient_coding: {code: sr-sgc, stragglers: 3, burst: 2, window: 5}",
                                   "gradient_coding: {code: m-sgc, stragglers: 2, burst: 2, window: 4}"}) {
    {
      const RunResult result = LateWorkers{", " + member, 100}.run();
      GpuTime busy;
      for (const GpuResult& gpu : result.gpus) busy += GpuTime{gpu.busy, 1};
      const JobResult& job = result.jobs[0];
      CHECK(busy == job.compute + job.slowed - job.skipped);
      CHECK(job.dropped > GpuTime{});
    }
  }
}

TEST_CASE("late workers: fusion policies whose messages wait for one task each can leave them behind") {
  const auto accepts = [](std::string_view fusion) {
    const Scenario scenario =
        parsed(fmt::format("cluster: {{servers: 4, gpus_per_server: 1}}\nnetwork: {{nic: 10Gbps}}\n"
                           "training: {{it: {{model: resnet18, fusion: {}, backup_workers: 1}}}}\n",
                           fusion));
    TrainingGraphs graphs{scenario};
    try {
      return graphs("it", 4).graph.roles().front().late == 1;
    } catch (const InputError& error) {
      CHECK(speaks_of(error.what(), "training.it.backup_workers: fusion"));
      return false;
    }
  };
  for (const std::string_view fusion : {"bsp", "wfbp", "ddp", "threshold", "mg-wfbp"}) {
    INFO(std::string{fusion});
    CHECK(accepts(fusion));
  }
  CHECK(!accepts("horovod"));  // its messages also wait for the cycle of a thread
}

TEST_CASE("late workers: what has no meaning is refused") {
  CHECK(speaks_of(entry_errors(", backup_workers: 8"),
                  "training.it.backup_workers: job `train`: a step can't do without 8 of 8 workers; fewer of them, or "
                  "jobs with more"));
  const auto entry = [](const std::string& members) {
    return errors_of(fmt::format("training: {{it: {{model: resnet18, {}}}}}\n", members));
  };
  CHECK(speaks_of(entry("backup_workers: 1, gradient_coding: 1"), "give one of the two"));
  CHECK(speaks_of(entry("gradient_coding: {code: sr-sgc, stragglers: 1, burst: 2, window: 4}"), "does not divide"));
  CHECK(speaks_of(entry("gradient_coding: {code: m-sgc, stragglers: 1, burst: 2, window: 2}"), "less than the window"));
  const std::string fault = entry("gradient_coding: {code: m-sgc, stragglers: 1, burst: 1, window: 2, tolerance: -1}");
  CHECK(speaks_of(fault, "gradient_coding.tolerance: expected a number >= 0, got \"-1\""));
  CHECK(!speaks_of(fault, "only code"));
  CHECK(speaks_of(entry("gradient_coding: {code: gc, stragglers: 1, burst: 2}"),
                  "only code: sr-sgc and code: m-sgc have a burst"));
  CHECK(speaks_of(entry("gradient_coding: {stragglers: 1}"), "code is missing"));
  CHECK(speaks_of(entry("gradient_coding: {code: sgc, stragglers: 1}"), "expected one of gc, sr-sgc, m-sgc"));
  CHECK(speaks_of(entry_errors(", gradient_coding: {code: m-sgc, stragglers: 8, burst: 1, window: 2}"),
                  "a step can't do without 8 of 8 workers"));
  CHECK(speaks_of(entry("gradient_coding: 1, compression: top-k"), "exchange whole gradients"));
  CHECK(speaks_of(entry("backup_workers: 1, host_ns_per_value: 1"), "the work of the host"));
  CHECK(speaks_of(errors_of("training: {it: {model: resnet18, backup_workers: 1}}\noverlap: {training: it}\n"),
                  "training.it.backup_workers: has no effect in a study"));
}
