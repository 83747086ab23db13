// Slurm's and Kubernetes' files become a scenario and a job list.
#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_data.hpp"
#include "text/atomic_file.hpp"
#include "traces/cluster/snapshot_scenario.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// The snapshot of texts as files of a folder.
ClusterSnapshot snapshot_of(const std::vector<std::pair<std::string, std::string>>& files) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : files) write_file(folder.path(name), text);
  const std::vector<std::string> paths{folder.path("")};
  return read_snapshot(paths, std::nullopt);
}

std::string complaint_about(const std::vector<std::pair<std::string, std::string>>& files) {
  try {
    ClusterSnapshot snapshot = snapshot_of(files);
    static_cast<void>(scenario_of(snapshot, "now.csv", std::nullopt));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kConf = R"j(ClusterName=small
SchedulerParameters=bf_window=60,bf_resolution=300,bf_continue
PriorityWeightAge=1000
MpiDefault=none
NodeName=n[1-3] Gres=gpu:h100:4 CPUs=8
PartitionName=main Nodes=n[1-3] PriorityTier=1 MaxTime=1-00:00:00
PartitionName=quick Nodes=n1 PriorityTier=10 \
  MaxTime=30
)j";
constexpr const char* kNodes = R"j({"nodes": [
{"name": "n1", "gres": "gpu:h100:4(S:0)", "state": "mixed", "state_flags": [], "partitions": ["main", "quick"]},
{"name": "n2", "gres": "gpu:h100:4", "state": "idle", "state_flags": ["DRAIN"], "reason": "bad link",
 "partitions": ["main"]},
{"name": "n3", "gres": "gpu:h100:4", "state": "allocated", "partitions": ["main"], "weight": 1}]})j";
// 22.05: numbers and words. 7 runs on n1 and n3 since 400, 8 waits in the partition quick, 9 is held, 10 has ended, 11
// waits without a limit of its own.
constexpr const char* kOldQueue = R"j({"jobs": [
{"job_id": 7, "job_state": "RUNNING", "user_name": "ann", "partition": "main", "priority": 50, "submit_time": 100,
 "start_time": 400, "time_limit": 20, "tres_alloc_str": "cpu=6,gres/gpu=6,gres/gpu:h100=6", "nodes": "n[1,3]",
 "gres_detail": ["gpu:h100:2(IDX:0-1)", "gpu:h100:4(IDX:0-3)"], "node_count": 2},
{"job_id": 8, "job_state": "PENDING", "state_reason": "Resources", "user_name": "ben", "partition": "quick",
 "priority": 70, "submit_time": 900, "time_limit": 30, "tres_req_str": "cpu=1,gres/gpu=4", "qos": "high"},
{"job_id": 9, "job_state": "PENDING", "state_reason": "JobHeldUser", "priority": 0, "submit_time": 1},
{"job_id": 10, "job_state": "COMPLETED", "submit_time": 1},
{"job_id": 11, "job_state": "PENDING", "state_reason": "Dependency", "user_name": "ann", "partition": "main",
 "priority": 60, "submit_time": 1000, "time_limit": 0, "tres_req_str": "gres/gpu=1",
 "dependency": "afterok:7(unfulfilled),singleton"}]})j";

