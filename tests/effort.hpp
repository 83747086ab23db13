#pragma once
// How much work a test does. Under sanitizers code is 20 to 30 times slower, and what they find shows in few rounds;
// whether frequencies are right is for optimised builds. CONTEND_EFFORT=20 multiplies every number of rounds, for a
// long search.

#include <cstddef>
#include <cstdlib>

namespace contend {

#ifdef CONTEND_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// CONTEND_EFFORT, by default 1.
[[nodiscard]] inline int effort_factor() {
  static const int times = [] {
    const char* const text = std::getenv("CONTEND_EFFORT");
    return text == nullptr ? 1 : std::atoi(text);
  }();
  return times;
}

/// Whether this run plays case `n` of a long list: each, but under sanitizers one in `in` unless CONTEND_EFFORT asks
/// for more.
[[nodiscard]] inline bool is_played(std::size_t n, std::size_t in) {
  return !kSanitized || effort_factor() > 1 || n % in == 0;
}

/// Of `n` rounds of a property those that this run executes: all, a tenth under sanitizers, and CONTEND_EFFORT times as
/// many where that is set.
template <class Integer>
[[nodiscard]] Integer effort(Integer n) {
  const int times = effort_factor();
  const Integer rounds = kSanitized ? (n + 9) / 10 : n;
  return times > 1 ? rounds * static_cast<Integer>(times) : rounds;
}

}  // namespace contend
