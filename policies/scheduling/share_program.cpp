#include "policies/scheduling/share_program.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace contend {

namespace {

constexpr double kShareTolerance = 1e-12;  // of the value, within which an optimum counts as reached
constexpr double kLevelTolerance = 1e-10;  // of a level, within which two levels count as one
constexpr double kSmallestPivot = 1e-9;    // part of the largest entry of a column
constexpr double kPaysMuch = 0.1;          // part of the largest price of a level
constexpr std::size_t kNoType = SIZE_MAX;
constexpr int kMostColumns = 5000;

/// A piece of the cheapest cost of a job as a function of its level: from running on one type only to another.
struct CostPiece {
  std::size_t from = kNoType, to = kNoType;  ///< kNoType: it does not run
  double begin = 0, end = 0;                 ///< levels
  double slope = 0;                          ///< cost of a unit of level
};

/// Walks the lower hull of the points (rate, cost) of a job and the origin, in order of level.
class CostHull {
 public:
  CostHull(std::span<const double> rates, std::span<const double> costs) : rates_{rates}, costs_{costs} {}

  /// Returns false where there is no further piece.
  bool next(CostPiece& piece) {
    std::size_t best = kNoType;
    double best_slope = 0;
    for (std::size_t j = 0; j < rates_.size(); ++j) {
      if (!(rates_[j] > level_)) continue;
      const double slope = std::max(0.0, (costs_[j] - cost_) / (rates_[j] - level_));
      if (best != kNoType && (slope > best_slope || (slope == best_slope && rates_[j] <= rates_[best]))) continue;
      best = j;
      best_slope = slope;
    }
    if (best == kNoType) return false;
    piece = {at_, best, level_, rates_[best], best_slope};
    at_ = best;
    level_ = rates_[best];
    cost_ = costs_[best];
    return true;
  }

 private:
  std::span<const double> rates_, costs_;
  std::size_t at_ = kNoType;
  double level_ = 0, cost_ = 0;
};

/// Adds the cheapest shares with which the job gets to the level, times `weight`.
void add_shares(CostHull hull, double level, double weight, double* shares) {
  CostPiece piece;
  bool has_any = false;
  while (hull.next(piece)) {
    has_any = true;
    if (level <= piece.end) break;
  }
  if (!has_any) return;
  const double part = std::clamp((level - piece.begin) / (piece.end - piece.begin), 0.0, 1.0);
  shares[piece.to] += weight * part;
  if (piece.from != kNoType) shares[piece.from] += weight * (1 - part);
}

/// Sorts, of the values from `begin` on, a few more of the least ones; returns the end of what is sorted then.
std::size_t sort_further(std::vector<std::pair<double, double>>& values, std::size_t begin) {
  constexpr std::size_t kFew = 64;
  const std::size_t end = std::min(values.size(), 2 * begin + kFew);
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto to = values.begin() + static_cast<std::ptrdiff_t>(end);
  if (end < values.size()) std::nth_element(from, to, values.end());
  std::sort(from, to);
  return end;
}

}  // namespace

/// The master program over columns: whole solutions for all jobs, each best at some prices.
class ShareColumns {
 public:
  ShareColumns(const ShareProgram& program, std::span<const double> base, std::span<const double> slope,
               std::span<const double> values)
      : program_{program},
        base_{base},
        slope_{slope},
        values_{values},
        rows_{program.resources() + 1},
        basis_(rows_, 0) {
    if (values.empty()) find_top();
    for (std::size_t j = 0; j + 1 < rows_; ++j) {  // slacks, in the order of the rows
      Column slack{.usage = std::vector<double>(rows_)};
      slack.usage[j] = 1;
      columns_.push_back(std::move(slack));
      basis_[j] = j;
    }
  }

