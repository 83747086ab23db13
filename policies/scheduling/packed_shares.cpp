#include "policies/scheduling/packed_shares.hpp"

#include "policies/scheduling/linear_program.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// The levels that jobs are to get to: T_i(x) / norm_i >= part x base_i + level x slope_i, 0 <= part <= 1.
struct LevelRows {
  std::span<const double> norms;     ///< 0: the job has no level
  std::span<const double> slopes{};  ///< empty: all 1
  std::span<const double> bases{};   ///< empty: all 0
  double value_of_bases = 0;         ///< of the part
};

/// The program of a cluster: rows of the types that a job may use, then of the quotas, then of the hosts, then one for
/// the time of each job, then one for the level of each. What nobody may use has no row, so that it doesn't decide
/// which of several optima is found.
class PackedProgram {
 public:
  /// `values`: of the shares of jobs, by job and type; empty: 0.
  PackedProgram(const TypedCluster& cluster, const LevelRows& rows, std::span<const double> values,
                double value_of_level, bool has_whole_level)
      : cluster_{cluster},
        types_{cluster.capacity.size()},
        jobs_{cluster.jobs.size()},
        used_{used_types(cluster)},
        norms_{rows.norms},
        values_{values},
        program_{limits(has_whole_level || !rows.bases.empty())} {
    for (std::size_t i = 0; i < jobs_; ++i)
      for (std::size_t j = 0; j < types_; ++j)
        if (const double rate = rate_on(cluster, cluster.jobs[i], j); rate > 0) add_alone(i, j, rate);
    for (std::size_t p = 0; p < cluster.pairs.size(); ++p)
      for (std::size_t j = 0; j < types_; ++j) add_pair(p, j);
    std::vector<std::pair<std::size_t, double>> level, base;
    for (std::size_t i = 0; i < jobs_; ++i) {
      if (norms_[i] <= 0) continue;
      if (const double slope = rows.slopes.empty() ? 1.0 : rows.slopes[i]; slope > 0)
        level.emplace_back(level_row(i), slope);
      if (!rows.bases.empty() && rows.bases[i] > 0) base.emplace_back(level_row(i), rows.bases[i]);
    }
    if (has_whole_level) level.emplace_back(level_row(jobs_), 1.0);
    if (!level.empty()) {
      level_ = program_.add(value_of_level, std::move(level));
      has_level_ = true;
    }
    if (rows.bases.empty()) return;
    base.emplace_back(level_row(jobs_), 1.0);
    base_ = program_.add(rows.value_of_bases, std::move(base));
  }

  TimeShares solve() {
    const std::vector<double> at = program_.solve();
    TimeShares shares;
    shares.x.assign(jobs_ * types_, 0);
    shares.pairs.assign(cluster_.pairs.size() * types_, 0);
    for (std::size_t c = 0; c < places_.size(); ++c) {
      const auto& [is_pair, place] = places_[c];
      (is_pair ? shares.pairs : shares.x)[place] = at[c];
    }
    if (has_level_) shares.value = at[level_];
    if (base_) part_of_bases_ = at[*base_];
    return shares;
  }

  /// After solve(): the part of the bases that all jobs get to.
  [[nodiscard]] double part_of_bases() const { return part_of_bases_; }
  /// After solve(): by job, what a rate that is needed beyond its level would cost.
  [[nodiscard]] std::vector<double> prices_of_levels() const {
    const std::vector<double> duals = program_.duals();
    const auto first = duals.begin() + static_cast<std::ptrdiff_t>(level_row(0));
    return {first, first + static_cast<std::ptrdiff_t>(jobs_)};
  }

