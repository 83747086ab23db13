#include "network/max_min_rates.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace contend {

namespace {

constexpr int kMostPriorities = std::numeric_limits<std::uint8_t>::max();

}  // namespace

double LinkEfficiency::at(std::size_t flows) const {
  if (flows == 0) return 1;
  const double k = static_cast<double>(flows);
  const double factor = factors.empty() ? 1.0 : factors[std::min(flows, factors.size()) - 1];
  return factor * k / (k + (k - 1) * penalty);
}

MaxMinRates::MaxMinRates(std::span<const double> capacities)
    : capacities_{capacities.begin(), capacities.end()}, is_marked_(capacities.size()) {
  classes_.emplace_back(capacities);
}

FlowId MaxMinRates::add(std::span<const LinkShare> links, double weight, double cap, int priority) {
  CONTEND_CHECK(priority >= 0 && priority < kMostPriorities, "a priority is negative or too low");
  const auto which = static_cast<std::size_t>(priority);
  while (classes_.size() <= which) {
    std::vector<double> left(capacities_.size());
    for (std::size_t l = 0; l < left.size(); ++l) left[l] = left_for(classes_.size(), LinkId{l});
    classes_.emplace_back(left);
  }
  FlowId id{priority_.size()};
  if (free_.empty()) {
    priority_.push_back(static_cast<std::uint8_t>(priority));
  } else {
    id = free_.back();
    free_.pop_back();
    priority_[id.index()] = static_cast<std::uint8_t>(priority);
  }
  classes_[which].add(id, links, weight, cap);
  mark_efficiency(links);
  return id;
}

void MaxMinRates::remove(FlowId flow) {
  MaxMinSweep& own = classes_[priority_[flow.index()]];
  mark_efficiency(own.links(flow));
  if (classes_.size() > 1) mark_load(own.links(flow));
  own.remove(flow);
  free_.push_back(flow);
}

void MaxMinRates::set_capacity(LinkId link, double capacity) {
  CONTEND_CHECK(capacity >= 0 && std::isfinite(capacity), "a capacity is negative or not finite");
  capacities_[link.index()] = capacity;
  mark(link);
}

void MaxMinRates::set_efficiency(LinkId link, LinkEfficiency efficiency) {
  efficiency_.resize(capacities_.size());
  efficiency_[link.index()] = std::make_unique<LinkEfficiency>(std::move(efficiency));
  mark(link);
}

void MaxMinRates::mark(LinkId link) {
  if (std::exchange(is_marked_[link.index()], 1) == 0) marked_.push_back(link);
}

void MaxMinRates::mark_load(std::span<const LinkShare> links) {
  for (const LinkShare& use : links) mark(use.link);
}

// Marks the links whose capacities depend on the number of flows.
void MaxMinRates::mark_efficiency(std::span<const LinkShare> links) {
  if (efficiency_.empty()) return;
  for (const LinkShare& use : links)
    if (efficiency_[use.link.index()] != nullptr) mark(use.link);
}

std::size_t MaxMinRates::flows_on(LinkId link) const {
  std::size_t flows = 0;
  for (const MaxMinSweep& each : classes_) flows += each.flows_on(link);
  return flows;
}

FlowId MaxMinRates::flow_on(LinkId link, std::size_t i) const {
  std::size_t priority = 0;
  for (; i >= classes_[priority].flows_on(link); ++priority) i -= classes_[priority].flows_on(link);
  return classes_[priority].flow_on(link, i);
}

double MaxMinRates::capacity(LinkId link) const {
  const double built = capacities_[link.index()];
  if (efficiency_.empty() || efficiency_[link.index()] == nullptr) return built;
  return built * efficiency_[link.index()]->at(flows_on(link));
}

double MaxMinRates::load(LinkId link) const {
  double sum = 0;
  for (const MaxMinSweep& each : classes_) sum += each.load(link);
  return sum;
}

// What higher priorities leave of the link. Where they leave less than rounding may, they leave nothing.
double MaxMinRates::left_for(std::size_t priority, LinkId link) const {
  const double full = capacity(link);
  double taken = 0;
  for (std::size_t higher = 0; higher < priority; ++higher) taken += classes_[higher].load(link);
  const double left = full - taken;
  return priority > 0 && left <= MaxMinSweep::kClear * full ? 0 : left;
}

// Gives a priority what the higher ones leave of the marked links.
void MaxMinRates::pass_on(std::size_t priority) {
  MaxMinSweep& own = classes_[priority];
  for (const LinkId link : marked_) {
    const double left = left_for(priority, link), known = own.capacity(link);
    // What differs by rounding alone must not spread, but what is full stays full.
    const double rounding = priority > 0 && left > 0 && known > 0 ? MaxMinSweep::kSame * capacity(link) : 0;
    if (std::abs(left - known) > rounding) own.set_capacity(link, left);
  }
}

template <class Solve>
std::span<const FlowId> MaxMinRates::solve_by_priority(const Solve& solve) {
  pass_on(0);
  std::span<const FlowId> changed = solve(classes_.front());
  if (classes_.size() > 1) {
    changed_.clear();
    for (std::size_t p = 0;;) {
      for (const FlowId flow : changed) mark_load(classes_[p].links(flow));
      changed_.insert(changed_.end(), changed.begin(), changed.end());
      if (++p == classes_.size()) break;
      pass_on(p);
      changed = solve(classes_[p]);
    }
    changed = changed_;
  }
  for (const LinkId link : marked_) is_marked_[link.index()] = 0;
  marked_.clear();
  return changed;
}

std::span<const FlowId> MaxMinRates::solve() {
  return solve_by_priority([](MaxMinSweep& each) { return each.solve(); });
}

std::span<const FlowId> MaxMinRates::solve_all() {
  return solve_by_priority([](MaxMinSweep& each) { return each.solve_all(); });
}

MaxMinRates::Work MaxMinRates::work() const {
  Work sum;
  for (const MaxMinSweep& each : classes_) {
    const Work& work = each.work();
    sum.solves += work.solves;
    sum.links += work.links;
    sum.scans += work.scans;
    sum.flows += work.flows;
    sum.fills += work.fills;
  }
  return sum;
}

}  // namespace contend
