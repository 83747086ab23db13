#include "network/delay_ledger.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

void DelayLedger::begin(FlowId flow, JobId job, Time now) {
  flows_.push_back({.flow = flow, .job = job, .since = now, .link = LinkId::none(), .by = {}});
}

void DelayLedger::end(FlowId flow, Time now) {
  const auto found = std::ranges::find(flows_, flow, &Watched::flow);
  if (found == flows_.end()) return;
  settle(*found, now);
  flows_.erase(found);
}

void DelayLedger::settle(Watched& watched, Time now) {
  const double lost_ns = watched.lost * static_cast<double>((now - watched.since).ns());
  watched.since = now;
  if (lost_ns <= 0) return;
  for (const auto& [job, share] : watched.by) lost_ns_[{watched.job, job, watched.link}] += share * lost_ns;
}

void DelayLedger::update(const MaxMinRates& rates, Time now, const std::function<double(FlowId)>& solo_rate,
                         const std::function<JobId(FlowId)>& job_of) {
  constexpr double kRounding = 1e-9;
  for (Watched& watched : flows_) {
    settle(watched, now);
    watched.by.clear();
    const double alone = solo_rate(watched.flow);
    watched.lost = alone > 0 ? 1 - rates.rate(watched.flow) / alone : 0;
    watched.link = rates.bottleneck(watched.flow);
    if (watched.lost <= kRounding || !watched.link.valid()) {
      watched.lost = 0;
      continue;
    }
    std::map<JobId, double> sent;
    double all = 0;
    for (std::size_t i = 0; i < rates.flows_on(watched.link); ++i) {
      const FlowId other = rates.flow_on(watched.link, i);
      if (other == watched.flow) continue;
      const auto links = rates.links(other);
      const auto use = std::ranges::find(links, watched.link, &LinkShare::link);
      const double load = use->share * rates.rate(other);
      sent[job_of(other)] += load;
      all += load;
    }
    for (const auto& [job, load] : sent)
      if (load > 0) watched.by.emplace_back(job, load / all);
  }
}

std::vector<SharedDelay> DelayLedger::delays(Time now) {
  for (Watched& watched : flows_) settle(watched, now);
  std::vector<SharedDelay> all;
  for (const auto& [key, lost_ns] : lost_ns_) {
    const auto& [job, by, link] = key;
    all.push_back({.job = job, .by = by, .link = link.index(), .lost = Time::nanoseconds(std::llround(lost_ns))});
  }
  std::stable_sort(all.begin(), all.end(), [](const SharedDelay& a, const SharedDelay& b) {
    return a.job != b.job ? a.job < b.job : a.lost > b.lost;
  });
  return all;
}

}  // namespace contend
