// Launch files as members of a training entry, by hand.

#include "scenarios/launch/launch_file.hpp"

#include "sim/error.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const std::string kLaunch = R"(#!/bin/bash
# Llama on two servers --hidden-size 7
TP=8
GPUS_PER_NODE=8
MODEL_ARGS=(
    --num-layers 32 --hidden-size=4096   # --seq-length 3
    --num-attention-heads 32
    --group-query-attention --num-query-groups ${KV:-8}
    --swiglu --normalization RMSNorm --disable-bias-linear
    --vocab-size "128256"
    --seq-length 8192
)
torchrun --nproc_per_node $GPUS_PER_NODE pretrain_gpt.py "${MODEL_ARGS[@]}" \
    --tensor-model-parallel-size $TP --sequence-parallel --pipeline-model-parallel-size 2 \
    --num-layers-per-virtual-pipeline-stage 4 --use-distributed-optimizer \
    --micro-batch-size 1 --global-batch-size 128 --bf16 --lr 3e-4 --adam-beta1 0.9 \
    --recompute-granularity full --recompute-method block
)";

std::string launch_member(const LaunchEntry& read, const std::string& name) {
  const auto found = std::ranges::find(read.members, name, &std::pair<std::string, std::string>::first);
  return found == read.members.end() ? "" : found->second;
}

