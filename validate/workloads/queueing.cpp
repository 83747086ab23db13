#include "validate/workloads/queueing.hpp"

#include "models/workloads/scaling.hpp"
#include "models/workloads/synthetic.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "validate/schedulers/simulator_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace contend {
namespace {

constexpr double kNoQueue = 1;         // seconds
constexpr double kPrinted = 6e-3;      // relative: three digits
constexpr std::uint64_t kAnySeed = 1;  // nothing of a list that only changes its times is drawn

Summary replay(const std::string& policy, const Workload& workload, int servers) {
  SchedulerTrace cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = kPoolServerGpus;
  const Scenario scenario = scheduler_scenario({policy}, cluster);
  return summarise(run_workload(scenario, workload, scenario.seed));
}

double counted_fifo(const Queueing& list) {
  return std::max(kNoQueue, list.fifo_s);
}

template <class Figure>
double geometric_mean(std::span<const Queueing> lists, const Figure& figure) {
  double sum = 0;
  for (const Queueing& each : lists) sum += std::log(figure(each));
  return std::exp(sum / static_cast<double>(lists.size()));
}

bool is_printed(double found, double stated) {
  return std::abs(found - stated) <= kPrinted * stated;
}

}  // namespace

Queueing queueing_of(std::span<const JobRequest> jobs, double load, int servers) {
  WorkloadScaling scaling;
  scaling.load = load;
  const Workload workload =
      build_workload(scale_list(jobs, scaling, {}, std::int64_t{servers} * kPoolServerGpus, kAnySeed).jobs);
  const Summary fifo = replay("fifo", workload, servers);
  const Summary sjf = replay("sjf", workload, servers);
  const Summary easy = replay("easy", workload, servers);
  return {fifo.avg_queueing_s, sjf.avg_queueing_s, easy.avg_queueing_s, fifo.avg_jct_s, sjf.avg_jct_s, easy.avg_jct_s};
}

Queueing drawn_queueing(const FittedWorkload& fit, std::uint64_t seed, double load, int servers) {
  SyntheticWorkload options;
  options.like = &fit;
  options.load = load;
  return queueing_of(generate_like(options, std::int64_t{servers} * kPoolServerGpus, seed), load, servers);
}

QueueingRatio ratio_of(std::span<const Queueing> drawn, const Queueing& real) {
  QueueingRatio ratio;
  ratio.fifo = geometric_mean(drawn, counted_fifo) / counted_fifo(real);
  const auto [least, most] = std::ranges::minmax_element(drawn, {}, counted_fifo);
  ratio.least = counted_fifo(*least) / counted_fifo(real);
  ratio.most = counted_fifo(*most) / counted_fifo(real);
  ratio.sjf_gain = geometric_mean(drawn, [](const Queueing& each) { return each.sjf_gain(); }) / real.sjf_gain();
  ratio.easy_gain = geometric_mean(drawn, [](const Queueing& each) { return each.easy_gain(); }) / real.easy_gain();
  return ratio;
}

QueueingFidelity fidelity_of(std::span<const QueueingRatio> ratios) {
  const auto [fifo_least, fifo_most] = std::ranges::minmax(ratios, {}, &QueueingRatio::fifo);
  const auto [sjf_least, sjf_most] = std::ranges::minmax(ratios, {}, &QueueingRatio::sjf_gain);
  const auto [easy_least, easy_most] = std::ranges::minmax(ratios, {}, &QueueingRatio::easy_gain);
  return {fifo_least.fifo,   fifo_most.fifo,       sjf_least.sjf_gain,
          sjf_most.sjf_gain, easy_least.easy_gain, easy_most.easy_gain};
}

bool is_as_stated(const QueueingFidelity& found, const QueueingFidelity& stated) {
  return is_printed(found.fifo_least, stated.fifo_least) && is_printed(found.fifo_most, stated.fifo_most) &&
         is_printed(found.sjf_least, stated.sjf_least) && is_printed(found.sjf_most, stated.sjf_most) &&
         is_printed(found.easy_least, stated.easy_least) && is_printed(found.easy_most, stated.easy_most);
}

}  // namespace contend
