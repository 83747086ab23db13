#include "models/reliability/availability.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

/// Group by group instead of the source's alternating sum, whose terms are larger than their sum by many orders where
/// many machines fail. survive[r]: that no group loses all when r machines of the groups so far fail. Of r machines of
/// n that fail, i are in the last group of m with probability C(m, i) C(n - m, r - i) / C(n, r).
double recovery_probability(int machines, int copies, int lost) {
  CONTEND_CHECK(copies >= 1 && copies <= kMostCopies && machines >= copies && machines % copies == 0 && lost >= 0 &&
                    lost <= machines,
                "groups of copies divide the machines");
  const int groups = machines / copies;
  std::vector<double> survive(static_cast<std::size_t>(lost) + 1, 0.0), next(survive.size());
  survive[0] = 1;
  for (int group = 1; group <= groups; ++group) {
    const int n = group * copies, others = n - copies;
    double least = 1;  // the probability that the fewest possible are in the last group
    for (int r = 0; r <= lost; ++r) {
      const int fewest = std::max(0, r - others);
      double weight = least, sum = 0;
      for (int i = fewest; i < copies && i <= r; ++i) {
        sum += weight * survive[static_cast<std::size_t>(r - i)];
        weight *= static_cast<double>(copies - i) * (r - i) / ((i + 1.0) * (others - r + i + 1.0));
      }
      next[static_cast<std::size_t>(r)] = r > n ? 0 : sum;
      least *= r < others ? static_cast<double>(others - r) / (n - r) : (r + 1.0) / (r + 1.0 - others);
    }
    survive.swap(next);
  }
  return survive.back();
}

double spares_short_probability(int needed, int spares, double failure_rate, double repair_rate) {
  CONTEND_CHECK(needed >= 1 && spares >= 0 && failure_rate > 0 && repair_rate > 0, "spares of servers that fail");
  double weight = 1, all = 1, is_short = 0;
  for (int down = 1; down <= needed + spares; ++down) {
    const int up = needed + spares - (down - 1);
    weight *= (up < needed ? up : needed) * failure_rate / (down * repair_rate);
    all += weight;
    if (down > spares) is_short += weight;
  }
  return is_short / all;
}

}  // namespace contend
