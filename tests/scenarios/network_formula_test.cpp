// What `network.formula`, `network.interference` and `network.many_senders` make of the costs of a scenario.

#include "models/overlap/usual_interference.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/study_cost.hpp"
#include "scenarios/study/study_run.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr Bytes kMebibytes64{64 << 20};

double all_reduce_us(const ExchangeCost& cost, Bytes bytes) {
  return cost.sized(bytes, CollectiveKind::all_reduce).of(bytes).to_seconds() * 1e6;
}

}  // namespace

TEST_CASE("nccl: a study and a job alone take what NCCL expects") {
  const std::string network =
      "network: {fidelity: analytic, nic: 200Gbps, formula: nccl, nccl: {machine: dgx-a100, version: 2.23.4, "
      "measured: false}}\n";
  const Scenario study = parsed(network +
                                "cluster: {gpus_per_server: 8}\ntraining: {it: {model: resnet50}}\noverlap: {training: "
                                "it, workers: [8, 128], fusion: [bsp, ddp]}");
  // The table of the reference (A.5): 1 x 8 and 16 x 8 A100.
  CHECK(all_reduce_us(study_cost(study, 8), kMebibytes64) == near(545.3, 1e-4));
  CHECK(all_reduce_us(study_cost(study, 128), kMebibytes64) == near(1216.6, 1e-4));
  CHECK(all_reduce_us(study_cost(study, 128), Bytes{1024}) == near(55.3, 1e-3));
  const Scenario again = parse_scenario(to_yaml(study), "again");
  CHECK(to_yaml(again) == to_yaml(study));
  const std::vector<JobResult> rows = run_study(study).jobs;
  REQUIRE(rows.size() == 4);
  for (const JobResult& row : rows) CHECK(iteration_value(row, "iteration_s") >= iteration_value(row, "bound_s"));
  for (const int gpus : {8, 128}) {
    const Scenario jobs = parsed(network +
                                 "cluster: {servers: 16, gpus_per_server: 8}\n"
                                 "training: {it: {model: resnet50, fusion: bsp}}\n");
    const double job_s = lone_iteration(jobs, "it", gpus).to_seconds();
    CHECK(job_s == near(iteration_value(rows[gpus == 8 ? 0 : 2], "iteration_s"), 1e-6));
  }
  const Scenario fitted = parsed(
      "network: {fidelity: analytic, formula: nccl, nccl: {machine: dgx-a100, measured: false, hop: 20us, rate: "
      "12GB/s}}\n"
      "cluster: {gpus_per_server: 8}\ntraining: {it: {model: resnet50}}\noverlap: {training: it, workers: [128]}");
  CHECK(all_reduce_us(study_cost(fitted, 128), Bytes{1024}) > 55.3 + 100);
  CHECK(all_reduce_us(study_cost(fitted, 128), Bytes{1 << 30}) >
        1.7 * all_reduce_us(study_cost(study, 128), Bytes{1 << 30}));
}

TEST_CASE("nccl needs a machine with room for the GPUs of a server") {
  const std::string study =
      "cluster: {gpus_per_server: 16}\ntraining: {it: {model: vgg16}}\noverlap: {training: it, workers: [32]}\n";
  CHECK(errors_of("network: {formula: nccl}\n" + study).find("NCCL plans with the links of a server") !=
        std::string::npos);
  CHECK(errors_of("network: {formula: nccl, nccl: {machine: dgx-1v}}\n" + study)
            .find("a dgx-1v has 8 GPUs, and servers have 16 here") != std::string::npos);
  CHECK(errors_of("network: {formula: nccl, nccl: {machine: dgx-1v}}\ncluster: {gpus_per_server: 9}\n")
            .find("servers have 9 here") != std::string::npos);
  CHECK(errors_of("network: {nccl: {machine: dgx-1v}}\n").find("needs `network.formula: nccl (at fidelity flow ") !=
        std::string::npos);
  CHECK(errors_of("network: {formula: nccl, nccl: {machine: dgx-1v, version: 2.5.1}}\n")
            .find("2.10.3, 2.18.5 or 2.23.4 to 2.30.7") != std::string::npos);
  CHECK(errors_of("network: {formula: nccl, nccl: {machine: dgx-9}}\n").find("dgx-1v") != std::string::npos);
}

