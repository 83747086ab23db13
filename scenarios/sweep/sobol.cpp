#include "scenarios/sweep/sobol.hpp"

#include "sim/check.hpp"
#include "sim/random_stream.hpp"

#include <boost/random/sobol.hpp>

namespace contend {
namespace {

std::uint32_t reversed(std::uint32_t bits) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= ((bits >> i) & 1U) << (31 - i);
  return result;
}

}  // namespace

std::uint32_t owen_scrambled(std::uint32_t fraction, std::uint32_t seed) {
  // Every step changes a bit depending on lower bits only, hence the reversals (Burley 2020, listing 3).
  std::uint32_t x = reversed(fraction);
  x += seed;
  for (const std::uint32_t factor : {0x6c50b47cU, 0xb82f1e52U, 0xc7afe638U, 0x8d22f6e6U}) x ^= x * factor;
  return reversed(x);
}

std::vector<std::vector<std::uint32_t>> sobol_points(std::size_t points, std::size_t keys) {
  CONTEND_CHECK(keys >= 1 && keys <= kMaxSobolKeys, "a Sobol design needs 1 to 1000 keys");
  boost::random::sobol sequence{keys};
  std::vector<std::vector<std::uint32_t>> result(points, std::vector<std::uint32_t>(keys));
  // Boost's sequence leaves out the origin, without which its first points are no net.
  for (std::size_t i = 1; i < points; ++i)
    for (std::uint32_t& each : result[i]) each = static_cast<std::uint32_t>(sequence() >> 32U);
  return result;
}

std::vector<std::vector<double>> scrambled_sobol(std::size_t points, const std::vector<std::string>& keys,
                                                 std::uint64_t seed) {
  const auto bare = sobol_points(points, keys.size());
  std::vector<std::vector<double>> result(points, std::vector<double>(keys.size()));
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto key_seed = static_cast<std::uint32_t>(RandomStream{seed, "sobol/" + keys[k]}.next());
    for (std::size_t i = 0; i < points; ++i)
      result[i][k] = (static_cast<double>(owen_scrambled(bare[i][k], key_seed)) + 0.5) * 0x1p-32;
  }
  return result;
}

}  // namespace contend
