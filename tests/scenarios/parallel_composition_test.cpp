// What an entry with `parallel` may be composed of: exchanges of context parallelism, devices by pipeline rank, tied
// embeddings, gradients that passes of the weights wait for; and that no degree at all is plain data parallelism.

#include "models/passes/spread_passes.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

Scenario composed(const std::string& members, const std::vector<std::string>& sets = {}) {
  return parsed(
      fmt::format("cluster: {{servers: 8, gpus_per_server: 8, gpu_memory: 400GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{64: 1}}, iterations: [2, 2], arrivals: 1ms}}}}\n",
                  members),
      sets);
}

ParallelJob composed_job(const std::string& members, int gpus = 64) {
  const Scenario scenario = composed(members);
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus);
}

/// Bytes of the context-parallel collectives of a layer by kind, each time it runs, forward or backward.
std::vector<std::pair<CollectiveKind, std::int64_t>> context_bytes(const ParallelJob& job, bool forward) {
  std::vector<std::pair<CollectiveKind, std::int64_t>> found;
  const ModelUnit& layer = job.iteration.units.front()[1];  // behind the embedding
  for (const PassCollective& each : (forward ? layer.forward_traffic : layer.backward_traffic).collectives)
    if (each.of == PassGroup::context) found.emplace_back(each.kind, each.bytes.count() * each.times);
  return found;
}

std::string composition_refusal(const std::string& members) {
  try {
    const Scenario scenario = composed(members);
    TrainingGraphs graphs{scenario};
    (void)graphs("m", 64);
  } catch (const InputError& error) {
    std::string text;
    for (const Complaint& each : error.complaints()) text += each.key + ": " + each.reason + "\n";
    return text;
  }
  return {};
}

}  // namespace

TEST_CASE("context parallelism: what ring, all-gather and all-to-all send") {
  // Llama 3 8B: 32 heads of 128, 8 of them for keys and values; tensor 2, context 4, 8,192 tokens: 2,048 a rank.
  const std::string base = "model: llama-3-8b, sequence: 8192, parallel: {tensor: 2, context: 4";
  const std::int64_t tokens = 2048, keys_and_values = 2 * 8 * 128 / 2 * 2, queries = 32 * 128 / 2 * 2;
  using Sent = std::vector<std::pair<CollectiveKind, std::int64_t>>;
  const ParallelJob ring = composed_job(base + "}");
  CHECK(context_bytes(ring, true) == Sent{{CollectiveKind::all_gather, 4 * tokens * keys_and_values}});
  CHECK(context_bytes(ring, false) == Sent{{CollectiveKind::all_gather, 8 * tokens * keys_and_values}});
  const ParallelJob gathered = composed_job(base + ", context_exchange: all-gather}");
  CHECK(context_bytes(gathered, true) == context_bytes(ring, true));
  CHECK(context_bytes(gathered, false) == Sent{{CollectiveKind::all_gather, 4 * tokens * keys_and_values},
                                               {CollectiveKind::reduce_scatter, 4 * tokens * keys_and_values}});
  const ParallelJob traded = composed_job(base + ", context_exchange: all-to-all}");
  const Sent both{{CollectiveKind::all_to_all, tokens * (queries + keys_and_values)},
                  {CollectiveKind::all_to_all, tokens * queries}};
  CHECK(context_bytes(traded, true) == both);
  CHECK(context_bytes(traded, false) == both);
  // Queries one way, outputs and 16 logarithms of four bytes for each token the other way; then the last outputs.
  const ParallelJob token_ring = composed_job(base + ", context_exchange: token-ring}");
  const std::int64_t outputs = tokens * (queries + 16 * 4);
  CHECK(context_bytes(token_ring, true) ==
        Sent{{CollectiveKind::all_gather, 4 * outputs}, {CollectiveKind::all_gather, outputs * 4 / 3}});
  CHECK(context_bytes(token_ring, false) == context_bytes(ring, false));
  // A ring hides behind attention, the others don't. All compute equally long, but for the blocks of the ring.
  const auto shown = [](const ParallelJob& job) {
    return job.iteration.units.front()[1].forward_traffic.added_by({false, true, false});
  };
  CHECK(shown(ring) == Time{});
  CHECK(shown(gathered) > Time{});
  CHECK(ring.shares[0].compute == gathered.shares[0].compute);
  CHECK(ring.shares[0].compute == traded.shares[0].compute);
  // Gathered keys and values of a layer are there while its attention computes, if nothing larger is.
  CHECK(gathered.memory[0].working >= Bytes{3 * tokens * keys_and_values});
  // With 8 ranks and 4 key heads on each tensor-parallel rank, pairs of ranks get the same heads.
  const ParallelJob copied = composed_job(
      "model: llama-3-8b, sequence: 8192, parallel: {tensor: 2, context: 8, context_exchange: all-to-all}");
  CHECK(context_bytes(copied, true).front().second == 1024 * (queries + 2 * keys_and_values));
}

