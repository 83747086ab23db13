// Features of training that are passes: on transformers that are spread over GPUs as on layers that each worker has
// whole. Iterations are compared with those without the feature, by hand.

#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/member_rules.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr std::string_view kLlama = "model: llama-3-8b, sequence: 1024, batch: 1, parallel: {tensor: 8}";
constexpr std::string_view kCopies = "model: llama-3-8b, sequence: 1024, batch: 1, parallel: {zero: 0}";

Scenario eight_gpus(const std::string& members) {
  return parsed(
      fmt::format("cluster: {{servers: 1, gpus_per_server: 8, gpu_memory: 400GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n",
                  members));
}

Time iteration(const std::string& members) {
  return lone_iteration(eight_gpus(members), "m", 8);
}

std::string with(std::string_view entry, std::string_view members) {
  return fmt::format("{}, {}", members, entry);
}

IterationGraph graph_of(const std::string& members) {
  const Scenario scenario = eight_gpus(members);
  return TrainingGraphs{scenario}("m", 8).graph;
}

/// What checking the entry, or making its graph, complains of.
std::string pass_refusal(const std::string& members) {
  try {
    static_cast<void>(graph_of(members));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

bool says_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The times of all operations that begin with this name, and how many these are.
std::pair<Time, int> named(const IterationGraph& graph, std::string_view name) {
  std::pair<Time, int> sum;
  for (const Op& op : graph.ops()) {
    if (!op.name.starts_with(name)) continue;
    sum.first += op.duration;
    ++sum.second;
  }
  return sum;
}

}  // namespace

TEST_CASE("input: an iteration of a model that is spread over GPUs waits for its data, too") {
  CHECK(iteration(with(kLlama, "input: 5ms")) == iteration(std::string{kLlama}) + Time::microseconds(5000));
  // In a pipeline the first stage waits; all others wait for it anyway.
  const std::string pipeline = "model: llama-3-8b, sequence: 1024, batch: 1, accumulate: 4, parallel: {pipeline: 4}";
  CHECK(iteration(with(pipeline, "input: 5ms")) == iteration(pipeline) + Time::microseconds(5000));
  const std::vector<PassRecord> passes = [&] {
    const Scenario scenario = eight_gpus(with(pipeline, "input: 5ms"));
    return TrainingGraphs{scenario}.passes("m", 8);
  }();
  REQUIRE(passes.size() == 3);
  CHECK(passes[0].name == "transformer");
  CHECK(passes[1].name == "update");
  CHECK(passes[1].after.operations == passes[1].before.operations + 4);
  CHECK(passes[2].name == "input");
  CHECK(passes[2].after.operations == passes[2].before.operations + 1);
  CHECK(passes[2].after.compute <= passes[2].before.compute + Time::microseconds(5000));
}

TEST_CASE("offload is a pass: copies between GPUs and hosts, before the update") {
  const Scenario scenario = eight_gpus(
      "model: llama-3-8b, sequence: 1024, batch: 1, recompute: full, parallel: {zero: 1, offload: {optimizer: host, "
      "activations: true, link: 25GB/s, memory: 20GB/s}}");
  const std::vector<PassRecord> passes = TrainingGraphs{scenario}.passes("m", 8);
  REQUIRE(passes.size() == 3);
  CHECK(passes[1].name == "offload");
  // 34 units (32 layers, embedding, head) send gradients; activations of layers leave and come back.
  const std::size_t copies = passes[1].after.operations - passes[1].before.operations;
  CHECK(copies >= 34 + 2 * 32);
  CHECK(copies <= 34 + 2 * 34);
  CHECK(passes[1].after.compute == passes[1].before.compute);
  CHECK(passes[2].name == "update");
  CHECK(passes[2].after.operations == passes[2].before.operations + 1 + 34);  // the weights of each unit are gathered
  CHECK(passes[2].after.compute == passes[2].before.compute);                 // hosts update them
}

TEST_CASE("update_per_tensor: Llama 3 8B has 291 tensors, of each of which a tensor-parallel GPU has a part") {
  const auto update = [](std::string_view members) { return named(graph_of(with(kLlama, members)), "update").first; };
  const Time kernels = update("loss: fused");
  CHECK(update("update_per_tensor: 100us") == Time::microseconds(100 * 291));
  REQUIRE(kernels > Time::microseconds(20 * 291));  // longer than the host needs: no difference
  CHECK(update("update_per_tensor: 20us") == kernels);
  CHECK(iteration(with(kLlama, "update_per_tensor: 100us")) ==
        iteration(std::string{kLlama}) + Time::microseconds(100 * 291) - kernels);
}

TEST_CASE("the tensors of transformers equal the tensors of the same networks layer by layer") {
  for (const char* name : {"llama-3-8b", "llama-3-70b"}) {
    const TransformerModel& model = *find_transformer(name);
    const CatalogueEntry* const table = find_model(name);
    if (table == nullptr) continue;
    const ParameterSplit all = stage_parameters(model, {0, model.all_layers(), true, true});
    CHECK(all.tensors == build_model(*table).parameter_tensors());
  }
  // 32 layers of 4 projections, 2 norms, a router, and 8 experts of 3 matrices; embedding, last norm, head.
  const TransformerModel& mixture = *find_transformer("mixtral-8x7b");
  const ParameterSplit all = stage_parameters(mixture, {0, mixture.all_layers(), true, true});
  CHECK(all.tensors == 32 * 7 + 3);
  CHECK(all.expert_tensors == 32 * 8 * 3);
}

TEST_CASE("backup workers: copies of a transformer on one GPU each need not wait for the slowest") {
  const auto run = [](const std::string& members) {
    ListedJobs job;
    const std::string jobs = job.file("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,4,m,20\n");
    const std::string events = job.file("events.csv", "component,down_s,up_s,slows,slows_network\ngpu3,0,1000000,3,\n");
    job.scenario = parsed(
        fmt::format("cluster: {{servers: 1, gpus_per_server: 4, gpu_memory: 400GiB}}\npolicies: {{scheduling: fifo}}\n"
                    "training: {{m: {{model: gpt2-xl, sequence: 1024, batch: 1, device: H100-SXM, dtype: bf16, {}}}}}\n"
                    "workload: {{jobs: {}}}\nfailures: {{events: {}}}\n",
                    members, jobs, events));
    return job.run();
  };
  const RunResult slow = run("parallel: {zero: 0}"), backup = run("backup_workers: 1, parallel: {zero: 0}");
  CHECK(backup.jobs[0].left_behind == 20);
  CHECK(slow.end.to_seconds() == near(3 * backup.end.to_seconds(), 1e-3));  // nothing but GPU 3 takes time
  CHECK(backup.jobs[0].notes.work->tokens == near(slow.jobs[0].notes.work->tokens * 3 / 4, 1e-12));
  // A code for one straggler: each worker computes two parts.
  const RunResult coded = run("gradient_coding: 1, parallel: {zero: 0}");
  CHECK(coded.end.to_seconds() == near(2 * backup.end.to_seconds(), 1e-3));
  CHECK(coded.jobs[0].left_behind == 20);
}

TEST_CASE("late workers: the graph says why it can't leave ranks behind") {
  CHECK(says_part(
      pass_refusal("backup_workers: 1, model: llama-3-8b, sequence: 1024, parallel: {tensor: 4}"),
      "training.m.backup_workers: a copy of the model lies on 4 ranks, which would have to be late together"));
  CHECK(says_part(
      pass_refusal("backup_workers: 1, accumulate: 4, model: llama-3-8b, sequence: 1024, parallel: {pipeline: 4}"),
      "training.m.backup_workers: a copy of the model lies on ranks of 4 roles"));
  CHECK(says_part(pass_refusal(with("model: llama-3-8b, sequence: 1024, parallel: {zero: 3}", "backup_workers: 1")),
                  "which begins when all ranks are there"));
  CHECK(says_part(pass_refusal(with(kCopies, "backup_workers: 8")), "a step can't do without 8 of 8 workers"));
}

TEST_CASE("framework, staging and work of the host: around each bucket of gradients, whatever shares them out") {
  const IterationGraph plain = graph_of(std::string{kCopies});
  std::size_t buckets = 0;
  double bytes = 0;
  for (const Op& op : plain.ops()) {
    if (op.kind != OpKind::collective) continue;
    ++buckets;
    bytes += op.bytes.to_double();
  }
  CHECK(bytes == 8030261248.0 * 4);
  REQUIRE(buckets > 1);
  for (const std::string zero : {"zero: 0", "zero: 1", "zero: 2"}) {
    INFO(zero);
    const std::string entry = "model: llama-3-8b, sequence: 1024, batch: 1, parallel: {" + zero + "}";
    // All gradients go to the host at 10 GB/s; what comes back of a reduce-scatter is an eighth.
    const IterationGraph staged = graph_of(with(entry, "staging: 10GB/s"));
    const auto [out, count] = named(staged, "copy to host");
    CHECK(static_cast<std::size_t>(count) == buckets);
    CHECK(out.to_seconds() == near(bytes / 10e9, 1e-6));
    CHECK(named(staged, "copy to GPU").first.to_seconds() == near(bytes / 10e9 / (zero == "zero: 0" ? 1 : 8), 1e-6));
    const IterationGraph worked = graph_of(with(entry, "host_ns_per_value: 0.5"));
    CHECK(named(worked, "host work").first.to_seconds() == near(8030261248.0 * 0.5e-9, 1e-6));
    // A kernel for each tensor, at 5 us, and 8 bytes each for 4 of gradient, at 0.8 of 3.35 TB/s, before and after.
    const IterationGraph copied = graph_of(with(entry, "framework: {bytes_before: 8, bytes_after: 8, launches: 1}"));
    for (const char* kernel : {"copy in", "copy out"}) {
      CHECK(static_cast<std::size_t>(named(copied, kernel).second) == buckets);
      CHECK(named(copied, kernel).first.to_seconds() == near(2 * bytes / (0.8 * 3.35e12) + 291 * 5e-6, 1e-3));
    }
    CHECK(iteration(with(entry, "staging: 10GB/s")) > iteration(entry));
  }
}

TEST_CASE("fusion: a policy plans the reduce-scatters of what is shared out") {
  const auto sums = [](const std::string& members) {
    double bytes = 0;
    int count = 0;
    const IterationGraph graph = graph_of(members);
    for (const Op& op : graph.ops()) {
      if (op.collective != CollectiveKind::reduce_scatter || op.kind != OpKind::collective) continue;
      bytes += op.bytes.to_double();
      ++count;
    }
    return std::pair{bytes, count};
  };
  const auto entry = [](std::string_view members) {
    return fmt::format("model: llama-3-8b, sequence: 1024, batch: 1, accumulate: 2, {}", members);
  };
  for (const std::string zero : {"zero: 1", "zero: 2"}) {
    INFO(zero);
    const auto [bytes, count] = sums(entry("fusion: bsp, parallel: {" + zero + "}"));
    const int exchanges = zero == "zero: 2" ? 2 : 1;  // after every micro-batch, or after the last one
    CHECK(count == exchanges);
    CHECK(bytes == exchanges * 8030261248.0 * 4);
    // Unit by unit is what buckets of one unit are.
    CHECK(iteration(entry("fusion: wfbp, parallel: {" + zero + "}")).to_seconds() ==
          near(iteration(entry("parallel: {bucket: 1, " + zero + "}")).to_seconds(), 1e-3));
  }
  CHECK(says_part(pass_refusal(entry("fusion: ddp, parallel: {zero: 3}")), "training.m.fusion: with zero: 3"));
  // Copies of the weights on 4 GPUs each: every sum of shares is added up between the copies.
  const IterationGraph hybrid = graph_of(entry("fusion: bsp, parallel: {zero: 1, shards: 4}"));
  const auto copies =
      std::ranges::find_if(hybrid.ops(), [](const Op& op) { return op.name.starts_with("all-reduce of copies of"); });
  REQUIRE(copies != hybrid.ops().end());
  CHECK(copies->bytes.to_double() == 8030261248.0);
  CHECK(copies->groups == RankGroups{4, 2});
}

TEST_CASE("fusion: DeAR with parallel gathers gradients, or updated weights where ranks share them out") {
  constexpr double kParameters = 8030261248.0;
  const auto entry = [](std::string_view members) {
    return fmt::format("model: llama-3-8b, sequence: 1024, batch: 1, accumulate: 2, {}", members);
  };
  const auto sent = [](const std::string& members, CollectiveKind kind) {
    double bytes = 0;
    const IterationGraph graph = graph_of(members);
    for (const Op& op : graph.ops())
      if (op.kind == OpKind::collective && op.collective == kind) bytes += op.bytes.to_double();
    return bytes;
  };
  for (const int zero : {0, 1, 2}) {
    INFO(zero);
    const std::string parallel = fmt::format("parallel: {{zero: {}}}", zero);
    const std::string members = entry("fusion: dear, " + parallel);
    CHECK(sent(members, CollectiveKind::reduce_scatter) == kParameters * 4 * (zero == 2 ? 2 : 1));
    CHECK(sent(members, CollectiveKind::all_gather) == kParameters * (zero == 0 ? 4 : 2));
    CHECK(sent(members, CollectiveKind::all_reduce) == 0);
    // The same work, whether at once or unit by unit.
    const auto [update, parts] = named(graph_of(members), "update");
    CHECK(update == named(graph_of(entry(parallel)), "update").first);
    CHECK(parts == (zero == 0 ? 34 : 1));
    // A whole copy hides one half behind the forward pass, which an all-reduce of each unit can't.
    if (zero == 0) CHECK(iteration(members) < iteration(entry("fusion: wfbp, " + parallel)));
    // Work around a message comes before its first and behind its second half.
    const IterationGraph staged = graph_of(entry("staging: 10GB/s, fusion: dear, " + parallel));
    CHECK(named(staged, "copy to host").first.to_seconds() == near(kParameters * 4 * (zero == 2 ? 2 : 1) / 10e9, 1e-6));
  }
  CHECK(says_part(pass_refusal("model: llama-3-8b, sequence: 1024, recompute: full, fusion: dear, parallel: {offload: "
                               "{optimizer: host, link: 25GB/s, memory: 20GB/s}}"),
                  "training.m.fusion: dear: gradients come while the next forward pass computes"));
  CHECK(says_part(pass_refusal(entry("backup_workers: 1, fusion: dear, parallel: {zero: 0}")),
                  "which begins when all ranks are there"));
}

TEST_CASE("planned gradients go to an optimizer on the host as gradients of buckets do") {
  const auto sent = [](std::string_view members) {
    Bytes bytes;
    const std::string entry = fmt::format(
        "model: llama-3-8b, sequence: 1024, recompute: full, {} parallel: {{offload: {{optimizer: host, link: 25GB/s, "
        "memory: 20GB/s}}}}",
        members);
    const IterationGraph graph = graph_of(entry);
    for (const Op& op : graph.ops())
      if (op.name.starts_with("gradients of ")) bytes += op.host.out;
    return bytes;
  };
  CHECK(sent("").count() == 8030261248 * 4);
  CHECK(sent("fusion: ddp,") == sent(""));
}

TEST_CASE("global_batch and efficiency: of networks that each worker holds whole") {
  const auto of = [](std::string_view members) {
    return iteration(fmt::format("model: resnet50, batch: 32, {}", members));
  };
  CHECK(of("global_batch: 512") == of("accumulate: 2"));
  CHECK(of("global_batch: 256") == of("accumulate: 1"));
  CHECK(says_part(pass_refusal("model: resnet50, batch: 32, global_batch: 300"),
                  "training.m.global_batch: 300 is no multiple of batch 32 x 8 workers = 256"));
  CHECK(of("efficiency: 0.664") == of("accumulate: 1"));
  CHECK(of("efficiency: 0.332") > of("accumulate: 1"));
  CHECK(says_part(errors_of("training: {m: {model: published-resnet50, efficiency: 0.5}}\n"), "training.m.efficiency"));
}

TEST_CASE("efficiency counts for products in the type of the entry, on tensor cores and on others") {
  const auto of = [](std::string_view type, std::string_view entry, std::string_view members = "") {
    const Scenario scenario = parsed(
        fmt::format("cluster: {{servers: 1, gpus_per_server: 8, gpu_memory: 400GiB}}\nnetwork: {{nic: 3200Gbps}}\n"
                    "training: {{m: {{device: A100-40GB, dtype: {}, {}{}}}}}\n",
                    type, entry, members));
    return lone_iteration(scenario, "m", 8);
  };
  for (const std::string_view entry : {std::string_view{"model: resnet50, batch: 32"}, kLlama}) {
    INFO(std::string{entry});
    for (const char* type : {"fp32", "tf32", "bf16"}) {
      INFO(std::string{type});
      CHECK(of(type, entry, ", efficiency: 0.3") > of(type, entry, ", efficiency: 0.6"));
      CHECK(of(type, entry, ", efficiency: 0.3") > of(type, entry));
    }
  }
  // Attention in one kernel has an efficiency of its own.
  CHECK(of("fp32", kLlama, ", attention_efficiency: 0.1") > of("fp32", kLlama));
}

TEST_CASE("efficiency: flat by default in version 1, from the sheet in version 2; either can be named") {
  const auto of = [](const char* version, std::string_view entry, std::string_view members = "") {
    const Scenario scenario = parsed(
        fmt::format("cluster: {{servers: 1, gpus_per_server: 8, gpu_memory: 400GiB}}\nnetwork: {{nic: 3200Gbps}}\n"
                    "training: {{m: {{dtype: bf16, host: none, {}{}}}}}\n",
                    entry, members),
        {fmt::format("schema_version={}", version)});
    return lone_iteration(scenario, "m", 8);
  };
  for (const std::string& entry :
       {std::string{"device: H100-SXM, model: resnet50, batch: 32"}, "device: H100-SXM, " + std::string{kLlama}}) {
    INFO(entry);
    for (const char* version : {"1", "2"}) {
      const Time flat = of(version, entry, ", efficiency: flat"), sheet = of(version, entry, ", efficiency: sheet");
      CHECK(flat != sheet);
      CHECK(of(version, entry, ", efficiency: 0.664") == flat);
      CHECK(of(version, entry) == (std::string_view{version} == "1" ? flat : sheet));
      CHECK(of(version, entry, ", efficiency: auto") == of(version, entry));
    }
  }
  // A device without figures of kernels keeps what is flat, and can't be asked for its sheet's.
  CHECK(of("2", "device: TPU-v5p, model: resnet50, batch: 32") ==
        of("2", "device: TPU-v5p, model: resnet50, batch: 32", ", efficiency: flat"));
  const auto refused = [](std::string_view members) {
    return errors_of(fmt::format("training: {{m: {{model: llama-2-7b, parallel: {{zero: 3}}, {}}}}}\n", members));
  };
  CHECK(says_part(refused("device: TPU-v5p, dtype: bf16, efficiency: sheet"),
                  "training.m.efficiency: the sheet of TPU-v5p doesn't say what kernels in bf16 reach"));
  CHECK(says_part(refused("device: A100-80GB, dtype: bf16, attention: flash-3"),
                  "training.m.attention: the sheet of A100-80GB doesn't have this kernel"));
  CHECK(says_part(refused("device: A100-80GB, efficiency: sheets"), "training.m.efficiency"));
  // A transformer in fp4, where the device has it.
  const auto in = [&](const char* type) {
    const Scenario scenario =
        parsed(fmt::format("cluster: {{servers: 1, gpus_per_server: 8, gpu_memory: 400GiB}}\n"
                           "network: {{nic: 3200Gbps}}\ntraining: {{m: {{device: B200, host: none, dtype: {}, {}}}}}\n",
                           type, "model: llama-2-7b, sequence: 4096, parallel: {zero: 3}"),
               {"schema_version=2"});
    return lone_iteration(scenario, "m", 8);
  };
  CHECK(in("fp4") < in("fp8"));
  CHECK(in("fp8") < in("bf16"));
  CHECK(says_part(refused("device: H100-SXM, dtype: fp4"), "training.m.dtype: H100-SXM has no fp4"));
  // The generation of the kernel, in either version; flash is the newest.
  const std::string llama = "device: H100-SXM, " + std::string{kLlama};
  CHECK(of("2", llama, ", attention: flash-2") > of("2", llama, ", attention: flash-3"));
  CHECK(of("2", llama, ", attention: flash-3") == of("2", llama, ", attention: flash"));
  CHECK(of("1", llama, ", attention: flash-2") > of("1", llama, ", attention: flash-3"));
}

TEST_CASE("rules: each member has one reason a rule, and the page of passes has them all") {
  const std::string page = read_file("docs/models/passes.md");
  CHECK_MESSAGE(says_part(page, member_rules_markdown()), member_rules_markdown());
  std::set<std::pair<std::string_view, std::string>> seen;
  for (const MemberRule& each : member_rules()) CHECK(seen.emplace(each.member, each.text()).second);
}
