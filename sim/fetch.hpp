#pragma once
// fetch_lines() has the processor fetch memory into its caches while it does something else. An event in a large
// cluster finds few of the lines that it needs in the caches, and each line that it has to wait for costs as much as a
// hundred instructions.

#include <cstddef>

namespace contend {

inline constexpr std::size_t kCacheLine = 64;  ///< bytes

/// Fetches the first lines of an object. The address may be any, also null.
template <int lines>
inline void fetch_lines(const void* object) {
  const char* const first = static_cast<const char*>(object);
  for (int i = 0; i < lines; ++i) __builtin_prefetch(first + static_cast<std::size_t>(i) * kCacheLine);
  // GCC takes a function that does nothing else for one without effects, and leaves out its calls.
  asm volatile("" : : "r"(object));
}

}  // namespace contend
