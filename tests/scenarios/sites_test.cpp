// Jobs on sites whose links differ (network.sites).

#include "models/passes/spread_passes.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kThreeSites =
    "from,to,latency_ms,mbps\n"
    "a,b,5,100\nb,a,5,200\nb,c,10,400\nc,b,10,300\na,c,20,50\nc,a,20,80\n";

struct Sites {
  TemporaryFolder folder;
  std::string file = folder.path("links.csv");
  Sites() { write_file(file, kThreeSites); }
  [[nodiscard]] std::string network() const { return "network: {sites: " + file + "}\n"; }
};

std::string sited_entry(const std::string& compression, const std::string& fusion = "bsp") {
  return "training: {it: {model: resnet18, batch: 8, fusion: " + fusion + ", compression: " + compression + "}}\n";
}

}  // namespace

TEST_CASE("sites: a job alone takes what the study of its iteration says") {
  const Sites sites;
  for (const char* compression : {"none", "top-k", "saps", "d-psgd"}) {
    for (const char* fusion : {"bsp", "wfbp"}) {
      INFO(std::string{compression}, " ", fusion);
      const Scenario study = parsed(sites.network() + sited_entry(compression, fusion) + "overlap: {training: it}\n");
      CHECK(study.overlap.workers == std::vector<int>{3});
      const JobResult row = run_study(study).jobs.front();
      const Scenario jobs = parsed(sites.network() + sited_entry(compression, fusion));
      CHECK(jobs.cluster.servers == 3);
      CHECK(jobs.cluster.gpus_per_server == 1);
      if (!row.reason.empty()) {
        CHECK_THROWS_AS(static_cast<void>(lone_iteration(jobs, "it", 3)), InputError);
        continue;
      }
      CHECK(lone_iteration(jobs, "it", 3).to_seconds() == near(iteration_value(row, "iteration_s"), 1e-6));
    }
  }
}

TEST_CASE("sites: a job pays for the links between the sites where it lies") {
  const Sites sites;
  const Scenario scenario = parsed(sites.network() + sited_entry("none"));
  const auto exposed_s = [&](std::uint32_t first, std::uint32_t second) {
    JobRequest job;
    job.name = "job";
    job.model = "it";
    job.gpus = 2;
    job.iterations = 10;
    job.place = {{first, 0, 0}, {second, 0, 0}};
    return iteration_value(run_workload(scenario, workload_of(scenario, scenario.workload, {job}), 1).jobs.front(),
                           "exposed_communication_s");
  };
  // A ring of two sends half the gradient each way, twice: the slower direction is busy all the time, and the latency
  // of its last block remains.
  constexpr double kGradientBits = 11'689'512 * 32.0;
  CHECK(exposed_s(0, 1) == near(0.005 + kGradientBits / 100e6, 1e-4));
  CHECK(exposed_s(1, 2) == near(0.010 + kGradientBits / 300e6, 1e-4));
  CHECK(exposed_s(0, 2) == near(0.020 + kGradientBits / 50e6, 1e-4));
}

TEST_CASE("sites: no link is faster than what may be under way over its round trip") {
  const Sites sites;
  const auto mbps = [](const Scenario& scenario, std::size_t from, std::size_t to) {
    return read_sites(scenario.network).link(from, to)->rate.bytes_per_second() * 8e-6;
  };
  // 100 kB over 10, 20 and 40 ms there and back are 80, 40 and 20 Mbit/s.
  const Scenario some = parsed("network: {sites: " + sites.file + ", in_flight: 100KB}\n");
  CHECK(mbps(some, 0, 1) == near(80));
  CHECK(mbps(some, 1, 0) == near(80));
  CHECK(mbps(some, 1, 2) == near(40));
  CHECK(mbps(some, 2, 0) == near(20));
  // 200 kB are 160 Mbit/s between a and b, where the link to b has 100 and the link back 200.
  const Scenario more = parsed("network: {sites: " + sites.file + ", in_flight: 200KB}\n");
  CHECK(mbps(more, 0, 1) == near(100));
  CHECK(mbps(more, 1, 0) == near(160));
  CHECK(mbps(parsed(sites.network()), 1, 0) == near(200));
  CHECK(errors_of("network: {in_flight: 1MiB}\n")
            .find("network.in_flight: needs `network.fidelity: flow, or "
                  "network.sites`") != std::string::npos);
}

TEST_CASE("sites: what they leave no room for is refused") {
  const Sites sites;
  CHECK(errors_of(sites.network() + "cluster: {servers: 4}\n").find("4 servers, but") != std::string::npos);
  CHECK(errors_of(sites.network() + "cluster: {gpus_per_server: 4}\n").find("one server of one GPU") !=
        std::string::npos);
  CHECK(errors_of("network: {fidelity: flow, sites: " + sites.file + "}\n").find("network.sites: needs") !=
        std::string::npos);
  CHECK(errors_of(sites.network() + "training: {it: {model: resnet18, exchange: parameter-server}}\n")
            .find("no place between sites") != std::string::npos);
  CHECK(errors_of("network: {sites: nowhere.csv}\n").find("network.sites: nowhere.csv") != std::string::npos);
}

