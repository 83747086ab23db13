#include "models/reliability/what_if.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Kind = StepOpKind;

constexpr std::array<std::string_view, kStepOpKinds> kNames = {"params-all-gather",
                                                               "forward-recv",
                                                               "forward-compute",
                                                               "forward-send",
                                                               "backward-recv",
                                                               "backward-compute",
                                                               "backward-send",
                                                               "gc",
                                                               "layernorm-grads-all-reduce",
                                                               "embedding-grads-all-reduce",
                                                               "grads-reduce-scatter",
                                                               "optimizer-clip-main-grad",
                                                               "optimizer"};

/// True if all replicas begin it together.
bool joins_replicas(Kind kind) {
  return kind == Kind::params_all_gather || kind == Kind::grads_reduce_scatter ||
         kind == Kind::optimizer_clip_main_grad;
}

bool is_pass(Kind kind) {
  return kind == Kind::forward_compute || kind == Kind::backward_compute;
}

/// True if it waits for others to begin.
bool is_transfer(Kind kind) {
  return !is_pass(kind) && kind != Kind::gc && kind != Kind::layernorm_grads_all_reduce && kind != Kind::optimizer;
}

/// True if its ideal time is a median.
bool is_communication(Kind kind) {
  return is_transfer(kind) || kind == Kind::layernorm_grads_all_reduce;
}

/// A transfer that seems to end before all have begun is due to clocks that differ; so much is let pass.
constexpr double kClocks_s = 0.01;

std::string name_of(Kind kind, int index, int stage) {
  return fmt::format("{} {} of stage {}", to_string(kind), index, stage);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::string_view to_string(StepOpKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

StepOpKind step_op_kind(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end())
    throw InputError{fmt::format("an operation `{}`; what a step may have is {}", name, fmt::join(kNames, ", "))};
  return static_cast<StepOpKind>(at - kNames.begin());
}

WhatIf::WhatIf(std::vector<StepOp> ops) : ops_{std::move(ops)} {
  if (ops_.empty()) throw InputError{"a timeline without steps"};
  const auto place = [](const StepOp& op) { return std::tuple{op.step, op.replica, op.stage, op.kind, op.index}; };
  std::sort(ops_.begin(), ops_.end(), [&](const StepOp& a, const StepOp& b) { return place(a) < place(b); });
  for (const StepOp& op : ops_) {
    if (op.replica < 0 || op.stage < 0 || op.index < 0) throw InputError{"a worker or an operation below 0"};
    replicas_ = std::max(replicas_, op.replica + 1);
    stages_ = std::max(stages_, op.stage + 1);
    if (steps_.empty() || steps_.back() != op.step) steps_.push_back(op.step);
    if (op.step != steps_.front() || op.replica != 0) continue;
    if (!by_name_.try_emplace(name_of(op.kind, op.index, op.stage), nodes_.size()).second)
      throw InputError{fmt::format("step {} has {} twice", op.step, name_of(op.kind, op.index, op.stage))};
    nodes_.push_back({op.kind, op.index, op.stage, {}});
  }
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const StepOp& op = ops_[i];
    const Node& node = nodes_[i % nodes_.size()];
    const bool fits =
        op.step == steps_[std::min(steps_.size() - 1, i / nodes_.size() / static_cast<std::size_t>(replicas_))] &&
        op.kind == node.kind && op.index == node.index && op.stage == node.stage;
    if (!fits)
      throw InputError{fmt::format("step {}, replica {}: {} is missing, doubled, or not in the first step", op.step,
                                   op.replica, name_of(op.kind, op.index, op.stage))};
  }
  if (ops_.size() != steps_.size() * static_cast<std::size_t>(replicas_) * nodes_.size())
    throw InputError{
        fmt::format("{} operations do not fit {} steps, {} replicas", ops_.size(), steps_.size(), replicas_)};
  add_dependencies();
  add_groups();
  order_groups();
  find_lengths();
  replayed_s_ = replay(lengths_);
  ideal_s_ = replay(ideal_);
}

