#include "calibration/library_fit.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
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

  [[nodiscard]] std::size_t fitted_points() const {
    return static_cast<std::size_t>(std::ranges::count_if(points_, &LibraryPoint::for_fit));
  }
  [[nodiscard]] bool shows_start_ups() const {
    return std::ranges::any_of(points_, [](const LibraryPoint& point) { return point.sample.size < kShowsStartUps; });
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

namespace {

/// The numbers of a network as one list: us of three protocols, then the logarithms of shares.
using NetworkNumbers = std::array<double, 8>;
constexpr std::size_t kHops = 3;

NetworkNumbers numbers_of(const NetworkTimes& times) {
  const auto& f = times.further;
  return {f[0],
          f[1],
          f[2],
          std::log(times.ring),
          std::log(times.tree),
          std::log(times.nvls),
          std::log(times.sends),
          std::log(times.ll128)};
}

NetworkTimes times_of(const NetworkNumbers& of) {
  const auto share = [&](std::size_t i) { return std::exp(of[kHops + i]); };
  return {{of[0], of[1], of[2]}, share(0), share(1), share(2), share(3), share(4)};
}

/// Numbers that a step moves together: one choice replaces another, so that a single number often changes nothing.
constexpr std::array<NetworkNumbers, 13> kMoves = {{{1, 1, 1},
                                                    {0, 1, 1},
                                                    {1, 1, 0},
                                                    {1},
                                                    {0, 1},
                                                    {0, 0, 1},
                                                    {0, 0, 0, 1, 1, 1},
                                                    {0, 0, 0, 1, 0, 0, 0, -1},
                                                    {0, 0, 0, 1},
                                                    {0, 0, 0, 0, 1},
                                                    {0, 0, 0, 0, 0, 1},
                                                    {0, 0, 0, 0, 0, 0, 1},
                                                    {0, 0, 0, 0, 0, 0, 0, 1}}};

/// Rings and sends fill interfaces, whose line rate is 4% above what NCCL plans.
bool is_possible(const NetworkNumbers& numbers) {
  const double most = std::log(1.05);
  return numbers[kHops] <= most && numbers[kHops + 3] <= most;
}

}  // namespace

NetworkFit fit_network(std::span<const LibraryLog> logs, const NcclMachine& machine) {
  std::vector<Comparison> comparisons;
  NetworkFit fit;
  std::size_t points = 0;
  for (const LibraryLog& log : logs) {
    if (log.measured.servers < 2) continue;
    comparisons.emplace_back(log.measured, machine, log.choices);
    comparisons.back().need_sizes();
    points += comparisons.back().fitted_points();
    fit.has_hop = fit.has_hop || comparisons.back().shows_start_ups();
  }
  if (comparisons.empty()) throw InputError{"a network between servers needs a log of several servers"};
  const NetworkTimes* const known = find_network_times(machine.between);
  const NetworkNumbers prior = numbers_of(known != nullptr ? *known : NetworkTimes{});
  constexpr double kHopWidth = 20, kShareWidth = 0.5, kWeight = 0.005;  // us; of logarithms; of the penalty
  const auto width = [](std::size_t i) { return i < kHops ? kHopWidth : kShareWidth; };
  const auto loss = [&](const NetworkNumbers& numbers) {
    double sum = 0, penalty = 0;
    for (const Comparison& each : comparisons) sum += each.loss({.network = times_of(numbers)});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double distance = (numbers[i] - prior[i]) / width(i);
      penalty += distance * distance;
    }
    return sum / static_cast<double>(points) + kWeight * penalty;
  };
  NetworkNumbers best = prior;
  double least = loss(best);
  constexpr double kFirstStep = 3, kLastStep = 0.005;  // in widths
  for (double step = kFirstStep; step > kLastStep; step /= 1.3) {
    for (const NetworkNumbers& move : kMoves) {
      const bool is_hop = std::any_of(move.begin(), move.begin() + kHops, [](double each) { return each != 0; });
      if (is_hop && !fit.has_hop) continue;
      for (const double sign : {1.0, -1.0}) {
        NetworkNumbers tried = best;
        for (std::size_t i = 0; i < tried.size(); ++i) tried[i] += move[i] * sign * step * width(i);
        if (!is_possible(tried)) continue;
        const double now = loss(tried);
        if (now >= least) continue;
        best = tried;
        least = now;
      }
    }
  }
  fit.times = times_of(best);
  return fit;
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