TEST_CASE("context parallelism: exchanges that can't be are refused") {
  CHECK(composition_refusal("model: llama-3-8b, parallel: {context_exchange: all-gather}")
            .find("training.m.parallel.context_exchange: has no effect without context") != std::string::npos);
  CHECK(
      composition_refusal("model: llama-3-8b, sequence: 8192, parallel: {context: 64, context_exchange: all-to-all}")
          .find("training.m.parallel.context_exchange: all-to-all: tensor 1 x context 64 does not divide the 32 heads "
                "of llama-3-8b") != std::string::npos);
}

TEST_CASE("pipeline ranks with devices of their own compute in the time of these") {
  const std::string base = "model: llama-3-8b, sequence: 2048, accumulate: 8, recompute: full, parallel: {pipeline: 2";
  const ParallelJob fast = composed_job(base + "}");
  const ParallelJob mixed = composed_job(base + ", devices: [H100-SXM, A100-80GB]}");
  const ParallelJob slow = composed_job(base + ", devices: [A100-80GB, A100-80GB]}");
  CHECK(mixed.shares[0].compute == fast.shares[0].compute);
  CHECK(mixed.shares[1].compute == slow.shares[1].compute);
  CHECK(slow.shares[1].compute > fast.shares[1].compute);
  CHECK(mixed.iteration.update[0] == fast.iteration.update[0]);
  CHECK(mixed.iteration.update[1] == slow.iteration.update[1]);
  CHECK(mixed.work.peak_flops == near((fast.work.peak_flops + slow.work.peak_flops) / 2));
  CHECK(composition_refusal(base + ", devices: [H100-SXM]}").find("has 1 devices: there are 2 pipeline ranks") !=
        std::string::npos);
  CHECK(composition_refusal(base + ", schedule: dualpipe, devices: [H100-SXM, A100-80GB]}")
            .find("training.m.parallel.devices: stage 0 lies on ranks with H100-SXM and A100-80GB") !=
        std::string::npos);
}

TEST_CASE("a tied head exchanges the gradient of the embedding between the ends of a pipeline") {
  const auto exchanged = [](const std::string& members) {
    std::vector<std::int64_t> bytes;
    const IterationGraph graph = training_graph(composed_job(members).iteration);
    for (const Op& op : graph.ops())
      if (op.name.find("copies") != std::string::npos) bytes.push_back(op.bytes.count());
    return bytes;
  };
  // GPT-2 XL: 50,257 rows of 1,600, cut in five, gradients of 4 bytes.
  CHECK(exchanged("model: gpt2-xl, accumulate: 8, parallel: {pipeline: 4}") ==
        std::vector<std::int64_t>(2, 4 * std::int64_t{50257} * 1600));
  CHECK(exchanged("model: gpt2-xl, accumulate: 8, parallel: {zero: 1}").empty());
  CHECK(exchanged("model: llama-3-8b, recompute: full, accumulate: 8, parallel: {pipeline: 4}").empty());
}

TEST_CASE("schedules that put gradients of weights off hold the gradients of outputs until then") {
  const std::string base = "model: gpt-3-6.7b, sequence: 2048, accumulate: 8, parallel: {pipeline: 4, schedule: ";
  const ParallelJob plain = composed_job(base + "1f1b}"), deferred = composed_job(base + "zb-h1}");
  // The last rank has one micro-batch in 1F1B. In ZB-H1 it does so, too, and begins W once it has done p - r Bi: it
  // holds what the gradients of the weights need of more micro-batches.
  CHECK(deferred.memory[3].activations > plain.memory[3].activations);
  CHECK(deferred.memory[0].activations > plain.memory[0].activations);
}

