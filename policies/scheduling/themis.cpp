// Themis (Mahajan et al., NSDI 2020, sections 3 and 4) sells GPUs for a lease, so that the worst finish-time fairness
// becomes better. Whenever GPUs are free or a lease ends, these GPUs are offered to the part 1 - f of the jobs without
// a lease that are worst off. They bid with the rho that each configuration would give them, and the partial allocation
// mechanism decides (auction.hpp). What is left goes to jobs without GPUs, drawn at random, of which each takes the
// most GPUs that it can, at most those that it prefers.
//
// The rho of job i with the speed v for the length L of a lease, and its fair share after that, is
//
//     rho_i = (age_i + L + max(0, left_i - v L) / I_i) / (total_i / I_i),    or (age_i + left_i / v) / (total_i / I_i)
//
// if it is done within the lease. I_i is its speed on an equal part of the cluster: the shares C_j / (m s_i) of each
// type, scaled down if they add up to more than 1, with m the jobs that wait or run now. The paper takes the GPUs to
// stay until the end of the job, so that one without any has an infinite rho, however long it has waited.
//
// A job keeps part of the GPUs that it won. Where it can't have that number of GPUs, it gets the next smaller or larger
// that it can, drawn so that it has the right number in the mean; a gang of fixed size all or nothing.

#include "policies/registry.hpp"
#include "policies/scheduling/auction.hpp"
#include "policies/scheduling/elastic_policy.hpp"
#include "policies/scheduling/type_allocation.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kLeastTime_s = 1e-9;  // a job of no time still has a rho

class Themis final : public ElasticPolicy {
 public:
  struct Options {
    Time lease;
    double fairness = 0.8, gap = 0;
    bool payments = true;
  };
  Themis(const Options& options, std::uint64_t seed)
      : ElasticPolicy{DecisionTimes{}}, options_{options}, stream_{seed, "scheduling.themis"} {}