TEST_CASE("slurm.conf, nodes and a queue of Slurm 22.05 become types, partitions, a policy and jobs") {
  ClusterSnapshot snapshot = snapshot_of({{"slurm.conf", kConf}, {"nodes.json", kNodes}, {"squeue.json", kOldQueue}});
  CHECK(snapshot.now == Time::seconds(1000));  // the submission of 11
  const SnapshotScenario made = scenario_of(snapshot, "now.csv", std::nullopt);
  CHECK(made.yaml ==
        "# The cluster \"small\" at 1970-01-01 00:16:40 UTC.\n"
        "# server0 and the servers that follow are the nodes\n#   n1\n#   n3\n"
        "schema_version: 2\nname: \"small\"\ncluster:\n  types:\n"
        "    - {name: \"h100-main-quick\", servers: 1, gpus_per_server: 4}\n"
        "    - {name: \"h100-main\", servers: 1, gpus_per_server: 4}\n"
        "  vcs:\n    - {name: \"main\", weight: 1, priority: 1}\n    - {name: \"quick\", weight: 1, priority: 10}\n"
        "policies:\n  scheduling: {policy: slurm-backfill, bf_resolution_s: 300, bf_window_min: 60, weight_qos: 140}\n"
        "  placement: consolidated\nworkload: {jobs: \"now.csv\"}\n");
  CHECK(made.jobs ==
        "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,vc,user,gpu_type,priority,after,place\n"
        "7,0,6,1200,1200,600,main,ann,h100-main-quick+h100-main,50,,server0:0-1;server1:0-3\n"
        "8,0,4,1800,1800,,quick,ben,h100-main-quick,70,,\n"
        "11,0,1,86400,86400,,main,ann,h100-main-quick+h100-main,60,7,\n");
  CHECK(made.counts.usable_gpus == 8);
  CHECK(made.counts.free_gpus == 2);
  CHECK(snapshot.left_out["jobs"] ==
        std::map<std::string, std::int64_t>{{"ended or suspended: COMPLETED", 1}, {"held", 1}});
  CHECK(snapshot.left_out["nodes out of service"].begin()->first == "n2 (IDLE+DRAIN: bad link)");
  CHECK(snapshot.left_out["kinds of dependencies"].contains("singleton"));
  CHECK(snapshot.left_out["SchedulerParameters"].contains("bf_continue"));
  CHECK(snapshot.left_out["keys of slurm.conf"].contains("MpiDefault"));
  CHECK(snapshot.left_out["keys of NodeName"].contains("CPUs"));
  CHECK(snapshot.left_out["fields of jobs"].contains("qos"));
  CHECK(snapshot.left_out["fields of nodes"].contains("weight"));
}

TEST_CASE("numbers as objects and states as lists, as Slurm writes them from 23.11 on, give the jobs of 22.05") {
  const auto number = [](int value) {
    return "{\"set\": true, \"infinite\": false, \"number\": " + std::to_string(value) + "}";
  };
  const std::string queue =
      "{\"last_update\": " + number(1500) +
      ", \"jobs\": [{\"job_id\": 7, \"job_state\": [\"RUNNING\"], \"priority\": " + number(50) +
      ", \"submit_time\": " + number(100) + ", \"start_time\": " + number(400) +
      ", \"time_limit\": " + "{\"set\": true, \"infinite\": true, \"number\": 0}" +
      ", \"tres_alloc_str\": \"gres/gpu=4\", \"nodes\": \"n3\", \"partition\": \"main\"}," +
      "{\"job_id\": 12, \"job_state\": [\"PENDING\"], \"array_job_id\": " + number(12) +
      ", \"array_task_string\": \"1,4-8:2%2\", \"submit_time\": " + number(200) + ", \"priority\": " + number(4) +
      ", \"partition\": \"main\", \"tres_per_node\": \"gres/gpu:2\", \"node_count\": " + number(1) + "}]}";
  ClusterSnapshot snapshot = snapshot_of({{"slurm.conf", kConf}, {"nodes.json", kNodes}, {"squeue.json", queue}});
  CHECK(snapshot.now == Time::seconds(1500));
  const SnapshotScenario made = scenario_of(snapshot, "now.csv", std::nullopt);
  CHECK(made.jobs ==
        "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,vc,priority,place\n"
        "7,0,4,86400,86400,1100,main,50,server1:0-3\n"
        "12_1,0,2,86400,86400,,main,4,\n12_4,0,2,86400,86400,,main,4,\n"
        "12_6,0,2,86400,86400,,main,4,\n12_8,0,2,86400,86400,,main,4,\n");
  CHECK(snapshot.left_out["limits of arrays"].contains("%2"));
}

