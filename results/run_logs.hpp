#pragma once
// The log of one run, by which others check its results: docs/reference/certificate.md.

#include <string>

namespace contend {

/// Rows of tables, without headers; all are empty unless the run was certified.
struct RunLogs {
  std::string lives;      ///< of certificate.csv
  std::string transfers;  ///< of transfers.csv
  std::string graphs;     ///< of graphs.csv
};

}  // namespace contend
