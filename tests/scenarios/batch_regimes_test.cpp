// Jobs whose batch changes while they train: their durations and paces, and what is refused.

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

struct RegimeScenario : ListedJobs {
  RegimeScenario(const std::string& jobs, const std::string& rules, const std::string& rates,
                 const std::string& policy = "fifo") {
    std::string workload = fmt::format("jobs: {}, throughputs: {}", file("jobs.csv", jobs), file("rates.csv", rates));
    if (!rules.empty()) workload += fmt::format(", regimes: {}", file("rules.csv", rules));
    scenario = parsed(fmt::format(
        "cluster: {{types: [{{name: t4, servers: 1, gpus_per_server: 2, gpu_memory: 64GiB}}, {{name: a100, servers: 1, "
        "gpus_per_server: 2, gpu_memory: 64GiB}}]}}\npolicies: {{scheduling: {}, placement: first-fit}}\n"
        "workload: {{{}}}\n",
        policy, workload));
  }
  [[nodiscard]] std::string refused() const {
    try {
      static_cast<void>(scenario_workload(scenario, 1));
    } catch (const InputError& error) {
      return error.complaints().front().format();
    }
    return {};
  }
};

const std::string kRegimeRates =
    "model,type,gpus,iterations_per_s\n"
    "small,t4,1,10\nsmall,t4,2,16\nsmall,a100,1,20\nsmall,a100,2,32\n"
    "big,t4,1,2\nbig,t4,2,4\nbig,a100,1,10\nbig,a100,2,20\n"
    "huge,a100,1,1\n";
const std::string kRegimeRules =
    "rule,model,from_share,trains_as,batch_factor\ngrow,small,0.5,big,8\nmemory,small,0.5,huge,40\n";
const std::string kRegimeHeader = "job_id,submit_s,model,gpus,iterations,batch_rule,gpu_type\n";

}  // namespace

TEST_CASE("batch regimes: a batch eight times as large at a fifth of the iterations makes the second half faster") {
  // 1000 iterations: 500 at 10/s, then 500 at 2 x 8 = 16/s of the first batch on t4; 20 and 80/s on a100.
  const RegimeScenario fifo{
      kRegimeHeader + "a,0,small,1,1000,grow,t4\nb,0,small,1,1000,grow,a100\nc,0,small,1,1000,,t4\n", kRegimeRules,
      kRegimeRates};
  const RunResult result = fifo.run();
  CHECK(result.jobs[0].finish.to_seconds() == near(50 + 31.25, 1e-8));
  CHECK(result.jobs[1].finish.to_seconds() == near(25 + 6.25, 1e-8));
  CHECK(result.jobs[2].finish.to_seconds() == near(100, 1e-8));
  const Workload workload = scenario_workload(fifo.scenario, 1);
  REQUIRE(workload.jobs[0].regimes >= 0);
  CHECK(workload.jobs[2].regimes < 0);
  const auto& regimes = workload.regimes[static_cast<std::size_t>(workload.jobs[0].regimes)];
  REQUIRE(regimes.size() == 2);
  CHECK(regimes[0].progress == near(0.5));
  CHECK(regimes[0].until.to_seconds() == near(50, 1e-8));
}

TEST_CASE("batch regimes: a type on which a later batch can't run is not for the job") {
  const RegimeScenario fifo{kRegimeHeader + "a,0,small,1,1000,memory,\n", kRegimeRules, kRegimeRates};
  const RunResult result = fifo.run();
  CHECK(result.jobs[0].server_type == "a100");
  CHECK(result.jobs[0].finish.to_seconds() == near(25 + 12.5, 1e-8));  // 500 at 20/s, 500 at 40/s
}

