// Entries of `training`: how they are read, what they cost, and what jobs make of them.

#include "models/catalogue/catalogue.hpp"
#include "models/training_profile.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_run.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

const TrainingEntry& entry_of(const Scenario& scenario, const std::string& name) {
  const TrainingEntry* entry = find_entry(scenario.training, name);
  REQUIRE(entry != nullptr);
  return *entry;
}

RunResult run_one(const Scenario& scenario, const std::string& model, int gpus, std::int64_t iterations) {
  JobRequest job;
  job.name = "job";
  job.model = model;
  job.gpus = gpus;
  job.iterations = iterations;
  return run_workload(scenario, workload_of(scenario, scenario.workload, {job}), 1);
}

}  // namespace

TEST_CASE("training: entries are merged layer by layer, printed, and read back") {
  const Scenario scenario =
      parsed("training: {a: {model: resnet50, batch: 64, fusion: {policy: threshold, mib: 8}}, b: {model: vgg16}}\n",
             {"training.a.batch=16", "training.a.fusion.mib=4", "training.c.model=alexnet"});
  REQUIRE(scenario.training.size() == 3);
  CHECK(entry_of(scenario, "a").batch == 16);
  CHECK(entry_of(scenario, "a").fusion.name == "threshold");
  CHECK(entry_of(scenario, "a").fusion.parameters.get<double>("mib") == 4);
  CHECK(entry_of(scenario, "b").fusion.name == "ddp");
  CHECK(entry_of(scenario, "c").model == "alexnet");
  const Scenario again = parse_scenario(to_yaml(scenario), "again");
  CHECK(to_yaml(again) == to_yaml(scenario));
  CHECK(again.training.size() == 3);
}

TEST_CASE("training: the default entry holds for members that an entry doesn't give") {
  const Scenario scenario = parsed(
      "training: {default: {device: A100-40GB, batch: 8, fusion: bsp}, a: {model: resnet50}, b: {model: vgg16, batch: "
      "4}}\n",
      {"training.default.fusion=dear"});
  CHECK(entry_of(scenario, "a").batch == 8);
  CHECK(entry_of(scenario, "a").fusion.name == "dear");
  CHECK(entry_of(scenario, "b").batch == 4);
  CHECK(entry_of(scenario, "b").device.name == "A100-40GB");
  CHECK(trainable_names(scenario.training).size() == 2 + 4);
  CHECK(find_entry(scenario.training, "default") == nullptr);
  const Scenario again = parse_scenario(to_yaml(scenario), "again", {{"training.default.batch=2"}});
  CHECK(entry_of(again, "a").batch == 2);
  CHECK(entry_of(again, "b").batch == 4);
}

TEST_CASE("training: a study takes an entry, with its policies unless it lists others") {
  const std::string entries =
      "training: {a: {model: resnet50, batch: 16, accumulate: 2, fusion: bsp}, b: {model: vgg16, batch: 4}}\n";
  const Scenario study = parsed(entries + "overlap: {training: a, workers: [4]}\n");
  CHECK(study.overlap.entry.model == "resnet50");
  CHECK(study.overlap.entry.batch == 16);
  REQUIRE(study.overlap.fusion.size() == 1);
  CHECK(study.overlap.fusion.front().name == "bsp");
  const TimedModel model = study_model(study.overlap);
  CHECK(model.forward() + model.backward() == TrainingGraphs{study}.iteration("a"));
  CHECK(parsed(entries + "overlap: {training: a, workers: [4], fusion: [wfbp, ddp]}\n").overlap.fusion.size() == 2);
  const Scenario again = parse_scenario(to_yaml(study), "again", {{"overlap.training=b"}});
  CHECK(again.overlap.entry.model == "vgg16");
  CHECK(errors_of(entries + "overlap: {training: c}\n") ==
        "a.yaml:3:21: overlap.training: training has no entry c; did you mean \"a\"?");
  CHECK(errors_of(entries + "overlap: {training: a, batch: 3}\n") ==
        "a.yaml:3:24: overlap.batch: unknown key; it is now \"training.NAME.batch\": of an entry that overlap.training "
        "names");
}

