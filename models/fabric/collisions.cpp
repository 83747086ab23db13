#include "models/fabric/collisions.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {
namespace {

constexpr int kMostFlows = 256, kMostLinks = 1'024;

double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

/// The probability that none of the links has more than `most` of the flows, link by link: of r flows that are left for
/// l links, each is on the next one with the probability 1 / l.
double none_above(int flows, int links, int most) {
  std::vector<double> left(static_cast<std::size_t>(flows) + 1, 0.0), next(left.size());
  left.back() = 1;
  for (int l = links; l > 1; --l) {
    std::fill(next.begin(), next.end(), 0.0);
    for (int r = 0; r <= flows; ++r) {
      const double reached = left[static_cast<std::size_t>(r)];
      if (reached == 0) continue;
      double weight = power((l - 1.0) / l, r);  // of k flows on this link
      for (int k = 0; k <= std::min(most, r); ++k) {
        next[static_cast<std::size_t>(r - k)] += reached * weight;
        weight *= static_cast<double>(r - k) / ((k + 1.0) * (l - 1.0));
      }
    }
    left.swap(next);
  }
  double fits = 0;
  for (int r = 0; r <= std::min(most, flows); ++r) fits += left[static_cast<std::size_t>(r)];
  return fits;
}

}  // namespace

FlowCollisions flow_collisions(int flows, int links) {
  CONTEND_CHECK(1 <= flows && flows <= kMostFlows && 1 <= links && links <= kMostLinks, "few flows on few links");
  constexpr double kCertain = 1 - 1e-12;  // the steps are a thousand, each of which rounds
  FlowCollisions result;
  result.at_most.assign(static_cast<std::size_t>(flows) + 1, 1.0);
  result.at_most[0] = 0;
  for (int m = 1; m < flows; ++m) {
    const double fits = none_above(flows, links, m);
    result.at_most[static_cast<std::size_t>(m)] = fits;
    if (fits >= kCertain) break;
  }
  result.none = result.at_most[1];
  for (int m = 1; m <= flows; ++m) {
    const double exactly =
        result.at_most[static_cast<std::size_t>(m)] - result.at_most[static_cast<std::size_t>(m) - 1];
    result.mean_fullest += exactly * m;
    result.mean_rate += exactly / m;
  }
  result.mean_links_used = links * (1 - power(1 - 1.0 / links, flows));
  return result;
}

}  // namespace contend
