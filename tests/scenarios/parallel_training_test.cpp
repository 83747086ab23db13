// Entries of `training` with `parallel`: what is refused and why, that degrees do what they say, and that an iteration
// in a cluster is the one that its parts make.

#include "models/passes/spread_passes.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/stage_planner.hpp"
#include "scenarios/training/training_check.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A cluster of H100 servers and an entry with these members.
Scenario with_entry(const std::string& members, const std::vector<std::string>& sets = {}) {
  return parsed(
      fmt::format("cluster: {{servers: 16, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
                  "network: {{nic: 3200Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
                  "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, {}}}}}\n"
                  "workload: {{generate: {{models: [m], sizes: {{64: 1}}, iterations: [4, 4], arrivals: 1ms}}}}\n",
                  members),
      sets);
}

ParallelJob job_of(const Scenario& scenario, int gpus) {
  return plan_parallel(scenario, *find_entry(scenario.training, "m"), gpus);
}

/// What is wrong with a job of the entry, as one text.
std::string refusal(const std::string& members, int gpus = 64) {
  return refusal_of_call([&] {
    const Scenario scenario = with_entry(members);
    static_cast<void>(TrainingGraphs{scenario}("m", gpus));
  });
}

void check_refused(const std::string& members, const std::string& expected, int gpus = 64) {
  const std::string said = refusal(members, gpus);
  INFO(members);
  INFO(said);
  CHECK(said.find(expected) != std::string::npos);
}

const std::string kBig = "model: llama-3-70b, recompute: full, ";

}  // namespace

TEST_CASE("parallel: members are merged layer by layer, printed, and read back") {
  const Scenario scenario = with_entry("model: llama-3-8b, parallel: {tensor: 4, zero: 1}",
                                       {"training.m.parallel.pipeline=2", "training.m.parallel.tensor=2"});
  const TrainingEntry& entry = *find_entry(scenario.training, "m");
  REQUIRE(entry.parallel);
  CHECK(entry.parallel->tensor == 2);
  CHECK(entry.parallel->pipeline == 2);
  CHECK(entry.parallel->zero == 1);
  CHECK(entry.parallel->schedule.name == "1f1b");
  const Scenario again = parse_scenario(to_yaml(scenario), "again");
  CHECK(to_yaml(again) == to_yaml(scenario));
}

TEST_CASE("parallel: degrees that don't fit are refused by name") {
  check_refused(kBig + "parallel: {tensor: 8, pipeline: 5}",
                "training.m.parallel: tensor 8 x context 1 x pipeline 5 = 40 does not divide the 64 GPUs of the job");
  check_refused(kBig + "parallel: {tensor: 16}",
                "training.m.parallel.tensor: 16 does not divide the 8 GPUs of a server");
  check_refused(kBig + "parallel: {tensor: 8}, global_batch: 12",
                "training.m.global_batch: 12 is no multiple of batch 1 x 8 data-parallel ranks = 8");
  check_refused("model: mixtral-8x7b, parallel: {expert: 48}", "training.m.parallel.expert: ");
  check_refused("model: mixtral-8x7b, parallel: {expert: 16}",
                "training.m.parallel.expert: expected a divisor of the 8 experts of mixtral-8x7b, got 16");
  check_refused("model: llama-3-8b, parallel: {tensor: 3}", "tensor 3 x context 1");
  check_refused(
      "model: llama-3-8b, parallel: {pipeline: 64}, accumulate: 64",
      "training.m.parallel.pipeline: 64 parts of a model of 32 layers; at most 34, with embedding and head as a "
      "part each");
  check_refused(
      "model: llama-3-8b, parallel: {pipeline: 11, virtual: 3, schedule: interleaved}, accumulate: 66",
      "training.m.parallel.virtual: 33 parts of a model of 32 layers; parallel.layers can leave the first part, "
      "with the embedding, or the last one, with the head, without a layer",
      88);
  check_refused("model: llama-3-8b, accumulate: 8, parallel: {pipeline: 4, virtual: 3, schedule: 1f1b}",
                "training.m.parallel.virtual: ");
}