std::string launch_refusal(const std::string& text) {
  try {
    static_cast<void>(read_launch_files({{"run.sh", text}}));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("launch arguments: arguments of Megatron-LM become members") {
  const LaunchEntry read = read_launch_files({{"run.sh", kLaunch}});
  CHECK(launch_member(read, "transformer.layers") == "32");
  CHECK(launch_member(read, "transformer.hidden") == "4096");
  CHECK(launch_member(read, "transformer.key_value_heads") == "8");
  CHECK(launch_member(read, "transformer.vocabulary") == "128256");
  CHECK(launch_member(read, "transformer.gated") == "true");
  CHECK(launch_member(read, "transformer.norm") == "rms");
  CHECK(launch_member(read, "sequence") == "8192");
  CHECK(launch_member(read, "parallel.tensor") == "8");
  CHECK(launch_member(read, "parallel.sequence_parallel") == "true");
  // 32 layers on 2 ranks in chunks of 4.
  CHECK(launch_member(read, "parallel.virtual") == "4");
  CHECK(launch_member(read, "parallel.schedule") == "interleaved");
  CHECK(launch_member(read, "parallel.zero") == "1");
  CHECK(launch_member(read, "recompute") == "full");
  CHECK(launch_member(read, "dtype") == "bf16");
  // What Megatron-LM does where nothing is said.
  // 4 x 4096 x 2 / 3 = 10922, of which 170 times 64.
  CHECK(launch_member(read, "transformer.feed_forward") == "10880");
  CHECK(launch_member(read, "transformer.tied") == "true");
  CHECK(std::ranges::count(read.idle, "--lr") == 1);
  CHECK(std::ranges::count(read.idle, "--adam-beta1") == 1);
  REQUIRE(read.unknown.size() == 2);
  CHECK(contains(read.unknown.back().text, "without --overlap-grad-reduce"));
  CHECK(read.unknown.front().line == 17);
  CHECK(read.unknown.front().text == "--recompute-method block");
}

TEST_CASE("launch arguments: fp8 is the format of products, and groups of queries need their flag") {
  const LaunchEntry read = read_launch_files(
      {{"run.sh",
        "--num-layers 2 --hidden-size 64 --num-query-groups 2 --fp8-format hybrid --bf16 --optimizer muon "
        "--overlap-grad-reduce"}});
  CHECK(launch_member(read, "dtype") == "fp8");
  CHECK(launch_member(read, "transformer.key_value_heads").empty());
  REQUIRE(read.unknown.size() == 3);
  CHECK(read.unknown[0].text == "--optimizer muon");
  CHECK(contains(read.unknown[1].text, "biases"));
  CHECK(contains(read.unknown[2].text, "nothing says how large the vocabulary is"));
}

TEST_CASE("launch arguments: a list in one quoted line, and a value that an assignment is not") {
  const LaunchEntry read = read_launch_files(
      {{"run.sh",
        "MOE_ARGS=\"--num-experts 8 --moe-router-topk 2\"\n--num-layers 2 --hidden-size 64 --group-query-attention "
        "--attention-backend unfused --swiglu\nFOO=bar\n"}});
  CHECK(launch_member(read, "transformer.experts") == "8");
  CHECK(launch_member(read, "transformer.top_k") == "2");
  CHECK(launch_member(read, "transformer.gated") == "true");
  CHECK(launch_member(read, "transformer.feed_forward") == "128");  // 170, of which twice 64
  CHECK(launch_member(read, "transformer.key_value_heads") == "1");
  CHECK(read.unknown.front().text == "--attention-backend unfused");
}

TEST_CASE("launch files: torchtitan's TOML, as it is printed and as a pipeline divides it") {
  const std::string text = R"([model]
name = "llama3"
flavor = "70B"   # of the catalogue
converters = ["quantize.linear.float8"]
[training]
local_batch_size = 8
seq_len = 8192
max_norm = 1.0
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
enable_async_tensor_parallel = true
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatch_size = 2
strange_degree = 3
[activation_checkpoint]
mode = 'full'
[compile]
enable = true
components = ["model",
              "loss"]
)";
  const LaunchEntry read = read_launch_files({{"llama.toml", text}});
  CHECK(read.format == "torchtitan");
  CHECK(launch_member(read, "model") == "llama-3-70b");
  CHECK(launch_member(read, "batch") == "2");
  CHECK(launch_member(read, "accumulate") == "4");
  CHECK(launch_member(read, "sequence") == "8192");
  CHECK(launch_member(read, "dtype") == "fp8");
  CHECK(launch_member(read, "parallel.zero") == "3");
  CHECK(launch_member(read, "parallel.reshard") == "false");
  CHECK(launch_member(read, "parallel.sequence_parallel") == "true");
  CHECK(launch_member(read, "parallel.tensor_overlap") == "true");
  CHECK(launch_member(read, "parallel.schedule") == "interleaved");
  CHECK(launch_member(read, "recompute") == "full");
  CHECK(launch_member(read, "host") == "{like: torch-compile, clips: true}");
  REQUIRE(read.unknown.size() == 1);
  CHECK(read.unknown[0].line == 16);
  CHECK(read.unknown[0].text == "parallelism.strange_degree: 3");
  // Without a pipeline a GPU has its batch at once, and shards of its own over the context-parallel GPUs, too.
  const LaunchEntry flat = read_launch_files(
      {{"flat",
        "[model]\nname='llama3'\nflavor='8B'\n[training]\nlocal_batch_size=2\nseq_len=4096\n[parallelism]\n"
        "data_parallel_shard_degree=4\ncontext_parallel_degree=2\n"}});
  CHECK(launch_member(flat, "batch") == "2");
  CHECK(launch_member(flat, "accumulate").empty());
  CHECK(launch_member(flat, "parallel.shards") == "8");
  CHECK(launch_member(flat, "parallel.context_exchange") == "gathered-ring");
  CHECK(launch_member(flat, "recompute") == "operators");
  CHECK(launch_member(flat, "host") == "{like: torch, clips: true}");
}

TEST_CASE("launch files: DeepSpeed's JSON has no model, and what `auto` means stands elsewhere") {
  const std::string text =
      "{\n\t\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": "
      "\"auto\",\n\t\"gradient_accumulation_steps\": 4,\n"
      "\t\"bf16\": {\"enabled\": true},\n\t\"zero_optimization\": {\"stage\": 2, \"reduce_bucket_size\": 5e8,\n"
      "\t\"overlap_comm\": true, \"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}},\n"
      "\t\"optimizer\": {\"type\": \"Lamb\", \"params\": {\"lr\": 1e-4}}, \"sparse_attention\": {\"mode\": "
      "\"fixed\"}\n}\n";
  const LaunchEntry read = read_launch_files({{"ds.json", text}}, "llama-3-8b");
  CHECK(launch_member(read, "model") == "llama-3-8b");
  CHECK(launch_member(read, "global_batch") == "256");
  CHECK(launch_member(read, "accumulate").empty());  // follows from both batches and the GPUs of the job
  CHECK(launch_member(read, "dtype") == "bf16");
  CHECK(launch_member(read, "optimizer") == "lamb");
  CHECK(launch_member(read, "parallel.zero") == "2");
  CHECK(launch_member(read, "parallel.bucket") == "500000000");
  CHECK(launch_member(read, "parallel.offload") == "{optimizer: host}");
  REQUIRE(read.unknown.size() == 3);
  CHECK(read.unknown[0].text == "train_micro_batch_size_per_gpu: auto");
  CHECK(read.unknown[0].line == 2);
  CHECK(read.unknown[1].text == "sparse_attention.mode: fixed");
  CHECK(contains(read.unknown[2].text, "4 micro-batches and the GPUs of the job"));
  CHECK(std::ranges::count(read.idle, "optimizer.params.*") == 1);
  CHECK_THROWS_WITH_AS((void)read_launch_files({{"ds.json", text}}),
                       doctest::Contains("ds.json: says no model, or none of the catalogue (format deepspeed)"),
                       InputError);
}

TEST_CASE("launch files: Megatron-Bridge's YAML says what Megatron-LM's arguments say") {
  const LaunchEntry read = read_launch_files({{"conf.yaml", R"(model:
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 14336
  num_attention_heads: 32
  num_query_groups: 8
  vocab_size: 128256
  seq_length: 8192
  gated_linear_unit: true
  normalization: RMSNorm
  add_bias_linear: false
  share_embeddings_and_output_weights: true
  tensor_model_parallel_size: 8
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 4
  sequence_parallel: true
  context_parallel_size: 1
  recompute_granularity: full
  recompute_method: null
train: {micro_batch_size: 1, global_batch_size: 128, train_iters: 10}
ddp: {use_distributed_optimizer: true, overlap_grad_reduce: true}
mixed_precision: bf16_with_mxfp8_mixed
)"}});
  LaunchEntry of_arguments = read_launch_files({{"run.sh", kLaunch + "--overlap-grad-reduce --fp8-format hybrid"}});
  const auto sorted = [](LaunchEntry entry) {
    std::ranges::sort(entry.members);
    return entry.members;
  };
  for (auto& [member, value] : of_arguments.members)
    if (member == "transformer.feed_forward") value = "14336";
  CHECK(sorted(read) == sorted(of_arguments));
  CHECK(read.unknown.empty());
}

TEST_CASE("launch files: SimuMax and Calculon have files of models and of strategies") {
  const std::string model =
      R"({"hidden_size": 4096, "head_num": 32, "kv_head_num": 8, "head_size": 128, "intermediate_size": 14336,
 "layer_num": 32, "expert_num": 8, "topk": 2, "vocab_size": 32000, "use_swiglu": true})";
  const std::string strategy =
      R"({"seq_len": 4096, "micro_batch_size": 1, "micro_batch_num": 8, "dtype": "bf16", "world_size": 8, "tp_size": 1,
 "pp_size": 2, "ep_size": 4, "enable_sequence_parallel": true, "interleaving_size": 1, "zero_state": 1,
 "enable_recompute": false, "recompute_granularity": "full_block", "use_fp32_accum_grad": false})";
  const LaunchEntry read = read_launch_files({{"model.json", model}, {"strategy.json", strategy}});
  CHECK(read.format == "simumax");
  CHECK(launch_member(read, "transformer.experts") == "8");
  CHECK(launch_member(read, "accumulate") == "8");
  CHECK(launch_member(read, "parallel.pipeline") == "2");
  CHECK(launch_member(read, "parallel.tensor").empty());
  CHECK(launch_member(read, "parallel.sequence_parallel").empty());
  CHECK(launch_member(read, "parallel.gradient_bytes") == "2");
  CHECK(launch_member(read, "recompute").empty());
  CHECK(read.unknown.empty());
  const LaunchEntry calculon = read_launch_files(
      {{"1T.json",
        R"({"hidden": 25600, "feedforward": 102400, "seq_size": 2048, "attn_heads": 160, "attn_size": 160, "num_blocks": 128})"},
       {"run.json", R"({"num_procs": 512, "tensor_par": 8, "pipeline_par": 64, "data_par": 1, "batch_size": 512,
 "microbatch_size": 1, "datatype": "float16", "activation_recompute": "attn_only", "pipeline_interleaving": 1,
 "optimizer_sharding": false, "tensor_par_comm_type": "rs_ag", "data_par_overlap": true, "weight_offload": true, "x": 1})"}});
  CHECK(launch_member(calculon, "transformer.head_size") == "160");
  CHECK(launch_member(calculon, "transformer.vocabulary") == "51200");
  CHECK(launch_member(calculon, "recompute") == "selective");
  CHECK(launch_member(calculon, "parallel.sequence_parallel") == "true");
  CHECK(launch_member(calculon, "parallel.offload") == "{weights: host}");
  REQUIRE(calculon.unknown.size() == 1);
  CHECK(calculon.unknown[0].text == "x: 1");
  CHECK_THROWS_WITH_AS((void)read_launch_files({{"model.json", model}, {"c.json", R"({"tensor_par": 8})"}}),
                       doctest::Contains("is a file of calculon, and the one before is a file of simumax"), InputError);
}

