// 200 random topologies and sets of flows: the ends by `FluidNetwork` are those by SimGrid within 1e-6. Skipped with a
// reason (exit code 77) where SimGrid is absent. A second check makes sure that the comparison can fail.

#include "validate/network/network_simgrid.hpp"

#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>

using namespace contend;

namespace {

constexpr int kCases = 200;
constexpr int kSkipped = 77;
constexpr double kTolerance = 1e-6;

int compare() {
  RandomStream random{2, "simgrid"};
  std::vector<FlowCase> cases;
  for (int i = 0; i < kCases; ++i) cases.push_back(random_flow_case(random));
  const std::vector<SimGridAnswer> answers = ask_simgrid(cases);
  int failures = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double deviation = largest_deviation(cases[i], completions(cases[i]), answers[i].completions);
    if (deviation <= kTolerance) continue;
    fmt::print("case {}, {}: {} flows, largest difference {:.1e}\n", i, cases[i].kind, cases[i].flows.size(),
               deviation);
    ++failures;
  }
  FlowCase wider = cases.front();
  for (double& capacity : wider.capacities) capacity *= 1.00001;
  if (largest_deviation(wider, completions(wider), answers.front().completions) <= kTolerance) {
    fmt::print("links that are wider by 1e-5 went unnoticed\n");
    ++failures;
  }
  fmt::print("{} of {} cases differ\n", failures, kCases);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    if (const std::string missing = simgrid_missing(); !missing.empty()) {
      fmt::print("skipped: {}\n", missing);
      return kSkipped;
    }
    return compare();
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
