// Arguments of Megatron-LM as members of a training entry, by hand.

#include "traces/launch_arguments.hpp"

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

std::string launch_member(const LaunchArguments& read, const std::string& name) {
  const auto found = std::ranges::find(read.members, name, &std::pair<std::string, std::string>::first);
  return found == read.members.end() ? "" : found->second;
}

std::string launch_refusal(const std::string& text) {
  try {
    static_cast<void>(parse_launch_arguments(text, "run.sh"));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("launch arguments: those of Megatron-LM become members") {
  const LaunchArguments read = parse_launch_arguments(kLaunch, "run.sh");
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
  const LaunchArguments read = parse_launch_arguments(
      "--num-layers 2 --hidden-size 64 --num-query-groups 2 --fp8-format hybrid --bf16 --optimizer muon "
      "--overlap-grad-reduce",
      "run.sh");
  CHECK(launch_member(read, "dtype") == "fp8");
  CHECK(launch_member(read, "transformer.key_value_heads").empty());
  REQUIRE(read.unknown.size() == 2);
  CHECK(read.unknown.front().text == "--optimizer muon");
  CHECK(contains(read.unknown.back().text, "biases"));
}

TEST_CASE("launch arguments: a list in one quoted line, and a value that an assignment is not") {
  const LaunchArguments read = parse_launch_arguments(
      "MOE_ARGS=\"--num-experts 8 --moe-router-topk 2\"\n--num-layers 2 --hidden-size 64 --group-query-attention "
      "--attention-backend unfused --swiglu\nFOO=bar\n",
      "run.sh");
  CHECK(launch_member(read, "transformer.experts") == "8");
  CHECK(launch_member(read, "transformer.top_k") == "2");
  CHECK(launch_member(read, "transformer.gated") == "true");
  CHECK(launch_member(read, "transformer.feed_forward") == "128");  // 170, of which twice 64
  CHECK(launch_member(read, "transformer.key_value_heads") == "1");
  CHECK(read.unknown.front().text == "--attention-backend unfused");
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
