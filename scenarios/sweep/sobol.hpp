#pragma once
// Sobol points, scrambled: a design that fills a cube of several keys more evenly than independent draws.
//
// Sources: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30
// (2008), for the direction numbers; Owen, "Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995, for the
// scrambling; Laine and Karras, "Stratified sampling for stochastic transparency", CGF 30 (2011), and Burley,
// "Practical hash-based Owen scrambling", JCGT 9 (2020), for the hash that does it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// The largest number of keys of a Sobol design.
inline constexpr std::size_t kMaxSobolKeys = 1000;

/// A nested uniform scramble in base 2: flips each bit of a binary fraction, the first bit being the half, depending on
/// the seed and on the bits before it. So two fractions that agree in their first k bits still do, and any set of
/// points that was spread evenly over the intervals of width 2^-k still is.
[[nodiscard]] std::uint32_t owen_scrambled(std::uint32_t fraction, std::uint32_t seed);

/// The first points of the Sobol sequence, the origin first, as 32 bits of each coordinate (units of 2^-32).
/// `keys` from 1 to kMaxSobolKeys.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> sobol_points(std::size_t points, std::size_t keys);

/// The same scrambled, coordinate k by a seed that depends on `seed` and on the name of key k. In [0, 1), and never at
/// a multiple of 2^-32. For a number of points that is a power of 2 each coordinate has one point in each of so many
/// equal intervals.
[[nodiscard]] std::vector<std::vector<double>> scrambled_sobol(std::size_t points, const std::vector<std::string>& keys,
                                                               std::uint64_t seed);

}  // namespace contend
