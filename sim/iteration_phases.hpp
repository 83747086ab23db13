#pragma once
// IterationPhases says which iterations of a job do equal work. Some methods of training send something else in some
// iterations than in others: a different factor of the gradient each time, nothing but in every eighth iteration, or
// whole gradients until the end of a warm-up.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// The phases of training, and the order in which a job goes through them. By default there is one.
class IterationPhases {
 public:
  IterationPhases() = default;
  /// Again and again `lengths[p]` iterations of phase p, one phase after the other. Each length is >= 1, and they add
  /// up to no more than kLongestCycle.
  [[nodiscard]] static IterationPhases cycle(std::vector<std::int64_t> lengths);
  /// Phase 0 in the first `share` of a job's iterations, rounded to whole ones, and phase 1 after it; 0 <= share <= 1.
  [[nodiscard]] static IterationPhases warm_up(double share);
  static constexpr std::int64_t kLongestCycle = 100'000;

  [[nodiscard]] std::size_t count() const { return lengths_.empty() ? 2 : lengths_.size(); }
  /// The share of each phase in the iterations of a long job. They add up to 1.
  [[nodiscard]] std::vector<double> shares() const;
  [[nodiscard]] bool repeats() const { return !lengths_.empty(); }
  /// The iterations of a cycle; 1 if the phases don't repeat.
  [[nodiscard]] std::int64_t cycle_length() const { return cycle_; }

  /// The phase of an iteration (from 0 on) of a job that has `iterations`.
  [[nodiscard]] std::size_t at(std::int64_t iteration, std::int64_t iterations) const;
  /// The number of iterations from `from` on that are in this phase, of a job that has `iterations`.
  [[nodiscard]] std::int64_t left(std::size_t phase, std::int64_t from, std::int64_t iterations) const;
  /// The end of the iterations, `iteration` among them, that go through the phases in the same way again and again.
  [[nodiscard]] std::int64_t regular_until(std::int64_t iteration, std::int64_t iterations) const;

 private:
  [[nodiscard]] std::int64_t warm_up_end(std::int64_t iterations) const;

  std::vector<std::int64_t> lengths_{1};  // empty: a warm-up and the rest
  std::int64_t cycle_ = 1;
  double warm_up_ = 0;
};

}  // namespace contend
