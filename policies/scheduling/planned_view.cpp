// The cluster at a later time, and for a while, from what a PlacePlan knows.

#include "policies/scheduling/place_plan.hpp"

#include <algorithm>

namespace contend {

namespace {

/// Amounts that a cluster doesn't count are beyond any demand, and stay it.
std::int64_t changed(std::int64_t amount, std::int64_t by) {
  constexpr std::int64_t kNotCounted = INT64_MAX / 4;
  return amount >= kNotCounted ? amount : amount + by;
}

}  // namespace

PlannedView::PlannedView(const PlacePlan& plan) : plan_{plan} {
  whole_gpu_.gpu_share = kWholeGpu;
}

void PlannedView::show(Time from, Time to, const ServerRange& range) {
  from_ = from;
  to_ = to;
  range_ = range;
  is_now_ = from == plan_.cluster_->now();
  if (!is_now_) {
    is_again_ = seen_ == std::pair{from, to};
    seen_ = {from, to};
  }
  only_.reset();
  only_gpus_.clear();
  only_servers_ = nullptr;
  ignores_kept_ = false;
  cached_.resize(servers());
  stamps_.resize(servers());
  ++stamp_;
}

void PlannedView::show_only(std::span<const GpuId> place) {
  ++stamp_;
  only_.emplace();
  only_gpus_ = {place.begin(), place.end()};
  for (const GpuId gpu : place) ++(*only_)[server_of(gpu)];
}

std::vector<const PlacePlan::Block*> PlacePlan::blocks_on(GpuId gpu, Time from, Time to, bool with_kept) const {
  const Server& here = servers_[cluster_->server_of(gpu).index()];
  std::vector<const Block*> found;
  for (const Block* const block : here.blocks) {
    if (block->held_till <= from) continue;
    if (!block->runs && (!with_kept || !here.by_gpu || block->held_from >= to)) continue;
    const bool has_all = !block->runs && whole_servers_;
    if (has_all || std::ranges::find(block->gpus, gpu) != block->gpus.end()) found.push_back(block);
  }
  return found;
}

PlannedView::Gpu PlannedView::gpu_at(GpuId gpu) const {
  const ServerId server = server_of(gpu);
  const PlacePlan::Server& here = plan_.servers_[server.index()];
  Gpu found{.memory = gpu_memory(server)};
  if (plan_.holders_[gpu.index()] == 0 && !plan_.cluster_->fits(gpu, whole_gpu_)) found.is_there = false;
  if (only_ && here.by_gpu && !only_gpus_.contains(gpu)) found.is_there = false;
  if (only_servers_ != nullptr && !only_servers_->contains(server)) found.is_there = false;
  const std::vector<const PlacePlan::Block*> beside = plan_.blocks_on(gpu, from_, to_, !ignores_kept_);
  found.is_clear = found.is_there && beside.empty();
  Bytes most{};
  for (const PlacePlan::Block* const one : beside) {
    const Time at = one->runs ? from_ : std::max(one->held_from, from_);
    Bytes used{};
    int reserved = 0;
    for (const PlacePlan::Block* const block : beside) {
      if (block->held_till <= at || (!block->runs && block->held_from > at)) continue;
      used += block->job.memory_per_gpu;
      reserved += !block->runs && plan_.whole_servers_ ? kWholeGpu : PlacePlan::share_of(block->job);
    }
    most = std::max(most, used);
    found.reserved = std::max(found.reserved, reserved);
  }
  found.memory -= most;
  return found;
}

ServerAmounts PlannedView::computed_amounts(ServerId server) const {
  const PlacePlan::Server& here = plan_.servers_[server.index()];
  const ClusterView& base = *plan_.cluster_;
  ServerAmounts found{base.free_gpus(server), base.free_milli_cpus(server), base.free_host_memory(server).count()};
  if (!is_now_ || (here.kept > 0 && !ignores_kept_)) {
    const ServerAmounts change = here.timeline.least_in(from_, to_);
    found.gpus += change.gpus;
    found.milli_cpus = changed(found.milli_cpus, change.milli_cpus);
    found.host_memory = changed(found.host_memory, change.host_memory);
  }
  if (here.by_gpu) {
    found.gpus = 0;
    const std::size_t first = server.index() * plan_.per_server_;
    for (std::size_t g = first; g < first + plan_.per_server_; ++g) found.gpus += gpu_at(GpuId{g}).is_clear ? 1 : 0;
  } else if (only_) {
    const auto at = only_->find(server);
    found.gpus = std::min<std::int64_t>(found.gpus, at == only_->end() ? 0 : at->second);
  }
  if (only_servers_ != nullptr && !only_servers_->contains(server)) found.gpus = 0;
  found.gpus = std::max<std::int64_t>(found.gpus, 0);
  return found;
}

void PlannedView::changed_on(ServerId server) {
  if (!later_) return;
  later_->stale.push_back(server);
  if (later_->stale.size() > later_->range.size()) later_.reset();
}

void PlannedView::compute_later(ServerId server, bool is_known) const {
  Later& all = *later_;
  if (!all.range.contains(server)) return;
  ServerAmounts& amounts = all.amounts[server.index()];
  if (is_known) all.with[static_cast<std::size_t>(amounts.gpus)].erase(server.index());
  amounts = computed_amounts(server);
  const auto gpus = static_cast<std::size_t>(amounts.gpus);
  while (all.with.size() <= gpus) all.with.emplace_back(servers());
  all.with[gpus].insert(server.index());
}

const PlannedView::Later* PlannedView::later_amounts() const {
  if (is_now_ || only_ || only_servers_ != nullptr || ignores_kept_ || plan_.any_by_gpu_) return nullptr;
  if (!later_ || later_->from != from_ || later_->to != to_ || later_->range != range_) {
    if (!is_again_) return nullptr;
    later_ = Later{.from = from_, .to = to_, .range = range_};
    later_->amounts.resize(servers());
    for (std::uint32_t s = range_.first; s < range_.last; ++s) compute_later(ServerId{s}, false);
  }
  while (!later_->stale.empty()) {
    compute_later(later_->stale.back(), true);
    later_->stale.pop_back();
  }
  return &*later_;
}

ServerAmounts PlannedView::amounts_on(ServerId server) const {
  const std::size_t s = server.index();
  if (const Later* const later = later_amounts(); later != nullptr && range_.contains(server)) return later->amounts[s];
  if (stamps_[s] != stamp_) {
    cached_[s] = computed_amounts(server);
    stamps_[s] = stamp_;
  }
  return cached_[s];
}

bool PlannedView::is_shown(GpuId gpu) const {
  const ServerId server = server_of(gpu);
  if (plan_.servers_[server.index()].by_gpu) return true;
  std::int64_t left = amounts_on(server).gpus;
  const std::size_t first = server.index() * plan_.per_server_;
  if (!is_now_) return static_cast<std::int64_t>(gpu.index() - first) < left;  // which ones is open until then
  for (std::size_t g = first; g < gpu.index() && left > 0; ++g)
    left -= plan_.cluster_->fits(GpuId{g}, whole_gpu_) ? 1 : 0;
  return left > 0 && plan_.cluster_->fits(gpu, whole_gpu_);
}

bool PlannedView::fits(GpuId gpu, const JobView& job) const {
  const ServerId server = server_of(gpu);
  if (PlacePlan::share_of(job) == kWholeGpu) {
    if (amounts_on(server).gpus == 0 || gpu_memory(server) < job.memory_per_gpu) return false;
    if (!plan_.servers_[server.index()].by_gpu) return is_shown(gpu);
  }
  const Gpu here = gpu_at(gpu);
  if (!here.is_there || here.memory < job.memory_per_gpu) return false;
  if (here.is_clear) return is_shown(gpu);
  return here.reserved + PlacePlan::share_of(job) <= kWholeGpu;
}

Bytes PlannedView::free_memory(GpuId gpu) const {
  const Gpu here = gpu_at(gpu);
  const bool is_hidden = !here.is_there || here.reserved > 0 || (here.is_clear && !is_shown(gpu));
  return is_hidden ? Bytes{-1} : here.memory;
}

int PlannedView::free_share(GpuId gpu) const {
  const Gpu here = gpu_at(gpu);
  if (!here.is_there || (here.is_clear && !is_shown(gpu))) return 0;
  return std::max(0, kWholeGpu - here.reserved);
}

int PlannedView::free_gpus(ServerId server) const {
  return static_cast<int>(amounts_on(server).gpus);
}

std::int64_t PlannedView::free_milli_cpus(ServerId server) const {
  return amounts_on(server).milli_cpus;
}

Bytes PlannedView::free_host_memory(ServerId server) const {
  return Bytes{amounts_on(server).host_memory};
}

ServerId PlannedView::next_server(int free, ServerId from) const {
  const std::size_t last = range_.last;
  if (const Later* const later = later_amounts()) {
    if (static_cast<std::size_t>(free) >= later->with.size()) return ServerId::none();
    const std::size_t s = later->with[static_cast<std::size_t>(free)].next(std::max(from.value(), range_.first));
    return s < last ? ServerId{s} : ServerId::none();
  }
  if (!is_now_ || only_ || only_servers_ != nullptr) {
    for (std::size_t s = std::max<std::size_t>(from.index(), range_.first); s < last; ++s)
      if (amounts_on(ServerId{s}).gpus == free) return ServerId{s};
    return ServerId::none();
  }
  // Where no place is kept, as many GPUs are free as in the cluster now, because running jobs only end.
  const std::set<ServerId>& kept_on = plan_.kept_on_;
  ServerId apart = plan_.cluster_->next_server(free, from);
  while (apart.valid() && kept_on.contains(apart))
    apart = plan_.cluster_->next_server(free, ServerId{apart.value() + 1});
  for (auto at = kept_on.lower_bound(from); at != kept_on.end() && (!apart.valid() || *at < apart); ++at)
    if (at->index() < last && amounts_on(*at).gpus == free) return *at;
  return apart;
}

GpuId PlannedView::next_gpu(const JobView& job, GpuId from) const {
  const ServerRange usable = servers_for(job);
  std::size_t g = std::max(from.index(), usable.first * plan_.per_server_);
  while (g < usable.last * plan_.per_server_) {
    const ServerId server = server_of(GpuId{g});
    if (PlacePlan::share_of(job) == kWholeGpu && amounts_on(server).gpus == 0) {
      g = (server.index() + 1) * plan_.per_server_;
      continue;
    }
    if (fits(GpuId{g}, job)) return GpuId{g};
    ++g;
  }
  return GpuId::none();
}

void PlannedView::jobs_on(GpuId gpu, std::vector<JobId>& jobs) const {
  const std::size_t before = jobs.size();
  plan_.cluster_->jobs_on(gpu, jobs);
  const auto begin = jobs.begin() + static_cast<std::ptrdiff_t>(before);
  jobs.erase(std::remove_if(begin, jobs.end(), [&](JobId id) { return gpus_of(id).empty(); }), jobs.end());
}

std::span<const GpuId> PlannedView::gpus_of(JobId job) const {
  const auto at = plan_.blocks_.find(job);
  if (at != plan_.blocks_.end() && at->second.runs && at->second.end <= from_) return {};
  return plan_.cluster_->gpus_of(job);
}

JobView PlannedView::job(JobId id) const {
  JobView view = plan_.cluster_->job(id);
  view.running = view.running && !gpus_of(id).empty();
  return view;
}

Time PlannedView::load(GpuId gpu) const {
  const Time now = plan_.cluster_->load(gpu);
  if (is_now_ || now == Time{}) return now;
  if (gpu_at(gpu).is_clear) return {};
  return std::max(Time{}, now - (from_ - plan_.cluster_->now()));
}

int PlannedView::free_gpus() const {
  int sum = 0;
  for (std::size_t s = 0; s < servers(); ++s) sum += free_gpus(ServerId{s});
  return sum;
}

int PlannedView::free_gpus_on(std::int32_t vc, std::int32_t type) const {
  JobView job;
  job.vc = vc;
  job.server_type = type;
  const ServerRange usable = servers_for(job);
  int sum = 0;
  for (std::size_t s = usable.first; s < usable.last; ++s) sum += free_gpus(ServerId{s});
  return sum;
}

int PlannedView::free_gpus_of_vc(std::int32_t vc) const {
  return free_gpus_on(vc, -1);
}

const ClusterView& PlannedView::base() const {
  return *plan_.cluster_;
}

}  // namespace contend