std::size_t WhatIf::node(StepOpKind kind, int index, int stage) const {
  const auto found = by_name_.find(name_of(kind, index, stage));
  if (found == by_name_.end()) throw InputError{fmt::format("there is no {}", name_of(kind, index, stage))};
  return found->second;
}

bool WhatIf::has(StepOpKind kind, int index, int stage) const {
  return by_name_.contains(name_of(kind, index, stage));
}

std::size_t WhatIf::at(std::size_t step, int replica, std::size_t node) const {
  return (step * static_cast<std::size_t>(replicas_) + static_cast<std::size_t>(replica)) * nodes_.size() + node;
}

const StepOp& WhatIf::op(std::size_t step, int replica, std::size_t node) const {
  return ops_[at(step, replica, node)];
}

/// Those within a worker, in the order of the first step: passes one after the other, transfers of a kind one after the
/// other, each with its pass, and the chain of gradients and optimizer behind the last pass.
void WhatIf::add_dependencies() {
  for (int stage = 0; stage < stages_; ++stage) {
    std::array<std::vector<std::size_t>, kStepOpKinds> of_kind;
    std::vector<std::size_t> passes, collectives;
    std::vector<std::size_t> mine;
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].stage == stage) mine.push_back(n);
    std::stable_sort(mine.begin(), mine.end(),
                     [&](std::size_t a, std::size_t b) { return op(0, 0, a).start_s < op(0, 0, b).start_s; });
    for (const std::size_t n : mine) {
      const Kind kind = nodes_[n].kind;
      of_kind[static_cast<std::size_t>(kind)].push_back(n);
      if (is_pass(kind)) passes.push_back(n);
      if (kind == Kind::params_all_gather || kind == Kind::grads_reduce_scatter) collectives.push_back(n);
    }
    if (passes.empty()) throw InputError{fmt::format("stage {} has no passes", stage)};
    const auto follow = [&](std::size_t later, std::size_t earlier) { nodes_[later].after.push_back(earlier); };
    const auto chain = [&](const std::vector<std::size_t>& nodes) {
      for (std::size_t i = 1; i < nodes.size(); ++i) follow(nodes[i], nodes[i - 1]);
    };
    chain(passes);
    chain(collectives);
    for (const auto& [recv, compute, send] : {std::tuple{Kind::forward_recv, Kind::forward_compute, Kind::forward_send},
                                              {Kind::backward_recv, Kind::backward_compute, Kind::backward_send}}) {
      chain(of_kind[static_cast<std::size_t>(recv)]);
      chain(of_kind[static_cast<std::size_t>(send)]);
      for (const std::size_t n : of_kind[static_cast<std::size_t>(recv)]) {
        follow(node(compute, nodes_[n].index, stage), n);
        if (nodes_[n].index > 0) follow(n, node(compute, nodes_[n].index - 1, stage));
      }
      for (const std::size_t n : of_kind[static_cast<std::size_t>(send)])
        follow(n, node(compute, nodes_[n].index, stage));
    }
    const auto first_backward = std::find_if(passes.begin(), passes.end(),
                                             [&](std::size_t n) { return nodes_[n].kind == Kind::backward_compute; });
    if (first_backward - passes.begin() >= 2 && first_backward != passes.end()) {
      for (const Kind kind : {Kind::backward_recv, Kind::backward_send})
        if (has(kind, 0, stage)) follow(node(kind, 0, stage), *(first_backward - 2));
    }
    if (has(Kind::params_all_gather, 0, stage))
      follow(node(Kind::forward_compute, 0, stage), of_kind[static_cast<std::size_t>(Kind::params_all_gather)].back());
    std::vector<std::size_t> tail{passes.back()};
    for (const Kind kind : {Kind::gc, Kind::layernorm_grads_all_reduce, Kind::embedding_grads_all_reduce,
                            Kind::grads_reduce_scatter, Kind::optimizer_clip_main_grad, Kind::optimizer}) {
      const auto& nodes = of_kind[static_cast<std::size_t>(kind)];
      tail.insert(tail.end(), nodes.begin(), nodes.end());
    }
    if (!has(Kind::optimizer, 0, stage))
      throw InputError{fmt::format("there is no {}", name_of(Kind::optimizer, 0, stage))};
    chain(tail);
  }
}