TEST_CASE("training: what can't be is said with its place") {
  CHECK(errors_of("training: {a: {model: resnet5O}}\n").starts_with("a.yaml:2:23: training.a.model: expected one of "));
  CHECK(
      errors_of("training: {a: {batch: 8}}\n") ==
      "a.yaml:2:15: training.a: says no network; give a model of the catalogue (`contend list networks`) or a file of "
      "layers");
  CHECK(errors_of("training: {vgg16: {model: vgg16}}\n") ==
        "a.yaml:2:12: training.vgg16: can't be the name of an entry: a training profile has this name");
  CHECK(errors_of("training: {a.b: {model: vgg16}}\n").find("a name has no points, commas or spaces") !=
        std::string::npos);
  CHECK(errors_of("training: {a: {model: vgg16, fusoin: ddp}}\n") ==
        "a.yaml:2:30: training.a.fusoin: unknown key; did you mean \"fusion\"?");
  CHECK(errors_of("training: {a: {model: vgg16, dtype: bf16}}\n") ==
        "a.yaml:2:37: training.a.dtype: V100-SXM2 has no bf16; it has fp32, fp16");
  CHECK(errors_of("training: {a: {model: vgg16, kernel_factor: 2}}\n") ==
        "a.yaml:2:45: training.a.kernel_factor: has no effect without a compression");
  CHECK(errors_of("training: {a: {model: published-vgg16, dtype: fp16, batch: 32, optimizer: adam}}\n") ==
        "a.yaml:2:47: training.a.dtype: has no effect: published-vgg16 was measured as a whole; name a network of the "
        "catalogue (`contend list networks`)\n"
        "a.yaml:2:60: training.a.batch: published-vgg16 was measured with 16 samples; name a network of the catalogue "
        "(`contend list networks`)\n"
        "a.yaml:2:75: training.a.optimizer: is in the measured times of published-vgg16 already; none");
  CHECK(errors_of("training: {a: {model: vgg16, compression: top-k, collective: all-reduce}}\n")
            .find("top-k doesn't go by all-reduce") != std::string::npos);
  CHECK(errors_of("training: [a]\n").find("expected a map such as {resnet:") != std::string::npos);
  CHECK(errors_of("training: {a: vgg16}\n").find("expected a map such as {model:") != std::string::npos);
  CHECK(errors_of("network: {nic: 8Gbps, formula: measured}\n").find("network.nic is the rate of a link") !=
        std::string::npos);
  CHECK(errors_of("training: {it: {model: vgg16}}\noverlap: {training: it, formula: ring}\n")
            .find("it is now \"network.formula\"") != std::string::npos);
}

TEST_CASE("training: update, micro-batches and input add what they say") {
  const Scenario scenario = parsed(
      "training:\n"
      "  plain: {model: resnet50, batch: 16, single_worker: 62ms}\n"
      "  update: {model: resnet50, batch: 16, single_worker: 62ms, optimizer: momentum}\n"
      "  four: {model: resnet50, batch: 16, single_worker: 62ms, accumulate: 4, input: 5ms}\n");
  const auto total = [&](const std::string& name) {
    const TimedModel model = entry_model(entry_of(scenario, name));
    return model.forward() + model.backward();
  };
  const Time plain = total("plain");
  CHECK(plain.to_seconds() == near(0.062, 1e-5));
  // 25,557,032 parameters, 20 bytes each, at the bandwidth that the roofline grants, and one launch.
  const Device& device = *find_device("V100-SXM2");
  const double moved = 20 * 25557032.0 / (0.8 * device.memory_bandwidth.bytes_per_second()) + 5e-6;
  CHECK((total("update") - plain).to_seconds() == near(moved, 1e-6));
  CHECK(total("four") == plain * 4 + Time::milliseconds(5));
  TrainingGraphs graphs{scenario};
  CHECK(graphs.iteration("four") == total("four"));
  CHECK(entry_model(entry_of(scenario, "four")).batch == 64);  // samples of an iteration
  CHECK(graphs("four", 1).graph.compute_per_rank(RoleId{0U}) == total("four"));
}

