#include "scenarios/sweep/pareto.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

class Front {
 public:
  Front(std::span<const ParetoGoal> goals, std::span<const std::size_t> points, Draws draws)
      : goals_{goals}, points_{points}, draws_{draws} {
    for (const std::size_t point : points) {
      for (const ParetoGoal& goal : goals) scores_.push_back((goal.maximise ? 1 : -1) * mean(goal.values[point]));
    }
  }

  [[nodiscard]] ParetoPlace place(std::size_t index) const {
    auto place = ParetoPlace::front;
    for (std::size_t other = 0; other < points_.size(); ++other) {
      if (!dominates(other, index)) continue;
      if (clearly_better(other, index)) return ParetoPlace::dominated;
      place = ParetoPlace::tie;
    }
    return place;
  }

 private:
  /// The larger the better.
  [[nodiscard]] double score(std::size_t goal, std::size_t index) const {
    return scores_[index * goals_.size() + goal];
  }

  /// True if `a` is as good as `b` in all goals and better in one.
  [[nodiscard]] bool dominates(std::size_t a, std::size_t b) const {
    bool better = false;
    for (std::size_t goal = 0; goal < goals_.size(); ++goal) {
      if (score(goal, a) < score(goal, b)) return false;
      better = better || score(goal, a) > score(goal, b);
    }
    return better;
  }

  /// True if `a` is better than `b` in some goal, and not by chance: beyond the 95% interval of the difference under
  /// equal seeds.
  [[nodiscard]] bool clearly_better(std::size_t a, std::size_t b) const {
    for (const ParetoGoal& goal : goals_) {
      const auto &own = goal.values[points_[a]], &other = goal.values[points_[b]];
      std::vector<double> ahead;
      for (std::size_t seed = 0; seed < std::min(own.size(), other.size()); ++seed)
        ahead.push_back(goal.maximise ? own[seed] - other[seed] : other[seed] - own[seed]);
      const Estimate difference = estimate(ahead, draws_);
      if (std::isnan(difference.half_width) || difference.mean > difference.half_width) return true;
    }
    return false;
  }

  std::span<const ParetoGoal> goals_;
  std::span<const std::size_t> points_;
  Draws draws_;
  std::vector<double> scores_;  // by point and goal
};

}  // namespace

std::vector<ParetoPlace> pareto_places(std::span<const ParetoGoal> goals, std::span<const std::size_t> points,
                                       Draws draws) {
  const Front front{goals, points, draws};
  std::vector<ParetoPlace> places;
  for (std::size_t index = 0; index < points.size(); ++index) places.push_back(front.place(index));
  return places;
}

}  // namespace contend
