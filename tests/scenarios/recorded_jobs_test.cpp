// Jobs that replay recordings: in a cluster with others, what entries of training may say beside a recording, and what
// they print.

#include "scenarios/keys/print.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace contend {
namespace {

/// A profile of one of two ranks: a kernel of 100 us, and behind it an all-reduce of 50,000 B that the host waits for.
/// From the launch of the kernel to the end of the iteration 150 us pass, and 30 us of these are communication.
std::string recorded_rank(int rank) {
  return fmt::format(
      R"json({{"distributedInfo":{{"rank":{}}},"traceEvents":[
{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":150}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":1,"args":{{"correlation":1}}}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":1,"args":{{"correlation":2}}}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":7,"dur":135}},
{{"ph":"X","cat":"kernel","name":"gemm","ts":10,"dur":100,"args":{{"device":0,"stream":7,"correlation":1}}}},
{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)","ts":110,"dur":30,"args":{{"device":0,"stream":9,"correlation":2,"Collective name":"allreduce","In msg nelems":12500,"Out msg nelems":12500,"dtype":"Float","Process Group Name":"0","Process Group Ranks":"[0, 1]"}}}}]}})json",
      rank);
}

/// Two servers of two GPUs, on a network of 1 ns a byte, and jobs that replay both ranks.
std::string two_jobs(const std::string& recording) {
  return fmt::format(R"(
cluster: {{servers: 2, gpus_per_server: 2}}
network: {{nic: 8Gbps, alpha: 0us}}
policies: {{scheduling: fifo, placement: spread, communication: srsf}}
training:
  mine: {{recording: {}}}
workload: {{jobs: jobs.csv}}
)",
                     recording);
}

struct RecordedJobs : ListedJobs {
  explicit RecordedJobs(const std::string& members = "", const std::string& rows = "a,0,2,mine,100\n") {
    static_cast<void>(file("rank0.json", recorded_rank(0)));
    static_cast<void>(file("rank1.json", recorded_rank(1)));
    const std::string jobs = file("jobs.csv", "job_id,submit_s,gpus,model,iterations\n" + rows);
    scenario =
        parsed(two_jobs(members.empty() ? folder.path("") : fmt::format("{{path: {}, {}}}", folder.path(""), members)),
               {"workload.jobs=" + jobs});
  }
};

}  // namespace

TEST_CASE("a job replays a recording: computing is kept, communication takes what the network says") {
  // On two servers 50,000 B take 50 us: 100 us, the sum, 10 us until the iteration ends, and 10 us from the next launch
  // to its kernel.
  CHECK(RecordedJobs{}.run().jobs[0].finish.ns() == 100 * 170'000);
  CHECK(RecordedJobs{"communication: recorded"}.run().jobs[0].finish.ns() == 100 * 150'000);
  CHECK(RecordedJobs{"communication: recorded, kernels: {gemm: 0.5}"}.run().jobs[0].finish.ns() == 100 * 100'000);
}

TEST_CASE("another device makes products shorter by its peak, and other kernels by its memory") {
  // The sheets: 312 and 989.5 TFLOP/s in bf16. The kernel, 100 us, is a product; the sum and 20 us of the host stay.
  const std::string members = "communication: recorded, device: {from: A100-80GB, to: H100-SXM, dtype: bf16}";
  CHECK(RecordedJobs{members}.run().jobs[0].finish.ns() == 100 * (50'000 + 31'531));
  CHECK(errors_of("training: {a: {recording: {path: x, device: {from: K80, to: H100-SXM}}}}\n")
            .find("training.a.recording.device: K80 has no products in bf16") != std::string::npos);
}

TEST_CASE("recordings run beside other jobs, event by event as with leaping") {
  const std::string rows = "a,0,2,mine,40\nb,0,2,mine,50\nc,0.001,4,vgg16,3\n";
  RecordedJobs leaping{"", rows};
  RecordedJobs walking{"", rows};
  walking.scenario.engine.leap = false;
  const RunResult a = leaping.run(), b = walking.run();
  REQUIRE(a.jobs.size() == 3);
  for (std::size_t job = 0; job < 3; ++job) CHECK(a.jobs[job].finish == b.jobs[job].finish);
  CHECK(a.jobs[2].start == std::max(a.jobs[0].finish, a.jobs[1].finish));
}

TEST_CASE("a recording that doesn't fit the job is refused") {
  CHECK(
      RecordedJobs{"", "a,0,4,mine,1\n"}.refusals() ==
      "training.mine.recording.ranks: job `a`: a job of 4 GPUs can't replay 2 ranks; recording: {ranks: 4} repeats the "
      "recorded ranks\n");
  CHECK(RecordedJobs{"ranks: 4", "a,0,4,mine,1\n"}.refusals() == "");
  CHECK(RecordedJobs{"copy: 1"}.refusals().find("training.mine.recording.copy: job `a`: all ranks have files") !=
        std::string::npos);
}

TEST_CASE("an entry says nothing beside its recording but the memory of a GPU") {
  CHECK(errors_of("training: {a: {recording: x.json, memory: 4GiB}}\n") == "");
  CHECK(errors_of("training: {a: {recording: x.json, batch: 4}}\n").find("training.a.batch: a recording has") !=
        std::string::npos);
  CHECK(errors_of("training: {a: {recording: {copy: 0}}}\n").find("training.a.recording.path: is missing") !=
        std::string::npos);
  CHECK(errors_of("training: {a: {recording: {path: x, spread: [dp]}}}\n").find("groups grow only with ranks") !=
        std::string::npos);
  CHECK(errors_of("training: {a: {recording: {path: x, kernels: {gemm: -1}}}}\n")
            .find("training.a.recording.kernels.gemm") != std::string::npos);
  // What the default entry says is of models.
  CHECK(errors_of("training: {default: {batch: 4}, a: {recording: x.json}}\n") == "");
}

TEST_CASE("members of a recording are replaced one by one, and printed") {
  const Scenario s = parsed("training: {a: {recording: x.json}}\n",
                            {"training.a.recording.ranks=64", "training.a.recording.kernels={\"a b\": 0.5}"});
  CHECK(s.training.front().recording->path == "x.json");
  CHECK(s.training.front().recording->ranks == 64);
  const std::string text = to_yaml(s);
  CHECK(text.find("recording: {path: x.json, ranks: 64, kernels: {\"a b\": 0.5}}") != std::string::npos);
  CHECK(parse_scenario(text, "b.yaml", {}, reader_of({})).training.front().recording == s.training.front().recording);
}

TEST_CASE("the passes of a recorded job begin with the recording") {
  RecordedJobs jobs;
  TrainingGraphs graphs{jobs.scenario};
  const std::vector<PassRecord> passes = graphs.passes("mine", 2);
  REQUIRE(passes.size() == 1);
  CHECK(passes.front().name == "recording");
  CHECK(passes.front().after.compute.ns() == 100'000);
  CHECK(passes.front().after.bytes == Bytes{50'000});
  CHECK(graphs.iteration("mine").ns() == 100'000);
}

}  // namespace contend
