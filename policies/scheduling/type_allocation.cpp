#include "policies/scheduling/type_allocation.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace contend {

namespace {

/// The program with the rates of the jobs divided by what `norm` gives for each.
template <class Norm>
ShareProgram program_of(const TypedCluster& cluster, const Norm& norm) {
  ShareProgram program{cluster.capacity};
  std::vector<double> rates(cluster.capacity.size());
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const double divisor = norm(i);
    for (std::size_t j = 0; j < rates.size(); ++j)
      rates[j] = divisor > 0 ? rate_on(cluster, cluster.jobs[i], j) / divisor : 0;
    program.add(cluster.jobs[i].gpus, rates);
  }
  for (const TypedHosts& hosts : cluster.hosts) program.add(hosts);
  return program;
}

double fastest_on(const TypedCluster& cluster, const TypedJob& job) {
  double fastest = 0;
  for (std::size_t j = 0; j < cluster.capacity.size(); ++j) fastest = std::max(fastest, rate_on(cluster, job, j));
  return fastest;
}

/// 1 for the jobs that some type can run, 0 for the others.
std::vector<double> runnable(const TypedCluster& cluster) {
  std::vector<double> can;
  for (const TypedJob& job : cluster.jobs) can.push_back(fastest_on(cluster, job) > 0 ? 1 : 0);
  return can;
}

bool has_any(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

TimeShares no_shares(const TypedCluster& cluster) {
  TimeShares none;
  none.x.assign(cluster.jobs.size() * cluster.capacity.size(), 0);
  none.prices.assign(cluster.capacity.size(), 0);
  return none;
}

/// The largest part of a resource that a job has where `wanted` is more than there is, 1.
double equal_part(std::vector<double> wanted) {
  std::ranges::sort(wanted);
  double left = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double part = left / static_cast<double>(wanted.size() - i);
    if (wanted[i] > part) return part;
    left -= wanted[i];
  }
  return std::numeric_limits<double>::infinity();
}

/// Shares are `x` over the `sums` of their jobs. Lowers those with which jobs would have more than an equal part of
/// hosts where all together need more than there is.
void ration_hosts(const TypedCluster& cluster, std::span<const double> sums, std::vector<double>& x) {
  const std::size_t types = cluster.capacity.size(), jobs = cluster.jobs.size();
  for (const TypedHosts& hosts : cluster.hosts) {
    std::vector<double> wanted;
    for (std::size_t i = 0; i < jobs; ++i) wanted.push_back(hosts.parts[i] * x[i * types + hosts.type] / sums[i]);
    const double part = equal_part(wanted);
    for (std::size_t i = 0; i < jobs; ++i)
      if (wanted[i] > part) x[i * types + hosts.type] *= part / wanted[i];
  }
}

TypedCluster with_equal_rates(TypedCluster cluster) {
  for (TypedJob& job : cluster.jobs)
    for (double& rate : job.rates) rate = rate > 0 ? 1 : 0;
  return cluster;
}

}  // namespace

double rate_on(const TypedCluster& cluster, const TypedJob& job, std::size_t type) {
  return (cluster.most.empty() ? cluster.capacity : cluster.most)[type] < job.gpus ? 0 : job.rates[type];
}

double proportional_rate(const TypedCluster& cluster, const TypedJob& job, bool agnostic) {
  double rate = 0;
  for (std::size_t j = 0; j < cluster.capacity.size(); ++j) {
    const double own = rate_on(cluster, job, j);
    rate += (agnostic ? (own > 0 ? 1 : 0) : own) * cluster.capacity[j];
  }
  return rate / std::accumulate(cluster.capacity.begin(), cluster.capacity.end(), 0.0) * job.weight / job.gpus;
}

std::vector<double> equal_share_rates(const TypedCluster& cluster) {
  const std::size_t types = cluster.capacity.size();
  const auto m = static_cast<double>(cluster.jobs.size());
  std::vector<double> x, sums, rates;
  for (const TypedJob& job : cluster.jobs) {
    double sum = 0;
    for (const double gpus : cluster.capacity) sum += x.emplace_back(gpus / (m * job.gpus));
    sums.push_back(std::max(1.0, sum));
  }
  ration_hosts(cluster, sums, x);
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    double rate = 0;
    for (std::size_t j = 0; j < types; ++j) rate += x[i * types + j] * rate_on(cluster, cluster.jobs[i], j);
    rates.push_back(rate / sums[i]);
  }
  return rates;
}

TimeShares max_min_shares(const TypedCluster& cluster, bool agnostic, bool fill) {
  if (agnostic) return max_min_shares(with_equal_rates(cluster), false, fill);
  const std::vector<double> slope = runnable(cluster);
  if (!has_any(slope)) return no_shares(cluster);
  const ShareProgram program =
      program_of(cluster, [&](std::size_t i) { return proportional_rate(cluster, cluster.jobs[i], false); });
  if (!fill) return program.max_level(std::vector<double>(slope.size()), slope);
  std::vector<double> levels;
  TimeShares shares = program.water_fill(slope, levels);
  shares.value = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (slope[i] > 0) shares.value = std::min(shares.value, levels[i]);
  return shares;
}

