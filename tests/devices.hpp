#pragma once
// Devices for tests of rooms below the reader of sheets.

#include "models/devices.hpp"

namespace contend {

/// The V100-SXM2 of models/sheets, which tests/scenarios/device_sheet_test.cpp checks.
inline const Device& v100() {
  static const Device kDevice = [] {
    Device device;
    device.name = "V100-SXM2";
    device.source = "NVIDIA V100 data sheet (2020), SXM2, 32 GB";
    device.tflops = {7.8, 15.7, 0, 125, 0, 0, 0};
    device.matrix_unit[static_cast<std::size_t>(DataType::fp16)] = true;
    device.memory_bandwidth = ByteRate{900e9};
    device.memory = Bytes::mebibytes(32 * 1024);
    device.pcie = ByteRate{8e9 * 16 * (128.0 / 130) / 8};
    device.links = ByteRate{150e9};
    device.units = 80;
    device.watts = 300;
    return device;
  }();
  return kDevice;
}

/// The H100-SXM of models/sheets, without what kernels reach.
inline const Device& h100() {
  static const Device kDevice = [] {
    Device device;
    device.name = "H100-SXM";
    device.source = "NVIDIA H100 data sheet (2023), SXM5, 80 GB, half of the rates printed with sparsity";
    device.tflops = {67, 67, 494.5, 989.5, 989.5, 1979, 1979};
    device.matrix_unit = {true, false, true, true, true, true, true};
    device.memory_bandwidth = ByteRate{3350e9};
    device.memory = Bytes::mebibytes(80 * 1024);
    device.pcie = ByteRate{32e9 * 16 * (128.0 / 130) / 8};
    device.links = ByteRate{450e9};
    device.fused_attention = 0.35;
    device.units = 132;
    device.watts = 700;
    return device;
  }();
  return kDevice;
}

}  // namespace contend