 private:
  [[nodiscard]] std::vector<double> limits(bool has_whole_level) const {
    std::vector<double> limits;
    for (const std::size_t j : used_) limits.push_back(cluster_.capacity[j]);
    for (const TypedQuota& quota : cluster_.quotas) limits.push_back(quota.gpus);
    limits.resize(limits.size() + cluster_.hosts.size(), 1.0);
    limits.resize(time_row(jobs_), 1.0);
    limits.resize(level_row(jobs_), 0.0);
    if (has_whole_level) limits.push_back(1.0);
    return limits;
  }
  [[nodiscard]] static std::vector<std::size_t> used_types(const TypedCluster& cluster) {
    std::vector<std::size_t> used;
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j)
      if (std::ranges::any_of(cluster.jobs, [&](const TypedJob& job) { return rate_on(cluster, job, j) > 0; }))
        used.push_back(j);
    return used;
  }
  [[nodiscard]] std::size_t type_row(std::size_t type) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(used_, type) - used_.begin());
  }
  [[nodiscard]] std::size_t host_row(std::size_t host) const { return used_.size() + cluster_.quotas.size() + host; }
  [[nodiscard]] std::size_t time_row(std::size_t job) const { return host_row(cluster_.hosts.size()) + job; }
  [[nodiscard]] std::size_t level_row(std::size_t job) const { return time_row(jobs_) + job; }
  [[nodiscard]] double value(std::size_t job, std::size_t type) const {
    return values_.empty() ? 0 : values_[job * types_ + type];
  }
  using Entries = std::vector<std::pair<std::size_t, double>>;
  /// What a job takes and does that runs, alone or in a pair.
  void add_job(std::size_t i, double rate, Entries& entries) const {
    entries.emplace_back(time_row(i), 1.0);
    if (norms_[i] > 0) entries.emplace_back(level_row(i), -rate / norms_[i]);
  }
  void add_quotas(std::initializer_list<std::size_t> jobs, Entries& entries) const {
    for (std::size_t q = 0; q < cluster_.quotas.size(); ++q) {
      double gpus = 0;
      for (const std::size_t i : jobs)
        if (cluster_.jobs[i].vc == cluster_.quotas[q].vc) gpus += cluster_.jobs[i].gpus;
      if (gpus > 0) entries.emplace_back(used_.size() + q, gpus);
    }
  }
  void add_hosts(std::initializer_list<std::size_t> jobs, std::size_t type, Entries& entries) const {
    for (std::size_t h = 0; h < cluster_.hosts.size(); ++h) {
      if (cluster_.hosts[h].type != type) continue;
      double part = 0;
      for (const std::size_t i : jobs) part += cluster_.hosts[h].parts[i];
      if (part > 0) entries.emplace_back(host_row(h), part);
    }
  }
  void add_alone(std::size_t i, std::size_t j, double rate) {
    Entries entries{{type_row(j), cluster_.jobs[i].gpus}};
    add_quotas({i}, entries);
    add_hosts({i}, j, entries);
    add_job(i, rate, entries);
    places_.emplace_back(false, i * types_ + j);
    program_.add(value(i, j) * rate, std::move(entries));
  }
  void add_pair(std::size_t p, std::size_t j) {
    const TypedPair& pair = cluster_.pairs[p];
    const TypedJob &first = cluster_.jobs[pair.first], &second = cluster_.jobs[pair.second];
    const double alone_first = rate_on(cluster_, first, j), alone_second = rate_on(cluster_, second, j);
    const double rate_first = pair.first_rates[j], rate_second = pair.second_rates[j];
    if (alone_first <= 0 || alone_second <= 0 || rate_first <= 0 || rate_second <= 0) return;
    if (rate_first / alone_first + rate_second / alone_second <= 1) return;
    Entries entries{{type_row(j), first.gpus}};
    add_quotas({pair.first, pair.second}, entries);
    add_hosts({pair.first, pair.second}, j, entries);
    add_job(pair.first, rate_first, entries);
    add_job(pair.second, rate_second, entries);
    places_.emplace_back(true, p * types_ + j);
    program_.add(value(pair.first, j) * rate_first + value(pair.second, j) * rate_second, std::move(entries));
  }

  const TypedCluster& cluster_;
  std::size_t types_, jobs_;
  std::vector<std::size_t> used_;  // types with a row, rising
  std::span<const double> norms_, values_;
  LinearProgram program_;
  std::vector<std::pair<bool, std::size_t>> places_;  // by column: of a pair, and where its share goes
  std::size_t level_ = 0;                             // column
  std::optional<std::size_t> base_;
  double part_of_bases_ = 1;
  bool has_level_ = false;
};

