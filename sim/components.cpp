#include "sim/components.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace contend {

Components::Components(const EngineState& state, Agenda& agenda)
    : state_{state},
      spec_{state.options.failures},
      agenda_{agenda},
      per_server_{static_cast<std::uint32_t>(state.spec.gpus_per_server)} {
  const auto servers = static_cast<std::uint32_t>(state.servers());
  if (spec_.cold_spares > 0) is_cold_.resize(servers);
  for (const ComponentClass& each : spec_.components) add_class(each);
  first_lent_ = static_cast<std::uint32_t>(all_.size());
  for (std::uint32_t s = servers - static_cast<std::uint32_t>(spec_.loans.servers); s < servers; ++s)
    add({.gpus = {s * per_server_, (s + 1) * per_server_}, .reason = OutReason::not_lent});
  if (!spec_.outages.empty()) listed_.resize(servers);
  for (const Outage& each : spec_.outages) {
    const GpuRange gpus{each.first, each.last};
    const ServerRange on = servers_of(gpus);
    for (std::uint32_t s = on.first; s < on.last; ++s) listed_[s].push_back(static_cast<std::uint32_t>(all_.size()));
    add({.gpus = gpus,
         .outage = &each,
         .reason = each.drain ? OutReason::drained : OutReason::failed,
         .slows = each.slows ? &*each.slows : nullptr,
         .found_by = each.found_by});
  }
}

void Components::add(Component component) {
  all_.push_back(component);
  agenda_.add_component();
}

void Components::add_class(const ComponentClass& of) {
  const auto all = static_cast<std::uint32_t>(state_.gpus()), width = static_cast<std::uint32_t>(of.gpus);
  first_of_class_.push_back(static_cast<std::uint32_t>(all_.size()));
  for (std::uint32_t first = 0, next = 0; first < all; first = next) {
    next = first + std::min(width, all - first);
    GpuRange gpus{first, next};
    if (of.drains && !of.slows) gpus = whole_servers(gpus);
    lives_.push_back({RandomStream{spec_.seed, fmt::format("failures/{}/{}", of.name, first / width)}});
    add({.gpus = gpus,
         .of = &of,
         .slows = of.slows ? &*of.slows : nullptr,
         .found_by = of.found_by,
         .is_absent = !has_gpu(state_.spec, GpuId{first})});
  }
}

void Components::begin() {
  for (std::uint32_t c = 0; c < all_.size(); ++c) {
    const Component& component = all_[c];
    if (component.of != nullptr) {
      lives_[c].left = component.is_absent ? Time::never() : component.of->failure.draw(lives_[c].stream);
      if (!is_suspended(c)) agenda_.schedule(lives_[c].left, Agenda::Kind::turn, c);
    } else if (component.outage != nullptr) {
      agenda_.schedule(component.outage->from, Agenda::Kind::turn, c);
      if (component.outage->drain) agenda_.schedule(*component.outage->drain, Agenda::Kind::drain, c);
    }
  }
}

GpuRange Components::whole_servers(GpuRange gpus) const {
  return {gpus.first / per_server_ * per_server_, (gpus.last + per_server_ - 1) / per_server_ * per_server_};
}

GpuRange Components::out_with(std::uint32_t component) const {
  return all_[component].is_isolated ? isolated_with(component) : all_[component].gpus;
}

GpuRange Components::isolated_with(std::uint32_t component) const {
  const Component& slow = all_[component];
  return slow.of != nullptr && slow.of->drains ? whole_servers(slow.gpus) : slow.gpus;
}

std::vector<std::uint32_t> Components::slow_under(std::span<const GpuId> gpus) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t c = 0; c < all_.size(); ++c) {
    if (!all_[c].is_slow()) continue;
    GpuRange range = all_[c].gpus;
    if (all_[c].slows->compute == Slowdown::kFullPace) range = whole_servers(range);  // it slows transfers only
    if (std::ranges::any_of(gpus, [&](GpuId gpu) { return range.holds(gpu); })) found.push_back(c);
  }
  return found;
}

Time Components::next_on(ServerId server) const {
  Time next = Time::never();
  const std::uint32_t first = server.value() * per_server_, last = first + per_server_ - 1;
  for (std::size_t of = 0; of < spec_.components.size(); ++of) {
    const auto width = static_cast<std::uint32_t>(spec_.components[of].gpus);
    for (std::uint32_t c = first / width; c <= last / width; ++c)
      next = std::min(next, agenda_.next_of(first_of_class_[of] + c));
  }
  if (listed_.empty()) return next;
  for (const std::uint32_t c : listed_[server.index()]) next = std::min(next, agenda_.next_of(c));
  return next;
}

std::string Components::name_of_failure(std::uint32_t component) const {
  const Component& failed = all_[component];
  if (failed.is_isolated) return failed.of != nullptr ? failed.of->name + ", which is slow," : "a slow component";
  if (failed.of != nullptr) return failed.of->name;
  if (failed.outage == nullptr) return "the owner takes back the GPUs";
  return failed.is_planned() ? "a planned outage" : "an outage";
}

SlowGpus Components::slow_gpus(std::uint32_t component) const {
  const Component& slow = all_[component];
  const std::string_view name = slow.of != nullptr ? std::string_view{slow.of->name} : "an event";
  return {name, slow.gpus.first, slow.gpus.last, slow.slowest()};
}

void Components::turn(std::uint32_t index) {
  Component& component = all_[index];
  component.is_down = !component.is_down;
  if (component.outage != nullptr && component.is_down)
    agenda_.schedule(component.outage->until, Agenda::Kind::turn, index);
  if (component.of == nullptr) return;
  Life& life = lives_[index];
  life.left = (component.is_down ? component.of->repair : component.of->failure).draw(life.stream);
  if (!component.is_down && is_suspended(index)) return;
  if (life.left < kEndOfClock - state_.clock) agenda_.schedule(state_.clock + life.left, Agenda::Kind::turn, index);
}

/// The components that belong to this server alone.
std::vector<std::uint32_t> Components::only_on(std::uint32_t server) const {
  std::vector<std::uint32_t> found;
  const std::uint32_t first = server * per_server_, last = first + per_server_;
  for (std::size_t of = 0; of < spec_.components.size(); ++of) {
    const auto width = static_cast<std::uint32_t>(spec_.components[of].gpus);
    for (std::uint32_t c = first_of_class_[of] + first / width; c <= first_of_class_[of] + (last - 1) / width; ++c)
      if (all_[c].gpus.first >= first && all_[c].gpus.last <= last) found.push_back(c);
  }
  return found;
}

bool Components::is_suspended(std::uint32_t component) const {
  if (is_cold_.empty()) return false;
  const auto servers = servers_of(all_[component].gpus);
  return servers.size() == 1 && is_cold_[servers.first];
}

void Components::suspend(std::uint32_t server) {
  is_cold_[server] = true;
  for (const std::uint32_t c : only_on(server)) {
    if (all_[c].is_down || agenda_.turn_of(c) == Time::never()) continue;
    lives_[c].left = agenda_.turn_of(c) - state_.clock;
    agenda_.schedule(Time::never(), Agenda::Kind::turn, c);
  }
}

void Components::resume(std::uint32_t server) {
  is_cold_[server] = false;
  for (const std::uint32_t c : only_on(server)) {
    const Time left = lives_[c].left;
    if (!all_[c].is_down && left < kEndOfClock - state_.clock)
      agenda_.schedule(state_.clock + left, Agenda::Kind::turn, c);
  }
}

}  // namespace contend