ShareProgram::Weigh entity_weights(const TypedCluster& cluster, Entities entities,
                                   std::function<double(std::int32_t entity)> weight, bool first_come) {
  return [&cluster, entities, weight = std::move(weight), first_come](std::span<const char> open,
                                                                      std::span<double> slope) {
    const auto entity_of = [&](std::size_t i) {
      return entities == Entities::virtual_clusters ? cluster.jobs[i].vc : cluster.jobs[i].user;
    };
    std::map<std::int32_t, double> weights;  // of the open jobs of each entity
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == 0) continue;
      double& all = weights[entity_of(i)];
      if (!first_come) {
        all += cluster.jobs[i].weight;
      } else if (all == 0) {
        slope[i] = weight(entity_of(i));
        all = 1;
      }
    }
    for (std::size_t i = 0; i < open.size() && !first_come; ++i)
      if (open[i] != 0) slope[i] = weight(entity_of(i)) * cluster.jobs[i].weight / weights.at(entity_of(i));
  };
}

TypedCluster with_equal_weights(TypedCluster cluster) {
  for (TypedJob& job : cluster.jobs) job.weight = 1;
  return cluster;
}

TimeShares hierarchical_shares(const TypedCluster& cluster, Entities entities,
                               const std::function<double(std::int32_t entity)>& weight, bool first_come) {
  const TypedCluster alike = with_equal_weights(cluster);
  const ShareProgram program =
      program_of(alike, [&](std::size_t i) { return proportional_rate(alike, alike.jobs[i], false); });
  std::vector<double> levels;
  TimeShares shares = program.water_fill(entity_weights(cluster, entities, weight, first_come), levels);
  const std::vector<double> can = runnable(cluster);
  shares.value = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (can[i] > 0) shares.value = std::min(shares.value, levels[i]);
  return shares;
}

std::vector<double> levels_of(const TypedCluster& cluster, const TimeShares& shares, bool agnostic) {
  const std::size_t types = cluster.capacity.size();
  std::vector<double> levels;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const TypedJob& job = cluster.jobs[i];
    double rate = 0;
    for (std::size_t j = 0; j < types; ++j) {
      const double own = rate_on(cluster, job, j);
      rate += (agnostic ? (own > 0 ? 1 : 0) : own) * shares.x[i * types + j];
    }
    const double norm = proportional_rate(cluster, job, agnostic);
    levels.push_back(norm > 0 ? rate / norm : 0);
  }
  return levels;
}

TimeShares makespan_shares(const TypedCluster& cluster) {
  const std::vector<double> slope = runnable(cluster);
  if (!has_any(slope)) return no_shares(cluster);
  const ShareProgram program = program_of(cluster, [&](std::size_t i) { return cluster.jobs[i].left; });
  TimeShares shares = program.max_level(std::vector<double>(slope.size()), slope);
  shares.value = 1 / shares.value;
  return shares;
}

namespace {

/// The search for the least rho at which all jobs can be as fast as they need to be. With the finish-time fairness rho
/// a job needs the rate left / (rho alone - age). That falls with rho, so the part `reach` of these rates that all can
/// have rises, and rho is where it is 1.
class FairnessSearch {
 public:
  FairnessSearch(const TypedCluster& cluster, const std::vector<double>& can)
      : cluster_{cluster},
        can_{can},
        program_{program_of(cluster, [&](std::size_t i) { return cluster.jobs[i].left; })},
        none_(cluster.jobs.size()),
        alone_(cluster.jobs.size()),
        slope_(cluster.jobs.size()) {
    const std::vector<double> isolated = equal_share_rates(cluster);
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      if (can[i] == 0) continue;
      alone_[i] = cluster.jobs[i].isolated + cluster.jobs[i].left / isolated[i];
      least_ = std::max(least_, cluster.jobs[i].age / alone_[i]);
    }
  }

  [[nodiscard]] TimeShares shares() {
    if (least_ == 0) {  // no job has an age: the rates are in proportion to 1 / rho
      TimeShares shares = at(1, nullptr);
      shares.value = 1 / shares.value;
      return shares;
    }
    double low = least_, high = std::max(1.0, 2 * least_);
    while (!suffices(high)) {
      low = high;
      high *= 2;
    }
    narrow(low, high);
    for (int i = 0; i < kHalvings && high - low > kRhoTolerance * high; ++i) {
      const double middle = low + (high - low) / 2;
      (suffices(middle) ? high : low) = middle;
    }
    TimeShares shares = at(high, nullptr);
    shares.value = high;
    return shares;
  }

