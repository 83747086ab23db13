#pragma once
// A trace of 120 jobs that the authors of Shockwave published (Zheng et al., NSDI 2023; uw-mad-dash/shockwave at
// 8a44f4a, MIT), with the throughputs that they measured on V100 GPUs. The batches of most jobs grow while they train:
//
//   accordion  the largest batch of the model outside of stretches of epochs in which gradients change fast (Agarwal et
//              al., MLSys 2021)
//   gns        2, 4, 8 and 16 times the first batch from epochs on that depend on model, batch and GPUs, as measured
//              gradient noise scales grow
//
// As in the released simulator batches change at ends of rounds: what is found due at the end of a round holds from the
// end of the next round of the job on, and what is left of an epoch then counts as done. A job that has run for 1.5
// times its listed duration ends. Each epoch of a job is a BatchRegime.
//
// The data are not part of the project.

#include "validate/elastic/timed_run.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// Runs the trace on 32 servers of one GPU, where a start costs 20 s. Nothing if the data are not there.
[[nodiscard]] std::optional<RunResult> run_shockwave_trace(const std::string& policy, const PolicyValues& parameters,
                                                           bool foresees_batches);
/// The text of growing_epochs.txt.
[[nodiscard]] std::string_view growing_epochs_text();

}  // namespace contend
