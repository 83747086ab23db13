#include "policies/scheduling/kept_places.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace contend {

namespace {

/// Finds places for the claims that have none. If there are none beside the others, some of these get new places, too:
/// the smallest job, the two smallest ones, four, eight, ..., all.
bool place_claims(std::vector<SizedClaim>& claims, const KeptPlaces::Finder& finder) {
  std::ranges::stable_sort(claims, std::ranges::greater{}, &SizedClaim::gpus);
  const auto has_place = [](const SizedClaim& claim) { return !claim.place.empty(); };
  const auto most = static_cast<std::size_t>(std::ranges::count_if(claims, has_place));
  for (std::size_t moving = 0;; moving = std::min(most, std::max<std::size_t>(1, 2 * moving))) {
    std::vector<SizedClaim> asked = claims;
    std::size_t left = moving;
    for (auto claim = asked.rbegin(); claim != asked.rend() && left > 0; ++claim) {
      if (claim->place.empty()) continue;
      claim->place.clear();
      --left;
    }
    if (finder(asked)) {
      claims = std::move(asked);
      return true;
    }
    if (moving == most) return false;
  }
}

const SizedClaim* claim_of(JobId job, std::span<const SizedClaim> claims) {
  const auto found = std::ranges::find(claims, job, &SizedClaim::job);
  return found == claims.end() ? nullptr : &*found;
}

}  // namespace

std::optional<KeptPlaces> KeptPlaces::find(std::span<const PlannedJobGpus> plans, std::span<const SizedClaim> running,
                                           const PlanTimes& times, const Finder& finder) {
  std::set<double> changes{0};
  for (const PlannedJobGpus& each : plans)
    for (const auto& [time, gpus] : each.plan->steps()) changes.insert(time);
  KeptPlaces kept;
  std::vector<SizedClaim> before{running.begin(), running.end()};
  for (const double change : changes) {
    std::vector<SizedClaim> claims;
    bool is_complete = true;
    for (const PlannedJobGpus& each : plans) {
      SizedClaim claim{each.job->view.id, each.plan->gpus_at(change)};
      if (claim.gpus == 0) continue;
      const SizedClaim* const had = claim_of(claim.job, before);
      if (had != nullptr && had->gpus == claim.gpus) claim.place = had->place;
      is_complete = is_complete && !claim.place.empty();
      claims.push_back(std::move(claim));
    }
    if (!is_complete) {
      std::vector<SizedClaim> asked = claims;
      for (const SizedClaim& each : running)  // they leave their GPUs
        if (claim_of(each.job, claims) == nullptr) asked.push_back({each.job});
      if (!place_claims(asked, finder)) return std::nullopt;
      for (SizedClaim& claim : claims) claim.place = claim_of(claim.job, asked)->place;
    }
    const Time from = times.instant(change);
    before = claims;
    kept.stretches_.push_back({from, std::move(claims)});
  }
  return kept;
}

std::vector<SizedClaim> KeptPlaces::at(Time now) const {
  const auto after = std::ranges::upper_bound(stretches_, now, {}, &Stretch::from);
  return after == stretches_.begin() ? std::vector<SizedClaim>{} : std::prev(after)->claims;
}

GpuPlan KeptPlaces::plan_of(JobId job, Time now) const {
  GpuPlan plan{0};
  for (std::size_t s = 0; s + 1 < stretches_.size(); ++s) {
    const SizedClaim* const claim = claim_of(job, stretches_[s].claims);
    if (claim == nullptr || stretches_[s + 1].from <= now) continue;
    const Time from = std::max(now, stretches_[s].from);
    plan.append((from - now).to_seconds(), (stretches_[s + 1].from - now).to_seconds(), claim->gpus);
  }
  return plan;
}

void KeptPlaces::keep_only(const std::set<JobId>& jobs) {
  for (Stretch& stretch : stretches_)
    std::erase_if(stretch.claims, [&](const SizedClaim& claim) { return !jobs.contains(claim.job); });
}

}  // namespace contend
