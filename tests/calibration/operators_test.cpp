// The least work of each operator, by hand.

#include "calibration/operators.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Case {
  std::string name;
  std::vector<std::int64_t> shape;
  double bytes, flops;
  DataType type = DataType::fp32;
};

}  // namespace

TEST_CASE("the least bytes and operations of each operator") {
  const std::vector<Case> cases = {
      {"launch", {7}, 0, 0},
      {"copy", {100}, 200, 0},
      {"read", {100}, 100, 0},
      // 2 products of 3 x 7 and 7 x 5: 21 + 35 values read and 15 written each.
      {"gemm", {2, 3, 5, 7}, 2 * 4 * 71, 2 * 2 * 105},
      {"gemm", {2, 3, 5, 7}, 2 * 2 * 71, 2 * 2 * 105, DataType::bf16},
      {"gemm", {2, 3, 5, 7}, 2 * (56 + 2 * 15), 2 * 2 * 105, DataType::fp8},
      {"gemm_beside_reduce", {2, 3, 5, 7, 16}, 2 * 4 * 71, 2 * 2 * 105},
      {"reduce_beside_gemm", {2, 3, 5, 7, 16}, 3.0 * 64 * 1024 * 1024, 16.0 * 1024 * 1024},
      // 9 x 8 in steps of 2 under 3 x 2, one row added above and below: 5 x 4 positions. Input, output, weights.
      {"convolution", {2, 3, 9, 8, 4, 3, 2, 2, 1, 0}, 4 * (432 + 160 + 72), 2 * 160 * 3 * 6},
      // 30 rows of 7 in each of Q, K, V and the output; two products with 5 others.
      {"attention", {2, 3, 3, 5, 7}, 4 * 2 * 210, 2 * 2 * 30 * 5 * 7, DataType::fp16},
      {"attention_backward", {2, 3, 3, 5, 7}, 8 * 2 * 210, 5 * 2 * 30 * 5 * 7, DataType::fp16},
      // One head of keys and values: 10 rows of 7 in each. A query sees 3 of 5 keys in the mean.
      {"causal_attention", {2, 3, 1, 5, 7}, 2 * (2 * 210 + 2 * 70), 2 * 2 * 30 * 3 * 7, DataType::fp16},
      {"activation", {10}, 2 * 2 * 10, 10, DataType::fp16},
      {"batch_norm", {2, 3, 5}, 3 * 4 * 30, 5 * 30},
      {"column_sum", {4, 6}, 2 * 24 + 4 * 6, 24, DataType::bf16},
      {"layer_norm_backward", {4, 6}, 3 * 4 * 24, 10 * 24},
      // 384 values in, a quarter out.
      {"pooling", {2, 3, 8, 8, 3, 2}, 4 * (384 + 96), 384},
      // Five rows of six read and written, five indices of 8 bytes.
      {"embedding", {100, 6, 5}, 2 * 4 * 30 + 8 * 5, 0},
      {"embedding_backward", {100, 6, 5}, 2 * 2 * 30 + 8 * 5 + 4 * 600, 0, DataType::fp16},
      // Pairs of a value and an index of 4 bytes each; drawn ones are read with their index and written as well.
      {"top_k", {100, 5}, 400 + 40, 100},
      {"random_k", {100, 5}, 60, 0},
      {"scatter_add", {100, 5}, 400 + 60, 5},
      // Gradient and weights of 2 bytes, weights of 4 and two moments read and written.
      {"adam_mixed", {10}, 10 * (2 + 2 + 3 * 8), 120},
      {"cast_transpose", {8, 4}, 32 * (2 + 1 + 1), 64, DataType::bf16},
      {"sign_pack", {80}, 320 + 10, 80},
      {"quantize8", {80}, 320 + 80, 80},
      {"dequantize4", {80}, 320 + 40, 80},
      // M is 40 x 10, P 40 x 4, Q 10 x 4.
      {"low_rank_p", {40, 10, 4}, 4 * (400 + 160 + 40), 2 * 1600},
      // 40 x 3, read and written; each column against each.
      {"orthogonalize", {40, 3}, 2 * 4 * 120, 2 * 40 * 9},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const OperatorInfo* info = find_operator(each.name);
    REQUIRE(info != nullptr);
    REQUIRE(info->dimensions.size() == each.shape.size());
    const OperatorWork work = info->work(each.shape, each.type);
    CHECK(work.bytes == near(each.bytes));
    CHECK(work.flops == near(each.flops));
  }
}