 private:
  static constexpr int kHalvings = 60, kMostSteps = 30;
  static constexpr double kRhoTolerance = 1e-13;
  static constexpr double kSure = 1e-11;  // nearer to 1 a part may be on the other side but for rounding

  TimeShares at(double rho, std::vector<std::vector<double>>* prices) {
    for (std::size_t i = 0; i < slope_.size(); ++i)
      slope_[i] = can_[i] > 0 ? 1 / (rho * alone_[i] - cluster_.jobs[i].age) : 0;
    return program_.max_level(none_, slope_, {}, prices);
  }

  bool suffices(double rho) {
    if (rho <= too_small_.rho) return false;
    if (rho >= enough_.rho) return true;
    const double reach = at(rho, nullptr).value;
    if (reach < 1 - kSure) too_small_ = {rho, reach};
    if (reach > 1 + kSure) enough_ = {rho, reach};
    return reach >= 1;
  }

  /// Finds two values near to each other of which surely the one is too small and the other is enough. A step goes a
  /// little beyond the place where the line through both would have it, so that it often comes from the other side.
  void narrow(double low, double high) {
    constexpr double kBeyond = 0.02, kNear = 1e-10;
    if (too_small_.rho < 0) too_small_ = {low, 0};  // a job that is so old would need all the speed there is
    if (enough_.rho > high) return;
    for (int i = 0; i < kMostSteps && enough_.rho - too_small_.rho > kNear * enough_.rho; ++i) {
      const double below = 1 - too_small_.reach, above = enough_.reach - 1;
      const double width = enough_.rho - too_small_.rho;
      double part = below / (below + above);  // of the width, from the left
      part += below < above ? kBeyond * part : -kBeyond * (1 - part);
      if (i % 4 == 3) part = 0.5;
      const double rho = too_small_.rho + part * width;
      const double reach = at(rho, &prices_).value;
      if (reach < 1 - kSure)
        too_small_ = {rho, reach};
      else if (reach > 1 + kSure)
        enough_ = {rho, reach};
      else
        return;
    }
  }

  struct Try {
    double rho = 0, reach = 0;
  };
  const TypedCluster& cluster_;
  const std::vector<double>& can_;
  ShareProgram program_;
  std::vector<double> none_, alone_, slope_;
  double least_ = 0;
  Try too_small_{-1, 0}, enough_{std::numeric_limits<double>::infinity(), 0};
  std::vector<std::vector<double>> prices_;  // of the last try
};

}  // namespace

TimeShares finish_time_fair_shares(const TypedCluster& cluster) {
  const std::vector<double> can = runnable(cluster);
  return has_any(can) ? FairnessSearch{cluster, can}.shares() : no_shares(cluster);
}

TimeShares least_cost_shares(const TypedCluster& cluster) {
  const std::size_t types = cluster.capacity.size();
  const ShareProgram program = program_of(cluster, [](std::size_t) { return 1.0; });
  std::vector<double> values, needed, none(cluster.jobs.size());
  for (const TypedJob& job : cluster.jobs) {
    for (std::size_t j = 0; j < types; ++j) {
      const double price = cluster.prices.empty() ? 1 : cluster.prices[j];
      values.push_back(rate_on(cluster, job, j) / price);
    }
    needed.push_back(job.time_left && *job.time_left > 0 ? job.left / *job.time_left : 0);
  }
  if (cluster.jobs.empty()) return no_shares(cluster);
  TimeShares shares = program.max_sum(values, needed);
  if (shares.feasible) return shares;
  shares = program.max_sum(values, none);
  shares.misses_deadlines = true;
  return shares;
}

TimeShares equal_shares(const TypedCluster& cluster, bool of_gpus) {
  const std::size_t types = cluster.capacity.size();
  TimeShares shares = no_shares(cluster);
  std::vector<double> sums;
  const auto m = static_cast<double>(cluster.jobs.size());
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const double parts = of_gpus ? m * cluster.jobs[i].gpus : m;
    double sum = 0;
    for (std::size_t j = 0; j < types; ++j)
      if (rate_on(cluster, cluster.jobs[i], j) > 0) sum += shares.x[i * types + j] = cluster.capacity[j] / parts;
    sums.push_back(std::max(1.0, sum));
  }
  ration_hosts(cluster, sums, shares.x);
  for (std::size_t k = 0; k < shares.x.size(); ++k) shares.x[k] /= sums[k / types];
  return shares;
}

