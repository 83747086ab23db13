#include "models/federated/compass_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace contend {

CompassLoop::CompassLoop(FederatedSpec spec) : ArrivalLoop{std::move(spec)}, known_(this->spec().clients.size()) {}

void CompassLoop::estimate(ClientNumber client, Time now) {
  const Work& done = work(client);
  const double ns = static_cast<double>((now - done.visit.begin).ns()) / static_cast<double>(done.steps);
  std::optional<double>& step_ns = known_[client].step_ns;
  step_ns = step_ns ? *step_ns + spec().compass.momentum * (ns - *step_ns) : ns;
}

void CompassLoop::arrived(ClientNumber client, Time now) {
  estimate(client, now);
  const std::optional<std::uint64_t> number = std::exchange(known_[client].group, std::nullopt);
  if (!number) {
    batches_.push_back({client});
    return serve_all(now);
  }
  const auto group = groups_.find(*number);
  group->second.awaited.erase(client);
  if (group->second.is_open) {
    group->second.there.push_back(client);
    if (group->second.awaited.empty()) close_group(group, now);
    return;
  }
  if (group->second.awaited.empty()) groups_.erase(group);
  keep(client);
  again(client, now);
}

void CompassLoop::left(ClientNumber client, Time now) {
  const std::optional<std::uint64_t> number = std::exchange(known_[client].group, std::nullopt);
  if (!number) return;
  const auto group = groups_.find(*number);
  group->second.awaited.erase(client);
  if (group->second.awaited.empty()) close_group(group, now);
}

void CompassLoop::timer(std::uint64_t id, Time now) {
  const auto group = groups_.find(id);
  if (group != groups_.end() && group->second.is_open) close_group(group, now);
}

void CompassLoop::close_group(Groups::iterator group, Time now) {
  group->second.is_open = false;
  std::vector<ClientNumber> there = std::exchange(group->second.there, {});
  if (group->second.awaited.empty()) groups_.erase(group);
  if (there.empty()) return;
  std::ranges::sort(there, {}, [&](ClientNumber each) { return std::pair{*known_[each].step_ns, each}; });
  batches_.push_back(std::move(there));
  serve_all(now);
}

ArrivalLoop::Batch CompassLoop::take(Time /*now*/) {
  if (batches_.empty()) return {};
  Batch batch{std::move(batches_.front()), true};
  batches_.pop_front();
  return batch;
}

void CompassLoop::free_batch(const std::vector<ClientNumber>& clients, Time now) {
  for (const ClientNumber client : clients) again(client, now);
}

std::int64_t CompassLoop::steps_for(ClientNumber client, Time now) {
  const CompassRule& rule = spec().compass;
  if (!known_[client].step_ns) return rule.most;
  const double step_ns = *known_[client].step_ns, now_ns = static_cast<double>(now.ns());
  if (const auto steps = join(client, step_ns, now_ns)) return *steps;
  const std::int64_t steps = steps_of_new(step_ns, now_ns);
  const double length_ns = static_cast<double>(steps) * step_ns;
  Group group{.expected_ns = now_ns + length_ns,
              .latest_ns = now_ns + rule.latest * length_ns,
              .awaited = {client},
              .there = {}};
  set_timer(Time::ceil_nanoseconds(group.latest_ns), groups_made_);
  groups_.emplace(groups_made_, std::move(group));
  known_[client].group = groups_made_++;
  return steps;
}

std::optional<std::int64_t> CompassLoop::join(ClientNumber client, double step_ns, double now_ns) {
  const CompassRule& rule = spec().compass;
  std::optional<std::int64_t> best;
  for (auto& [number, group] : groups_) {
    if (!group.is_open) continue;
    const double fits = std::floor((group.expected_ns - now_ns) / step_ns);
    if (fits < static_cast<double>(rule.least) || fits > static_cast<double>(rule.most)) continue;
    const auto steps = static_cast<std::int64_t>(fits);
    if (best && steps < *best) continue;
    best = steps;
    known_[client].group = number;
  }
  if (best) groups_.at(*known_[client].group).awaited.insert(client);
  return best;
}

std::int64_t CompassLoop::steps_of_new(double step_ns, double now_ns) const {
  const CompassRule& rule = spec().compass;
  const auto most = static_cast<double>(rule.most);
  double best = -1;
  for (const auto& [number, group] : groups_) {
    if (!group.is_open || now_ns >= group.latest_ns) continue;
    double fastest_ns = std::numeric_limits<double>::infinity();
    for (const ClientNumber each : group.awaited) fastest_ns = std::min(fastest_ns, *known_[each].step_ns);
    for (const ClientNumber each : group.there) fastest_ns = std::min(fastest_ns, *known_[each].step_ns);
    const double fits = std::floor((group.latest_ns + most * fastest_ns - now_ns) / step_ns);
    if (fits <= most) best = std::max(best, fits);
  }
  return best < 0 ? rule.most : std::max(rule.least, static_cast<std::int64_t>(best));
}

void CompassLoop::forget() {
  groups_.clear();
  batches_.clear();
  for (Known& each : known_) each.group.reset();
}

}  // namespace contend