  /// The jobs are asked at these prices first.
  [[nodiscard]] TimeShares solve(std::span<const double> start, std::vector<std::vector<double>>* prices) {
    add_start(start);
    basis_[rows_ - 1] = columns_.size() - 1;
    if (prices != nullptr)
      for (std::vector<double>& each : *prices) ask_jobs(std::move(each));
    std::vector<double> duals(rows_);
    for (int round = 0; round < kMostColumns; ++round) {
      invert();
      multiply_basis();
      find_duals(duals);
      std::size_t entering = 0;
      double gain = best_known(duals, entering);
      if (!(gain > tolerance(duals))) {
        if (std::any_of(duals.begin(), duals.end() - 1, [](double dual) { return dual < 0; }))
          for (std::size_t j = 0; j + 1 < rows_; ++j) duals[j] = std::max(0.0, duals[j]);
        ask_jobs({duals.begin(), duals.end() - 1});
        entering = columns_.size() - 1;
        gain = gain_of(columns_[entering], duals);
        if (!(gain > tolerance(duals))) break;
      }
      if (!exchange(entering)) break;
    }
    if (prices != nullptr) {
      prices->clear();
      for (const std::size_t column : basis_)
        if (!columns_[column].prices.empty()) prices->push_back(columns_[column].prices);
    }
    return result(duals);
  }

 private:
  struct Column {
    std::vector<double> usage;  ///< of each type and host, then 1 in the row that makes columns add up to one
    double value = 0;
    std::vector<double> prices{};  ///< at which the jobs chose it; empty: it is a slack or the start
    double level = 0;
  };

  [[nodiscard]] double tolerance(const std::vector<double>& duals) const {
    double scale = std::abs(duals.back());
    for (std::size_t j = 0; j + 1 < rows_; ++j) scale += std::abs(duals[j]) * right_side(j);
    return kShareTolerance * scale;
  }

  void add_start(std::span<const double> start) {
    start_.assign(start.begin(), start.end());
    start_.resize(program_.jobs() * program_.types());
    Column column{.usage = std::vector<double>(rows_)};
    use(start_, column);
    columns_.push_back(std::move(column));
  }

  /// What these shares use, and what they are worth beside their level.
  void use(const std::vector<double>& shares, Column& column) const {
    for (std::size_t i = 0; i < program_.jobs(); ++i) use_of(i, shares.data() + i * program_.types(), column);
    column.usage[rows_ - 1] = 1;
  }
  void use_of(std::size_t job, const double* own, Column& column) const {
    const std::size_t types = program_.types();
    for (std::size_t j = 0; j < types; ++j) {
      column.usage[j] += program_.gpus_[job] * own[j];
      if (!values_.empty()) column.value += values_[job * types + j] * own[j];
    }
    for (std::size_t h = 0; h < program_.hosts_.size(); ++h)
      column.usage[types + h] += program_.hosts_[h].parts[job] * own[program_.hosts_[h].type];
  }

  [[nodiscard]] double right_side(std::size_t row) const {
    return row < program_.types() ? program_.capacity_[row] : 1;
  }

