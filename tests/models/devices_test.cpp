#include "models/devices.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("peaks and bandwidths are those of cores, clocks and memory buses") {
  // Cores x 2 flops x boost clock; bus width x rate a pin. From the same makers' specifications, but not the same
  // lines.
  struct Row {
    const char* name;
    int cores;
    double boost_ghz;
    int bus_bits;
    double gbit_a_pin;
  };
  const Row rows[] = {{"K80", 2496, 0.875, 384, 5.0},
                      {"P100-PCIe", 3584, 1.303, 4096, 1.43},
                      {"P100-SXM2", 3584, 1.480, 4096, 1.43},
                      {"P102-100", 3200, 1.683, 320, 11.0},
                      {"V100-PCIe", 5120, 1.380, 4096, 1.752},
                      {"V100-SXM2", 5120, 1.530, 4096, 1.752},
                      {"RTX2080Ti", 4352, 1.545, 352, 14.0},
                      {"RTX3090", 10496, 1.695, 384, 19.5},
                      {"A6000", 10752, 1.800, 384, 16.0},
                      {"A100-40GB", 6912, 1.410, 5120, 2.43},
                      {"A100-80GB", 6912, 1.410, 5120, 3.186},
                      {"A800", 6912, 1.410, 5120, 3.186},
                      {"H100-PCIe", 14592, 1.755, 5120, 3.186},
                      {"H100-SXM", 16896, 1.980, 5120, 5.23},
                      {"H100-HBM2e", 16896, 1.980, 6144, 3.186},
                      {"H200", 16896, 1.980, 6144, 6.25}};
  REQUIRE(devices().size() == std::size(rows));
  for (const Row& row : rows) {
    INFO(std::string{row.name});
    const Device* device = find_device(row.name);
    REQUIRE(device != nullptr);
    CHECK(device->peak(DataType::fp32) == near(row.cores * 2 * row.boost_ghz * 1e9, 0.01));
    CHECK(device->memory_bandwidth.bytes_per_second() == near(row.bus_bits * row.gbit_a_pin * 1e9 / 8, 0.02));
  }
}

TEST_CASE("every device is valid and has a source, and tensor cores keep their ratios") {
  std::set<std::string> names;
  int with_bf16 = 0, with_fp8 = 0;
  for (const Device& device : devices()) {
    INFO(device.name);
    CHECK_NOTHROW(validate(device));
    CHECK(names.insert(device.name).second);
    CHECK_FALSE(device.source.empty());
    CHECK(device.supports(DataType::fp32));
    CHECK(device.supports(DataType::fp64));
    CHECK(device.supports(DataType::bf16) == device.supports(DataType::tf32));  // since Ampere
    if (device.supports(DataType::bf16)) {
      CHECK(device.peak(DataType::bf16) == device.peak(DataType::fp16));
      // Data sheets round each figure by itself.
      CHECK(device.peak(DataType::tf32) == near(device.peak(DataType::fp16) / 2, 0.005));
      CHECK(device.uses_matrix_unit(DataType::tf32));
      ++with_bf16;
    }
    if (device.supports(DataType::fp8)) {
      CHECK(device.peak(DataType::fp8) == 2 * device.peak(DataType::fp16));
      ++with_fp8;
    }
    CHECK_FALSE(device.uses_matrix_unit(DataType::fp32));
  }
  CHECK(with_bf16 >= 8);  // Ampere and Hopper
  CHECK(with_fp8 >= 3);   // Hopper
  CHECK(find_device("V100") == nullptr);
  CHECK(device_names().size() == devices().size());
}

TEST_CASE("links: one direction, after line coding") {
  // PCIe 3.0: 8 GT/s x 16 lanes x 128/130 / 8 = 15.754 GB/s. PCIe 1.0: 2.5 GT/s x 4 lanes x 8/10 / 8 = 1 GB/s.
  CHECK(find_device("V100-PCIe")->pcie.bytes_per_second() == near(8e9 * 16 * 128 / 130 / 8));
  CHECK(find_device("P102-100")->pcie.bytes_per_second() == near(1e9));
  CHECK(find_device("A100-40GB")->pcie.bytes_per_second() == near(16e9 * 16 * 128 / 130 / 8));
  CHECK(find_device("A100-40GB")->nvlink.bytes_per_second() == near(300e9));
  CHECK(find_device("A800")->nvlink.bytes_per_second() == near(200e9));
  CHECK(find_device("V100-PCIe")->nvlink.bytes_per_second() == 0);
}

TEST_CASE("a user's device: every fault at once") {
  Device device;
  device.tflops[1] = -3;
  device.memory_bandwidth = ByteRate{std::numeric_limits<double>::quiet_NaN()};
  try {
    validate(device);
    FAIL("accepted");
  } catch (const InputError& error) {
    const std::string text = error.what();
    CHECK(error.complaints().size() == 5);
    for (const char* part : {"a name is missing", "the fp32 peak must be at least 0 and finite", "at least one peak",
                             "the memory bandwidth must be above 0 and finite, got nan", "expected memory"}) {
      INFO(std::string{part});
      CHECK(text.find(part) != std::string::npos);
    }
  }
}
