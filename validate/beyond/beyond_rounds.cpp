// The bandwidth that training needs to compute for a given share of its time, as the table of Streaming DiLoCo
// (Douillard et al., arXiv 2501.18512) has it: the least of 10^(-1 + 4 k / 49) Gbit/s. The table is one of the paper's
// own simulator: one link, a message for each layer when its backward pass ends, passes that take equal times in all
// layers, and no time for kernels. The size of the model in bytes and the delay of one iteration are fitted to the
// table, one number a model (13.3 and 1,290 Gbit).

#include "models/overlap/problem.hpp"
#include "validate/beyond/beyond_suite.hpp"
#include "validate/iteration_time.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

struct StreamedModel {
  std::string name;
  int layers = 0, fragments = 0;
  double step_s = 0, gbit = 0;
};
const StreamedModel kSmall{"1B", 24, 8, .1, 13.3}, kLarge{"100B", 108, 36, 4.9, 1290};

constexpr std::array kShares{.5, .8, .9, .95, .99};
constexpr int kRoundSteps = 100;
constexpr double kNoKernels = 1e-9;
constexpr double kWithinStep = .09;  // the bandwidths of the table are 21% apart, and rounded to one digit

enum class Way { data_parallel, diloco, streaming, overlapped, four_bits };
constexpr std::array<const char*, 5> kWays{"data parallel", "DiLoCo", "streaming", "streaming with overlap",
                                           "streaming with overlap, 4 bits"};

struct StreamedRow {
  const StreamedModel& model;
  Way way;
  std::array<double, kShares.size()> gbit_s;
};
const std::array<StreamedRow, 8> kStreamed{{
    {kSmall, Way::data_parallel, {86.8, 152.6, 184.2, 222.3, 569.0}},
    {kSmall, Way::diloco, {1.4, 6.2, 13.3, 23.3, 86.8}},
    {kSmall, Way::streaming, {1.4, 5.2, 9.1, 16.0, 28.1}},
    {kSmall, Way::overlapped, {1.4, 4.3, 6.2, 9.1, 11.0}},
    {kSmall, Way::four_bits, {.4, .9, 1.7, 2.0, 3.0}},
    {kLarge, Way::data_parallel, {184.2, 323.8, 390.7, 390.7, 471.5}},
    {kLarge, Way::diloco, {3.0, 11.0, 23.3, 49.4, 184.2}},
    {kLarge, Way::streaming, {2.4, 6.2, 9.1, 11.0, 19.3}},
}};

std::string method_of(const StreamedModel& model, Way way) {
  if (way == Way::data_parallel) return "{policy: diloco, period: 1}";
  if (way == Way::diloco) return fmt::format("{{policy: diloco, period: {}}}", kRoundSteps);
  return fmt::format("{{policy: diloco, period: {}, fragments: {}, late: {}, bits: {}}}", kRoundSteps, model.fragments,
                     way != Way::streaming, way == Way::four_bits ? 4 : 32);
}

/// The share of its time for which a job computes.
double utilisation(const StreamedModel& model, Way way, double gbit_s) {
  OverlapProblem problem;
  problem.workers = 2;
  problem.gradient_element_bytes = 2;
  problem.cost = ExchangeCost::measured(LinearCost{Time{}, TimePerByte{8 / gbit_s}});
  const auto layer_ns = static_cast<std::int64_t>(std::llround(model.step_s * 1e9 / 3 / model.layers));
  const auto layer_bytes = static_cast<std::int64_t>(std::llround(model.gbit * 1e9 / 8 / model.layers));
  for (int i = 0; i < model.layers; ++i)
    problem.layers.push_back({fmt::format("block{}", i), Time::nanoseconds(layer_ns), Time::nanoseconds(2 * layer_ns)});
  for (int i = model.layers; i-- > 0;) problem.gradients.push_back({static_cast<std::size_t>(i), Bytes{layer_bytes}});
  const double step_s = problem.compute().to_seconds();
  return step_s /
         compressed_iteration(std::move(problem), "wfbp", method_of(model, way), "V100-SXM2", kNoKernels).seconds;
}

/// The bandwidths of the table.
double grid_gbit_s(int k) {
  return std::pow(10, -1 + 4. * k / 49);
}

/// The least bandwidth of the grid at which a job computes for that share; the search begins at the printed one.
double least_gbit_s(const StreamedModel& model, Way way, double share, double printed) {
  int k = static_cast<int>(std::lround((std::log10(printed) + 1) * 49 / 4));
  if (utilisation(model, way, grid_gbit_s(k)) >= share) {
    while (utilisation(model, way, grid_gbit_s(k - 1)) >= share) --k;
    return grid_gbit_s(k);
  }
  do ++k;
  while (utilisation(model, way, grid_gbit_s(k)) < share);
  return grid_gbit_s(k);
}

}  // namespace

CheckedTable beyond_bandwidth() {
  CheckedTable table;
  table.title = "Streaming DiLoCo: Gbit/s for a share of computing";
  for (const StreamedRow& row : kStreamed) {
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      const double printed = row.gbit_s[i], ours = least_gbit_s(row.model, row.way, kShares[i], printed);
      table.checks.push_back(
          {fmt::format("{}, {}, {:g}%", row.model.name, kWays[static_cast<std::size_t>(row.way)], 100 * kShares[i]),
           printed,
           ours,
           kWithinStep,
           {}});
    }
  }
  return table;
}

CheckedTable beyond_utilisation() {
  CheckedTable table;
  table.title = "Streaming DiLoCo: share of computing of the 1B model";
  const std::array<std::pair<double, std::array<double, 5>>, 2> printed{
      {{1, {.0075, .4304, .4373, .4532, .8270}}, {5, {.0371, .7939, .8179, .8751, 1}}}};
  for (const auto& [gbit_s, shares] : printed)
    for (std::size_t way = 0; way < kWays.size(); ++way)
      table.checks.push_back({fmt::format("{} at {:g} Gbit/s", kWays[way], gbit_s),
                              shares[way],
                              utilisation(kSmall, static_cast<Way>(way), gbit_s),
                              .000051 / shares[way],
                              {}});
  return table;
}

}  // namespace contend
