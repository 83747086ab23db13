#include "sim/kept_time.hpp"

#include "sim/cluster_view.hpp"

#include <algorithm>

namespace contend {
namespace {

bool is_own(std::int32_t share) {
  return 0 < share && share < kWholeGpu;
}

}  // namespace

double KeptTime::OfGpu::equal_at(Time now) const {
  if (others == 0) return equal_s;
  const double rest = static_cast<double>(kWholeGpu - std::min(reserved, kWholeGpu)) / kWholeGpu;
  return equal_s + (now - changed).to_seconds() * rest / others;
}

void KeptTime::begin(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time now) {
  if (!measures()) return;
  OfJob& own = jobs_[job.index()];
  own.equal_s = 0;
  own.spoilt = spoilt;
  for (const GpuId id : gpus) {
    OfGpu& gpu = gpus_[id.index()];
    own.equal_s += gpu.equal_s = gpu.equal_at(now);
    gpu.changed = now;
    is_own(share) ? gpu.reserved += share : ++gpu.others;
  }
}

double KeptTime::seconds(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time held,
                         Time now) const {
  const OfJob& own = jobs_[job.index()];
  if (held <= Time{}) return own.kept_s;
  double on_gpus_s = 0;
  if (is_own(share)) {
    on_gpus_s = held.to_seconds() * static_cast<double>(gpus.size()) * share / kWholeGpu;
  } else {
    for (const GpuId id : gpus) on_gpus_s += gpus_[id.index()].equal_at(now);
    on_gpus_s -= own.equal_s;
  }
  return own.kept_s + on_gpus_s * (1 - (spoilt - own.spoilt).to_seconds() / held.to_seconds());
}

void KeptTime::end(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time held, Time now) {
  if (!measures()) return;
  jobs_[job.index()].kept_s = seconds(job, gpus, share, spoilt, held, now);
  for (const GpuId id : gpus) {
    OfGpu& gpu = gpus_[id.index()];
    gpu.equal_s = gpu.equal_at(now);
    gpu.changed = now;
    is_own(share) ? gpu.reserved -= share : --gpu.others;
  }
}

void KeptTime::undo(JobId job, Time undone, Time useful) {
  if (!measures() || useful <= Time{}) return;
  jobs_[job.index()].kept_s *= 1 - undone.to_seconds() / useful.to_seconds();
}

}  // namespace contend