TEST_CASE("training: mixed precision casts weights and gradients, and sends whole words") {
  const Scenario scenario = parsed(
      "training:\n"
      "  half: {model: resnet50, batch: 16, dtype: fp16, optimizer: momentum}\n"
      "  mixed: {model: resnet50, batch: 16, dtype: fp16, optimizer: momentum, mixed_precision: true}\n"
      "  bare: {model: resnet50, batch: 16, dtype: fp16, mixed_precision: true}\n");
  const auto model_of = [&](const std::string& name) { return entry_model(entry_of(scenario, name)); };
  const TimedModel half = trained_model(entry_of(scenario, "half")), mixed = trained_model(entry_of(scenario, "mixed"));
  CHECK(half.gradient_element_bytes == 2);
  CHECK(mixed.gradient_element_bytes == 4);
  const double rate = 0.8 * find_device("V100-SXM2")->memory_bandwidth.bytes_per_second();
  std::size_t cast = 0;
  for (std::size_t i = 0; i < half.layers.size(); ++i) {
    const TimedLayer &before = half.layers[i], &now = mixed.layers[i];
    double values = 0;
    bool is_matrix = false;
    for (const ParameterTensor& tensor : now.tensors) {
      values += static_cast<double>(tensor.elements);
      is_matrix = is_matrix || tensor.shape.size() >= 2;
    }
    const double seconds = is_matrix ? 6 * values / rate + 5e-6 * static_cast<double>(now.tensors.size()) : 0;
    CHECK((now.forward - before.forward).to_seconds() == near(seconds, 1e-3));
    CHECK((now.backward - before.backward).to_seconds() == near(seconds, 1e-3));
    if (is_matrix) ++cast;
  }
  CHECK(cast == 54);  // 53 convolutions and the classifier
  // Updates of 25,557,032 values in fp32, with 12 bytes each to unscale and check them, which take two kernels.
  const Time update = model_of("mixed").forward() - mixed.forward();
  CHECK(update.to_seconds() == near((20 + 12) * 25557032.0 / rate + 3 * 5e-6, 1e-4));
  CHECK(model_of("bare").forward() == trained_model(entry_of(scenario, "bare")).forward());
  const TrainingMemory memory = entry_memory(entry_of(scenario, "mixed"));
  const std::int64_t parameters = mixed.gradient_elements();
  CHECK(memory.weights == Bytes{(4 + 2) * parameters});
  CHECK(memory.gradients == Bytes{4 * parameters});
  CHECK(memory.optimizer == Bytes{4 * parameters});
  CHECK(memory.activations == entry_memory(entry_of(scenario, "half")).activations);
  CHECK(errors_of("training: {a: {model: vgg16, mixed_precision: true}}\n").find("there is nothing to cast") !=
        std::string::npos);
  CHECK(errors_of("training: {a: {layers: l.csv, dtype: fp16, mixed_precision: true}}\n").find("have their casts") !=
        std::string::npos);
}

TEST_CASE("training: memory by hand") {
  const Scenario scenario = parsed(
      "training:\n"
      "  adam: {model: alexnet, batch: 8, optimizer: adam}\n"
      "  half: {model: alexnet, batch: 8, optimizer: adam, dtype: fp16}\n"
      "  plain: {model: alexnet, batch: 8}\n");
  std::int64_t parameters = 0, outputs = 0;
  for (const Layer& layer : build_model(*find_model("alexnet")).layers) {
    outputs += layer.output_elements;
    for (const ParameterTensor& tensor : layer.parameters) parameters += tensor.elements;
  }
  const TrainingMemory adam = entry_memory(entry_of(scenario, "adam"));
  CHECK(adam.weights == Bytes{4 * parameters});
  CHECK(adam.gradients == Bytes{4 * parameters});
  CHECK(adam.optimizer == Bytes{8 * parameters});
  CHECK(adam.activations == Bytes{4 * 8 * outputs});
  const TrainingMemory half = entry_memory(entry_of(scenario, "half"));  // 16 bytes a parameter (SC 2020, section 3.1)
  CHECK(half.total() - half.activations == Bytes{16 * parameters});
  CHECK(half.activations == Bytes{2 * 8 * outputs});
  CHECK(entry_memory(entry_of(scenario, "plain")).optimizer == Bytes{});
}