/// 0 for a job that no type can run, else what `norm` gives.
template <class Norm>
std::vector<double> norms_of(const TypedCluster& cluster, const Norm& norm) {
  std::vector<double> norms;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    double fastest = 0;
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j)
      fastest = std::max(fastest, rate_on(cluster, cluster.jobs[i], j));
    norms.push_back(fastest > 0 ? norm(i) : 0);
  }
  return norms;
}

/// The largest of the norms over the fastest rates. With norms divided by it levels are near 1, as the tolerances of
/// the program want it.
double scale_of(const TypedCluster& cluster, std::span<const double> norms) {
  double scale = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    double fastest = 0;
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j)
      fastest = std::max(fastest, rate_on(cluster, cluster.jobs[i], j));
    if (norms[i] > 0) scale = std::max(scale, norms[i] / fastest);
  }
  return scale;
}

}  // namespace

TimeShares packed_level(const TypedCluster& cluster, std::span<const double> norms) {
  const double scale = scale_of(cluster, norms);
  std::vector<double> scaled{norms.begin(), norms.end()};
  if (scale > 0)
    for (double& norm : scaled) norm /= scale;
  TimeShares shares = PackedProgram{cluster, {scaled}, {}, 1, false}.solve();
  if (scale > 0) shares.value /= scale;
  return shares;
}

TimeShares packed_sum(const TypedCluster& cluster, std::span<const double> needed) {
  std::vector<double> values;
  double most = 0;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j) {
      values.push_back(1 / (cluster.prices.empty() ? 1 : cluster.prices[j]));
      most += values.back() * rate_on(cluster, cluster.jobs[i], j);
    }
  constexpr double kAboveAll = 1e3;  // of what a part of the level is worth: deadlines go first
  const bool has_needs = std::ranges::any_of(needed, [](double each) { return each > 0; });
  TimeShares shares = PackedProgram{cluster, {needed}, values, kAboveAll * most, has_needs}.solve();
  constexpr double kReached = 1 - 1e-9;
  if (has_needs && shares.value < kReached) {
    const std::vector<double> none(needed.size());
    shares = PackedProgram{cluster, {none}, values, 0, false}.solve();
    shares.misses_deadlines = true;
  }
  const std::size_t types = cluster.capacity.size();
  shares.value = 0;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
    for (std::size_t j = 0; j < types; ++j)
      shares.value += values[i * types + j] * rate_on(cluster, cluster.jobs[i], j) * shares.x[i * types + j];
  for (std::size_t p = 0; p < cluster.pairs.size(); ++p)
    for (std::size_t j = 0; j < types; ++j) {
      const TypedPair& pair = cluster.pairs[p];
      shares.value += shares.pairs[p * types + j] * (values[pair.first * types + j] * pair.first_rates[j] +
                                                     values[pair.second * types + j] * pair.second_rates[j]);
    }
  return shares;
}

TimeShares packed_max_min_shares(const TypedCluster& cluster) {
  const std::vector<double> norms =
      norms_of(cluster, [&](std::size_t i) { return proportional_rate(cluster, cluster.jobs[i], false); });
  return packed_level(cluster, norms);
}

