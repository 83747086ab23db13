// Jobs that share GPUs in scenarios: keys, tables and their faults, and the tables of results.

#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kSharedJobs =
    "job_id,submit_s,model,gpus,duration_s,gpu_memory\n"
    "a,0,reader,1,10,4GiB\n"
    "b,0,trainer,1,10,10GiB\n";

struct SharingScenario : ListedJobs {
  SharingScenario(const std::string& sharing, const std::string& policy, const std::string& table,
                  const std::string& jobs = kSharedJobs) {
    std::string law = sharing;
    if (const std::size_t at = law.find("FILE"); at != std::string::npos) law.replace(at, 4, file("table.csv", table));
    scenario =
        parsed(fmt::format("cluster: {{servers: 1, gpus_per_server: 1, gpu_memory: 16GiB}}\n"
                           "policies: {{scheduling: {}, placement: first-fit}}\n"
                           "scheduling: {{sharing: {}}}\nworkload: {{jobs: {}}}\n",
                           policy, law, file("jobs.csv", jobs)));
  }
};

}  // namespace

TEST_CASE("sharing: pairs of the table run at its speeds, and the results say who shared with whom") {
  const SharingScenario shared{"{law: pairs, pairs: FILE}", "muri",
                               "model,with_model,speed,with_speed\nreader,trainer,1,0.8\n"};
  CHECK(shared.refusals().empty());
  const RunResult result = shared.run();
  CHECK(result.jobs[0].finish == Time::seconds(10));
  CHECK(result.jobs[1].finish == Time::seconds(12));  // 8 s of work until 10 s
  const std::vector<Replica> replicas{{1, result, summarise(result), {}}};
  CHECK(sharing_csv(replicas) == "job_id,beside,shared_s,lost_s,speed\na,b,10,0,1\nb,a,10,2,0.8\n");
  CHECK(to_yaml(parse_scenario(to_yaml(shared.scenario), "b.yaml", {}, reader_of({}))) == to_yaml(shared.scenario));
}

TEST_CASE("sharing: jobs that don't fit into the memory of a GPU together run one after the other") {
  const std::string more =
      "job_id,submit_s,model,gpus,duration_s,gpu_memory\na,0,reader,1,10,8GiB\nb,0,reader,1,10,9GiB\n";
  const RunResult result = SharingScenario{"{law: factor, factor: 1}", "muri", "", more}.run();
  CHECK(result.jobs[0].shared == Time{});
  CHECK(result.jobs[1].finish == Time::seconds(20));
  const RunResult both = SharingScenario{"{law: factor, factor: 1}", "muri", ""}.run();
  CHECK(both.jobs[1].finish == Time::seconds(10));
}

