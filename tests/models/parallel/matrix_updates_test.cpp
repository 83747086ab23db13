#include "models/parallel/matrix_updates.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

double flops_of(const std::vector<TransformerOperator>& products) {
  double sum = 0;
  for (const TransformerOperator& each : products) sum += each.forward.flops;
  return sum;
}

}  // namespace

TEST_CASE("Muon: five iterations of three products in bf16") {
  const double m = 4096, n = 11008;
  for (const WeightShape& shape : {WeightShape{4096, 11008, 1, true}, WeightShape{11008, 4096, 1, true}}) {
    const MatrixProducts made = products_of(*find_optimizer("muon"), shape);
    CHECK(made.each.size() == 15);
    CHECK(made.seldom.empty());
    // X X^T of m x m and A A of m x m, and B X of m x n: 2 m^2 n + 2 m^3 + 2 m^2 n.
    CHECK(flops_of(made.each) == 5 * (4 * m * m * n + 2 * m * m * m));
    CHECK(flops_of(made.each) == 4'380'866'641'920);
    // In bf16: X twice and A; A three times and A A + A; A, X three times.
    CHECK(made.each[0].forward.bytes == 2 * (2 * m * n + m * m));
    CHECK(made.each[1].forward.bytes == 2 * (4 * m * m));
    CHECK(made.each[2].forward.bytes == 2 * (m * m + 3 * m * n));
    CHECK(made.each[0].type == DataType::bf16);
  }
  CHECK(product_kernels(*find_optimizer("muon"), {4096, 11008, 1, true}) == 15);
  // A table of tokens and a vector are the matter of AdamW.
  CHECK(products_of(*find_optimizer("muon"), {32000, 4096, 1, false}).each.empty());
  CHECK(products_of(*find_optimizer("muon"), {4096, 1, 1, true}).each.empty());
  CHECK(products_of(*find_optimizer("adam"), {4096, 11008, 1, true}).each.empty());
}

TEST_CASE("Shampoo: factors of blocks, and their roots once in 100 updates") {
  const MatrixProducts made = products_of(*find_optimizer("shampoo"), {4096, 11008, 1, true});
  double each = 0, seldom = 0;
  for (const double n : {8192.0, 2816.0}) {
    const double m = 4096;
    each += 2 * (2 * m * m * n + 2 * m * n * n);  // both factors, and both roots times the gradient
    seldom += 11 * (m * m * m + n * n * n);
  }
  CHECK(flops_of(made.each) == each);
  CHECK(flops_of(made.seldom) == seldom);
  CHECK(made.interval == 100);
  CHECK(made.each.front().type == DataType::fp32);
}

TEST_CASE("ranks that cut a buffer of matrices compute those that they have a part of") {
  const Time one = Time::microseconds(1);
  // Three matrices of 4 numbers in slices of 6: the first rank has a matrix and a half, the second a half and a matrix.
  const TimedMatrix matrices[] = {{4, 3, one, 8, 15}};
  const MatrixShare whole = fullest_share(matrices, 2, true);
  CHECK(whole.time == one * 2);
  CHECK(whole.elements == 8);
  CHECK(whole.gathered == 16);
  CHECK(whole.kernels == 30);
  // Whole matrices belong to the rank in whose slice they begin: two and one.
  CHECK(fullest_share(matrices, 2, false).time == one * 2);
  // In slices of 4 each has one, in slices of 1 as well: four ranks compute each matrix.
  CHECK(fullest_share(matrices, 3, true).time == one);
  CHECK(fullest_share(matrices, 12, true).time == one);
  CHECK(fullest_share(matrices, 1, true).time == one * 3);
  CHECK(fullest_share({}, 4, true).time == Time{});
  // The largest matrix alone holds up its ranks.
  const TimedMatrix unequal[] = {{4, 1, one, 0, 0}, {8, 1, one * 5, 0, 0}};
  CHECK(fullest_share(unequal, 3, true).time == one * 5);
}
