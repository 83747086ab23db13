// The part of Outages that keeps spares: servers that are out of service until others fail (FailureSpec::spares).

#include "sim/outages.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace contend {

void Outages::withhold_spares() {
  working_ = static_cast<std::int64_t>(servers_.size());
  const auto servers = static_cast<std::uint32_t>(servers_.size());
  const std::uint32_t first_cold = servers - static_cast<std::uint32_t>(spec_.cold_spares);
  for (std::uint32_t s = first_cold - static_cast<std::uint32_t>(spec_.spares); s < servers; ++s) {
    vacate(s);
    withhold(vacating_.back(), OutReason::spare);
    keep_as_spare(s, s < first_cold ? Role::hot : Role::cold);
  }
  vacating_.clear();
}

/// To be called of a server whose GPUs have all been withheld.
void Outages::keep_as_spare(std::uint32_t server, Role role) {
  servers_[server].role = role;
  --working_;
  settle_spare(server);
}

std::int64_t Outages::wanted() const {
  return static_cast<std::int64_t>(servers_.size()) - spec_.spares - spec_.cold_spares;
}

/// Has the server become a spare as soon as jobs have left it.
void Outages::vacate(std::uint32_t server) {
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  vacating_.push_back({server, server * per_server, std::vector<bool>(per_server)});
}

/// Puts back what has been withheld of the server, if it was to become a spare.
void Outages::stay_in_service(std::uint32_t server) {
  const auto at = std::ranges::find(vacating_, server, &Draining::of);
  if (at == vacating_.end()) return;
  const Draining was = std::move(*at);
  vacating_.erase(at);
  for (std::size_t i = 0; i < was.withheld.size(); ++i)
    if (was.withheld[i]) remove_cause(GpuId{was.first + i}, OutReason::spare);
  admission_.room_has_grown();
}

/// Keeps servers as spares of which all GPUs are withheld: as a hot one if one is missing.
void Outages::keep_vacated() {
  std::erase_if(vacating_, [this](const Draining& each) {
    if (std::ranges::find(each.withheld, false) != each.withheld.end()) return false;
    const bool is_missing = std::ssize(hot_) + std::ssize(warming_) < spec_.spares;
    keep_as_spare(each.of, is_missing || spec_.cold_spares == 0 ? Role::hot : Role::cold);
    return true;
  });
}

/// Puts a spare that works into its pool. A hot one that came back after another took its place becomes cold.
void Outages::settle_spare(std::uint32_t server) {
  Role& role = servers_[server].role;
  if (role == Role::hot && std::ssize(hot_) + std::ssize(warming_) >= spec_.spares) role = Role::cold;
  if (role == Role::hot) hot_.insert(server);
  if (role == Role::warming) warming_.insert(server);
  if (role != Role::cold) return;
  cold_.insert(server);
  suspend(server);
}

/// The components that belong to this server alone.
std::vector<std::uint32_t> Outages::only_on(std::uint32_t server) const {
  std::vector<std::uint32_t> found;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::size_t kind = 0; kind < spec_.components.size(); ++kind) {
    const auto width = static_cast<std::uint32_t>(spec_.components[kind].gpus);
    for (std::uint32_t c = server * per_server / width; c <= ((server + 1) * per_server - 1) / width; ++c) {
      const Component& component = components_[first_of_kind_[kind] + c];
      if (component.first >= server * per_server && component.last <= (server + 1) * per_server)
        found.push_back(first_of_kind_[kind] + c);
    }
  }
  return found;
}

/// True if the component belongs to a cold spare alone.
bool Outages::is_cold(const Component& component) const {
  if (spec_.cold_spares == 0 || component.kind == kOutage) return false;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::uint32_t server = component.first / per_server;
  return servers_[server].role == Role::cold && component.last <= (server + 1) * per_server;
}

/// Stops the clocks of the components of a cold spare that work.
void Outages::suspend(std::uint32_t server) {
  for (const std::uint32_t c : only_on(server)) {
    if (components_[c].is_down || next_of_[c] == Time::never()) continue;
    components_[c].left = next_of_[c] - state_.clock;
    next_of_[c] = Time::never();
  }
}

void Outages::resume(std::uint32_t server) {
  for (const std::uint32_t c : only_on(server)) {
    const Time left = components_[c].left;
    if (!components_[c].is_down && left < kEndOfClock - state_.clock) schedule(state_.clock + left, c);
  }
}

/// Has a spare become what `role` says: warming, or starting to take a place.
void Outages::start_spare(std::uint32_t server, Role role, Time delay) {
  if (servers_[server].role == Role::cold) resume(server);
  for (auto* const pool : {&hot_, &warming_, &cold_}) pool->erase(server);
  servers_[server].role = role;
  if (role == Role::warming) warming_.insert(server);
  if (delay == Time{}) return on_started(server);
  schedule(state_.clock + delay, static_cast<std::uint32_t>(components_.size()) + server);
}

void Outages::on_started(std::uint32_t server) {
  if (servers_[server].role != Role::warming) return put_into_service(server);
  warming_.erase(server);
  servers_[server].role = Role::hot;
  if (servers_[server].broken == 0) settle_spare(server);
}

void Outages::put_into_service(std::uint32_t server) {
  servers_[server].role = Role::active;
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t g = server * per_server; g < (server + 1) * per_server; ++g)
    remove_cause(GpuId{g}, OutReason::spare);
  admission_.room_has_grown();
}

/// Has spares take the places of servers that failed: hot ones, then those that start already, then cold ones, and of
/// each the first. Before that, servers that were to become spares stay in service. At last, cold ones start for the
/// hot ones that are missing.
void Outages::replace_failed() {
  while (std::ssize(vacating_) > std::max<std::int64_t>(0, working_ - wanted())) stay_in_service(vacating_.back().of);
  for (; working_ < wanted() && !(hot_.empty() && warming_.empty() && cold_.empty()); ++working_) {
    if (!hot_.empty()) {
      start_spare(*hot_.begin(), Role::starting, spec_.spare_delay);
    } else if (!warming_.empty()) {  // its start is on the list
      servers_[*warming_.begin()].role = Role::starting;
      warming_.erase(warming_.begin());
    } else {
      start_spare(*cold_.begin(), Role::starting, spec_.cold_delay);
    }
  }
  while (std::ssize(hot_) + std::ssize(warming_) < spec_.spares && !cold_.empty())
    start_spare(*cold_.begin(), Role::warming, spec_.cold_delay);
}

}  // namespace contend
