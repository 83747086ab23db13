// Measures Power-SGD (Vogels et al., NeurIPS 2019) on an fp32 matrix `m` of rows x columns, row-major as gradients are,
// and its factors `p` (rows x rank) and `q` (columns x rank).
//
//   low_rank_p, low_rank_q   P = M Q and Q = M^T P by cuBLASLt in fp32 without tf32.
//   orthogonalize            modified Gram-Schmidt on the columns of `p`, column by column as the authors' code does:
//                            for each column one kernel for its products with itself and those after it, one that
//                            scales it and subtracts its share from those after it: 2 x rank kernels and one that
//                            clears. Launches decide the time unless matrices are large. QR by cuSOLVER is another
//                            algorithm with other costs and is not measured.
#include "calibration/cuda/gemm.cuh"
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

struct Factors {
  Factors(Operation& operation, const Request& request)
      : rows(request.shape[0]), columns(request.shape[1]), rank(request.shape[2]) {
    only_fp32(request);
    m = operation.tensor<float>("m", elements_of({rows, columns}), Fill::normal);
    p = operation.tensor<float>("p", elements_of({rows, rank}), Fill::normal);
    q = operation.tensor<float>("q", elements_of({columns, rank}), Fill::normal);
  }
  std::int64_t rows, columns, rank;
  float *m, *p, *q;
};

// cuBLASLt reads matrices column by column, so a row-major matrix is a transpose to it.

Operation low_rank_p(Session& session, const Request& request) {
  Operation operation;
  const Factors f(operation, request);
  // P^T (rank x rows) = Q^T (rank x columns) M^T (columns x rows)
  operation.execute = make_product(session, {Type::fp32, 1, f.rank, f.rows, f.columns, false, false}, f.q, f.m, f.p);
  return operation;
}

Operation low_rank_q(Session& session, const Request& request) {
  Operation operation;
  const Factors f(operation, request);
  // Q^T (rank x columns) = P^T (rank x rows) M (rows x columns); M is stored as its transpose
  operation.execute = make_product(session, {Type::fp32, 1, f.rank, f.columns, f.rows, false, true}, f.p, f.m, f.q);
  return operation;
}

/// products[j] += column `column` times column `column` + j, of which blockIdx.y is j.
__global__ void __launch_bounds__(kThreads)
    column_products(const float* p, std::int64_t rows, std::int64_t rank, std::int64_t column, float* products) {
  const std::int64_t other = column + blockIdx.y;
  float sum = 0;
  for (std::int64_t row = thread_index(); row < rows; row += thread_count()) {
    sum += p[row * rank + column] * p[row * rank + other];
  }
  sum = reduce_block(sum, Plus{});
  if (threadIdx.x == 0) atomicAdd(products + blockIdx.y, sum);
}

/// Subtracts from the columns after `column` their part along it, and scales it to length 1.
__global__ void __launch_bounds__(kThreads)
    project_columns(float* p, std::int64_t rows, std::int64_t rank, std::int64_t column, const float* products) {
  const float square = fmaxf(products[0], 1e-30F);
  const float inverse = rsqrtf(square);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.y; first < rows; first += step) {
    const std::int64_t row = first + threadIdx.y;
    const float along = row < rows ? p[row * rank + column] : 0;
    __syncwarp();  // one warp has the row; all of its threads read before one of them writes
    if (row >= rows) continue;
    for (std::int64_t other = column + 1 + threadIdx.x; other < rank; other += blockDim.x) {
      p[row * rank + other] -= products[other - column] / square * along;
    }
    if (threadIdx.x == 0) p[row * rank + column] = along * inverse;
  }
}

Operation orthogonalize(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t rows = request.shape[0], rank = request.shape[1];
  if (rank > 4096 || rank > rows) fail(CONTEND_UNSUPPORTED, "ranks above 4096, or above the rows, are not measured");
  float* const p = operation.tensor<float>("p", elements_of({rows, rank}), Fill::normal);
  // Each column has a row of products.
  float* const products = operation.tensor<float>("products", rank * rank);
  const auto bytes = static_cast<size_t>(rank * rank) * sizeof(float);
  const unsigned product_blocks = blocks_for(rows, 4 * kThreads, 64);
  const unsigned lanes = rank <= 4 ? 4 : rank <= 8 ? 8 : rank <= 16 ? 16 : 32;
  const dim3 threads(lanes, kThreads / lanes);
  const unsigned row_blocks = blocks_for(rows, threads.y, full(session));
  operation.execute = [=](cudaStream_t stream) {
    check(cudaMemsetAsync(products, 0, bytes, stream), "clearing");
    for (std::int64_t column = 0; column < rank; ++column) {
      float* const row = products + column * rank;
      const dim3 grid(product_blocks, static_cast<unsigned>(rank - column));
      column_products<<<grid, kThreads, 0, stream>>>(p, rows, rank, column, row);
      project_columns<<<row_blocks, threads, 0, stream>>>(p, rows, rank, column, row);
    }
  };
  operation.kernels = static_cast<int>(1 + 2 * rank);
  return operation;
}

}  // namespace

Entries low_rank_operators() {
  return {{"low_rank_p", 3, low_rank_p, 0, true},
          {"low_rank_q", 3, low_rank_q, 0, true},
          {"orthogonalize", 2, orthogonalize, 0, true}};
}

}  // namespace contend::cuda