TEST_CASE("states in host memory or on NVMe: the slowest way decides how long an update takes") {
  // 8,030,261,248 parameters of Llama 3 8B on 8 tensor-parallel GPUs; norms are whole.
  const std::string base = "model: llama-3-8b, sequence: 1024, recompute: full, parallel: {tensor: 8";
  const ParallelJob none = composed_job(base + "}", 8);
  double elements = 0;
  for (const ModelUnit& unit : none.iteration.units[0]) elements += static_cast<double>(unit.dense_elements);
  CHECK(elements > 8'030'261'248.0 / 8);
  const auto update = [&](const std::string& offload) {
    const ParallelJob job = composed_job(base + ", offload: " + offload + "}", 8);
    CHECK(job.memory[0].optimizer == Bytes{});
    CHECK(job.memory[0].weights == none.memory[0].weights);
    CHECK(job.iteration.sends_gradients);
    return job.iteration.update[0].to_seconds();
  };
  CHECK(none.memory[0].optimizer.count() == near(12 * elements, 1e-9));
  CHECK(update("{optimizer: host, link: 1GB/s, memory: 100GB/s}") == near(2 * elements / 1e9, 1e-6));
  CHECK(update("{optimizer: host, link: 25GB/s, memory: 20GB/s}") == near(28 * elements / 20e9, 1e-6));
  CHECK(update("{optimizer: nvme, link: 25GB/s, memory: 20GB/s, nvme: 2GB/s}") == near(24 * elements / 2e9, 1e-6));
}

TEST_CASE("weights outside of the GPUs: what is left there, how fast they come, and what the update moves") {
  const std::string base = "model: llama-3-8b, sequence: 1024, recompute: full, parallel: {zero: 3";
  const ParallelJob none = composed_job(base + "}", 8);
  CHECK(!none.iteration.reads_weights);
  double elements = 0;
  for (const ModelUnit& unit : none.iteration.units[0]) elements += static_cast<double>(unit.dense_elements) / 8;
  const auto with = [&](const std::string& offload) {
    const ParallelJob job = composed_job(base + ", offload: " + offload + "}", 8);
    CHECK(none.memory[0].weights > Bytes{});
    CHECK(job.memory[0].weights == Bytes{});
    CHECK(job.memory[0].gathered == none.memory[0].gathered);
    CHECK(job.memory[0].gradients == none.memory[0].gradients);
    return job;
  };
  const ParallelJob host = with("{optimizer: host, weights: host, link: 25GB/s, memory: 2000GB/s}");
  CHECK(*host.iteration.reads_weights == ByteRate{25e9});
  CHECK(host.iteration.update[0].to_seconds() == near(28 * elements / 2000e9, 1e-6));
  const ParallelJob nvme = with("{optimizer: host, weights: nvme, link: 25GB/s, memory: 2000GB/s, nvme: 100MB/s}");
  CHECK(*nvme.iteration.reads_weights == ByteRate{1e8});
  CHECK(nvme.iteration.update[0].to_seconds() == near(2 * elements / 1e8, 1e-6));
  // Both passes of every unit but those at the ends wait for 2 bytes a parameter of the slow way.
  const Time slow = evaluate(nvme.iteration.plan, nvme.iteration.costs()).makespan;
  CHECK(slow == evaluate(none.iteration.plan, none.iteration.costs()).makespan);  // no pass is longer
  // A GPU alone holds two units, which no other one has a share of.
  const ParallelJob alone =
      composed_job(base + ", offload: {optimizer: host, weights: host, link: 25GB/s, memory: 20GB/s}}", 1);
  std::int64_t largest = 0;
  for (const ModelUnit& unit : alone.iteration.units[0]) largest = std::max(largest, unit.dense_elements);
  CHECK(alone.memory[0].gathered == Bytes{2 * 2 * largest});
}

TEST_CASE("activations in host memory cost time only where the link is slower than the layer computes") {
  const std::string base = "model: llama-3-8b, sequence: 8192, accumulate: 2, parallel: {tensor: 8, pipeline: 2";
  const ParallelJob kept = composed_job(base + "}", 16);
  const ParallelJob fast = composed_job(base + ", offload: {activations: true, link: 10000GB/s}}", 16);
  const ParallelJob slow = composed_job(base + ", offload: {activations: true, link: 1GB/s}}", 16);
  CHECK(slow.iteration.units[0][1].forward == kept.iteration.units[0][1].forward);
  const auto iteration = [&](const std::string& offload) {
    return lone_iteration(
               composed("model: llama-3-8b, sequence: 8192, accumulate: 2, parallel: {tensor: 8, pipeline: 2" +
                        offload + "}"),
               "m", 16)
        .to_seconds();
  };
  const double plain = iteration("");
  CHECK(iteration(", offload: {activations: true, link: 10000GB/s}") == near(plain, 1e-3));
  CHECK(fast.memory[0].activations < kept.memory[0].activations);
  // What the output leaves stays on the GPU, beside two layers that come and go.
  const ParallelJob one = composed_job("model: llama-3-8b, sequence: 8192, batch: 4, parallel: {tensor: 8}", 8);
  const ParallelJob moved = composed_job(
      "model: llama-3-8b, sequence: 8192, batch: 4, parallel: {tensor: 8, offload: {activations: true, link: 100GB/s}}",
      8);
  const TransformerModel model =
      transformer_of(*find_entry(composed("model: llama-3-8b, parallel: {tensor: 8}").training, "m"));
  const double vocabulary = 4.0 * 8192 * static_cast<double>(model.vocabulary) / 8;  // logits of a rank
  CHECK(moved.memory[0].activations.to_double() > 2 * vocabulary);
  CHECK(moved.memory[0].activations < one.memory[0].activations);
  // All that 16 layers leave of two micro-batches goes out through the slow link, and comes back behind the last pass.
  const double bytes = slow.iteration.units[0][1].offloaded.to_double();
  CHECK(2 * bytes == near(slow.memory[0].activations.to_double(), 2e-4));  // the tokens of the embedding are 9e-5 of it
  CHECK(fast.iteration.units[0][1].offloaded == slow.iteration.units[0][1].offloaded);
  const double moved_s = 2 * 16 * bytes / 1e9, slow_s = iteration(", offload: {activations: true, link: 1GB/s}");
  CHECK(slow_s > moved_s);
  CHECK(slow_s < 4 * moved_s + plain);  // out and in on both ranks, one after the other
}

TEST_CASE("any fusion policy plans the exchange of each stage; each unit by itself is what buckets of a unit are") {
  const std::string base = "model: gpt-3-2.7b, sequence: 2048, batch: 1, accumulate: 8, parallel: {tensor: 2, ";
  const auto iteration = [&](const std::string& parallel, const std::string& members) {
    return lone_iteration(composed(base + parallel + "}" + members), "m", 64).to_seconds();
  };
  for (const std::string parallel : {"pipeline: 1", "pipeline: 2", "pipeline: 2, virtual: 2, schedule: interleaved"}) {
    INFO(parallel);
    const double by_unit = iteration(parallel + ", bucket: 1", "");
    // Messages of two chunks of a rank pass each other, buckets don't.
    const bool has_chunks = parallel.find("virtual") != std::string::npos;
    CHECK(iteration(parallel, ", fusion: wfbp") == near(by_unit, has_chunks ? 2e-3 : 1e-6));
    // Everything at the end, in one message: nothing hides.
    const double at_end = iteration(parallel, ", fusion: bsp");
    const ParallelJob job = composed_job(base + parallel + "}");
    const double computing = evaluate(job.iteration.plan, job.iteration.costs()).makespan.to_seconds();
    CHECK(at_end > by_unit);
    for (const char* policy : {"ddp", "mg-wfbp", "omgs", "asc-wfbp"}) {
      INFO(policy);
      const double planned = iteration(parallel, fmt::format(", fusion: {}", policy));
      CHECK(planned <= at_end * (1 + 1e-9));
      CHECK(planned >= computing);
    }
  }
}

TEST_CASE("fusion: search loses to none of the policies from which it sets out, as the engine runs the whole job") {
  if (!is_played(1, 2)) return;  // the search asks the engine a hundred times
  // Its own plan is made for one micro-batch of one stage; here it takes 2.9% longer than omgs.
  const auto iteration = [](const std::string& fusion) {
    return lone_iteration(
        composed("model: gpt-3-2.7b, sequence: 2048, batch: 1, accumulate: 4, fusion: " + fusion +
                     ", parallel: {tensor: 2, pipeline: 2, virtual: 2, schedule: interleaved, zero: 1}",
                 {"network.nic=5Gbps"}),
        "m", 32);
  };
  const Time searched = iteration("search");
  for (const char* other : {"wfbp", "ddp", "mg-wfbp", "omgs", "dear", "horovod", "p3"}) {
    INFO(other);
    CHECK(searched <= iteration(other));
  }
}

TEST_CASE("fusion and compression of the default entry plan the exchange as the entry's own do") {
  const auto iteration = [&](const std::string& usual, const std::string& own, const std::string& parallel) {
    return lone_iteration(parsed(fmt::format("cluster: {{servers: 8, gpus_per_server: 8, gpu_memory: 400GiB}}\n"
                                             "network: {{nic: 3200Gbps, alpha: 10us}}\n"
                                             "training: {{default: {{batch: 1{}}}, m: {{device: H100-SXM, dtype: bf16, "
                                             "model: gpt-3-2.7b, accumulate: 8{}, parallel: {{{}}}}}}}\n",
                                             usual, own, parallel)),
                          "m", 64);
  };
  const std::string stages = "pipeline: 2";
  for (const char* members : {", fusion: bsp", ", fusion: wfbp", ", compression: {policy: dgc, density: 0.01}"}) {
    INFO(members);
    CHECK(iteration(members, "", stages) == iteration("", members, stages));
  }
  CHECK(iteration(", fusion: bsp", "", stages) > iteration("", "", stages));
  // With zero: 3 layers reduce their gradients by themselves, and a note says so.
  CHECK(iteration(", fusion: bsp", "", "zero: 3") == iteration("", "", "zero: 3"));
}

TEST_CASE("a planned exchange goes in turn with the gradients of experts and with what passes send between servers") {
  const std::string base = "model: qwen-3-30b-a3b, sequence: 4096, batch: 1, accumulate: 2, recompute: full, ";
  for (const std::string parallel : {"expert: 8", "expert: 16", "expert: 16, context: 2", "pipeline: 2, expert: 16"}) {
    INFO(parallel);
    const auto iteration = [&](const std::string& more, const std::string& members) {
      const Scenario scenario = composed(base + "parallel: {" + parallel + more + "}" + members,
                                         {"network.nic=400Gbps", "network.fidelity=analytic"});
      return lone_iteration(scenario, "m", 64).to_seconds();
    };
    const double by_unit = iteration(", bucket: 1", "");
    CHECK(iteration("", ", fusion: wfbp") == near(by_unit, 1e-6));
    for (const char* policy : {"ddp", "bsp", "bytescheduler"})  // the same bytes, by fewer or more messages
      CHECK(iteration("", fmt::format(", fusion: {}", policy)) == near(by_unit, 0.05));
  }
}

TEST_CASE("compressed gradients: the messages and kernels of the method, in the groups of equal weights") {
  const std::string base = "model: gpt-3-2.7b, sequence: 2048, parallel: {tensor: 2, pipeline: 2}";
  const IterationGraph plain = training_graph(composed_job(base + ", fusion: wfbp").iteration);
  const ParallelJob job = composed_job(base + ", fusion: wfbp, compression: {policy: top-k, density: 0.01}");
  const IterationGraph graph = training_graph(job.iteration);
  double sent = 0, dense = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::collective || op.collective != CollectiveKind::all_gather) continue;
    CHECK(op.groups == RankGroups{2, 16});
    sent += op.bytes.to_double();
  }
  for (const Op& op : plain.ops())
    if (op.kind == OpKind::collective && op.collective == CollectiveKind::all_reduce) dense += op.bytes.to_double();
  // A hundredth of the values of each of 16 ranks, with an index each.
  CHECK(sent == near(dense * 0.01 * 2 * 16, 1e-3));
  const auto kernels = [](const IterationGraph& each) {
    return std::ranges::count_if(each.ops(), [](const Op& op) { return op.kind == OpKind::compute; });
  };
  CHECK(kernels(graph) > kernels(plain));
}

