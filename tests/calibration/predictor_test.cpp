#include "calibration/predictor.hpp"

#include "calibration/median.hpp"
#include "calibration/monotone_curve.hpp"
#include "calibration/noise_weights.hpp"
#include "calibration/scattered_surface.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

using namespace contend;

namespace {

using TimeOf = std::function<double(const OperatorShape&)>;

double number(std::int64_t value) {
  return static_cast<double>(value);
}

/// A GPU of 132 multiprocessors that multiply tiles of 128 x 128 in waves: each wave fills a pipeline first, and what
/// is computed of a tile beyond the matrix is wasted. No smooth surface, as no real one is.
double tiled_product(const OperatorShape& s) {
  const double tiles = number(s[0]) * std::ceil(number(s[1]) / 128) * std::ceil(number(s[2]) / 128);
  const double waves = std::ceil(tiles / 132);
  const double compute = waves * (2.0 * 128 * 128 * (number(s[3]) + 64) / 4e11);
  const double bytes = 4 * number(s[0]) * number(s[1] * s[3] + s[3] * s[2] + s[1] * s[2]);
  return 3e-6 + std::max(compute, bytes / 2.5e12);
}

/// Peak 2e13, bandwidth 1e12, half of the peak at k = 100 and m x n = 1e5.
double smooth_product(const OperatorShape& s) {
  const OperatorWork work = find_operator("gemm")->work(s, DataType::fp32);
  const double mn = number(s[0] * s[1] * s[2]), k = number(s[3]);
  const double efficiency = k / (k + 100) * mn / (mn + 1e5);
  return 4e-6 + std::max(work.flops / (2e13 * efficiency), work.bytes / 1e12);
}

OperatorTable table_of(std::string name, const std::vector<OperatorShape>& shapes, const TimeOf& time, double noise,
                       DataType type = DataType::fp32) {
  RandomStream random{7, "measurements of " + name};
  OperatorTable table;
  table.name = std::move(name);
  table.type = type;
  for (const OperatorShape& shape : shapes)
    table.samples.push_back({shape, time(shape) * random.lognormal(0, noise), 0.01, 10});
  return table;
}

OperatorPredictor predictor_of(const OperatorTable& table) {
  CalibrationProfile profile;
  profile.tables.push_back(table);
  return OperatorPredictor{profile};
}

std::vector<OperatorShape> product_grid() {
  std::vector<OperatorShape> shapes;
  for (const std::int64_t m : {64, 256, 1024, 4096})
    for (const std::int64_t n : {64, 256, 1024, 4096})
      for (const std::int64_t k : {64, 256, 1024, 4096}) shapes.push_back({1, m, n, k});
  return shapes;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Median relative error over products drawn from within the grid.
double held_out_error(const OperatorPredictor& predictor, const TimeOf& time) {
  RandomStream random{3, "held out"};
  std::vector<double> errors;
  const auto size = [&] { return static_cast<std::int64_t>(std::exp2(random.uniform(6, 12))); };
  while (errors.size() < 300) {
    const OperatorShape shape{1, size(), size(), size()};
    const Prediction prediction = predictor.predict("gemm", DataType::fp32, shape).value();
    CHECK(prediction.seconds > 0);
    CHECK(prediction.relative_error > 0);
    CHECK(prediction.basis == PredictionBasis::interpolated);
    errors.push_back(std::abs(prediction.seconds / time(shape) - 1));
  }
  return median(std::move(errors));
}

/// The table with its relevance and cross-validation.
OperatorTable fitted(OperatorTable table) {
  OperatorPredictor::fit(table, {});
  return table;
}

}  // namespace

TEST_CASE("products that were held out are predicted within 10%") {
  for (const auto& [name, time] : {std::pair<std::string, TimeOf>{"tiles and waves", tiled_product},
                                   std::pair<std::string, TimeOf>{"smooth", smooth_product}}) {
    const OperatorTable table = table_of("gemm", product_grid(), time, 0.02);
    const OperatorTable judged = fitted(table);
    const double held_out = held_out_error(predictor_of(judged), time);
    const double expected = judged.cross_validation;
    MESSAGE(name << ": 64 samples, held out: median error " << held_out << ", by cross-validation " << expected);
    CHECK(held_out < 0.1);
    // Leaving a sample out leaves a hole of twice the grid's step, so the estimate is on the safe side.
    CHECK(expected > held_out / 2);
    CHECK(expected < 0.3);
  }
}

TEST_CASE("the surface is what brings the roofline within 10%") {
  // As above, with nothing but the roofline: were its error as small, the test above could not fail.
  const OperatorTable table = table_of("gemm", product_grid(), tiled_product, 0.02);
  const RooflineFit roofline = predictor_of(table).roofline("gemm", DataType::fp32).value();
  std::vector<double> errors;
  for (const OperatorSample& sample : table.samples) {
    const OperatorWork work = find_operator("gemm")->work(sample.shape, DataType::fp32);
    errors.push_back(std::abs(roofline.seconds(work.bytes, work.flops) / sample.seconds - 1));
  }
  CHECK(median(errors) > 0.15);
}

TEST_CASE("a roofline without noise is found exactly") {
  const TimeOf time = [](const OperatorShape& s) {
    const OperatorWork work = find_operator("gemm")->work(s, DataType::fp32);
    return 5e-6 + std::max(work.flops / 1e13, work.bytes / 5e11);
  };
  const RooflineFit fit =
      predictor_of(table_of("gemm", product_grid(), time, 0)).roofline("gemm", DataType::fp32).value();
  CHECK(fit.seconds_per_flop == near(1e-13));
  CHECK(fit.seconds_per_byte == near(2e-12));
  CHECK(fit.overhead == near(5e-6));
}

TEST_CASE("a measured shape is answered as it was measured") {
  const OperatorTable table = table_of("gemm", product_grid(), tiled_product, 0.1);
  const OperatorPredictor predictor = predictor_of(table);
  for (const OperatorSample& sample : table.samples) {
    const Prediction prediction = predictor.predict("gemm", DataType::fp32, sample.shape).value();
    CHECK(prediction.seconds == sample.seconds);
    CHECK(prediction.relative_error == sample.half_width);
    CHECK(prediction.basis == PredictionBasis::measured);
  }
  CHECK_FALSE(predictor.predict("gemm", DataType::fp16, table.samples[0].shape).has_value());
  CHECK_FALSE(predictor.predict("copy", DataType::fp32, OperatorShape{1}).has_value());
}

TEST_CASE("outside of what was measured, the nearest efficiency holds, and the answer says so") {
  const OperatorTable table = table_of("gemm", product_grid(), smooth_product, 0.02);
  const OperatorPredictor predictor = predictor_of(table);
  const auto at = [&](const OperatorShape& shape) { return predictor.predict("gemm", DataType::fp32, shape).value(); };
  for (const OperatorShape& shape :
       {OperatorShape{1, 32768, 4096, 4096}, OperatorShape{1, 8, 512, 512}, OperatorShape{2, 512, 512, 512}}) {
    const Prediction prediction = at(shape);
    CHECK(prediction.basis == PredictionBasis::extrapolated);
    CHECK(prediction.relative_error >= at({1, 500, 500, 500}).relative_error);
  }
  // Large products are bound by the peak, so 8 times the work takes 8 times as long.
  CHECK(at({1, 32768, 4096, 4096}).seconds / at({1, 4096, 4096, 4096}).seconds == near(8, 0.02));
}

TEST_CASE("inside the box of the samples but far from all of them is outside, too") {
  // Along the edges only: small m with all n and the other way round.
  std::vector<OperatorShape> shapes;
  for (std::int64_t size = 16; size <= 16384; size *= 2) {
    shapes.push_back({1, 16, size, 256});
    if (size > 16) shapes.push_back({1, size, 16, 256});
  }
  const OperatorPredictor predictor = predictor_of(table_of("gemm", shapes, smooth_product, 0.01));
  const auto basis = [&](std::int64_t m, std::int64_t n) {
    return predictor.predict("gemm", DataType::fp32, OperatorShape{1, m, n, 256})->basis;
  };
  CHECK(basis(20, 300) == PredictionBasis::interpolated);
  CHECK(basis(8000, 8000) == PredictionBasis::extrapolated);
}

TEST_CASE("products that tensor cores can't load in whole are none of the measured grid") {
  std::vector<OperatorShape> shapes = product_grid();
  const auto basis = [&](std::int64_t n) {
    const OperatorPredictor predictor = predictor_of(table_of("gemm", shapes, tiled_product, 0.01, DataType::fp16));
    return predictor.predict("gemm", DataType::fp16, OperatorShape{1, 1024, n, 1024})->basis;
  };
  CHECK(basis(2000) == PredictionBasis::interpolated);
  CHECK(basis(2001) == PredictionBasis::extrapolated);
  shapes.push_back({1, 1024, 1999, 1024});
  CHECK(basis(2001) == PredictionBasis::interpolated);
}

TEST_CASE("operators of one size: straight in logarithms between samples, and never falling") {
  // A cache up to 32 MB: 5 TB/s there, 2 TB/s beyond, and 2 us for the launch. Between the samples on either side of
  // its end, 16 and 64 MiB, a line can't know where the jump is. Elsewhere times bend by up to 6% between samples.
  const TimeOf time = [](const OperatorShape& s) {
    return 2e-6 + 2 * number(s[0]) / (s[0] < 32'000'000 ? 5e12 : 2e12);
  };
  std::vector<OperatorShape> shapes;
  for (std::int64_t bytes = 1024; bytes <= 1'100'000'000; bytes *= 4) shapes.push_back({bytes});
  for (const double noise : {0.0, 0.2}) {
    const OperatorTable table = table_of("copy", shapes, time, noise);
    const OperatorPredictor predictor = predictor_of(table);
    double before = 0;
    int interpolated = 0, extrapolated = 0, beside_jump = 0;
    for (double exponent = 3; exponent < 40; exponent += 0.173) {
      const OperatorShape shape{static_cast<std::int64_t>(std::exp2(exponent))};
      const Prediction prediction = predictor.predict("copy", DataType::fp32, shape).value();
      if (prediction.basis == PredictionBasis::measured) continue;
      CHECK(prediction.seconds >= before * (1 - 1e-12));
      before = prediction.seconds;
      const bool inside = shape[0] >= 1024 && shape[0] <= table.samples.back().shape[0];
      CHECK(prediction.basis == (inside ? PredictionBasis::interpolated : PredictionBasis::extrapolated));
      ++(inside ? interpolated : extrapolated);
      if (noise > 0 || !inside) continue;
      if (16 << 20 < shape[0] && shape[0] < 64 << 20) {
        CHECK(prediction.seconds > time({16 << 20}));
        CHECK(prediction.seconds < time({64 << 20}));
        ++beside_jump;
      } else {
        CHECK(prediction.seconds == near(time(shape), 0.06));
      }
    }
    CHECK(interpolated > 90);
    CHECK((noise > 0 || beside_jump > 10));
    CHECK(extrapolated > 90);
  }
}

TEST_CASE("few samples are no ground for an error") {
  const std::vector<OperatorShape> all = product_grid();
  for (const std::size_t count : {1U, 2U, 3U}) {
    const OperatorTable table =
        table_of("gemm", {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, smooth_product, 0.01);
    CHECK(fitted(table).cross_validation == -1);
    const Prediction prediction = predictor_of(table).predict("gemm", DataType::fp32, all[40]).value();
    CHECK(prediction.basis == PredictionBasis::extrapolated);
    CHECK(prediction.relative_error == 1);
    CHECK(std::isfinite(prediction.seconds));
    CHECK(prediction.seconds > 0);
  }
  CHECK(fitted(OperatorTable{}).cross_validation == -1);
}

TEST_CASE("empty kernels: their number stands for the work") {
  const OperatorTable table = table_of(
      "launch", {{1}, {10}, {100}, {1000}}, [](const OperatorShape& s) { return 1e-6 + 2e-6 * number(s[0]); }, 0);
  const OperatorPredictor predictor = predictor_of(table);
  const Prediction far = predictor.predict("launch", DataType::fp32, OperatorShape{100'000}).value();
  CHECK(far.seconds == near(1e-6 + 2e-6 * 100'000));
  CHECK(far.basis == PredictionBasis::extrapolated);
}

TEST_CASE("convolutions without padding and tables of one value of a dimension have no logarithm of zero") {
  const TimeOf time = [](const OperatorShape& s) {
    return 5e-6 + find_operator("convolution")->work(s, DataType::fp32).flops / 1e13;
  };
  std::vector<OperatorShape> shapes;
  for (const std::int64_t channels : {32, 64, 128, 256})
    for (const std::int64_t pad : {0, 1}) shapes.push_back({8, channels, 28, 28, channels, 3, 3, 1, pad, pad});
  const OperatorPredictor predictor = predictor_of(table_of("convolution", shapes, time, 0));
  const OperatorShape between{8, 90, 28, 28, 90, 3, 3, 1, 1, 1};
  const Prediction prediction = predictor.predict("convolution", DataType::fp32, between).value();
  CHECK(prediction.basis == PredictionBasis::interpolated);
  CHECK(prediction.seconds == near(time(between)));
}

namespace {

/// A table whose samples are measured as `measure` does: the median of some repetitions, and its interval. One in three
/// is disturbed; the noise of the others is `quiet`.
OperatorTable measured_table(const std::string& op, const std::vector<OperatorShape>& shapes, const TimeOf& time,
                             double quiet, double disturbed, std::uint64_t seed) {
  RandomStream random{seed, "disturbed measurements"};
  OperatorTable table;
  table.name = op;
  for (const OperatorShape& shape : shapes) {
    const double noise = random.uniform() < 1.0 / 3 ? disturbed : quiet;
    // What disturbs a measurement lasts: its repetitions are off together, and they scatter as much.
    const double off = random.lognormal(0, noise);
    std::vector<double> repetitions;
    for (int i = 0; i < 10; ++i) repetitions.push_back(time(shape) * off * random.lognormal(0, noise));
    const MedianInterval interval = median_interval(repetitions);
    table.samples.push_back({shape, interval.median, interval.half_width(), 10});
  }
  return table;
}

/// The same with one interval for all, so that all samples count alike.
OperatorTable unweighted(OperatorTable table) {
  for (OperatorSample& each : table.samples) each.half_width = 0.01;
  return table;
}

/// Peak, bandwidth, overhead and how slowly efficiency rises, all drawn.
TimeOf drawn_product(std::uint64_t seed) {
  RandomStream random{seed, "law"};
  const double peak = std::exp2(random.uniform(40, 48)), bandwidth = std::exp2(random.uniform(37, 42));
  const double half_k = random.uniform(0, 200), half_mn = random.uniform(0, 2e5), overhead = random.uniform(1e-6, 1e-5);
  return [=](const OperatorShape& s) {
    const OperatorWork work = find_operator("gemm")->work(s, DataType::fp32);
    const double mn = number(s[0] * s[1] * s[2]), k = number(s[3]);
    const double efficiency = k / (k + half_k) * mn / (mn + half_mn);
    return overhead + std::max(work.flops / (peak * efficiency), work.bytes / bandwidth);
  };
}

/// Mean relative error of products drawn from within the grid.
double mean_error(const OperatorTable& table, const TimeOf& time) {
  const OperatorPredictor predictor = predictor_of(table);
  RandomStream random{11, "held out"};
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    OperatorShape shape{1};
    for (int d = 0; d < 3; ++d) shape.push_back(static_cast<std::int64_t>(std::exp2(random.uniform(6, 12))));
    sum += std::abs(predictor.predict("gemm", DataType::fp32, shape)->seconds / time(shape) - 1);
  }
  return sum / 100;
}

}  // namespace

TEST_CASE("samples count by how well they are known: held-out errors are smaller than if all counted alike" *
          doctest::skip(kSanitized)) {
  int better = 0;
  double with = 0, without = 0;
  constexpr int kLaws = 20;
  for (std::uint64_t seed = 1; seed <= kLaws; ++seed) {
    const TimeOf time = drawn_product(seed);
    const OperatorTable table = measured_table("gemm", product_grid(), time, 0.01, 0.3, seed);
    const double weighted = mean_error(table, time), plain = mean_error(unweighted(table), time);
    better += weighted < plain ? 1 : 0;
    with += weighted / kLaws;
    without += plain / kLaws;
  }
  MESSAGE("one sample in three disturbed by 30%: mean error of " << kLaws << " laws " << with << ", all alike "
                                                                 << without << "; better in " << better);
  CHECK(better >= 17);
  CHECK(with < 0.8 * without);
}

TEST_CASE("a roofline is found through noisy samples" * doctest::skip(kSanitized)) {
  // The same on the roofline itself: its three numbers, of 60 laws.
  double with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random{seed, "law"};
    const RooflineFit law{1 / std::exp2(random.uniform(40, 48)), 1 / std::exp2(random.uniform(37, 42)), 5e-6};
    const TimeOf time = [&](const OperatorShape& s) {
      const OperatorWork work = find_operator("gemm")->work(s, DataType::fp32);
      return law.seconds(work.bytes, work.flops);
    };
    const OperatorTable table = measured_table("gemm", product_grid(), time, 0.01, 0.3, seed);
    const auto off = [&](const OperatorTable& samples) {
      const RooflineFit fit = predictor_of(samples).roofline("gemm", DataType::fp32).value();
      return std::abs(fit.seconds_per_flop / law.seconds_per_flop - 1);
    };
    with += off(table);
    without += off(unweighted(table));
  }
  MESSAGE("mean error of the peak: " << with / 60 << ", all alike: " << without / 60);
  CHECK(with < 0.7 * without);
}

TEST_CASE("one interval that came out narrow by luck decides nothing") {
  OperatorTable table = table_of("gemm", product_grid(), smooth_product, 0.02);
  const double before = mean_error(table, smooth_product);
  const RooflineFit fit = predictor_of(table).roofline("gemm", DataType::fp32).value();
  table.samples[42].half_width = 1e-9;
  CHECK(mean_error(table, smooth_product) == before);
  const RooflineFit lucky = predictor_of(table).roofline("gemm", DataType::fp32).value();
  CHECK(lucky.seconds_per_flop == fit.seconds_per_flop);
  // Nor does one that nobody knows anything of, were it ten times too long.
  table.samples[42].seconds *= 10;
  const double spoilt = mean_error(table, smooth_product);
  table.samples[42].half_width = std::numeric_limits<double>::infinity();
  CHECK(mean_error(table, smooth_product) < spoilt);
  CHECK(mean_error(table, smooth_product) < 1.2 * before);
}

TEST_CASE("weights are inverse variances up to a floor") {
  const std::vector<double> deviations{0, 0.01, 0.02, 0.04, 1e3};
  CHECK(typical_noise(deviations) == 0.02);
  const std::vector<double> weights = noise_weights(deviations, 0.02);
  CHECK(weights[0] == 1);
  CHECK(weights[1] == 1);
  CHECK(weights[2] == 1);
  CHECK(weights[3] == near(0.25));
  CHECK(weights[4] == near(4e-10));
  CHECK(noise_weights(deviations, 0) == std::vector<double>(5, 1.0));
  CHECK(typical_noise({}) == 0);
}

TEST_CASE("a monotone curve is the least squares of all that never fall") {
  // 1, 3, 2, 2, 5: the falling middle becomes 7/3.
  const std::vector<double> y{1, 3, 2, 2, 5};
  const MonotoneCurve curve{{0, 1, 2, 3, 4}, y};
  CHECK(curve.at(-9) == 1);
  CHECK(curve.at(0.5) == near((1 + 7.0 / 3) / 2));
  for (const double x : {1.0, 1.5, 2.0, 3.0}) CHECK(curve.at(x) == near(7.0 / 3));
  CHECK(curve.at(3.5) == near((7.0 / 3 + 5) / 2));
  CHECK(curve.at(9) == 5);
  // With weights 1 and 3, a fall from 5 to 1 becomes (5 + 3) / 4.
  const std::vector<double> falling{5, 1};
  const std::vector<double> weights{1, 3};
  CHECK(MonotoneCurve{{0, 1}, falling, weights}.at(0.5) == near(2));
}

TEST_CASE("kriging meets its points where there is no noise, and its neighbours are the nearest") {
  RandomStream random{5, "points"};
  std::vector<double> coordinates, values;
  for (int i = 0; i < 40; ++i) {
    coordinates.push_back(random.uniform(0, 8));
    coordinates.push_back(random.uniform(0, 8));
    values.push_back(std::sin(coordinates[coordinates.size() - 2]) + coordinates.back() / 8);
  }
  const ScatteredSurface surface{coordinates, 2};
  for (std::size_t i = 0; i < 40; ++i) CHECK(surface.at(surface.point(i), values, {4, 1e-9}) == near(values[i], 1e-6));
  // A constant stays one, wherever it is asked for.
  const std::vector<double> constant(40, 2.5);
  CHECK(surface.at(std::vector<double>{100, -3}, constant, {4, 0.1}) == near(2.5));
  const std::vector<double> where{3, 3};
  const std::vector<Neighbour> nearest = surface.nearest(where, 5, 7);
  REQUIRE(nearest.size() == 5);
  for (std::size_t i = 0; i < 40; ++i) {
    const auto point = surface.point(i);
    const double distance = std::hypot(point[0] - 3, point[1] - 3);
    const bool listed =
        std::any_of(nearest.begin(), nearest.end(), [&](const Neighbour& each) { return each.index == i; });
    if (i != 7) CHECK(listed == (distance < nearest.back().distance * (1 + 1e-12)));
    if (i == 7) CHECK_FALSE(listed);
  }
}

TEST_CASE("predictions from noisy tables, with their errors") {
  // As the fits gave them when their parts were tested against their equations, so that nothing between them changes
  // unnoticed: products among and beside disturbed samples, copies on a curve, and what cross-validation says.
  struct Expected {
    OperatorShape shape;
    double seconds, error;
  };
  const OperatorTable products = measured_table("gemm", product_grid(), smooth_product, 0.02, 0.3, 3);
  const Expected of_products[] = {
      {{1, 100, 100, 100}, 6.28313857e-06, 0.121543107},    {{1, 64, 64, 65}, 6.33421457e-06, 0.121543107},
      {{1, 1000, 300, 2000}, 9.03842073e-05, 0.0676554301}, {{1, 4096, 4096, 8192}, 0.0141006847, 0.414889327},
      {{1, 20, 4096, 4096}, 0.000155749153, 0.414889327},   {{1, 513, 777, 65}, 1.22766848e-05, 0.18452263},
      {{1, 4000, 64, 70}, 1.04256737e-05, 0.0406995722},    {{1, 1024, 1024, 1000}, 0.000136590795, 0.0763867656},
      {{2, 256, 256, 256}, 1.31028837e-05, 0.414889327},
  };
  std::vector<OperatorShape> sizes;
  for (std::int64_t size = 1000; size <= 100'000'000; size *= 3) sizes.push_back({size});
  const TimeOf copied = [](const OperatorShape& s) { return 2e-6 + number(s[0]) / 7e11; };
  const OperatorTable copies = measured_table("copy", sizes, copied, 0.02, 0.4, 4);
  const Expected of_copies[] = {
      {{500}, 2.01144844e-06, 0.179689649},        {{1500}, 2.01216814e-06, 0.101698774},
      {{50'000}, 2.07436722e-06, 0.101698774},     {{2'000'000}, 4.83141513e-06, 0.153081841},
      {{70'000'000}, 0.000129007466, 0.179689649}, {{900'000'000}, 0.00162873869, 0.179689649},
  };
  const auto check = [](const OperatorTable& table, std::span<const Expected> all) {
    const OperatorPredictor predictor = predictor_of(table);
    for (const Expected& each : all) {
      const Prediction found = predictor.predict(table.name, table.type, each.shape).value();
      CAPTURE(table.name);
      CAPTURE(each.shape.back());
      CHECK(found.seconds == near(each.seconds, 1e-6));
      CHECK(found.relative_error == near(each.error, 1e-6));
    }
  };
  check(products, of_products);
  check(copies, of_copies);
  CHECK(fitted(products).cross_validation == near(0.0546991997, 1e-6));
  CHECK(fitted(copies).cross_validation == near(0.158079168, 1e-6));
  const RooflineFit fit = predictor_of(products).roofline("gemm", DataType::fp32).value();
  CHECK(1 / fit.seconds_per_flop == near(1.71259525e+13, 1e-6));
  CHECK(1 / fit.seconds_per_byte == near(3.83918503e+11, 1e-6));
  CHECK(fit.overhead == near(6.43799554e-06, 1e-6));
}

TEST_CASE("a table of another layout corrects the predictions of the product") {
  // A weight gradient that takes 1.5 times as long, measured at few shapes; the law of the product has steps.
  const OperatorTable products = table_of("gemm", product_grid(), tiled_product, 0);
  std::vector<OperatorShape> few;
  for (std::size_t i = 0; i < product_grid().size(); i += 5) few.push_back(product_grid()[i]);
  const OperatorTable gradients = table_of(
      "gemm_tn", few, [](const OperatorShape& shape) { return 1.5 * tiled_product(shape); }, 0);
  CalibrationProfile profile;
  profile.tables = {products, gradients};
  const OperatorPredictor both{profile};
  RandomStream random{11, "shapes"};
  double worst_alone = 0;
  for (int i = 0; i < 50; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(std::exp2(random.uniform(6, 12))); };
    const OperatorShape shape{1, size(), size(), size()};
    const Prediction product = both.predict("gemm", DataType::fp32, shape).value();
    const Prediction gradient = both.predict("gemm_tn", DataType::fp32, shape).value();
    CHECK(gradient.seconds == near(1.5 * product.seconds, 1e-9));
    CHECK(gradient.relative_error >= product.relative_error);
    const Prediction alone = predictor_of(gradients).predict("gemm_tn", DataType::fp32, shape).value();
    worst_alone = std::max(worst_alone, std::abs(alone.seconds / gradient.seconds - 1));
  }
  CHECK(worst_alone > 0.05);  // 13 shapes alone say less
  OperatorTable fitted_one = gradients;
  OperatorPredictor::fit(fitted_one, profile);
  CHECK(fitted_one.cross_validation < 1e-9);
}
