// convolution, convolution_input_gradient, convolution_weight_gradient: cuDNN version 9 through its convolution
// descriptors. The algorithm is the fastest of the first three that the library's heuristic ranks and that need no more
// work space than a quarter of the free memory and 1 GiB, each timed warm. The library's own search over all
// algorithms, which frameworks make for fixed shapes, takes longer than a measurement and may find a faster one. Sums
// are fp32. fp32 and tf32 tensors are NCHW, the default of frameworks; fp16 and bf16 tensors are NHWC (filters KRSC),
// which tensor cores prefer. Memory: both activations, the filter and the work space.
#include "calibration/cuda/operation.cuh"
#include "calibration/cuda/timing.cuh"
#include "calibration/cuda/versions.cuh"

#include <optional>

#ifdef CONTEND_HAS_CUDNN
#include <cudnn.h>
#endif

namespace contend::cuda {

#ifdef CONTEND_HAS_CUDNN

namespace {

using cuda::check;

constexpr size_t kMostWorkspace = size_t{1} << 30U;
constexpr int kAlgorithms = 16, kTried = 3, kExecutionsTried = 3;

void check(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  cudaGetLastError();
  const int category = CUDNN_STATUS_CATEGORY(status);
  const bool unsupported = category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM;
  const bool memory = status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  fail(unsupported ? CONTEND_UNSUPPORTED
       : memory    ? CONTEND_OUT_OF_MEMORY
                   : CONTEND_FAILED,
       std::string("cuDNN, ") + call + ": " + cudnnGetErrorString(status));
}

struct Dnn {
  explicit Dnn(Session&) {
    if (!why_no_cudnn().empty()) fail(CONTEND_UNSUPPORTED, why_no_cudnn());
    check(cudnnCreate(&handle), "opening the library");
  }
  ~Dnn() { cudnnDestroy(handle); }
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;
  cudnnHandle_t handle = nullptr;
};

/// A convolution of tensors `x` (input), `w` (filter) and `y` (output). A gradient takes the place of its tensor.
struct Convolution {
  Convolution() {
    check(cudnnCreateTensorDescriptor(&input), "describing");
    check(cudnnCreateTensorDescriptor(&output), "describing");
    check(cudnnCreateFilterDescriptor(&filter), "describing");
    check(cudnnCreateConvolutionDescriptor(&convolution), "describing");
  }
  ~Convolution() {
    cudnnDestroyConvolutionDescriptor(convolution);
    cudnnDestroyFilterDescriptor(filter);
    cudnnDestroyTensorDescriptor(output);
    cudnnDestroyTensorDescriptor(input);
  }
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t input = nullptr, output = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  void *x = nullptr, *w = nullptr, *y = nullptr;
  DeviceMemory workspace;
  size_t workspace_bytes = 0;
};

/// Each of the three directions has its own functions to rank algorithms and to execute.
struct Forward {
  using Perf = cudnnConvolutionFwdAlgoPerf_t;
  static cudnnStatus_t rank(const Convolution& c, int* found, Perf* results) {
    return cudnnGetConvolutionForwardAlgorithm_v7(c.handle, c.input, c.filter, c.convolution, c.output, kAlgorithms,
                                                  found, results);
  }
  static cudnnStatus_t execute(const Convolution& c, const Perf& chosen, const float* one, const float* zero) {
    return cudnnConvolutionForward(c.handle, one, c.input, c.x, c.filter, c.w, c.convolution, chosen.algo,
                                   c.workspace.get(), c.workspace_bytes, zero, c.output, c.y);
  }
};
struct InputGradient {
  using Perf = cudnnConvolutionBwdDataAlgoPerf_t;
  static cudnnStatus_t rank(const Convolution& c, int* found, Perf* results) {
    return cudnnGetConvolutionBackwardDataAlgorithm_v7(c.handle, c.filter, c.output, c.convolution, c.input,
                                                       kAlgorithms, found, results);
  }
  static cudnnStatus_t execute(const Convolution& c, const Perf& chosen, const float* one, const float* zero) {
    return cudnnConvolutionBackwardData(c.handle, one, c.filter, c.w, c.output, c.y, c.convolution, chosen.algo,
                                        c.workspace.get(), c.workspace_bytes, zero, c.input, c.x);
  }
};
struct WeightGradient {
  using Perf = cudnnConvolutionBwdFilterAlgoPerf_t;
  static cudnnStatus_t rank(const Convolution& c, int* found, Perf* results) {
    return cudnnGetConvolutionBackwardFilterAlgorithm_v7(c.handle, c.input, c.output, c.convolution, c.filter,
                                                         kAlgorithms, found, results);
  }
  static cudnnStatus_t execute(const Convolution& c, const Perf& chosen, const float* one, const float* zero) {
    return cudnnConvolutionBackwardFilter(c.handle, one, c.input, c.x, c.output, c.y, c.convolution, chosen.algo,
                                          c.workspace.get(), c.workspace_bytes, zero, c.filter, c.w);
  }
};

struct Sizes {
  int batch, in_channels, height, width, out_channels, kernel_height, kernel_width, stride, pad_height, pad_width;
  int out_height, out_width;
};

Sizes read_sizes(const Request& request) {
  const auto& s = request.shape;
  if (std::any_of(s.begin(), s.end(), [](std::int64_t size) { return size > 0x7fffffff; })) {
    fail(CONTEND_UNSUPPORTED, "cuDNN counts in 32 bits");
  }
  const auto at = [&](size_t i) { return static_cast<int>(s[i]); };
  Sizes sizes{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), 0, 0};
  const std::int64_t rows = s[2] + 2 * s[8] - s[5], columns = s[3] + 2 * s[9] - s[6];
  if (rows < 0 || columns < 0) fail(CONTEND_UNSUPPORTED, "the kernel is larger than the padded input");
  sizes.out_height = static_cast<int>(rows / s[7] + 1);
  sizes.out_width = static_cast<int>(columns / s[7] + 1);
  return sizes;
}

template <class T>
void describe(Convolution& c, const Sizes& s, Type type) {
  const cudnnDataType_t data = type == Type::fp16   ? CUDNN_DATA_HALF
                               : type == Type::bf16 ? CUDNN_DATA_BFLOAT16
                                                    : CUDNN_DATA_FLOAT;
  const cudnnTensorFormat_t format = sizeof(T) == 2 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  check(cudnnSetTensor4dDescriptor(c.input, format, data, s.batch, s.in_channels, s.height, s.width), "describing");
  check(cudnnSetTensor4dDescriptor(c.output, format, data, s.batch, s.out_channels, s.out_height, s.out_width),
        "describing");
  check(cudnnSetFilter4dDescriptor(c.filter, data, format, s.out_channels, s.in_channels, s.kernel_height,
                                   s.kernel_width),
        "describing");
  check(cudnnSetConvolution2dDescriptor(c.convolution, s.pad_height, s.pad_width, s.stride, s.stride, 1, 1,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        "describing");
  // The default allows tf32 products of fp32 tensors.
  const cudnnMathType_t math = type == Type::fp32   ? CUDNN_FMA_MATH
                               : type == Type::tf32 ? CUDNN_DEFAULT_MATH
                                                    : CUDNN_TENSOR_OP_MATH;
  check(cudnnSetConvolutionMathType(c.convolution, math), "describing");
}

/// The execution of a convolution by an algorithm, with the work space and the mathematics that are set.
template <class Direction>
std::function<void(cudaStream_t)> executed_by(const std::shared_ptr<Convolution>& c,
                                              const typename Direction::Perf& chosen) {
  return [c, chosen](cudaStream_t stream) {
    const float one = 1, zero = 0;
    check(cudnnSetStream(c->handle, stream), "choosing a stream");
    check(Direction::execute(*c, chosen, &one, &zero), "convolving");
  };
}

/// Seconds of one execution when warm, or nothing if the algorithm fails. The host takes longer than the device for
/// most convolutions, so launches are held until all are enqueued.
template <class Direction>
std::optional<double> try_algorithm(Session& session, const std::shared_ptr<Convolution>& c,
                                    const typename Direction::Perf& which) {
  Operation tried;
  tried.execute = executed_by<Direction>(c, which);
  try {
    time_executions(session, tried, 1);
    return time_executions(session, tried, kExecutionsTried) / kExecutionsTried;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

/// Times the first algorithms that the heuristic ranks and keeps the fastest with the work space that it needs. Ranked
/// ones may use tf32 whatever the description asks for; `only_fma` leaves them out.
template <class Direction>
typename Direction::Perf choose(Session& session, const std::shared_ptr<Convolution>& convolution, bool only_fma) {
  Convolution& c = *convolution;
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for memory");
  const size_t most = std::min(kMostWorkspace, free / 4);
  typename Direction::Perf results[kAlgorithms];
  int found = 0;
  check(Direction::rank(c, &found, results), "ranking algorithms");
  const typename Direction::Perf* best = nullptr;
  double least = 0;
  for (int i = 0, tried = 0; i < found && tried < kTried; ++i) {
    const auto& each = results[i];
    if (each.status != CUDNN_STATUS_SUCCESS || each.memory > most) continue;
    if (only_fma && each.mathType != CUDNN_FMA_MATH) continue;
    c.workspace_bytes = each.memory;
    c.workspace = each.memory > 0 ? allocate(each.memory) : DeviceMemory();
    check(cudnnSetConvolutionMathType(c.convolution, each.mathType), "choosing an algorithm");
    ++tried;
    const std::optional<double> seconds = try_algorithm<Direction>(session, convolution, each);
    if (!seconds || (best != nullptr && *seconds >= least)) continue;
    best = &each;
    least = *seconds;
  }
  if (best == nullptr) fail(CONTEND_UNSUPPORTED, "cuDNN has no algorithm for this shape");
  c.workspace_bytes = best->memory;
  c.workspace = best->memory > 0 ? allocate(best->memory) : DeviceMemory();
  check(cudnnSetConvolutionMathType(c.convolution, best->mathType), "choosing an algorithm");
  return *best;
}

template <class T, class Direction>
Operation make(Session& session, const Request& request) {
  const Sizes s = read_sizes(request);
  Operation operation;
  const auto c = std::make_shared<Convolution>();
  c->handle = session.library<Dnn>().handle;
  check(cudnnSetStream(c->handle, session.stream), "choosing a stream");
  describe<T>(*c, s, request.type);
  c->x = operation.tensor<T>("x", elements_of({s.batch, s.in_channels, s.height, s.width}), Fill::normal);
  c->w = operation.tensor<T>("w", elements_of({s.out_channels, s.in_channels, s.kernel_height, s.kernel_width}),
                             Fill::normal, 0.1F);
  c->y = operation.tensor<T>("y", elements_of({s.batch, s.out_channels, s.out_height, s.out_width}), Fill::normal);
  check(cudaDeviceSynchronize(), "filling the tensors");
  // Devices before 8.0 have no tf32, and no difference between the two kinds of mathematics.
  const typename Direction::Perf chosen =
      choose<Direction>(session, c, request.type == Type::fp32 && session.capability >= 80);
  operation.execute = executed_by<Direction>(c, chosen);
  return operation;
}

template <class Direction>
Operation convolution(Session& session, const Request& request) {
  if ((request.type == Type::tf32 || request.type == Type::bf16) && session.capability < 80) {
    fail(CONTEND_UNSUPPORTED, "tf32 and bf16 need a newer device");
  }
  Request kept = request;
  if (request.type == Type::tf32) kept.type = Type::fp32;  // tf32 tensors are stored as fp32
  return by_type(kept, [&](auto tag) { return make<typename decltype(tag)::type, Direction>(session, request); });
}

}  // namespace

Entries convolution_operators() {
  return {{"convolution", 10, convolution<Forward>, 2},
          {"convolution_input_gradient", 10, convolution<InputGradient>, 2},
          {"convolution_weight_gradient", 10, convolution<WeightGradient>, 2}};
}

#else

namespace {

Operation convolution(Session&, const Request&) {
  fail(CONTEND_UNSUPPORTED, why_no_cudnn());
}

}  // namespace

Entries convolution_operators() {
  return {{"convolution", 10, convolution, 2},
          {"convolution_input_gradient", 10, convolution, 2},
          {"convolution_weight_gradient", 10, convolution, 2}};
}

#endif

}  // namespace contend::cuda
