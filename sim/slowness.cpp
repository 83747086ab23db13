#include "sim/slowness.hpp"

#include "sim/cells.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

void check_slowness(const EngineState& state) {
  const FailureSpec& failures = state.options.failures;
  const auto check = [&](const std::optional<Slowdown>& slows) {
    if (!slows) return;
    for (const std::int32_t factor : {slows->compute, slows->network}) {
      if (factor < Slowdown::kFullPace || factor > Slowdown::kSlowest)
        throw InputError{fmt::format("a slowdown to {} thousandths of the time is not within 1 to 1000", factor)};
    }
    if (slows->network > Slowdown::kFullPace && !state.network->can_slow_down())
      throw InputError{"this network model can't slow transfers down: components may slow computing only"};
  };
  for (const ComponentClass& each : failures.components) check(each.slows);
  for (const Outage& each : failures.outages) check(each.slows);
  if (!failures.slows()) return;
  if (!state.options.interference.none())
    throw InputError{"interference and components that slow down can't be simulated together"};
  for (const JobSpec& job : state.workload.jobs) {
    if (job.duration)
      throw InputError{fmt::format(
          "job `{}` has a duration, and what slows components down changes the time of iterations only", job.name)};
  }
}

void add_to(std::vector<std::int32_t>& causes, std::int32_t factor) {
  causes.push_back(factor);
}

void remove_from(std::vector<std::int32_t>& causes, std::int32_t factor) {
  causes.erase(std::find(causes.begin(), causes.end(), factor));
}

std::int32_t slowest(const std::vector<std::int32_t>& causes) {
  return causes.empty() ? Slowdown::kFullPace : *std::max_element(causes.begin(), causes.end());
}

}  // namespace

Slowness::Slowness(EngineState& state) : state_{state} {
  check_slowness(state);
  const FailureSpec& failures = state.options.failures;
  if (!failures.slows()) return;
  if (failures.jitter > 0) {
    state.jitter.reserve(state.gpus());
    for (std::size_t g = 0; g < state.gpus(); ++g)
      state.jitter.emplace_back(failures.seed, fmt::format("failures/jitter/{}", g));
  }
  of_gpu_.resize(state.gpus());
  of_server_.resize(state.servers());
  state.gpu_slowness.assign(state.gpus(), Slowdown::kFullPace);
  state.server_slowness.assign(state.servers(), Slowdown::kFullPace);
}

void Slowness::change(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown, Change how) {
  const auto per_server = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  for (std::uint32_t g = first; g < last; ++g) {
    how(of_gpu_[g], slowdown.compute);
    changed_gpus_.emplace_back(g);
  }
  for (std::uint32_t s = first / per_server; s <= (last - 1) / per_server; ++s) {
    how(of_server_[s], slowdown.network);
    changed_servers_.emplace_back(s);
  }
}

void Slowness::begin(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown) {
  change(first, last, slowdown, add_to);
}

void Slowness::end(std::uint32_t first, std::uint32_t last, const Slowdown& slowdown) {
  change(first, last, slowdown, remove_from);
}

void Slowness::settle() {
  const auto each_once = [](auto& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  each_once(changed_gpus_);
  each_once(changed_servers_);
  if (state_.options.failures.mitigation.any()) {
    const auto per_server = static_cast<std::size_t>(state_.spec.gpus_per_server);
    for (const GpuId gpu : changed_gpus_) state_.jobs_on(gpu, affected_);
    for (const ServerId server : changed_servers_)
      for (std::size_t g = server.index() * per_server; g < (server.index() + 1) * per_server; ++g)
        state_.jobs_on(GpuId{g}, affected_);
  }
  for (const GpuId gpu : changed_gpus_) {
    state_.gpu_slowness[gpu.index()] = slowest(of_gpu_[gpu.index()]);
    update_slowness(state_, gpu);
  }
  std::erase_if(changed_servers_, [&](ServerId server) {
    const std::int32_t now = slowest(of_server_[server.index()]);
    return std::exchange(state_.server_slowness[server.index()], now) == now;
  });
  changed_gpus_.clear();
  if (changed_servers_.empty()) return;
  for (std::size_t t = 0; t < state_.in_network.size(); ++t) {
    const std::optional<Traffic>& traffic = state_.in_network[t];
    if (traffic) state_.network->slow_down(TransferId{t}, state_.slowness_of(*traffic), state_.clock);
  }
  for (const ServerId server : changed_servers_) forget_saved_state(state_, server);
  changed_servers_.clear();
}

}  // namespace contend
