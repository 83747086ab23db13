// OMGS-SGD (Shi et al., INFOCOM 2020) merges gradients whose compression runs on the stream of the backward pass.
// `optimal` takes the best of all merges; otherwise the policy follows the published walk, which is greedy.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

double ns(Time time) {
  return static_cast<double>(time.ns());
}

/// Returns the cost of an uncompressed message, all-reduced or pushed and pulled.
MessageCost dense_cost(const OverlapProblem& problem, const GradientGroup& group) {
  const SerialCost cost = serial_cost(problem.cost);
  return {.alpha_ns = cost.alpha_ns, .bytes_ns = cost.beta_ns * problem.size(group).to_double()};
}

class OptimalMergedGradient final : public FusionPolicy {
 public:
  explicit OptimalMergedGradient(bool optimal) : optimal_{optimal} {}
  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    if (!optimal_) return barrier_graph(problem, omgs_merge(problem));
    if (problem.method == nullptr) return barrier_graph(problem, optimal_merge(problem, serial_cost(problem.cost)));
    // The timeline is approximate if kernels run between collectives, so other plans may be faster than its optimum.
    const PlannedProblem alike = planned(problem);
    return fastest_of(problem, {optimal_stream_merge(problem), optimal_merge(alike.problem, alike.cost),
                                published_merge(alike.problem, alike.cost), omgs_merge(problem)});
  }

 private:
  bool optimal_;
};

}  // namespace

MessageCost message_cost(const OverlapProblem& problem, const GradientGroup& group) {
  if (problem.method == nullptr) return dense_cost(problem, group);
  MessageCost sum;
  struct Direction {
    double alpha_ns = 0, bytes_ns = 0;
    [[nodiscard]] double total() const { return alpha_ns + bytes_ns; }
  };
  std::array<Direction, 2> directions;  // pulls that have a direction of their own are directions[1], everything else
                                        // is directions[0]
  bool sent = false;
  for (const ExchangeStage& stage : problem.method->stages(problem, group)) {
    if (!stage.collective) {
      (sent ? sum.after_ns : sum.before_ns) += ns(stage.duration);
      continue;
    }
    sent = true;
    const LinearCost cost = problem.cost.sized(stage.bytes, *stage.collective, stage.scope);
    Direction& direction = directions[problem.cost.duplex() && stage.collective == CollectiveKind::broadcast ? 1 : 0];
    direction.alpha_ns += ns(cost.alpha);
    direction.bytes_ns += ns(cost.of(stage.bytes) - cost.alpha);
  }
  const Direction& busier = directions[0].total() < directions[1].total() ? directions[1] : directions[0];
  sum.alpha_ns = busier.alpha_ns;
  sum.bytes_ns = busier.bytes_ns;
  return sum;
}

MergePlan omgs_merge(const OverlapProblem& problem) {
  const std::vector<Time> ready = problem.ready();
  const auto beyond = [](const MessageCost& cost) { return cost.transfer_ns() + cost.after_ns; };
  MergePlan plan;
  double kernels = 0, channel = 0;  // kernel time and end of the transfers of the previous groups
  GradientGroup group{0, 0};
  MessageCost cost = message_cost(problem, group);
  for (std::size_t next = 1; next < ready.size(); ++next) {
    const double done = ns(ready[group.last]) + kernels + cost.before_ns;
    const double start = std::max(channel, done);
    const MessageCost alone = message_cost(problem, {next, next});
    const MessageCost merged = message_cost(problem, {group.first, next});
    const double wait =
        ns(ready[next] - ready[group.last]) + merged.before_ns - cost.before_ns - alone.before_ns - (start - done);
    if (wait < beyond(cost) + beyond(alone) - beyond(merged)) {
      group.last = next;
      cost = merged;
      continue;
    }
    plan.push_back(group);
    kernels += cost.before_ns;
    channel = start + cost.transfer_ns();
    group = {next, next};
    cost = alone;
  }
  plan.push_back(group);
  return plan;
}

namespace {

std::unique_ptr<FusionPolicy> make_omgs(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<OptimalMergedGradient>(parameters.get<bool>("optimal"));
}

}  // namespace

PolicyRow<FusionPolicy> omgs_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"optimal", true, 0, 0, "the exact optimum of the method's timeline; false: the published walk"}};
  return {.name = "omgs",
          .summary = "merges neighbours so that the iteration ends earliest, kernels of compression included",
          .source = "Shi et al., INFOCOM 2020",
          .parameters = kParameters,
          .make = make_omgs};
}

}  // namespace contend
