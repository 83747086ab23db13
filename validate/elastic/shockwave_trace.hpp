#pragma once
// A trace of 120 jobs that the authors of Shockwave published (Zheng et al., NSDI 2023; uw-mad-dash/shockwave at
// 8a44f4a, MIT), with the throughputs that they measured on V100 GPUs. The batches of most jobs grow while they train:
//
//   accordion  the largest batch of the model, but for the first 30% and stretches of epochs in which gradients change
//              fast (Agarwal et al., MLSys 2021)
//   gns        2, 4, 8 and 16 times the first batch from epochs on that depend on model, batch and GPUs, as measured
//              gradient noise scales grow
//
// The data are not part of the project.

#include "validate/elastic/timed_run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The batch in each of so many epochs. `mode`: static, accordion or gns.
[[nodiscard]] std::vector<int> batches_of_epochs(const std::string& model, const std::string& mode, int batch, int gpus,
                                                 int epochs);

/// Runs the trace on 32 servers of one GPU. Nothing if the data are not there.
[[nodiscard]] std::optional<RunResult> run_shockwave_trace(const std::string& policy, const PolicyValues& parameters,
                                                           bool foresees_batches);

}  // namespace contend