TEST_CASE(
    "parallel: micro-batches that don't suit a schedule are complained of where the entry says how many they are") {
  const std::string wrong = ": 5 micro-batches in groups of 4 leave a last group of 1, fewer than the 4 ranks";
  const auto said = [&](const std::string& usual, const std::string& own, const std::string& more) {
    return complaint_lines([&] {
      const Scenario scenario = parsed(
          fmt::format("cluster: {{servers: 8, gpus_per_server: 8, gpu_memory: 80GiB}}\n"
                      "training: {{default: {{device: H100-SXM{}}}, m: {{model: llama-3-8b{}, parallel: {{tensor: 8, "
                      "pipeline: 4{}}}}}}}\n",
                      usual, own, more));
      static_cast<void>(plan_parallel(scenario, *find_entry(scenario.training, "m"), 64));
    });
  };
  const std::string chunks = ", virtual: 2, schedule: interleaved";
  CHECK(contains(said("", ", accumulate: 5", chunks), "accumulate" + wrong));
  CHECK(contains(said(", accumulate: 5", "", chunks), "accumulate" + wrong));
  CHECK(contains(said("", ", global_batch: 10", chunks), "global_batch" + wrong));
  CHECK(contains(said(", global_batch: 10", "", chunks), "global_batch" + wrong));
  // Interleaved passes need as many micro-batches as ranks; 1f1b works with fewer.
  const std::string few = ": the schedule interleaved needs as many micro-batches as ranks, 4, and there are 3";
  CHECK(contains(said("", ", accumulate: 3", chunks), "accumulate" + few));
  CHECK(contains(said("", ", global_batch: 6", chunks), "global_batch" + few));
  CHECK(said("", ", accumulate: 3", "").empty());
  // An entry that says the one has not the other from the default entry.
  CHECK(contains(said(", global_batch: 64", ", accumulate: 5", chunks), "accumulate" + wrong));
  CHECK(contains(said(", accumulate: 4", ", global_batch: 10", chunks), "global_batch" + wrong));
  CHECK(contains(said(", accumulate: 5", ", global_batch: auto", chunks), "accumulate" + wrong));
}

TEST_CASE("parallel: members of the default entry that have no effect are told, once for each entry") {
  const auto notes = [&](const std::string& usual, const std::string& own) {
    const Scenario scenario =
        parsed("training: {default: {" + usual + "}, m: {model: llama-3-8b, " + own + "}, n: {model: resnet50}}\n");
    return fmt::format("{}", fmt::join(inherited_notes(scenario.training), "\n"));
  };
  CHECK(notes("fusion: dear", "parallel: {tensor: 8}").empty());
  CHECK(notes("fusion: bsp", "parallel: {tensor: 8, zero: 3}") ==
        "training.m: fusion of the default entry is left out: with zero: 3 the gradients of a layer are reduced as "
        "soon as it has computed, each layer by itself");
  CHECK(notes("compression: top-k", "parallel: {tensor: 8, zero: 1}").empty());
  CHECK(notes("compression: top-k", "parallel: {tensor: 8, zero: 2}") ==
        "training.m: compression of the default entry is left out: with zero: 2 or 3 a rank has room for its share of "
        "the gradients, and a compressed exchange gives it the sums of all");
  CHECK(notes("fusion: bsp", "parallel: {tensor: 8, bucket: 25000000}") ==
        "training.m: parallel.bucket has no effect: the fusion policy says what is sent together");
  CHECK(notes("recompute: full, device: H100-SXM", "parallel: {tensor: 8}") ==
        "training.n: recompute of the default entry is left out: the layers of a table are single operations, not "
        "blocks whose results can be computed again");
  CHECK(notes("efficiency: 0.5", "parallel: {tensor: 8}").empty());
  // A file of layers is left out, and says nothing of the entry's device.
  const std::string file =
      "training.m: layers of the default entry is left out: a file has the times of whole layers, "
      "not the times of the parts that GPUs have";
  CHECK(contains(notes("layers: l.csv", "device: H100-SXM, dtype: bf16, parallel: {tensor: 8}"), file));
  CHECK(contains(notes("layers: l.csv, select: a", "device: H100-SXM, parallel: {tensor: 8}"), file));
}

