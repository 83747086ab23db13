#pragma once
// Large pages for what events look up at random. A processor remembers where pages of 2 MiB lie for many more bytes
// than of pages of 4 KiB, so that in a large cluster fewer events wait until that has been looked up. Where the system
// has no such pages, nothing changes.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace contend {

/// Gives blocks of at least kBytes in whole large pages, and smaller ones as operator new does.
class LargePageResource final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t kBytes = std::size_t{2} << 20;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes < kBytes) return ::operator new (bytes, std::align_val_t{alignment});
    const std::size_t whole = (bytes + kBytes - 1) / kBytes * kBytes;
    void* const pages = std::aligned_alloc(kBytes, whole);
    if (pages == nullptr) throw std::bad_alloc{};
#if defined(MADV_HUGEPAGE)
    madvise(pages, whole, MADV_HUGEPAGE);
#endif
    return pages;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    if (bytes < kBytes) return ::operator delete (block, std::align_val_t{alignment});
    std::free(block);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// Gives an object back to the pool that it is from.
struct ReturnToPool {
  std::pmr::memory_resource* pool = nullptr;
  template <class Object>
  void operator()(Object* object) const {
    std::pmr::polymorphic_allocator<>{pool}.delete_object(object);
  }
};

/// Memory of one run, for one thread: of arrays, from `pages`, and of objects that come and go, from `pool`, which lie
/// close together so that many are in one page.
struct RunMemory {
  LargePageResource pages{};
  std::pmr::monotonic_buffer_resource blocks{&pages};
  /// It takes blocks for at most so many objects at once, because it clears the blocks that it takes.
  std::pmr::unsynchronized_pool_resource pool{std::pmr::pool_options{256, 0}, &blocks};

  template <class Object>
  [[nodiscard]] std::unique_ptr<Object, ReturnToPool> make() {
    return {std::pmr::polymorphic_allocator<>{&pool}.new_object<Object>(), {&pool}};
  }
};

}  // namespace contend