TEST_CASE("launch files: a value that no row has is not idle with all settings of its table") {
  const LaunchEntry read = read_launch_files({{"ds.json", R"({"bf16": {"enabled": "auto"}, "fp16": {"loss_scale": 0},
 "zero_optimization": {"stage": 3}, "activation_checkpointing": {"cpu_checkpointing": true}})"}},
                                             "llama-3-8b");
  REQUIRE(read.unknown.size() == 2);  // and at stage 3 gradients are exchanged beside the backward pass
  CHECK(read.unknown[0].text == "bf16.enabled: auto");
  CHECK(read.unknown[1].text == "activation_checkpointing.cpu_checkpointing: true");
  CHECK(std::ranges::count(read.idle, "fp16.*") == 1);
}

TEST_CASE("launch arguments: lists of quoted pairs, statements that end, and variables made of others") {
  const LaunchEntry read = read_launch_files({{"run.sh", R"(WIDTH=${WIDTH:-64}
TP=$WIDTH
MODEL=("--num-layers 2" "--hidden-size $WIDTH" --vocab-size 128 --manual-gc)
if [ 1 ]; then
  MODEL+=("--fp8-format hybrid" --fp8-param-gather)
fi
torchrun train.py ${MODEL[@]} --num-attention-heads \
  ${HEADS:-4} --strange
echo done
)"}});
  CHECK(launch_member(read, "transformer.hidden") == "64");
  CHECK(launch_member(read, "transformer.heads") == "4");
  CHECK(launch_member(read, "dtype") == "fp8");
  REQUIRE(read.unknown.size() == 5);
  CHECK(read.unknown[0].text == "--manual-gc");
  CHECK(read.unknown[1].text == "--fp8-param-gather");
  CHECK(read.unknown[2].text == "--strange");
}

TEST_CASE("launch files: torchtitan without shards, with two parts a rank, and what is computed again") {
  const auto of = [](const std::string& text) {
    return read_launch_files({{"t.toml", "[model]\nname = 'llama3'\nflavor = '8B'\n" + text}});
  };
  const LaunchEntry whole =
      of("[parallelism]\ndata_parallel_shard_degree = 1\n[activation_checkpoint]\nmode = 'none'\n");
  CHECK(launch_member(whole, "parallel.zero") == "0");
  CHECK(launch_member(whole, "runtime").empty());
  CHECK(launch_member(whole, "batch") == "8");
  CHECK(launch_member(whole, "sequence") == "2048");
  CHECK(whole.unknown.empty());
  const LaunchEntry parts =
      of("[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = 'Interleaved1F1B'\n[compile]\n"
         "enable = true\ncomponents = ['loss']\n[activation_checkpoint]\nmode = 'selective'\n");
  CHECK(launch_member(parts, "parallel.virtual") == "2");
  CHECK(launch_member(parts, "pointwise") == "eager");
  REQUIRE(parts.unknown.size() == 1);
  CHECK(contains(parts.unknown[0].text, "every second layer"));
  CHECK(launch_member(of("[optimizer]\nearly_step_in_backward = true\n"), "runtime").empty());
  CHECK_THROWS_WITH_AS((void)of("[training]\nseq_len = 1\nseq_len = 2\n"),
                       doctest::Contains("t.toml:6: seq_len: is given twice in [training]"), InputError);
}

TEST_CASE("launch files: a text that is no launch file") {
  CHECK_THROWS_WITH_AS(
      (void)read_launch_files({{"a.json", R"({"a": 1})"}}),
      doctest::Contains("is no launch file: it has none of the settings of megatron, nemo, torchtitan"), InputError);
  CHECK_THROWS_WITH_AS((void)read_launch_files({{"a.toml", "[model]\nflavor\n"}}), doctest::Contains("a.toml:2"),
                       InputError);
  CHECK_THROWS_AS((void)read_launch_files({{"a.yaml", "a: [1\n"}}), InputError);
  CHECK_THROWS_WITH_AS((void)read_launch_files({{"a.json", R"({"tp_size": "two", "layer_num": 2, "hidden_size": 8})"}}),
                       doctest::Contains("tp_size: expected a whole number, 1 to 2147483647, got \"two\""), InputError);
}

TEST_CASE("launch arguments: what can't be read is refused with its line") {
  CHECK(contains(launch_refusal("echo hello"), "says no model"));
  CHECK(contains(launch_refusal("\n--num-layers many --hidden-size 64"), "run.sh:2"));
  CHECK(contains(launch_refusal("\n--num-layers many --hidden-size 64"), "got \"many\""));
  CHECK(contains(launch_refusal("--num-layers $L --hidden-size 64"), "nothing says the value of $L"));
  CHECK(contains(launch_refusal("--num-layers 4294967296000 --hidden-size 64"), "1 to 2147483647"));
  CHECK(contains(launch_refusal("--num-layers 12 --hidden-size 64 --num-layers-per-virtual-pipeline-stage 5"),
                 "the 12 layers of a pipeline rank are no whole chunks of 5"));
}

TEST_CASE("launch arguments: text that a script adds to a variable is read") {
  const LaunchEntry read = read_launch_files({{"run.sh", R"(ARGS="--num-layers 2 --hidden-size 64"
ARGS+=" --swiglu --strange"
ARGS="$ARGS --vocab-size 128"
ARGS="${ARGS} --bf16"
CMD="python train.py --optimizer sgd"
TP=1
TP+=6
torchrun train.py $ARGS --tensor-model-parallel-size $TP
)"}});
  CHECK(launch_member(read, "transformer.gated") == "true");
  CHECK(launch_member(read, "transformer.vocabulary") == "128");
  CHECK(launch_member(read, "dtype") == "bf16");
  CHECK(launch_member(read, "optimizer") == "sgd");
  CHECK(launch_member(read, "parallel.tensor") == "16");
  REQUIRE(!read.unknown.empty());
  CHECK(read.unknown[0].text == "--strange");
  CHECK(read.unknown[0].line == 2);
}

TEST_CASE("launch files: the strategy of shards counts with Megatron's FSDP") {
  const auto zero = [](const std::string& text, bool is_noted = false) {
    const LaunchEntry read =
        read_launch_files({{"conf.yaml", "model: {num_layers: 2, hidden_size: 64, vocab_size: 128}\n" + text}});
    const auto count = std::ranges::count_if(read.unknown, [](const auto& each) {
      return contains(each.text, "counts only where Megatron's FSDP is used");
    });
    CHECK(count == (is_noted ? 1 : 0));
    return launch_member(read, "parallel.zero");
  };
  CHECK(zero("ddp: {data_parallel_sharding_strategy: no_shard, use_megatron_fsdp: true}\n") == "0");
  CHECK(zero("ddp: {data_parallel_sharding_strategy: optim, use_megatron_fsdp: true}\n") == "1");
  CHECK(zero("ddp: {data_parallel_sharding_strategy: optim_grads, use_megatron_fsdp: true}\n") == "2");
  CHECK(zero("ddp: {data_parallel_sharding_strategy: optim_grads_params, use_megatron_fsdp: true}\n") == "3");
  CHECK(zero("dist: {use_megatron_fsdp: true}\n") == "3");
  CHECK(zero("ddp: {use_distributed_optimizer: true, data_parallel_sharding_strategy: no_shard}\n") == "1");
  CHECK(zero("ddp: {use_distributed_optimizer: true, data_parallel_sharding_strategy: optim_grads}\n", true) == "1");
  const auto megatron = [](const std::string& text) {
    return launch_member(
        read_launch_files({{"run.sh", "--num-layers 2 --hidden-size 64 --data-parallel-sharding-strategy " + text}}),
        "parallel.zero");
  };
  CHECK(megatron("no_shard --use-megatron-fsdp") == "0");
  CHECK(megatron("optim --use-megatron-fsdp") == "1");
  CHECK(megatron("optim_grads --use-custom-fsdp") == "2");
  CHECK(megatron("optim_grads_params --use-megatron-fsdp") == "3");
  CHECK(megatron("optim_grads_params") == "0");
}

TEST_CASE("launch files: NeMo's precisions, and names of its tables that nobody knows") {
  const auto read = [](const std::string& text) {
    return read_launch_files({{"c.yaml", "model: {num_layers: 2, hidden_size: 64}\n" + text}});
  };
  const std::pair<const char*, const char*> kPrecisions[] = {{"trainer: {precision: bf16}", "bf16"},
                                                             {"trainer: {precision: bf16-true}", "bf16"},
                                                             {"trainer: {precision: 16}", "fp16"},
                                                             {"trainer: {precision: 16-mixed}", "fp16"},
                                                             {"mixed_precision: bf16_mixed", "bf16"},
                                                             {"mixed_precision: 16_mixed", "fp16"},
                                                             {"mixed_precision: bf16_with_mxfp8_mixed", "fp8"},
                                                             {"mixed_precision: bf16_with_nvfp4_mixed", "fp4"},
                                                             {"mixed_precision: {bf16: true, fp8: hybrid}", "fp8"}};
  for (const auto& [text, dtype] : kPrecisions) CHECK(launch_member(read(text), "dtype") == dtype);
  CHECK(launch_member(read("mixed_precision: {bf16: true, grad_reduce_in_fp32: false}"), "parallel.gradient_bytes") ==
        "2");
  const LaunchEntry strange =
      read("dist: {use_sharp: true, local_rank: 0, strange: 1}\ntrainer: {devices: 8, odd: 2}\n");
  REQUIRE(strange.unknown.size() >= 3);
  CHECK(strange.unknown[0].text == "dist.use_sharp: true");
  CHECK(strange.unknown[1].text == "dist.strange: 1");
  CHECK(strange.unknown[2].text == "trainer.odd: 2");
  CHECK(std::ranges::count(strange.idle, "trainer.devices") == 1);
}

TEST_CASE("launch files: what of a model is computed again, and what lies outside of the GPUs") {
  const auto simumax = [](const std::string& text) {
    return read_launch_files({{"s.json", "{\"tp_size\": 1, \"zero_state\": 1, " + text + "}"}}, "llama-3-8b");
  };
  CHECK(launch_member(simumax(R"("enable_recompute": true, "recompute_granularity": "full_block")"), "recompute") ==
        "full");
  CHECK(launch_member(simumax(R"("enable_recompute": true, "recompute_granularity": "sdp_only")"), "recompute") ==
        "selective");
  CHECK(launch_member(simumax(R"("enable_recompute": true, "recompute_granularity": "mlp_only")"), "recompute") ==
        "[mlp]");
  CHECK(launch_member(simumax(R"("enable_recompute": true, "recompute_granularity": "full_block",
 "recompute_layer_num": 0)"),
                      "recompute")
            .empty());
  const LaunchEntry some = simumax(R"("enable_recompute": true, "recompute_granularity": "full_block",
 "recompute_layer_num": 3)");
  REQUIRE(some.unknown.size() == 1);
  CHECK(some.unknown[0].text == "recompute_layer_num: 3");
  const auto offload = [](const std::string& text) {
    return launch_member(
        read_launch_files({{"d.json", "{\"zero_optimization\": {\"stage\": 3, " + text + "}}"}}, "llama-3-8b"),
        "parallel.offload");
  };
  CHECK(offload(R"("offload_optimizer": {"device": "nvme"})") == "{optimizer: nvme}");
  CHECK(offload(R"("offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "cpu"})") ==
        "{optimizer: host, weights: host}");
  CHECK(offload(R"("offload_param": {"device": "none"})").empty());
}

TEST_CASE("launch files: batches of whole micro-batches, buckets of any size, gradients behind the backward pass") {
  const auto deepspeed = [](const std::string& text) {
    return read_launch_files({{"d.json", "{" + text + "}"}}, "llama-3-8b");
  };
  const LaunchEntry three =
      deepspeed(R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4,
 "zero_optimization": {"stage": 3, "overlap_comm": false, "reduce_bucket_size": 5e9})");
  CHECK(launch_member(three, "global_batch") == "64");
  CHECK(launch_member(three, "parallel.bucket") == "5000000000");
  REQUIRE(three.unknown.size() == 2);
  CHECK(contains(three.unknown[0].text, "gradient_accumulation_steps: 4 holds on 8 data-parallel GPUs"));
  CHECK(contains(three.unknown[1].text, "without zero_optimization.overlap_comm: true gradients are exchanged behind"));
  CHECK_THROWS_WITH_AS((void)deepspeed(R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 3)"),
                       doctest::Contains("the global batch of 64 samples is no whole number of micro-batches of 3"),
                       InputError);
  CHECK_THROWS_WITH_AS(
      (void)deepspeed(
          R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3)"),
      doctest::Contains("is no whole number of micro-batches of 6"), InputError);
  CHECK_THROWS_WITH_AS((void)deepspeed(R"("zero_optimization": {"stage": 1, "reduce_bucket_size": 2e15})"),
                       doctest::Contains("expected a whole number, 1 to 1125899906842624"), InputError);
  CHECK_THROWS_WITH_AS(
      (void)read_launch_files({{"t.toml",
                                "[model]\nname='llama3'\nflavor='8B'\n[training]\nlocal_batch_size=8\n[parallelism]\n"
                                "pipeline_parallel_degree=2\npipeline_parallel_microbatch_size=3\n"}}),
      doctest::Contains("training.local_batch_size of 8 samples is no whole number of micro-batches of 3"), InputError);
}

TEST_CASE("launch files: torchtitan's own order of passes, its parts that are compiled, and its usual recomputation") {
  const auto of = [](const std::string& text) {
    return read_launch_files({{"t.toml", "[model]\nname = 'llama3'\nflavor = '8B'\n" + text}});
  };
  const LaunchEntry own =
      of("[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = 'PipelineScheduleMulti'\n"
         "pipeline_parallel_schedule_csv = 'order.csv'\n[compile]\nenable = true\ncomponents = []\n");
  CHECK(launch_member(own, "parallel.schedule") == "file");
  CHECK(launch_member(own, "parallel.order") == "order.csv");
  CHECK(launch_member(own, "pointwise") == "eager");
  REQUIRE(own.unknown.size() == 1);
  CHECK(contains(own.unknown[0].text, "every second layer"));
  const LaunchEntry compiled = of("[compile]\nenable = true\ncomponents = ['loss', 'model', 'odd']\n");
  CHECK(launch_member(compiled, "pointwise") == "compiled");
  CHECK(std::ranges::any_of(compiled.unknown,
                            [](const auto& each) { return contains(each.text, "compile.components: odd"); }));
  CHECK(of("[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = 'op'\n").unknown.empty());
}
