#pragma once
// Figures of collectives by size: measured, expected by a library, simulated.

#include "calibration/collective_sample.hpp"
#include "report/figure.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// Times of one collective by size.
struct CollectiveCurve {
  std::string name;  ///< in the legend; a measured and an expected curve of one name share their colour
  TimedExchange exchange = TimedExchange::all_reduce;
  int ranks = 2;
  bool measured = false;        ///< drawn as dots instead of a line
  std::vector<double> bytes;    ///< > 0, ascending
  std::vector<double> seconds;  ///< > 0, one for each size
};

/// For each collective a panel of times and one of bus bandwidths, by size. For stacked_svg().
[[nodiscard]] std::vector<FigurePanel> collective_panels(std::span<const CollectiveCurve> curves);

}  // namespace contend
