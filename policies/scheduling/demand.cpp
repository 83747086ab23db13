#include "policies/scheduling/demand.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <utility>

namespace contend {

std::vector<bool> types_for(const ClusterView& cluster, const JobView& job) {
  std::vector<bool> types;
  for (std::size_t t = 0; t < cluster.types(); ++t)
    types.push_back(cluster.speed_on(job, static_cast<std::int32_t>(t)) > 0);
  if (std::ranges::find(types, true) == types.end()) types.assign(types.size(), true);
  return types;
}

std::uint32_t Pools::of(const ClusterView& cluster, const JobView& job) {
  const ServerRange servers = cluster.servers_for(job);
  const std::int32_t vc = fixed_quota(cluster, job.vc) == INT_MAX ? -1 : job.vc;
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const std::uint32_t number = numbers_.try_emplace({servers.first, servers.last, vc}, next).first->second;
  const std::size_t types = cluster.types();
  if (number == next) pools_.push_back({job.vc, std::vector<int>(types > 1 ? types : 0)});
  return number;
}

void Pools::enters(const ClusterView& cluster, const JobView& job, std::uint32_t pool) {
  if (cluster.types() == 1) return;
  const Member& member = members_.insert_or_assign(job.id, Member{pool, types_for(cluster, job)}).first->second;
  for (std::size_t t = 0; t < member.types.size(); ++t) pools_[pool].jobs[t] += member.types[t] ? 1 : 0;
}

void Pools::leaves(JobId job) {
  const auto member = members_.find(job);
  if (member == members_.end()) return;
  const auto& [pool, types] = member->second;
  for (std::size_t t = 0; t < types.size(); ++t) pools_[pool].jobs[t] -= types[t] ? 1 : 0;
  members_.erase(member);
}

std::int64_t Pools::capacity(const ClusterView& cluster, std::uint32_t pool) const {
  const auto& [vc, jobs] = pools_[pool];
  int gpus = jobs.empty() ? cluster.gpus_in_service(vc, -1) : 0;
  for (std::size_t t = 0; t < jobs.size(); ++t)
    if (jobs[t] > 0) gpus += cluster.gpus_in_service(vc, static_cast<std::int32_t>(t));
  return std::int64_t{std::min(gpus, fixed_quota(cluster, vc))} * kWholeGpu;
}

std::vector<GpuPart> parts_within_quotas(const ClusterView& cluster, std::span<const JobView> jobs) {
  struct Demand {
    std::int64_t wanted = 0;
    std::vector<std::size_t> jobs;
  };
  std::map<std::int32_t, Demand> claims;  // by virtual cluster with a quota; -1: all others
  std::int64_t wanted = 0;                // by those whose quota suffices
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Demand& claim = claims[fixed_quota(cluster, jobs[i].vc) == INT_MAX ? -1 : jobs[i].vc];
    claim.wanted += jobs[i].gpus;
    wanted += jobs[i].gpus;
    claim.jobs.push_back(i);
  }
  std::vector<double> all;
  std::vector<bool> is_used(cluster.types(), cluster.types() == 1);
  for (std::size_t i = 0; i < jobs.size() && cluster.types() > 1; ++i) {
    const std::vector<bool> own = types_for(cluster, jobs[i]);
    for (std::size_t t = 0; t < own.size(); ++t) is_used[t] = is_used[t] || own[t];
  }
  for (std::size_t t = 0; t < cluster.types(); ++t)
    all.push_back(is_used[t] ? cluster.gpus_in_service(jobs.front().vc, static_cast<std::int32_t>(t)) : 0);
  const auto gpus = static_cast<std::int64_t>(std::accumulate(all.begin(), all.end(), 0.0));
  std::vector<GpuPart> parts;
  const auto add = [&](std::vector<std::size_t> its, std::int64_t number, int quota) {
    std::ranges::sort(its);
    parts.push_back({.jobs = std::move(its)});
    GpuPart& part = parts.back();
    for (const double of_type : all) {
      part.gpus.push_back(number == gpus ? of_type : of_type * static_cast<double>(number) / static_cast<double>(gpus));
      part.most.push_back(std::min<double>(of_type, quota));
    }
  };
  std::int64_t left = gpus;
  for (bool has_bound = true; std::exchange(has_bound, false);) {
    for (auto at = claims.begin(); at != claims.end() && left > 0; ++at) {
      const std::int64_t quota = fixed_quota(cluster, at->first);
      // Its part of what is left is min(1, left / wanted) of the GPUs that it wants.
      if (quota >= at->second.wanted || quota * wanted >= left * at->second.wanted) continue;
      add(std::move(at->second.jobs), quota, static_cast<int>(quota));
      left -= quota;
      wanted -= at->second.wanted;
      claims.erase(at);
      has_bound = true;
      break;
    }
  }
  std::vector<std::size_t> others;
  for (const auto& [vc, claim] : claims) others.insert(others.end(), claim.jobs.begin(), claim.jobs.end());
  if (!others.empty()) add(std::move(others), left, INT_MAX);
  return parts;
}

}  // namespace contend
