#include "calibration/missing_operators.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/catalogue/catalogue.hpp"
#include "tests/calibration/perceptron.hpp"
#include "tests/calibration/synthetic_profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

using namespace contend;

namespace {

CalibrationProfile without(CalibrationProfile profile, std::string_view op) {
  std::erase_if(profile.tables, [&](const OperatorTable& table) { return table.name == op; });
  return profile;
}

}  // namespace

TEST_CASE("a profile that has all lacks nothing") {
  CHECK(missing_operators(synthetic_profile(), perceptron(200, 500, 128), 32, DataType::fp32).empty());
  CHECK(missing_text({}).empty());
}

TEST_CASE("what a profile lacks is said by operator and layer") {
  const auto lacks = [](const CalibrationProfile& profile, DataType type) {
    return missing_text(missing_operators(profile, perceptron(200, 500, 128), 32, type));
  };
  CHECK(lacks(without(synthetic_profile(), "gemm"), DataType::fp32) == "gemm in fp32 (fc1, fc2)");
  // A ReLU goes back as a sum, the gradient of a bias is a copy, and copies are of bytes.
  CHECK(lacks(without(without(synthetic_profile(), "sum"), "copy"), DataType::fp16) ==
        "copy in fp32 (fc1); sum in fp16 (relu)");
  CHECK(lacks(synthetic_profile(), DataType::bf16) ==
        "gemm in bf16 (fc1, fc2); activation in bf16 (relu); sum in bf16 (relu)");
  CalibrationProfile tried = without(synthetic_profile(), "gemm");
  tried.skipped.push_back({"gemm", DataType::fp32, {}, "needs a newer device"});
  CHECK(lacks(tried, DataType::fp32) == "gemm in fp32 (fc1, fc2), skipped: needs a newer device");
  // Every operator that the profile lacks, and no other, is predicted without samples.
  const auto missing = missing_operators(synthetic_profile(), build_model(*find_model("resnet50")), 2, DataType::fp32);
  const CalibratedDevice device{synthetic_profile()};
  for (const MissingOperator& each : missing) {
    const OperatorShape some(each.info->dimensions.size(), 1);
    CHECK_FALSE(device.by_table(each.info->name, each.type, some).has_value());
  }
  CHECK(missing_text(missing).find("convolution in fp32 (conv1, layer1.0.conv1, layer1.0.conv2 and ") == 0);
}

TEST_CASE("a layer without operators needs copies, and products if it multiplies") {
  LayerTable table;
  table.name = "sizes";
  for (const std::int64_t flops : {0, 0, 500, 0, 700}) {
    Layer layer;
    layer.name = "layer" + std::to_string(table.layers.size());
    layer.input_elements = layer.output_elements = 100;
    layer.forward_flops = flops;
    table.layers.push_back(layer);
  }
  const CalibrationProfile nothing = without(without(synthetic_profile(), "gemm"), "copy");
  const auto lacks = [&] { return missing_text(missing_operators(nothing, table, 1, DataType::fp16)); };
  CHECK(lacks() == "copy in fp32 (layer0, layer1, layer2 and 2 more layers); gemm in fp16 (layer2, layer4)");
  table.layers.erase(table.layers.begin() + 2);
  CHECK(lacks() == "copy in fp32 (layer0, layer1, layer3 and 1 more layer); gemm in fp16 (layer4)");
  table.layers.pop_back();
  CHECK(lacks() == "copy in fp32 (layer0, layer1, layer3)");
}

TEST_CASE("the command measures what can be had, into the same file, in the same way") {
  CalibrationProfile profile = without(synthetic_profile(), "gemm");
  const auto command = [&](const std::string& path) {
    return measuring_command(profile, path, missing_operators(profile, perceptron(200, 500, 128), 1, DataType::fp32));
  };
  CHECK(command("lab/cpu.yaml") == "contend calibrate --backend cpu --quick --only gemm -o lab/cpu.yaml --resume");
  profile.backend = "cuda";
  profile.mode = "full";
  CHECK(command("my gpu.yaml") == "contend calibrate --only gemm -o 'my gpu.yaml' --resume");
  // Another try doesn't help where the device lacks it, and may where time was short.
  profile.skipped.push_back({"gemm", DataType::fp32, {}, "no time left of 50 s"});
  CHECK(command("a.yaml") == "contend calibrate --only gemm -o a.yaml --resume");
  profile.skipped.back().reason = "not supported here";
  CHECK(command("a.yaml").empty());
}
