#pragma once
// Memory and numbers for kernels on an emulated GPU.

#include "tests/calibration/emulated_gpu.hpp"
#include "tests/effort.hpp"

#include <array>
#include <new>

namespace contend::emulated {

/// A number of 16 bits, as bf16 is: the upper half of a float.
struct Short {
  Short() = default;
  explicit Short(float value) : bits{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)} {}
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  std::uint16_t bits;
};

/// Memory that begins as a device's allocation does: aligned, here filled with zeros.
template <class T>
class Memory {
 public:
  explicit Memory(std::size_t count)
      : at_{static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{256}))}, count_{count} {
    for (std::size_t i = 0; i < count; ++i) at_.get()[i] = T{};
  }
  [[nodiscard]] T* get() const { return at_.get(); }
  T& operator[](std::size_t i) const { return at_.get()[i]; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(T* memory) const { ::operator delete (memory, std::align_val_t{256}); }
  };
  std::unique_ptr<T, Free> at_;
  std::size_t count_;
};

/// Numbers in [-2, 2], of 20001 different ones.
template <class T>
Memory<T> irregular(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  Memory<T> out{count};
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(static_cast<float>(static_cast<int>(random() % 20'001) - 10'000) / 5000);
  return out;
}

/// Orders of threads in which kernels are run.
inline constexpr auto kSeeds = [] {
  if constexpr (kSanitized)
    return std::array{1U};
  else
    return std::array{1U, 2U};
}();

}  // namespace contend::emulated
