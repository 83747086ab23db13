// The traces that are tables of comma-separated values, on samples made up for these tests.
#include "tests/traces/jobs_test_kit.hpp"

using namespace contend;

TEST_CASE("Helios: dates, states, CPUs for each GPU, jobs without GPUs") {
  // Line 1 a comment, line 2 the header. Row 4 is a CPU job, row 6 never ended. 30 CPUs of 8 GPUs: 3.75 each.
  const ImportedJobs got = import_text_of("auto",
                                          "# made up\n"
                                          "user,job_id,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,"
                                          "end_time,duration,queue\n"
                                          "u1,11,vcA,8,30,1,COMPLETED,2020-06-09 18:41:10,2020-06-09 18:42:00,"
                                          "2020-06-09 18:43:40,100,50\n"
                                          "u2,12,vcB,0,4,1,COMPLETED,2020-06-09 18:41:11,2020-06-09 18:41:11,"
                                          "2020-06-09 18:41:12,1,0\n"
                                          "u2,13,vcB,1,1,1,NODE_FAIL,2020-06-09 18:41:01,2020-06-09 18:41:01,"
                                          "2020-06-09 18:41:01,0,0\n"
                                          "u3,14,vcB,1,1,1,RUNNING,2020-06-09 18:41:30,2020-06-09 18:41:30,,,0\n"
                                          "u3,15,vcA,2,1,1,CANCELLED,2020-06-09 18:41:30,,,0,0\n");
  CHECK(got.format->name == "helios");
  REQUIRE(got.jobs.size() == 2);
  // Sorted: job 13 was submitted nine seconds before job 11, and is time 0.
  CHECK(got.jobs[0].name == "13");
  CHECK(got.jobs[0].submit == Time{});
  CHECK(got.jobs[0].duration == Time{});
  CHECK(got.jobs[0].outcome == JobOutcome::failed);
  CHECK(got.jobs[1].name == "11");
  CHECK(got.jobs[1].submit == Time::seconds(9));
  CHECK(got.jobs[1].duration == Time::seconds(100));
  CHECK(got.jobs[1].gpus == 8);
  CHECK(got.jobs[1].milli_cpus == 3750);
  CHECK(got.jobs[1].vc == "vcA");
  CHECK(got.jobs[1].user == "u1");
  CHECK(got.origin == Time::seconds(1'591'728'061));  // date -ud '2020-06-09 18:41:01' +%s
  CHECK(got.report.rows() == 5);
  CHECK(reasons_text(got.report.left_out()) ==
        "it requests no GPUs: 1 (4); still running when the trace was taken: 1 (6); "
        "no duration: it never started, or was still running when the trace was taken: 1 (7)");
  CHECK(reasons_text(got.report.notes()) == "submitted before a row above it; jobs are sorted: 1 (5)");
  CHECK(got.report.unused_columns() == std::vector<std::string>{"node_num", "queue"});
}

TEST_CASE("fleetsim: microseconds, tenants, limits") {
  const ImportedJobs got =
      import_text_of("auto",
                     "# one\n# two\n"
                     "job_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,"
                     "walltime_limit_s,final_status\n"
                     "a,u,v,finetune,1500000,16,A100,2,24.5,3600.0,CANCELED\n");
  CHECK(got.format->name == "fleetsim");
  REQUIRE(got.jobs.size() == 1);
  CHECK(got.jobs[0].submit == Time::milliseconds(1500));  // its own clock is kept
  CHECK(got.jobs[0].duration == Time::milliseconds(24500));
  CHECK(got.jobs[0].limit == Time::seconds(3600));
  CHECK(got.jobs[0].gpu_type == "A100");
  CHECK(got.jobs[0].vc == "v");
  CHECK(got.jobs[0].outcome == JobOutcome::cancelled);
}

TEST_CASE("Acme: what lies between start and end counts; memory of pods; offsets from UTC") {
  // Kalos: 82 s from submission to end, of which 12 s queueing: it ran for 70 s. 8 pods of 1000 GB on 64 GPUs: 125 GB
  // each. The second job was submitted 8 hours later than its clock time says.
  const ImportedJobs got = import_text_of(
      "auto",
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,end_time,duration,queue\n"
      "a,u1,8,64,960,1000,Pretrain,CANCELLED,2023-05-17 11:28:42+00:00,2023-05-17 11:28:54+00:00,"
      "2023-05-17 11:30:04+00:00,82,12.0\n"
      "b,u1,1,1.0,12.5,,Other,FAILED,2023-05-17 19:28:43+08:00,2023-05-17 19:28:43+08:00,2023-05-17 19:28:45+08:00,"
      "2,0\n");
  CHECK(got.format->name == "acme");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].duration == Time::seconds(70));
  CHECK(got.jobs[0].milli_cpus == 15'000);
  CHECK(got.jobs[0].host_memory == Bytes{125'000'000'000});
  CHECK(got.jobs[0].model == "Pretrain");
  CHECK(got.jobs[1].submit == Time::seconds(1));
  CHECK(got.jobs[1].milli_cpus == 12'500);
  CHECK(got.jobs[1].host_memory == Bytes{});
  CHECK(reasons_text(got.report.notes()) ==
        "the duration is not what lies between start and end; the latter counts: 1 (2)");
}

TEST_CASE("ITP, Tiresias, Muri: seconds and milliseconds, models that are only names here") {
  const ImportedJobs itp = import_text_of("auto",
                                          "job_id,submission_time,duration,num_gpu\n"
                                          "x,100,2429,64\n"
                                          "y,100,1532,1");  // no line end behind the last row
  CHECK(itp.format->name == "itp");
  REQUIRE(itp.jobs.size() == 2);
  CHECK(itp.jobs[1].name == "y");
  CHECK(itp.jobs[1].submit == Time::seconds(100));

  const ImportedJobs tiresias = import_text_of("auto",
                                               "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                                               "0,2,30,606,vgg19,164,30\n");
  CHECK(tiresias.format->name == "tiresias");
  CHECK(tiresias.jobs.at(0).iterations == 606);
  CHECK(tiresias.jobs.at(0).model == "vgg19");
  CHECK(tiresias.jobs.at(0).duration == Time::seconds(164));

  constexpr const char* kMuri =
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,"
      "priority\n"
      "0,4,1500,1001,bert,4,190000,0,190,0.5,1\n";
  const ImportedJobs muri = import_text_of("auto", kMuri);
  CHECK(muri.format->name == "muri");
  CHECK(muri.jobs.at(0).submit == Time::milliseconds(1500));
  CHECK(muri.jobs.at(0).duration == Time::seconds(190));
  CHECK(muri.jobs.at(0).priority == 0);  // what the column means is not documented
  // 1001 iterations of 190 ms
  CHECK(import_text_of("muri-iterations", kMuri).jobs.at(0).duration == Time::milliseconds(190'190));
}

TEST_CASE("Philly extract: jobs without names, unsorted") {
  const ImportedJobs got = import_text_of("auto",
                                          "timestamp,duration,num_gpus,gpu_time,cluster\n"
                                          "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
                                          "2017-10-09 06:01:55,2951.5,8,23612,6214e9\n");
  CHECK(got.format->name == "philly-csv");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].name == "job-2");
  CHECK(got.jobs[0].duration == Time::milliseconds(2'951'500));
  CHECK(got.jobs[1].name == "job-1");
  CHECK(got.jobs[1].submit == Time::seconds(3600));
  CHECK(got.jobs[1].vc == "11cb48");
}

TEST_CASE("OpenB: shares of a GPU, demands for each GPU") {
  const ImportedJobs got = import_text_of(
      "auto",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
      "p0,6000,12288,1,460,,LS,Succeeded,10,110,15\n"
      "p1,12001,16385,2,1000,V100M16|V100M32,BE,Running,20,50,20\n"
      "p2,1000,100,0,0,,LS,Running,20,50,20\n"
      "p3,1000,100,1,1000,,LS,Pending,20,50,\n");
  CHECK(got.format->name == "openb");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].gpus == 1);
  CHECK(got.jobs[0].gpu_share == 460);
  CHECK(got.jobs[0].milli_cpus == 6000);
  CHECK(got.jobs[0].host_memory == Bytes::mebibytes(12288));
  CHECK(got.jobs[0].submit == Time::seconds(10));
  CHECK(got.jobs[0].duration == Time::seconds(95));
  CHECK(got.jobs[1].gpus == 2);
  CHECK(got.jobs[1].gpu_share == 1000);
  CHECK(got.jobs[1].milli_cpus == 6001);                   // half of 12,001, rounded up
  CHECK(got.jobs[1].host_memory == Bytes{8'590'458'880});  // half of 16,385 MiB
  CHECK(got.jobs[1].gpu_type == "V100M16|V100M32");
  CHECK(got.report.left_out_rows() == 2);
}

TEST_CASE("PAI: per cent of a GPU, with and without a header") {
  constexpr const char* kHeader =
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n";
  constexpr const char* kRows =
      "j1,tensorflow,2.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC\n"
      "j2,worker,3.0,Failed,100,150,800,64,200,V100\n"
      "j2,ps,1.0,Failed,100,150,600,29,,\n"
      "j3,worker,1.0,Running,100,,600,29,100,T4\n"
      "j4,worker,2.0,Terminated,90,150,600,29,150,T4\n";
  for (const bool header : {true, false}) {
    CAPTURE(header);
    const ImportedJobs got = import_text_of("pai", (header ? kHeader : "") + std::string{kRows});
    REQUIRE(got.jobs.size() == 3);
    CHECK(got.jobs[0].name == "j4/worker");
    CHECK(got.jobs[0].gpus == 4);  // one and a half, rounded up, twice
    CHECK(got.jobs[1].name == "j2/worker");
    CHECK(got.jobs[1].gpus == 6);
    CHECK(got.jobs[1].gpu_share == 1000);
    CHECK(got.jobs[1].milli_cpus == 4000);
    CHECK(got.jobs[1].host_memory == Bytes::mebibytes(32 * 1024));
    CHECK(got.jobs[1].outcome == JobOutcome::failed);
    CHECK(got.jobs[2].name == "j1/tensorflow");
    CHECK(got.jobs[2].gpus == 2);
    CHECK(got.jobs[2].gpu_share == 500);
    CHECK(got.jobs[2].duration == Time::seconds(38));
    CHECK(got.jobs[2].gpu_type == "MISC");
    CHECK(reasons_text(got.report.left_out()).find("it requests no GPUs: 1") == 0);
  }
  CHECK(import_text_of("auto", std::string{kHeader} + kRows).format->name == "pai");
}

TEST_CASE("the simulator of PAI: a fraction of a GPU for each instance") {
  const ImportedJobs got = import_text_of("auto",
                                          "job_id,user,num_inst,num_gpu,num_cpu,gpu_type,submit_time,duration\n"
                                          "7,u,4,0.25,6,T4,100,30.5\n"
                                          "8,u,,1.0,6,T4,101,30\n");
  CHECK(got.format->name == "pai-simulator");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].gpus == 4);
  CHECK(got.jobs[0].gpu_share == 250);
  CHECK(got.jobs[0].milli_cpus == 6000);
  CHECK(got.jobs[0].duration == Time::milliseconds(30'500));
  CHECK(got.jobs[1].gpus == 1);
}