TEST_CASE("training: a network that does not fit is refused before anything runs") {
  const Scenario scenario = parsed("cluster: {gpu_memory: 2GiB}\ntraining: {a: {model: bert-large, batch: 32}}\n");
  const JobRequest job{.name = "j", .submit = {}, .model = "a", .gpus = 1};
  try {
    static_cast<void>(workload_of(scenario, scenario.workload, {job}));
    FAIL("it fits");
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    CHECK(first.key == "training.a");
    CHECK(first.reason.find("needs") != std::string::npos);
    CHECK(first.reason.find(" GiB of GPU memory (weights 1.3 GiB, ") != std::string::npos);  // 336 million of 4 bytes
    CHECK(first.reason.find("a GPU of the cluster has 2.0 GiB") != std::string::npos);
  }
}

TEST_CASE("one meaning of network.nic: ring costs of a job equal the flow model's on one switch") {
  const std::string jobs =
      "cluster: {servers: 8, gpus_per_server: 1}\ntraining: {it: {model: resnet50, batch: 16, fusion: wfbp}}\n";
  const Scenario closed = parsed("network: {nic: 10Gbps, fidelity: contention}\n" + jobs);
  const Scenario flow = parsed(
      "network: {nic: 10Gbps, fidelity: flow, fabric: {kind: single-switch, link_latency: 0s}, server: {kind: plain, "
      "pcie_latency: 0s}}\n" +
      jobs);
  const double expected = run_one(closed, "it", 8, 20).jobs.front().finish.to_seconds();
  CHECK(run_one(flow, "it", 8, 20).jobs.front().finish.to_seconds() == near(expected, 1e-6));
  CHECK(CostTable{closed.network}.of({8, 8, 1}).of(CollectiveKind::all_reduce).beta.ns_per_byte() ==
        near(0.8 * 2 * 7 / 8));
}

TEST_CASE("alpha and beta describe a whole all-reduce where a run of jobs gives beta") {
  const Scenario whole = parsed("network: {beta: 1ns/B, alpha: 10us}\n");
  CHECK(cost_formula(whole.network).basis == CostBasis::whole);
  CHECK(CostTable{whole.network}.of({32, 8, 4}).of(CollectiveKind::all_reduce).beta.ns_per_byte() == 1);
  CHECK(cost_formula(parsed("network: {beta: 1ns/B, formula: ring}\n").network).name == "ring");
  CHECK(cost_formula(parsed("network: {nic: 8Gbps}\n").network).name == "ring");
  CHECK(errors_of("network: {beta: 1ns/B}\ntraining: {it: {model: vgg16}}\noverlap: {training: it}\n")
            .find("network.formula: is missing") != std::string::npos);
}

TEST_CASE("training: jobs go through the phases of their method, the study shows their mean") {
  const Scenario scenario = parsed(
      "cluster: {servers: 4, gpus_per_server: 1}\n"
      "network: {fidelity: analytic, nic: 1Gbps, alpha: 30us}\n"
      "training:\n"
      "  every: {model: resnet50, batch: 16, compression: {policy: local-sgd, period: 1}}\n"
      "  eighth: {model: resnet50, batch: 16, compression: local-sgd}\n"
      "  never: {model: resnet50, batch: 16, compression: {policy: local-sgd, period: 100000}}\n"
      "  warm: {model: resnet50, batch: 16, compression: {policy: onebit-adam, warm_up: 0.25}}\n"
      "  cold: {model: resnet50, batch: 16, compression: {policy: onebit-adam, warm_up: 1}}\n"
      "  code: {model: resnet50, batch: 16, compression: {policy: onebit-adam, warm_up: 0}}\n");
  const auto seconds = [&](const std::string& entry, std::int64_t iterations) {
    JobRequest job;
    job.name = "job";
    job.model = entry;
    job.gpus = 4;
    job.iterations = iterations;
    return run_workload(scenario, workload_of(scenario, scenario.workload, {job}), 1).jobs.front().finish.to_seconds();
  };
  const double never = seconds("never", 8000), every = seconds("every", 8000);
  CHECK(seconds("eighth", 8000) == near((7 * never + every) / 8));
  // The first quarter of the iterations is sent whole. Where the phases meet, an iteration may be off.
  CHECK(seconds("warm", 8000) == near((seconds("cold", 8000) + 3 * seconds("code", 8000)) / 4, 1e-3));
  CHECK(seconds("cold", 8000) > seconds("code", 8000));
}

