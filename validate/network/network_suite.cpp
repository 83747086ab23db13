#include "validate/network/network_suite.hpp"

#include "validate/network/network_cases.hpp"
#include "validate/network/network_collectives.hpp"
#include "validate/network/network_simgrid.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr int kSimGridCases = 200;
constexpr double kSimGridTolerance = 1e-6;
constexpr std::int64_t kIncastNs = 64'000'000;  // 8 x 100 MB at 12.5 GB/s

bool hold_cases(std::FILE* out) {
  fmt::print(out,
             "Flows on a few links, worked out by hand (validate/network/network_cases.cpp): end of each flow in ns\n");
  fmt::print(out, "  {:<38}{:<34}{:<34}verdict\n", "case", "by hand", "simulated");
  bool all_hold = true;
  const auto row = [&](std::string_view name, const std::string& by_hand, const std::string& simulated) {
    all_hold = all_hold && by_hand == simulated;
    fmt::print(out, "  {:<38}{:<34}{:<34}{}\n", name, by_hand, simulated, word(by_hand == simulated));
  };
  for (const NetworkCase& each : network_cases()) {
    std::string by_hand, simulated;
    for (const NetworkCase::Flow& flow : each.flows) by_hand += fmt::format("{} ", flow.end_ns);
    for (const std::int64_t end : simulate_ends(each)) simulated += fmt::format("{} ", end);
    row(each.name, by_hand, simulated);
  }
  row("incast, 8 x 100 MB into 12.5 GB/s", fmt::format("{}", kIncastNs), fmt::format("{}", simulate_incast(8)));
  return all_hold;
}

struct KindResult {
  std::string kind;
  int cases = 0;
  std::size_t flows = 0;
  double deviation = 0;
};

std::vector<KindResult> compare_with_simgrid() {
  RandomStream random{1, "simgrid"};
  std::vector<FlowCase> cases;
  for (int i = 0; i < kSimGridCases; ++i) cases.push_back(random_flow_case(random));
  const std::vector<SimGridAnswer> answers = ask_simgrid(cases);
  std::vector<KindResult> results;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto at =
        std::find_if(results.begin(), results.end(), [&](const KindResult& r) { return r.kind == cases[i].kind; });
    if (at == results.end()) at = results.insert(results.end(), {cases[i].kind});
    ++at->cases;
    at->flows += cases[i].flows.size();
    const double deviation = largest_deviation(cases[i], completions(cases[i]), answers[i].completions);
    if (!(deviation <= at->deviation)) at->deviation = deviation;
  }
  std::sort(results.begin(), results.end(), [](const KindResult& a, const KindResult& b) { return a.kind < b.kind; });
  return results;
}

bool hold_simgrid(std::FILE* out) {
  fmt::print(out,
             "\n{} random topologies and sets of flows against SimGrid's CM02: time from start to end of every flow.\n"
             "Held: within {:.0e}\n",
             kSimGridCases, kSimGridTolerance);
  std::vector<KindResult> results;
  try {
    results = compare_with_simgrid();
  } catch (const std::runtime_error& error) {
    fmt::print(out, "  FAILED: {}\n", error.what());
    return false;
  }
  fmt::print(out, "  {:<18}{:>8}{:>8}{:>18}  verdict\n", "topology", "cases", "flows", "largest diff");
  bool all_hold = true;
  for (const KindResult& each : results) {
    const bool holds = each.deviation <= kSimGridTolerance;
    fmt::print(out, "  {:<18}{:>8}{:>8}{:>18.1e}  {}\n", each.kind, each.cases, each.flows, each.deviation,
               word(holds));
    all_hold = all_hold && holds;
  }
  return all_hold;
}

}  // namespace

int validate_network(std::FILE* out) {
  fmt::print(out, "network: fair sharing and collectives\n\n");
  bool holds = hold_cases(out);
  const std::string missing = simgrid_missing();
  if (missing.empty()) {
    holds = hold_simgrid(out) && holds;
  } else {
    fmt::print(out, "\nSimGrid: skipped, {}\n", missing);
  }
  fmt::print(out, "\n");
  holds = hold_collectives(out) && holds;
  fmt::print(out, "\nnetwork: {}{}\n", holds ? "passed" : "FAILED", missing.empty() ? "" : ", SimGrid skipped");
  return holds ? 0 : 1;
}

}  // namespace contend