TEST_CASE("a measured all-reduce may be one among servers of several GPUs") {
  const Scenario study = parsed(
      "network: {fidelity: analytic, alpha: 300us, beta: 1.5ns/B, formula: measured, inside: {alpha: 5us, beta: "
      "0.1ns/B}}\ncluster: {gpus_per_server: 4}\n"
      "training: {it: {model: resnet50}}\noverlap: {training: it, workers: [4, 16], fusion: all, compression: [none, "
      "hierarchical]}");
  const ExchangeCost cost = study_cost(study, 16);
  CHECK(cost.of(CollectiveKind::all_reduce).alpha == Time::microseconds(300));
  CHECK(cost.of(CollectiveKind::all_reduce).beta.ns_per_byte() == 1.5);
  CHECK(cost.of(CollectiveKind::all_gather).beta.ns_per_byte() == 0.75);
  // Servers reach each other as on the ring of 16 that takes as long: 1.5 x 16/30 ns a byte of a link.
  CHECK(cost.of(CollectiveKind::all_reduce, CollectiveScope::leaders).beta.ns_per_byte() == near(0.8 * 2 * 3 / 4.0));
  // On one server nothing of the measurement holds.
  CHECK(study_cost(study, 4).of(CollectiveKind::all_reduce).beta.ns_per_byte() == near(0.1 * 2 * 3 / 4.0));
  const std::vector<JobResult> rows = run_study(study).jobs;
  for (const JobResult& row : rows)
    CHECK((row.state == JobState::failed || iteration_value(row, "iteration_s") >= iteration_value(row, "bound_s")));
  const Scenario jobs = parsed(
      "network: {fidelity: analytic, alpha: 300us, beta: 1.5ns/B, inside: {alpha: 5us, beta: 0.1ns/B}}\n"
      "cluster: {servers: 4, gpus_per_server: 4}\ntraining: {it: {model: resnet50, fusion: bsp}}\n");
  CHECK(lone_iteration(jobs, "it", 4).to_seconds() + 0.1 < lone_iteration(jobs, "it", 16).to_seconds());
}

