#pragma once
// ShareProgram solves the linear programs of schedulers that divide the time of jobs among types of servers: x_ij is
// the share of its time for which job i runs on type j (Narayanan et al., "Gavel", OSDI 2020, section 3).
//
//     x >= 0,    sum_j x_ij <= 1,    sum_i s_i x_ij <= C_j,    sum_i m_ih x_ij <= 1
//
// with s_i the GPUs of the job, C_j the GPUs of the type, and m_ih the part that the job needs of the CPUs or the host
// memory h of the servers of type j. With rates a_ij the job gets to the level sum_j a_ij x_ij.
//
//   max_level   the largest t for which all jobs get to base_i + slope_i t
//   max_sum     the largest sum of values v_ij x_ij for which all jobs get to their base
//
// Only the few capacities couple the jobs, so the program is decomposed (Dantzig, Wolfe, "Decomposition principle for
// linear programs", Operations Research 8, 1960): a master program with a row for each of them and one more gives
// prices of GPU time and of hosts, and each job answers with its cheapest shares at these prices, which use at most two
// types. That takes O(jobs x types^2) for
// each new price, and a few dozen of them. The result is the exact optimum but for rounding. It needs no library, and
// because it uses nothing but sums, products and quotients in a fixed order, it is the same on every machine.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace contend {

/// CPUs or host memory of the servers of a type, for the jobs that run there.
struct TypedHosts {
  std::size_t type = 0;
  std::vector<double> parts;  ///< by job: the part of all that it needs while it runs, >= 0
};

/// The shares of an optimum, which needn't be the only one.
struct TimeShares {
  std::vector<double> x;          ///< [job x types + type]
  double value = 0;               ///< t, or the sum
  std::vector<double> pairs{};    ///< [pair x types + type], where jobs may share GPUs (packed_shares.hpp)
  std::vector<double> prices;     ///< by type: dual values of its capacity, and then of the hosts
  bool misses_deadlines = false;  ///< not all jobs can have the time that their deadlines need
  bool feasible = true;           ///< false: the bases can't be reached; then nothing else has a meaning
};

class ShareProgram {
 public:
  /// `capacity`: GPUs of each type, >= 0.
  explicit ShareProgram(std::vector<double> capacity) : capacity_{std::move(capacity)} {}

  /// Adds a job of so many GPUs, > 0, with a rate >= 0 on each type; 0: it can't run there. It may have more GPUs than
  /// a type has: then it has time there only in part.
  void add(double gpus, std::span<const double> rates);
  /// Limits what all jobs together need of these hosts to all that there is. After the last job.
  void add(TypedHosts hosts);
  [[nodiscard]] std::size_t jobs() const { return gpus_.size(); }
  [[nodiscard]] std::size_t types() const { return capacity_.size(); }
  [[nodiscard]] double rate(std::size_t job, std::size_t type) const { return rates_[job * types() + type]; }

  /// The largest t >= 0 for which each job gets to base + slope t. `base` and `slope` are >= 0, at least one slope is
  /// > 0. The bases must be reached by `start` (shares of an earlier solution), or be 0 without it. `prices` is for
  /// programs that differ little: it has the prices to try first, by column of the master program, and gets the prices
  /// of the optimum. They decide which of several optima is found.
  [[nodiscard]] TimeShares max_level(std::span<const double> base, std::span<const double> slope,
                                     std::span<const double> start = {},
                                     std::vector<std::vector<double>>* prices = nullptr) const;
  /// The largest sum of `values` x shares, where each job gets to its base.
  [[nodiscard]] TimeShares max_sum(std::span<const double> values, std::span<const double> base) const;

  /// The levels of a max-min fair allocation: no level can rise without lowering one that is not larger. The level of
  /// job i rises with slope_i; levels are in units of these. Bertsekas, Gallager, "Data Networks", section 6.5.2. A job
  /// that no type can run stays at 0.
  [[nodiscard]] TimeShares water_fill(std::span<const double> slope, std::vector<double>& levels) const;
  /// Says how fast the levels of the jobs rise while some of them are frozen, which are 0 in `open`: it sets `slope`,
  /// which is 0 before, for open jobs.
  using Weigh = std::function<void(std::span<const char> open, std::span<double> slope)>;
  /// Water filling where slopes change as jobs are frozen, e.g. because jobs of a group share its weight. Levels are in
  /// the units of the rates. It ends where no open job has a slope.
  [[nodiscard]] TimeShares water_fill(const Weigh& weigh, std::vector<double>& levels) const;

 private:
  friend class ShareColumns;
  [[nodiscard]] std::size_t resources() const { return types() + hosts_.size(); }
  [[nodiscard]] std::span<const double> rates_of(std::size_t job) const {
    return {rates_.data() + job * types(), types()};
  }
  /// By type: what the whole time of the job would cost at these prices of GPUs and hosts. `costs` gives the memory.
  [[nodiscard]] std::span<const double> costs_of(std::size_t job, std::span<const double> prices,
                                                 std::vector<double>& costs) const;

  std::vector<double> capacity_;
  std::vector<double> gpus_;   // by job
  std::vector<double> rates_;  // [job x types + type]
  std::vector<TypedHosts> hosts_;
};

}  // namespace contend