TEST_CASE("compressed gradients with zero: 1: each rank has all sums, updates its share, and gathers the rest") {
  const auto bytes = [](const IterationGraph& graph, CollectiveKind kind, std::string_view name) {
    double sum = 0;
    for (const Op& op : graph.ops())
      if (op.kind == OpKind::collective && op.collective == kind && op.name.starts_with(name)) {
        CHECK(op.groups == RankGroups{2, 32});
        sum += op.bytes.to_double();
      }
    return sum;
  };
  const auto updates = [](const IterationGraph& graph) {
    Time sum;
    for (const Op& op : graph.ops())
      if (op.name == "update") sum += op.duration;
    return sum;
  };
  const std::string base = "model: gpt-3-2.7b, sequence: 2048, compression: {policy: top-k, density: 0.01}, ";
  const IterationGraph whole = training_graph(composed_job(base + "parallel: {tensor: 2, zero: 0}").iteration);
  const IterationGraph shared = training_graph(composed_job(base + "parallel: {tensor: 2, zero: 1}").iteration);
  const double sent = bytes(whole, CollectiveKind::all_gather, "all-gather of weights");
  CHECK(sent == 0);
  // The same messages, and the weights of 2 bytes for 4 of gradient, of which a hundredth was sent with indices by 32.
  const double gathered = bytes(shared, CollectiveKind::all_gather, "all-gather of weights");
  const double all = bytes(shared, CollectiveKind::all_gather, "") - gathered;
  CHECK(all == bytes(whole, CollectiveKind::all_gather, ""));
  CHECK(gathered == near(all / (0.01 * 8 * 32) * 2, 1e-3));
  CHECK(bytes(shared, CollectiveKind::reduce_scatter, "") == 0);
  CHECK(updates(shared).to_seconds() < updates(whole).to_seconds() / 20);
  // Copies that share out the updates by 8 still exchange among all 32.
  const IterationGraph hybrid =
      training_graph(composed_job(base + "parallel: {tensor: 2, zero: 1, shards: 8}").iteration);
  double exchanged = 0;
  for (const Op& op : hybrid.ops()) {
    if (op.kind != OpKind::collective) continue;
    const bool is_weight = op.name.starts_with("all-gather of weights");
    CHECK(op.groups == (is_weight ? RankGroups{2, 8} : RankGroups{2, 32}));
    if (!is_weight) exchanged += op.bytes.to_double();
  }
  CHECK(exchanged == all);
}