  void left(JobId job) override {
    leases_.erase(job);
    ElasticPolicy::left(job);
  }
  [[nodiscard]] Time slice(int) const override { return options_.lease; }

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time now) override {
    Division division;
    division.gpus.assign(jobs.size(), 0);
    division.types.assign(jobs.size(), 0);
    std::vector<int> room{gpus.begin(), gpus.end()};
    std::vector<std::size_t> open;  // jobs without a lease
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto lease = leases_.find(jobs[i].view.id);
      if (jobs[i].held == 0 || lease == leases_.end() || lease->second <= now) {
        open.push_back(i);
        continue;
      }
      give(division, room, i, jobs[i].type, jobs[i].held);
    }
    sell(jobs, gpus, now, open, division, room);
    give_rest(jobs, open, division, room);
    for (const std::size_t i : open)
      if (division.gpus[i] > 0) leases_[jobs[i].view.id] = now + options_.lease;
    for (const ElasticJob& job : jobs)
      if (const auto lease = leases_.find(job.view.id); lease != leases_.end() && lease->second > now)
        division.next = std::min(division.next, lease->second);
    return division;
  }

 private:
  static void give(Division& division, std::vector<int>& room, std::size_t job, std::int32_t type, int gpus) {
    division.gpus[job] = gpus;
    division.types[job] = type;
    room[static_cast<std::size_t>(type)] -= gpus;
  }

  /// The speed of each job on an equal part of the cluster.
  static std::vector<double> fair_speeds(std::span<const ElasticJob> jobs, std::span<const int> gpus) {
    TypedCluster cluster;
    cluster.capacity.assign(gpus.begin(), gpus.end());
    for (const ElasticJob& job : jobs) {
      TypedJob typed;
      const int size = usual_size(job);
      typed.gpus = std::max(1, size);
      for (std::size_t t = 0; t < gpus.size(); ++t)
        typed.rates.push_back(size > 0 ? job.speed_on(size, static_cast<std::int32_t>(t)) : 0);
      cluster.jobs.push_back(std::move(typed));
    }
    return equal_share_rates(cluster);
  }

  /// The number of GPUs that the job prefers, or the nearest smaller one, or the smallest; 0 if it can't run.
  static int usual_size(const ElasticJob& job) {
    if (job.sizes.empty()) return 0;
    const int within = job.size_within(job.view.preferred_gpus);
    return within > 0 ? within : job.sizes.front();
  }

  [[nodiscard]] double rho(const ElasticJob& job, double speed, double fair, Time now) const {
    const double age_s = (now - job.view.submit).to_seconds(), lease_s = options_.lease.to_seconds();
    const double total_s = job.view.total_service.to_seconds() / job.view.preferred_gpus;
    const double shared_s = speed * lease_s >= job.left_s ? age_s + (speed > 0 ? job.left_s / speed : 0)
                                                          : age_s + lease_s + (job.left_s - speed * lease_s) / fair;
    return std::max(shared_s, kLeastTime_s) / std::max(total_s / fair, kLeastTime_s);
  }

  /// Sells what is free to those jobs of `open` that are worst off.
  void sell(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time now, const std::vector<std::size_t>& open,
            Division& division, std::vector<int>& room) {
    const std::vector<double> fair = fair_speeds(jobs, gpus);
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t i : open)
      if (fair[i] > 0) order.emplace_back(-rho(jobs[i], 0, fair[i], now), i);
    if (order.empty()) return;
    std::ranges::sort(order);
    constexpr double kRounding = 1e-9;  // a fifth of 20 jobs is 4
    const double offered = std::ceil((1 - options_.fairness) * static_cast<double>(order.size()) - kRounding);
    order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(1.0, offered))));
    std::vector<Bidder> bidders;
    for (const auto& [key, i] : order) {
      Bidder& bidder = bidders.emplace_back(Bidder{{}, rho(jobs[i], 0, fair[i], now)});
      for (std::size_t t = 0; t < room.size(); ++t)
        for (const int size : jobs[i].sizes) {
          const double speed = jobs[i].speed_on(size, static_cast<std::int32_t>(t));
          if (speed > 0 && size <= room[t]) bidder.bids.push_back({t, size, rho(jobs[i], speed, fair[i], now)});
        }
    }
    const std::vector<Sale> sales = partial_allocation(room, bidders, options_.gap, options_.payments);
    for (std::size_t b = 0; b < sales.size(); ++b) {
      if (sales[b].bid == Sale::kNothing) continue;
      const std::size_t i = order[b].second;
      const Bid& bid = bidders[b].bids[static_cast<std::size_t>(sales[b].bid)];
      const auto type = static_cast<std::int32_t>(bid.type);
      give(division, room, i, type, part_of(jobs[i], type, bid.gpus, sales[b].kept));
    }
  }

  /// The number of GPUs that a job gets which keeps a part of those that it won.
  [[nodiscard]] int part_of(const ElasticJob& job, std::int32_t type, int won, double kept) {
    if (kept >= 1) return won;
    const double mean = kept * won;
    int below = 0, above = won;
    for (const int size : job.sizes) {
      if (size > won || job.speed_on(size, type) <= 0) continue;
      (size <= mean ? below : above) = size;
      if (size > mean) break;
    }
    return stream_.uniform() * (above - below) < mean - below ? above : below;
  }

  /// Gives what is left to jobs without GPUs, in an order that is drawn.
  void give_rest(std::span<const ElasticJob> jobs, std::span<const std::size_t> open, Division& division,
                 std::vector<int>& room) {
    std::vector<std::size_t> order;
    for (const std::size_t i : open)
      if (division.gpus[i] == 0 && usual_size(jobs[i]) > 0) order.push_back(i);
    if (order.empty() || std::ranges::all_of(room, [](int gpus) { return gpus <= 0; })) return;
    stream_.shuffle(std::span{order});
    for (const std::size_t i : order) {
      double fastest = 0;
      std::pair<std::int32_t, int> best{0, 0};
      for (std::size_t t = 0; t < room.size(); ++t) {
        const auto type = static_cast<std::int32_t>(t);
        for (int size = usual_size(jobs[i]); size > 0; size = jobs[i].size_within(size - 1)) {
          const double speed = jobs[i].speed_on(size, type);
          if (size > room[t] || speed <= fastest) continue;
          fastest = speed;
          best = {type, size};
        }
      }
      if (best.second > 0) give(division, room, i, best.first, best.second);
    }
  }

  Options options_;
  RandomStream stream_;
  std::map<JobId, Time> leases_;  // when they end
};

std::unique_ptr<SchedulingPolicy> make_themis(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Themis>(
      Themis::Options{.lease = Time::ceil_nanoseconds(parameters.get<double>("lease_s") * 1e9),
                      .fairness = parameters.get<double>("fairness"),
                      .gap = parameters.get<double>("gap"),
                      .payments = parameters.get<bool>("payments")},
      context.seed);
}

}  // namespace

PolicyRow<SchedulingPolicy> themis_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"lease_s", 1200.0, 1, 1e7, "time for which a job gets GPUs, in seconds"},
      {"fairness", 0.8, 0, 1,
       "GPUs are offered to the part 1 - fairness of the jobs without a lease, those that are worst off; at least to "
       "one"},
      {"payments", true, 0, 0, "jobs keep only the part of what they won for which it pays to tell the truth"},
      {"gap", 1e-4, 0, 1, "the search ends with a product of values this near to the largest, by its logarithm"}};
  return {.name = "themis",
          .summary = "GPUs are sold for a lease to jobs with the worst finish-time fairness",
          .source = "Mahajan et al., NSDI 2020",
          .parameters = kParameters,
          .make = make_themis,
          .names_types = true};
}

}  // namespace contend