  /// The inverse of the matrix of the basis, by Gauss-Jordan with the largest pivot.
  void invert() {
    std::vector<double> matrix(rows_ * rows_);
    inverse_.assign(rows_ * rows_, 0);
    for (std::size_t r = 0; r < rows_; ++r) {
      inverse_[r * rows_ + r] = 1;
      for (std::size_t c = 0; c < rows_; ++c) matrix[r * rows_ + c] = columns_[basis_[c]].usage[r];
    }
    for (std::size_t c = 0; c < rows_; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c + 1; r < rows_; ++r)
        if (std::abs(matrix[r * rows_ + c]) > std::abs(matrix[pivot * rows_ + c])) pivot = r;
      for (std::size_t k = 0; k < rows_; ++k) {
        std::swap(matrix[c * rows_ + k], matrix[pivot * rows_ + k]);
        std::swap(inverse_[c * rows_ + k], inverse_[pivot * rows_ + k]);
      }
      const double scale = matrix[c * rows_ + c];
      CONTEND_CHECK(scale != 0, "the basis of a share program is regular");
      for (std::size_t k = 0; k < rows_; ++k) {
        matrix[c * rows_ + k] /= scale;
        inverse_[c * rows_ + k] /= scale;
      }
      for (std::size_t r = 0; r < rows_; ++r) {
        const double factor = matrix[r * rows_ + c];
        if (r == c || factor == 0) continue;
        for (std::size_t k = 0; k < rows_; ++k) {
          matrix[r * rows_ + k] -= factor * matrix[c * rows_ + k];
          inverse_[r * rows_ + k] -= factor * inverse_[c * rows_ + k];
        }
      }
    }
  }

  /// The size of what the weight of a row of the basis counts: GPUs for a slack, else parts of one.
  [[nodiscard]] double scale_of(std::size_t row) const {
    return basis_[row] < program_.types() ? std::max(1.0, program_.capacity_[basis_[row]]) : 1;
  }

  void multiply_basis() {
    weights_.assign(rows_, 0);
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t k = 0; k < rows_; ++k) weights_[r] += inverse_[r * rows_ + k] * right_side(k);
  }

  void find_duals(std::vector<double>& duals) const {
    std::fill(duals.begin(), duals.end(), 0);
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t k = 0; k < rows_; ++k) duals[k] += columns_[basis_[r]].value * inverse_[r * rows_ + k];
  }

  [[nodiscard]] double gain_of(const Column& column, const std::vector<double>& duals) const {
    double gain = column.value;
    for (std::size_t r = 0; r < rows_; ++r) gain -= duals[r] * column.usage[r];
    return gain;
  }

  /// The known column with the largest gain, the first of equal ones.
  double best_known(const std::vector<double>& duals, std::size_t& best) const {
    double most = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (std::find(basis_.begin(), basis_.end(), c) != basis_.end()) continue;
      if (const double gain = gain_of(columns_[c], duals); gain > most) {
        most = gain;
        best = c;
      }
    }
    return most;
  }

  /// Adds the column that the jobs choose at these prices.
  void ask_jobs(std::vector<double> prices) {
    Column column{.usage = std::vector<double>(rows_)};
    column.prices = std::move(prices);
    column.level = values_.empty() ? best_level(column.prices) : 0;
    std::vector<double> own(program_.types());
    for (std::size_t i = 0; i < program_.jobs(); ++i) {  // job by job: all shares would not fit into the caches
      std::ranges::fill(own, 0);
      choose_for(i, column, 1, own.data());
      use_of(i, own.data(), column);
    }
    column.usage[rows_ - 1] = 1;
    if (values_.empty()) column.value = column.level;
    columns_.push_back(std::move(column));
  }

  /// The level that no job exceeds on its fastest type.
  void find_top() {
    top_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < program_.jobs(); ++i) {
      if (!(slope_[i] > 0)) continue;
      const std::span<const double> rates = program_.rates_of(i);
      top_ = std::min(top_, std::max(0.0, (*std::ranges::max_element(rates) - base_[i]) / slope_[i]));
    }
  }

  /// The level at which another unit costs more than it is worth, which is 1. It is often near the last one, so jobs
  /// are first asked only about what lies not far above that.
  [[nodiscard]] double best_level(const std::vector<double>& prices) {
    constexpr double kNotFar = 2;
    double level = -1;
    if (kNotFar * last_level_ < top_) level = best_level_below(kNotFar * last_level_, prices);
    if (level < 0) level = best_level_below(top_, prices);
    last_level_ = level < 0 ? top_ : level;
    return last_level_;
  }

  /// The level as above, but negative if it is not below `limit`.
  [[nodiscard]] double best_level_below(double limit, const std::vector<double>& prices) {
    double cost = 0;
    breaks_.clear();
    for (std::size_t i = 0; i < program_.jobs(); ++i) {
      if (!(slope_[i] > 0)) continue;
      double before = -1;  // slope of the piece in front
      CostHull hull{program_.rates_of(i), program_.costs_of(i, prices, costs_)};
      CostPiece piece;
      while (hull.next(piece)) {
        if (piece.end <= base_[i]) continue;
        if (before < 0) {
          cost += slope_[i] * piece.slope;
        } else if (piece.slope > before) {
          breaks_.emplace_back(std::max(0.0, (piece.begin - base_[i]) / slope_[i]), slope_[i] * (piece.slope - before));
        }
        before = piece.slope;
        if ((piece.end - base_[i]) / slope_[i] >= limit) break;
      }
    }
    if (cost >= 1) return 0;
    std::size_t sorted = 0;
    for (std::size_t k = 0; k < breaks_.size(); ++k) {
      if (k == sorted) sorted = sort_further(breaks_, sorted);
      if (breaks_[k].first >= limit) break;
      cost += breaks_[k].second;
      if (cost >= 1) return breaks_[k].first;
    }
    return -1;
  }

  /// Adds the shares of a column that the jobs have chosen, times `weight`.
  void choose(const Column& column, double weight, std::vector<double>& shares) {
    for (std::size_t i = 0; i < program_.jobs(); ++i)
      choose_for(i, column, weight, shares.data() + i * program_.types());
  }
  void choose_for(std::size_t job, const Column& column, double weight, double* own) {
    const std::span<const double> costs = program_.costs_of(job, column.prices, costs_);
    if (values_.empty()) {
      const double level = base_[job] + slope_[job] * column.level;
      add_shares({program_.rates_of(job), costs}, level, weight, own);
    } else {
      choose_value(job, costs, weight, own);
    }
  }

  /// The shares of most value less cost with which the job gets to its base: one type, or two where the base binds.
  void choose_value(std::size_t job, std::span<const double> costs, double weight, double* shares) const {
    const std::size_t types = program_.types();
    const double* const value = values_.data() + job * types;
    const auto net = [&](std::size_t j) { return value[j] - costs[j]; };
    const auto rate = [&](std::size_t j) { return j == kNoType ? 0 : program_.rate(job, j); };
    const auto worth = [&](std::size_t j) { return j == kNoType ? 0 : net(j); };
    std::size_t a = kNoType, b = kNoType;
    double best = -std::numeric_limits<double>::infinity(), part = 1;
    const auto candidate = [&](std::size_t first, std::size_t second, double of_first) {
      const double got = of_first * worth(first) + (1 - of_first) * worth(second);
      if (!(got > best)) return;
      best = got;
      a = first;
      b = second;
      part = of_first;
    };
    std::vector<std::size_t> all{kNoType};
    for (std::size_t j = 0; j < types; ++j)
      if (program_.rate(job, j) > 0) all.push_back(j);
    for (const std::size_t j : all)
      if (rate(j) >= base_[job]) candidate(j, j, 1);
    for (const std::size_t fast : all)
      for (const std::size_t slow : all) {
        if (!(rate(fast) > base_[job]) || !(rate(slow) < base_[job])) continue;
        candidate(fast, slow, (base_[job] - rate(slow)) / (rate(fast) - rate(slow)));
      }
    if (a != kNoType) shares[a] += weight * part;
    if (b != kNoType) shares[b] += weight * (1 - part);
  }

  /// Takes the column into the basis. Returns false if nothing limits it, or if it would change nothing.
  bool exchange(std::size_t entering) {
    std::vector<double> change(rows_);
    double largest = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t k = 0; k < rows_; ++k) change[r] += inverse_[r * rows_ + k] * columns_[entering].usage[k];
      largest = std::max(largest, std::abs(change[r]));
    }
    // Of the rows that limit it, all but for rounding, the one with the largest pivot (Harris, Mathematical Programming
    // 5, 1973): small pivots make the basis almost singular.
    double limit = std::numeric_limits<double>::infinity();
    const auto may_leave = [&](std::size_t r) { return change[r] > kSmallestPivot * largest; };
    for (std::size_t r = 0; r < rows_; ++r)
      if (may_leave(r))
        limit = std::min(limit, (std::max(0.0, weights_[r]) + kShareTolerance * scale_of(r)) / change[r]);
    std::size_t leaving = rows_;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (!may_leave(r) || std::max(0.0, weights_[r]) / change[r] > limit) continue;
      if (leaving == rows_ || change[r] > change[leaving]) leaving = r;
    }
    if (leaving == rows_) return false;
    basis_[leaving] = entering;
    return true;
  }

  [[nodiscard]] TimeShares result(const std::vector<double>& duals) {
    invert();
    multiply_basis();
    TimeShares shares;
    shares.x.assign(program_.jobs() * program_.types(), 0);
    shares.prices.assign(duals.begin(), duals.end() - 1);
    for (std::size_t r = 0; r < rows_; ++r) {
      const Column& column = columns_[basis_[r]];
      const double weight = std::max(0.0, weights_[r]);
      if (basis_[r] + 1 < rows_ || weight == 0) continue;
      shares.value += weight * column.value;
      if (!column.prices.empty()) {
        choose(column, weight, shares.x);
      } else {
        for (std::size_t i = 0; i < start_.size(); ++i) shares.x[i] += weight * start_[i];
      }
    }
    return shares;
  }

  const ShareProgram& program_;
  std::span<const double> base_, slope_, values_;
  std::size_t rows_;
  std::vector<std::size_t> basis_;
  std::vector<Column> columns_;
  std::vector<double> start_, inverse_, weights_, costs_;
  double top_ = 0, last_level_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, double>> breaks_;  // levels, and by how much more a unit costs from there on
};

