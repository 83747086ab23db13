#include "models/cost_model.hpp"

#include "models/catalogue/builder.hpp"
#include "models/catalogue/catalogue.hpp"
#include "sim/error.hpp"
#include "tests/devices.hpp"
#include "tests/near.hpp"

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
