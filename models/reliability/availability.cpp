#include "models/reliability/availability.hpp"

#include "sim/check.hpp"

namespace contend {
namespace {

/// C(a - c, b - c) / C(a, b) = b (b-1) ... (b-c+1) / (a (a-1) ... (a-c+1)), for c <= b <= a.
double choose_ratio(int a, int b, int c) {
  double ratio = 1;
  for (int i = 0; i < c; ++i) ratio *= static_cast<double>(b - i) / static_cast<double>(a - i);
  return ratio;
}

}  // namespace

double recovery_probability(int machines, int copies, int lost) {
  CONTEND_CHECK(copies >= 1 && machines >= copies && machines % copies == 0 && lost >= 0 && lost <= machines,
                "groups of copies divide the machines");
  const int groups = machines / copies;
  double lost_group = 0, choices = 1;  // choices = C(groups, j)
  for (int j = 1; j <= groups && j * copies <= lost; ++j) {
    choices *= static_cast<double>(groups - j + 1) / j;
    lost_group += (j % 2 == 1 ? 1 : -1) * choices * choose_ratio(machines, lost, j * copies);
  }
  return 1 - lost_group;
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