TEST_CASE("nodes come from scontrol show node, sinfo's groups, or slurm.conf with gres.conf") {
  const std::string shown =
      "NodeName=n1 Arch=x86_64 CoresPerSocket=1\n   CPUAlloc=1 Gres=gpu:4(S:0-1)\n   OS=Linux 6.1 State=MIXED\n"
      "   Partitions=main,quick\n\nNodeName=n2 Arch=x86_64\n   Gres=(null) State=IDLE\n\n"
      "NodeName=n3 Arch=x86_64\n   Gres=gpu:4 State=IDLE+DRAIN\n   Reason=bad link [root@2026-11-04]\n";
  ClusterSnapshot text =
      snapshot_of({{"nodes.txt", shown}, {"gres.conf", "NodeName=n[1-3] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"}});
  REQUIRE(text.nodes.size() == 2);
  CHECK(text.nodes[0].gpu_type == "a100");
  CHECK(text.nodes[0].partitions == std::vector<std::string>{"main", "quick"});
  CHECK(text.nodes[1].out == "IDLE+DRAIN: bad link [root@2026-11-04]");
  CHECK(text.left_out["nodes"]["without GPUs"] == 1);

  const std::string group =
      R"j({"sinfo": [{"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n1", "n2"]}, "gres": {"total": "gpu:h100:8"}, "partition": {"name": "main"}},)j"
      R"j({"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n2"]}, "gres": {"total": "gpu:h100:8"}, "partition": {"name": "quick"}}]})j";
  const ClusterSnapshot groups = snapshot_of({{"sinfo.json", group}});
  REQUIRE(groups.nodes.size() == 2);
  CHECK(groups.nodes[1].partitions == std::vector<std::string>{"main", "quick"});

  const ClusterSnapshot conf = snapshot_of({{"slurm.conf", kConf}});
  CHECK(conf.nodes.size() == 3);
}

TEST_CASE("lists of hosts and generic resources") {
  CHECK(slurm_hosts("gpu[001-003,007],login") ==
        std::vector<std::string>{"gpu001", "gpu002", "gpu003", "gpu007", "login"});
  CHECK(slurm_hosts("r[1-2]n[08-09]") == std::vector<std::string>{"r1n08", "r1n09", "r2n08", "r2n09"});
  CHECK_FALSE(slurm_hosts("n[1-").has_value());
  CHECK_FALSE(slurm_hosts("n[3-1]").has_value());
  CHECK_FALSE(slurm_hosts("n[1-999999]").has_value());
  CHECK(slurm_gres("gpu:h100:8(S:0-1),shard:4")->gpus == 8);
  CHECK(slurm_gres("gpu:a100:2,gpu:h100:6")->type == "a100/h100");
  CHECK(slurm_gres("gres:gpu:2")->gpus == 2);
  CHECK(slurm_gres("shard:4")->gpus == 0);
  CHECK_FALSE(slurm_gres("gpu:many").has_value());
}

TEST_CASE("pods of a job are one job of Kubernetes, which needs a limit from outside") {
  const auto pod = [](const std::string& name, const std::string& node, const std::string& phase) {
    return "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"" + name +
           "\", \"namespace\": \"red\", \"creationTimestamp\": \"2026-11-02T08:00:00Z\", \"labels\": "
           "{\"kueue.x-k8s.io/queue-name\": \"q\", \"batch.kubernetes.io/job-name\": \"base\"}}, \"spec\": {" +
           (node.empty() ? "" : "\"nodeName\": \"" + node + "\", ") +
           "\"priority\": -5, \"containers\": [{\"resources\": {\"requests\": {\"nvidia.com/gpu\": \"4\"}}}]}, "
           "\"status\": "
           "{\"phase\": \"" +
           phase + "\", \"startTime\": \"2026-11-02T09:00:00Z\"}}";
  };
  const std::string nodes =
      R"j({"kind": "Node", "metadata": {"name": "n1"}, "spec": {}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},)j"
      R"j({"kind": "Node", "metadata": {"name": "n2"}, "spec": {"unschedulable": true}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}})j";
  const std::string list = "{\"items\": [" + nodes + "," + pod("base-0", "n1", "Running") + "," +
                           pod("base-1", "n1", "Running") + "," + pod("base-2", "", "Pending") + "," +
                           pod("old-0", "n1", "Succeeded") + "]}";
  CHECK(complaint_about({{"all.json", list}}).find("2 of 2 jobs have no time limit: red/base, red/base") !=
        std::string::npos);
  ClusterSnapshot snapshot = snapshot_of({{"all.json", list}});
  const SnapshotScenario made = scenario_of(snapshot, "now.csv", Time::seconds(7200));
  CHECK(made.jobs ==
        "job_id,submit_s,gpus,duration_s,limit_s,elapsed_s,user,priority,place\n"
        "red/base,0,8,7200,7200,0,red,1,server0:0-7\nred/base~waiting,0,4,7200,7200,,red,1,\n");
  CHECK(snapshot.left_out["pods"]["ended: Succeeded"] == 1);
  CHECK(complaint_about({{"a.json", list}, {"b.json", list}}).find("the node n1 has been read already") !=
        std::string::npos);
}