/// A message ends together with the message of its peer; other transfers with the transfers of the stages that take
/// part.
void WhatIf::add_groups() {
  std::vector<bool> is_done(nodes_.size(), false);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (is_done[n]) continue;
    const auto& [kind, index, stage, after] = nodes_[n];
    std::vector<std::size_t> group{n};
    if (kind == Kind::forward_send) group.push_back(node(Kind::forward_recv, index, stage + 1));
    if (kind == Kind::forward_recv) group.push_back(node(Kind::forward_send, index, stage - 1));
    if (kind == Kind::backward_send) group.push_back(node(Kind::backward_recv, index, stage - 1));
    if (kind == Kind::backward_recv) group.push_back(node(Kind::backward_send, index, stage + 1));
    if (kind == Kind::embedding_grads_all_reduce || kind == Kind::optimizer_clip_main_grad) {
      for (int other = stage + 1; other < stages_; ++other)
        if (has(kind, index, other)) group.push_back(node(kind, index, other));
    }
    for (const std::size_t member : group) is_done[member] = true;
    groups_.push_back(std::move(group));
  }
}

void WhatIf::order_groups() {
  std::vector<std::size_t> group_of(nodes_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const std::size_t n : groups_[g]) group_of[n] = g;
  std::vector<std::set<std::size_t>> next(groups_.size());
  std::vector<int> waits_for(groups_.size(), 0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const std::size_t earlier : nodes_[n].after)
      if (next[group_of[earlier]].insert(group_of[n]).second) ++waits_for[group_of[n]];
  }
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (waits_for[g] == 0) order.push_back(g);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::size_t later : next[order[i]])
      if (--waits_for[later] == 0) order.push_back(later);
  if (order.size() < groups_.size()) throw InputError{"operations of a step wait for each other in a circle"};
  std::vector<std::vector<std::size_t>> sorted;
  sorted.reserve(order.size());
  for (const std::size_t g : order) sorted.push_back(std::move(groups_[g]));
  groups_ = std::move(sorted);
}

void WhatIf::find_lengths() {
  lengths_.resize(ops_.size());
  std::array<std::vector<double>, kStepOpKinds> of_kind;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    for (const std::vector<std::size_t>& group : groups_) {
      const Kind kind = nodes_[group.front()].kind;
      double all_began_s = 0;
      const auto begin_of = [&](int replica) {
        double last_s = op(step, replica, group.front()).start_s;
        for (const std::size_t n : group) last_s = std::max(last_s, op(step, replica, n).start_s);
        return last_s;
      };
      for (int replica = 0; replica < replicas_; ++replica)
        all_began_s = replica == 0 ? begin_of(0) : std::max(all_began_s, begin_of(replica));
      for (int replica = 0; replica < replicas_; ++replica) {
        const double began_s = joins_replicas(kind) ? all_began_s : begin_of(replica);
        for (const std::size_t n : group) {
          const StepOp& it = op(step, replica, n);
          double length_s = it.length_s;
          if (is_transfer(kind)) length_s = it.start_s + it.length_s - began_s;
          if (length_s <= -kClocks_s) length_s = 0;
          lengths_[at(step, replica, n)] = length_s;
          of_kind[static_cast<std::size_t>(nodes_[n].kind)].push_back(length_s);
        }
      }
    }
  }
  std::array<double, kStepOpKinds> ideal{};
  for (std::size_t k = 0; k < kStepOpKinds; ++k) {
    if (of_kind[k].empty()) continue;
    double sum = 0;
    for (const double length_s : of_kind[k]) sum += length_s;
    ideal[k] =
        is_communication(static_cast<Kind>(k)) ? median(of_kind[k]) : sum / static_cast<double>(of_kind[k].size());
  }
  for (const StepOp& each : ops_) ideal_.push_back(ideal[static_cast<std::size_t>(each.kind)]);
}

