#pragma once
// Colours of figures. Series use the colours of Okabe and Ito (Color Universal Design, 2008), which most colour-blind
// people can tell apart; values use viridis (S. van der Walt and N. Smith, matplotlib, CC0), which is even in
// lightness.

#include "report/figure.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace contend {

inline constexpr std::array<std::string_view, 7> kSeriesColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                                   "#e69f00", "#56b4e9", "#5c5c5c"};

[[nodiscard]] constexpr std::string_view series_colour(std::size_t series) {
  return kSeriesColours[series % kSeriesColours.size()];
}

/// `#rrggbb` for a shade from 0 (dark) to 1 (light).
[[nodiscard]] std::string heat_colour(double shade);

/// `#rrggbb` for a shade from -1 (vermilion) through 0 (white) to 1 (blue).
[[nodiscard]] std::string diverging_colour(double shade);

/// The colour of a value in a heat map.
[[nodiscard]] std::string cell_colour(const HeatMap& map, double value);

/// The values at the ends of the colour scale.
[[nodiscard]] std::pair<double, double> heat_range(const HeatMap& map);

}  // namespace contend
