#include "sim/lent_servers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace contend {

LentServers::LentServers(EngineState& state, Admission& admission, Agenda& agenda, const Components& components)
    : state_{state},
      spec_{state.options.failures.loans},
      admission_{admission},
      agenda_{agenda},
      components_{components},
      first_{static_cast<std::uint32_t>(state.servers()) - static_cast<std::uint32_t>(spec_.servers)},
      end_{static_cast<std::uint32_t>(state.servers())},
      stream_{state.options.failures.seed, "loans"} {}

void LentServers::schedule() {
  if (!spec_.any()) return;
  next_ = Time::never();
  if (next_change_ == spec_.changes.size() && spec_.period < Time::never()) {
    if (spec_.period >= kEndOfClock - begin_) return;
    next_change_ = 0;
    begin_ += spec_.period;
  }
  if (next_change_ < spec_.changes.size()) next_ = begin_ + spec_.changes[next_change_].at;
  agenda_.schedule(next_, Agenda::Kind::loans, 0);
}

std::vector<std::uint32_t> LentServers::change() {
  int more = spec_.changes[next_change_++].lent;
  for (std::uint32_t s = first_; s < end_; ++s)
    if (is_lent(s)) --more;
  std::vector<std::uint32_t> turning;
  for (std::uint32_t s = first_; std::ssize(turning) < more; ++s)
    if (!is_lent(s)) turning.push_back(component_of(s));
  if (more < 0) turning = choose_reclaimed(-more);
  schedule();
  return turning;
}

/// The components of so many lent servers that go back.
std::vector<std::uint32_t> LentServers::choose_reclaimed(int count) {
  const auto width = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  std::vector<std::uint32_t> lent;
  std::map<JobId, LoanGuest> guests;
  std::vector<JobId> on_gpu;
  for (std::uint32_t s = first_; s < end_; ++s) {
    if (!is_lent(s)) continue;
    lent.push_back(s);
    for (std::uint32_t g = s * width; g < (s + 1) * width; ++g) {
      on_gpu.clear();
      state_.jobs_on(GpuId{g}, on_gpu);
      for (const JobId job : on_gpu) ++guests[job].gpus[s];
    }
  }
  std::vector<LoanGuest> all;
  for (auto& [job, guest] : guests) {
    const JobRun& run = state_.run(job);
    std::set<std::uint32_t> servers;
    for (const GpuId gpu : run.gpus) servers.insert(gpu.value() / width);
    guest.servers = static_cast<int>(servers.size());
    guest.held = guest.least = static_cast<int>(run.gpus.size());
    if (const auto sizes = state_.sizes_of(job); !sizes.empty()) guest.least = std::min(guest.least, sizes.front());
    all.push_back(std::move(guest));
  }
  std::vector<std::uint32_t> chosen = servers_to_return(std::move(lent), std::move(all), count, spec_.reclaim, stream_);
  for (std::uint32_t& each : chosen) each = component_of(each);
  return chosen;
}

Time LentServers::next_on(ServerId server) const {
  return first_ <= server.value() && server.value() < end_ ? next_ : Time::never();
}

bool LentServers::shrinks(JobId job, std::span<const GpuId> lost) {
  if (!spec_.any()) return false;
  for (const GpuId gpu : state_.run(job).gpus)
    if (state_.server_of(gpu).value() < first_ && std::ranges::find(lost, gpu) != lost.end())
      return false;  // maintenance
  return admission_.shrinks(job, lost);
}

}  // namespace contend
