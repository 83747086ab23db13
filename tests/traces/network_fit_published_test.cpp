// Fits of published measurements against what was published, or worked out from them with plain least squares. The data
// are not part of this project.

#include "layer_test_kit.hpp"

#include "calibration/dense.hpp"
#include "calibration/network_fit.hpp"
#include "tests/near.hpp"
#include "tests/test_data.hpp"
#include "traces/layers/collective_log.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <string>

using namespace contend;

namespace {

/// Fitted once, as several tests look at the same fit.
const NetworkCalibration& k80(const std::string& data, int ranks) {
  static std::map<int, NetworkCalibration> fits;
  const auto [known, is_new] = fits.try_emplace(ranks);
  const std::string path = data + "/bcaffe_googlenet_k80/allreduce" + std::to_string(ranks) + ".log";
  if (is_new)
    known->second = calibrate_network(read_collective_log(path, CollectiveFormat::osu, {.ranks = ranks}).samples);
  return known->second;
}

struct Line {
  double alpha_us, beta_ns;
};

/// Least squares of times, as they are, up to a size.
Line plain_line(const SeriesFit& series, double from, double to) {
  std::vector<double> matrix, times;
  for (const CollectiveSample& sample : series.samples) {
    const double m = sample.size.to_double();
    if (m < from || m > to) continue;
    matrix.insert(matrix.end(), {1.0, m});
    times.push_back(static_cast<double>(sample.time.ns()));
  }
  const LinearFit fit = least_squares(matrix, 2, times);
  return {fit.coefficients[0] * 1e-3, fit.coefficients[1]};
}

}  // namespace

TEST_CASE("published: plain lines through the all-reduces of the K80 cluster are met to the digit") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  // 0 to 520 kB on 10 GbE, one rank a node.
  struct Published {
    int ranks;
    Line line;
  };
  for (const Published& each :
       {Published{2, {82.5, 1.741}}, Published{4, {118.7, 2.540}}, Published{8, {731, 3.071}}}) {
    CAPTURE(each.ranks);
    const NetworkCalibration& fit = k80(*data, each.ranks);
    const Line plain = plain_line(fit.series[0], 0, 520e3);
    CHECK(plain.alpha_us == near(each.line.alpha_us, 7e-4));
    CHECK(plain.beta_ns == near(each.line.beta_ns, 3e-4));
  }
}

TEST_CASE("published: a robust line through one region agrees with the plain one") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const NetworkCalibration& fit = k80(*data, 8);
  const std::optional<LineRegion> line = fit_line(fit.series[0], {Bytes{200'000}, Bytes{500'000}});
  REQUIRE(line);
  CHECK(line->alpha.value == near(1112e3, 0.02));
  CHECK(line->beta.value == near(1.994, 0.02));
  CHECK(line->alpha.low < 1112e3);
  CHECK(1112e3 < line->alpha.high);
}

TEST_CASE("published: regions meet the K80's all-reduces, one line doesn't") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    const NetworkCalibration& fit = k80(*data, ranks);
    for (const LineRegion& region : fit.series[0].regions) CHECK(region.quality.median_error < 0.08);
    const std::size_t last = fit.series[0].regions.size() - 1;
    CHECK(fit.series[0].regions[last].quality.median_error < 0.025);
    // The jump that everybody sees: eager to rendezvous, between 8 and 12 KiB.
    CHECK(fit.series[0].regions[0].last == Bytes{8192});
  }
  const NetworkCalibration eight = k80(*data, 8);
  CHECK(fit_line(eight.series[0], {Bytes{0}, Bytes{520'000}})->quality.median_error > 0.2);
}

TEST_CASE("published: several all-reduces at once, DreamDDP") {
  const std::optional<std::string> data = test_data("overlap");
  if (!data) return;
  const std::string path = *data + "/network/dreamddp_network_benchmark_results.csv";
  const std::vector<CollectiveSample> samples = read_collective_log(path, CollectiveFormat::csv).samples;
  const NetworkCalibration all = calibrate_network(samples);
  REQUIRE(all.contention.size() == 7);
  const ContentionFit& four = all.contention[2];
  REQUIRE(four.ranks == 4);
  const std::vector<double> published{1, 1.49, 2.03, 2.61, 3.22, 4.06, 5.15, 5.83};
  for (std::size_t k = 0; k < published.size(); ++k) CHECK(std::abs(four.ratio[k] - published[k]) < 0.006);
  // Two at once take 1.5 times as long for a byte (ASC-WFBP, INFOCOM 2021): penalty -0.5. With more the gain gets less.
  const NetworkCalibration two = calibrate_network(samples, {.at_once = 2});
  REQUIRE(two.penalty);
  CHECK(two.penalty->low < -0.5);
  CHECK(-0.5 < two.penalty->high);
  CHECK(all.penalty->value > two.penalty->value);
}