TEST_CASE("training: the figures of a job alone equal the study's figures, by the same names") {
  const std::string common =
      "network: {fidelity: analytic, nic: 10Gbps, alpha: 30us, inside: {bandwidth: 100Gbps, alpha: 5us}}\n"
      "training: {it: {model: resnet50, batch: 16, fusion: FUSION, compression: METHOD}}\n";
  int compared = 0;
  for (const auto& [fusion, method] : {std::pair{"wfbp", "none"}, {"last-batch", "none"}, {"ddp", "acp-sgd"}}) {
    std::string text = common;
    text.replace(text.find("FUSION"), 6, fusion);
    text.replace(text.find("METHOD"), 6, method);
    const JobResult row =
        run_study(parsed(text + "cluster: {gpus_per_server: 4}\noverlap: {training: it, workers: [8]}\n")).jobs.front();
    const Scenario scenario = parsed(text +
                                     "cluster: {servers: 2, gpus_per_server: 4}\n"
                                     "policies: {placement: consolidated}\n");
    JobRequest job;
    job.name = "job";
    job.model = "it";
    job.gpus = 8;
    job.iterations = 10'000;
    const JobResult alone = run_workload(scenario, workload_of(scenario, scenario.workload, {job}), 1).jobs.front();
    REQUIRE(alone.traffic.has_value());
    CHECK(alone.traffic->messages == row.traffic->messages);
    CHECK(alone.traffic->messages > 0);
    CHECK(alone.traffic->sent_bytes == near(row.traffic->sent_bytes));
    CHECK(alone.traffic->interface_bytes == near(row.traffic->interface_bytes));
    CHECK(alone.notes.bound.value().to_seconds() == near(iteration_value(row, "bound_s")));
    CHECK(alone.notes.stale == row.notes.stale);
    CHECK(alone.notes.plan->fusion == row.notes.plan->fusion);
    CHECK(alone.notes.plan->compression == row.notes.plan->compression);
    CHECK(alone.servers == row.servers);
    for (const char* column : {"compute_s", "compression_s"})
      CHECK(iteration_value(alone, column) == iteration_value(row, column));
    CHECK(iteration_value(alone, "throughput_per_s") == near(iteration_value(row, "throughput_per_s"), 1e-3));
    CHECK(iteration_value(alone, "above_bound") == near(iteration_value(row, "above_bound"), 1e-2));
    CHECK(alone.iteration().to_seconds() == near(iteration_value(row, "iteration_s"), 1e-3));
    CHECK(alone.exposed().to_seconds() == near(iteration_value(row, "exposed_communication_s"), 1e-2));
    ++compared;
  }
  CHECK(compared == 3);
}

TEST_CASE("training: tensor-parallel ranks whose messages take no time are told") {
  const auto note = [&](const std::string& network, const std::string& parallel = "{tensor: 8}") {
    const Scenario scenario = parsed("cluster: {servers: 2, gpus_per_server: 8}\nnetwork: {nic: 10Gbps" + network +
                                     "}\ntraining: {a: {model: gpt2-xl, parallel: " + parallel + "}}\n");
    return free_tensor_note(scenario.network, scenario.training);
  };
  CHECK(note("").find("training.a: tensor-parallel ranks share a server, and their messages take no time") == 0);
  CHECK(note(", inside: {bandwidth: 450GB/s}").empty());
  CHECK(note(", fidelity: flow").empty());
  CHECK(note("", "{pipeline: 8}").empty());
}

