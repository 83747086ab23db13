// Values: types, units, ranges, names; and the defaults.
#include "scenarios/keys/keys.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/text_checks.hpp"

#include "scenarios/keys/print.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace contend {
namespace {

TEST_CASE("scenario reader: errors that don't follow from each other come in one round") {
  const std::string said = errors_of(
      "network: {nic: fast}\n"
      "failures: {components: [{name: server, of: server, fails: {mean: 100d}}]}\n"
      "training: {a: {model: resnet50, batch: many}, b: {model: resnet50, device: V100-SXM2, dtype: bf16},\n"
      "           c: {model: gpt2, parallel: {shards: 2}}}\n"
      "policies: {scheduling: fastest}\n"
      "workload: {generate: {models: [a, b, c]}}\n");
  for (const char* each :
       {"network.nic: expected a rate", "`server` has no repair", "training.a.batch: expected an integer",
        "training.b.dtype: V100-SXM2 has no bf16", "training.c.parallel.shards: has no effect without zero",
        "policies.scheduling: expected one of"})
    CHECK_MESSAGE(said.find(each) != std::string::npos, each, "\n", said);
  CHECK(std::ranges::count(said, '\n') == 5);
}

TEST_CASE("scenario reader: parameters of a scheduling policy that contradict each other are faults of the file") {
  const auto said = [](const std::string& policy) { return errors_of("policies: {scheduling: {" + policy + "}}\n"); };
  CHECK(said("policy: dlas, limit_1_s: 30, limit_2_s: 20")
            .find("policies.scheduling.limit_2_s: expected more than limit_1_s, which is 30, got 20") !=
        std::string::npos);
  CHECK(said("policy: sia, power: 0").find("policies.scheduling.power: 0 makes all divisions alike") !=
        std::string::npos);
  CHECK(said("policy: srtf, list_order: true").find("policies.scheduling.list_order: it has an effect only") !=
        std::string::npos);
  CHECK(said("policy: dlas, limit_1_s: 20, limit_2_s: 30").empty());
}

TEST_CASE("scenario reader: words of other programs get the key or the policy that is meant") {
  const auto hint = [](const std::string& text) {
    const std::string said = errors_of(text);
    const std::size_t at = said.find("; ");
    return at == std::string::npos ? said : said.substr(at + 2);
  };
  CHECK(hint("policies: {scheduling: tiresias}\n") == "did you mean \"las\" or \"dlas-gpu\" or \"gittins\"?");
  CHECK(hint("policies: {scheduling: Backfill}\n") == "did you mean \"easy\" or \"conservative\"?");
  CHECK(hint("policies: {scheduling: baguette}\n").find("did you mean") == std::string::npos);
  CHECK(hint("policies: {scheduling: lwf}\n") == "lwf is a policy of policies.placement");
  CHECK(hint("policies: {placement: Helios}\n") == "did you mean \"consolidated\"?");  // from its source
  const auto in_entry = [&](const std::string& member) { return hint("training: {a: {" + member + "}}\n"); };
  CHECK(in_entry("tp: 8") == "did you mean \"parallel.tensor\"?");
  CHECK(in_entry("batch_size: 8") == "did you mean \"batch\"?");
  CHECK(in_entry("fsdp: true") == "did you mean \"parallel: {zero: 3}\"?");
  CHECK(in_entry("parallel: {tp: 8}") == "did you mean \"tensor\"?");
  CHECK(in_entry("parallel: {ep: 8}") == "did you mean \"expert\"?");
  CHECK(in_entry("parallel: {cp: 8}") == "did you mean \"context\"?");
  CHECK(in_entry("parallel: {PP: 8}") == "did you mean \"pipeline\"?");
  CHECK(in_entry("parallel: {dp: 8}") ==
        "data parallelism takes the GPUs of a job that tensor, pipeline and context leave");
  CHECK(in_entry("parallel: {global_batch: 8}") == "it stands beside parallel: training.NAME.global_batch");
  CHECK(hint("failures: {mttr: 6h}\n") == "did you mean \"failures.repair\", a law such as {mean: 6h}?");
  CHECK(hint("failures: {mtbf: 6h}\n").find("did you mean \"failures.components\", such as [{name: server") == 0);
  CHECK(hint("failures: {components: [{name: server, of: server, mtbf: 9d}]}\n")
            .find("did you mean \"fails\", a law such as {mean: 100d}?") == 0);
}

TEST_CASE("an empty scenario is the default one") {
  const Scenario s = parsed("");
  CHECK(s.seed == 1);
  CHECK(s.repeat == 1);
  CHECK(s.cluster.servers == 16);
  CHECK(s.cluster.gpu_memory == Bytes::mebibytes(32'768));
  CHECK(s.network.fidelity == Fidelity::contention);
  CHECK(s.network.nic == ByteRate{1.25e9});
  CHECK_FALSE(s.network.beta.has_value());
  CHECK(s.scheduling.name == "srsf");
  CHECK(s.placement.name == "lwf");
  CHECK(s.communication.name == "srsf");
  CHECK(s.engine.leap);
  CHECK(to_yaml(s) == to_yaml(default_scenario()));
}

TEST_CASE("every kind of value") {
  const Scenario s = parsed(R"(
name: small
seed: 010
cluster: {servers: 2, gpu_memory: 16GiB}
network: {fidelity: analytic, nic: 25Gbps, alpha: 50us, eta: 0.1ns/B, tick: 1ms}
workload:
  generate: {models: [lstm], sizes: {2: 3, 1: 4}, iterations: [5, 6], arrivals: 2s}
engine: {leap: false, until: 2h}
)");
  CHECK(s.name == "small");
  CHECK(s.seed == 10);  // decimal, not octal
  CHECK(s.cluster.servers == 2);
  CHECK(s.cluster.gpus_per_server == 4);
  CHECK(s.cluster.gpu_memory == Bytes::mebibytes(16'384));
  CHECK(s.network.fidelity == Fidelity::analytic);
  CHECK(s.network.nic == ByteRate{3.125e9});
  CHECK(s.network.alpha == Time::microseconds(50));
  CHECK(s.network.eta == TimePerByte{0.1});
  CHECK(s.network.tick == Time::milliseconds(1));
  CHECK(s.workload.generate.models == std::vector<std::string>{"lstm"});
  CHECK(s.workload.generate.sizes == std::vector<std::pair<int, int>>{{2, 3}, {1, 4}});
  CHECK(s.workload.generate.min_iterations == 5);
  CHECK(s.workload.generate.max_iterations == 6);
  CHECK(s.workload.generate.arrival_window == Time::seconds(2));
  CHECK_FALSE(s.engine.leap);
  CHECK(s.engine.until == Time::seconds(7200));
}

TEST_CASE("a group that a later layer sets to {} has its defaults again") {
  const std::string_view text = "network: {nic: 25Gbps, alpha: 50us}\nsweep: {grid: {network.nic: [1Gbps, 10Gbps]}}\n";
  CHECK(parsed(text).sweep.given());
  const Scenario single = parsed(text, {"sweep={}"});
  CHECK_FALSE(single.sweep.given());
  CHECK(single.network.alpha == Time::microseconds(50));
  const Scenario usual = parsed(text, {"network={}", "network.alpha=1us"});
  CHECK(usual.network.nic == default_scenario().network.nic);
  CHECK(usual.network.alpha == Time::microseconds(1));
  CHECK(usual.sweep.given());
  // A key that means nothing without the group is not held against the file.
  CHECK(errors_of("network: {fidelity: flow, collectives: ring}\n", {"network={}"}).empty());
}

TEST_CASE("the version is required, and 1 or 2") {
  CHECK(errors_of_file("seed: 1\n") == "a.yaml:1:1: schema_version: missing; write `schema_version: 2`");
  CHECK(errors_of_file("schema_version: 3\n") == "a.yaml:1:17: schema_version: expected an integer <= 2, got \"3\"");
}

TEST_CASE("what isn't given is an ideal in version 1, and as a framework has it in version 2") {
  const std::string text = "training: {default: {batch: 8}, m: {model: resnet50, device: V100-SXM2}}\n";
  for (const int version : {1, 2}) {
    const Scenario scenario = parsed(text, {fmt::format("schema_version={}", version)});
    CHECK(scenario.schema_version == version);
    CHECK(scenario.network.as_framework == (version == 2));
    for (const TrainingEntry& entry : scenario.training) CHECK(entry.as_framework == (version == 2));
  }
}

TEST_CASE("from version 2 on, transformers are in the format that the tensor cores have") {
  const auto type = [](std::string_view members, std::string_view version) {
    const std::string text = fmt::format("training: {{m: {{model: llama-3-8b{}}}}}\n", members);
    return parsed(text, {fmt::format("schema_version={}", version)}).training.front().type;
  };
  CHECK(type(", device: H100-SXM, parallel: {tensor: 2}", "2") == DataType::bf16);
  CHECK(type(", device: V100-SXM2, parallel: {tensor: 2}", "2") == DataType::fp16);
  CHECK(type(", device: H100-SXM, dtype: fp8, parallel: {tensor: 2}", "2") == DataType::fp8);
  CHECK(type(", device: H100-SXM, parallel: {tensor: 2}", "1") == DataType::fp32);
}

TEST_CASE("version 1 notes its ideals, and nothing once they are named") {
  const auto ideals = [](std::string_view text, std::vector<std::string> overrides = {}) {
    return fmt::format("{}", fmt::join(parsed(text, std::move(overrides)).ideals, ", "));
  };
  const std::string job = "training: {m: {model: resnet50, device: A100-80GB}}\n";
  const std::string three = "host: none, efficiency: flat, network.interference: none";
  CHECK(ideals(job) == three);
  CHECK(ideals(job, {"schema_version=2"}).empty());
  CHECK(ideals(job + "overlap: {training: m, workers: [16]}\n") == three);
  CHECK(ideals(job, {"training.m.host=none"}) == "efficiency: flat, network.interference: none");
  CHECK(ideals(job, {"training.m.efficiency=flat"}) == "host: none, network.interference: none");
  CHECK(ideals(job, {"network.interference=none"}) == "host: none, efficiency: flat");
  CHECK(ideals(job, {"network.interference.compute=0.1"}) == "host: none, efficiency: flat");
  CHECK(ideals(job, {"training.m.host=none", "training.m.efficiency=flat", "network.interference=none"}).empty());
  // What isn't known of a device is the ideal in both versions, and measured times are what they are.
  CHECK(ideals("training: {m: {model: resnet50, device: V100-SXM2}}\n") == "host: none");
  CHECK(ideals("training: {m: {model: resnet50, device: V100-SXM2, single_worker: 60ms}}\n").empty());
  CHECK(ideals("training: {m: {model: published-resnet50}}\n").empty());
  CHECK(ideals("cluster: {servers: 3}\n").empty());
  // Entries have each ideal once, and the default entry by itself trains nothing.
  CHECK(ideals("training: {default: {device: A100-80GB, host: none}, a: {model: resnet50}, b: {model: vgg16}}\n") ==
        "efficiency: flat, network.interference: none");
  CHECK(ideals("training: {default: {device: A100-80GB}}\n").empty());
  CHECK(ideals("training: {m: {model: llama-3-8b, device: V100-SXM2, parallel: {tensor: 2}}}\n") ==
        "host: none, dtype: fp32");
  const std::string named =
      "cluster: {servers: 2, gpus_per_server: 8}\nnetwork: {fidelity: flow, nic: 200Gbps, server: dgx-a100}\n";
  CHECK(ideals(named) == "network.collectives: ring");
  CHECK(ideals(named, {"network.collectives=ring"}).empty());
}

TEST_CASE("unknown keys and the nearest name") {
  CHECK(errors_of("scheduling: {retry_delay: 3s}\n") ==
        "a.yaml:2:14: scheduling.retry_delay: unknown key; it is now \"scheduling.retries.failed.delay\"");
  CHECK(errors_of("cluster: {serverz: 3}\n") == "a.yaml:2:11: cluster.serverz: unknown key; did you mean \"servers\"?");
  // Words of other programs.
  CHECK(errors_of("network: {bandwidth: 10Gbps}\n") ==
        "a.yaml:2:11: network.bandwidth: unknown key; did you mean \"network.nic\"?");
  CHECK(errors_of("cluster: {nodes: 3}\n") ==
        "a.yaml:2:11: cluster.nodes: unknown key; did you mean \"cluster.servers\"?");
  CHECK(errors_of("policy: {scheduling: fifo}\n") ==
        "a.yaml:2:1: policy: unknown key; did you mean \"policies.scheduling\"?");
  CHECK(errors_of("", {"policy.scheduling=fifo"}) ==
        "--set: policy: unknown key; did you mean \"policies.scheduling\"?");
  CHECK(errors_of("boxes: {servers: 2, gpus_per_server: 4}\n") ==
        "a.yaml:2:1: boxes: unknown key; did you mean \"cluster\"?");
  CHECK(errors_of("boxes: {servers: 2, gpu_count: 4}\n") == "a.yaml:2:1: boxes: unknown key");
  CHECK(errors_of("clutser: {}\n") == "a.yaml:2:1: clutser: unknown key; did you mean \"cluster\"?");
  CHECK(errors_of("kappa: 1\n") == "a.yaml:2:1: kappa: unknown key");
  CHECK(errors_of("leap: true\n") == "a.yaml:2:1: leap: unknown key; did you mean \"engine.leap\"?");
  CHECK(errors_of("network.nic: 1Gbps\n") ==
        "a.yaml:2:1: network.nic: unknown key; write nested maps instead of points");
}

TEST_CASE("wrong types") {
  CHECK(errors_of("cluster: 3\n") == "a.yaml:2:10: cluster: expected a map of keys, got \"3\"");
  CHECK(errors_of("cluster:\n") == "a.yaml:2:1: cluster: expected a map of keys, got nothing");
  CHECK(errors_of("seed: \"1\"\n") == "a.yaml:2:7: seed: expected an integer >= 0, got the text \"1\"");
  CHECK(errors_of("seed: 1.0\n") == "a.yaml:2:7: seed: expected an integer >= 0, got \"1.0\"");
  CHECK(errors_of("seed: [1]\n") == "a.yaml:2:7: seed: expected an integer >= 0, got a list");
  CHECK(errors_of("name:\n") == "a.yaml:2:1: name: expected text, got nothing");
  CHECK(errors_of("engine: {leap: 'no'}\n") == "a.yaml:2:16: engine.leap: expected true or false, got the text \"no\"");
  CHECK(errors_of("engine: {leap: yes}\n") == "a.yaml:2:16: engine.leap: expected true or false, got \"yes\"");
  CHECK(errors_of("workload: {jobs: ''}\n") == "a.yaml:2:18: workload.jobs: expected a path, got the text \"\"");
}

TEST_CASE("out of range") {
  CHECK(errors_of("cluster: {servers: 0}\n") == "a.yaml:2:20: cluster.servers: expected an integer >= 1, got \"0\"");
  CHECK(errors_of("cluster: {servers: 1000001}\n") ==
        "a.yaml:2:20: cluster.servers: expected an integer <= 1000000, got \"1000001\"");
  CHECK(errors_of("seed: -1\n") == "a.yaml:2:7: seed: expected an integer >= 0, got \"-1\"");
  CHECK(errors_of("seed: 99999999999999999999\n") ==
        "a.yaml:2:7: seed: expected an integer <= 9223372036854775807, got \"99999999999999999999\"");
  CHECK(errors_of("network: {nic: 0Gbps}\n") ==
        "a.yaml:2:16: network.nic: expected a rate >= 1Kbps, got \"0Gbps\"; `auto` is possible, too");
  CHECK(errors_of("network: {alpha: 2h}\n") == "a.yaml:2:18: network.alpha: expected a time <= 1h, got \"2h\"");
}

TEST_CASE("units") {
  CHECK(errors_of("network: {alpha: 50}\n") ==
        "a.yaml:2:18: network.alpha: expected a time such as 50us, got \"50\"; write the unit: ns us ms s min h d");
  CHECK(errors_of("network: {nic: .nan}\n") ==
        "a.yaml:2:16: network.nic: expected a rate such as 10Gbps, got \".nan\"; `auto` is possible, too");
  CHECK(errors_of("cluster: {gpu_memory: 16gib}\n") ==
        "a.yaml:2:23: cluster.gpu_memory: expected an amount of data such as 25MiB, got \"16gib\"; did you mean "
        "\"GiB\"?");
}

TEST_CASE("names") {
  CHECK(errors_of("network: {fidelity: analytics}\n") ==
        "a.yaml:2:21: network.fidelity: expected one of analytic, contention, flow, got \"analytics\"; did you mean "
        "\"analytic\"?");
  CHECK(errors_of("workload: {generate: {models: [vgg16, resnet5O]}}\n") ==
        "a.yaml:2:39: workload.generate.models[1]: resnet5O is no entry of training, serving, rl or federated, and no "
        "training "
        "profile; did you mean \"resnet50\"?");
  CHECK(errors_of("workload: {generate: {models: []}}\n") ==
        "a.yaml:2:31: workload.generate.models: expected a list of names of training entries or training profiles, "
        "got an empty one");
}

TEST_CASE("a name that is one of many gets the nearest ones, and the command that lists all") {
  const auto of_model = [](const std::string& model) { return errors_of("training: {a: {model: " + model + "}}\n"); };
  CHECK(contains(of_model("gpt3-13b"), "training.a.model: expected one of the "));
  CHECK(contains(of_model("gpt3-13b"), "names of `contend list networks` and `contend list transformers`"));
  CHECK(contains(of_model("gpt3-13b"), "got \"gpt3-13b\"; did you mean \"gpt-3-125m\" or "));
  CHECK(contains(of_model("gpt3-13b"), "or \"gpt-3-175b\"?"));
  CHECK(of_model("gpt3-13b").size() < 350);
  CHECK(contains(of_model("llama3-70b"), "did you mean \"llama-3-70b\"?"));
  CHECK_FALSE(contains(of_model("nothing"), "did you mean"));
  CHECK(contains(errors_of("training: {a: {model: resnet50, device: h100-sxm5-80gb}}\n"),
                 "names of `contend list devices`, got \"h100-sxm5-80gb\"; did you mean \"H100-SXM\"?"));
}

TEST_CASE("the job mix") {
  CHECK(errors_of("workload: {generate: {sizes: {4: 1, 04: 2}}}\n") ==
        "a.yaml:2:37: workload.generate.sizes: the size 4 is given twice");
  CHECK(errors_of("workload: {generate: {sizes: {0: 1, 2: x}}}\n") ==
        "a.yaml:2:31: workload.generate.sizes: expected an integer >= 1, got \"0\"\n"
        "a.yaml:2:40: workload.generate.sizes: expected an integer >= 1, got \"x\"");
  CHECK(errors_of("workload: {generate: {iterations: [5, 2]}}\n") ==
        "a.yaml:2:35: workload.generate.iterations: expected min <= max, got [5, 2]");
  CHECK(errors_of("workload: {generate: {iterations: 5}}\n") ==
        "a.yaml:2:35: workload.generate.iterations: expected a list [min, max], got \"5\"");
}

TEST_CASE("values too long to be printed and read back") {
  CHECK(errors_of("name: " + std::string(10'001, 'x') + "\n") ==
        "a.yaml:2:7: name: expected at most 10000 bytes, got \"" + std::string(40, 'x') + "...\"");
  std::string sizes;
  for (int i = 1; i <= 1'001; ++i) sizes += std::to_string(i) + ": 1, ";
  CHECK(errors_of("workload: {generate: {sizes: {" + sizes + "}}}\n") ==
        "a.yaml:2:30: workload.generate.sizes: expected at most 1000 sizes, got a map");
}

TEST_CASE("policies and their parameters") {
  const Scenario s = parsed("policies:\n  scheduling: {policy: fifo, strict: false}\n  placement: first-fit\n");
  CHECK(s.scheduling.name == "fifo");
  CHECK_FALSE(s.scheduling.parameters.get<bool>("strict"));
  CHECK(s.placement.name == "first-fit");
  CHECK(s.placement.parameters.values().empty());
  CHECK(s.communication.parameters.get<std::int64_t>("ways") == 1);
  CHECK(parsed("policies: {placement: {kappa: 4}}\n").placement.parameters.get<std::int64_t>("kappa") == 4);

  CHECK(errors_of("policies: {placement: frist-fit}\n").ends_with("got \"frist-fit\"; did you mean \"first-fit\"?"));
  CHECK(errors_of("policies: {placement: [lwf]}\n").ends_with("got a list"));
  CHECK(errors_of("policies: {placement: {policy: lwf, kapa: 2}}\n") ==
        "a.yaml:2:37: policies.placement.kapa: the policy lwf has no such parameter; did you mean \"kappa\"?");
  CHECK(errors_of("policies: {placement: {kappa: 0}}\n") ==
        "a.yaml:2:31: policies.placement.kappa: expected an integer >= 1, got \"0\"");
  CHECK(errors_of("policies: {scheduling: {strict: 1}}\n") ==
        "a.yaml:2:33: policies.scheduling.strict: expected true or false, got \"1\"");
}

TEST_CASE("all errors at once, in the order of the file") {
  CHECK(errors_of("seed: x\nseed: 1\ncluster:\n  servers: 0\n  gpu: 1\nengine: {leap: 1}\n") ==
        "a.yaml:2:7: seed: expected an integer >= 0, got \"x\"\n"
        "a.yaml:3:1: seed: duplicate key, first at line 2\n"
        "a.yaml:5:12: cluster.servers: expected an integer >= 1, got \"0\"\n"
        "a.yaml:6:3: cluster.gpu: unknown key; did you mean \"gpus_per_server\" or \"gpu_memory\"?\n"
        "a.yaml:7:16: engine.leap: expected true or false, got \"1\"");
}

TEST_CASE("files on the disk") {
  const auto folder = std::filesystem::temp_directory_path() / "contend_reader_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "main.yaml").string();
  std::ofstream{folder / "base.yaml"} << "schema_version: 1\nworkload: {jobs: jobs.csv}\n";
  std::ofstream{path} << "schema_version: 1\ninclude: base.yaml\nseed: 3\n";
  const Scenario s = load_scenario(path, {{"repeat=2"}});
  CHECK(s.seed == 3);
  CHECK(s.repeat == 2);
  CHECK(s.workload.jobs == (folder / "jobs.csv").string());
  CHECK_THROWS_WITH_AS(static_cast<void>(load_scenario((folder / "none.yaml").string())),
                       ((folder / "none.yaml").string() + ": can't read it: No such file or directory").c_str(),
                       InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(load_scenario(folder.string())),
                       (folder.string() + ": can't read it: it is a folder").c_str(), InputError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace contend
