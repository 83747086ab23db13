#include "report/fit_figures.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

NetworkCalibration calibration(bool with_sizes, bool with_jobs) {
  std::vector<CollectiveSample> samples;
  if (with_sizes)
    for (std::int64_t m = 1024; m <= 1 << 20; m *= 2)
      samples.push_back({TimedExchange::all_reduce, 4, 1, Bytes{m}, Time::nanoseconds(50'000 + 2 * m)});
  if (with_jobs)
    for (int k = 1; k <= 3; ++k)
      samples.push_back({TimedExchange::all_reduce, 8, k, Bytes{1 << 20}, Time::microseconds(1000 * k)});
  return calibrate_network(samples);
}

}  // namespace

TEST_CASE("fit figures: points and lines above, residuals below") {
  const std::vector<FigurePanel> panels = fit_panels(calibration(true, true));
  REQUIRE(panels.size() == 4);
  const auto& fit = std::get<XyPlot>(panels[0].figure.plot);
  CHECK(fit.x.logarithmic);
  REQUIRE(fit.series.size() == 2);
  CHECK(fit.series[0].name == fit.series[1].name);
  CHECK(fit.series[0].y.front() == near(52.048));
  CHECK(fit.series[1].y.front() == near(52.048));
  CHECK(fit.series[1].y.back() == near(2147.152));
  for (const double off : std::get<XyPlot>(panels[1].figure.plot).series[0].y) CHECK(off == 0);
  const auto& jobs = std::get<XyPlot>(panels[2].figure.plot);
  CHECK(jobs.series[0].y == std::vector<double>{1, 2, 3});
  CHECK(jobs.series[1].y.back() == near(3));
  CHECK(fit_panels(calibration(false, true)).size() == 2);
  CHECK(fit_panels(calibration(true, false)).size() == 2);
  CHECK(fit_panels({}).empty());
}

TEST_CASE("stacked panels are one picture, aligned at the left") {
  const std::string svg = stacked_svg(fit_panels(calibration(true, false)));
  CHECK(occurrences(svg, "<svg ") == 3);
  CHECK(occurrences(svg, "</svg>") == 3);
  CHECK(svg.find("viewBox=\"0 0 640 660\"") != std::string::npos);
  CHECK(svg.find("height=\"260\" y=\"400\"") != std::string::npos);
  CHECK(occurrences(svg, "<circle") == 22);  // the line has none
  // Both horizontal axes begin at the same place.
  const std::string axis = "stroke=\"#57606a\"/>";
  const std::size_t first = svg.find(axis), second = svg.find("<svg ", first);
  const auto x1 = [&](std::size_t end) {
    const std::size_t at = svg.rfind("x1=\"", end);
    return svg.substr(at, svg.find(' ', at) - at);
  };
  CHECK(x1(first) == x1(svg.find(axis, second)));
}