TimeShares packed_water_fill(const TypedCluster& cluster, const ShareProgram::Weigh& weigh,
                             std::vector<double>& levels) {
  constexpr double kMost = 1e6, kReached = 1 - 1e-9, kPaysEnough = 0.1;
  const std::size_t n = cluster.jobs.size();
  std::vector<double> norms =
      norms_of(cluster, [&](std::size_t i) { return proportional_rate(cluster, cluster.jobs[i], false); });
  const double scale = scale_of(cluster, norms);
  std::vector<char> open(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (norms[i] > 0) norms[i] /= scale;
    open[i] = norms[i] > 0 ? 1 : 0;
  }
  levels.assign(n, 0);
  TimeShares shares;
  shares.x.assign(n * cluster.capacity.size(), 0);
  shares.pairs.assign(cluster.pairs.size() * cluster.capacity.size(), 0);
  std::vector<double> slopes(n);
  while (true) {
    std::fill(slopes.begin(), slopes.end(), 0);
    weigh(open, slopes);
    if (std::ranges::none_of(slopes, [](double slope) { return slope > 0; })) break;
    std::vector<double> prices;
    // The bases can be reached, and so they are where a part of them is worth more than any level that it costs.
    for (double worth = 1e3; worth <= kMost; worth *= 10) {
      PackedProgram program{cluster, {norms, slopes, levels, worth}, {}, 1, false};
      shares = program.solve();
      prices = program.prices_of_levels();
      if (program.part_of_bases() >= kReached) break;
    }
    // Jobs whose level has a price are at it in every optimum. Those that pay little may owe it to rounding; if not,
    // they are frozen later, at the same level.
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      levels[i] += slopes[i] * shares.value;
      prices[i] *= slopes[i];
      most = std::max(most, prices[i]);
    }
    CONTEND_CHECK(most > 0, "a program of shares has a job that limits its level");
    for (std::size_t i = 0; i < n; ++i)
      if (slopes[i] > 0 && prices[i] >= kPaysEnough * most) open[i] = 0;
  }
  shares.value = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    levels[i] /= scale > 0 ? scale : 1;
    if (norms[i] > 0) shares.value = std::min(shares.value, levels[i]);
  }
  return shares;
}

TimeShares packed_water_fill(const TypedCluster& cluster, std::vector<double>& levels) {
  return packed_water_fill(
      cluster,
      [](std::span<const char> open, std::span<double> slope) {
        for (std::size_t i = 0; i < open.size(); ++i)
          if (open[i] != 0) slope[i] = 1;
      },
      levels);
}

TimeShares packed_makespan_shares(const TypedCluster& cluster) {
  TimeShares shares = packed_level(cluster, norms_of(cluster, [&](std::size_t i) { return cluster.jobs[i].left; }));
  shares.value = shares.value > 0 ? 1 / shares.value : 0;
  return shares;
}

TimeShares packed_finish_time_fair_shares(const TypedCluster& cluster) {
  constexpr int kSteps = 100;
  constexpr double kRhoTolerance = 1e-11;
  const std::vector<double> isolated = equal_share_rates(cluster);
  std::vector<double> alone(cluster.jobs.size());
  double low = 0;
  bool has_age = false;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (isolated[i] <= 0) continue;
    has_age = has_age || cluster.jobs[i].age > 0;
    alone[i] = cluster.jobs[i].isolated + cluster.jobs[i].left / isolated[i];
    low = std::max(low, cluster.jobs[i].age / alone[i]);
  }
  // The rates that jobs can have together, over those that they need for a rho.
  const auto at = [&](double rho) {
    return packed_level(cluster, norms_of(cluster, [&](std::size_t i) {
                          return cluster.jobs[i].left / (rho * alone[i] - cluster.jobs[i].age);
                        }));
  };
  double high = std::max(1.0, 2 * low);
  TimeShares best = at(high);
  if (!(best.value > 0)) return best;
  if (!has_age) {  // the rates are in proportion to 1 / rho
    best.value = high / best.value;
    return best;
  }
  while (best.value < 1) {
    low = high;
    high *= 2;
    best = at(high);
  }
  // The level rises with rho. Every other step halves the interval, so that bad guesses cost no more than twice.
  double level_low = 0, level_high = best.value;
  for (int i = 0; i < kSteps && high - low > kRhoTolerance * high; ++i) {
    const double part = std::clamp((1 - level_low) / (level_high - level_low), 0.01, 0.99);
    const double rho = i % 2 == 1 ? low + (high - low) / 2 : low + (high - low) * part;
    TimeShares shares = at(rho);
    if (shares.value < 1) {
      low = rho;
      level_low = shares.value;
    } else {
      high = rho;
      level_high = shares.value;
      best = std::move(shares);
    }
  }
  best.value = high;
  return best;
}

TimeShares packed_least_cost_shares(const TypedCluster& cluster) {
  return packed_sum(cluster, norms_of(cluster, [&](std::size_t i) {
                      const TypedJob& job = cluster.jobs[i];
                      return job.time_left && *job.time_left > 0 ? job.left / *job.time_left : 0;
                    }));
}

}  // namespace contend