TEST_CASE("fusion with DualPipe: the passes that complete the gradients of a stage are not merged") {
  const std::string base = "model: gpt-3-2.7b, sequence: 2048, accumulate: 16, ";
  const std::string parallel = "parallel: {pipeline: 4, schedule: dualpipe, zero: ";
  for (const std::string zero : {"0", "1"}) {
    const auto graph_with = [&](const std::string& members) {
      return training_graph(composed_job(base + members + parallel + zero + "}").iteration);
    };
    const auto sums = [](const IterationGraph& graph) {
      double bytes = 0;
      for (const Op& op : graph.ops()) {
        const bool gathers = op.collective == CollectiveKind::all_gather;
        if (op.kind == OpKind::collective && !gathers) bytes += op.bytes.to_double();
      }
      return bytes;
    };
    const IterationGraph plain = graph_with(""), planned = graph_with("fusion: wfbp, ");
    CHECK(sums(planned) == sums(plain));
    const auto copies = [](const IterationGraph& graph) {
      return std::ranges::count_if(graph.ops(),
                                   [](const Op& op) { return op.name.starts_with("gradients of copies"); });
    };
    CHECK(copies(planned) == copies(plain));
    CHECK(copies(planned) == 2 * 2);  // two pairs of ranks have the same stages
  }
}