TEST_CASE("sharing: what is missing, or means nothing, is refused with its place") {
  CHECK(errors_of("policies: {scheduling: muri}\n") ==
        "a.yaml:2:24: policies.scheduling: `muri` has jobs share GPUs, and nothing says how fast they are then; set "
        "scheduling.sharing.law to factor, pairs or stages");
  CHECK(errors_of("policies: {scheduling: {policy: max-min, pack: true}}\n").find("`max-min` has jobs share GPUs") !=
        std::string::npos);
  CHECK(errors_of("policies: {scheduling: max-min}\n").empty());
  CHECK(errors_of("policies: {scheduling: {policy: gandiva, pack: false}}\n").empty());
  CHECK(errors_of("policies: {scheduling: gandiva}\n").find("`gandiva` has jobs share GPUs") != std::string::npos);
  CHECK(errors_of("policies: {scheduling: lucid}\nscheduling: {sharing: {law: factor}}\n")
            .find("`lucid` looks at how busy jobs keep their GPUs; set scheduling.sharing.profiles") !=
        std::string::npos);
  CHECK(errors_of("scheduling: {sharing: {law: pairs}}\n").find("pairs need a table of their speeds") !=
        std::string::npos);
  CHECK(errors_of("scheduling: {sharing: {law: stages}}\n").find("stages need a table of the profiles") !=
        std::string::npos);
  CHECK(errors_of("scheduling: {sharing: {law: pairs, most: 3, pairs: p.csv}}\n")
            .find("scheduling.sharing.most: a table of pairs has no speeds of 3 jobs") != std::string::npos);
  CHECK(errors_of("scheduling: {sharing: {most: 2}}\n").find("needs `scheduling.sharing.law other than none`") !=
        std::string::npos);
  CHECK(errors_of("scheduling: {sharing: {law: stages, profiles: s.csv, factor: 2}}\n")
            .find("needs `scheduling.sharing.law: factor`") != std::string::npos);
  CHECK(SharingScenario{"{law: stages, profiles: FILE}", "muri", "model,storage,cpu,gpu,network\nother,1,1,1,1\n"}
            .refusals()
            .empty());
  CHECK(SharingScenario{"{law: pairs, pairs: FILE}", "muri",
                        "model,with_model,speed,with_speed,type\nreader,trainer,1,0.8,k80\n"}
            .refusals()
            .find("cluster.types has no type \"k80\"") != std::string::npos);
  const std::string iterations = "job_id,submit_s,model,gpus,iterations,gpu_memory\na,0,resnet50,1,10,4GiB\n";
  CHECK(SharingScenario{"{law: factor}", "muri", "", iterations}.refusals().find(
            "gpu_memory: has no effect on a job of iterations") != std::string::npos);
  const std::string too_large = "job_id,submit_s,model,gpus,duration_s,gpu_memory\na,0,reader,1,10,20GiB\n";
  CHECK(SharingScenario{"{law: factor}", "muri", "", too_large}.refusals().find("of GPU memory") != std::string::npos);
}

TEST_CASE("sharing: parts of GPUs beside which a law may have no speed are refused before the run") {
  const auto list = [](double part) {
    return fmt::format(
        "job_id,submit_s,model,gpus,duration_s,gpu_share\na,0,m,1,10,{0}\nb,0,m,1,10,{0}\nc,0,m,1,10,{0}\n", part);
  };
  // Three jobs with 0.3 of a GPU each fit on it.
  const SharingScenario two{"{law: factor, factor: 2}", "fifo", "", list(0.3)};
  CHECK(two.refusals() ==
        "jobs.csv:4: gpu_share: job \"c\" reserves 0.3 of each of its GPUs, so that 3 jobs with parts fit on one, and "
        "scheduling.sharing.most is 2; set scheduling.sharing.law to none, or to factor with a scheduling.sharing.most "
        "that is large enough\n");
  CHECK_THROWS_AS(static_cast<void>(two.run()), InputError);
  const SharingScenario three{"{law: factor, factor: 2, most: 3}", "fifo", "", list(0.3)};
  CHECK(three.refusals().empty());
  for (const JobResult& job : three.run().jobs)  // each at 1 / (1 + 2)
    CHECK(job.finish.to_seconds() == near(30, 1e-8));
  const SharingScenario pairs{"{law: pairs, pairs: FILE}", "fifo", "model,with_model,speed,with_speed\nx,y,1,1\n",
                              list(0.5)};
  CHECK(
      pairs.refusals() ==
      "jobs.csv:3: gpu_share: job \"b\" reserves 0.5 of each of its GPUs, so that others with parts fit beside it, and "
      "only the law factor has a speed for any of them; set scheduling.sharing.law to none, or to factor with a "
      "scheduling.sharing.most that is large enough\n");
  // Parts that never fit on a GPU together are no fault.
  const SharingScenario apart{"{law: pairs, pairs: FILE}", "fifo", "model,with_model,speed,with_speed\nx,y,1,1\n",
                              list(0.6)};
  CHECK(apart.refusals().empty());
  CHECK(apart.run().jobs[2].finish == Time::seconds(30));
}
