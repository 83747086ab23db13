#include "calibration/cuda/operation.cuh"

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

/// A hash of 64 bits (the finaliser of SplitMix64, Steele et al., OOPSLA 2014).
__device__ std::uint64_t hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

template <class T>
__global__ void fill_normal(T* to, std::int64_t n, std::uint64_t seed, float scale) {
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    const std::uint64_t bits = hash(seed + static_cast<std::uint64_t>(i));
    // The method of Box and Muller makes it from two numbers in (0, 1].
    const float u = (static_cast<float>(bits >> 40) + 1) * 0x1p-24F;
    const float v = static_cast<float>(bits & 0xffffffU) * 0x1p-24F;
    to[i] = from_float<T>(scale * sqrtf(-2 * logf(u)) * cospif(2 * v));
  }
}

__global__ void fill_indices(std::int64_t* to, std::int64_t n, std::int64_t bound) {
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    to[i] = static_cast<std::int64_t>(hash(static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(bound));
  }
}

template <class T>
void normal(void* to, std::int64_t n, std::uint64_t seed, float scale) {
  fill_normal<<<blocks_for(n, kThreads, 4096), kThreads>>>(static_cast<T*>(to), n, seed, scale);
}

contend_status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return CONTEND_OUT_OF_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return CONTEND_NO_DEVICE;
    case cudaErrorNotPermitted:
      return CONTEND_NO_PERMISSION;
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
      return CONTEND_BUSY;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return CONTEND_UNSUPPORTED;
    default:
      return CONTEND_FAILED;
  }
}

}  // namespace

void fail(contend_status status, const std::string& message) {
  throw Failure{status, message};
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears an error that is not fatal, so that the next check doesn't see it
  fail(status_of(error), std::string(call) + ": " + cudaGetErrorString(error));
}

size_t size_of(Number number) {
  switch (number) {
    case Number::fp32:
    case Number::uint32:
      return 4;
    case Number::fp16:
    case Number::bf16:
      return 2;
    case Number::fp8:
    case Number::uint8:
      return 1;
    case Number::int64:
      return 8;
  }
  return 0;
}

DeviceMemory allocate(size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<size_t>(bytes, 16)), "allocating device memory");
  return DeviceMemory(memory);
}

PinnedMemory allocate_pinned(size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, std::max<size_t>(bytes, 16), cudaHostAllocDefault), "allocating pinned host memory");
  return PinnedMemory(memory);
}

std::int64_t elements_of(std::initializer_list<std::int64_t> sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size > kMost / product) fail(CONTEND_OUT_OF_MEMORY, "no device holds tensors of this shape");
    product *= size;
  }
  return product;
}

void* Operation::add(const char* name, Number number, std::int64_t elements, Fill fill, float scale) {
  const size_t bytes = static_cast<size_t>(elements_of({elements})) * size_of(number);
  tensors_.push_back({name, number, elements, allocate(bytes)});
  void* const memory = tensors_.back().memory.get();
  const std::uint64_t seed = std::uint64_t{tensors_.size()} << 48;  // beyond any number of elements
  if (fill == Fill::zeros) {
    check(cudaMemset(memory, 0, bytes), "filling a tensor");
    return memory;
  }
  switch (number) {
    case Number::fp32:
      normal<float>(memory, elements, seed, scale);
      break;
    case Number::fp16:
      normal<__half>(memory, elements, seed, scale);
      break;
    case Number::bf16:
      normal<__nv_bfloat16>(memory, elements, seed, scale);
      break;
    case Number::fp8:
      normal<__nv_fp8_e4m3>(memory, elements, seed, scale);
      break;
    default:
      fail(CONTEND_FAILED, "integers have no normal distribution");
  }
  check(cudaGetLastError(), "filling a tensor");
  return memory;
}

std::int64_t* Operation::indices(const char* name, std::int64_t elements, std::int64_t bound) {
  auto* const memory = static_cast<std::int64_t*>(add(name, Number::int64, elements, Fill::zeros, 0));
  fill_indices<<<blocks_for(elements, kThreads, 4096), kThreads>>>(memory, elements, bound);
  check(cudaGetLastError(), "filling a tensor");
  return memory;
}

const Tensor* Operation::find(const std::string& name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::int64_t Operation::bytes() const {
  std::int64_t sum = 0;
  for (const Tensor& each : tensors_) sum += each.elements * static_cast<std::int64_t>(size_of(each.number));
  return sum;
}

void only_fp32(const Request& request) {
  if (request.type != Type::fp32) fail(CONTEND_UNSUPPORTED, request.name + " is measured in fp32 only");
}

}  // namespace contend::cuda