TEST_CASE("interference: auto is the figure of the device, or an error") {
  const auto study = [](const std::string& more, const std::string& device) {
    return fmt::format(
        "network: {{nic: 10Gbps{}}}\ntraining: {{it: {{model: resnet50, device: {}}}}}\noverlap: {{training: it, "
        "workers: [8]}}\n",
        more, device);
  };
  const std::string automatic = ", interference: auto";
  const Scenario scenario = parsed(study(automatic, "A100-80GB"));
  const UsualInterference& row = *usual_interference("A100-80GB", TransferPath::between);
  CHECK(study_cost(scenario, 8).interference ==
        Interference{std::llround(row.compute * 1e6), std::llround(row.network * 1e6)});
  CHECK_FALSE(study_cost(scenario, 8).interference.none());
  CHECK(to_yaml(scenario).find("interference: auto\n") != std::string::npos);
  CHECK(to_yaml(parse_scenario(to_yaml(scenario), "again")) == to_yaml(scenario));
  // Later layers say something else, each in its own way.
  const auto with = [&](const std::string& set) {
    return study_cost(parsed(study(automatic, "A100-80GB"), {set}), 8).interference;
  };
  CHECK(with("network.interference=none").none());
  CHECK(with("network.interference=0.4") == Interference{400'000, 400'000});
  CHECK(with("network.interference.compute=0.4") == Interference{400'000, 0});
  CHECK(
      study_cost(
          parsed(study(", interference: {compute: 0.1, network: 0.2}", "K80"), {"network.interference.compute=0.4"}), 8)
          .interference == Interference{400'000, 200'000});
  CHECK(errors_of(study(automatic, "K80")).find("no figure is known for K80 between servers") != std::string::npos);
  CHECK(errors_of("network: {interference: auto}\n").find("auto goes by the devices of training") != std::string::npos);
  CHECK(errors_of("network: {interference: automatic}\n").find("or auto, none, or a map") != std::string::npos);
  const std::string two =
      "network: {interference: auto}\ntraining: {a: {model: vgg16, device: A100-40GB}, b: {model: vgg16, device: "
      "RTX2080Ti}}\n";
  CHECK(errors_of(two).find("A100-40GB and RTX2080Ti differ") != std::string::npos);
}

TEST_CASE("many senders: bytes take longer where more servers than that send at once, and not in trees") {
  const auto cost = [](const std::string& more, int workers) {
    return study_cost(parsed(fmt::format("network: {{fidelity: analytic, nic: 1Gbps, alpha: 50us{}}}\ntraining: {{it: "
                                         "{{model: resnet50}}}}\noverlap: {{training: it, workers: [{}]}}",
                                         more, workers)),
                      workers);
  };
  const std::string many = ", many_senders: {free: 8, exponent: 2}";
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    CHECK(cost(many, 8).of(kind).beta.ns_per_byte() == near(cost("", 8).of(kind).beta.ns_per_byte()));
    CHECK(cost(many, 32).of(kind).beta.ns_per_byte() == near(16 * cost("", 32).of(kind).beta.ns_per_byte()));
    CHECK(cost(many, 32).of(kind).alpha == cost("", 32).of(kind).alpha);
  }
  for (const CollectiveKind kind : {CollectiveKind::reduce, CollectiveKind::broadcast})
    CHECK(cost(many, 32).of(kind).beta.ns_per_byte() == near(cost("", 32).of(kind).beta.ns_per_byte()));
  CHECK(errors_of("network: {beta: 1ns/B, many_senders: {free: 8}}\n")
            .find("the link does not say what collectives take") != std::string::npos);
  CHECK(errors_of("network: {many_senders: {exponent: 1}}\n").find("network.many_senders.free") != std::string::npos);
}

TEST_CASE("frameworks and the host are part of a study and of a job alike") {
  const auto seconds = [](const std::string& more) {
    const std::string network = "network: {fidelity: analytic, nic: 10Gbps, alpha: 50us}\n";
    const Scenario study = parsed(
        fmt::format("{}training: {{it: {{model: resnet50, fusion: ddp{}}}}}\noverlap: {{training: it, workers: [4]}}\n",
                    network, more));
    const std::vector<JobResult> rows = run_study(study).jobs;
    const Scenario jobs = parsed(fmt::format(
        "{}cluster: {{servers: 4, gpus_per_server: 1}}\ntraining: {{it: {{model: resnet50, fusion: ddp{}}}}}\n",
        network, more));
    const double found = iteration_value(rows.front(), "iteration_s");
    CHECK(lone_iteration(jobs, "it", 4).to_seconds() == near(found, 1e-6));
    return found;
  };
  const double plain = seconds("");
  CHECK(seconds(", framework: ddp") > plain);
  CHECK(seconds(", framework: {bytes_before: 16, bytes_after: 8, launches: 1}") == seconds(", framework: ddp"));
  CHECK(seconds(", host_ns_per_value: 10") > plain);
  CHECK(errors_of("training: {it: {model: vgg16, framework: dpp}}\noverlap: {training: it}\n").find("ddp") !=
        std::string::npos);
  const Scenario shown = parsed(
      "training: {it: {model: vgg16, framework: {bytes_before: 8, bytes_after: 8, launches: 1}}}\noverlap: {training: "
      "it}");
  CHECK(to_yaml(shown).find("framework: horovod") != std::string::npos);
}
