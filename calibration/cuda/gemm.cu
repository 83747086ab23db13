// gemm: `batch` products of cuBLASLt, by the algorithm that its heuristic ranks first with 32 MiB of work space, as in
// frameworks. Sums are kept in fp32. In row-major order `a` is m x k, `b` n x k and `d` m x n: a linear layer's input,
// weights and output. cuBLASLt, which reads column by column, sees b, transposed, times a, and writes the transpose of
// d. This is the only layout of fp8. Products of fp8 are written as bf16, and need n and k divisible by 16. Memory
// holds the three tensors and the work space.
//
// Copies of `b` take turns, so that it comes from memory, while `a` and `d` stay in the cache if they fit: a training
// step computed `a` just before, and used the weights, or in the gradient of the weights the layer's input, long
// before.
//
// gemm_nn and gemm_tn are the same with `b` k x n, as the gradient of a linear layer's input finds the weights, and
// with `a` k x m besides, as the gradient of the weights finds the output's gradient. Rows of other lengths begin at
// other addresses, so a library may have only slow kernels where one of the three layouts isn't aligned.
//
// gemm_fast_sums is the same with sums as frameworks have them in forward passes of fp8. gemm_sustained is the same as
// gemm; the calibration warms up for seconds before it takes samples. grouped_gemm: `groups` products with unequal rows
// (rows_of_group()), one after the other, as frameworks without a grouped kernel compute them; one a group in `a`, `b`,
// `d`, which follow each other in memory.
#include "calibration/cuda/gemm.cuh"

#include "calibration/cuda/launch_plan.hpp"
#include "calibration/shared_shapes.hpp"

#include <array>

namespace contend::cuda {

namespace {

constexpr size_t kWorkspace = 32U << 20U;

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  cudaGetLastError();
  const contend_status answer = status == CUBLAS_STATUS_ALLOC_FAILED    ? CONTEND_OUT_OF_MEMORY
                                : status == CUBLAS_STATUS_NOT_SUPPORTED ? CONTEND_UNSUPPORTED
                                : status == CUBLAS_STATUS_ARCH_MISMATCH ? CONTEND_UNSUPPORTED
                                : status == CUBLAS_STATUS_INVALID_VALUE ? CONTEND_UNSUPPORTED
                                                                        : CONTEND_FAILED;
  fail(answer, std::string("cuBLASLt, ") + call + ": " + cublasLtGetStatusString(status));
}

struct Blas {
  explicit Blas(Session&) : workspace(allocate(kWorkspace)) { check(cublasLtCreate(&handle), "opening the library"); }
  ~Blas() { cublasLtDestroy(handle); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  DeviceMemory workspace;
  cublasLtHandle_t handle = nullptr;
};

/// A prepared product. It owns the descriptions that the library reads at every call.
class Plan {
 public:
  Plan(Blas& blas, const void* b, void* d) : blas_(blas), b_(b), d_(d) {}
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  void describe(const Product& product);
  void choose();
  void enqueue(cudaStream_t stream, const void* a) const;

 private:
  Blas& blas_;
  const void* b_;
  void* d_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> layouts_{};
  cublasLtMatmulPreference_t preference_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
};

cudaDataType_t data_type(Type type) {
  switch (type) {
    case Type::fp16:
      return CUDA_R_16F;
    case Type::bf16:
      return CUDA_R_16BF;
    case Type::fp8:
      return CUDA_R_8F_E4M3;
    default:
      return CUDA_R_32F;
  }
}

template <class Attribute>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which, const Attribute& value) {
  check(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof(value)), "describing the product");
}

cublasLtMatrixLayout_t layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                   rows),
        "describing a matrix");
  if (batch == 1) return made;
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  cublasStatus_t status =
      cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status =
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
  }
  if (status != CUBLAS_STATUS_SUCCESS) cublasLtMatrixLayoutDestroy(made);
  check(status, "describing a matrix");
  return made;
}

