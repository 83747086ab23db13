// Profiles joined and held against each other.

#include "calibration/predictor.hpp"
#include "calibration/profile_comparison.hpp"
#include "calibration/profile_merge.hpp"
#include "sim/error.hpp"
#include "tests/calibration/synthetic_profile.hpp"
#include "tests/near.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Sums three times as slow as the sums of synthetic_profile(), and softmax, which that one lacks.
CalibrationProfile by_a_framework() {
  CalibrationProfile other = synthetic_profile();
  other.libraries = "a framework";
  other.tables = {synthetic_table("sum", DataType::fp16, {{1 << 10}, {1 << 15}, {1 << 20}, {1 << 25}}),
                  synthetic_table("softmax", DataType::fp16, {{64, 64}})};
  for (OperatorSample& each : other.tables[0].samples) each.seconds *= 3;
  return other;
}

const TableComparison& of(const std::vector<TableComparison>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(), [&](const TableComparison& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("tables of another profile replace the tables of the first, in the order of operators") {
  CalibrationProfile base = synthetic_profile();
  base.libraries = "own kernels";
  base.skipped = {{"softmax", DataType::fp16, {}, "too slow"}, {"softmax", DataType::fp32, {}, "too slow"}};
  const CalibrationProfile merged = with_tables_of(base, by_a_framework());
  CHECK(merged.libraries == "own kernels; sum (fp16), softmax (fp16) by a framework");
  const OperatorTable* const sum = merged.table("sum", DataType::fp16);
  REQUIRE(sum != nullptr);
  CHECK(sum->samples.size() == 4);
  CHECK(sum->samples[2].seconds == near(3 * synthetic_seconds("sum", DataType::fp16, {1 << 20})));
  OperatorTable fitted = *sum;
  OperatorPredictor::fit(fitted, {});
  CHECK(sum->cross_validation == fitted.cross_validation);
  CHECK(sum->relevance == fitted.relevance);
  CHECK(merged.table("sum", DataType::fp32)->samples.size() == base.table("sum", DataType::fp32)->samples.size());
  CHECK(merged.tables.size() == base.tables.size() + 1);
  REQUIRE(merged.skipped.size() == 1);
  CHECK(merged.skipped[0].type == DataType::fp32);
  CHECK(std::is_sorted(merged.tables.begin(), merged.tables.end(), [](const auto& a, const auto& b) {
    return std::pair{find_operator(a.name), a.type} < std::pair{find_operator(b.name), b.type};
  }));
}

TEST_CASE("a joined profile keeps what the second skipped, and no pairs with operations that are another's now") {
  CalibrationProfile base = synthetic_profile();
  base.libraries = "own kernels";
  for (const DataType type : {DataType::fp16, DataType::fp32}) {
    base.tables.push_back(synthetic_table("layer_norm", type, {{64, 64}}));
    base.tables.push_back(synthetic_table("layer_norm_beside_reduce", type, {{64, 64, 8}}));
    base.tables.push_back(synthetic_table("reduce_beside_layer_norm", type, {{64, 64, 8}}));
  }
  CalibrationProfile other = by_a_framework();
  other.tables.push_back(synthetic_table("layer_norm", DataType::fp16, {{64, 64}}));
  other.skipped = {{"layer_norm", DataType::fp16, {4096, 4096}, "no time"}, {"rope", DataType::fp16, {}, "unknown"}};
  const CalibrationProfile merged = with_tables_of(base, other);
  CHECK_FALSE(merged.has_samples("layer_norm_beside_reduce", DataType::fp16));
  CHECK_FALSE(merged.has_samples("reduce_beside_layer_norm", DataType::fp16));
  CHECK(merged.has_samples("layer_norm_beside_reduce", DataType::fp32));
  REQUIRE(merged.skipped.size() == 3);
  CHECK(merged.skipped[0].reason == "no time");
  CHECK(merged.skipped[1].reason == "layer_norm is by a framework here");
  // Pairs that were measured with it come along.
  other.tables.push_back(synthetic_table("layer_norm_beside_reduce", DataType::fp16, {{64, 64, 8}}));
  CHECK(with_tables_of(base, other).has_samples("layer_norm_beside_reduce", DataType::fp16));
}

TEST_CASE("parts of one library's profile are joined under its name") {
  CalibrationProfile parts = by_a_framework(), more = by_a_framework();
  parts.tables.pop_back();
  CHECK(with_tables_of(parts, more).libraries == "a framework");
}

TEST_CASE("profiles of different devices, and one without samples, are not joined") {
  CalibrationProfile other = by_a_framework();
  other.device = "another law";
  CHECK_THROWS_WITH_AS((void)with_tables_of(synthetic_profile(), other),
                       doctest::Contains("the first profile says \"a law\", the second \"another law\""), InputError);
  CalibrationProfile none = synthetic_profile();
  none.tables.clear();
  CHECK_THROWS_WITH_AS((void)with_tables_of(synthetic_profile(), none),
                       doctest::Contains("the second profile has no samples"), InputError);
}

TEST_CASE("a comparison takes shapes of both as repetitions, and shapes of the second alone as held out") {
  CalibrationProfile second = synthetic_profile();
  // Two sizes that the first has, of which one is a tenth slower; one between its sizes; one beyond them.
  second.tables = {synthetic_table("copy", DataType::fp32, {{1 << 12}, {1 << 20}, {3 << 19}, {std::int64_t{1} << 32}}),
                   synthetic_table("softmax", DataType::fp32, {{64, 64}})};
  second.tables[0].samples[1].seconds *= 1.1;
  const std::vector<TableComparison> found = compare_profiles(synthetic_profile(), second);
  CHECK(found.size() == 1);  // the first has no softmax
  const TableComparison& copies = of(found, "copy");
  REQUIRE(copies.apart.size() == 2);
  CHECK(copies.apart[0] == 0);
  CHECK(copies.apart[1] == near(0.1, 1e-9));
  REQUIRE(copies.errors.size() == 1);
  CHECK(copies.errors[0] < 0.02);
  CHECK(copies.errors[0] > 0);
  CHECK(copies.beyond == 1);
  second.tables.erase(second.tables.begin());
  CHECK_THROWS_WITH_AS((void)compare_profiles(synthetic_profile(), second), doctest::Contains("no operator in common"),
                       InputError);
}
