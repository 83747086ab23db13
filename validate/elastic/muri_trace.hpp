#pragma once
// Muri's trace3 (Zhao et al., SIGCOMM 2022; Rivendile/Muri at 4e69a78, Apache-2.0) as its released simulators read it.

#include <optional>
#include <vector>

namespace contend {

inline constexpr int kMuriServers = 8, kMuriGpusPerServer = 8;

struct MuriRow {
  double submit_s = 0;
  double iteration_s = 0;  ///< 1.015 times the iteration time in the trace
  double start_s = 0;      ///< what a start takes
  double iterations = 0;
  int gpus = 1;
  bool guaranteed = false;              ///< AntMan gives it GPUs of its own
  double disk_s = 0;                    ///< of an iteration: reading
  double compute_s = 0, network_s = 0;  ///< of an iteration
};

/// The jobs in order of submission. Nothing if the trace is not there.
[[nodiscard]] std::optional<std::vector<MuriRow>> read_muri_trace();

}  // namespace contend
