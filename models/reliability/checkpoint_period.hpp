#pragma once
// How often a job should save a checkpoint, and how long it takes if it is interrupted at random.
//
// The job alternates between `period` of work and a checkpoint that stops it for `cost`. Interruptions are Poisson with
// the mean time `mtbf` between them, also while it saves or restarts; after each it needs `restart` before it works
// again, and it has lost the work since its last checkpoint. All times are in one unit of the caller, and > 0 unless a
// function says otherwise.
//
// Source: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation
// Computer Systems 22 (2006): equation 20 is expected_time() here.

namespace contend {

/// The period for which expected_time() is least: mtbf (1 + W(-e^(-1 - cost / mtbf))) with Lambert's W on its upper
/// branch. The restart has no influence. cost >= 0; without a cost the period is 0. The same bits on every machine.
[[nodiscard]] double optimal_period(double cost, double mtbf);

/// How a job is interrupted and saved.
struct CheckpointedRun {
  double mtbf = 0;     ///< > 0
  double restart = 0;  ///< >= 0
  double period = 0;   ///< > 0: work between two checkpoints
  double cost = 0;     ///< >= 0: of each checkpoint
};

/// The expected time for `work` >= 0 with a checkpoint after every period, the last one included; a last period may be
/// shorter. For a multiple of the period it is M e^(R/M) (e^((period + cost)/M) - 1) work / period.
[[nodiscard]] double expected_time(double work, const CheckpointedRun& run);
/// The expected time for `work` without checkpoints: M e^(R/M) (e^(work/M) - 1).
[[nodiscard]] double expected_time_unsaved(double work, double mtbf, double restart);

/// The share of the time in which a long job does work that is kept: period / expected_time(period).
[[nodiscard]] double efficiency(const CheckpointedRun& run);

}  // namespace contend
