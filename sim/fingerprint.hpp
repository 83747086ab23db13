#pragma once
// The event fingerprint is a 64-bit hash over every word that is added, in order. Runs that execute the same events
// have equal fingerprints, so a test that keeps the fingerprint of a scenario notices any event that changes. The hash
// guards against accidents, not against an adversary.

#include <cstdint>

namespace contend {

/// Hashes words by one widening multiplication each, whose two halves are folded together (the step of wyhash, Wang Yi
/// 2019). The fold is necessary: with a multiplication modulo 2^64, one bit of the next word can cancel the top bit of
/// a word. It uses integer arithmetic only, so the value is the same on every platform.
class Fingerprint {
 public:
  constexpr void add(std::uint64_t word) {
    const Wide product = static_cast<Wide>(state_ ^ word) * kMultiplier;
    // The added constant moves the state away from zero, where a word of zero would leave it unchanged.
    state_ = (static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product)) + kIncrement;
  }

  /// The hash of the words added so far; more may be added afterwards. The last word has passed only one
  /// multiplication, so the finalizer of MurmurHash3 (Appleby, fmix64) spreads it over every bit.
  [[nodiscard]] constexpr std::uint64_t value() const {
    std::uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
  }

 private:
  __extension__ using Wide = unsigned __int128;  // g++ and clang both have it, neither calls it ISO C++

  // The fractions of the golden ratio and of sqrt(2) in 64 bits. Any odd numbers without a pattern would do.
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ULL;
  static constexpr std::uint64_t kIncrement = 0x6a09e667f3bcc909ULL;

  std::uint64_t state_ = kIncrement;
};

}  // namespace contend