TEST_CASE("what can't plan or compress the exchange of a stage is refused") {
  const auto said = [](const std::string& members, const std::string& expected) {
    const std::string text = composition_refusal("model: gpt-3-2.7b, sequence: 2048, " + members);
    INFO(text);
    CHECK(text.find(expected) != std::string::npos);
  };
  said("fusion: ddp, parallel: {zero: 3}",
       "training.m.fusion: with zero: 3 the gradients of a layer are reduced as soon");
  said("compression: top-k, parallel: {zero: 2}",
       "training.m.compression: with zero: 2 or 3 a rank has room for its share of the gradients");
  said("fusion: ddp, parallel: {bucket: 5}", "training.m.parallel.bucket: has no effect");
  said("collective: all-gather, parallel: {zero: 0}", "training.m.collective: has no effect without a compression");
  said("fusion: last-batch, parallel: {tensor: 2}",
       "training.m.fusion: last-batch: a part of its exchange goes on in the next iteration, whose forward pass does "
       "not "
       "wait for that part");
  said("compression: power-sgd, parallel: {tensor: 2}",
       "training.m.compression: power-sgd: can't exchange the gradients");
  said("compression: local-sgd, parallel: {tensor: 2}", "training.m.compression: local-sgd");
  said("fusion: ddp, accumulate: 16, parallel: {pipeline: 4, schedule: dualpipe, zero: 2}",
       "training.m.fusion: the schedule dualpipe runs two passes as one");
}

TEST_CASE("ranks with equal weights that lie unevenly on servers exchange over all of them") {
  const ParallelJob job = composed_job("model: gpt-3-2.7b, sequence: 2048, fusion: ddp, parallel: {tensor: 2}", 12);
  CHECK(job.iteration.planned_per_server == 6);  // four ranks on one server and two on another
}

TEST_CASE("offloading that makes no sense is refused") {
  const auto said = [](const std::string& offload, const std::string& expected) {
    const std::string refusal =
        composition_refusal("model: llama-3-8b, sequence: 1024, recompute: full, parallel: {offload: " + offload + "}");
    INFO(refusal);
    CHECK(refusal.find(expected) != std::string::npos);
  };
  said("{optimizer: host, link: 25GB/s}", "training.m.parallel.offload.memory: is missing");
  said("{activations: true}", "training.m.parallel.offload.link: is missing");
  said("{link: 25GB/s}", "training.m.parallel.offload.link: has no effect");
  said("{optimizer: host, weights: host, link: 25GB/s, memory: 20GB/s}",
       "training.m.parallel.offload.weights: needs GPUs that gather weights before each use");
  said("{optimizer: host, weights: nvme, link: 25GB/s, memory: 20GB/s}, zero: 3",
       "training.m.parallel.offload.nvme: is missing");
  said("{weights: host, link: 25GB/s}, zero: 3",
       "training.m.parallel.offload.weights: needs the optimizer outside of the GPUs, too");
}

