// Figures of collectives by size.

#include "report/collective_figures.hpp"

#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("collective figures: a panel of times and one of bus bandwidths for each collective") {
  CollectiveCurve measured;
  measured.name = "4 ranks";
  measured.ranks = 4;
  measured.measured = true;
  measured.bytes = {1e6, 4e6};
  measured.seconds = {1e-3, 2e-3};
  CollectiveCurve expected = measured;
  expected.measured = false;
  CollectiveCurve other = expected;
  other.kind = CollectiveKind::broadcast;
  const std::vector<CollectiveCurve> curves{measured, expected, other};
  const std::vector<FigurePanel> panels = collective_panels(curves);
  REQUIRE(panels.size() == 4);
  const auto& times = std::get<XyPlot>(panels[0].figure.plot);
  const auto& rates = std::get<XyPlot>(panels[1].figure.plot);
  REQUIRE(times.series.size() == 2);
  CHECK(times.series[0].mark == SeriesMark::dots);
  CHECK(times.series[1].mark == SeriesMark::line);
  CHECK(times.series[0].y[1] == near(2000));
  CHECK(rates.series[0].y[1] == near(2 * 1.5));
  CHECK(std::get<XyPlot>(panels[3].figure.plot).series[0].y[0] == near(1));
  CHECK(stacked_svg(panels).find("bus bandwidth") != std::string::npos);
}
