#pragma once
// Which sets of late ranks iterations may go on without, one iteration after the other. The rule comes from the
// sequential gradient codes SR-SGC and M-SGC (M. N. Krishnan, M. Ram, A. Khisti, ICLR 2023); with a window of one
// iteration it is gradient coding (Tandon et al., ICML 2017).

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

struct LatePattern {
  int most = 0;    ///< different ranks that may be left behind in `window` iterations in a row, >= 0
  int burst = 1;   ///< >= 1: who was left behind between `burst` and `window` - 1 iterations before may not be again
  int window = 1;  ///< >= 1
};

/// The ranks that were left behind in the last iterations.
class LateHistory {
 public:
  struct Iteration {
    std::int64_t number = 0;
    std::vector<std::uint32_t> ranks;  ///< ascending
  };

  /// True if an iteration may go on without these ranks, ascending; then they are left behind from now on. Without any
  /// it may go on always.
  [[nodiscard]] bool leave_behind(const LatePattern& pattern, std::int64_t number, std::vector<std::uint32_t> ranks);
  /// Forgets the iterations from this one on, which begin again.
  void forget_from(std::int64_t number);
  /// Lets all of it have happened so many iterations later.
  void shift(std::int64_t iterations);
  /// Calls `visit` with each iteration that still counts in iteration `number` or later.
  template <class Visit>
  void for_each_since(const LatePattern& pattern, std::int64_t number, const Visit& visit) const {
    for (const Iteration& each : past_)
      if (each.number > number - pattern.window) visit(each);
  }

 private:
  std::vector<Iteration> past_;  // in order
};

}  // namespace contend
