#include "calibration/cuda/testing.h"

#include "calibration/cuda/operation.cuh"

namespace contend::cuda {

namespace {

template <class T>
void convert(const double* from, void* to, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    if constexpr (std::is_integral_v<T>) {
      static_cast<T*>(to)[i] = static_cast<T>(from[i]);
    } else {
      static_cast<T*>(to)[i] = T(static_cast<float>(from[i]));
    }
  }
}

template <class T>
void convert_back(const void* from, double* to, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    if constexpr (std::is_integral_v<T>) {
      to[i] = static_cast<double>(static_cast<const T*>(from)[i]);
    } else {
      to[i] = static_cast<double>(static_cast<float>(static_cast<const T*>(from)[i]));
    }
  }
}

/// Calls action(Tag<T>{}) with the type of the numbers.
template <class Action>
void with_type(Number number, Action action) {
  switch (number) {
    case Number::fp32:
      return action(Tag<float>{});
    case Number::fp16:
      return action(Tag<__half>{});
    case Number::bf16:
      return action(Tag<__nv_bfloat16>{});
    case Number::fp8:
      return action(Tag<__nv_fp8_e4m3>{});
    case Number::uint8:
      return action(Tag<std::uint8_t>{});
    case Number::uint32:
      return action(Tag<std::uint32_t>{});
    case Number::int64:
      return action(Tag<std::int64_t>{});
  }
}

const Tensor* find(void* prepared, const char* name, std::int64_t elements) {
  const Tensor* const tensor = static_cast<const Operation*>(prepared)->find(name);
  return tensor != nullptr && tensor->elements == elements ? tensor : nullptr;
}

contend_status copied(cudaError_t error) {
  return error == cudaSuccess ? CONTEND_OK : CONTEND_FAILED;
}

}  // namespace

}  // namespace contend::cuda

using namespace contend::cuda;

extern "C" int64_t contend_cuda_elements(void* prepared, const char* tensor) {
  const Tensor* const found = static_cast<const Operation*>(prepared)->find(tensor);
  return found == nullptr ? -1 : found->elements;
}

extern "C" contend_status contend_cuda_write(void* prepared, const char* tensor, const double* values,
                                             int64_t elements) {
  const Tensor* const to = find(prepared, tensor, elements);
  if (to == nullptr) return CONTEND_FAILED;
  std::vector<char> bytes(static_cast<size_t>(elements) * size_of(to->number));
  with_type(to->number, [&](auto tag) { convert<typename decltype(tag)::type>(values, bytes.data(), elements); });
  const contend_status status =
      copied(cudaMemcpy(to->memory.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  // A copy from pageable memory may return before its last part has arrived, and the session's streams don't wait for
  // it.
  return status == CONTEND_OK ? copied(cudaDeviceSynchronize()) : status;
}

extern "C" contend_status contend_cuda_read(void* prepared, const char* tensor, double* values, int64_t elements) {
  const Tensor* const from = find(prepared, tensor, elements);
  if (from == nullptr) return CONTEND_FAILED;
  std::vector<char> bytes(static_cast<size_t>(elements) * size_of(from->number));
  if (cudaMemcpy(bytes.data(), from->memory.get(), bytes.size(), cudaMemcpyDeviceToHost) != cudaSuccess) {
    return CONTEND_FAILED;
  }
  with_type(from->number,
            [&](auto tag) { convert_back<typename decltype(tag)::type>(bytes.data(), values, elements); });
  return CONTEND_OK;
}