void ShareProgram::add(double gpus, std::span<const double> rates) {
  CONTEND_CHECK(gpus > 0 && rates.size() == types(), "a job has GPUs and a rate on each type");
  gpus_.push_back(gpus);
  rates_.insert(rates_.end(), rates.begin(), rates.end());
}

void ShareProgram::add(TypedHosts hosts) {
  CONTEND_CHECK(hosts.type < types() && hosts.parts.size() == jobs(), "hosts are of a type and have a part by job");
  hosts_.push_back(std::move(hosts));
}

std::span<const double> ShareProgram::costs_of(std::size_t job, std::span<const double> prices,
                                               std::vector<double>& costs) const {
  costs.resize(types());
  for (std::size_t j = 0; j < types(); ++j) costs[j] = gpus_[job] * prices[j];
  for (std::size_t h = 0; h < hosts_.size(); ++h) costs[hosts_[h].type] += hosts_[h].parts[job] * prices[types() + h];
  return costs;
}

TimeShares ShareProgram::max_level(std::span<const double> base, std::span<const double> slope,
                                   std::span<const double> start, std::vector<std::vector<double>>* prices) const {
  return ShareColumns{*this, base, slope, {}}.solve(start, prices);
}

TimeShares ShareProgram::max_sum(std::span<const double> values, std::span<const double> base) const {
  std::vector<double> start;
  if (std::any_of(base.begin(), base.end(), [](double level) { return level > 0; })) {
    const std::vector<double> none(jobs());
    TimeShares reached = max_level(none, base);
    if (reached.value < 1 - kLevelTolerance) {
      reached.feasible = false;
      return reached;
    }
    start = std::move(reached.x);
  }
  return ShareColumns{*this, base, {}, values}.solve(start, nullptr);
}

