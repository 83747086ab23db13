// The part of Outages that lends servers and takes them back (sim/loans.hpp). Each server that may be lent is a
// component, which is down while it is not lent.

#include "sim/outages.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace contend {

void Outages::add_loans() {
  const auto width = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const auto all = static_cast<std::uint32_t>(servers_.size());
  first_lent_ = static_cast<std::uint32_t>(components_.size());
  for (std::uint32_t s = all - static_cast<std::uint32_t>(spec_.loans.servers); s < all; ++s) {
    listed_[s].push_back(static_cast<std::uint32_t>(components_.size()));
    components_.push_back({s * width, (s + 1) * width, kLoan, false, RandomStream{spec_.seed, "loans"}});
  }
}

std::uint32_t Outages::change_of_loans() const {
  return static_cast<std::uint32_t>(3 * components_.size() + servers_.size());
}

/// Schedules the change at that place of the list, of the period that has begun.
void Outages::schedule_loans() {
  const LoanSpec& loans = spec_.loans;
  if (next_change_ == loans.changes.size() && loans.period < Time::never()) {
    next_change_ = 0;
    if (loans.period >= kEndOfClock - loans_begin_) return;
    loans_begin_ += loans.period;
  }
  const Time next = next_change_ < loans.changes.size() ? loans_begin_ + loans.changes[next_change_].at : Time::never();
  schedule(next, change_of_loans());
  for (int i = 0; i < loans.servers; ++i) next_of_[first_lent_ + static_cast<std::uint32_t>(i)] = next;
}

/// Has the servers turn that are lent from now on, or go back.
void Outages::change_loans() {
  const LoanSpec& loans = spec_.loans;
  int more = loans.changes[next_change_++].lent;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loans.servers); ++i)
    if (!components_[first_lent_ + i].is_down) --more;
  for (std::uint32_t c = first_lent_; more > 0; ++c) {
    if (!components_[c].is_down) continue;
    turning_.push_back(c);
    --more;
  }
  if (more < 0) choose_reclaimed(-more);
  schedule_loans();
}

/// Adds so many lent servers to those that turn at this instant.
void Outages::choose_reclaimed(int count) {
  const auto width = static_cast<std::uint32_t>(state_.spec.gpus_per_server);
  const std::uint32_t first = components_[first_lent_].first / width;
  std::vector<std::uint32_t> lent;
  std::map<JobId, LoanGuest> guests;
  for (std::uint32_t s = first; s < servers_.size(); ++s) {
    if (components_[first_lent_ + s - first].is_down) continue;
    lent.push_back(s);
    for (std::uint32_t g = s * width; g < (s + 1) * width; ++g) {
      on_gpu_.clear();
      state_.jobs_on(GpuId{g}, on_gpu_);
      for (const JobId job : on_gpu_) ++guests[job].gpus[s];
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
  RandomStream& stream = components_[first_lent_].stream;
  for (const std::uint32_t s : servers_to_return(std::move(lent), std::move(all), count, spec_.loans.reclaim, stream))
    turning_.push_back(first_lent_ + s - first);
}

/// Has an elastic job that loses only GPUs of lent servers go on with as many of the others as it can use, the first
/// ones by rank. False if it can't.
bool Outages::shrinks(JobId job) {
  if (!spec_.loans.any()) return false;
  const JobRun& run = state_.run(job);
  const std::uint32_t first_gpu = components_[first_lent_].first;
  std::vector<GpuId> kept;
  for (const GpuId gpu : run.gpus) {
    if (std::ranges::find(broken_now_, gpu) == broken_now_.end())
      kept.push_back(gpu);
    else if (gpu.value() < first_gpu)
      return false;  // maintenance
  }
  int size = 0;
  for (const int each : state_.sizes_of(job))
    if (each <= std::ssize(kept) && state_.pace_on(*run.spec, each, run.type).together > 0) size = each;
  if (size == 0) return false;
  kept.resize(static_cast<std::size_t>(size));
  admission_.shrink(job, kept);
  return true;
}

}  // namespace contend