TEST_CASE("keys of a study that are now keys of the network and the cluster are told by their new names") {
  struct Renamed {
    const char *key, *now;
  };
  for (const Renamed& each :
       {Renamed{"links: a.csv", "network.sites"}, Renamed{"per_server: 4", "cluster.gpus_per_server"},
        Renamed{"two_at_once: 1.5", "network.contention_penalty"},
        Renamed{"fitted_workers: [8]", "network.fitted_workers"},
        Renamed{"fitted_bytes: [1B, 2B]", "network.fitted_bytes"},
        Renamed{"exchange: all-reduce", "training.NAME.exchange"}, Renamed{"servers: 2", "training.NAME.servers"},
        Renamed{"colocated: true", "training.NAME.colocated"}, Renamed{"model: vgg16", "training.NAME.model"},
        Renamed{"device: K80", "training.NAME.device"}, Renamed{"single_worker: 1s", "training.NAME.single_worker"}}) {
    INFO(std::string{each.key});
    const std::string errors =
        errors_of(fmt::format("training: {{it: {{model: resnet18}}}}\noverlap: {{training: it, {}}}\n", each.key));
    CHECK(errors.find(fmt::format("it is now \"{}\"", each.now)) != std::string::npos);
    CHECK(errors.find("a.yaml:3:") != std::string::npos);
  }
  CHECK(errors_of("training: {it: {model: resnet18}}\noverlap: {training: it}\n", {"overlap.per_server=4"})
            .find("cluster.gpus_per_server") != std::string::npos);
}

TEST_CASE("sites: the stages of a pipeline lie on them, and adaptive compression goes by the links between these") {
  const Sites sites;
  const auto entry = [&](const char* members) {
    return parsed(
        sites.network() +
        "training: {it: {model: gpt-h100-1.7b, device: A100-80GB, dtype: bf16, sequence: 1024, accumulate: 8, "
        "parallel: {pipeline: 3" +
        members + "}}}\ncluster: {gpu_memory: 80GiB}\n");
  };
  const auto messages = [](const Scenario& scenario) {
    return plan_parallel(scenario, *find_entry(scenario.training, "it"), 3).iteration.messages;
  };
  // 1024 tokens x 2048 x 2 bytes: 5 ms and 335.5 ms from a to b at 100 Mb/s, 10 ms and 83.9 ms from b to c at 400.
  const double whole = 1024.0 * 2048 * 2, a_to_b = 5 + whole * 8 / 100e3, b_to_c = 10 + whole * 8 / 400e3;
  CHECK(messages(entry(""))[0].to_double() == whole);
  const Scenario adaptive = entry(", activation_compression: {ratio: 50, adaptive: true}");
  CHECK(whole / messages(adaptive)[0].to_double() == near(50, 1e-3));
  CHECK(whole / messages(adaptive)[1].to_double() == near(50 * b_to_c / a_to_b, 1e-3));
  CHECK(lone_iteration(adaptive, "it", 3).to_seconds() < lone_iteration(entry(""), "it", 3).to_seconds() / 5);
}

TEST_CASE("sites: topology-aware places a job on those with fast links") {
  // The best of the three links joins b and c.
  const Sites sites;
  const auto finish = [&](const char* placement) {
    const Scenario scenario =
        parsed(sites.network() + sited_entry("none") +
               fmt::format("policies: {{placement: {}}}\n"
                           "workload: {{generate: {{models: [it], sizes: {{2: 1}}, iterations: [5, 5], "
                           "arrivals: 1ms}}}}\n",
                           placement));
    return run_workload(scenario, scenario_workload(scenario, scenario.seed), scenario.seed).jobs.front();
  };
  const JobResult near_each_other = finish("topology-aware"), first = finish("consolidated");
  const Time faster = near_each_other.finish - near_each_other.start, slower = first.finish - first.start;
  CHECK(faster.to_seconds() < 0.6 * slower.to_seconds());
}

TEST_CASE("sites: parallel jobs plan their messages by the links between the sites of a group") {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.csv");
  const auto collectives = [&](const char* latency_ms) {
    write_file(file, fmt::format("from,to,latency_ms,mbps\na,b,{0},100\nb,a,{0},100\n", latency_ms));
    const Scenario scenario =
        parsed("network: {sites: " + file + "}\n" +
               "training: {it: {model: gpt2, device: A100-80GB, fusion: mg-wfbp, parallel: {tensor: 1}}}\n");
    const IterationGraph graph = training_graph(plan_parallel(scenario, scenario.training.back(), 2).iteration);
    return std::ranges::count(graph.ops(), OpKind::collective, &Op::kind);
  };
  // A start-up of a minute is longer than all computing, so that all gradients go together; one of nothing is free.
  CHECK(collectives("60000") == 1);
  CHECK(collectives("0") > 2);
}