TimeShares ShareProgram::water_fill(std::span<const double> slope, std::vector<double>& levels) const {
  TimeShares shares = water_fill(
      [&](std::span<const char> open, std::span<double> now) {
        for (std::size_t i = 0; i < now.size(); ++i)
          if (open[i] != 0) now[i] = slope[i];
      },
      levels);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = slope[i] > 0 ? levels[i] / slope[i] : 0;
  return shares;
}

TimeShares ShareProgram::water_fill(const Weigh& weigh, std::vector<double>& levels) const {
  const std::size_t n = jobs();
  levels.assign(n, 0);
  std::vector<double>& base = levels;
  std::vector<double> slope(n), most(n);
  std::vector<char> open(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < types(); ++j) most[i] = std::max(most[i], rate(i, j));
    if (most[i] == 0) open[i] = 0;
  }
  TimeShares shares;
  shares.x.assign(n * types(), 0);
  shares.prices.assign(resources(), 0);
  std::vector<double> costs;
  while (true) {
    std::fill(slope.begin(), slope.end(), 0);
    weigh(open, slope);
    if (std::none_of(slope.begin(), slope.end(), [](double each) { return each > 0; })) return shares;
    shares = max_level(base, slope, shares.x);
    for (std::size_t i = 0; i < n; ++i) base[i] = std::min(most[i], base[i] + slope[i] * shares.value);
    // A job whose level has a price from below is at that level in every optimum: the jobs that pay most are frozen.
    // Those that pay little may owe it to rounding; if not, they are frozen later, at the same level. If nobody pays,
    // all costs rise from the levels on only, and any of these jobs can carry the whole price.
    std::vector<double> pays(n);
    std::size_t rises = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(slope[i] > 0)) continue;
      CostHull hull{rates_of(i), costs_of(i, shares.prices, costs)};
      double left = 0, right = std::numeric_limits<double>::infinity();
      for (CostPiece piece; hull.next(piece);) {
        if (piece.begin < base[i] * (1 - kLevelTolerance)) left = piece.slope;
        if (piece.end > base[i] * (1 + kLevelTolerance)) right = std::min(right, piece.slope);
      }
      pays[i] = slope[i] * left;
      if (slope[i] * right > kLevelTolerance && rises == n) rises = i;
    }
    const double most_paid = *std::max_element(pays.begin(), pays.end());
    if (most_paid > kLevelTolerance) {
      for (std::size_t i = 0; i < n; ++i)
        if (pays[i] >= kPaysMuch * most_paid) open[i] = 0;
      continue;
    }
    CONTEND_CHECK(rises < n, "a share program has a job that limits it");
    open[rises] = 0;
  }
}

}  // namespace contend