TEST_CASE("queues of Kueue become virtual clusters with their cohorts, and local queues stand for them") {
  const std::string list = R"j({"items": [
    {"kind": "Node", "metadata": {"name": "n1"}, "spec": {}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},
    {"kind": "Pod", "metadata": {"name": "p", "namespace": "team", "creationTimestamp": "2026-11-02T08:00:00Z",
      "labels": {"kueue.x-k8s.io/queue-name": "local"}},
      "spec": {"activeDeadlineSeconds": 60, "containers": [{"resources": {"requests": {"nvidia.com/gpu": "4"}}}]},
      "status": {"phase": "Pending"}},
    {"kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "local", "namespace": "team"},
      "spec": {"clusterQueue": "red"}},
    {"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "red"}, "spec": {
      "cohortName": "all", "queueingStrategy": "StrictFIFO", "fairSharing": {"weight": "0.5"},
      "resourceGroups": [{"flavors": [{"resources": [{"name": "cpu", "nominalQuota": 9},
        {"name": "nvidia.com/gpu", "nominalQuota": 6, "borrowingLimit": "2", "lendingLimit": 3}]}]}],
      "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 50}}}}]})j";
  ClusterSnapshot snapshot = snapshot_of({{"all.json", list}});
  const std::string yaml = scenario_of(snapshot, "now.csv", std::nullopt).yaml;
  CHECK(yaml.find("    - {name: \"red\", parent: \"all\", gpus: 6, borrowing_limit: 2, lending_limit: 3, weight: 0.5, "
                  "strict: true, preempt_within: lower-priority, reclaim: any, borrow_preempting: true, "
                  "borrow_threshold: 50}\n    - {name: \"all\"}\n") != std::string::npos);
  CHECK(yaml.find("scheduling: {policy: kueue}") != std::string::npos);
  CHECK(yaml.find("local") == std::string::npos);
}

TEST_CASE("queues of KAI and Volcano become virtual clusters with limits and weights") {
  const std::string node =
      R"j({"kind": "Node", "metadata": {"name": "n1"}, "spec": {}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},)j";
  const auto vcs_of = [&](const std::string& queues) {
    ClusterSnapshot snapshot = snapshot_of({{"all.json", "{\"items\": [" + node + queues + "]}"}});
    const std::string yaml = scenario_of(snapshot, "now.csv", std::nullopt).yaml;
    return yaml.substr(yaml.find("  vcs:"));
  };
  const std::string kai = R"j({"kind": "Queue", "apiVersion": "scheduling.run.ai/v2", "metadata": {"name": "a"},
      "spec": {"priority": 200, "resources": {"gpu": {"quota": -1, "overQuotaWeight": 2, "limit": -1}}}},
    {"kind": "Queue", "apiVersion": "scheduling.run.ai/v2", "metadata": {"name": "b"},
      "spec": {"parentQueue": "a", "resources": {"gpu": {"quota": 2, "limit": 6}}}})j";
  CHECK(vcs_of(kai) ==
        "  vcs:\n    - {name: \"a\", gpus: 8, borrow: true, weight: 2, priority: 200}\n    - {name: \"b\", parent: "
        "\"a\", "
        "gpus: 2, borrowing_limit: 4, priority: 100}\npolicies:\n  scheduling: {policy: kai}\n  placement: "
        "consolidated\n");
  const std::string volcano = R"j({"kind": "Queue", "apiVersion": "scheduling.volcano.sh/v1beta1",
      "metadata": {"name": "a"}, "spec": {"weight": 4, "capability": {"nvidia.com/gpu": 6}}},
    {"kind": "Queue", "apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"name": "b"},
      "spec": {"weight": 1, "reclaimable": false, "guarantee": {"resource": {"nvidia.com/gpu": "2"}}}})j";
  CHECK(
      vcs_of(volcano) ==
      "  vcs:\n    - {name: \"a\", gpus: 0, borrowing_limit: 6, weight: 4}\n    - {name: \"b\", gpus: 2, borrow: true, "
      "guarantee: 2, reclaimable: false}\npolicies:\n  scheduling: {policy: volcano}\n  placement: consolidated\n");
  CHECK(complaint_about({{"all.json", "{\"items\": [" + node + kai + "," + volcano + "]}"}})
            .find("a queue of volcano, and other files have queues of kai") != std::string::npos);
}

