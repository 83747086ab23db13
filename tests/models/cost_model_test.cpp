#include "models/cost_model.hpp"

#include "models/catalogue/builder.hpp"
#include "models/catalogue/catalogue.hpp"
#include "sim/error.hpp"
#include "tests/devices.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

// 1 TFLOPS in fp32, 2 on tensor cores in fp16, 100 GB/s.
Device round_device() {
  Device device;
  device.name = "round";
  device.tflops[static_cast<std::size_t>(DataType::fp32)] = 1;
  device.tflops[static_cast<std::size_t>(DataType::fp16)] = 2;
  device.tflops[static_cast<std::size_t>(DataType::int8)] = 4;
  device.matrix_unit[static_cast<std::size_t>(DataType::fp16)] = true;
  device.memory_bandwidth = ByteRate{100e9};
  device.memory = Bytes::mebibytes(1024);
  return device;
}

// Everything at its peak and nothing between kernels.
RooflineOptions ideal() {
  RooflineOptions options;
  options.matrix_unit_efficiency = options.vector_efficiency = options.memory_efficiency = 1;
  options.ramp = options.launch_overhead = Time{};
  return options;
}

LayerTable two_linear() {
  NetworkBuilder net{"net", "test", "vector of 1000"};
  const Feature x = net.linear("first", {1000}, 1000, Bias::no);
  net.linear("second", net.activation("relu", x), 1000, Bias::no);
  return net.take();
}

Time ns(std::int64_t value) {
  return Time::nanoseconds(value);
}

/// 4 units, 1 TFLOP/s in bf16, 1,000 GB/s; kernels reach all of both.
Device tiled_device() {
  Device device = round_device();
  device.tflops[static_cast<std::size_t>(DataType::bf16)] = 1;
  device.tflops[static_cast<std::size_t>(DataType::fp8)] = 2;
  device.matrix_unit[static_cast<std::size_t>(DataType::bf16)] = true;
  device.matrix_unit[static_cast<std::size_t>(DataType::fp8)] = true;
  device.units = 4;
  device.kernels.source = "test";
  device.kernels.memory = 1;
  device.kernels.products[static_cast<std::size_t>(DataType::bf16)].share = 1;
  return device;
}

double share_of(const Device& device, const KernelShape& shape, DataType type = DataType::bf16) {
  RooflineOptions options;
  options.sheet = true;
  options.type = type;
  return efficiency(1, device, options, shape);
}

