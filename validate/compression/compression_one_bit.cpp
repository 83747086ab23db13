// Compares BERT-Large pre-training by 1-bit Adam over TCP (Tang et al., ICML 2021). The published samples/s are
// digitised from the plots of microsoft/DeepSpeed.

#include "scenarios/yaml/device_sheet.hpp"
#include "validate/compression/compression_suite.hpp"
#include "validate/iteration_time.hpp"

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kV100sPerServer = 4;
constexpr int kSamplesPerGpu = 16;

struct OneBitRow {
  int gpus;
  double adam, one_bit;  ///< samples/s of all GPUs
};
constexpr OneBitRow kOneBitRows[] = {{8, 45, 247}, {16, 87, 455}, {32, 133, 870}};
constexpr double kOneGpuAdam = 90, kOneGpuOneBit = 97;

/// The link between servers has a line rate of 40 Gbit/s, of which iperf measured 4.1 Gbit/s. The start-up time is not
/// published; 50 us is an assumption that changes no figure by 1%.
constexpr ChannelCost kBetween{Time::microseconds(50), TimePerByte{8 / 4.1}, {}};

/// The link inside a server is one direction of NVLink as on the data sheet. It takes little time beside the network.
ChannelCost inside() {
  const Device& device = *find_device("V100-SXM2");
  return {Time::microseconds(10), TimePerByte{1e9 / device.links.bytes_per_second()}, {}};
}

OverlapProblem bert_problem(int gpus, double one_gpu) {
  TimedModel model = scaled_model("bert-large", "V100-SXM2", kSamplesPerGpu, 128, kSamplesPerGpu / one_gpu);
  model.gradient_element_bytes = 2;
  return overlap_problem(model, gpus,
                         ExchangeCost::two_level(gpus / kV100sPerServer, kV100sPerServer, inside(), kBetween));
}

}  // namespace

CheckedTable compression_one_bit_adam() {
  constexpr double kAdamTolerance = 0.25, kOneBitTolerance = 0.12;
  CheckedTable table;
  table.title = "BERT-Large, 4 V100 a server, TCP at 4.1 Gbit/s, samples/s (1-bit Adam, ICML 2021)";
  for (const OneBitRow& row : kOneBitRows) {
    const auto add = [&](const char* what, double published, double seconds, double tolerance) {
      const double samples = kSamplesPerGpu * row.gpus;
      table.checks.push_back({fmt::format("{} GPUs, {}", row.gpus, what),
                              published,
                              samples / seconds,
                              tolerance,
                              {},
                              samples / published,
                              seconds});
    };
    // One message sends the whole gradient, or momentum, after the backward pass.
    add("Adam", row.adam, iteration_s(bert_problem(row.gpus, kOneGpuAdam), "bsp"), kAdamTolerance);
    const CompressedIteration made = compressed_iteration(bert_problem(row.gpus, kOneGpuOneBit), "bsp",
                                                          "{policy: onebit-adam, warm_up: 0}", "V100-SXM2");
    add("1-bit Adam", row.one_bit, made.seconds, kOneBitTolerance);
    const CompressedIteration fused = compressed_iteration(
        bert_problem(row.gpus, kOneGpuOneBit), "bsp", "{policy: onebit-adam, warm_up: 0, fused: true}", "V100-SXM2");
    table.notes.push_back(fmt::format(
        "{} GPUs: 1-bit Adam {:.0f} ms, {:.1f} ms of it kernels; fused {:.1f} ms, {:.0f} samples/s", row.gpus,
        made.seconds * 1e3, made.kernels_s * 1e3, fused.kernels_s * 1e3, kSamplesPerGpu * row.gpus / fused.seconds));
  }
  return table;
}

}  // namespace contend