TEST_CASE("training: the batch that is taken where nothing says it is told") {
  JobLists lists;
  const auto notes = [&](const std::string& members, const std::string& sizes = "{8: 1, 16: 2}") {
    const Scenario scenario = parsed("cluster: {servers: 2, gpus_per_server: 8}\ntraining: {a: {model: gpt2-xl" +
                                     members + "}}\nworkload: {generate: {models: [a], sizes: " + sizes + "}}\n");
    const std::vector<std::string> all =
        taken_batch_notes(scenario.cluster, scenario.workload, scenario.training, lists);
    return fmt::format("{}", fmt::join(all, "\n"));
  };
  const std::string parallel = ", parallel: {tensor: 2, pipeline: 2}";
  CHECK(notes(parallel + ", batch: 4") ==
        "training.a: global_batch is auto, so an iteration has one micro-batch of 4 samples on each data-parallel rank "
        "(8 on 8 GPUs and 16 on 16), and only one of 2 pipeline ranks works at a time; global_batch says how many "
        "samples all GPUs train between two exchanges");
  CHECK(notes(", parallel: {tensor: 8}, global_batch: auto", "{16: 1}")
            .find("of 1 sample on each data-parallel rank (2 "
                  "on 16 GPUs); global_batch says") != std::string::npos);
  CHECK(notes(parallel + ", global_batch: 64").empty());
  CHECK(notes(parallel + ", accumulate: 1").empty());
  CHECK(notes("").empty());  // layer by layer, where `batch` says all
}

TEST_CASE("training: fp8 and networks of the catalogue are refused with what would be right") {
  CHECK(errors_of("training: {a: {model: resnet50, dtype: fp8}}\n") ==
        "a.yaml:2:40: training.a.dtype: only matrix products of a transformer with `parallel` can be in fp8 or fp4; "
        "fp16 or "
        "bf16, or give parallel, such as {zero: 1}");
  const auto hint = [&](const std::string& model) {
    const std::string said = errors_of("workload: {generate: {models: [" + model + "]}}\n");
    return said.substr(said.find("; ") + 2);
  };
  CHECK(hint("bert-base") ==
        "it is a network of the catalogue, which jobs train by an entry of training: `training: {bert-base: {model: "
        "bert-base}}`");
  CHECK(hint("mixtral-8x7b").find("`training: {mixtral-8x7b: {model: mixtral-8x7b, parallel: {tensor: 8}}}`") !=
        std::string::npos);
  CHECK(hint("gpt-3-6.7b")
            .find("`training: {NAME: {model: gpt-3-6.7b, parallel: {tensor: 8}}}`, and jobs have the "
                  "model NAME") != std::string::npos);
}

TEST_CASE("training: entries that no job names are told") {
  JobLists lists;
  const auto note = [&](const std::string& text) {
    const Scenario scenario = parsed(text);
    return untrained_entries_note(scenario, scenario.workload, lists);
  };
  const std::string entries = "training: {default: {batch: 8}, a: {model: resnet18}, b: {model: resnet50}}\n";
  CHECK(note(entries + "workload: {generate: {models: [a, b]}}\n").empty());
  CHECK(note(entries + "workload: {generate: {models: [a, vgg16]}}\n") == "training.b: no job names it");
  CHECK(note(entries + "serving: {pool: {step: {weights: 1ms}}}\nrl: {math: {rollout: pool, training: {entry: b}}}\n"
                       "workload: {generate: {models: [a, math]}}\n")
            .empty());
  CHECK(note(entries + "workload: {generate: {models: [vgg16]}}\n") ==
        "training: no job trains an entry of it, so nothing in it has an effect; name an entry in "
        "workload.generate.models");
  CHECK(
      note("training: {default: {fusion: dear}}\n") ==
      "training: no job trains an entry of it, so nothing in it has an effect, and the default entry is for the others "
      "alone; name an entry in workload.generate.models");
  CHECK(note("seed: 1\n").empty());
  CHECK(check_scenario(parsed("network: {alpha: 1us}\ntraining: {a: {model: resnet18}}\noverlap: {training: a}\n"))
            .empty());
}

