// Times of the operators of experts and of latent attention on a device whose kernels were measured, and what casts
// move by framework.

#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "tests/devices.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// An H100 with kernels of round figures.
Device measured_device() {
  Device device = h100();
  device.kernels.source = "test";
  device.kernels.start = Time::microseconds(2);
  device.kernels.memory = 0.8;
  device.kernels.products[static_cast<std::size_t>(DataType::bf16)] = {0.8, 200, 1.5};
  for (AttentionShare& each : device.kernels.attention) each = {0.9, 100, 1000};
  return device;
}

}  // namespace

TEST_CASE("latent attention: a score is a product of 192 numbers and one of 128, and takes what one of 160 does") {
  const Device device = measured_device();
  RooflineOptions options;
  options.sheet = true;
  const auto forward = [&](std::int64_t query_size, std::int64_t value_size) {
    TransformerOperator each;
    each.kind = OperatorKind::fused_attention;
    each.count = 128;
    each.m = each.n = 4096;
    each.k = query_size;
    each.value_size = value_size;
    each.forward = {0.5 * 2 * 128 * 4096.0 * 4096 * static_cast<double>(query_size + value_size), 0, 1};
    return operator_times(std::vector{each}, device, options).forward;
  };
  CHECK(forward(192, 128) == forward(160, 160));
  CHECK(forward(192, 128) * 6 > forward(192, 192) * 5);
}

TEST_CASE("a mixture: products of experts one by one fill the device worse than all in one kernel") {
  const TransformerModel& model = *find_transformer("deepseek-v2");
  MicroBatch work;
  work.sequence = 4096;
  work.split.expert = 4;  // 615 rows for each of 40 experts
  const auto time = [&](bool apart) {
    work.separate_experts = apart;
    RooflineOptions options;
    options.sheet = true;
    std::vector<TransformerOperator> products;
    for (const TransformerOperator& each : transformer_operators(model, 5, work))
      if (each.name == "expert_up") products.push_back(each);
    return operator_times(products, measured_device(), options);
  };
  const OperatorTimes together = time(false), apart = time(true);
  CHECK(apart.forward > together.forward);
  CHECK(apart.input_gradient > together.input_gradient);
  CHECK(apart.forward < together.forward * 2);
}

TEST_CASE("a mixture: what is launched one by one are as many kernels, which share the work") {
  const TransformerModel& model = *find_transformer("mixtral-8x7b");
  MicroBatch work;
  work.sequence = 4096;
  work.split.expert = 4;
  const auto named = [&](std::string_view name) {
    for (const TransformerOperator& each : transformer_operators(model, 3, work))
      if (each.name == name && (each.part == LayerPart::experts || name != "cast")) return each;
    return TransformerOperator{};
  };
  const TransformerOperator together = named("expert_up");
  CHECK(together.forward.kernels == 1);
  CHECK(named(kRouting).forward.kernels == 0);
  work.separate_experts = true;
  work.routing_kernels = 59;
  CHECK(named("expert_up").weight_gradient.kernels == 2);
  CHECK(named("expert_up").kernels_of_group == 2);
  CHECK(named("expert_up").forward.flops == together.forward.flops);
  CHECK(named("router").forward.kernels == 1);
  CHECK(named(kRouting).forward.kernels == 59);
  CHECK(named(kRouting).input_gradient.bytes == 59 * 2 * 4.0 * 4096 * 8);
  work.type = DataType::fp8;
  CHECK(named("cast").forward.kernels == 4);  // of rows and of weights
  CHECK(named("cast").input_gradient.kernels == 2);
}

TEST_CASE("torchao reads inputs and gradients once more to scale fp8, Transformer Engine's delayed scales don't") {
  MicroBatch work;
  work.sequences = 2;
  work.sequence = 64;
  work.type = DataType::fp8;
  const auto cast = [&](PointwiseKernels kernels) {  // of queries, keys and values, the first
    work.pointwise = kernels;
    const auto layer = transformer_operators(*find_transformer("llama-3-8b"), 0, work);
    const auto found = std::ranges::find(layer, "cast", &TransformerOperator::name);
    REQUIRE(found != layer.end());
    return *found;
  };
  const TransformerOperator fused = cast(PointwiseKernels::fused), compiled = cast(PointwiseKernels::compiled);
  constexpr double kRows = 128, kInputs = 4096, kOutputs = 6144;
  CHECK(fused.forward.bytes == 4 * (kRows * kInputs + kInputs * kOutputs));
  CHECK(compiled.forward.bytes - fused.forward.bytes == 2 * kRows * kInputs);
  CHECK(compiled.input_gradient.bytes - fused.input_gradient.bytes == 2 * kRows * kOutputs);
  CHECK(compiled.forward.kernels == fused.forward.kernels + 1);
}

TEST_CASE("a compiler adds up the gradients of an input in one kernel; products that are one have nothing to add up") {
  MicroBatch work;
  work.sequences = 2;
  work.sequence = 64;
  const auto sums = [&](PointwiseKernels kernels) {
    work.pointwise = kernels;
    LayerWork sum;
    for (const TransformerOperator& each : transformer_operators(*find_transformer("llama-3-8b"), 0, work)) {
      if (each.name != "qkv_gradients" && each.name != "up_gradients") continue;
      CHECK(each.forward.kernels + each.weight_gradient.kernels == 0);
      sum.bytes += each.input_gradient.bytes;
      sum.kernels += each.input_gradient.kernels;
    }
    return sum;
  };
  CHECK(sums(PointwiseKernels::fused).kernels == 0);
  CHECK(sums(PointwiseKernels::compiled).kernels == 2);
  CHECK(sums(PointwiseKernels::compiled).bytes == (3 + 1 + 2 + 1) * 2 * 128.0 * 4096);
  CHECK(sums(PointwiseKernels::eager).kernels == 3);
}
