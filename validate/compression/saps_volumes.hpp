#pragma once
// What each worker sends and receives in a round of decentralised training, against the accounting of SAPS-PSGD's
// authors: Tang, Shi and Chu, ICDCS 2020, as their plotting script has it, in units of the model.

#include <string>
#include <vector>

namespace contend {

struct VolumeRow {
  std::string name;
  int workers = 0;
  double published = 0;  ///< in units of the model
  double ours = 0;       ///< from the messages that we send, likewise
};

/// PSGD, TopK-PSGD, D-PSGD and SAPS-PSGD among 14 and 32 workers. Not FedAvg and S-FedAvg (2 and 1.01), which we
/// don't have, and not DCD-PSGD (3 = 4 x 0.75), whose bits a value the script doesn't say.
[[nodiscard]] std::vector<VolumeRow> saps_volumes();

}  // namespace contend
