#pragma once
// Formats the times of collectives for people and for programs.

#include "calibration/collective_sample.hpp"
#include "report/figure.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The expected time of one collective, or of messages.
struct CollectiveRow {
  TimedExchange exchange = TimedExchange::all_reduce;
  int servers = 1, ranks = 2;
  Bytes size;                        ///< > 0
  std::string source;                ///< what expects it: `NCCL 2.23.4` or `fabric`
  double seconds = 0;                ///< > 0
  std::string algorithm;             ///< empty if it is not known
  std::string protocol;              ///< empty if it is not known
  bool chosen = true;                ///< false: NCCL would choose another algorithm or protocol
  std::optional<double> measured{};  ///< s
  bool for_fit = false;              ///< the measured time was used to fit the expected one

  /// Expected over measured, less 1.
  [[nodiscard]] double deviation() const { return seconds / *measured - 1; }
};

/// A row for each collective and size, and the sources side by side.
[[nodiscard]] std::string collective_text(const std::vector<CollectiveRow>& rows);
/// All rows one below the other, each with its algorithm and protocol, and a star beside those chosen.
[[nodiscard]] std::string algorithms_text(const std::vector<CollectiveRow>& rows);
/// A row for each measured size and source, and below them the medians of each collective.
[[nodiscard]] std::string measured_text(const std::vector<CollectiveRow>& rows);
[[nodiscard]] std::string collective_csv(const std::vector<CollectiveRow>& rows);
[[nodiscard]] std::string collective_json(const std::vector<CollectiveRow>& rows);
/// Curves of times and bus bandwidths by size, of the rows chosen.
[[nodiscard]] std::string collective_svg(const std::vector<CollectiveRow>& rows);

}  // namespace contend
