#pragma once
// Compares the bytes that each worker sends and receives in a round of decentralised training with the accounting of
// the SAPS-PSGD authors (Tang, Shi and Chu, ICDCS 2020, in their plotting script), in units of the model size.

#include <string>
#include <vector>

namespace contend {

struct VolumeRow {
  std::string name;
  int workers = 0;
  double published = 0;  ///< in units of the model size
  double ours = 0;       ///< in the same unit, from the simulated messages
};

/// PSGD, TopK-PSGD, D-PSGD and SAPS-PSGD among 14 and 32 workers. FedAvg and S-FedAvg (2 and 1.01) are not implemented
/// here; DCD-PSGD (3 = 4 x 0.75) is left out because the script does not state its bits per value.
[[nodiscard]] std::vector<VolumeRow> saps_volumes();

}  // namespace contend
