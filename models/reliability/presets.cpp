#include "models/reliability/presets.hpp"

#include <algorithm>

namespace contend {
namespace {

constexpr double kDay_s = 86'400;

// Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs in 2,048 servers (table 5). Those of GPUs: faulty GPU
// 148, HBM3 72, SRAM 19, system processor 17, silent corruption 6, thermal 6. Those of servers: host maintenance 32,
// NIC 7, SSD 3, power supply 3, chassis 2, IO board 2, CPU 2, memory 2, and switches and cables 35, each of which ends
// at a server. The rest has no component: software 54, NCCL watchdog 7, dependency 2.
constexpr double kLlamaDays = 54;
constexpr double kLlamaGpuFaults = 148 + 72 + 19 + 17 + 6 + 6;
constexpr double kLlamaServerFaults = 32 + 7 + 3 + 3 + 2 + 2 + 2 + 2 + 35;
constexpr double kLlamaJobFaults = 54 + 7 + 2;

}  // namespace

std::span<const FailurePreset> failure_presets() {
  static const std::vector<FailurePreset> kPresets{
      {"llama-3",
       "54 days of Llama 3 405B on 16,384 H100: 268 failures of GPUs, 88 of servers and cables, 63 of software",
       "arXiv 2407.21783, table 5",
       {{"gpu", true, 16'384 * kLlamaDays * kDay_s / kLlamaGpuFaults},
        {"server", false, 2'048 * kLlamaDays * kDay_s / kLlamaServerFaults}},
       kLlamaDays * kDay_s / kLlamaJobFaults},
      {"rsc-1",
       "Meta's RSC-1, 16,000 A100: 6.50 failures of hardware in 1,000 server-days",
       "arXiv 2410.21680",
       {{"server", false, 1'000 / 6.50 * kDay_s}},
       {}},
      {"rsc-2",
       "Meta's RSC-2, 8,000 A100: 2.34 failures of hardware in 1,000 server-days",
       "arXiv 2410.21680",
       {{"server", false, 1'000 / 2.34 * kDay_s}},
       {}},
      {"tpu-v4",
       "Google's TPU v4 clusters: 0.08% of machines a day",
       "Zu et al., NSDI 2024",
       {{"server", false, 1 / 0.0008 * kDay_s}},
       {}},
  };
  return kPresets;
}

const FailurePreset* find_failure_preset(std::string_view name) {
  const auto presets = failure_presets();
  const auto found = std::ranges::find(presets, name, &FailurePreset::name);
  return found == presets.end() ? nullptr : &*found;
}

}  // namespace contend
