#pragma once
// A profile of a device that follows a simple law, so that tests know what should be predicted.

#include "calibration/profile.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace contend {

/// 10 TFLOPS in fp32, twice that in fp16, 500 GB/s, 4 us an execution: a plain roofline, no noise.
inline double synthetic_seconds(const std::string& op, DataType type, const OperatorShape& shape) {
  const OperatorWork work = find_operator(op)->work(shape, type);
  const double peak = type == DataType::fp16 ? 2e13 : 1e13;
  return 4e-6 + std::max(work.flops / peak, work.bytes / 5e11);
}

inline OperatorTable synthetic_table(const std::string& op, DataType type, const std::vector<OperatorShape>& shapes) {
  OperatorTable table;
  table.name = op;
  table.type = type;
  for (const OperatorShape& shape : shapes)
    table.samples.push_back({shape, synthetic_seconds(op, type, shape), 0.002, 20});
  return table;
}

/// Products in fp32 and fp16 (sizes 16 to 4096), copies, sums and activations (1 KB or 1000 elements to 1 GB).
inline CalibrationProfile synthetic_profile() {
  CalibrationProfile profile;
  profile.name = "synthetic";
  profile.backend = "cpu";
  profile.device = "a law";
  profile.date = "2026-11-21T18:00:00Z";
  profile.version = "test";
  profile.mode = "quick";
  std::vector<OperatorShape> products, sizes;
  for (const std::int64_t m : {16, 128, 1024, 4096})
    for (const std::int64_t n : {16, 128, 1024, 4096})
      for (const std::int64_t k : {16, 128, 1024, 4096}) products.push_back({1, m, n, k});
  for (std::int64_t size = 1024; size <= 1'073'741'824; size *= 2) sizes.push_back({size});
  profile.tables.push_back(synthetic_table("copy", DataType::fp32, sizes));
  for (const DataType type : {DataType::fp32, DataType::fp16}) {
    profile.tables.push_back(synthetic_table("gemm", type, products));
    profile.tables.push_back(synthetic_table("activation", type, sizes));
    profile.tables.push_back(synthetic_table("sum", type, sizes));
  }
  return profile;
}

/// The same with the layouts of products that gradients have, which take as long here.
inline CalibrationProfile with_gradients(CalibrationProfile profile) {
  for (const DataType type : {DataType::fp32, DataType::fp16})
    for (const char* const gradient : {"gemm_nn", "gemm_tn"}) {
      OperatorTable table = *profile.table("gemm", type);
      table.name = gradient;
      profile.tables.push_back(std::move(table));
    }
  return profile;
}

}  // namespace contend