namespace {

/// The trade of time on two types: fast time for slow time.
class Market {
 public:
  Market(const TypedCluster& cluster, TimeShares& shares, std::size_t fast, std::size_t slow)
      : cluster_{cluster}, shares_{shares}, fast_{fast}, slow_{slow} {
    for (const TypedHosts& hosts : cluster.hosts) {
      double used = 0;
      for (std::size_t i = 0; i < cluster.jobs.size(); ++i) used += hosts.parts[i] * share(i, hosts.type);
      room_of_hosts_.push_back(std::max(0.0, 1 - used));
    }
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
      if (rate_on(cluster, cluster.jobs[i], fast) > 0 && rate_on(cluster, cluster.jobs[i], slow) > 0)
        order_.push_back(i);
    std::ranges::stable_sort(order_, std::ranges::greater{}, [&](std::size_t i) { return speedup(i); });
  }

  void trade() {
    std::size_t buyer = 0;
    auto seller = order_.size();
    while (buyer + 1 < seller) {
      const std::size_t buys = order_[buyer], sells = order_[seller - 1];
      const double price = std::max(speedup(order_[buyer + 1]), speedup(sells));
      if (speedup(buys) <= speedup(sells)) return;
      const double buyer_can =
          std::min({gpus_of(buys, slow_) / price, room_of(buys, 1, price), room_of_hosts(buys, sells, price)});
      const double seller_can = std::min(gpus_of(sells, fast_), room_of(sells, price, 1));
      const double amount = std::min(buyer_can, seller_can);
      give(sells, buys, fast_, amount);
      give(buys, sells, slow_, amount * price);
      for (std::size_t h = 0; h < room_of_hosts_.size(); ++h)
        room_of_hosts_[h] = std::max(0.0, room_of_hosts_[h] - amount * rise_of(h, buys, sells, price));
      if (buyer_can <= amount) ++buyer;
      if (seller_can <= amount) --seller;
    }
  }

 private:
  [[nodiscard]] double speedup(std::size_t job) const {
    return cluster_.jobs[job].rates[fast_] / cluster_.jobs[job].rates[slow_];
  }
  [[nodiscard]] double& share(std::size_t job, std::size_t type) const {
    return shares_.x[job * cluster_.capacity.size() + type];
  }
  [[nodiscard]] double gpus_of(std::size_t job, std::size_t type) const {
    return share(job, type) * cluster_.jobs[job].gpus;
  }
  /// GPUs of the fast type that the job can sell at the price, or buy, before it would run all the time.
  [[nodiscard]] double room_of(std::size_t job, double gained, double lost) const {
    if (gained <= lost) return std::numeric_limits<double>::infinity();
    double used = 0;
    for (std::size_t t = 0; t < cluster_.capacity.size(); ++t) used += share(job, t);
    return std::max(0.0, 1 - used) * cluster_.jobs[job].gpus / (gained - lost);
  }
  /// The part of the hosts that is used more for each GPU of the fast type that is sold.
  [[nodiscard]] double rise_of(std::size_t host, std::size_t buys, std::size_t sells, double price) const {
    const TypedHosts& hosts = cluster_.hosts[host];
    const double rise = hosts.parts[buys] / cluster_.jobs[buys].gpus - hosts.parts[sells] / cluster_.jobs[sells].gpus;
    return hosts.type == fast_ ? rise : hosts.type == slow_ ? -price * rise : 0;
  }
  /// GPUs of the fast type that can be sold before a host is full.
  [[nodiscard]] double room_of_hosts(std::size_t buys, std::size_t sells, double price) const {
    double room = std::numeric_limits<double>::infinity();
    for (std::size_t h = 0; h < room_of_hosts_.size(); ++h)
      if (const double rise = rise_of(h, buys, sells, price); rise > 0) room = std::min(room, room_of_hosts_[h] / rise);
    return room;
  }
  void give(std::size_t from, std::size_t to, std::size_t type, double gpus) const {
    share(from, type) = std::max(0.0, share(from, type) - gpus / cluster_.jobs[from].gpus);
    share(to, type) += gpus / cluster_.jobs[to].gpus;
  }

  const TypedCluster& cluster_;
  TimeShares& shares_;
  std::size_t fast_, slow_;
  std::vector<std::size_t> order_;     // jobs that can run on both, the largest speedup first
  std::vector<double> room_of_hosts_;  // by host: the part that is left
};

}  // namespace

void trade(const TypedCluster& cluster, TimeShares& shares) {
  // Of two types the one on which more jobs are faster is sold.
  const auto is_faster = [&](std::size_t a, std::size_t b) {
    std::ptrdiff_t more = 0;
    for (const TypedJob& job : cluster.jobs)
      more += (job.rates[a] > job.rates[b] ? 1 : 0) - (job.rates[a] < job.rates[b] ? 1 : 0);
    return more > 0;
  };
  for (std::size_t a = 0; a < cluster.capacity.size(); ++a)
    for (std::size_t b = a + 1; b < cluster.capacity.size(); ++b)
      is_faster(a, b) ? Market{cluster, shares, a, b}.trade() : Market{cluster, shares, b, a}.trade();
}

}  // namespace contend
