#include "policies/fusion/merging.hpp"

#include "models/overlap/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

/// The sums of bytes before each gradient and the times at which the gradients are ready, as plain numbers.
struct Series {
  explicit Series(const OverlapProblem& problem) {
    bytes.push_back(0);
    for (const OverlapProblem::Gradient& each : problem.gradients)
      bytes.push_back(bytes.back() + each.size.to_double());
    for (const Time ready_at : problem.ready()) ready.push_back(static_cast<double>(ready_at.ns()));
  }
  std::vector<double> bytes;  // bytes[i]: sum over gradients 0 to i-1
  std::vector<double> ready;
};

/// Walks over the gradients and closes groups. `joins(start, next)` returns true if a group that could start at `start`
/// takes in a gradient that is ready at `next`.
template <class Joins>
MergePlan walk(const OverlapProblem& problem, const SerialCost& cost, const Joins& joins) {
  const Series series{problem};
  const std::size_t n = problem.gradients.size();
  MergePlan plan;
  double channel_free = 0;
  for (std::size_t first = 0, i = 0; i < n; ++i) {
    const double start = std::max(channel_free, series.ready[i]);
    if (i + 1 < n && joins(start, series.ready[i + 1])) continue;
    channel_free = start + cost.alpha_ns + cost.beta_ns * (series.bytes[i + 1] - series.bytes[first]);
    plan.push_back({first, i});
    first = i + 1;
  }
  return plan;
}

std::string group_name(const IterationBuilder& builder, const OverlapProblem& problem, const GradientGroup& group) {
  const std::string& low = problem.layers[builder.layer(group)].name;
  const std::string& high = problem.layers[problem.gradients[group.first].layer].name;
  const std::string number = fmt::format("#{} ", group.first);
  return number + (low == high ? low : low + ".." + high);
}

}  // namespace

MergePlan every_gradient(const OverlapProblem& problem) {
  MergePlan plan;
  for (std::size_t i = 0; i < problem.gradients.size(); ++i) plan.push_back({i, i});
  return plan;
}

MergePlan one_group(const OverlapProblem& problem) {
  return {{0, problem.gradients.size() - 1}};
}

MergePlan fill_buckets(const OverlapProblem& problem, Bytes limit, Bytes first_limit) {
  MergePlan plan;
  Bytes filled;
  std::size_t first = 0;
  for (std::size_t i = 0; i < problem.gradients.size(); ++i) {
    filled += problem.gradients[i].size;
    if (filled < (plan.empty() ? first_limit : limit) && i + 1 < problem.gradients.size()) continue;
    plan.push_back({first, i});
    first = i + 1;
    filled = Bytes{};
  }
  return plan;
}

SerialCost serial_cost(const ExchangeCost& cost) {
  if (cost.kind() == ExchangeKind::all_reduce) {
    const LinearCost& whole = cost.of(CollectiveKind::all_reduce);
    return {static_cast<double>(whole.alpha.ns()), whole.beta.ns_per_byte()};
  }
  // A pull follows its push. If each has a direction of its own, the push of one message overlaps the pull of another.
  const LinearCost& push = cost.of(CollectiveKind::reduce);
  const LinearCost& pull = cost.of(CollectiveKind::broadcast);
  const LinearCost both =
      cost.duplex() ? LinearCost{std::max(push.alpha, pull.alpha), std::max(push.beta, pull.beta)} : push + pull;
  return {static_cast<double>(both.alpha.ns()), both.beta.ns_per_byte()};
}

bool all_ready_at_once(const OverlapProblem& problem) {
  if (problem.method == nullptr) return false;
  const ExchangeMoment moment = problem.method->moment();
  return moment == ExchangeMoment::weights || moment == ExchangeMoment::updated;
}

