#include "sim/redundancy.hpp"

#include "sim/job.hpp"
#include "sim/sharing.hpp"

#include <algorithm>
#include <vector>

namespace contend {
namespace {

/// The ranks of all groups from which one is out.
std::vector<int> whole_groups(std::span<const int> out, int together) {
  std::vector<int> ranks;
  for (const int rank : out) {
    const int first = rank / together * together;
    if (!ranks.empty() && ranks.back() >= first) continue;
    for (int i = 0; i < together; ++i) ranks.push_back(first + i);
  }
  return ranks;
}

}  // namespace

int stages_of(const JobSpec& job, const RedundancyRule& rule) {
  if (job.duration) return rule.stages;
  return job.layout.stage > 0 ? job.gpus / job.layout.stage : 1;
}

RedundancyRule RedundancyRule::of_job(int gpus, int stages_of_job) const {
  RedundancyRule rule = *this;
  rule.stages = stages_of_job;
  const bool is_alone = cover == Cover::neighbours ? stages_of_job == 1 : gpus == stages_of_job;
  if (!is_alone && gpus % stages_of_job == 0) return rule;
  rule.cover = Cover::none;
  rule.step_cost = kNoStepCost;
  return rule;
}

int RedundancyRule::most_of_a_stage(std::span<const int> out, int gpus) const {
  std::vector<int> of_stage(static_cast<std::size_t>(stages));
  for (const int rank : out) ++of_stage[static_cast<std::size_t>(rank / (gpus / stages))];
  return *std::max_element(of_stage.begin(), of_stage.end());
}

bool RedundancyRule::covers(std::span<const int> out, int gpus, int together) const {
  if (out.empty()) return true;
  if (!any() || std::ssize(out) > tolerates.value_or(gpus)) return false;
  const std::vector<int> lost = whole_groups(out, together);
  const int replicas = gpus / stages;
  if (cover == Cover::replicas) return most_of_a_stage(lost, gpus) < replicas;
  return std::none_of(lost.begin(), lost.end(),
                      [&](int rank) { return std::binary_search(lost.begin(), lost.end(), (rank + replicas) % gpus); });
}

std::int64_t RedundancyRule::speed(std::span<const int> out, int gpus) const {
  std::int64_t left = 1, of = 1;  // of the speed
  if (!out.empty() && cover == Cover::neighbours) {
    of = 2;  // the slowest rank of a pipeline has twice the work
  } else if (!out.empty() && spreads_over_job) {
    left = gpus - std::ssize(out);
    of = gpus;
  } else if (!out.empty()) {
    of = gpus / stages;
    left = of - most_of_a_stage(out, gpus);
  }
  return std::max(kSlowestSpeed, kFullSpeed * kNoStepCost * left / (of * step_cost));
}

std::vector<std::int32_t> RedundancyRule::paces(std::span<const int> out, int gpus, int together) const {
  std::vector<std::int32_t> paces(static_cast<std::size_t>(gpus), step_cost);
  const std::vector<int> lost = whole_groups(out, together);
  if (lost.empty()) return paces;
  const auto shared_by = [this](std::int64_t all, std::int64_t left) {
    return static_cast<std::int32_t>((step_cost * all + left - 1) / left);
  };
  const int replicas = gpus / stages;
  if (cover == Cover::neighbours) {
    for (const int rank : lost) {
      for (const int of : {rank, (rank + gpus - replicas) % gpus})
        paces[static_cast<std::size_t>(of)] = shared_by(2, 1);
    }
  } else if (spreads_over_job) {
    std::fill(paces.begin(), paces.end(), shared_by(gpus, gpus - std::ssize(lost)));
  } else {
    for (std::size_t first = 0; first < paces.size(); first += static_cast<std::size_t>(replicas)) {
      const auto from = paces.begin() + static_cast<std::ptrdiff_t>(first);
      const auto begin = std::ranges::lower_bound(lost, static_cast<int>(first));
      const auto end = std::ranges::lower_bound(lost, static_cast<int>(first) + replicas);
      std::fill(from, from + replicas, shared_by(replicas, replicas - (end - begin)));
    }
  }
  return paces;
}

}  // namespace contend