TEST_CASE("files that contradict each other are refused") {
  const std::string nodes = R"j({"nodes": [{"name": "n1", "gres": "gpu:4", "state": "mixed"}]})j";
  const auto queue = [](const std::string& node, const std::string& gpus) {
    return R"j({"jobs": [{"job_id": 7, "job_state": "RUNNING", "submit_time": 1, "start_time": 2, "time_limit": 5,
               "tres_alloc_str": "gres/gpu=)j" +
           gpus + R"j(", "nodes": ")j" + node + R"j("}]})j";
  };
  CHECK(complaint_about({{"n.json", nodes}, {"q.json", queue("n1", "5")}}) ==
        "the running jobs hold 5 GPUs of n1, which has 4");
  CHECK(complaint_about({{"n.json", nodes}, {"q.json", queue("n9", "2")}}) ==
        "job 7 runs on n9, which no file has as a node with GPUs");
  CHECK(complaint_about({{"n.json", nodes}, {"q.json", queue("n1", "2")}}).empty());
}

/// What expected.json of a folder says under the name.
std::int64_t expected_count(const std::string& folder, const std::string& name) {
  const std::unique_ptr<ByteSource> source = open_file(folder + "/expected.json");
  const JsonValue document = read_json(*source, "expected.json");
  return static_cast<std::int64_t>(document.find(name)->whole().value());
}

TEST_CASE("sample snapshots of three clusters hold what an independent reader finds") {
  for (const char* const name : {"slurm-8-old", "slurm-16-old", "slurm-64-new"}) {
    const std::optional<std::string> folder = test_data(std::string{"operators/"} + name);
    if (!folder) return;
    CAPTURE(name);
    const std::vector<std::string> paths{*folder};
    ClusterSnapshot snapshot = read_snapshot(paths, Time::seconds(expected_count(*folder, "now")));
    const SnapshotCounts counts = scenario_of(snapshot, "now.csv", std::nullopt).counts;
    CHECK(counts.nodes == expected_count(*folder, "nodes"));
    CHECK(counts.gpus == expected_count(*folder, "gpus"));
    CHECK(counts.usable_gpus == expected_count(*folder, "usable_gpus"));
    CHECK(counts.free_gpus == expected_count(*folder, "free_gpus"));
    CHECK(counts.running == expected_count(*folder, "running"));
    CHECK(counts.running_gpus == expected_count(*folder, "running_gpus"));
    CHECK(snapshot.left_out["jobs"]["held"] == expected_count(*folder, "held"));
    CHECK(counts.waiting == expected_count(*folder, "pending") - expected_count(*folder, "held"));
  }
}

TEST_CASE("a sample of Kubernetes holds what an independent reader finds") {
  const std::optional<std::string> folder = test_data("operators/kubernetes-12");
  if (!folder) return;
  for (const char* const pods : {"/kai-pods.json", "/kueue-pods.json", "/volcano-pods.json"}) {
    const std::vector<std::string> paths{*folder + "/nodes.json", *folder + pods};
    ClusterSnapshot snapshot = read_snapshot(paths, std::nullopt);
    const SnapshotCounts counts = scenario_of(snapshot, "now.csv", Time::seconds(86'400)).counts;
    CHECK(counts.usable_gpus == expected_count(*folder, "schedulable_gpus"));
    CHECK(counts.running_gpus == expected_count(*folder, "gpus_in_use"));
    CHECK(counts.free_gpus == expected_count(*folder, "free_schedulable_gpus"));
    CHECK(counts.waiting == 2);  // the gangs wide and one
    CHECK(counts.waiting_gpus == 25);
  }
}

}  // namespace
}  // namespace contend
