#include "models/reliability/presets.hpp"

#include <algorithm>

namespace contend {
namespace {

constexpr double kDay_s = 86'400;

// Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs in 2,048 servers (table 5). Interruptions by GPUs:
// faulty GPU 148, HBM3 72, SRAM 19, system processor 17, silent corruption 6, thermal 6. Interruptions by servers: host
// maintenance 32, NIC 7, SSD 3, power supply 3, chassis 2, IO board 2, CPU 2, memory 2, and switches and cables 35,
// each of which ends at a server. The rest has no component: software 54, NCCL watchdog 7, dependency 2.
constexpr double kLlamaDays = 54;
constexpr double kLlamaGpuFaults = 148 + 72 + 19 + 17 + 6 + 6;
constexpr double kLlamaServerFaults = 32 + 7 + 3 + 3 + 2 + 2 + 2 + 2 + 35;
constexpr double kLlamaJobFaults = 54 + 7 + 2;

// GPUs, jobs and what they used, of AcmeTrace's cluster_summary.csv (CC-BY-4.0). GPU time is the time of completed,
// cancelled and failed jobs.
constexpr double kAcmeGpuTime_s = 4'560'592'618 + 14'274'584'510 + 2'675'447'459. +  // Seren
                                  1'667'685'146 + 3'239'202'064 + 426'292'851.;      // Kalos
constexpr double kAcmeJobTime_s = 663'813 * 1'414.335 + 19'907 * 1'259.689;
constexpr double kPhillyJobs = 112'956;
constexpr double kPhillyGpuTime_s = 2'210'176'414 + 2'025'326'056 + 2'659'215'061.;
constexpr double kPhillyJobTime_s = kPhillyJobs * 18'006.055;

// Acme: failures that ended jobs of Seren and Kalos in six months (arXiv 2403.07648, table of causes). Failures of
// GPUs: NVLink 54, CUDA 21, ECC 12. Failures of servers: node 16, network 12. The rest has no component: connections
// 147, storage 10, NCCL 6 and 3, and 404 of frameworks. 1,890 errors in scripts come again with the same script.
constexpr double kAcmeGpusPerServer = 8;
constexpr double kAcmeGpuFaults = 54 + 21 + 12;
constexpr double kAcmeServerFaults = 16 + 12;
constexpr double kAcmeJobFaults = 147 + 10 + 6 + 3 + 404;

// Philly: all 39,776 failed trials of 96,300 jobs (Jeon et al., ATC 2019, table 7), but the 147 of jobs that were
// preempted. Failures of GPUs: ECC 10. Without a component: CPU out of memory 12,076, incorrect inputs 9,690, semantic
// error 2,943, core dump 2,912, invalid memory access 2,602, model checkpoint 1,995, no signature 1,684, CUDA 1,484,
// syntax 1,132, traceback 777, MPI 634, GPU out of memory 487, MPI runtime 478, permission 299, import 148, CUDA at
// start 141, diverged model 84, CUDA version 49, output node 3, libraries 1. The counts of CPU and GPU memory, semantic
// errors, invalid accesses, CUDA, tracebacks, MPI runtime, preemption and ECC were read, the others are recalled, and
// their sum is the table's. A trial without a signature has failed, too.
constexpr double kPhillyStudiedJobs = 96'300;
constexpr double kPhillyGpuFaults = 10;
constexpr double kPhillyJobFaults = 12'076 + 9'690 + 2'943 + 2'912 + 2'602 + 1'995 + 1'684 + 1'484 + 1'132 + 777 + 634 +
                                    487 + 478 + 299 + 148 + 141 + 84 + 49 + 3 + 1;
static_assert(kPhillyJobFaults + kPhillyGpuFaults + 147 == 39'776);  // as the table adds them up

constexpr double kPhillyPart = kPhillyStudiedJobs / kPhillyJobs;

// Delta: errors that drivers logged, errors of a GPU within five seconds as one (arXiv 2503.11901, version 4, table 1,
// as public notes quote it).
constexpr double kDeltaA100_s = 448 * 895 * kDay_s;
constexpr double kDeltaH100_s = 608 * 146 * kDay_s;

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
      {"acme",
       "Acme's Seren and Kalos, 4,704 A100 in 6 months: while jobs used them 87 failures of GPUs, 28 of servers and "
       "570 of libraries and frameworks",
       "arXiv 2403.07648; AcmeTrace",
       {{"gpu", true, kAcmeGpuTime_s / kAcmeGpuFaults},
        {"server", false, kAcmeGpuTime_s / kAcmeGpusPerServer / kAcmeServerFaults}},
       kAcmeJobTime_s / kAcmeJobFaults},
      {"philly",
       "Microsoft's Philly, 96,300 jobs: 10 failures of GPUs while jobs used them, 39,619 of jobs",
       "Jeon et al., ATC 2019; AcmeTrace",
       {{"gpu", true, kPhillyGpuTime_s * kPhillyPart / kPhillyGpuFaults}},
       kPhillyJobTime_s * kPhillyPart / kPhillyJobFaults},
      {"delta-a100",
       "NCSA's Delta, 448 A100 in 895 days: 34 uncorrectable memory errors, 3,857 of system processors, 1,922 of "
       "NVLink, 77 of power management",
       "arXiv 2503.11901",
       {{"gpu-memory", true, kDeltaA100_s / 34},
        {"gpu-system-processor", true, kDeltaA100_s / 3'857},
        {"nvlink", true, kDeltaA100_s / 1'922},
        {"gpu-power-management", true, kDeltaA100_s / 77}},
       {}},
      {"delta-h100",
       "NCSA's Delta, 608 H100 in 146 days: 24 uncorrectable memory errors, 3 of system processors",
       "arXiv 2503.11901",
       {{"gpu-memory", true, kDeltaH100_s / 24}, {"gpu-system-processor", true, kDeltaH100_s / 3}},
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
