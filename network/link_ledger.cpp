#include "network/link_ledger.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace contend {

void FlowHistory::sent(Time from, Time to, double bytes, Time interval) {
  bytes_ += bytes;
  if (interval <= Time{}) return;
  const double rate = bytes / static_cast<double>((to - from).ns());
  while (from < to) {
    const std::int64_t index = from.ns() / interval.ns();
    const Time end = std::min(to, (index + 1) * interval);
    if (intervals_.empty() || intervals_.back().first < index) intervals_.emplace_back(index, 0.0);
    auto at = std::prev(intervals_.end());
    if (at->first != index) at = std::ranges::lower_bound(intervals_, index, {}, [](const auto& i) { return i.first; });
    at->second += rate * static_cast<double>((end - from).ns());
    from = end;
  }
}

LinkLedger::LinkLedger(const Topology& topology, Time interval)
    : topology_{topology}, interval_{interval}, links_(topology.links().size()) {}

void LinkLedger::enter(std::span<const LinkShare> links, Time now) {
  for (const LinkShare& use : links) {
    LinkAccount& link = links_[use.link.index()];
    if (link.moving++ == 0) link.since = now;
  }
}

void LinkLedger::leave(std::span<const LinkShare> links, Time now) {
  for (const LinkShare& use : links) {
    LinkAccount& link = links_[use.link.index()];
    if (--link.moving == 0) link.busy += now - link.since;
  }
}

void LinkLedger::set_factor(LinkId link, double factor, Time when) {
  links_[link.index()].factors.emplace_back(when, factor);
}

double LinkLedger::full_time(const LinkAccount& link, Time from, Time to) {
  double seconds = 0;
  auto next = std::ranges::upper_bound(link.factors, from, {}, [](const auto& change) { return change.first; });
  double factor = next == link.factors.begin() ? 1 : std::prev(next)->second;
  for (; next != link.factors.end() && next->first < to; ++next) {
    seconds += factor * (next->first - from).to_seconds();
    from = next->first;
    factor = next->second;
  }
  return seconds + factor * (to - from).to_seconds();
}

Time LinkLedger::time_between(const LinkAccount& link, double least, double below, Time to) {
  Time sum;
  for (std::size_t i = 0; i < link.factors.size(); ++i) {
    const auto& [from, factor] = link.factors[i];
    const Time until = i + 1 < link.factors.size() ? std::min(link.factors[i + 1].first, to) : to;
    if (factor >= least && factor < below && until > from) sum += until - from;
  }
  return sum;
}

void LinkLedger::add(JobId job, std::span<const LinkShare> links, const FlowHistory& history) {
  if (history.bytes() <= 0) return;
  for (const LinkShare& use : links) {
    LinkAccount& link = links_[use.link.index()];
    const double bytes = use.share * history.bytes();
    link.bytes += bytes;
    const auto user = std::lower_bound(link.users.begin(), link.users.end(), job,
                                       [](const FabricLinkResult::User& u, JobId id) { return u.job < id; });
    if (user != link.users.end() && user->job == job) {
      user->bytes += bytes;
    } else {
      link.users.insert(user, {job, bytes});
    }
    for (const auto& [index, sent] : history.intervals()) link.intervals.push_back({index, job, use.share * sent});
  }
}

double LinkLedger::utilisation(std::size_t link, double bytes, Time from, Time to) const {
  const double full = full_time(links_[link], from, to);
  return full > 0 ? bytes / (topology_.links()[link].bandwidth.bytes_per_second() * full) : 0;
}

void LinkLedger::write(Time now, NetworkReport& report) const {
  report.interval = interval_;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const LinkAccount& account = links_[l];
    FabricLinkResult link;
    link.name = topology_.link_name(LinkId{l});
    link.bandwidth = topology_.links()[l].bandwidth.bytes_per_second();
    link.bytes = account.bytes;
    link.busy = busy(LinkId{l}, now);
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    link.down = time_between(account, 0, kLeast, now);
    link.reduced = time_between(account, kLeast, 1, now);
    link.utilisation = utilisation(l, link.bytes, Time{}, now);
    link.users = account.users;
    std::stable_sort(link.users.begin(), link.users.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    auto intervals = account.intervals;
    std::ranges::stable_sort(intervals, {}, &Sent::interval);
    for (std::size_t i = 0; i < intervals.size();) {
      const std::int64_t index = intervals[i].interval;
      double bytes = 0;
      for (; i < intervals.size() && intervals[i].interval == index; ++i) bytes += intervals[i].bytes;
      const Time start = index * interval_;
      const Time end = std::min(now, start + interval_);
      if (end > start) report.samples.push_back({l, start, utilisation(l, bytes, start, end)});
    }
    report.links.push_back(std::move(link));
  }
}

std::vector<LinkUseSample> LinkLedger::uses(Time now) const {
  std::vector<LinkUseSample> uses;
  for (std::size_t l = 0; l < links_.size(); ++l) {
    std::map<std::pair<JobId, std::int64_t>, double> sent;
    for (const Sent& each : links_[l].intervals) sent[{each.job, each.interval}] += each.bytes;
    for (const auto& [where, bytes] : sent) {
      const Time start = where.second * interval_;
      const Time end = std::min(now, start + interval_);
      if (end > start) uses.push_back({l, where.first, start, utilisation(l, bytes, start, end)});
    }
  }
  return uses;
}

}  // namespace contend
