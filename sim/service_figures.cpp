#include "sim/service_figures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace contend {
namespace {

bool meets(const RequestResult& request, const ServiceTargets& targets) {
  if (!request.has_ended() || (targets.ttft && request.ttft() > *targets.ttft)) return false;
  return !targets.tpot || request.answer < 2 || request.end - request.first <= *targets.tpot * (request.answer - 1);
}

RequestTimes times_of(std::vector<double> seconds) {
  return {mean(seconds), percentile(seconds, 0.5), percentile(seconds, 0.99)};
}

/// What is taken from requests one by one.
struct Samples {
  std::vector<double> ttft_s, tpot_s, e2e_s;
  std::size_t requests = 0, targeted = 0, met = 0;  ///< targeted: of services with targets
  std::int64_t evictions = 0;
  Time first = Time::never(), last;
  bool all_ended = true;

  void add(const RequestResult& request, const ServiceTargets& targets) {
    ++requests;
    evictions += request.evictions;
    first = std::min(first, request.arrival);
    if (request.has_begun()) ttft_s.push_back(request.ttft().to_seconds());
    if (targets.ttft || targets.tpot) {
      ++targeted;
      if (meets(request, targets)) ++met;
    }
    all_ended = all_ended && request.has_ended();
    if (!request.has_ended()) return;
    last = std::max(last, request.end);
    e2e_s.push_back(request.e2e().to_seconds());
    if (request.answer > 1) tpot_s.push_back(request.tpot_s());
  }
};

/// Ages of what was trained, in versions.
struct Staleness {
  std::int64_t sum = 0, max = 0, of = 0;

  void add(std::int64_t more, std::int64_t largest, std::int64_t count) {
    sum += more;
    max = std::max(max, largest);
    of += count;
  }
};

/// Figures over RL post-training.
void add_rl(std::span<const ServiceReport* const> services, Staleness& staleness, ServiceFigures& all) {
  RlReport sum;
  for (const ServiceReport* const service : services) {
    if (!service->rl) continue;
    const RlReport& each = *service->rl;
    sum.elapsed += each.elapsed;
    sum.trainings += each.trainings;
    sum.trainer_waited += each.trainer_waited;
    sum.pool_stood += each.pool_stood;
    sum.groups += each.groups;
    sum.groups_ran += each.groups_ran;
    staleness.add(each.staleness_sum, each.staleness_max, each.trained);
  }
  if (sum.trainings == 0) return;
  RlFigures& figures = all.rl;
  const auto trainings = static_cast<double>(sum.trainings);
  figures.step_s = sum.elapsed.to_seconds() / trainings;
  figures.group_s = sum.groups_ran.to_seconds() / static_cast<double>(sum.groups);
  figures.trainer_wait_s = sum.trainer_waited.to_seconds() / trainings;
  figures.pool_wait_s = sum.pool_stood.to_seconds() / trainings;
}

/// Figures over federated training.
void add_federated(std::span<const ServiceReport* const> services, Staleness& staleness, ServiceFigures& all) {
  FederatedRound sum;
  std::int64_t rounds = 0, failed = 0;
  double length_s = 0;
  bool is_any = false;
  for (const ServiceReport* const service : services) {
    if (!service->federated) continue;
    is_any = true;
    const FederatedReport& each = *service->federated;
    sum += each.totals;
    staleness.add(each.totals.staleness_sum, each.totals.staleness_max, each.totals.updates);
    rounds += std::ssize(each.rounds);
    for (const FederatedRound& round : each.rounds) {
      failed += round.has_version ? 0 : 1;
      length_s += (round.end - round.begin).to_seconds();
    }
  }
  if (!is_any) return;
  FederatedFigures& figures = all.federated;
  figures.rounds = static_cast<double>(rounds);
  figures.failed = static_cast<double>(failed);
  if (rounds > 0) figures.round_s = length_s / figures.rounds;
  figures.updates = static_cast<double>(sum.updates);
  figures.lost = static_cast<double>(sum.lost);
  figures.sent_b = (sum.down + sum.up).to_double();
  figures.dropped_b = sum.dropped.to_double();
}

/// Figures over power. Services of one row have equal figures of it.
void add_power(std::span<const ServiceReport* const> services, PowerFigures& figures) {
  double energy_j = 0;
  bool is_any = false;
  for (const ServiceReport* const service : services) {
    if (!service->power) continue;
    const PowerReport& each = *service->power;
    is_any = true;
    energy_j += each.energy_j;
    figures.capped_s = std::fmax(figures.capped_s, each.capped.to_seconds());
    figures.row_peak = std::fmax(figures.row_peak, each.row_peak);
    figures.row_mean = std::fmax(figures.row_mean, each.row_mean);
    figures.over_s = std::fmax(figures.over_s, each.over.to_seconds());
    figures.over_j = std::fmax(figures.over_j, each.over_j);
    figures.caps = std::fmax(figures.caps, static_cast<double>(each.caps));
    figures.brakes = std::fmax(figures.brakes, static_cast<double>(each.brakes));
  }
  if (is_any) figures.energy_j = energy_j;
}

/// Figures over requests.
void add_requests(const Samples& samples, double tokens, Time end, ServiceFigures& figures) {
  figures.requests = static_cast<double>(samples.requests);
  figures.answered = static_cast<double>(samples.e2e_s.size());
  figures.evictions = static_cast<double>(samples.evictions);
  const double length_s = ((samples.all_ended ? samples.last : end) - samples.first).to_seconds();
  if (samples.targeted > 0)
    figures.targets_met = static_cast<double>(samples.met) / static_cast<double>(samples.targeted);
  if (length_s > 0) {
    if (samples.targeted > 0) figures.goodput_per_s = static_cast<double>(samples.met) / length_s;
    figures.tokens_per_s = tokens / length_s;
  }
  figures.ttft = times_of(samples.ttft_s);
  figures.tpot = times_of(samples.tpot_s);
  figures.e2e = times_of(samples.e2e_s);
}

}  // namespace

ServiceFigures figures_of(std::span<const ServiceReport* const> services, Time end) {
  Samples samples;
  TokenGaps gaps;
  std::int64_t tokens = 0;
  double busy_s = 0, running_s = 0, kv_peak = kNaN;
  for (const ServiceReport* const service : services) {
    for (const RequestResult& request : service->requests)
      if (request.arrival <= end) samples.add(request, service->targets);
    gaps += service->gaps;
    tokens += service->tokens;
    busy_s += service->busy.to_seconds();
    running_s += service->running_s;
    if (service->kv_peak) kv_peak = std::fmax(kv_peak, *service->kv_peak);
  }
  ServiceFigures figures;
  if (samples.requests > 0) add_requests(samples, static_cast<double>(tokens), end, figures);
  if (busy_s > 0) figures.mean_batch = running_s / busy_s;
  figures.kv_peak = kv_peak;
  if (gaps.count() > 0) figures.itl = {gaps.quantile(0.5).to_seconds(), gaps.quantile(0.99).to_seconds()};
  Staleness staleness;
  add_rl(services, staleness, figures);
  add_federated(services, staleness, figures);
  add_power(services, figures.power);
  if (staleness.of > 0) {
    figures.staleness_mean = static_cast<double>(staleness.sum) / static_cast<double>(staleness.of);
    figures.staleness_max = static_cast<double>(staleness.max);
  }
  return figures;
}

}  // namespace contend
