#pragma once
// Runs kernels on the host: the headers *_kernels.cuh of the CUDA back end compile as C++ once this file is included.
// Each thread of a block is a fiber; blocks run one after the other. A fiber runs until it waits for its warp or its
// block, so results do not depend on the machine. The order in which fibers run is chosen by a seed: a kernel that
// lacks a barrier computes something else in another order. Threads of a warp that do not reach a shuffle together, and
// a block of which some threads leave without a barrier that others wait for, are errors.
//
// It sees neither speed nor what depends on the memory of a device.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include <ucontext.h>

namespace contend::emulated {

struct Three {
  unsigned x = 1, y = 1, z = 1;
};

class Gpu {
 public:
  /// Runs a kernel, given as a function without arguments, on `grid` x `block` threads.
  static void launch(Three grid, Three block, unsigned seed, const std::function<void()>& kernel) {
    Gpu gpu{block, seed, kernel};
    grid_size() = grid;
    block_size() = block;
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index() = {x, y, 0};
        gpu.run_block();
      }
    }
  }

  static Three& grid_size() {
    static Three size;
    return size;
  }
  static Three& block_size() {
    static Three size;
    return size;
  }
  static Three& block_index() {
    static Three index;
    return index;
  }
  static Three& thread_index() {
    static Three index;
    return index;
  }

  /// Waits for all threads of the block; true if any of them says so.
  static bool wait_for_block(bool any = false) {
    Gpu& gpu = *running();
    gpu.any_ = gpu.any_ || any;
    gpu.pause(Waiting::block);
    return gpu.answer_;
  }
  /// Gives the warp's other threads `bits` and returns the bits of thread `from` of the warp.
  static std::uint32_t exchange(std::uint32_t bits, unsigned from) {
    Gpu& gpu = *running();
    const unsigned self = gpu.current_, first = self / 32 * 32;
    gpu.given_[self] = bits;
    gpu.pause(Waiting::warp);
    const std::uint32_t got = gpu.given_[first + from % 32];
    gpu.pause(Waiting::warp);  // nobody gives again before all have read
    return got;
  }
  static unsigned lane() { return running()->current_ % 32; }

 private:
  enum class Waiting { nothing, warp, block, end };
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    Waiting waiting = Waiting::nothing;
  };
  static constexpr std::size_t kStack = std::size_t{1} << 17;

  Gpu(Three block, unsigned seed, const std::function<void()>& kernel)
      : kernel_{kernel}, random_{seed}, fibers_(block.x * block.y), given_(fibers_.size()), order_(fibers_.size()) {
    if (fibers_.size() % 32 != 0) throw std::logic_error{"a block of whole warps"};
    for (Fiber& each : fibers_) each.stack = std::make_unique_for_overwrite<char[]>(kStack);
    std::iota(order_.begin(), order_.end(), 0U);
  }

  static Gpu*& running() {
    static Gpu* gpu = nullptr;
    return gpu;
  }

  static void begin() {
    Gpu& gpu = *running();
    gpu.kernel_();
    gpu.fibers_[gpu.current_].waiting = Waiting::end;
    swapcontext(&gpu.fibers_[gpu.current_].context, &gpu.scheduler_);
  }

  void pause(Waiting what) {
    fibers_[current_].waiting = what;
    swapcontext(&fibers_[current_].context, &scheduler_);
  }

  void resume(unsigned fiber) {
    current_ = fiber;
    thread_index() = {fiber % block_size().x, fiber / block_size().x, 0};
    fibers_[fiber].waiting = Waiting::nothing;
    swapcontext(&scheduler_, &fibers_[fiber].context);
  }

  void run_block() {
    running() = this;
    any_ = false;
    for (Fiber& each : fibers_) {
      each.waiting = Waiting::nothing;
      getcontext(&each.context);
      each.context.uc_stack.ss_sp = each.stack.get();
      each.context.uc_stack.ss_size = kStack;
      each.context.uc_link = nullptr;
      makecontext(&each.context, begin, 0);
    }
    std::vector<char> ready(fibers_.size(), 1);
    while (true) {
      std::shuffle(order_.begin(), order_.end(), random_);
      for (const unsigned each : order_)
        if (ready[each] != 0) resume(each);
      if (!release(ready)) break;
    }
    running() = nullptr;
  }

  /// Marks who may go on; false if all have ended.
  bool release(std::vector<char>& ready) {
    const auto are = [&](std::size_t first, std::size_t count, Waiting what) {
      return std::all_of(fibers_.begin() + static_cast<std::ptrdiff_t>(first),
                         fibers_.begin() + static_cast<std::ptrdiff_t>(first + count),
                         [&](const Fiber& each) { return each.waiting == what; });
    };
    const std::size_t all = fibers_.size();
    std::fill(ready.begin(), ready.end(), char{0});
    if (are(0, all, Waiting::end)) return false;
    bool moves = false;
    for (std::size_t warp = 0; warp < all; warp += 32) {
      if (!are(warp, 32, Waiting::warp)) continue;
      std::fill_n(ready.begin() + static_cast<std::ptrdiff_t>(warp), 32, char{1});
      moves = true;
    }
    if (moves) return true;
    if (!are(0, all, Waiting::block)) throw std::logic_error{"threads wait for others that do not come"};
    std::fill(ready.begin(), ready.end(), char{1});
    answer_ = any_;
    any_ = false;
    return true;
  }

  const std::function<void()>& kernel_;
  std::mt19937 random_;
  std::vector<Fiber> fibers_;
  std::vector<std::uint32_t> given_;
  std::vector<unsigned> order_;
  ucontext_t scheduler_{};
  unsigned current_ = 0;
  bool any_ = false, answer_ = false;
};

}  // namespace contend::emulated

// The words of CUDA C++ that the kernels use. Shared memory is the memory of the one block that runs.
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
#define __logf(value) std::log(value)
#define blockIdx (contend::emulated::Gpu::block_index())
#define blockDim (contend::emulated::Gpu::block_size())
#define gridDim (contend::emulated::Gpu::grid_size())
#define threadIdx (contend::emulated::Gpu::thread_index())

struct alignas(16) float4 {
  float x, y, z, w;
};

inline void __syncthreads() {
  contend::emulated::Gpu::wait_for_block();
}
inline int __syncthreads_or(int any) {
  return contend::emulated::Gpu::wait_for_block(any != 0) ? 1 : 0;
}
template <class Value>
Value exchanged(Value value, unsigned from) {
  static_assert(sizeof(Value) == 4);
  return std::bit_cast<Value>(contend::emulated::Gpu::exchange(std::bit_cast<std::uint32_t>(value), from));
}
template <class Value, class Distance>
Value __shfl_xor_sync(unsigned, Value value, Distance distance) {
  return exchanged(value, contend::emulated::Gpu::lane() ^ static_cast<unsigned>(distance));
}
template <class Value>
Value __shfl_up_sync(unsigned, Value value, unsigned distance) {
  const unsigned lane = contend::emulated::Gpu::lane();
  return exchanged(value, lane >= distance ? lane - distance : lane);
}
inline std::uint32_t __float_as_uint(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float rsqrtf(float value) {
  return 1 / std::sqrt(value);
}
inline float __expf(float value) {
  return std::exp(value);
}
template <class Number>
Number atomicAdd(Number* to, Number more) {
  const Number before = *to;
  *to = before + more;
  return before;
}
template <class Number>
Number atomicMax(Number* to, Number other) {
  const Number before = *to;
  *to = std::max(before, other);
  return before;
}
