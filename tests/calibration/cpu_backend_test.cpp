// The CPU as a device: every operator that it offers runs, and the others say why not.

#include "calibration/backend.h"
#include "calibration/cpu_operations.hpp"
#include "calibration/operators.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

contend_operation operation_of(const OperatorInfo& info, const char* type, std::int64_t size) {
  contend_operation out{};
  out.name = info.name.data();
  out.type = type;
  out.dimensions = static_cast<int>(info.dimensions.size());
  std::fill_n(out.shape, out.dimensions, size);
  if (info.group == OperatorGroup::convolution) {
    const std::array<std::int64_t, 10> shape{2, 3, 9, 8, 4, 3, 3, 2, 1, 1};
    std::copy(shape.begin(), shape.end(), out.shape);
  }
  return out;
}

constexpr std::string_view kMissing[] = {"launch",
                                         "attention_backward",
                                         "causal_attention_backward",
                                         "gemm_fast_sums",
                                         "rms_norm_backward",
                                         "swiglu_backward",
                                         "batch_norm_backward",
                                         "pooling",
                                         "layer_norm_backward",
                                         "softmax_backward",
                                         "pooling_backward",
                                         "embedding_backward"};

bool expected(const OperatorInfo& info) {
  if (info.group == OperatorGroup::collective) return false;
  return std::find(std::begin(kMissing), std::end(kMissing), info.name) == std::end(kMissing);
}

}  // namespace

TEST_CASE("operands are spread evenly over [-1, 1], and others for another salt") {
  constexpr std::size_t kCount = 100'000;
  for (const std::uint32_t salt : {0U, 1U, 2U}) {
    std::vector<float> values = cpu::filled(kCount, salt);
    REQUIRE(values.size() == kCount);
    std::sort(values.begin(), values.end());
    // The largest distance of the distribution from an even one, by Kolmogorov and Smirnov: 1.63 / sqrt(n) at 1%.
    double off = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      off = std::max(off, std::abs((values[i] + 1.0) / 2 - (static_cast<double>(i) + 0.5) / kCount));
    }
    CHECK(off < 1.63 / std::sqrt(static_cast<double>(kCount)));
    CHECK(values.front() >= -1);
    CHECK(values.back() <= 1);
  }
  CHECK(cpu::filled(100) != cpu::filled(100, 1));
  CHECK(cpu::filled(100) == cpu::filled(100));
}

TEST_CASE("every operator runs or says why not") {
  const contend_backend& cpu = *contend_cpu_backend();
  contend_device_info info{};
  std::array<char, 128> message{};
  REQUIRE(cpu.open(0, &info, message.data(), message.size()) == CONTEND_OK);
  CHECK(info.name[0] != '\0');
  CHECK(info.memory_bytes > 0);
  CHECK(info.free_bytes > 0);
  CHECK(info.multiprocessors >= 1);
  CHECK(std::string_view{info.libraries}.starts_with("Eigen 3."));
  for (const OperatorInfo& each : operators()) {
    for (const std::int64_t size : {1, kSanitized ? 9 : 33}) {
      const contend_operation operation = operation_of(each, "fp32", size);
      void* prepared = nullptr;
      message.fill('\0');
      const contend_status status = cpu.prepare(&operation, &prepared, message.data(), message.size());
      INFO(fmt::format("{} {}: {}", each.name, size, message.data()));
      CHECK(status == (expected(each) ? CONTEND_OK : CONTEND_UNSUPPORTED));
      if (status != CONTEND_OK) {
        CHECK(message[0] != '\0');
        continue;
      }
      double seconds = -1;
      CHECK(cpu.run(prepared, kSanitized ? 1 : 3, &seconds, message.data(), message.size()) == CONTEND_OK);
      CHECK(seconds > 0);
      cpu.release(prepared);
    }
  }
  cpu.close();
}

TEST_CASE("the CPU has the name that the system gives it, and as much free memory") {
  const contend_backend& cpu = *contend_cpu_backend();
  contend_device_info info{};
  std::array<char, 128> message{};
  REQUIRE(cpu.open(0, &info, message.data(), message.size()) == CONTEND_OK);
  // `model name : ...` and `MemAvailable:   123 kB`; neither stands there on every system.
  const auto text_behind = [](const char* path, const std::string& key) {
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with(key)) continue;
      std::istringstream rest{line.substr(line.find(':') + 1)};
      std::getline(rest >> std::ws, line);
      return line;
    }
    return std::string{};
  };
  const std::string name = text_behind("/proc/cpuinfo", "model name");
  CHECK(std::string_view{info.name} == (name.empty() ? "CPU" : name.substr(0, sizeof info.name - 1)));
  cpu.close();
  const std::string available = text_behind("/proc/meminfo", "MemAvailable");
  if (available.empty()) return;
  // Others take and give back memory meanwhile.
  CHECK(static_cast<double>(info.free_bytes) == near(std::stod(available) * 1024, 0.1));
}

TEST_CASE("a CPU has one device, fp32, and so much memory") {
  const contend_backend& cpu = *contend_cpu_backend();
  contend_device_info info{};
  std::array<char, 128> message{};
  CHECK(cpu.open(1, &info, message.data(), message.size()) == CONTEND_NO_DEVICE);
  CHECK(std::string_view{message.data()} == "the CPU is device 0; there is no device 1");
  contend_device_state state{};
  CHECK(cpu.state(&state) == CONTEND_OK);
  CHECK(state.throttled == 0);

  const OperatorInfo& gemm = *find_operator("gemm");
  CHECK(cpu::make_ready(operation_of(gemm, "bf16", 8), 1e9).reason == "a CPU computes in fp32 here, not in bf16");
  // 4 x 100^4 x 3 operands = 1.2e9 bytes, and as much again.
  const contend_operation large = operation_of(gemm, "fp32", 100);
  contend_operation wide = large;
  wide.shape[0] = 10'000;
  const cpu::ReadyOperation refused = cpu::make_ready(wide, 1e9);
  CHECK(refused.status == CONTEND_OUT_OF_MEMORY);
  CHECK(refused.reason == "it takes up to 2.4 GB, and 1.0 GB are free");
  CHECK(cpu::make_ready(large, 1e9).status == CONTEND_OK);
  contend_operation strange = large;
  strange.name = "gem";
  CHECK(cpu::make_ready(strange, 1e9).status == CONTEND_UNSUPPORTED);
  strange = large;
  strange.dimensions = 3;
  CHECK(cpu::make_ready(strange, 1e9).status == CONTEND_FAILED);
  // Three heads of queries don't share two of keys.
  contend_operation uneven = operation_of(*find_operator("attention"), "fp32", 8);
  uneven.shape[1] = 3;
  uneven.shape[2] = 2;
  CHECK(cpu::make_ready(uneven, 1e9).status == CONTEND_UNSUPPORTED);
}

TEST_CASE("what runs beside an operation runs as long as it is timed, and no longer") {
  const cpu::ReadyOperation ready =
      cpu::make_ready(operation_of(*find_operator("layer_norm_beside_reduce"), "fp32", 8), 1e10);
  REQUIRE(ready.status == CONTEND_OK);
  CHECK(static_cast<bool>(ready.beside));
  CHECK_FALSE(static_cast<bool>(cpu::make_ready(operation_of(*find_operator("layer_norm"), "fp32", 8), 1e9).beside));
}
