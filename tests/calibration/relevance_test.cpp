#include "calibration/relevance.hpp"

#include "calibration/operators.hpp"
#include "calibration/predictor.hpp"
#include "calibration/table_fit.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace contend {

namespace {

std::vector<std::size_t> first(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

/// A cast whose time is the time of its elements, with a step where they leave a cache of 50 MB.
OperatorTable cast_table(double reach) {
  OperatorTable table{.name = "cast_transpose", .type = DataType::bf16, .samples = {}};
  for (std::int64_t rows = 256; rows <= 16'384; rows *= 4)
    for (std::int64_t columns = 1024; columns <= 16'384; columns *= 4) {
      const double elements = static_cast<double>(rows * columns);
      const double rate = 4 * elements < 50e6 ? 4e12 : 1.5e12 * reach;
      table.samples.push_back(
          {.shape = {rows, columns}, .seconds = 2e-6 + 4 * elements / rate, .half_width = 1e-3, .repetitions = 20});
    }
  return table;
}

}  // namespace

TEST_CASE("relevance: a coordinate that changes nothing has less of it than one that changes values") {
  std::vector<double> coordinates, values;
  for (int x = 0; x < 6; ++x)
    for (int y = 0; y < 6; ++y) {
      coordinates.insert(coordinates.end(), {static_cast<double>(x), static_cast<double>(y)});
      values.push_back(std::sin(1.5 * x));
    }
  const std::vector<double> found = find_relevance(coordinates, 2, values, {}, first(values.size()));
  REQUIRE(found.size() == 2);
  CHECK(found[0] == 1);
  CHECK(found[1] <= 0.25);
  const auto error = [&](const std::vector<double>& relevance) {
    const ScatteredSurface surface{scaled(coordinates, relevance), 2};
    return surface.error(values, surface.best_settings(values));
  };
  CHECK(error(found) < error({1, 1}) / 4);
}

TEST_CASE("relevance: few points or one coordinate leave it equal") {
  const std::vector<double> values{1, 2, 3, 1, 2, 3};
  const std::vector<double> six{1, 1, 2, 5, 3, 1, 1, 9, 2, 2, 3, 3};
  CHECK(find_relevance(six, 2, values, {}, first(6)) == std::vector<double>{1, 1});
  std::vector<double> many(20);
  std::iota(many.begin(), many.end(), 0.0);
  CHECK(find_relevance(many, 1, many, {}, first(20)) == std::vector<double>{1});
}

TEST_CASE("relevance: shapes of equal bytes predict each other") {
  OperatorTable table = cast_table(1);
  const TableFit plain{table};
  std::vector<double> without = plain.errors();
  std::nth_element(without.begin(), without.begin() + 6, without.end());
  OperatorPredictor::fit(table, {});
  CHECK(table.cross_validation < 0.05);
  CHECK(table.cross_validation < without[6] / 2);
  CHECK(TableFit::feature_names(*find_operator("cast_transpose"), DataType::bf16) ==
        std::vector<std::string_view>{"rows", "columns", "bytes", "flops"});
  REQUIRE(table.relevance.size() == 4);
  CHECK(std::max(table.relevance[2], table.relevance[3]) == 1);
  // Shapes between the samples, of a number of elements that the samples have and of columns that they don't.
  CalibrationProfile profile;
  profile.tables.push_back(table);
  const OperatorPredictor predictor{profile};
  const Prediction found =
      predictor.predict("cast_transpose", DataType::bf16, std::vector<std::int64_t>{2048, 2048}).value();
  CHECK(found.seconds == near(2e-6 + 4.0 * 2048 * 2048 / 4e12, 0.05));
}

TEST_CASE("relevance: errors of samples are no smaller than cross-validation says") {
  OperatorTable table = cast_table(2);
  OperatorPredictor::fit(table, {});
  table.cross_validation = 0.2;
  std::vector<double> errors = TableFit{table}.errors();
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  CHECK(errors[errors.size() / 2] == near(0.2));
}

TEST_CASE("a table is one of deviations from copies where a cache shows") {
  const auto copy_s = [](double bytes) {
    const double cached = std::min(bytes, 50e6);
    return 2e-6 + cached / 5e12 + (bytes - cached) / 1e12;
  };
  // Wide rows take 2% longer with each factor of two.
  const auto rows_s = [&](std::int64_t height, std::int64_t width) {
    return (1 + 0.02 * std::log2(static_cast<double>(width))) * copy_s(4.0 * static_cast<double>(height * width));
  };
  CalibrationProfile with;
  OperatorTable copies{.name = "copy", .type = DataType::fp32, .samples = {}};
  for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 2)
    copies.samples.push_back({{bytes}, copy_s(2.0 * static_cast<double>(bytes)), 1e-3, 20});
  OperatorTable rows{.name = "layer_norm", .type = DataType::bf16, .samples = {}};
  for (std::int64_t height = 64; height <= 65'536; height *= 4)
    for (std::int64_t width = 64; width <= 16'384; width *= 4)
      rows.samples.push_back({{height, width}, rows_s(height, width), 1e-3, 20});
  with.tables = {copies, rows};
  CalibrationProfile without;
  without.tables = {rows};
  OperatorPredictor::fit_all(with, 1);
  OperatorPredictor::fit_all(without, 1);
  CHECK(with.tables[1].from_copies);
  CHECK_FALSE(without.tables[0].from_copies);
  const OperatorPredictor copied{with}, plain{without};
  double of_copied = 0, of_plain = 0;
  for (const std::int64_t height : {700, 3000, 9000, 20'000})
    for (const std::int64_t width : {150, 700, 3000, 8000}) {
      const std::vector<std::int64_t> shape{height, width};
      const auto error = [&](const OperatorPredictor& predictor) {
        const Prediction found = predictor.predict("layer_norm", DataType::bf16, shape).value();
        return std::abs(found.seconds / rows_s(height, width) - 1);
      };
      of_copied += error(copied);
      of_plain += error(plain);
    }
  CHECK(of_copied < of_plain / 2);
}

TEST_CASE("fits in several threads are those in one") {
  CalibrationProfile profile;
  for (const double reach : {1.0, 2.0}) profile.tables.push_back(cast_table(reach));
  profile.tables[1].type = DataType::fp16;
  CalibrationProfile other = profile, one_by_one = profile;
  OperatorPredictor::fit_all(profile, 1);
  OperatorPredictor::fit_all(other, 4);
  for (OperatorTable& each : one_by_one.tables) OperatorPredictor::fit(each, one_by_one);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(profile.tables[i].cross_validation == other.tables[i].cross_validation);
    CHECK(profile.tables[i].relevance == other.tables[i].relevance);
    CHECK(profile.tables[i].cross_validation == one_by_one.tables[i].cross_validation);
  }
}

TEST_CASE("relevance: products in less than 32 bits have their alignment") {
  CHECK(TableFit::feature_names(*find_operator("gemm"), DataType::bf16) ==
        std::vector<std::string_view>{"batch", "m", "n", "k", "alignment", "bytes", "flops"});
  CHECK(TableFit::feature_names(*find_operator("gemm"), DataType::fp32) ==
        std::vector<std::string_view>{"batch", "m", "n", "k", "bytes", "flops"});
  CHECK(TableFit::feature_names(*find_operator("copy"), DataType::fp32) == std::vector<std::string_view>{"bytes"});
}

TEST_CASE("relevance: the rows of a product in memory count, not how many there are") {
  // Twice as slow where the rows of the operands, k and n numbers (of gradients of weights m and n), are odd.
  for (const std::string_view name : {"gemm", "gemm_tn"}) {
    OperatorTable table;
    table.name = name;
    table.type = DataType::bf16;
    for (const std::int64_t m : {1024, 1536, 2048, 3072})
      for (const std::int64_t n : {1024, 2048})
        for (const std::int64_t k : {1024, 2048})
          for (const int odd : {0, 1}) {
            const std::int64_t high = m + (name == "gemm_tn" ? odd : 0), inner = k + (name == "gemm_tn" ? 0 : odd);
            const double work = static_cast<double>(high * n * inner) * 1e-14;
            table.samples.push_back({{1, high, n, inner}, (1 + odd) * work, 1e-3, 10});
          }
    OperatorPredictor::fit(table, {});
    const TableFit fit{table};
    const auto ratio = [&](std::int64_t m, std::int64_t k) {
      return fit.predict(std::array<std::int64_t, 4>{1, m, 2048, k}).seconds /
             (static_cast<double>(m * 2048 * k) * 1e-14);
    };
    const bool of_weights = name == "gemm_tn";
    CHECK(ratio(2560, 2048) == near(1, 0.1));
    CHECK(ratio(2561, 2048) == near(of_weights ? 2 : 1, 0.1));
    CHECK(ratio(2560, 1537) == near(of_weights ? 1 : 2, 0.1));
  }
}

}  // namespace contend
