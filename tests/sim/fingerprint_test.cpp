#include "sim/fingerprint.hpp"
#include "tests/effort.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <set>

using contend::Fingerprint;

namespace {

std::uint64_t fingerprint(std::initializer_list<std::uint64_t> words) {
  Fingerprint f;
  for (const std::uint64_t word : words) f.add(word);
  return f.value();
}

}  // namespace

TEST_CASE("the fingerprint is the same number on every platform") {
  // Computed by a second implementation of the formula, in Python with integers of any length.
  CHECK(fingerprint({}) == 0xc25abb1cbd5e0221ULL);
  CHECK(fingerprint({0}) == 0x8f3ffcea7920f090ULL);
  CHECK(fingerprint({1, 2, 3}) == 0xe05ba8ee05c455b6ULL);
  CHECK(fingerprint({UINT64_MAX, 0, std::uint64_t{1} << 63}) == 0x133161d865cc0e72ULL);
}

TEST_CASE("order, length and zeros count") {
  CHECK(fingerprint({1, 2, 3}) != fingerprint({3, 2, 1}));
  CHECK(fingerprint({0}) != fingerprint({0, 0}));
  CHECK(fingerprint({0, 5}) != fingerprint({5, 0}));
}

TEST_CASE("a value may be read while words are still added") {
  Fingerprint f;
  f.add(1);
  const std::uint64_t early = f.value();
  CHECK(f.value() == early);
  f.add(2);
  CHECK(f.value() == fingerprint({1, 2}));
}

TEST_CASE("every single bit of every word changes the value") {
  std::set<std::uint64_t> seen{fingerprint({7, 7, 7})};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flipped = 7 ^ (std::uint64_t{1} << bit);
    seen.insert(fingerprint({flipped, 7, 7}));
    seen.insert(fingerprint({7, flipped, 7}));
    seen.insert(fingerprint({7, 7, flipped}));
  }
  CHECK(seen.size() == 1 + 3 * 64);
}

TEST_CASE("no two single bits of neighbouring words cancel each other") {
  std::set<std::uint64_t> seen;
  for (int a = 0; a < 64; ++a) {
    for (int b = 0; b < 64; ++b) seen.insert(fingerprint({7 ^ (std::uint64_t{1} << a), 7 ^ (std::uint64_t{1} << b)}));
  }
  CHECK(seen.size() == 64 * 64);
}

TEST_CASE("small words do not collide") {
  // 2^18 pairs of event-like words: two colliding by chance has a probability near 2^-29.
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < contend::effort(std::uint64_t{512}); ++a) {
    for (std::uint64_t b = 0; b < 512; ++b) seen.insert(fingerprint({a, b}));
  }
  CHECK(seen.size() == contend::effort(512) * 512);
}
