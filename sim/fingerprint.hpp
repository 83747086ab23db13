#pragma once
// The event fingerprint: a 64-bit hash over every word that is added, in order. Two runs with equal fingerprints went
// through the same events; a test keeps the fingerprint of a scenario and notices the first event that changes.
// It guards against accidents, not against an adversary.

#include <cstdint>

namespace contend {

/// One widening multiplication a word, whose two halves are folded together (the step of wyhash, Wang Yi 2019). The
/// fold is what makes it strong enough: with a multiplication modulo 2^64 the top bit of one word can be cancelled by
/// a single other bit of the next. Integer arithmetic only, so the value is the same on every platform.
class Fingerprint {
 public:
  constexpr void add(std::uint64_t word) {
    const Wide product = static_cast<Wide>(state_ ^ word) * kMultiplier;
    // The added constant moves the state on from zero, where a word of zero would otherwise leave no trace.
    state_ = (static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product)) + kIncrement;
  }

  /// The hash of what was added so far; adding may go on. The last word has passed only one multiplication, so the
  /// finalizer of MurmurHash3 (Appleby, fmix64) spreads it over every bit.
  [[nodiscard]] constexpr std::uint64_t value() const {
    std::uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
  }

 private:
  __extension__ using Wide = unsigned __int128;  // g++ and clang both have it, neither calls it ISO C++

  // The golden ratio and the fraction of sqrt(2) in 64 bits: odd and without pattern is all that is asked of them.
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  static constexpr std::uint64_t kIncrement = 0x6a09e667f3bcc909ULL;

  std::uint64_t state_ = kIncrement;
};

}  // namespace contend
