#include "tests/network/random_flows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
    double share = shape.ties ? 1.0 : random.uniform(0.1, 2);
    if (shape.share_decades > 0) share *= std::pow(10, -random.uniform(0, shape.share_decades));
    flow.links.push_back({LinkId{links[static_cast<std::size_t>(i)]}, share});
  }
  if (!shape.ties) flow.weight = random.uniform(0.2, 5);
  if (shape.weight_decades > 0) flow.weight *= std::pow(10, -random.uniform(0, shape.weight_decades));
  if (shape.caps && random.uniform() < 0.3) {
    flow.cap = shape.ties ? 0.25 * static_cast<double>(random.uniform_integer(1, 8)) : random.lognormal(-1, 1);
  }
  if (shape.priorities > 1) flow.priority = static_cast<int>(random.uniform_integer(0, shape.priorities - 1));
  return flow;
}

namespace {

/// Adds the rates of the flows of one priority, in these capacities.
void fill(std::span<const long double> room_of, std::span<const FlowDemand> flows, int priority,
          std::vector<double>& rates) {
  constexpr long double kInfinite = std::numeric_limits<long double>::infinity();
  constexpr long double kRounding = 1e-15L;
  std::vector<std::size_t> rising;
  for (std::size_t f = 0; f < flows.size(); ++f)
    if (flows[f].priority == priority) rising.push_back(f);
  std::vector<std::pair<std::size_t, long double>> frozen;  // flow, rate
  while (!rising.empty()) {
    std::vector<long double> room(room_of.begin(), room_of.end()), per_level(room.size(), 0);
    for (const auto& [f, rate] : frozen)
      for (const LinkShare& use : flows[f].links) room[use.link.index()] -= use.share * rate;
    for (const std::size_t f : rising)
      for (const LinkShare& use : flows[f].links)
        per_level[use.link.index()] += static_cast<long double>(use.share) * flows[f].weight;
    const auto full_at = [&](std::size_t f) {
      long double level = flows[f].cap > 0 ? static_cast<long double>(flows[f].cap) / flows[f].weight : kInfinite;
      for (const LinkShare& use : flows[f].links)
        level = std::min(level, std::max(0.0L, room[use.link.index()]) / per_level[use.link.index()]);
      return level;
    };
    long double level = kInfinite;
    for (const std::size_t f : rising) level = std::min(level, full_at(f));
    const auto stays = std::stable_partition(rising.begin(), rising.end(),
                                             [&](std::size_t f) { return full_at(f) > level * (1 + kRounding); });
    for (auto f = stays; f != rising.end(); ++f) {
      frozen.emplace_back(*f, level * flows[*f].weight);
      rates[*f] = static_cast<double>(level * flows[*f].weight);
    }
    rising.erase(stays, rising.end());
  }
}

}  // namespace

std::vector<double> max_min_rates(const FlowSystem& system) {
  constexpr long double kFull = 1e-9L;  // of a link that is full to so much nothing is left
  int priorities = 0;
  for (const FlowDemand& flow : system.flows) priorities = std::max(priorities, flow.priority + 1);
  std::vector<double> rates(system.flows.size(), 0);
  for (int priority = 0; priority < priorities; ++priority) {
    std::vector<long double> left(system.capacities.begin(), system.capacities.end());
    for (std::size_t f = 0; f < rates.size(); ++f) {
      if (system.flows[f].priority >= priority) continue;
      for (const LinkShare& use : system.flows[f].links)
        left[use.link.index()] -= static_cast<long double>(use.share) * rates[f];
    }
    for (std::size_t l = 0; l < left.size(); ++l)
      if (priority > 0 && left[l] <= kFull * system.capacities[l]) left[l] = 0;
    fill(left, system.flows, priority, rates);
  }
  return rates;
}

std::string max_min_fault(const FlowSystem& system, const std::vector<double>& rates) {
  constexpr double kClose = 1e-9;
  const auto& flows = system.flows;
  const std::size_t links = system.capacities.size();
  int priorities = 1;
  for (const FlowDemand& flow : flows) priorities = std::max(priorities, flow.priority + 1);
  // By priority and link: the load with the load of higher priorities, and the largest level.
  std::vector<std::vector<double>> load(static_cast<std::size_t>(priorities), std::vector<double>(links, 0));
  std::vector<std::vector<double>> top = load;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto own = static_cast<std::size_t>(flows[f].priority);
    for (const LinkShare& use : flows[f].links) {
      const std::size_t l = use.link.index();
      for (std::size_t p = own; p < load.size(); ++p) load[p][l] += use.share * rates[f];
      top[own][l] = std::max(top[own][l], rates[f] / flows[f].weight);
    }
  }
  for (std::size_t l = 0; l < links; ++l) {
    if (load.back()[l] > system.capacities[l] * (1 + kClose)) {
      return fmt::format("link {} carries {} of {}", l, load.back()[l], system.capacities[l]);
    }
  }
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto own = static_cast<std::size_t>(flows[f].priority);
    if (flows[f].cap > 0 && rates[f] > flows[f].cap * (1 + kClose)) return fmt::format("flow {} is above its cap", f);
    if (flows[f].cap > 0 && rates[f] >= flows[f].cap * (1 - kClose)) continue;
    const bool limited = std::any_of(flows[f].links.begin(), flows[f].links.end(), [&](const LinkShare& use) {
      const std::size_t l = use.link.index();
      return load[own][l] >= system.capacities[l] * (1 - kClose) &&
             rates[f] / flows[f].weight >= top[own][l] * (1 - kClose);
    });
    if (!limited) return fmt::format("flow {} of priority {} at {} has no bottleneck", f, own, rates[f]);
  }
  return {};
}

}  // namespace contend::test
