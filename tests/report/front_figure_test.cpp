// The Pareto front as a figure: which points are in which series, and in which order the line goes.
#include "report/front_figure.hpp"

#include "tests/text_checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const XyPlot& plot_of(const Figure& figure) {
  return std::get<XyPlot>(figure.plot);
}

using Kind = FrontPoint::Kind;

}  // namespace

TEST_CASE("the line of a front keeps the y of the better x until the next point") {
  const std::vector<FrontPoint> points{{3, 10, Kind::front, "c"}, {1, 40, Kind::front, "a"}, {2, 20, Kind::front, "b"}};
  const Figure less = front_figure("s", {"time", "s", false}, {"cost", "", false}, points);
  REQUIRE(plot_of(less).series.size() == 2);
  CHECK(plot_of(less).series[0].mark == SeriesMark::step);
  CHECK(plot_of(less).series[0].x == std::vector<double>{1, 2, 3});
  CHECK(plot_of(less).series[0].y == std::vector<double>{40, 20, 10});
  CHECK(plot_of(less).series[1].name == plot_of(less).series[0].name);
  // Where more is better the best x is the largest.
  const Figure more = front_figure("s", {"use", "share", true}, {"cost", "", false}, points);
  CHECK(plot_of(more).series[0].x == std::vector<double>{3, 2, 1});

  const std::string svg = figure_svg(less);
  CHECK(contains(svg, "time, less is better [s]"));
  CHECK(contains(figure_svg(more), "use, more is better"));
  CHECK(contains(svg, "s: time and cost"));
  // Two steps, each horizontal first, and three dots.
  const std::size_t path = svg.find("<path d=\"M");
  REQUIRE(path != std::string::npos);
  const std::string line = svg.substr(path, svg.find("fill", path) - path);
  CHECK(std::count(line.begin(), line.end(), 'H') == 2);
  CHECK(line.find('H') < line.find('V'));
}

TEST_CASE("ties, dominated points and those that break a bound have a series each, if there are any") {
  const Figure all = front_figure("s", {"time", "s", false}, {"use", "share", true},
                                  {{1, 0.5, Kind::front, "a"},
                                   {2, 0.4, Kind::tie, "b"},
                                   {3, 0.3, Kind::dominated, "c"},
                                   {4, 0.2, Kind::dominated, "d"},
                                   {0, 0.9, Kind::broken, "e"}});
  std::string names;
  for (const FigureSeries& each : plot_of(all).series) names += each.name + ":" + std::to_string(each.x.size()) + " ";
  CHECK(names == "Pareto front:1 Pareto front:1 dominated:2 dominated, perhaps by chance:1 breaks a bound:1 ");
  CHECK(contains(figure_csv(all), "breaks a bound"));
  CHECK_FALSE(contains(
      figure_svg(front_figure("s", {"time", "s", false}, {"use", "share", true}, {{1, 0.5, Kind::front, "a"}})),
      "breaks a bound"));
}
