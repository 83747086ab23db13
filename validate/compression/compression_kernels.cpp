// Compares the roofline of compression kernels with published measurements. Frameworks' kernels reach very different
// shares of the memory bandwidth, so nothing is judged here.

#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "validate/compression/compression_suite.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::int64_t kEspressoValues = 1 << 20;

KernelCosts roofline(const char* device) {
  return {*find_device(device), RooflineOptions{}};
}

/// Microseconds for 2^20 values on a V100, in all and for decoding alone, from the scheduler of zhuangwang93/Espresso.
struct EspressoRow {
  const char* name;
  double total_us, decode_us;
  Time encode, decode;  ///< ours
};

void add_espresso(CheckedTable& table) {
  constexpr std::int64_t d = kEspressoValues, k = d / 100;  // the usual density of GRACE
  const KernelCosts costs = roofline("V100-SXM2");
  const Time residual = costs.of(kernels::add_residual(d)), keep = costs.of(kernels::keep_residual(d));
  const Time drawn = costs.of(kernels::gather(d, k)), added = costs.of(kernels::scatter_add(d, k));
  const EspressoRow rows[] = {
      {"random-k", 88, 34, residual + drawn, added},
      {"DGC", 390, 34,
       residual * 2 + drawn + costs.of(kernels::radix_select(k, k / 100)) + costs.of(kernels::compact(d, k)), added},
      {"EF-sign", 270, 140, residual + costs.of(kernels::quantize(d, 1)) + keep, costs.of(kernels::decode(d, 1))},
      {"one-bit", 620, 170, residual + costs.of(kernels::quantize(d, 1)) + keep, costs.of(kernels::decode(d, 1))}};
  for (const EspressoRow& row : rows) {
    table.checks.push_back({fmt::format("{}, encode [us]", row.name),
                            row.total_us - row.decode_us,
                            row.encode.to_seconds() * 1e6,
                            kOnlyShown,
                            {}});
    table.checks.push_back(
        {fmt::format("{}, decode [us]", row.name), row.decode_us, row.decode.to_seconds() * 1e6, kOnlyShown, {}});
  }
}

void add_selection(CheckedTable& table) {
  const auto selection = [](const char* device) {
    return roofline(device).of(kernels::radix_select(kResNet50Parameters, kResNet50Parameters / 1000)).to_seconds() *
           1e3;
  };
  // The cost gamma d log2(d) comes from MG-WFBP and OMGS-SGD, utils.py.
  const double work = static_cast<double>(kResNet50Parameters) * std::log2(static_cast<double>(kResNet50Parameters));
  table.checks.push_back({"exact top-k of ResNet-50, gamma, P102-100 [ms]",
                          218.896957e-12 * work * 1e3,
                          selection("P102-100"),
                          kOnlyShown,
                          {}});
  table.checks.push_back({"exact top-k of ResNet-50, gamma, V100 [ms]",
                          499.671953e-12 * work * 1e3,
                          selection("V100-PCIe"),
                          kOnlyShown,
                          {}});
  table.checks.push_back({"exact top-k of ResNet-50, cloud V100 [ms]", 239, selection("V100-SXM2"), kOnlyShown, {}});
}

}  // namespace

CheckedTable compression_kernels() {
  CheckedTable table;
  table.title = "Kernels: measured (Espresso, V100, 2^20 values; top-k of HKBU and of MSTopK) and the roofline";
  add_espresso(table);
  add_selection(table);
  return table;
}

}  // namespace contend
