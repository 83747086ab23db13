#include "tests/policies/fusion/random_problem.hpp"

#include "network/collectives/algorithm.hpp"
#include "sim/random_stream.hpp"
#include "tests/devices.hpp"

#include <bit>
#include <optional>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace contend::test {

namespace {

/// Halving and doubling, and Bruck's algorithm where that needs a power of two of workers.
ExchangeCost in_powers(int workers, const ChannelCost& link) {
  const auto by = [&](const char* name, CollectiveKind kind) {
    return ExchangeCost::by(find_collective_algorithm(name, kind), {workers, workers, 1}, {}, link);
  };
  const ExchangeCost cost = by("halving-doubling", CollectiveKind::all_reduce);
  if (std::has_single_bit(static_cast<unsigned>(workers))) return cost;
  return cost.with_lines([bruck = by("bruck", CollectiveKind::all_gather)](CollectiveKind kind, CollectiveScope scope) {
    const bool is_half = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_gather;
    return is_half && scope == CollectiveScope::all ? std::optional{bruck.of(kind)} : std::nullopt;
  });
}

}  // namespace

OverlapProblem random_problem(std::uint64_t seed, const ProblemRange& range) {
  RandomStream stream{seed, "random-problem"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return stream.uniform_integer(low, high); };
  OverlapProblem problem;
  problem.workers = static_cast<int>(in(2, 64));
  const std::int64_t layers = in(1, range.most_layers);
  const std::int64_t scale = in(0, 1) == 0 ? 1000 : 1'000'000;
  std::vector<int> tensors;
  for (std::int64_t i = 0; i < layers; ++i) {
    problem.layers.push_back({fmt::format("l{}", i), Time::nanoseconds(in(1, 20) * scale / 10),
                              Time::nanoseconds(in(1, 40) * scale / 10 + in(0, 3))});
    tensors.push_back(static_cast<int>(in(i == layers - 1 ? 1 : 0, 2)));
  }
  if (in(0, 5) == 0) problem.layers.front().forward = Time{};
  for (std::size_t i = problem.layers.size(); i-- > 0;) {
    for (int t = 0; t < tensors[i]; ++t) problem.gradients.push_back({i, Bytes{in(1, 50) * in(1, 2000) * 4}});
  }
  const double bytes = problem.gradient().to_double();
  const double backward = static_cast<double>(problem.backward().ns());
  const double load = 0.1 * static_cast<double>(in(1, 40));  // of the backward pass
  const LinearCost all{Time::nanoseconds(in(0, 3) * scale / in(1, 10)), TimePerByte{load * backward / bytes}};
  const ChannelCost link{Time::nanoseconds(in(0, 3) * scale / 50), TimePerByte{all.beta.ns_per_byte() / 2},
                         TimePerByte{all.beta.ns_per_byte() / 10 * static_cast<double>(in(0, 1))}};
  switch (in(0, range.servers ? 4 : 2)) {
    case 0:
      problem.cost = ExchangeCost::measured(all);
      break;
    case 1:
      problem.cost = ExchangeCost::ring(problem.workers, link);
      break;
    case 2:
      problem.cost = in_powers(problem.workers, link);
      break;
    default: {
      const auto servers = static_cast<int>(in(1, problem.workers));
      problem.cost = ExchangeCost::parameter_server(problem.workers, servers, in(0, 1) == 0, link);
    }
  }
  if (range.penalty)
    problem.cost.penalty = std::vector<double>{0, 0.2745, -0.5, -1}[static_cast<std::size_t>(in(0, 3))];
  if (range.levels && in(0, 1) == 0) {
    const auto per_server = static_cast<int>(in(2, 8)), count = static_cast<int>(in(1, 8));
    const ChannelCost inside{Time::nanoseconds(in(0, 3) * scale / 200),
                             TimePerByte{link.beta.ns_per_byte() * 0.05 * static_cast<double>(in(1, 30))}, link.gamma};
    const double penalty = problem.cost.penalty;
    problem.workers = count * per_server;
    problem.cost = ExchangeCost::two_level(count, per_server, inside, link);
    problem.cost.penalty = penalty;
  }
  return problem;
}

std::string describe(const OverlapProblem& problem) {
  std::string text = fmt::format("{} workers, penalty {}", problem.workers, problem.cost.penalty);
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_gather, CollectiveKind::reduce, CollectiveKind::broadcast}) {
    text += fmt::format(", {}+{}", problem.cost.of(kind).alpha.ns(), problem.cost.of(kind).beta.ns_per_byte());
  }
  if (problem.cost.levels()) text += fmt::format(", {} on a server", problem.cost.per_server());
  for (const auto& layer : problem.layers) text += fmt::format(" | {} {}", layer.forward.ns(), layer.backward.ns());
  for (const auto& each : problem.gradients) text += fmt::format(" ; {}: {}", each.layer, each.size.count());
  return text;
}

std::unique_ptr<FusionPolicy> usual(const PolicyRow<FusionPolicy>& row) {
  return fusion(row.name);
}

namespace {

template <class Port>
std::unique_ptr<Port> make(std::span<const PolicyRow<Port>> table, std::string_view name,
                           const std::vector<std::pair<std::string, ParameterValue>>& given) {
  for (const PolicyRow<Port>& row : table) {
    if (row.name != name) continue;
    std::vector<std::pair<std::string, ParameterValue>> values;
    for (const ParameterInfo& info : row.parameters) {
      ParameterValue value = info.default_value;
      for (const auto& [key, chosen] : given) {
        if (key == info.name) value = chosen;
      }
      values.emplace_back(info.name, value);
    }
    return row.make(Parameters{std::move(values)}, {});
  }
  throw std::invalid_argument{"no policy " + std::string{name}};
}

}  // namespace

std::unique_ptr<FusionPolicy> fusion(std::string_view name,
                                     const std::vector<std::pair<std::string, ParameterValue>>& given) {
  return make(fusion_policies(), name, given);
}

std::unique_ptr<CompressionMethod> compression(std::string_view name,
                                               const std::vector<std::pair<std::string, ParameterValue>>& given) {
  return make(compression_policies(), name, given);
}

const KernelCosts& v100_kernels() {
  static const KernelCosts costs{v100(), RooflineOptions{}};
  return costs;
}

std::vector<std::size_t> ends(const MergePlan& plan) {
  std::vector<std::size_t> last;
  for (const GradientGroup& group : plan) last.push_back(group.last);
  return last;
}

}  // namespace contend::test