Plan::~Plan() {
  if (preference_ != nullptr) cublasLtMatmulPreferenceDestroy(preference_);
  for (const cublasLtMatrixLayout_t each : layouts_) {
    if (each != nullptr) cublasLtMatrixLayoutDestroy(each);
  }
  if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
}

void Plan::describe(const Product& product) {
  const auto compute = product.type == Type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check(cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F), "describing the product");
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, product.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, product.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(product.fast_sums ? 1 : 0));
  const cudaDataType_t in = data_type(product.type);
  const cudaDataType_t out = product.type == Type::fp8 ? CUDA_R_16BF : in;
  const auto [batch, m, n, k] = std::array{product.batch, product.m, product.n, product.k};
  layouts_[0] = product.transpose_a ? layout(in, k, m, batch) : layout(in, m, k, batch);
  layouts_[1] = product.transpose_b ? layout(in, n, k, batch) : layout(in, k, n, batch);
  layouts_[2] = layout(out, m, n, batch);
}

void Plan::choose() {
  check(cublasLtMatmulPreferenceCreate(&preference_), "choosing an algorithm");
  check(cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                             sizeof(kWorkspace)),
        "choosing an algorithm");
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(blas_.handle, operation_, layouts_[0], layouts_[1], layouts_[2], layouts_[2],
                                       preference_, 1, &chosen_, &found),
        "choosing an algorithm");
  if (found == 0 || chosen_.state != CUBLAS_STATUS_SUCCESS)
    fail(CONTEND_UNSUPPORTED, "cuBLASLt has no algorithm for this shape");
}

void Plan::enqueue(cudaStream_t stream, const void* a) const {
  const float one = 1, zero = 0;
  check(cublasLtMatmul(blas_.handle, operation_, &one, a, layouts_[0], b_, layouts_[1], &zero, d_, layouts_[2], d_,
                       layouts_[2], &chosen_.algo, blas_.workspace.get(), kWorkspace, stream),
        "multiplying");
}

std::shared_ptr<Plan> planned(Session& session, const Product& product, const void* b, void* d) {
  if (product.batch > 0x7fffffff) fail(CONTEND_UNSUPPORTED, "cuBLASLt multiplies at most 2^31 - 1 matrices at once");
  const auto plan = std::make_shared<Plan>(session.library<Blas>(), b, d);
  plan->describe(product);
  plan->choose();
  return plan;
}

/// The operation on copies of `b`, as many as together exceed the cache with it.
template <class T>
void add_copies(Session& session, Operation& operation, const std::shared_ptr<Plan>& plan, const T* b,
                std::int64_t elements) {
  size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "asking for memory");
  const auto bytes = elements * static_cast<std::int64_t>(sizeof(T));
  const int copies = copies_beyond_cache(bytes, session.cache_bytes, static_cast<std::int64_t>(free / 2));
  for (int i = 1; i < copies; ++i) {
    Operation copy;
    T* const other = copy.tensor<T>("b", elements);
    cuda::check(cudaMemcpyAsync(other, b, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, session.stream),
                "copying");
    copy.execute = [plan, other](cudaStream_t stream) { plan->enqueue(stream, other); };
    operation.add_copy(std::move(copy));
  }
  cuda::check(cudaStreamSynchronize(session.stream), "copying");
}