TEST_CASE("batch regimes: an elastic job has the pace of its regime on each number of GPUs") {
  // A large batch scales better: alone on 2 GPUs of a100 32/s, then 20 x 8 = 160/s.
  const std::string jobs =
      "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations,batch_rule\na,0,small,1,1,2,1000,grow\n";
  const RunResult result = RegimeScenario{jobs, kRegimeRules, kRegimeRates, "{policy: sia, period_s: 0}"}.run();
  CHECK(result.jobs[0].finish.to_seconds() == near(500.0 / 32 + 500.0 / 160, 1e-8));
}

TEST_CASE("batch regimes: whether policies know how batches change") {
  // On 2 GPUs of t4: a takes 500 / 16 + 500 / 32 = 46.875 s, and 62.5 s at its first batch; b takes 900 / 16 = 56.25 s.
  const std::string jobs = kRegimeHeader + "a,0,small,2,1000,grow,t4\nb,0,small,2,900,,t4\n";
  for (const char* policy : {"sjf", "srtf"}) {
    RegimeScenario shortest{jobs, kRegimeRules, kRegimeRates, policy};
    const RunResult knows = shortest.run();
    CHECK(knows.jobs[0].finish.to_seconds() == near(46.875, 1e-8));
    CHECK(knows.jobs[1].finish.to_seconds() == near(46.875 + 56.25, 1e-8));
    shortest.scenario.rules.foresees_batches = false;
    const RunResult guesses = shortest.run();
    CHECK(guesses.jobs[0].finish.to_seconds() == near(46.875 + 56.25, 1e-8));
    CHECK(guesses.jobs[1].finish.to_seconds() == near(56.25, 1e-8));
  }
  // At 20 s, 320 iterations of a are done. 42.5 s would be left at its first batch, so that c, of 30 s, goes first; in
  // truth it is 26.875 s. At 70 s its second batch has come, 6.875 s are left either way, and e, of 7 s, waits.
  for (const bool foresees : {true, false}) {
    RegimeScenario preemptive{jobs.substr(0, jobs.find("b,")) + "c,20,small,2,480,,t4\ne,70,small,2,112,,t4\n",
                              kRegimeRules, kRegimeRates, "{policy: srtf, preemptive: true}"};
    preemptive.scenario.rules.foresees_batches = foresees;
    const RunResult result = preemptive.run();
    CHECK(result.jobs[0].finish.to_seconds() == near(foresees ? 46.875 : 46.875 + 30, 1e-8));
    CHECK(result.jobs[1].finish.to_seconds() == near(foresees ? 46.875 + 30 : 50, 1e-8));
    CHECK(result.jobs[2].finish.to_seconds() == near(46.875 + 30 + 7, 1e-8));
    // All is saved at once, so that no stretch of work is done twice, whichever batch it begins with.
    for (const JobResult& job : result.jobs) {
      CHECK(job.redone == Time{});
      CHECK(job.effective() == near(job.held.to_seconds() / job.jct().to_seconds(), 1e-12));
    }
  }
  CHECK(errors_of("scheduling: {foresees_batches: false}\n").find("needs `workload.regimes`") != std::string::npos);
}

TEST_CASE("batch regimes: bad rules of jobs are named when the scenario is checked") {
  const auto why = [](const std::string& row, const std::string& rules = kRegimeRules) {
    return RegimeScenario{kRegimeHeader + row, rules, kRegimeRates}.refused();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(why("a,0,small,1,10,grow,\n", ""), "the scenario has no workload.regimes");
  has(why("a,0,small,1,10,gro,\n"), "has no rule \"gro\"; it has grow, memory");
  has(why("a,0,small,2,10,memory,\n"), "comes to train as \"huge\", which has no row for 2 GPUs");
  const std::string nowhere = "rule,model,from_share,trains_as\ngrow,huge,0.5,on-t4\n";
  const std::string rates = kRegimeRates + "on-t4,t4,1,5\n";
  has(RegimeScenario(kRegimeHeader + "a,0,huge,1,10,grow,\n", nowhere, rates).refused(),
      "no type of server can run all batches");
}
