#include "models/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace contend {

namespace {

/// A part of the full speed, rounded down; 0 if it is less than the slowest.
std::int64_t speed_of(double part) {
  const auto speed = static_cast<std::int64_t>(std::floor(part * static_cast<double>(kFullSpeed)));
  return speed < kSlowestSpeed ? 0 : std::min(speed, kFullSpeed);
}

double alone(const StageTimes& stages) {
  return std::accumulate(stages.begin(), stages.end(), 0.0);
}

class LawWithStages : public SharingLaw {
 public:
  explicit LawWithStages(std::vector<StageTimes> stages) : stages_{std::move(stages)} {}
  [[nodiscard]] StageTimes stages(JobId job) const final {
    return job.index() < stages_.size() ? stages_[job.index()] : StageTimes{};
  }

 private:
  std::vector<StageTimes> stages_;
};

class ConstantSharing final : public LawWithStages {
 public:
  ConstantSharing(double factor, std::vector<StageTimes> stages) : LawWithStages{std::move(stages)}, factor_{factor} {}
  [[nodiscard]] std::int64_t speed(JobId, std::span<const JobId> others, std::int32_t) const override {
    return speed_of(1 / (1 + (factor_ - 1) * static_cast<double>(others.size())));
  }

 private:
  double factor_;
};

class PairSharing final : public LawWithStages {
 public:
  PairSharing(PairSpeeds speeds, std::vector<std::int32_t> kinds, std::vector<StageTimes> stages)
      : LawWithStages{std::move(stages)}, speeds_{std::move(speeds)}, kinds_{std::move(kinds)} {}
  [[nodiscard]] std::int64_t speed(JobId job, std::span<const JobId> others, std::int32_t type) const override {
    if (others.size() != 1) return 0;
    const std::int32_t own = kinds_[job.index()], other = kinds_[others.front().index()];
    if (own < 0 || other < 0) return 0;
    auto found = speeds_.find({own, other, type});
    if (found == speeds_.end()) found = speeds_.find({own, other, -1});
    return found == speeds_.end() ? 0 : speed_of(found->second);
  }

 private:
  PairSpeeds speeds_;
  std::vector<std::int32_t> kinds_;
};

class InterleavedSharing final : public LawWithStages {
 public:
  using LawWithStages::LawWithStages;
  [[nodiscard]] std::int64_t speed(JobId job, std::span<const JobId> others, std::int32_t) const override {
    if (others.size() >= static_cast<std::size_t>(kMostInterleaved)) return 0;
    std::vector<StageTimes> group{stages(job)};
    for (const JobId other : others) group.push_back(stages(other));
    if (std::ranges::any_of(group, [](const StageTimes& each) { return !(alone(each) > 0); })) return 0;
    const double own = alone(group.front());
    std::ranges::sort(group);  // the order of the arguments changes no rounding
    return speed_of(own / interleaved_iteration(group));
  }
};

}  // namespace

double interleaved_iteration(std::span<const StageTimes> jobs) {
  constexpr std::size_t kStages = std::tuple_size_v<StageTimes>;
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double least = std::numeric_limits<double>::infinity();
  do {
    double time = 0;
    for (std::size_t i = 0; i < kStages; ++i) {
      double longest = 0;
      for (std::size_t q = 0; q < order.size(); ++q)
        longest = std::max(longest, jobs[order[q]][(i + kStages - q % kStages) % kStages]);
      time += longest;
    }
    least = std::min(least, time);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

std::shared_ptr<const SharingLaw> constant_sharing(double factor, std::vector<StageTimes> stages) {
  return std::make_shared<const ConstantSharing>(factor, std::move(stages));
}

std::shared_ptr<const SharingLaw> pair_sharing(PairSpeeds speeds, std::vector<std::int32_t> kinds,
                                               std::vector<StageTimes> stages) {
  return std::make_shared<const PairSharing>(std::move(speeds), std::move(kinds), std::move(stages));
}

std::shared_ptr<const SharingLaw> interleaved_sharing(std::vector<StageTimes> stages) {
  return std::make_shared<const InterleavedSharing>(std::move(stages));
}

}  // namespace contend
