#include "calibration/measured_communication.hpp"

#include "calibration/median.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::pair<std::string_view, TimedExchange> kMeasuredExchanges[] = {
    {"peer_copy", TimedExchange::message},          {"nccl_all_reduce", TimedExchange::all_reduce},
    {"nccl_all_gather", TimedExchange::all_gather}, {"nccl_reduce_scatter", TimedExchange::reduce_scatter},
    {"nccl_all_to_all", TimedExchange::all_to_all},
};

constexpr std::string_view kOperations[] = {"gemm", "layer_norm", "attention"};

std::optional<double> seconds_of(const CalibrationProfile& profile, std::string_view op, DataType type,
                                 std::span<const std::int64_t> shape) {
  const OperatorTable* const table = profile.table(op, type);
  if (table == nullptr) return std::nullopt;
  const auto found = std::find_if(table->samples.begin(), table->samples.end(),
                                  [&](const OperatorSample& each) { return std::ranges::equal(each.shape, shape); });
  return found == table->samples.end() ? std::nullopt : std::optional{found->seconds};
}

/// All pairs with their blocks.
std::vector<std::pair<std::int64_t, MeasuredPair>> pairs_of(const CalibrationProfile& profile) {
  std::vector<std::pair<std::int64_t, MeasuredPair>> out;
  for (const std::string_view op : kOperations) {
    for (const DataType type : kDataTypes) {
      const OperatorTable* const beside = profile.table(fmt::format("{}_beside_reduce", op), type);
      if (beside == nullptr) continue;
      for (const OperatorSample& sample : beside->samples) {
        const auto shape = without_blocks(sample.shape);
        const std::int64_t blocks = sample.shape.back();
        const auto alone = seconds_of(profile, op, type, shape);
        const auto reduction = seconds_of(profile, fmt::format("reduce_beside_{}", op), type, sample.shape);
        const auto reduction_alone = seconds_of(profile, "reduce", DataType::fp32, std::span{&blocks, 1});
        if (!alone || !reduction || !reduction_alone) continue;
        out.push_back({blocks,
                       {.op = std::string{op},
                        .type = type,
                        .shape = {shape.begin(), shape.end()},
                        .compute = std::max(0.0, sample.seconds / *alone - 1),
                        .network = std::max(0.0, *reduction / *reduction_alone - 1)}});
      }
    }
  }
  return out;
}

}  // namespace

std::vector<CollectiveSample> measured_collectives(const CalibrationProfile& profile) {
  std::vector<CollectiveSample> out;
  for (const auto& [name, exchange] : kMeasuredExchanges) {
    const OperatorTable* const table = profile.table(name, DataType::fp32);
    if (table == nullptr) continue;
    for (const OperatorSample& each : table->samples)
      out.push_back({.exchange = exchange,
                     .ranks = exchange == TimedExchange::message ? 2 : static_cast<int>(each.shape[1]),
                     .size = Bytes{each.shape[0]},
                     .time = Time::ceil_nanoseconds(each.seconds * 1e9)});
  }
  return out;
}

MeasuredInterference measured_interference(const CalibrationProfile& profile, std::int64_t blocks) {
  MeasuredInterference out;
  out.blocks = blocks;
  std::set<std::int64_t> there;
  std::vector<double> compute, network;
  for (auto& [number, pair] : pairs_of(profile)) {
    there.insert(number);
    if (number != blocks) continue;
    compute.push_back(pair.compute);
    network.push_back(pair.network);
    out.pairs.push_back(std::move(pair));
  }
  if (out.pairs.empty())
    throw InputError{fmt::format(
        "the profile `{}` has no operation beside reductions of {} blocks; {}", profile.name, blocks,
        there.empty() ? "it has none at all: `contend calibrate --only gemm,attention,elementwise,contention` measures "
                        "them"
                      : fmt::format("it has those of {}", fmt::join(there, ", ")))};
  out.compute = median_interval(compute).median;
  out.network = median_interval(network).median;
  return out;
}

bool has_interference(const CalibrationProfile& profile) {
  return !pairs_of(profile).empty();
}

}  // namespace contend