double WhatIf::replay(std::span<const double> lengths) const {
  double total_s = 0;
  std::vector<double> ends(static_cast<std::size_t>(replicas_) * nodes_.size());
  const auto end_of = [&](int replica, std::size_t n) -> double& {
    return ends[static_cast<std::size_t>(replica) * nodes_.size() + n];
  };
  const auto start_of = [&](int replica, std::size_t n) {
    double start_s = 0;
    for (const std::size_t earlier : nodes_[n].after) start_s = std::max(start_s, end_of(replica, earlier));
    return start_s;
  };
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    double step_s = 0;
    for (const std::vector<std::size_t>& group : groups_) {
      const bool joins = joins_replicas(nodes_[group.front()].kind);
      double start_s = 0;
      const auto wait_for = [&](int replica) {
        for (const std::size_t n : group) start_s = std::max(start_s, start_of(replica, n));
      };
      for (int replica = 0; joins && replica < replicas_; ++replica) wait_for(replica);
      for (int replica = 0; replica < replicas_; ++replica) {
        if (!joins) start_s = 0;
        if (!joins) wait_for(replica);
        for (const std::size_t n : group) {
          end_of(replica, n) = start_s + lengths[at(step, replica, n)];
          if (nodes_[n].kind == Kind::optimizer) step_s = std::max(step_s, end_of(replica, n));
        }
      }
    }
    total_s += step_s;
  }
  return total_s / static_cast<double>(steps_.size());
}

double WhatIf::measured_s() const {
  double total_s = 0;
  const std::size_t each = ops_.size() / steps_.size();
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    double first_s = ops_[step * each].start_s, last_s = first_s;
    for (std::size_t i = step * each; i < (step + 1) * each; ++i) {
      first_s = std::min(first_s, ops_[i].start_s);
      last_s = std::max(last_s, ops_[i].start_s + ops_[i].length_s);
    }
    total_s += last_s - first_s;
  }
  return total_s / static_cast<double>(steps_.size());
}

double WhatIf::only_s(const std::function<bool(const StepOp&)>& chosen) const {
  std::vector<double> lengths = ideal_;
  for (std::size_t i = 0; i < ops_.size(); ++i)
    if (chosen(ops_[i])) lengths[i] = lengths_[i];
  return replay(lengths);
}

std::vector<WhatIf::Worker> WhatIf::slowest_workers(double share) const {
  std::vector<double> by_replica, by_stage;
  for (int r = 0; r < replicas_; ++r) by_replica.push_back(only_s([r](const StepOp& op) { return op.replica == r; }));
  for (int s = 0; s < stages_; ++s) by_stage.push_back(only_s([s](const StepOp& op) { return op.stage == s; }));
  const auto score = [&](const Worker& worker) {
    return std::min(by_replica[static_cast<std::size_t>(worker.replica)],
                    by_stage[static_cast<std::size_t>(worker.stage)]);
  };
  std::vector<Worker> workers;
  for (int stage = 0; stage < stages_; ++stage)
    for (int replica = 0; replica < replicas_; ++replica) workers.push_back({replica, stage});
  std::stable_sort(workers.begin(), workers.end(),
                   [&](const Worker& a, const Worker& b) { return score(a) > score(b); });
  const double count = std::ceil(share * static_cast<double>(workers.size()));
  workers.resize(std::min(workers.size(), static_cast<std::size_t>(std::max(count, 1.0))));
  return workers;
}

double WhatIf::mended_by(const std::function<bool(const StepOp&)>& chosen) const {
  std::vector<double> lengths = lengths_;
  for (std::size_t i = 0; i < ops_.size(); ++i)
    if (chosen(ops_[i])) lengths[i] = ideal_[i];
  return replayed_s_ > ideal_s_ ? (replayed_s_ - replay(lengths)) / (replayed_s_ - ideal_s_) : 0;
}

}  // namespace contend