TEST_CASE("documents: attention is the slowest GPU's, tokens and operations are counted in documents") {
  const std::string base = "model: llama-3-8b, sequence: 8192, accumulate: 4, recompute: full, parallel: {tensor: 8";
  const ParallelJob whole = composed_job(base + "}");
  // Documents of a quarter of a sequence: a quarter of attention in each pass of a layer, and nothing else changes.
  const ParallelJob quarter = composed_job(base + ", documents: {median: 2048, sigma: 0}}");
  REQUIRE(quarter.documents);
  CHECK(quarter.documents->documents == near(4 * 4 * 8));  // 4 micro-batches of 8 data-parallel ranks
  CHECK(quarter.work.tokens == whole.work.tokens);
  CHECK(quarter.work.model_flops < whole.work.model_flops);
  const Time all = whole.iteration.units[0][1].forward, part = quarter.iteration.units[0][1].forward;
  const ParallelJob half = composed_job(base + ", documents: {median: 4096, sigma: 0}}");
  const Time middle = half.iteration.units[0][1].forward;
  CHECK(part < middle);
  // Linear in the share: from 1/4 to 1/2 a third of the way from 1/4 to 1.
  CHECK((all - part).to_seconds() == near(3 * (middle - part).to_seconds(), 1e-5));
  // A document for each sequence, padded: as long as before, for fewer tokens.
  const ParallelJob padded = composed_job(base + ", documents: {median: 2048, sigma: 0}, packing: padded}");
  CHECK(padded.iteration.units[0][1].forward == all);
  CHECK(padded.work.tokens == near(whole.work.tokens / 4));
  // Uneven ones: the slowest of 8 ranks has more than the mean one, and less if they are dealt out by attention.
  const std::string uneven = base + ", documents: {median: 1000, sigma: 1.2}";
  const ParallelJob in_order = composed_job(uneven + "}"), balanced = composed_job(uneven + ", packing: balanced}");
  CHECK(balanced.iteration.units[0][1].forward < in_order.iteration.units[0][1].forward);
  CHECK(balanced.work.model_flops == in_order.work.model_flops);
}

TEST_CASE("documents on as many context-parallel GPUs as they need: short ones send nothing") {
  // A slow network between servers of 8 GPUs, on which rings of 8 x 2 GPUs don't hide behind attention.
  const std::string base =
      "model: llama-3-8b, sequence: 65536, accumulate: 2, recompute: full, parallel: {tensor: 2, context: 16, "
      "documents: "
      "{median: ";
  const auto context_of = [&](const std::string& rest) {
    const Scenario scenario = composed(base + rest + "}", {"network.nic=100Gbps"});
    const ParallelJob job = plan_parallel(scenario, *find_entry(scenario.training, "m"), 64);
    return std::pair{job.shares[0].context, job};
  };
  const auto [whole, of_whole] = context_of("4096, sigma: 0}");
  const auto [alone, of_alone] = context_of("4096, sigma: 0}, context_degree: by-length");
  CHECK(whole > Time{});
  CHECK(alone == Time{});  // 4096 tokens are what a GPU holds
  CHECK(of_alone.documents->parts.size() == 1);
  // As long as the sequence all ways are one.
  const Time longest = context_of("65536, sigma: 0}").first;
  CHECK(context_of("65536, sigma: 0}, context_degree: by-length").first == longest);
  CHECK(context_of("65536, sigma: 0}, context_degree: by-zone").first == longest);
  // Documents of two GPUs stay inside a server by length and by zone, but by zone all four pairs of a server have them.
  const Time pairs = context_of("8192, sigma: 0}, context_degree: by-length").first;
  const auto [zone, of_zone] = context_of("8192, sigma: 0}, context_degree: by-zone");
  CHECK(of_zone.documents->parts[0].degree == 4);
  CHECK(pairs <= zone);
  // Documents of three GPUs, which don't divide 16, have rings of three, at `flow` as much to send.
  const auto [three, of_three] = context_of("12288, sigma: 0}, context_degree: by-length");
  CHECK(std::ranges::any_of(of_three.documents->parts, [](const AttentionPart& part) { return part.degree == 3; }));
  CHECK(three >= pairs);
  CHECK(three < whole);
  CHECK(zone < whole);
}

