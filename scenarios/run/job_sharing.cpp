#include "scenarios/run/job_sharing.hpp"

#include "models/sharing.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/sharing_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

std::vector<StageTimes> stages_of(const SharingSetup& sharing, const Workload& workload) {
  std::vector<StageTimes> stages(workload.jobs.size());
  if (!sharing.profiles) return stages;
  const StageTable table = read_stages(*sharing.profiles);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    auto row = table.find({job.model, job.gpus});
    if (row == table.end()) row = table.find({job.model, 0});
    if (!job.duration || row == table.end()) continue;
    stages[j] = row->second;
  }
  return stages;
}

std::shared_ptr<const SharingLaw> pairs_of(const ClusterSetup& cluster, const SharingSetup& sharing,
                                           const Workload& workload) {
  const std::string& file = *sharing.pairs;
  const PairTable table = read_pairs(file);
  std::vector<std::string> types;
  for (const NamedServerType& type : cluster.types) types.push_back(type.name);
  std::map<std::pair<std::string_view, int>, std::int32_t> kinds;
  std::vector<std::int32_t> kind_of;
  for (const JobSpec& job : workload.jobs) {
    const auto next = static_cast<std::int32_t>(kinds.size());
    kind_of.push_back(job.duration ? kinds.try_emplace({job.model, job.gpus}, next).first->second : -1);
  }
  PairSpeeds speeds;
  for (const bool of_any : {true, false}) {  // a row for a number of GPUs holds in place of one for any
    for (const auto& [key, speed] : table) {
      const auto& [model, with_model, gpus, type_name] = key;
      if ((gpus == 0) != of_any) continue;
      std::int32_t type = -1;
      if (!type_name.empty()) {
        const auto found = std::ranges::find(types, type_name);
        if (found == types.end())
          throw InputError{{.file = file,
                            .reason = fmt::format("cluster.types has no type {}", quote_for_message(type_name)),
                            .hint = did_you_mean(type_name, types)}};
        type = static_cast<std::int32_t>(found - types.begin());
      }
      for (const auto& [kind, number] : kinds) {
        if (kind.first != model || (gpus != 0 && kind.second != gpus)) continue;
        const auto with = kinds.find({with_model, kind.second});
        if (with != kinds.end()) speeds[{number, with->second, type}] = speed;
      }
    }
  }
  return pair_sharing(std::move(speeds), std::move(kind_of), stages_of(sharing, workload));
}

}  // namespace

std::vector<PartFault> part_faults(const SharingSetup& sharing, const Workload& workload) {
  std::vector<PartFault> faults;
  const SharingKind law = sharing.law;
  if (law == SharingKind::none) return faults;
  std::vector<std::size_t> parts;  // by rising part: as many of the first as fit together are the most on a GPU
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    if (workload.jobs[j].duration && workload.jobs[j].gpu_share > 0 && workload.jobs[j].gpu_share < kWholeGpu)
      parts.push_back(j);
  std::ranges::stable_sort(parts, {}, [&](std::size_t j) { return workload.jobs[j].gpu_share; });
  const std::size_t most = law == SharingKind::factor ? static_cast<std::size_t>(sharing.most) : 1;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all += workload.jobs[parts[i]].gpu_share;
    if (all > kWholeGpu) break;
    if (i < most) continue;
    const std::string part =
        fmt::format("reserves {:g} of each of its GPUs", workload.jobs[parts[i]].gpu_share / 1000.0);
    faults.push_back(
        {parts[i], law == SharingKind::factor
                       ? fmt::format("{}, so that {} jobs with parts fit on one, and scheduling.sharing.most is {}",
                                     part, i + 1, most)
                       : fmt::format("{}, so that others with parts fit beside it, and only the law factor has a speed "
                                     "for any of them",
                                     part)});
  }
  return faults;
}

GpuSharing sharing_of(const ClusterSetup& cluster, const SharingSetup& given, const Workload& workload) {
  GpuSharing sharing;
  if (given.law == SharingKind::none) return sharing;
  sharing.most = given.most;
  sharing.by_priority = given.by_priority;
  switch (given.law) {
    case SharingKind::none:
      break;
    case SharingKind::factor:
      sharing.law = constant_sharing(given.factor, stages_of(given, workload));
      break;
    case SharingKind::pairs:
      sharing.law = pairs_of(cluster, given, workload);
      break;
    case SharingKind::stages:
      sharing.law = interleaved_sharing(stages_of(given, workload));
      break;
  }
  return sharing;
}

}  // namespace contend
