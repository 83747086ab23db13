#include "results/result_writer.hpp"

#include "results/result_columns.hpp"
#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {
/// Two jobs: one that ran on both GPUs of server 0, one that the cluster could never run.
Replica small_replica(std::uint64_t seed) {
  JobResult done;
  done.id = JobId{0u};
  done.name = "a,b";
  done.model = "lstm";
  done.state = JobState::finished;
  done.gpus = 2;
  done.servers = 1;
  done.iterations = done.iterations_done = 3;
  done.submit = Time::nanoseconds(1);
  done.start = Time::seconds(2);
  done.finish = Time::nanoseconds(12'345'678'902);
  done.compute = GpuTime{Time::seconds(20), 1};
  done.measured_wait = Time::milliseconds(2500);
  JobResult failed;
  failed.id = JobId{1u};
  failed.name = "big";
  failed.model = "vgg16";
  failed.state = JobState::failed;
  failed.reason = "needs 64 GPUs";
  failed.gpus = 64;
  failed.iterations = 5;
  Replica replica;
  replica.seed = seed;
  replica.result.jobs = {done, failed};
  replica.result.gpus = {{{.busy = Time::milliseconds(10'500)}, GpuId{0u}, ServerId{0u}, 1}};
  replica.result.links.resize(1);
  replica.result.links[0].name = "server0/nic";
  replica.result.links[0].server = ServerId{0u};
  replica.result.links[0].bytes = Bytes{7};
  replica.result.end = done.finish;
  replica.result.fingerprint = 0xABC;
  replica.summary = summarise(replica.result);
  return replica;
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}
}  // namespace

TEST_CASE("job rows: exact seconds, quotes, and nothing where there is no value") {
  const Replica replica = small_replica(1);
  CHECK(jobs_csv({&replica, 1}) ==
        "job_id,model,state,reason,gpus,servers,iterations,iterations_done,preemptions,submit_s,start_s,finish_s,"
        "queueing_s,jct_s,compute_gpu_s,communication_s,communication_wait_s,contended_s,"
        "vc,user,outcome,attempts,held_s,waited_s,overhead_s,lost_gpu_s,measured_wait_s,iteration_s,"
        "exposed_communication_s,messages,sent_bytes,interface_bytes,bound_s,stale,tokens_per_second,tflops_per_gpu,"
        "mfu,hfu,interruptions,covered_failures,away_s,detection_s,restart_s,redone_s,lost_to_failures_gpu_s,effective,"
        "measured,server_"
        "type,restarts,"
        "rho,deadline_s,cost,mean_gpus,resizes,slowed_gpu_s,left_behind,dropped_gpu_s,fusion,compression,"
        "compute_s,compression_s,throughput_per_s,scaling_efficiency,progress_s,above_bound,settled,shared_s,"
        "lost_to_sharing_s,shared_with,follows,"
        "second_order_preemptions,lost_to_second_order_gpu_s,memory_gib,host_s\n"
        "\"a,b\",lstm,finished,,2,1,3,3,0,0.000000001,2,12.345678902,1.999999999,12.345678901,20,0,0,0,,,completed,0,0,"
        "0,0,0,2.5,,,,,,,,,,,,0,0,0,0,0,0,0,,1,,0,,,,,0,0,0,0,,,,,,,,,,0,0,,,0,0,,\n"
        "big,vgg16,failed,needs 64 "
        "GPUs,64,,5,0,0,0,,,,,0,0,0,0,,,,0,0,0,0,0,,,,,,,,,,,,,0,0,0,0,0,0,0,,1,,0,,,,,0,0,0,0,,,,,,,,,,0,0,,,0,0,,\n");
  CHECK(gpus_csv({&replica, 1}) == "gpu,server,busy_s,jobs,down_s\n0,0,10.5,1,0\n");
  CHECK(links_csv({&replica, 1}) == "link,server,busy_s,contended_s,transfers,bytes\nserver0/nic,0,0,0,0,7\n");
}

TEST_CASE("several replicas: the seed comes first") {
  const Replica replicas[] = {small_replica(7), small_replica(8)};
  CHECK(gpus_csv(replicas) == "replica,gpu,server,busy_s,jobs,down_s\n7,0,0,10.5,1,0\n8,0,0,10.5,1,0\n");
}

TEST_CASE("an output folder holds all files, the same bytes for the same run") {
  const TemporaryFolder folder;
  const Replica replicas[] = {small_replica(7), small_replica(8)};
  Manifest manifest;
  manifest.version = "1.2.3";
  manifest.command_line = {"contend", "run", "x \"y\""};
  manifest.scenario_name = "small";
  write_results(folder.path("out/deep"), manifest, "name: small\n", replicas);
  const std::string out = folder.path("out/deep/");
  CHECK(files_in(out) == 6);
  CHECK(read_file(out + "scenario.yaml") == "name: small\n");
  const std::string summary = read_file(out + "summary.json");
  CHECK(summary.find("\"end_s\": 12.345678902") != std::string::npos);
  CHECK(summary.find("\"half_width_95\": 0") != std::string::npos);
  const std::string text = read_file(out + "manifest.json");
  CHECK(text.find("\"exit_state\": \"unfinished jobs\"") != std::string::npos);
  CHECK(text.find("\"fingerprint\": \"0000000000000abc\"") != std::string::npos);

  write_results(folder.path("out/deep"), manifest, "name: small\n", replicas);
  CHECK(files_in(out) == 6);
  CHECK(read_file(out + "summary.json") == summary);
  // A file where the folder should be.
  CHECK_THROWS_AS(write_results(out + "jobs.csv", manifest, "", replicas), InputError);
}

TEST_CASE("a file is whole or not there") {
  const TemporaryFolder folder;
  const std::string path = folder.path("file");
  write_file(path, "old");
  {
    AtomicFile file{path};
    write_file(file.path(), "half of the n");
  }
  CHECK(read_file(path) == "old");
  CHECK(files_in(folder.path("")) == 1);
  // Neither through a link nor in place of it, whether it leads to a file or not.
  fs::create_symlink(path, folder.path("link"));
  fs::create_symlink(folder.path("nothing"), folder.path("dangling"));
  for (const char* link : {"link", "dangling"}) {
    CHECK_THROWS_AS(write_file(folder.path(link), "new"), InputError);
    CHECK(fs::is_symlink(folder.path(link)));
  }
  CHECK(read_file(path) == "old");
  CHECK(!fs::exists(folder.path("nothing")));
  write_file("/dev/null", "gone");
  CHECK_FALSE(fs::is_regular_file("/dev/null"));
  CHECK_THROWS_AS(write_file(folder.path(""), "x"), InputError);
  CHECK_THROWS_AS(write_file(folder.path("no/such/folder"), "x"), InputError);
}

TEST_CASE("every column is documented once, with a unit where there is one") {
  std::set<std::string_view> names;
  for (const auto& column : job_columns()) {
    CHECK(names.insert(column.name).second);
    CHECK((column.type == "seconds") == (column.name.ends_with("_s") && !column.name.ends_with("_per_s")));
    CHECK(columns_markdown().find(fmt::format("`{}`", column.name)) != std::string::npos);
  }
  for (const Metric& each : metrics())
    CHECK((each.unit == "s" || each.name == "throughput_per_s") == each.name.ends_with("_s"));
}

TEST_CASE("what links of the fabric carried, and for whom") {
  Replica replica;
  replica.result.jobs.resize(2);
  replica.result.jobs[0].name = "a";
  replica.result.jobs[1].name = "b";
  FabricLinkResult link;
  link.name = "leaf0->spine0";
  link.bandwidth = 100;
  link.bytes = 30;
  link.utilisation = 0.15;
  link.busy = Time::milliseconds(400);
  link.users = {{JobId{1U}, 20}, {JobId{0U}, 10}};
  replica.result.fabric = {{link},
                           Time::seconds(1),
                           {{0, Time::seconds(1), 0.2}},
                           {{.job = JobId{0U}, .by = JobId{1U}, .link = 0, .lost = Time::milliseconds(250)}}};
  const std::vector<Replica> replicas{replica};
  CHECK(fabric_csv(replicas) ==
        "link,bandwidth_Bps,bytes,utilisation,busy_s,jobs,down_s,reduced_s\nleaf0->spine0,100,30,0.15,0.4,2,0,0\n");
  CHECK(fabric_jobs_csv(replicas) == "link,job_id,bytes\nleaf0->spine0,b,20\nleaf0->spine0,a,10\n");
  CHECK(fabric_utilisation_csv(replicas) == "link,start_s,utilisation\nleaf0->spine0,1,0.2\n");
  CHECK(fabric_delays_csv(replicas) == "job_id,by_job,link,lost_s\na,b,leaf0->spine0,0.25\n");
  // The file is there if delays were asked for, also where no transfer lost any time.
  const auto file = std::ranges::find(result_files(), "fabric_delays.csv", &ResultFile::name);
  REQUIRE(file != result_files().end());
  std::vector<Replica> none(1);
  CHECK(!file->exists(none));
  none[0].result.fabric.has_delays = true;
  CHECK(file->exists(none));
  CHECK(file->csv(none) == "job_id,by_job,link,lost_s\n");
}