TEST_CASE("training: an entry of a published profile trains as jobs that name the profile") {
  for (const TrainingProfile& profile : training_profiles()) {
    INFO(std::string{profile.name});
    const Scenario scenario =
        parsed(fmt::format("network: {{alpha: 0us, beta: 0.856ms/MiB, eta: 0.235ms/MiB}}\n"
                           "training: {{it: {{model: {}{}, fusion: bsp}}}}\n",
                           kPublished, profile.name));
    TrainingGraphs graphs{scenario};
    const IterationGraph entry = graphs("it", 8).graph, named = graphs(std::string{profile.name}, 8).graph;
    CHECK(graphs("it", 8).memory == profile.memory);
    CHECK(graphs.iteration("it") == profile.forward + profile.backward);
    REQUIRE(entry.ops().size() == named.ops().size());
    for (std::size_t i = 0; i < entry.ops().size(); ++i) {
      CHECK(entry.ops()[i].kind == named.ops()[i].kind);
      CHECK(entry.ops()[i].duration == named.ops()[i].duration);
      // Gradients are whole elements of four bytes.
      CHECK(entry.ops()[i].bytes.count() == (named.ops()[i].bytes.count() + 3) / 4 * 4);
    }
    const Time whole = run_one(scenario, "it", 8, 50).end;
    CHECK(whole.to_seconds() == near(run_one(scenario, std::string{profile.name}, 8, 50).end.to_seconds(), 1e-8));
  }
}

TEST_CASE("training: horovod's cycles are timers, which take no GPU time") {
  const std::string network = "network: {nic: 10Gbps, alpha: 30us}\ncluster: {servers: 4, gpus_per_server: 1}\n";
  const auto run = [&](const std::string& fusion) {
    return run_one(parsed(network + "training: {it: {model: resnet50, fusion: " + fusion + "}}\n"), "it", 4, 20);
  };
  const RunResult late = run("{policy: horovod, cycle_ms: 40}"), early = run("{policy: horovod, cycle_ms: 0.1}");
  const RunResult buckets = run("{policy: threshold, mib: 64}");
  CHECK(late.jobs.front().compute == buckets.jobs.front().compute);
  CHECK(early.jobs.front().compute == buckets.jobs.front().compute);
  CHECK(late.end > early.end);
}

TEST_CASE("training: what contradicts parameter servers is said") {
  const auto errors = [](const std::string& member, const std::string& rest) {
    return errors_of("training: {a: {model: vgg16, " + member + "}}\n" + rest);
  };
  const std::string served = "exchange: parameter-server", alone = "cluster: {servers: 4, gpus_per_server: 1}\n";
  CHECK(errors(served, alone + "network: {nic: 10Gbps}\n") == "");
  CHECK(errors(served, "network: {nic: 10Gbps}\n") == "");
  const std::string flow = "network: {nic: 10Gbps, fidelity: flow}\n";
  CHECK(errors(served + ", hosts: [3, 1]", alone + flow) == "");
  CHECK(errors(served + ", hosts: [4]", alone + flow).find("there is no server 4 of 4") != std::string::npos);
  CHECK(errors(served + ", hosts: [3], colocated: true", alone + flow).find("give one of the two") !=
        std::string::npos);
  CHECK(errors(served + ", hosts: [3]", alone).find("only a topology has places") != std::string::npos);
  CHECK(errors("hosts: [3]", alone + flow).find("there are no parameter servers") != std::string::npos);
  CHECK(errors(served, alone + "network: {beta: 1ns/B}\n").find("network.formula: ring") != std::string::npos);
  CHECK(errors("servers: 2", alone).find("training.a.servers: there are no parameter servers") != std::string::npos);
  CHECK(errors(served + ", compression: sign-sgd, collective: all-gather", alone).find("push and pull") !=
        std::string::npos);
  const Scenario small = parsed("training: {a: {model: vgg16, colocated: true, servers: 4, " + served + "}}\n" + alone +
                                "network: {nic: 10Gbps}\n");
  CHECK(run_one(small, "a", 4, 1).jobs.front().state == JobState::finished);
  CHECK(run_one(small, "a", 2, 1).jobs.front().state == JobState::finished);  // two on each server
}
