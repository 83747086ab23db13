#include "network/delay_ledger.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

DelayLedger::Watched* DelayLedger::find(std::size_t id) {
  return id < at_.size() && at_[id] > 0 ? &transfers_[at_[id] - 1] : nullptr;
}

void DelayLedger::begin(std::size_t id, JobId job, Time now) {
  if (at_.size() <= id) at_.resize(id + 1);
  transfers_.push_back({.id = id, .job = job, .since = now, .by = {}});
  at_[id] = transfers_.size();
}

void DelayLedger::end(std::size_t id, Time now) {
  Watched* const found = find(id);
  if (found == nullptr) return;
  settle(*found, now);
  if (found != &transfers_.back()) {
    *found = std::move(transfers_.back());
    at_[found->id] = at_[id];
  }
  transfers_.pop_back();
  at_[id] = 0;
}

double DelayLedger::lost_ns(const Watched& watched, Time now) {
  return watched.lost * static_cast<double>(std::max(now - watched.since, Time{}).ns());
}

void DelayLedger::settle(Watched& watched, Time now) {
  const double lost = lost_ns(watched, now);
  watched.since = std::max(watched.since, now);
  if (lost <= 0) return;
  for (const auto& [job, share] : watched.by) lost_ns_[{watched.job, job, watched.place}] += share * lost;
}

void DelayLedger::slowed(std::size_t id, Time now, Time from, double lost, std::size_t place,
                         std::span<const std::pair<JobId, double>> weights) {
  Watched* const watched = find(id);
  if (watched == nullptr) return;
  settle(*watched, now);
  watched->since = std::max(now, from);
  watched->by.clear();
  watched->lost = 0;
  double all = 0;
  for (const auto& [job, weight] : weights) all += weight;
  constexpr double kRounding = 1e-9;
  if (lost <= kRounding || all <= 0) return;
  watched->lost = lost;
  watched->place = place;
  for (const auto& [job, weight] : weights)
    if (weight > 0) watched->by.emplace_back(job, weight / all);
}

void DelayLedger::shift(std::size_t id, Time by) {
  if (Watched* const watched = find(id)) watched->since += by;
}

void DelayLedger::update(const MaxMinRates& rates, Time now, const std::function<double(FlowId)>& solo_rate,
                         const std::function<JobId(FlowId)>& job_of) {
  std::vector<std::pair<JobId, double>> weights;
  for (const Watched& watched : transfers_) {
    const FlowId flow{watched.id};
    const double alone = solo_rate(flow);
    const double lost = alone > 0 ? 1 - rates.rate(flow) / alone : 0;
    const LinkId link = rates.bottleneck(flow);
    weights.clear();
    if (lost > 0 && link.valid()) {
      std::map<JobId, double> sent;
      for (std::size_t i = 0; i < rates.flows_on(link); ++i) {
        const FlowId other = rates.flow_on(link, i);
        if (other == flow) continue;
        const auto links = rates.links(other);
        const auto use = std::ranges::find(links, link, &LinkShare::link);
        sent[job_of(other)] += use->share * rates.rate(other);
      }
      weights.assign(sent.begin(), sent.end());
    }
    slowed(watched.id, now, now, lost, link.valid() ? link.index() : 0, weights);
  }
}

DelayTotals DelayLedger::totals(JobId job, Time now) const {
  DelayTotals totals;
  for (auto at = lost_ns_.lower_bound(std::tuple{job, JobId{0U}, std::size_t{0}});
       at != lost_ns_.end() && std::get<0>(at->first) == job; ++at)
    totals[{std::get<1>(at->first), std::get<2>(at->first)}] = at->second;
  for (const Watched& watched : transfers_) {
    if (watched.job != job) continue;
    const double lost = lost_ns(watched, now);
    for (const auto& [by, share] : watched.by) totals[{by, watched.place}] += share * lost;
  }
  return totals;
}

void DelayLedger::leap(JobId job, const DelayTotals& then, const DelayTotals& now, std::int64_t times) {
  for (const auto& [where, lost] : now) {
    const auto before = then.find(where);
    const double more = lost - (before == then.end() ? 0 : before->second);
    if (more > 0) lost_ns_[{job, where.first, where.second}] += more * static_cast<double>(times);
  }
}

std::vector<SharedDelay> DelayLedger::delays(Time now) {
  for (Watched& watched : transfers_) settle(watched, now);
  std::vector<SharedDelay> all;
  for (const auto& [key, lost] : lost_ns_) {
    const auto& [job, by, place] = key;
    all.push_back({.job = job, .by = by, .link = place, .lost = Time::nanoseconds(std::llround(lost))});
  }
  std::stable_sort(all.begin(), all.end(), [](const SharedDelay& a, const SharedDelay& b) {
    return a.job != b.job ? a.job < b.job : a.lost > b.lost;
  });
  return all;
}

}  // namespace contend
