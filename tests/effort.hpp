#pragma once
// How much work a test does. Under sanitizers code is 20 to 30 times slower, and what they find shows in few rounds;
// whether frequencies are right is for optimised builds. CONTEND_EFFORT=20 multiplies every number of rounds, for a
// long search.

#include <cstdlib>

namespace contend {

#ifdef CONTEND_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Of `n` rounds of a property those that this run executes: all, a tenth under sanitizers, and CONTEND_EFFORT times as
/// many where that is set.
template <class Integer>
[[nodiscard]] Integer effort(Integer n) {
  static const int times = [] {
    const char* const text = std::getenv("CONTEND_EFFORT");
    return text == nullptr ? 1 : std::atoi(text);
  }();
  const Integer rounds = kSanitized ? (n + 9) / 10 : n;
  return times > 1 ? rounds * static_cast<Integer>(times) : rounds;
}

}  // namespace contend
