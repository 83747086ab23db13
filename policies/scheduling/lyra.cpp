// Lyra (Li et al., "Lyra: Elastic Scheduling for Deep Learning Clusters", EuroSys 2023, section 5) gives GPUs out in
// two phases. First every job gets its base demand, the fewest GPUs on which it can run: running jobs keep it, and jobs
// that wait start in order of their running times on it, the shortest first. Jobs give way only when a lent server goes
// back (sim/loans.hpp). What is left goes to elastic jobs as a multiple-choice knapsack: of each job at most one larger
// number of GPUs is chosen, its weight is how many more they are, its value the running time that they save, and the
// sum of the values is largest.
//
// Rules that are ours, because the paper leaves them open: a job that does not fit is passed over; a job that could
// start on several types of servers starts where its running time is least; of equally good choices a job keeps the
// GPUs that it has, else takes fewer, and jobs that were submitted first go first.

#include "policies/registry.hpp"
#include "policies/scheduling/elastic_policy.hpp"
#include "policies/scheduling/knapsack.hpp"

#include <algorithm>
#include <limits>

namespace contend {

namespace {

class Lyra final : public ElasticPolicy {
 public:
  using ElasticPolicy::ElasticPolicy;

 protected:
  [[nodiscard]] Division divide(std::span<const ElasticJob> jobs, std::span<const int> gpus, Time) override {
    Division division;
    division.gpus.assign(jobs.size(), 0);
    division.types.assign(jobs.size(), 0);
    std::vector<int> left(gpus.begin(), gpus.end());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].held == 0) continue;
      const auto type = jobs[i].type;
      give(division, left, i, std::min(base_on(jobs[i], type), jobs[i].held), type);
    }
    for (const std::size_t i : shortest_first(jobs, gpus.size())) {
      std::int32_t best = -1;
      double least = std::numeric_limits<double>::infinity();
      for (std::int32_t t = 0; t < static_cast<std::int32_t>(gpus.size()); ++t) {
        const int base = base_on(jobs[i], t);
        if (base == 0 || base > left[static_cast<std::size_t>(t)]) continue;
        if (const double takes = jobs[i].left_s / jobs[i].speed_on(base, t); takes < least) {
          least = takes;
          best = t;
        }
      }
      if (best >= 0) give(division, left, i, base_on(jobs[i], best), best);
    }
    for (std::size_t t = 0; t < gpus.size(); ++t) grow(jobs, static_cast<std::int32_t>(t), left[t], division);
    return division;
  }

 private:
  /// The fewest GPUs of the type on which the job runs; 0 if it can't.
  static int base_on(const ElasticJob& job, std::int32_t type) {
    for (const int size : job.sizes)
      if (job.speed_on(size, type) > 0) return size;
    return 0;
  }

  static void give(Division& division, std::vector<int>& left, std::size_t job, int gpus, std::int32_t type) {
    division.gpus[job] = gpus;
    division.types[job] = type;
    left[static_cast<std::size_t>(type)] -= gpus;
  }

  /// The jobs that wait, by their running times on their base demands, each on the type where that is least.
  static std::vector<std::size_t> shortest_first(std::span<const ElasticJob> jobs, std::size_t types) {
    std::vector<std::size_t> order;
    std::vector<double> takes(jobs.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].held > 0) continue;
      order.push_back(i);
      for (std::int32_t t = 0; t < static_cast<std::int32_t>(types); ++t)
        if (const int base = base_on(jobs[i], t); base > 0)
          takes[i] = std::min(takes[i], jobs[i].left_s / jobs[i].speed_on(base, t));
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return takes[i]; });
    return order;
  }

  /// Gives so many GPUs of the type that are left to the jobs there.
  static void grow(std::span<const ElasticJob> jobs, std::int32_t type, int left, Division& division) {
    std::vector<std::size_t> growing;
    std::vector<std::vector<KnapsackItem>> groups;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const int base = division.gpus[i];
      if (base == 0 || division.types[i] != type || jobs[i].sizes.back() == base) continue;
      const double takes = jobs[i].left_s / jobs[i].speed_on(base, type);
      std::vector<KnapsackItem> items;
      const auto add = [&](int size) {
        const double speed = jobs[i].speed_on(size, type);
        if (speed > 0) items.push_back({size - base, takes - jobs[i].left_s / speed});
      };
      if (jobs[i].held > base) add(jobs[i].held);
      items.push_back({0, 0});
      for (const int size : jobs[i].sizes)
        if (size > base && size != jobs[i].held) add(size);
      growing.push_back(i);
      groups.push_back(std::move(items));
    }
    const std::vector<std::size_t> chosen = best_knapsack(groups, left);
    for (std::size_t g = 0; g < growing.size(); ++g) division.gpus[growing[g]] += groups[g][chosen[g]].weight;
  }
};

std::unique_ptr<SchedulingPolicy> make_lyra(const Parameters& parameters, const PolicyContext& context) {
  return std::make_unique<Lyra>(elastic_decisions(parameters, context));
}

}  // namespace

PolicyRow<SchedulingPolicy> lyra_scheduling() {
  static constexpr ParameterInfo kParameters[] = {elastic_period_parameter(0)};
  return {
      .name = "lyra",
      .summary = "base demands, the shortest job first, and what is left where it saves most time; elastic jobs grow",
      .source = "Li et al., EuroSys 2023",
      .parameters = kParameters,
      .make = make_lyra,
      .names_types = true};
}

}  // namespace contend