template <class In, class Out>
Operation gemm_of(Session& session, const Request& request, bool fast_sums = false) {
  Operation operation;
  // Of the operands as cuBLASLt reads them: whether rows of `b` have k numbers, and rows of `a` m.
  const bool b_by_k = request.name != "gemm_nn" && request.name != "gemm_tn", a_by_m = request.name == "gemm_tn";
  const auto [batch, m, n, k] = std::array{request.shape[0], request.shape[1], request.shape[2], request.shape[3]};
  const In* const a = operation.tensor<In>("a", elements_of({batch, m, k}), Fill::normal);
  const In* const b = operation.tensor<In>("b", elements_of({batch, n, k}), Fill::normal);
  Out* const d = operation.tensor<Out>("d", elements_of({batch, m, n}));
  const std::shared_ptr<Plan> plan = planned(session, {request.type, batch, n, m, k, b_by_k, a_by_m, fast_sums}, a, d);
  operation.execute = [plan, b](cudaStream_t stream) { plan->enqueue(stream, b); };
  add_copies(session, operation, plan, b, elements_of({batch, n, k}));
  return operation;
}

}  // namespace

std::function<void(cudaStream_t)> make_product(Session& session, const Product& product, const void* a, const void* b,
                                               void* d) {
  return [plan = planned(session, product, b, d), a](cudaStream_t stream) { plan->enqueue(stream, a); };
}

Operation make_gemm(Session& session, const Request& request) {
  const auto need = [&](int capability, const char* what) {
    if (session.capability < capability) fail(CONTEND_UNSUPPORTED, std::string(what) + " needs a newer device");
  };
  switch (request.type) {
    case Type::fp32:
      return gemm_of<float, float>(session, request);
    case Type::tf32:
      need(80, "tf32");
      return gemm_of<float, float>(session, request);
    case Type::fp16:
      return gemm_of<__half, __half>(session, request);
    case Type::bf16:
      need(80, "bf16");
      return gemm_of<__nv_bfloat16, __nv_bfloat16>(session, request);
    case Type::fp8:
      need(89, "fp8");
      return gemm_of<__nv_fp8_e4m3, __nv_bfloat16>(session, request);
  }
  fail(CONTEND_FAILED, "no such type");
}

namespace {

Operation gemm_fast_sums(Session& session, const Request& request) {
  if (request.type != Type::fp8) fail(CONTEND_UNSUPPORTED, "sums are faster in fp8 only");
  if (session.capability < 89) fail(CONTEND_UNSUPPORTED, "fp8 needs a newer device");
  return gemm_of<__nv_fp8_e4m3, __nv_bfloat16>(session, request, true);
}

Operation grouped_gemm(Session& session, const Request& request) {
  constexpr std::int64_t kMostGroups = 256;
  const auto [groups, mean, n, k] = std::array{request.shape[0], request.shape[1], request.shape[2], request.shape[3]};
  if (groups > kMostGroups) fail(CONTEND_UNSUPPORTED, "at most 256 products are grouped");
  if (request.type == Type::bf16 && session.capability < 80) fail(CONTEND_UNSUPPORTED, "bf16 needs a newer device");
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < groups; ++i) rows += rows_of_group(i, groups, mean);
  return by_type(request, [&, groups = groups, mean = mean, n = n, k = k](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const T* const a = operation.tensor<T>("a", elements_of({rows, k}), Fill::normal);
    const T* const b = operation.tensor<T>("b", elements_of({groups, n, k}), Fill::normal);
    T* const d = operation.tensor<T>("d", elements_of({rows, n}));
    std::vector<std::function<void(cudaStream_t)>> products;
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t m = rows_of_group(i, groups, mean);
      products.push_back(
          make_product(session, {request.type, 1, n, m, k, true, false}, b + i * n * k, a + first * k, d + first * n));
      first += m;
    }
    operation.execute = [products](cudaStream_t stream) {
      for (const auto& each : products) each(stream);
    };
    operation.kernels = static_cast<int>(groups);
    return operation;
  });
}

}  // namespace

Entries gemm_operators() {
  return {{"gemm", 4, make_gemm},           {"gemm_nn", 4, make_gemm},
          {"gemm_tn", 4, make_gemm},        {"gemm_fast_sums", 4, gemm_fast_sums},
          {"gemm_sustained", 4, make_gemm}, {"grouped_gemm", 4, grouped_gemm}};
}

}  // namespace contend::cuda