std::string failure(const LayerTable& table, const Device& device, int batch, const RooflineOptions& options) {
  try {
    (void)roofline_times(table, device, batch, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a roofline by hand, bound by memory and by compute") {
  // Batch 10. Linear: 2e6 x 10 flops = 20 us; 1e6 weights + 2 x 1e4 activations, 4 bytes each = 4.08 MB = 40.8 us.
  // ReLU: 2 x 1e4 x 4 = 80 kB = 0.8 us forward, 1.2 us backward (gradient in, input, gradient out).
  const TimedModel small = roofline_times(two_linear(), round_device(), 10, ideal());
  REQUIRE(small.layers.size() == 3);
  CHECK(small.name == "net");
  CHECK(small.device == "round");
  CHECK(small.batch == 10);
  CHECK(small.layers[0].forward == ns(40'800));
  CHECK(small.layers[0].backward == ns(40'800));  // weights only: nothing before needs a gradient
  CHECK(small.layers[1].forward == ns(800));
  CHECK(small.layers[1].backward == ns(1'200));
  CHECK(small.layers[2].backward == ns(81'600));
  CHECK(small.layers[0].origin == "roofline round fp32: forward bound by memory, backward by memory");
  CHECK(small.gradient() == Bytes{8'000'000});

  // Batch 1000: 2e9 flops = 2 ms, while 12 MB take 120 us.
  const TimedModel large = roofline_times(two_linear(), round_device(), 1000, ideal());
  CHECK(large.layers[0].forward == ns(2'000'000));
  CHECK(large.layers[2].backward == ns(4'000'000));
  CHECK(large.layers[2].origin == "roofline round fp32: forward bound by compute, backward by compute");
}

TEST_CASE("number formats change peak, traffic and gradients") {
  RooflineOptions options = ideal();
  options.type = DataType::fp16;
  const TimedModel half = roofline_times(two_linear(), round_device(), 1000, options);
  CHECK(half.layers[0].forward == ns(1'000'000));
  CHECK(half.layers[1].forward == ns(40'000));  // 2e6 activations of 2 bytes
  CHECK(half.gradient() == Bytes{4'000'000});
  options.gradient_element_bytes = 4;  // fp32 gradients of mixed precision
  CHECK(roofline_times(two_linear(), round_device(), 1000, options).gradient() == Bytes{8'000'000});

  Device fp8_device = round_device();
  fp8_device.tflops[static_cast<std::size_t>(DataType::fp8)] = 4;
  options = ideal();
  options.type = DataType::fp8;
  const TimedModel fp8 = roofline_times(two_linear(), fp8_device, 1000, options);
  CHECK(fp8.layers[0].forward == ns(500'000));
  CHECK(fp8.layers[1].forward == ns(40'000));  // activations stay in 2 bytes
  CHECK(fp8.gradient_element_bytes == 2);
}

TEST_CASE("efficiency: half at the work of one ramp, the limit for large kernels") {
  RooflineOptions options = ideal();
  options.vector_efficiency = 0.5;
  options.matrix_unit_efficiency = 0.8;
  options.ramp = Time::microseconds(10);
  const Device device = round_device();
  CHECK(efficiency(5e6, device, options) == near(0.25));  // 1e12 x 0.5 x 1e-5 = 5e6
  CHECK(efficiency(5e12, device, options) == near(0.5 / (1 + 1e-6)));
  CHECK(efficiency(0, device, options) == 0);
  options.type = DataType::fp16;
  CHECK(efficiency(1.6e7, device, options) == near(0.4));
  // So a kernel takes one ramp longer than at the limit: 2e9 / 0.5e12 = 4 ms, and 10 us; two kernels backward.
  options.type = DataType::fp32;
  const TimedModel model = roofline_times(two_linear(), device, 1000, options);
  CHECK(model.layers[2].forward == ns(4'010'000));
  CHECK(model.layers[2].backward == ns(8'020'000));
}

TEST_CASE("each kernel pays its launch") {
  RooflineOptions options = ideal();
  options.launch_overhead = Time::microseconds(7);
  const TimedModel model = roofline_times(two_linear(), round_device(), 10, options);
  CHECK(model.layers[0].forward == ns(47'800));
  CHECK(model.layers[0].backward == ns(47'800));
  CHECK(model.layers[1].backward == ns(8'200));
  CHECK(model.layers[2].backward == ns(2 * 47'800));
}

TEST_CASE("an LSTM reads its weights at every step, an embedding only the rows it returns") {
  NetworkBuilder net{"net", "test", "words"};
  net.lstm("rnn", net.embedding("embedding", 10'000, 1000, 5), 1000, 1);
  const TimedModel model = roofline_times(net.take(), round_device(), 1, ideal());
  // Embedding: reads and writes 5 x 1000 x 4 bytes = 40 kB = 0.4 us. Backward: the same and a dense gradient of the
  // table, 40 MB = 400 us.
  CHECK(model.layers[0].forward == ns(400));
  CHECK(model.layers[0].backward == ns(400'400));
  // LSTM: 8e6 + 4000 weights x 4 bytes x 5 steps + 40 kB = 160.12 MB; 8e7 flops take 80 us only.
  CHECK(model.layers[1].forward == ns(1'601'200));
}

TEST_CASE("batch normalization reads its input twice, layer normalization once") {
  NetworkBuilder net{"net", "test", "vector of 1000"};
  const Feature x = net.linear("first", {1000}, 1000, Bias::no);
  net.normalization("layer", net.batch_normalization("batch", x));
  const TimedModel model = roofline_times(net.take(), round_device(), 100, ideal());
  // 100 x 1000 x 4 bytes = 4 us a pass, and 2000 weights = 0.08 us. Backward, layer: gradient in, input, gradient out;
  // batch: gradient and input once more before.
  CHECK(model.layers[1].forward == ns(3 * 4'000 + 80));
  CHECK(model.layers[2].forward == ns(2 * 4'000 + 80));
  CHECK(model.layers[1].backward == ns(5 * 4'000));
  CHECK(model.layers[2].backward == ns(3 * 4'000));
}

TEST_CASE("a bigger batch takes longer, but no longer than in proportion") {
  for (const char* name : {"resnet50", "gpt2", "lstm-ptb"}) {
    const LayerTable table = build_model(*find_model(name));
    const Device& device = v100();
    const TimedModel one = roofline_times(table, device, 8), two = roofline_times(table, device, 16);
    INFO(std::string{name});
    for (std::size_t i = 0; i < one.layers.size(); ++i) {
      CHECK(two.layers[i].forward >= one.layers[i].forward);
      CHECK(two.layers[i].backward >= one.layers[i].backward);
      CHECK(two.layers[i].forward <= 2 * one.layers[i].forward);
      CHECK(two.layers[i].backward <= 2 * one.layers[i].backward);
    }
  }
}

TEST_CASE("invalid input of a roofline is refused with every fault at once") {
  RooflineOptions options;
  options.type = DataType::bf16;
  options.vector_efficiency = 1.5;
  options.memory_efficiency = 0;
  options.ramp = ns(-1);
  const std::string text = failure(two_linear(), round_device(), 0, options);
  CHECK(text.find("batch: expected at least 1, got 0") != std::string::npos);
  CHECK(text.find("type: round has no bf16; it has fp32, fp16") != std::string::npos);
  CHECK(text.find("vector_efficiency: expected a number above 0, at most 1, got 1.5") != std::string::npos);
  CHECK(text.find("memory_efficiency: expected a number above 0, at most 1, got 0") != std::string::npos);
  CHECK(text.find("ramp: must not be negative") != std::string::npos);
  options = {};
  options.type = DataType::int8;
  CHECK(failure(two_linear(), round_device(), 1, options).find("int8 is for inference") != std::string::npos);
  Device slow = round_device();
  slow.tflops[static_cast<std::size_t>(DataType::fp32)] = 1e-12;
  CHECK(failure(two_linear(), slow, 1, {}).find("layer `second`: a pass would take") != std::string::npos);
  CHECK(failure({}, round_device(), 1, {}).find("expected at least one layer") != std::string::npos);
  CHECK(failure(two_linear(), {}, 1, {}).find("at least one peak is needed") != std::string::npos);
}

TEST_CASE("a pass of a layer may take a day, and no longer") {
  // 8.64e16 flops at 1 TFLOPS take 86,400 s.
  LayerTable table = two_linear();
  Layer& second = table.layers[2];
  second.forward_flops = 86'400'000'000'000'000;
  CHECK(roofline_times(table, round_device(), 1, ideal()).layers[2].forward == Time::seconds(86'400));
  second.forward_flops += 1'000'000;
  CHECK(failure(table, round_device(), 1, ideal()).find("layer `second`: a pass would take") != std::string::npos);
}

TEST_CASE("memory reaches a part of its bandwidth, and a kernel as long for both is bound by memory") {
  RooflineOptions options = ideal();
  options.memory_efficiency = 0.5;
  // The ReLU of a batch of 10 moves 80 kB forward: 0.8 us at 100 GB/s, 1.6 us at half of that.
  CHECK(roofline_times(two_linear(), round_device(), 10, options).layers[1].forward == ns(1'600));

  // 4e6 bytes of weights and 8e3 of activations take 40.08 us; as many flops at 1 TFLOPS.
  LayerTable table = two_linear();
  table.layers[0].forward_flops = 40'080'000;
  const TimedModel equal = roofline_times(table, round_device(), 1, ideal());
  CHECK(equal.layers[0].forward == ns(40'080));
  CHECK(equal.layers[0].origin == "roofline round fp32: forward bound by memory, backward by memory");
  table.layers[0].forward_flops += 1'000;
  CHECK(roofline_times(table, round_device(), 1, ideal()).layers[0].origin ==
        "roofline round fp32: forward bound by compute, backward by memory");
}

TEST_CASE("work without flops has no efficiency, also where there is no ramp") {
  CHECK(efficiency(0, round_device(), ideal()) == 0);
}

TEST_CASE("shares of a sheet: tiles over units, the fill of a tile, the power limit, by hand") {
  Device device = tiled_device();
  ProductShare& products = device.kernels.products[static_cast<std::size_t>(DataType::bf16)];
  // Four tiles of 256 x 128, one a unit.
  CHECK(share_of(device, {1, 512, 256, 1000}) == near(1));
  CHECK(share_of(device, {2, 256, 256, 1000}) == near(1));
  // A row more: 9 x 4 tiles of 64 x 64 in 9 waves, where 513 x 256 / 4 numbers are wanted of each unit.
  CHECK(share_of(device, {1, 513, 256, 1000}) == near(513.0 * 256 / 4 / (9 * 64 * 64)));
  // One tile of 64 x 64 leaves three units idle.
  CHECK(share_of(device, {1, 64, 64, 1000}) == near(0.25));
  products.fill = 250;
  CHECK(share_of(device, {1, 512, 256, 1000}) == near(0.8));
  // Tiles of 64 x 64 take 1 + 64 / 32 as long for their edges, tiles of 256 x 128 1.75 times, which their share has.
  products = {.share = 0.7, .edge = 64};
  CHECK(share_of(device, {1, 64, 64, 1000}) == near(0.25 * 0.7 * 1.75 / 3));
  // All of 100 W pay for 0.64 TFLOP/s at the clock of the peak; at 0.8 of the clock a flop takes 0.64 of the energy.
  products = {.share = 1, .tflop_per_joule = 0.0064};
  device.watts = 100;
  CHECK(share_of(device, {1, 512, 256, 1000}) == near(0.8));
  CHECK(share_of(device, {1, 64, 64, 1000}) == near(0.25));
  // Other formats of matrix units have the figures of bf16. A product without a shape is a cube.
  CHECK(share_of(device, {1, 512, 256, 1024}, DataType::fp8) == near(std::sqrt(0.32)));
  CHECK(share_of(device, {1, 1024, 512, 1024}) == near(0.8));
  RooflineOptions options;
  options.sheet = true;
  options.type = DataType::bf16;
  CHECK(efficiency(2.0 * 512 * 512 * 512, device, options) == near(0.8));
}

TEST_CASE("shares of a sheet: what counts is the length of rows in memory, not their number") {
  const Device device = tiled_device();
  const auto share = [&](std::int64_t m, std::int64_t n, std::int64_t k, DataType type) {
    return share_of(device, {1, m, n, k, false, false, std::gcd(n, k)}, type);
  };
  CHECK(share(65535, 4096, 4096, DataType::bf16) > 0.99 * share(65536, 4096, 4096, DataType::bf16));
  CHECK(share(65536, 4092, 4096, DataType::bf16) < 0.65 * share(65536, 4096, 4096, DataType::bf16));
  CHECK(share(65536, 4096, 4095, DataType::bf16) < 0.25 * share(65536, 4096, 4096, DataType::bf16));
  // In fp8 rows are padded: 17 rows take as long as 32.
  CHECK(share(17, 4096, 4096, DataType::fp8) * 32 == near(share(32, 4096, 4096, DataType::fp8) * 17));
}

TEST_CASE("shares of a sheet: attention by its kernel, heads and keys") {
  Device device = tiled_device();
  device.kernels.attention[1] = {.share = 0.5, .width = 64, .length = 1024};
  // 4 heads of 64 numbers, 1,024 queries, each of which sees 512 keys in the mean: 4 x 4 x 1024 x 512 x 64 flops.
  const KernelShape shape = KernelShape::of_attention(4, 1024, 64, 4.0 * 4 * 1024 * 512 * 64);
  CHECK(share_of(device, shape) == near(0.125));
  CHECK(share_of(device, shape.of_inputs()) == near(0.125 * 0.82));
  // One tile of queries fills a unit of four.
  CHECK(share_of(device, KernelShape::of_attention(1, 128, 64, 4.0 * 128 * 512 * 64)) == near(0.125 / 4));
  device.kernels.attention[2] = {.share = 1, .width = 64, .length = 1024};
  CHECK(share_of(device, shape) == near(0.25));
  // 100 W pay for 0.16 TFLOP/s of products, and for as much of attention unless that has an energy of its own.
  device.watts = 100;
  device.kernels.products[static_cast<std::size_t>(DataType::bf16)].tflop_per_joule = 0.0016;
  CHECK(share_of(device, shape) == near(0.2));
  device.kernels.attention[2].tflop_per_joule = 0.0025;
  CHECK(share_of(device, shape) == near(0.25));
  device.watts = 0;
  RooflineOptions options;
  options.type = DataType::bf16;
  options.attention = AttentionKernel::flash_2;
  CHECK(efficiency(1, device, options, shape) == near(0.125));  // a kernel that is named needs no `sheet`
}

TEST_CASE("shares of a sheet: memory and arithmetic of a kernel hide each other but for their fourth powers") {
  Device device = tiled_device();
  device.kernels.start = Time::microseconds(3);
  RooflineOptions options;
  options.sheet = true;
  options.type = DataType::bf16;
  // 1e9 flops at 1 TFLOP/s and 1e8 bytes at 100 GB/s take 1 ms each.
  const RooflineCost cost = roofline_cost({1e9, 1e8, 1}, device, options, {1, 512, 256, 1000});
  CHECK(cost.ns == near(3'000 + 1e6 * std::pow(2, 0.25)));
  // What is read when nothing is left to compute comes on top.
  CHECK(roofline_cost({1e9, 1e8, 1, 5e7}, device, options, {1, 512, 256, 1000}).ns == near(cost.ns + 5e5));
}

TEST_CASE("shares of a sheet: layers of a table have the shapes of their products") {
  const Device device = tiled_device();
  RooflineOptions options;
  options.sheet = true;
  options.type = DataType::bf16;
  // 512 vectors: 512 x 1000 x 1000, 4 x 8 tiles of 128 x 128 in 8 waves; 1e9 flops in 1.024 x 1.024 ms.
  const TimedModel model = roofline_times(two_linear(), device, 512, options);
  const double compute = 8 * 2 * 128 * 128 * 1000 / 1e12 * 4, memory = (1e6 + 2 * 512e3) * 2 / 100e9;
  const double seconds = std::pow(std::pow(compute, 4) + std::pow(memory, 4), 0.25);
  CHECK(model.layers[0].forward.to_seconds() == near(seconds, 1e-3));
}
