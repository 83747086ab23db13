#pragma once
// Matrix products by cuBLASLt.

#include "calibration/cuda/operation.cuh"

#include <cublasLt.h>

namespace contend::cuda {

/// D = op(A) op(B) in cuBLASLt's convention: column-major matrices without gaps, op(A) m x k and op(B) k x n.
struct Product {
  Type type;
  std::int64_t batch, m, n, k;
  bool transpose_a, transpose_b;  ///< A is stored as k x m, B as n x k
  /// Of fp8: sums stay in the registers of the tensor cores, which keep fewer digits than fp32, as frameworks have it
  /// in forward passes.
  bool fast_sums = false;
};

/// Prepares `product` with the algorithm that the library's heuristic ranks first, and returns a function that enqueues
/// it. Throws CONTEND_UNSUPPORTED if the library has no algorithm for it.
std::function<void(cudaStream_t)> make_product(Session& session, const Product& product, const void* a, const void* b,
                                               void* d);

/// The operator `gemm` for a shape of batch, m, n, k. Its tensors `a`, `b` and `d` are row-major: m x k, n x k and m x
/// n; those of `gemm_nn` m x k, k x n and m x n, those of `gemm_tn` k x m, k x n and m x n.
Operation make_gemm(Session& session, const Request& request);

}  // namespace contend::cuda