TEST_CASE("parallel: settings without sense and jobs larger than the cluster are refused") {
  check_refused(
      "model: llama-3-8b, accumulate: 4, parallel: {pipeline: 4, schedule: interleaved}",
      "training.m.parallel.virtual: is missing: interleaved passes of one part on each rank are the passes of 1f1b");
  check_refused("model: llama-3-8b, parallel: {zero: 3, gradient_bytes: 3}",
                "training.m.parallel.gradient_bytes: 3 bytes are no type of gradients; 2 or 4");
  check_refused("model: llama-3-8b, attention: plain, attention_efficiency: 0.5, parallel: {zero: 3}",
                "training.m.attention_efficiency: has no effect with attention: plain");
  check_refused("model: llama-3-8b, parallel: {zero: 3}", "a job of 256 GPUs: the cluster has 128", 256);
  check_refused("model: llama-3-8b, parallel: {zero: 3, schedule: file}", "training.m.parallel.order: is missing");
}

TEST_CASE("parallel: weights that stay until the backward pass are held in full") {
  const std::string members = "model: llama-3-8b, sequence: 1024, parallel: {zero: 3, reshard: ";
  const ParallelJob dropped = job_of(with_entry(members + "true}"), 64);
  const ParallelJob kept = job_of(with_entry(members + "false}"), 64);
  // 8,030,261,248 parameters of two bytes.
  CHECK(kept.memory[0].gathered == Bytes{2 * std::int64_t{8'030'261'248}});
  CHECK(dropped.memory[0].gathered < kept.memory[0].gathered);
  CHECK(kept.memory[0].weights == dropped.memory[0].weights);
}

TEST_CASE("parallel: full recomputation repeats communication, which is no computing") {
  const std::string members = "model: llama-3-8b, sequence: 4096, parallel: {tensor: 8}, recompute: ";
  const PassShares none = job_of(with_entry(members + "none"), 8).shares[0];
  const PassShares full = job_of(with_entry(members + "full"), 8).shares[0];
  CHECK(full.compute == none.compute);
  CHECK(none.recompute == Time{});
  CHECK(full.recompute > Time{});
  CHECK(full.tensor > none.tensor);
}

TEST_CASE("parallel: recomputed modules repeat their computing and their messages") {
  const auto shares = [](const std::string& recompute) {
    return job_of(with_entry("model: deepseek-v2-lite, sequence: 4096, parallel: {tensor: 4, sequence_parallel: true, "
                             "expert: 8}, recompute: " +
                             recompute),
                  8)
        .shares[0];
  };
  const PassShares none = shares("none"), full = shares("full"), up = shares("[mla_up_proj]"), mlp = shares("[mlp]"),
                   moe = shares("[moe]"), both = shares("[mla_up_proj, mlp]");
  CHECK(shares("[core_attn]").total() == none.total());
  CHECK(shares("selective").total() == none.total());
  CHECK(up.recompute > Time{});
  CHECK(both.recompute == up.recompute + mlp.recompute);
  CHECK(moe.recompute < full.recompute);
  // Short vectors and the input of the dense layer are gathered again; tokens are sent to experts again.
  CHECK(up.tensor > none.tensor);
  CHECK(mlp.tensor > none.tensor);
  CHECK(both.tensor - none.tensor == (up.tensor - none.tensor) + (mlp.tensor - none.tensor));
  CHECK(up.expert == none.expert);
  CHECK(moe.tensor == none.tensor);
  CHECK(moe.expert == full.expert);
  CHECK(moe.expert > none.expert);
}

TEST_CASE("parallel: recomputed modules are a list; core_attn alone is `selective`") {
  const auto printed = [](const std::string& recompute) {
    return to_yaml(with_entry("model: deepseek-v3, parallel: {zero: 1}, recompute: " + recompute));
  };
  CHECK(printed("[mlp, mla_up_proj]").find("recompute: [mla_up_proj, mlp]") != std::string::npos);
  CHECK(printed("[core_attn]") == printed("selective"));
  check_refused("model: llama-3-8b, recompute: [mla_up_proj], parallel: {zero: 1}",
                "training.m.recompute: mla_up_proj: no layer of llama-3-8b has this module");
  check_refused("model: mixtral-8x7b, recompute: [moe, mlp], parallel: {zero: 1}",
                "training.m.recompute: mlp: no layer of mixtral-8x7b has this module");
  CHECK_THROWS_AS(printed("[mlp, full]"), InputError);
  CHECK_THROWS_AS(printed("[]"), InputError);
}

TEST_CASE("parallel: of merged passes the longer lasts: what they compute, or their exchanges of experts") {
  int computing = 0, sending = 0;
  for (const char* nic : {"400Gbps", "3200Gbps", "40000Gbps"}) {
    const Scenario scenario = with_entry(
        "model: qwen-3-30b-a3b, sequence: 4096, accumulate: 16, parallel: {pipeline: 4, expert: 16, zero: 1, schedule: "
        "dualpipe}",
        {std::string{"network.nic="} + nic, "cluster.gpu_memory=500GiB"});
    const ParallelJob job = job_of(scenario, 64);
    const PipelineCosts costs = job.iteration.costs();
    for (std::size_t stage = 0; stage < costs.forward.size(); ++stage) {
      const Time exchange = job.shares[stage].expert;
      const Time computed = costs.forward[stage] + costs.backward[stage] - exchange;
      CHECK(exchange > Time{});
      CHECK(costs.merged[stage] == std::max(computed, exchange));
      ++(computed > exchange ? computing : sending);
    }
  }
  CHECK(computing > 0);
  CHECK(sending > 0);
  CHECK(job_of(with_entry("model: llama-3-8b, parallel: {zero: 1}"), 8).iteration.costs().merged.empty());
}

TEST_CASE("parallel: members of the other way to train are refused") {
  check_refused("model: resnet50, parallel: {tensor: 2}", "training.m.model: ");
  check_refused("model: llama-3-405b", "training.m.model: llama-3-405b is trained on several GPUs; give parallel");
  check_refused("model: llama-3-8b, fusion: mg-wfbp, parallel: {zero: 3}", "training.m.fusion: with zero: 3");
  check_refused("model: llama-3-8b, mixed_precision: true, parallel: {zero: 1}",
                "training.m.mixed_precision: the update casts the weights");
  check_refused("model: llama-3-8b, runtime: fsdp2, parallel: {zero: 0}", "training.m.runtime: fsdp2: FSDP shares out");
  check_refused("model: mixtral-8x7b, recompute: operators, parallel: {zero: 1}", "training.m.recompute: operators: ");
  check_refused("model: resnet50, recompute: full",
                "training.m.recompute: the layers of a table are single operations");
  check_refused("model: llama-3-8b, config: x.json, parallel: {zero: 1}",
                "says its network more than once: model, config");
  check_refused("model: llama-3-8b, accumulate: 2, global_batch: 64, parallel: {zero: 1}",
                "training.m.accumulate: follows from global_batch");
}

TEST_CASE("parallel: memory that doesn't fit is refused with its parts and a setting that fits") {
  check_refused("model: llama-3-70b, sequence: 8192, parallel: {tensor: 8}",
                "on each GPU of pipeline rank 0 (weights ");
  const std::string said = refusal("model: llama-3-70b, sequence: 8192, parallel: {tensor: 8}");
  const std::size_t at = said.find("; ");
  REQUIRE(at != std::string::npos);
  const std::string hint = said.substr(at + 2);
  INFO(hint);
  CHECK(hint.find(" would fit") != std::string::npos);
  // What is proposed fits.
  const std::string changed = hint.substr(0, hint.find(" would fit"));
  std::vector<std::string> sets;
  for (std::string each :
       {changed.substr(0, changed.find(" and ")),
        changed.find(" and ") == std::string::npos ? "" : changed.substr(changed.find(" and ") + 5)}) {
    if (each.empty()) continue;
    each.replace(each.find(": "), 2, "=");
    sets.push_back("training.m." + each);
  }
  const Scenario scenario = with_entry("model: llama-3-70b, sequence: 8192, parallel: {tensor: 8}", sets);
  TrainingGraphs graphs{scenario};
  CHECK(graphs("m", 64).memory <= scenario.cluster.gpu_memory);
}

TEST_CASE("parallel: layers are cut evenly, with the ends counted as layers where that helps") {
  const auto sizes = [](std::int64_t layers, int stages) {
    std::vector<std::int64_t> cut;
    for (const LayerRange& range : cut_layers(layers, stages)) cut.push_back(range.last - range.first);
    return cut;
  };
  CHECK(sizes(32, 4) == std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(sizes(126, 4) == std::vector<std::int64_t>{31, 32, 32, 31});
  CHECK(sizes(4, 6) == std::vector<std::int64_t>{0, 1, 1, 1, 1, 0});
  CHECK(sizes(9, 4) == std::vector<std::int64_t>{2, 3, 2, 2});
  CHECK(sizes(3, 1) == std::vector<std::int64_t>{3});
  const std::vector<LayerRange> ranges = cut_layers(126, 4);
  CHECK(ranges.front().embedding);
  CHECK(!ranges.front().head);
  CHECK(ranges.back().head);
}

TEST_CASE("parallel: the iteration of a job consists of its schedule, its exchange and its update") {
  // Neither pipeline nor data parallelism: nothing but the passes and the update.
  const Scenario alone = with_entry(
      "model: llama-3-8b, sequence: 2048, batch: 1, accumulate: 4, recompute: full, "
      "parallel: {tensor: 8}");
  const ParallelJob job = job_of(alone, 8);
  const Time passes = evaluate(job.iteration.plan, job.iteration.costs()).makespan;
  CHECK(lone_iteration(alone, "m", 8) == passes + job.iteration.update[0]);
  // A pipeline adds the messages, no more than two for each micro-batch and rank, and the exchange.
  const Scenario pipeline = with_entry(
      "model: llama-3-8b, sequence: 2048, accumulate: 8, recompute: full, "
      "parallel: {tensor: 4, pipeline: 4, zero: 1}");
  const ParallelJob cut = job_of(pipeline, 64);
  const Time least = evaluate(cut.iteration.plan, cut.iteration.costs()).makespan;
  const Time iteration = lone_iteration(pipeline, "m", 64);
  CHECK(iteration > least);
  CHECK(iteration.to_seconds() < 1.1 * least.to_seconds());
}

TEST_CASE("parallel: folded, event by event, and with messages of single ranks it takes the same time") {
  for (const char* schedule : {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe"}) {
    const std::string members = fmt::format(
        "model: llama-3-8b, sequence: 1024, accumulate: 8, parallel: {{tensor: 2, pipeline: 4, {}zero: 1, schedule: "
        "{}}}",
        std::string{schedule} == "interleaved" ? "virtual: 2, " : "", schedule);
    const Scenario scenario = with_entry(members);
    const RunResult folded = run_scenario(scenario, 1);
    const RunResult events = run_scenario(with_entry(members, {"engine.leap=false"}), 1);
    REQUIRE(folded.jobs.size() == 1);
    CHECK(folded.jobs[0].finish == events.jobs[0].finish);
    CHECK(folded.leapt_events > 0);
  }
}

TEST_CASE("parallel: tokens and operations a second follow from the iteration") {
  const Scenario scenario = with_entry("model: llama-3-8b, sequence: 8192, recompute: selective, parallel: {zero: 3}");
  const RunResult run = run_scenario(scenario, 1);
  const JobResult& job = run.jobs.front();
  REQUIRE(job.notes.work);
  CHECK(job.notes.work->tokens == 64 * 8192);
  // 51,470,401,536 model flops a token with half of causal attention (Megatron-Bridge's count).
  CHECK(job.notes.work->model_flops == near(51'470'401'536.0 * 64 * 8192));
  CHECK(job.notes.work->peak_flops == near(989.5e12));
}

TEST_CASE("parallel: layers of the parts as they are given") {
  const auto layers_of = [](const std::string& parallel) {
    std::vector<std::int64_t> sizes;
    for (const LayerRange& each :
         job_of(with_entry("model: llama-3-8b, recompute: full, accumulate: 4, parallel: " + parallel), 64).stages)
      sizes.push_back(each.last - each.first);
    return sizes;
  };
  CHECK(layers_of("{tensor: 4, pipeline: 4, layers: [9, 9, 8, 6]}") == std::vector<std::int64_t>{9, 9, 8, 6});
  CHECK(layers_of("{tensor: 4, pipeline: 2, virtual: 2, schedule: interleaved, layers: [0, 16, 16, 0]}") ==
        std::vector<std::int64_t>{0, 16, 16, 0});
  const std::string entry = "model: llama-3-8b, accumulate: 4, parallel: {tensor: 4, pipeline: 4, layers: ";
  check_refused(entry + "[8, 8, 16]}", "training.m.parallel.layers: has 3 numbers: the model is cut into 4 parts");
  check_refused(entry + "[8, 8, 8, 9]}", "training.m.parallel.layers: add up to 33: the model has 32 layers");
  check_refused(entry + "[8, 0, 16, 8]}", "training.m.parallel.layers: part 1 of the model has no layer");
}

TEST_CASE("parallel: copies that are shared out by few GPUs keep gathers inside a server and hold more") {
  // Servers of eight GPUs behind one slow interface.
  const std::vector<std::string> slow{"network.nic=100Gbps", "cluster.gpu_memory=200GiB"};
  const auto scenario = [&](const std::string& parallel) {
    return with_entry("model: llama-3-8b, recompute: full, accumulate: 2, parallel: " + parallel, slow);
  };
  const auto job = [&](const std::string& parallel) { return job_of(scenario(parallel), 64); };
  const auto time = [&](const std::string& parallel) { return lone_iteration(scenario(parallel), "m", 64); };
  const ParallelJob all = job("{zero: 3}"), same = job("{zero: 3, shards: 64}"), server = job("{zero: 3, shards: 8}");
  CHECK(same.memory[0].total() == all.memory[0].total());
  CHECK(time("{zero: 3, shards: 64}") == time("{zero: 3}"));
  // An eighth of the weights and of the optimizer's states instead of 1/64.
  CHECK(server.memory[0].optimizer.count() == near(8.0 * static_cast<double>(all.memory[0].optimizer.count()), 1e-6));
  CHECK(server.iteration.update[0].to_seconds() == near(8 * all.iteration.update[0].to_seconds(), 0.01));
  CHECK(time("{zero: 3, shards: 8}") < time("{zero: 3}"));
  // One GPU a copy is no sharing: gradients are all-reduced as without, but layer by layer.
  CHECK(job("{zero: 1, shards: 1}").memory[0].total() == job("{zero: 0}").memory[0].total());
  CHECK(time("{zero: 1, shards: 1}") == time("{zero: 0}"));
  // Gradients of the copies are added up once an iteration, whatever the number of micro-batches.
  const std::string many = "model: llama-3-8b, recompute: full, accumulate: 8, parallel: {zero: 2, shards: 8}";
  const IterationGraph graph = training_graph(job_of(with_entry(many), 64).iteration);
  std::int64_t scattered = 0, added = 0, elements = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::collective) continue;
    if (op.collective == CollectiveKind::reduce_scatter) scattered += op.bytes.count();
    if (op.collective == CollectiveKind::all_reduce) added += op.bytes.count();
    if (op.collective == CollectiveKind::all_gather) elements += op.bytes.count() / 2;
  }
  CHECK(scattered == 8 * 4 * elements);
  CHECK(static_cast<double>(added) == near(4.0 / 8 * static_cast<double>(elements), 1e-6));
  check_refused("model: llama-3-8b, parallel: {zero: 3, shards: 24}",
                "training.m.parallel.shards: 24 does not divide the context 1 x data 64 = 64 ranks");
  check_refused("model: llama-3-8b, parallel: {shards: 8}", "training.m.parallel.shards: has no effect without zero");
  check_refused("model: mixtral-8x7b, parallel: {zero: 1, expert: 8, shards: 4}",
                "training.m.parallel.shards: tensor 1 x shards 4: expert 8 x expert_tensor 1 does not divide it");
}

TEST_CASE("parallel: copies, folded and event by event, take the same time") {
  for (const char* parallel : {"{zero: 3, shards: 16}", "{tensor: 2, pipeline: 2, zero: 1, shards: 4}"}) {
    const std::string members =
        fmt::format("model: llama-3-8b, sequence: 1024, recompute: full, accumulate: 4, parallel: {}", parallel);
    const RunResult folded = run_scenario(with_entry(members), 1);
    const RunResult events = run_scenario(with_entry(members, {"engine.leap=false"}), 1);
    REQUIRE(folded.jobs.size() == 1);
    CHECK(folded.jobs[0].finish == events.jobs[0].finish);
  }
}

TEST_CASE("parallel: a check warns of devices that have less memory than the GPUs of the cluster") {
  const auto warnings = [](const std::string& members) {
    const std::string parallel = "model: llama-3-8b, parallel: {tensor: 8, pipeline: 2, zero: 1";
    std::string all;
    for (const std::string& each : check_scenario(with_entry(parallel + members))) all += each + "\n";
    return all;
  };
  CHECK(warnings("}") == "");
  CHECK(
      warnings(", devices: [H100-SXM, A100-40GB]}") ==
      "cluster.gpu_memory: 80 GiB, and A100-40GB, the device of training.m, has 40 GiB; jobs that need more than that "
      "would not fit\n");
}
