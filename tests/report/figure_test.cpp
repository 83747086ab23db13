#include "report/figure.hpp"

#include "report/colours.hpp"
#include "report/distributions.hpp"
#include "report/plot_scale.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {
Figure small_figure() {
  FigureSeries series = cumulative("<b>&\"", {3, 1, 3, NAN});
  return {.id = "small",
          .title = "a < b & c",
          .caption = "</script>",
          .plot = XyPlot{.x = {.title = "time", .unit = "s", .categories = {}},
                         .y = {.title = "share of jobs", .unit = "share", .categories = {}},
                         .series = {series}}};
}
}  // namespace

TEST_CASE("a cumulative curve steps once a value") {
  const FigureSeries series = cumulative("x", {3, 1, 3, NAN});
  CHECK(series.x == std::vector<double>{1, 3});
  CHECK(series.y == std::vector<double>{1.0 / 3, 1});
}

TEST_CASE("a box has quartiles, whiskers within 1.5 quartile ranges, and the rest as outliers") {
  // 1..9 and 30: quartiles (type 7) at ranks 2.25, 4.5, 6.75 from 0: 3.25, 5.5, 7.75. Range 4.5; whiskers may reach
  // from -3.5 to 14.5, so they stand at 1 and 9, and 30 is beyond.
  const BoxGroup box = box_of("b", {30, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(box.count == 10);
  CHECK(box.q1 == near(3.25));
  CHECK(box.median == near(5.5));
  CHECK(box.q3 == near(7.75));
  CHECK(box.low == 1);
  CHECK(box.high == 9);
  CHECK(box.outliers == std::vector<double>{30});
}

TEST_CASE("a curve of many points keeps its peaks, its ends and no more points than can be drawn") {
  constexpr std::size_t kAll = 1'000'000;
  FigureSeries series;
  for (std::size_t i = 0; i < kAll; ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(i == 777'777 ? 9 : i == 123'456 ? -9 : static_cast<double>(i % 7));
  }
  FigureSeries small = series;
  small.x.resize(kMostPoints);
  small.y.resize(kMostPoints);
  thin_out(small);
  CHECK(small.left_out == 0);
  thin_out(series);
  CHECK(series.x.size() == series.y.size());
  CHECK(series.x.size() <= kMostPoints);
  CHECK(series.left_out == kAll - series.x.size());
  CHECK(std::ranges::is_sorted(series.x));
  CHECK(series.x.front() == 0);
  CHECK(series.x.back() == kAll - 1);
  for (const auto& [x, y] : {std::pair{777'777.0, 9.0}, {123'456.0, -9.0}}) {
    const auto at = std::ranges::find(series.x, x);
    REQUIRE(at != series.x.end());
    CHECK(series.y[static_cast<std::size_t>(at - series.x.begin())] == y);
  }
  Figure figure{.id = "f", .title = "f", .caption = "All.", .plot = XyPlot{.x = {}, .y = {}, .series = {series}}};
  say_what_is_left_out(figure);
  CHECK(figure.caption == fmt::format("All. {} points of the curves are left out; of neighbours the first, lowest, "
                                      "highest and last are drawn.",
                                      series.left_out));
}

TEST_CASE("a curve of many points keeps its shape where few of them are") {
  // A million points in the first tenth, then 400 that fall from 400 to 1 over the other nine tenths.
  FigureSeries series;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    series.x.push_back(1e-6 * static_cast<double>(i));
    series.y.push_back(static_cast<double>(400 + i % 7));
  }
  for (std::size_t i = 0; i < 400; ++i) {
    series.x.push_back(1 + 0.0225 * static_cast<double>(i));
    series.y.push_back(static_cast<double>(400 - i));
  }
  thin_out(series);
  CHECK(series.x.size() <= kMostPoints);
  for (std::size_t i = 1; i < series.x.size(); ++i) REQUIRE(series.x[i] - series.x[i - 1] < 0.03);
}

TEST_CASE("of many outliers a box keeps the outermost") {
  std::vector<double> values(100'000, 1.0);
  for (std::size_t i = 0; i < 10'000; ++i) values.push_back(10.0 + static_cast<double>(i));
  const BoxGroup box = box_of("b", values);
  CHECK(box.count == 110'000);
  REQUIRE(box.outliers.size() == kMostOutliers);
  CHECK(box.outliers.front() == 10);
  CHECK(box.outliers.back() == 10'009);
  CHECK(box.left_out == 8'000);
}

TEST_CASE("occupancy counts what is open, also what never ends") {
  // [1, 3), [2, ...), one that never began; the end of the run is 5.
  const FigureSeries series = occupancy("n", {1, 2, NAN}, {3, NAN, NAN}, {1, 1, 1}, 5);
  CHECK(series.x == std::vector<double>{0, 1, 2, 3, 5});
  CHECK(series.y == std::vector<double>{0, 1, 2, 1, 1});
}

TEST_CASE("a queue that one leaves at the instant another joins does not jump") {
  const FigureSeries series = occupancy("n", {0, 2}, {2, 4}, {1, 1}, 4);
  CHECK(series.x == std::vector<double>{0, 4});
  CHECK(series.y == std::vector<double>{1, 0});
}

TEST_CASE("scales have round ticks") {
  const PlotScale scale = fit_scale({.title = "t", .unit = "s", .categories = {}}, {0.3, 9.7}, false);
  CHECK(scale.from == 0);
  CHECK(scale.to == 10);
  CHECK(scale.ticks == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(scale.at(5) == near(0.5));
  const PlotScale log =
      fit_scale({.title = "t", .unit = "s", .logarithmic = true, .categories = {}}, {0, 1, 1000}, true);
  CHECK(log.from == 1);
  CHECK(log.at(std::sqrt(1000.0)) == near(0.5));
  CHECK(fit_scale({.title = "t", .unit = "", .categories = {}}, {4, 4}, true).at(4) == near(0.5));
  CHECK(fit_scale({.title = "t", .unit = "", .categories = {}}, {NAN}, true).at(0) == near(0.5));
  CHECK(tick_text(0.25, "share", 0.05) == "25%");
  CHECK(tick_text(0.5, "s", 0.1) == "0.5");
  CHECK(tick_text(2000, "s", 1000) == "2000");
}

TEST_CASE("times are told in units people read, with round ticks in them") {
  const auto labels = [](const std::vector<double>& values, bool logarithmic, bool tight = false) {
    const FigureAxis axis{.title = "JCT", .unit = "s", .logarithmic = logarithmic, .categories = {}};
    const PlotScale scale = fit_scale(axis, values, tight);
    std::string text = axis_text(axis, scale) + ":";
    for (const std::string& label : tick_labels(scale, axis)) text += " " + label + ",";
    return text;
  };
  CHECK(labels({0, 13754}, false) == "JCT [h]: 0, 1, 2, 3, 4,");
  CHECK(labels({0, 600}, false) == "JCT [min]: 0, 2, 4, 6, 8, 10,");
  CHECK(labels({0, 86400 * 9}, false) == "JCT [d]: 0, 2, 4, 6, 8, 10,");
  CHECK(labels({0, 50}, false) == "JCT [s]: 0, 10, 20, 30, 40, 50,");
  CHECK(labels({0, 0.05}, false) == "JCT [ms]: 0, 10, 20, 30, 40, 50,");
  CHECK(labels({0}, false).starts_with("JCT [s]:"));
  // On a logarithmic axis every tick has its unit, and the axis has none.
  CHECK(labels({1, 100000}, true) == "JCT: 1 s, 10 s, 1 min, 10 min, 1 h, 10 h, 1 d,");
  CHECK(labels({1000, 4000}, true, true) == "JCT: 20 min, 30 min, 1 h,");
  // Values stay in seconds: an hour stands at half of two.
  const PlotScale hours = fit_scale({.title = "t", .unit = "s", .categories = {}}, {0, 7200}, true);
  CHECK(hours.at(3600) == near(0.5));
  CHECK(hours.ticks.back() == near(7200.0));
}

TEST_CASE("the numbers of figures as CSV") {
  CHECK(figure_csv(small_figure()) ==
        "series,time_s,share_of_jobs\n\"<b>&\"\"\",1,0.3333333333333333\n\"<b>&\"\"\",3,1\n");
  HeatMap map;
  map.x = {.title = "network.nic", .unit = "", .categories = {"1Gbps", "10Gbps"}};
  map.y = {.title = "kappa", .unit = "", .categories = {"1"}};
  map.value_title = "average JCT";
  map.value_unit = "s";
  map.columns = 2;
  map.values = {4.5, NAN};
  CHECK(figure_csv({.id = "m", .title = "m", .caption = "", .plot = map}) ==
        "kappa,network_nic,average_jct_s\n1,1Gbps,4.5\n");
}

TEST_CASE("a drawing is one XML document in which texts are escaped") {
  const std::string svg = figure_svg(small_figure());
  CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(occurrences(svg, "<text") == occurrences(svg, "</text>"));
  CHECK(occurrences(svg, "<path") == 1);
}

TEST_CASE("an interval does not make an axis negative that has no negative value") {
  const auto drawing = [](double y) {
    XyPlot plot;
    plot.y = {.title = "JCT", .unit = "per_s", .from_zero = true, .categories = {}};
    plot.series.push_back(
        {.name = "s", .x = {1, 2}, .y = {y, 4}, .low = {y - 30, 3}, .high = {y + 30, 5}, .labels = {}});
    return figure_svg({.id = "f", .title = "f", .caption = "", .plot = plot});
  };
  CHECK(drawing(2).find(">-") == std::string::npos);
  CHECK(drawing(-2).find(">-40<") != std::string::npos);
  CHECK(drawing(2).find("JCT [1/s]") != std::string::npos);
}

TEST_CASE("columns have the unit as stores do") {
  XyPlot plot;
  plot.x = {.title = "network.nic", .unit = "Bps", .categories = {}};
  plot.y = {.title = "average JCT", .unit = "s", .categories = {}};
  CHECK(figure_csv({.id = "f", .title = "f", .caption = "", .plot = plot}) == "series,network_nic_Bps,average_jct_s\n");
}

TEST_CASE("every kind of figure is drawn, also without values") {
  for (const SeriesMark mark : {SeriesMark::line, SeriesMark::step, SeriesMark::dots, SeriesMark::bars}) {
    XyPlot plot;
    plot.series.push_back(
        {.name = "s", .mark = mark, .x = {1, 2, 3}, .y = {1, NAN, 2}, .low = {}, .high = {}, .labels = {}});
    const std::string svg = figure_svg({.id = "f", .title = "f", .caption = "", .plot = plot});
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(figure_svg({.id = "f", .title = "f", .caption = "", .plot = XyPlot{}}).ends_with("</svg>\n"));
  }
  BoxPlot boxes{.group_title = "g", .y = {}, .groups = {box_of("one", {1, 2, 3})}};
  CHECK(occurrences(figure_svg({.id = "f", .title = "f", .caption = "", .plot = boxes}), "<rect") ==
        2);  // ground and box
}

TEST_CASE("names that don't fit side by side stand at an angle, and none is left out") {
  BoxPlot boxes{.group_title = "run", .y = {}, .groups = {}};
  const auto drawn = [&] { return figure_svg({.id = "f", .title = "f", .caption = "", .plot = boxes}); };
  for (int run = 0; run < 3; ++run) boxes.groups.push_back(box_of(fmt::format("run {}", run), {1, 2, 3}));
  CHECK(occurrences(drawn(), "rotate(-35") == 0);
  for (int run = 3; run < 14; ++run) boxes.groups.push_back(box_of(fmt::format("ada-srsf-lwf {}", run), {1, 2, 3}));
  CHECK(occurrences(drawn(), "rotate(-35") == 14);
  for (int run = 6; run < 14; ++run) CHECK(occurrences(drawn(), fmt::format(">ada-srsf-lwf {}", run)) == 1);
}

TEST_CASE("a legend shows dots as dots and bars as areas") {
  XyPlot plot;
  for (const auto& [name, mark] : {std::pair{"measured", SeriesMark::dots}, {"expected", SeriesMark::line}})
    plot.series.push_back({.name = name, .mark = mark, .x = {1}, .y = {NAN}, .low = {}, .high = {}, .labels = {}});
  const std::string dots = figure_svg({.id = "f", .title = "f", .caption = "", .plot = plot});
  CHECK(occurrences(dots, "<circle") == 1);  // no value is drawn
  CHECK(occurrences(dots, "<rect") == 1);    // the ground
  plot.series[0].mark = SeriesMark::bars;
  const std::string bars = figure_svg({.id = "f", .title = "f", .caption = "", .plot = plot});
  CHECK(occurrences(bars, "<circle") == 0);
  CHECK(occurrences(bars, "<rect") == 2);
}

TEST_CASE("a legend of many names stays within the picture and shows dashes") {
  XyPlot plot;
  constexpr std::size_t kLines = 17;
  for (std::size_t i = 0; i < kLines; ++i)
    plot.series.push_back({.name = fmt::format("a method of some length {}", i),
                           .mark = SeriesMark::line,
                           .x = {1, 2},
                           .y = {1, 2},
                           .low = {},
                           .high = {},
                           .labels = {}});
  const auto drawing = [&] { return figure_svg({.id = "f", .title = "f", .caption = "", .plot = plot}); };
  const std::string svg = drawing();
  for (const FigureSeries& each : plot.series) {
    const std::string end = ">" + each.name + "</text>";
    const std::size_t at = svg.find(end);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = svg.rfind("<text x=\"", at) + 9;
    CHECK(std::stod(svg.substr(begin)) + 6.1 * static_cast<double>(each.name.size()) < 640);
  }
  // Seven colours without dashes, seven and three with; each once as a line and once in the legend.
  CHECK(occurrences(svg, "stroke-dasharray=\"6 3\"") == 2 * 7);
  CHECK(occurrences(svg, "stroke-dasharray=\"2 2\"") == 2 * 3);
  // The plot is as high as ever, so the picture grows with the rows.
  CHECK(svg.find("height=\"400\"") == std::string::npos);
  plot.series.resize(2);
  CHECK(drawing().find("height=\"400\"") != std::string::npos);
  const std::string stack = [&] {
    plot.series.resize(kLines, plot.series.front());
    for (std::size_t i = 0; i < kLines; ++i) plot.series[i].name = fmt::format("a method of some length {}", i);
    const FigurePanel panel{.figure = {.id = "f", .title = "f", .caption = "", .plot = plot}, .height = 200};
    return stacked_svg(std::array{panel, panel});
  }();
  // Two panels of 200 and of as many further rows as the figure alone has.
  const auto height_in = [](const std::string& text) { return std::stod(text.substr(text.find(" height=\"") + 9)); };
  CHECK(height_in(stack) == 2 * (200 + height_in(svg) - 400));
}

TEST_CASE("colours of values go from dark to light and stay in range") {
  CHECK(heat_colour(0) == "#440154");
  CHECK(heat_colour(1) == "#fde725");
  CHECK(heat_colour(-3) == heat_colour(0));
  CHECK(heat_colour(0.125) == "#472d7b");
}

TEST_CASE("diverging colours part at the middle, evenly by the logarithm") {
  CHECK(diverging_colour(0) == "#ffffff");
  CHECK(diverging_colour(1) == "#0072b2");
  CHECK(diverging_colour(-1) == "#d55e00");
  CHECK(diverging_colour(7) == diverging_colour(1));
  HeatMap map;
  map.x = {.title = "x", .unit = "", .categories = {"a", "b"}};
  map.y = {.title = "y", .unit = "", .categories = {"one", "two"}};
  map.value_title = "ratio";
  map.columns = 2;
  map.values = {0.5, 2, NAN, 0.5};
  map.low = 0.25;
  map.high = 4;
  CHECK(cell_colour(map, 4) == heat_colour(1));
  map.middle = 1;
  CHECK(cell_colour(map, 2) == diverging_colour(0.5));
  CHECK(cell_colour(map, 0.5) == diverging_colour(-0.5));
  CHECK(cell_colour(map, 100) == "#0072b2");
  // 2 is parted from its neighbours 0.5 on the left and below; the empty cell is on no side.
  const std::string svg = figure_svg({.id = "f", .title = "f", .caption = "", .plot = map});
  CHECK(occurrences(svg, "stroke-width=\"1.6\"") == 2);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("ratio  0.250") != std::string::npos);
}
