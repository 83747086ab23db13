#include "calibration/library_fit.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

std::vector<int> ranks_by_server(const CollectiveSample& sample, int servers) {
  if (sample.ranks < 2)
    throw InputError{
        fmt::format("{}: the number of ranks is not known, or there is one only", to_string(sample.exchange))};
  if (servers < 1 || sample.ranks % servers != 0)
    throw InputError{fmt::format("{} among {} ranks: expected equally many on each of {} servers",
                                 to_string(sample.exchange), sample.ranks, servers)};
  return std::vector<int>(static_cast<std::size_t>(servers), sample.ranks / servers);
}

/// Marks every second distinct size of each collective and number of ranks.
void mark_for_fit(std::vector<LibraryPoint>& points) {
  std::map<std::pair<TimedExchange, int>, std::vector<std::int64_t>> sizes;
  for (const LibraryPoint& point : points)
    sizes[{point.sample.exchange, point.sample.ranks}].push_back(point.sample.size.count());
  for (auto& [series, all] : sizes) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  for (LibraryPoint& point : points) {
    const auto& all = sizes[{point.sample.exchange, point.sample.ranks}];
    const auto place = std::ranges::lower_bound(all, point.sample.size.count()) - all.begin();
    point.for_fit = place % 2 == 0;
  }
}

/// The comparable samples with the plans for their ranks, ready for the model with any fit.
class Comparison {
 public:
  Comparison(const LibraryMeasurements& measured, const NcclMachine& machine, const NcclChoices& choices) {
    for (const CollectiveSample& sample : measured.samples) {
      if (!is_comparable(sample)) continue;
      points_.push_back({.sample = sample, .predicted = {}});
      if (!plans_.contains(sample.ranks))
        plans_.emplace(sample.ranks, nccl_communicator(machine, ranks_by_server(sample, measured.servers), choices));
    }
    if (points_.empty()) throw InputError{"there are no collectives that ran alone and that NCCL has"};
    mark_for_fit(points_);
  }

  [[nodiscard]] std::vector<LibraryPoint> predicted(const NcclFit& fit) const {
    const std::map<int, NcclModel> models = models_with(fit);
    std::vector<LibraryPoint> points = points_;
    for (LibraryPoint& point : points) point.predicted = choice(models, point.sample);
    return points;
  }

  [[nodiscard]] double loss(const NcclFit& fit) const {
    const std::map<int, NcclModel> models = models_with(fit);
    double sum = 0;
    for (const LibraryPoint& point : points_)
      if (point.for_fit)
        sum += std::abs(std::log(choice(models, point.sample).seconds / point.sample.time.to_seconds()));
    return sum;
  }

  /// Throws InputError if the points do not determine two numbers, or none is left to judge them.
  void need_sizes() const {
    std::set<std::tuple<TimedExchange, int, std::int64_t>> used, others;
    for (const LibraryPoint& point : points_)
      (point.for_fit ? used : others).emplace(point.sample.exchange, point.sample.ranks, point.sample.size.count());
    if (used.size() >= 2 && !others.empty()) return;
    throw InputError{
        {.reason = fmt::format("a fit needs 3 sizes of a collective or more, got {}", used.size() + others.size()),
         .hint = "every second size determines the hop and the rate, and the others judge them"}};
  }

  /// GB/s of a channel between servers, or inside if there is one.
  [[nodiscard]] double planned_rate() const {
    const NcclCommunicator& first = plans_.begin()->second;
    return first.ranks_by_server.size() > 2 ? first.graph.between : first.graph.inside;
  }

 private:
  [[nodiscard]] std::map<int, NcclModel> models_with(const NcclFit& fit) const {
    std::map<int, NcclModel> models;
    for (const auto& [ranks, plan] : plans_) models.emplace(ranks, NcclModel{plan, fit});
    return models;
  }
  static NcclTime choice(const std::map<int, NcclModel>& models, const CollectiveSample& sample) {
    return models.at(sample.ranks).choice(*collective_of(sample.exchange), sample.size);
  }

  std::vector<LibraryPoint> points_;
  std::map<int, NcclCommunicator> plans_;  ///< by ranks
};

}  // namespace

bool is_comparable(const CollectiveSample& sample) {
  return sample.jobs == 1 && sample.size > Bytes{} && collective_of(sample.exchange).has_value();
}

std::vector<LibraryPoint> compare_with_library(const LibraryMeasurements& measured, const NcclMachine& machine,
                                               const NcclChoices& choices, const NcclFit& fit) {
  return Comparison{measured, machine, choices}.predicted(fit);
}

NcclFit fit_library(const LibraryMeasurements& measured, const NcclMachine& machine, const NcclChoices& choices) {
  const Comparison comparison{measured, machine, choices};
  comparison.need_sizes();
  constexpr int kCells = 30, kRounds = 6;
  constexpr double kLeastShare = 0.01, kMostShare = 10;
  struct Range {
    double low, high;
    [[nodiscard]] double at(int cell) const { return low * std::pow(high / low, static_cast<double>(cell) / kCells); }
    /// Two cells on both sides of a value.
    [[nodiscard]] Range around(double value) const {
      const double width = std::pow(high / low, 2.0 / kCells);
      return {value / width, value * width};
    }
  };
  Range hops{kShortestHop, kLongestHop};
  Range rates{comparison.planned_rate() * kLeastShare, comparison.planned_rate() * kMostShare};
  double best = std::numeric_limits<double>::infinity();
  std::pair<double, double> chosen{};
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i <= kCells; ++i) {
      for (int j = 0; j <= kCells; ++j) {
        const double loss = comparison.loss({.hop = hops.at(i), .channel_rate = rates.at(j)});
        if (loss >= best) continue;
        best = loss;
        chosen = {hops.at(i), rates.at(j)};
      }
    }
    hops = hops.around(chosen.first);
    rates = rates.around(chosen.second);
    hops.low = std::max(hops.low, kShortestHop);
    hops.high = std::min(hops.high, kLongestHop);
  }
  return {.hop = chosen.first, .channel_rate = chosen.second};
}

}  // namespace contend
