#pragma once
// The parts that operators of the CUDA back end are built from. An operator is a function that allocates and fills its
// tensors and returns a function that enqueues one execution; if it fails half-way, it frees what it allocated.
//
// nvcc compiles this file as C++17: it may include no header of the project but backend.h and shared_shapes.hpp.

#include "calibration/backend.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace contend::cuda {

/// The only exception of this back end; backend.cu turns it into a status and a message.
struct Failure {
  contend_status status;
  std::string message;
};
[[noreturn]] void fail(contend_status status, const std::string& message);
/// Throws Failure if `error` is an error; `call` says what was tried.
void check(cudaError_t error, const char* call);

/// The number formats of tensors in device memory.
enum class Number { fp32, fp16, bf16, fp8, uint8, uint32, int64 };
size_t size_of(Number number);
template <class T>
struct NumberOf;
template <>
struct NumberOf<float> {
  static constexpr Number kNumber = Number::fp32;
};
template <>
struct NumberOf<__half> {
  static constexpr Number kNumber = Number::fp16;
};
template <>
struct NumberOf<__nv_bfloat16> {
  static constexpr Number kNumber = Number::bf16;
};
template <>
struct NumberOf<__nv_fp8_e4m3> {
  static constexpr Number kNumber = Number::fp8;
};
template <>
struct NumberOf<std::uint8_t> {
  static constexpr Number kNumber = Number::uint8;
};
template <>
struct NumberOf<std::uint32_t> {
  static constexpr Number kNumber = Number::uint32;
};
template <>
struct NumberOf<std::int64_t> {
  static constexpr Number kNumber = Number::int64;
};

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
struct FreePinned {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;
using PinnedMemory = std::unique_ptr<void, FreePinned>;
DeviceMemory allocate(size_t bytes);
PinnedMemory allocate_pinned(size_t bytes);

/// The product of sizes > 0. Throws CONTEND_OUT_OF_MEMORY beyond 2^46 elements, which no device holds.
std::int64_t elements_of(std::initializer_list<std::int64_t> sizes);

/// Initial values of a tensor. Normal values are the rule for data: constants draw less power than real data and so run
/// at higher clocks.
enum class Fill { zeros, normal };

struct Tensor {
  std::string name;
  Number number;
  std::int64_t elements;
  DeviceMemory memory;
};

class Operation {
 public:
  /// Allocates device memory that lives as long as the operation; tests find it by its name. `scale` is the standard
  /// deviation of normal values.
  template <class T>
  T* tensor(const char* name, std::int64_t elements, Fill fill = Fill::zeros, float scale = 1) {
    return static_cast<T*>(add(name, NumberOf<T>::kNumber, elements, fill, scale));
  }
  /// Allocates `elements` integers drawn from [0, bound).
  std::int64_t* indices(const char* name, std::int64_t elements, std::int64_t bound);
  /// Keeps any other object alive as long as the operation.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  const Tensor* find(const std::string& name) const;

  /// Enqueues one execution.
  std::function<void(cudaStream_t)> execute;
  /// Returns the seconds of that many executions. If empty, timing.cuh measures them.
  std::function<double(int)> time;
  /// True if launches may be held on the device until all of them are enqueued.
  bool gated = true;
  /// Kernels, copies and fills that one execution enqueues, about; timing.cuh enqueues no more than a queue holds.
  int kernels = 1;
  /// The most executions that timing.cuh enqueues behind one gate; it halves them while the host is too slow.
  mutable int most_at_once = std::numeric_limits<int>::max();

  /// Enqueues the i-th execution of a sample: the copies of the operation take turns.
  void enqueue(int i, cudaStream_t stream) const {
    const auto turn = static_cast<size_t>(i) % (copies_.size() + 1);
    (turn == 0 ? execute : copies_[turn - 1].execute)(stream);
  }
  /// The same operation on operands of its own.
  void add_copy(Operation copy) { copies_.push_back(std::move(copy)); }
  /// The device memory of the tensors.
  std::int64_t bytes() const;

 private:
  void* add(const char* name, Number number, std::int64_t elements, Fill fill, float scale);
  std::vector<Tensor> tensors_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Operation> copies_;
};

/// An open device and the libraries used on it so far.
class Session {
 public:
  explicit Session(int device);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// The handle of a library, created on first use.
  template <class Library>
  Library& library() {
    for (auto& [type, made] : libraries_) {
      if (type == typeid(Library)) return *static_cast<Library*>(made.get());
    }
    auto made = std::make_shared<Library>(*this);
    libraries_.emplace_back(typeid(Library), made);
    return *made;
  }

  int device = 0;
  int devices = 0;
  int capability = 0;  ///< x 10
  int multiprocessors = 0;
  std::int64_t cache_bytes = 0;       ///< of the second level
  cudaStream_t stream = nullptr;      ///< carries the timed work
  cudaStream_t background = nullptr;  ///< carries the work that runs beside it

 private:
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> libraries_;
};

enum class Type { fp32, tf32, fp16, bf16, fp8 };

struct Request {
  std::string name;
  Type type;
  std::vector<std::int64_t> shape;
};

struct Entry {
  const char* name;
  int dimensions;
  Operation (*make)(Session&, const Request&);
  int may_be_zero = 0;  ///< the last dimensions that may be 0: paddings
  /// True if a training step finds the operands in memory, not in a cache: copies of them take turns.
  bool cold = false;
};
using Entries = std::vector<Entry>;

Entries launch_operators();
Entries memory_operators();
Entries gemm_operators();
Entries convolution_operators();
Entries attention_operators();
Entries elementwise_operators();
Entries batch_norm_operators();
Entries row_operators();
Entries window_operators();
Entries optimizer_operators();
Entries selection_operators();
Entries quantization_operators();
Entries low_rank_operators();
Entries training_operators();
Entries collective_operators();
Entries contention_operators();

/// The operator `reduce` with that many blocks.
Operation make_reduce(std::int64_t blocks);

template <class T>
struct Tag {
  using type = T;
};
/// Calls make(Tag<T>{}) with the number format in which `request` keeps activations.
template <class Make>
Operation by_type(const Request& request, Make make) {
  switch (request.type) {
    case Type::fp32:
      return make(Tag<float>{});
    case Type::fp16:
      return make(Tag<__half>{});
    case Type::bf16:
      return make(Tag<__nv_bfloat16>{});
    default:
      fail(CONTEND_UNSUPPORTED, request.name + " has no kernel for this number format");
  }
}
/// Throws CONTEND_UNSUPPORTED unless the numbers are fp32.
void only_fp32(const Request& request);

}  // namespace contend::cuda
