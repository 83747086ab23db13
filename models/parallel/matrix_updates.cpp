#include "models/parallel/matrix_updates.hpp"

#include <algorithm>

namespace contend {
namespace {

/// A product of m x k and k x n numbers that adds so many numbers to its result.
TransformerOperator product_of(std::string_view name, DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                               double added) {
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  TransformerOperator made;
  made.kind = OperatorKind::product;
  made.name = name;
  made.type = type;
  made.m = m;
  made.n = n;
  made.k = k;
  const double width = type == DataType::fp32 ? 4 : 2;
  made.forward = {2 * real(m) * real(n) * real(k),
                  width * (real(m) * real(k) + real(k) * real(n) + real(m) * real(n) + added), 1};
  return made;
}

TransformerOperator times(TransformerOperator product, std::int64_t count) {
  product.count = count;
  product.forward.flops *= static_cast<double>(count);
  product.forward.bytes *= static_cast<double>(count);
  product.forward.kernels = static_cast<int>(count);
  return product;
}

void add_iterations(const Optimizer& row, const WeightShape& shape, MatrixProducts& made) {
  const std::int64_t m = std::min(shape.rows, shape.columns), n = std::max(shape.rows, shape.columns);
  const auto square = static_cast<double>(m * m), whole = static_cast<double>(m * n);
  constexpr DataType kType = DataType::bf16;
  for (int step = 0; step < row.steps; ++step) {
    made.each.push_back(product_of("gram", kType, m, m, n, 0));
    made.each.push_back(product_of("gram_square", kType, m, m, m, square));
    made.each.push_back(product_of("iterate", kType, m, n, m, whole));
  }
}

void add_factors(const Optimizer& row, const WeightShape& shape, MatrixProducts& made) {
  constexpr DataType kType = DataType::fp32;
  constexpr std::int64_t kProducts = 11;  // of n x n/2 and n/2 x n numbers: 11 n^3 flops
  const auto squares = [](std::int64_t side) { return static_cast<double>(side * side); };
  made.interval = row.interval;
  for (const MatrixBlocks& blocks : blocks_of(row, shape)) {
    const std::int64_t m = blocks.rows, n = blocks.columns;
    const auto add = [&](const TransformerOperator& product) { made.each.push_back(times(product, blocks.count)); };
    add(product_of("left_factor", kType, m, m, n, squares(m)));
    add(product_of("right_factor", kType, n, n, m, squares(n)));
    add(product_of("left_root", kType, m, n, m, 0));
    add(product_of("right_root", kType, m, n, n, 0));
    for (const std::int64_t side : {m, n})
      made.seldom.push_back(times(product_of("inverse_root", kType, side, side, std::max<std::int64_t>(1, side / 2), 0),
                                  blocks.count * kProducts));
  }
}

}  // namespace

MatrixProducts products_of(const Optimizer& optimizer, const WeightShape& shape) {
  const Optimizer& row = optimizer.of(shape);
  MatrixProducts made;
  if (row.steps > 0) add_iterations(row, shape, made);
  if (row.factors > 0) add_factors(row, shape, made);
  return made;
}

std::int64_t product_kernels(const Optimizer& optimizer, const WeightShape& shape) {
  std::int64_t kernels = 0;
  for (const TransformerOperator& each : products_of(optimizer, shape).each) kernels += each.forward.kernels;
  return kernels;
}

MatrixShare fullest_share(std::span<const TimedMatrix> matrices, std::int64_t ranks, bool whole) {
  std::int64_t all = 0;
  for (const TimedMatrix& each : matrices) all += each.elements * each.count;
  if (all == 0) return {};
  const std::int64_t slice = (all + ranks - 1) / ranks;
  std::vector<MatrixShare> shares(static_cast<std::size_t>((all + slice - 1) / slice));
  std::int64_t begin = 0;
  for (const TimedMatrix& each : matrices) {
    for (std::int64_t i = 0; i < each.count; ++i, begin += each.elements) {
      const std::int64_t first = begin / slice, last = (begin + each.elements - 1) / slice;
      for (std::int64_t rank = first; rank <= (whole ? last : first); ++rank) {
        MatrixShare& share = shares[static_cast<std::size_t>(rank)];
        share.time += each.time;
        share.elements += each.elements;
        share.gathered += each.gathered;
        share.kernels += each.kernels;
      }
    }
  }
  return *std::ranges::max_element(shares, {}, [](const MatrixShare& share) { return share.time; });
}

}  // namespace contend
