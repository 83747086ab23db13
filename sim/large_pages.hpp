#pragma once
// LargePages is an allocator for the arrays that events look up at random. It asks the system for pages of 2 MiB, of
// which a processor remembers the places of many more bytes than of pages of 4 KiB: in a large cluster nearly every
// event would otherwise wait for a place to be looked up. Where the system has no such pages, it makes no difference.

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace contend {

/// Allocates arrays of at least kBytes in whole large pages, and smaller ones as std::allocator does.
template <class Value>
struct LargePages {
  using value_type = Value;
  static constexpr std::size_t kBytes = std::size_t{2} << 20;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}  // NOLINT: allocators convert

  [[nodiscard]] Value* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(Value);
    if (bytes < kBytes) return static_cast<Value*>(::operator new (bytes, std::align_val_t{alignof(Value)}));
    void* const pages = std::aligned_alloc(kBytes, (bytes + kBytes - 1) / kBytes * kBytes);
    if (pages == nullptr) throw std::bad_alloc{};
#if defined(MADV_HUGEPAGE)
    madvise(pages, (bytes + kBytes - 1) / kBytes * kBytes, MADV_HUGEPAGE);
#endif
    return static_cast<Value*>(pages);
  }
  void deallocate(Value* values, std::size_t count) {
    if (count * sizeof(Value) < kBytes) return ::operator delete (values, std::align_val_t{alignof(Value)});
    std::free(values);
  }
  friend bool operator==(const LargePages&, const LargePages&) {
    return true;
  }
};

}  // namespace contend
