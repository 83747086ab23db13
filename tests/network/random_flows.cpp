#include "tests/network/random_flows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend::test {

SystemShape random_shape(RandomStream& random) {
  SystemShape shape;
  shape.links = static_cast<int>(random.uniform_integer(1, 20));
  shape.flows = static_cast<int>(random.uniform_integer(1, 40));
  shape.ties = random.uniform() < 0.5;
  shape.caps = random.uniform() < 0.5;
  return shape;
}

std::vector<double> random_capacities(const SystemShape& shape, RandomStream& random) {
  std::vector<double> capacities;
  for (int l = 0; l < shape.links; ++l) {
    const double dead = random.uniform() < 0.02 ? 0 : 1;
    capacities.push_back(dead *
                         (shape.ties ? static_cast<double>(random.uniform_integer(1, 4)) : random.lognormal(0, 2)));
  }
  return capacities;
}

FlowDemand random_flow(const SystemShape& shape, RandomStream& random) {
  FlowDemand flow;
  const auto crossed = random.uniform_integer(1, std::min<std::int64_t>(shape.links, 6));
  std::vector<std::uint32_t> links;
  for (std::uint32_t l = 0; l < static_cast<std::uint32_t>(shape.links); ++l) links.push_back(l);
  random.shuffle(std::span{links});
  for (std::int64_t i = 0; i < crossed; ++i) {
    flow.links.push_back({LinkId{links[static_cast<std::size_t>(i)]}, shape.ties ? 1.0 : random.uniform(0.1, 2)});
  }
  if (!shape.ties) flow.weight = random.uniform(0.2, 5);
  if (shape.caps && random.uniform() < 0.3) {
    flow.cap = shape.ties ? 0.25 * static_cast<double>(random.uniform_integer(1, 8)) : random.lognormal(-1, 1);
  }
  return flow;
}

std::string max_min_fault(const FlowSystem& system, const std::vector<double>& rates) {
  constexpr double kClose = 1e-9;
  const auto& flows = system.flows;
  std::vector<double> load(system.capacities.size(), 0);
  std::vector<double> top(system.capacities.size(), 0);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const LinkShare& use : flows[f].links) {
      load[use.link.index()] += use.share * rates[f];
      top[use.link.index()] = std::max(top[use.link.index()], rates[f] / flows[f].weight);
    }
  }
  for (std::size_t l = 0; l < load.size(); ++l) {
    if (load[l] > system.capacities[l] * (1 + kClose)) {
      return fmt::format("link {} carries {} of {}", l, load[l], system.capacities[l]);
    }
  }
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (flows[f].cap > 0 && rates[f] > flows[f].cap * (1 + kClose)) return fmt::format("flow {} is above its cap", f);
    if (flows[f].cap > 0 && rates[f] >= flows[f].cap * (1 - kClose)) continue;
    const bool limited = std::any_of(flows[f].links.begin(), flows[f].links.end(), [&](const LinkShare& use) {
      const std::size_t l = use.link.index();
      return load[l] >= system.capacities[l] * (1 - kClose) && rates[f] / flows[f].weight >= top[l] * (1 - kClose);
    });
    if (!limited) return fmt::format("flow {} at {} has no bottleneck", f, rates[f]);
  }
  return {};
}

}  // namespace contend::test
