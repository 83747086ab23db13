#pragma once
// Matrix products by cuBLASLt.

#include "calibration/cuda/operation.cuh"

#include <cublasLt.h>

namespace contend::cuda {

/// D = op(A) op(B) as cuBLASLt sees it: matrices column by column, op(A) m x k and op(B) k x n, without gaps.
struct Product {
  Type type;
  std::int64_t batch, m, n, k;
  bool transpose_a, transpose_b;  ///< A lies as k x m, B as n x k
};

/// What `product` needs, with the algorithm that the library thinks best. Throws CONTEND_UNSUPPORTED where it has none.
/// The function enqueues it.
std::function<void(cudaStream_t)> make_product(Session& session, const Product& product, const void* a, const void* b,
                                               void* d);

/// The operator `gemm` for a shape of batch, m, n, k; tensors `a`, `b` and `d`, row by row m x k, n x k and m x n.
Operation make_gemm(Session& session, const Request& request);

}  // namespace contend::cuda
