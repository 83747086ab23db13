#pragma once
// How much work a test does. Under sanitizers code is 20 to 30 times slower, and what they find shows in few rounds;
// that frequencies are right is for optimised builds.

namespace contend {

#ifdef CONTEND_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Of `n` rounds of a property those that this build runs: all, or a tenth under sanitizers.
template <class Integer>
[[nodiscard]] constexpr Integer effort(Integer n) {
  return kSanitized ? (n + 9) / 10 : n;
}

}  // namespace contend
