#pragma once
// The Pareto front of a search with two goals, as a figure.

#include "report/figure.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// One of the two goals.
struct FrontGoal {
  std::string title;  ///< of the metric, without its unit
  std::string unit;   ///< as in FigureAxis
  bool maximise = false;
};

/// A point that ran: the means of both goals.
struct FrontPoint {
  enum class Kind : std::uint8_t {
    front,      ///< no other that holds the bounds is as good in both goals and better in one
    tie,        ///< one is, but the seeds can't tell it from chance
    dominated,  ///< worse
    broken,     ///< breaks a bound
  };
  double x = 0, y = 0;
  Kind kind = Kind::dominated;
  std::string label;
};

/// The points, and the front as the edge of what can be had: a value of x allows the y of the best point that is at
/// least as good in x. Series without points are left out.
[[nodiscard]] Figure front_figure(const std::string& name, const FrontGoal& x, const FrontGoal& y,
                                  std::vector<FrontPoint> points);

}  // namespace contend