TEST_CASE("documents as long as sequences are no documents, also on servers that groups fill unevenly") {
  // Groups of 4 GPUs on servers of 6: every other one lies on two servers, whose interfaces carry two rings.
  const auto context_of = [](const std::string& documents) {
    const Scenario scenario =
        composed("model: llama-3-8b, sequence: 84000, recompute: full, parallel: {context: 4" + documents + "}",
                 {"cluster.gpus_per_server=6", "cluster.servers=4", "network.nic=50Gbps"});
    return plan_parallel(scenario, *find_entry(scenario.training, "m"), 24).shares[0].context.to_seconds();
  };
  const double plain = context_of("");
  CHECK(plain > 0);
  for (const char* degree : {"whole", "by-zone", "by-length"}) {
    INFO(degree);
    CHECK(context_of(fmt::format(", documents: {{median: 84000, sigma: 0}}, context_degree: {}", degree)) ==
          near(plain, 1e-6));
  }
}

TEST_CASE("documents that make no sense are refused") {
  const auto said = [](const std::string& members, const std::string& expected) {
    const std::string refusal =
        composition_refusal("model: llama-3-8b, sequence: 1024, recompute: full, parallel: {" + members + "}");
    INFO(refusal);
    CHECK(refusal.find(expected) != std::string::npos);
  };
  said("packing: balanced", "training.m.parallel.packing: has no effect without documents");
  said("context: 2, context_degree: by-zone", "training.m.parallel.context_degree: has no effect without documents");
  said("documents: {median: 1000}",
       "training.m.parallel.documents: says the lengths by a file, or by median and sigma");
  said("documents: {median: 1000, sigma: 1}, context_degree: by-length",
       "training.m.parallel.context_degree: has no effect without context");
  said("documents: {median: 1000, sigma: 1}, context: 2, context_exchange: all-gather, context_degree: by-length",
       "training.m.parallel.context_degree: needs keys and values that go around");
  said("documents: {median: 1000, sigma: 1}, context: 2, packing: padded, context_degree: by-length",
       "training.m.parallel.context_degree: has no effect with packing: padded");
  const std::string plain = composition_refusal(
      "model: llama-3-8b, attention: plain, sequence: 1024, parallel: {documents: {median: 1000, sigma: 1}}");
  CHECK(plain.find("training.m.parallel.documents: needs attention in one kernel") != std::string::npos);
}

TEST_CASE("a schedule that merges passes can't gather the weights of single layers") {
  const std::string base =
      "model: llama-3-8b, sequence: 1024, recompute: full, accumulate: 8, parallel: {pipeline: 2, schedule: dualpipe";
  CHECK(composition_refusal(base + ", zero: 3}")
            .find("training.m.parallel.zero: 3: the schedule dualpipe runs two "
                  "passes as one") != std::string::npos);
  CHECK(composition_refusal(base + ", zero: 2}").empty());
}

TEST_CASE("without any degree a job is the data-parallel one, to the nanosecond") {
  // The layers of the job as layers of a data-parallel problem, whose messages carry single layers.
  const Scenario scenario = composed("model: llama-3-8b, sequence: 1024, recompute: full, parallel: {bucket: 1}");
  for (const int gpus : {1, 8, 64}) {
    TrainingIteration job = plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus).iteration;
    const Time update = job.update[0];
    IterationGraph plain;
    const RoleId worker = plain.add_role("worker", gpus);
    const ChannelId stream = plain.add_channel("exchange", 1, Bytes{1});
    Time forward;
    for (const ModelUnit& unit : job.units[0]) forward += unit.forward;
    OpId before = plain.add_compute("forward", worker, forward);
    const OpId first = before;
    const OpId end = plain.add_compute("update", worker, update);
    for (std::size_t u = job.units[0].size(); u-- > 0;) {
      const ModelUnit& unit = job.units[0][u];
      const OpId pass = plain.add_compute("backward", worker, unit.backward_input + unit.backward_weight);
      plain.add_dependency(before, pass);
      before = pass;
      if (gpus == 1) continue;
      const OpId sum = plain.add_collective("all-reduce", CollectiveKind::all_reduce, worker,
                                            Bytes{unit.dense_elements * job.gradient_bytes});
      plain.put_into(stream, sum, static_cast<std::int32_t>(job.units[0].size() - u));
      plain.add_dependency(pass, sum);
      plain.add_dependency(sum, end);
    }
    plain.add_dependency(before, end);
    plain.add_dependency(end, first, 1);
    const auto end_with = [&](IterationGraph graph) {
      Workload workload;
      JobSpec spec;
      spec.name = "job";
      spec.gpus = gpus;
      spec.iterations = 3;
      workload.graphs.push_back(std::move(graph));
      workload.jobs.push_back(spec);
      return run_workload(scenario, std::move(workload), 1).jobs[0].finish;
    };
    CHECK(end_with(training_graph(job)) == end_with(plain));
  }
}
