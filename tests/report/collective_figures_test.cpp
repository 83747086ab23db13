// Figures of collectives by size.

#include "report/collective_figures.hpp"

#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("collective figures: sizes are named as people write them") {
  CollectiveCurve curve;
  curve.name = "a";
  for (int power = 3; power <= 30; ++power) {
    curve.bytes.push_back(std::ldexp(1, power));
    curve.seconds.push_back(1e-3);
  }
  CollectiveCurve other = curve;
  other.name = "b";
  const std::vector<FigurePanel> panels = collective_panels(std::vector{curve, other});
  const auto& plot = std::get<XyPlot>(panels[0].figure.plot);
  CHECK(plot.x.tick_names == std::vector<std::string>{"8B", "128B", "2KiB", "32KiB", "512KiB", "8MiB", "128MiB"});
  CHECK(plot.x.ticks[1] == 128);
  CHECK(panels[0].figure.title == "Time of one all-reduce by its size");
  const std::string svg = stacked_svg(panels);
  CHECK(svg.find(">512KiB</text>") != std::string::npos);
  CHECK(svg.find("1e+0") == std::string::npos);
}

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
  other.exchange = TimedExchange::broadcast;
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
  // One name: the title has it, since there is no legend.
  CHECK(panels[0].figure.title == "Time of one all-reduce by its size: 4 ranks");
}