PlannedProblem planned(const OverlapProblem& problem) {
  PlannedProblem result{problem, serial_cost(problem.cost)};
  if (problem.method == nullptr) return result;
  result.problem.method = nullptr;
  result.cost.alpha_ns = 0;
  const bool at_once = all_ready_at_once(problem);
  for (OverlapProblem::Layer& layer : result.problem.layers) {
    if (at_once) layer.backward = Time{};
  }
  for (std::size_t i = 0; i < problem.gradients.size(); ++i) {
    const MessageCost alone = message_cost(problem, {i, i});
    if (!at_once) result.problem.layers[problem.gradients[i].layer].backward += Time::ceil_nanoseconds(alone.before_ns);
    result.cost.alpha_ns = std::max(result.cost.alpha_ns, alone.alpha_ns);
    const double bytes = result.cost.beta_ns > 0 ? alone.bytes_ns / result.cost.beta_ns : 0;
    result.problem.gradients[i].size = Bytes{std::max<std::int64_t>(1, std::llround(bytes))};
  }
  return result;
}

double serial_end_ns(const OverlapProblem& problem, const SerialCost& cost, const MergePlan& plan) {
  const Series series{problem};
  double end = 0;
  for (const GradientGroup& group : plan) {
    end = std::max(end, series.ready[group.last]) + cost.alpha_ns +
          cost.beta_ns * (series.bytes[group.last + 1] - series.bytes[group.first]);
  }
  return end;
}

MergePlan optimal_merge(const OverlapProblem& problem, const SerialCost& cost) {
  const Series series{problem};
  const std::size_t n = problem.gradients.size();
  std::vector<double> finish(n + 1, 0);       // finish[i]: end of the exchange of the first i gradients
  std::vector<std::size_t> before(n + 1, 0);  // before[i]: first gradient of the last of their groups
  const auto key = [&](std::size_t j) { return finish[j] - cost.beta_ns * series.bytes[j]; };
  std::size_t waits = 0;           // the largest j with finish(j) <= ready(i)
  std::deque<std::size_t> window;  // candidates after `waits`, by rising key
  for (std::size_t i = 1; i <= n; ++i) {
    while (!window.empty() && key(window.back()) >= key(i - 1)) window.pop_back();
    window.push_back(i - 1);
    const double ready = series.ready[i - 1];
    while (waits + 1 < i && finish[waits + 1] <= ready) ++waits;
    while (!window.empty() && window.front() <= waits) window.pop_front();
    const double own = cost.alpha_ns + cost.beta_ns * series.bytes[i];
    finish[i] = ready + own - cost.beta_ns * series.bytes[waits];
    before[i] = waits;
    if (!window.empty() && key(window.front()) + own < finish[i]) {
      finish[i] = key(window.front()) + own;
      before[i] = window.front();
    }
  }
  MergePlan plan;
  for (std::size_t i = n; i > 0; i = before[i]) plan.push_back({before[i], i - 1});
  std::reverse(plan.begin(), plan.end());
  return plan;
}

MergePlan published_merge(const OverlapProblem& problem, const SerialCost& cost) {
  return walk(problem, cost, [&](double start, double next) { return next < start + cost.alpha_ns; });
}

MergePlan asc_merge(const OverlapProblem& problem, const SerialCost& cost) {
  return walk(problem, cost, [](double start, double next) { return next < start; });
}

FusedIteration barrier_graph(const OverlapProblem& problem, const MergePlan& plan, int messages) {
  IterationBuilder builder{problem};
  builder.use_channel(messages, Bytes{1});
  for (const GradientGroup& group : plan) {
    builder.exchange(group_name(builder, problem, group), group, builder.forward(0));
  }
  return builder.take();
}

FusedIteration fastest_of(const OverlapProblem& problem, const std::vector<MergePlan>& plans) {
  FusedIteration best;
  double best_ns = std::numeric_limits<double>::infinity();
  for (const MergePlan& plan : plans) {
    FusedIteration iteration = barrier_graph(problem, plan);
    const double ns = steady_state(iteration.graph, problem.cost).iteration_ns;
    if (ns >= best_ns) continue;
    best_ns = ns;
    best = std::move(iteration);
  }
  return best;
}

FusedIteration crossing_graph(const OverlapProblem& problem, const MergePlan& plan) {
  IterationBuilder builder{problem};
  builder.use_channel(1, Bytes{1});
  for (const GradientGroup& group : plan) {
    const std::size_t layer = builder.layer(group);
    builder.exchange(group_name(builder, problem, group), group, builder.forward(layer),
                     static_cast<std::int32_t>(layer));
  }
  return builder.take();
}

}  // namespace contend
