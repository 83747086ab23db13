#include "sim/spares.hpp"

#include "sim/cluster_parts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace contend {

Spares::Spares(EngineState& state, Admission& admission, Agenda& agenda, Components& components, GpusInService& gpus)
    : state_{state},
      spec_{state.options.failures},
      admission_{admission},
      agenda_{agenda},
      components_{components},
      gpus_{gpus},
      per_server_{static_cast<std::uint32_t>(state.spec.gpus_per_server)},
      servers_(spec_.any() ? state.servers() : 0),
      pool_{servers_with_spares(state.spec)},
      working_{static_cast<std::int64_t>(pool_.size())},
      wanted_{working_ - spec_.all_spares()},
      missing_(std::max<std::size_t>(state.spec.types.size(), 1)) {}

std::int64_t& Spares::missing_like(std::uint32_t server) {
  return missing_[static_cast<std::size_t>(std::max(0, type_of(state_.spec, ServerId{server})))];
}

/// One more or fewer server works.
void Spares::count(std::uint32_t server, int change) {
  if (!is_of_owner(server)) return;
  working_ += change;
  missing_like(server) -= change;
}

/// The first of a type that is missing, else the first.
std::uint32_t Spares::best_of(const std::set<std::uint32_t>& pool) {
  const auto own = std::ranges::find_if(pool, [this](std::uint32_t server) { return missing_like(server) > 0; });
  return own == pool.end() ? *pool.begin() : *own;
}

/// The server that is one too many now that this one is back: itself, or the last of another type that took its place.
std::uint32_t Spares::stand_in_for(std::uint32_t server) {
  const auto is_extra = [this](std::uint32_t each) {
    return is_of_owner(each) && missing_like(each) < 0 && servers_[each].role == Role::active &&
           servers_[each].works() && std::ranges::find(vacating_, each, &Draining::of) == vacating_.end();
  };
  if (is_extra(server)) return server;
  for (std::uint32_t other = static_cast<std::uint32_t>(servers_.size()); other-- > 0;)
    if (is_extra(other)) return other;
  return server;
}

void Spares::withhold() {
  const auto servers = static_cast<std::uint32_t>(servers_.size());
  const std::uint32_t first_cold = servers - static_cast<std::uint32_t>(spec_.cold_spares);
  for (std::uint32_t s = first_cold - static_cast<std::uint32_t>(spec_.spares); s < servers; ++s) {
    vacate(s);
    vacating_.back().withhold_free(gpus_);
    keep(s, s < first_cold ? Role::hot : Role::cold);
  }
  vacating_.clear();
  std::ranges::fill(missing_, 0);
}

/// Has the server become a spare as soon as jobs have left it.
void Spares::vacate(std::uint32_t server) {
  vacating_.emplace_back(server, server * per_server_, per_server_, OutReason::spare);
}

/// Puts back what has been withheld of the server, if it was to become a spare.
void Spares::stay_in_service(std::uint32_t server) {
  const auto at = std::ranges::find(vacating_, server, &Draining::of);
  if (at == vacating_.end()) return;
  const Draining was = std::move(*at);
  vacating_.erase(at);
  was.undo(gpus_);
  admission_.room_has_grown();
}

/// To be called of a server whose GPUs have all been withheld.
void Spares::keep(std::uint32_t server, Role role) {
  servers_[server].role = role;
  count(server, -1);
  settle(server);
}

void Spares::withhold_free() {
  for (Draining& each : vacating_) each.withhold_free(gpus_);
  std::erase_if(vacating_, [this](const Draining& each) {
    if (each.is_over()) keep(each.of(), lacks_hot() || spec_.cold_spares == 0 ? Role::hot : Role::cold);
    return each.is_over();
  });
}

/// Puts a spare that works into its pool. A hot one that came back after another took its place becomes cold.
void Spares::settle(std::uint32_t server) {
  Role& role = servers_[server].role;
  if (role == Role::hot && !lacks_hot()) role = Role::cold;
  if (role == Role::hot) hot_.insert(server);
  if (role == Role::warming) warming_.insert(server);
  if (role != Role::cold) return;
  cold_.insert(server);
  components_.suspend(server);
}

void Spares::leave_pools(std::uint32_t server) {
  for (auto* const pool : {&hot_, &warming_, &cold_}) pool->erase(server);
}

/// Has a spare become what `role` says: warming, or starting to take a place.
void Spares::start(std::uint32_t server, Role role, Time delay) {
  if (servers_[server].role == Role::cold) components_.resume(server);
  leave_pools(server);
  servers_[server].role = role;
  if (role == Role::warming) warming_.insert(server);
  if (delay == Time{}) return on_started(server);
  agenda_.schedule(state_.clock + delay, Agenda::Kind::spare, server);
}

void Spares::on_started(std::uint32_t server) {
  if (servers_[server].role != Role::warming) return put_into_service(server);
  warming_.erase(server);
  servers_[server].role = Role::hot;
  if (servers_[server].broken == 0) settle(server);
}

void Spares::put_into_service(std::uint32_t server) {
  servers_[server].role = Role::active;
  for (std::uint32_t g = server * per_server_; g < (server + 1) * per_server_; ++g)
    gpus_.remove_cause(GpuId{g}, OutReason::spare);
  admission_.room_has_grown();
}

void Spares::on_failed(std::uint32_t server) {
  stay_in_service(server);
  if (servers_[server].works()) count(server, -1);
  leave_pools(server);
  ++servers_[server].broken;
}

void Spares::on_repaired(std::uint32_t server) {
  if (--servers_[server].broken > 0) return;
  if (!servers_[server].works()) return settle(server);
  count(server, 1);
  if (is_of_owner(server) && working_ > wanted_ && !call_back() && servers_[server].role == Role::active)
    vacate(stand_in_for(server));  // another one has taken its place
}

/// Has a spare that is on its way to a place become one that is warming, if its place is taken. Of several the last.
bool Spares::call_back() {
  for (std::uint32_t server = static_cast<std::uint32_t>(servers_.size()); server-- > 0;) {
    if (servers_[server].role != Role::starting || !servers_[server].works() || missing_like(server) >= 0) continue;
    count(server, -1);
    servers_[server].role = Role::warming;  // its start is on the list
    warming_.insert(server);
    return true;
  }
  return false;
}

void Spares::replace_failed() {
  while (std::ssize(vacating_) > std::max<std::int64_t>(0, working_ - wanted_)) stay_in_service(vacating_.back().of());
  while (working_ < wanted_ && !(hot_.empty() && warming_.empty() && cold_.empty())) {
    const std::uint32_t spare = best_of(!hot_.empty() ? hot_ : !warming_.empty() ? warming_ : cold_);
    count(spare, 1);
    if (warming_.erase(spare) > 0)
      servers_[spare].role = Role::starting;  // its start is on the list
    else
      start(spare, Role::starting, hot_.contains(spare) ? spec_.spare_delay : spec_.cold_delay);
  }
  while (lacks_hot() && !cold_.empty()) start(*cold_.begin(), Role::warming, spec_.cold_delay);
}

}  // namespace contend
