#include "policies/scheduling/place_plan.hpp"

#include "policies/scheduling/demand.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <climits>

namespace contend {

namespace {

constexpr std::size_t kStepsPerBlock = 64;  // most plans are short

}  // namespace

ServerAmounts least(const ServerAmounts& a, const ServerAmounts& b) {
  return {std::min(a.gpus, b.gpus), std::min(a.milli_cpus, b.milli_cpus), std::min(a.host_memory, b.host_memory)};
}

std::size_t ServerTimeline::begin_step(Time time) {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time, [](Time at, const Step& step) { return at < step.begin; });
  const auto holds = after == steps_.begin() ? after : std::prev(after);
  if (holds->begin == time) return static_cast<std::size_t>(holds - steps_.begin());
  const Step made{time, holds->amounts};
  const auto at = after - steps_.begin();
  steps_.insert(after, made);
  return static_cast<std::size_t>(at);
}

void ServerTimeline::add(Time from, Time to, const ServerAmounts& amounts) {
  from = std::max(from, steps_.front().begin);
  if (from >= to) return;
  const std::size_t first = begin_step(from);
  const std::size_t last = to == Time::never() ? steps_.size() : begin_step(to);
  for (std::size_t i = first; i < last; ++i) steps_[i].amounts += amounts;
  const auto join = [&](std::size_t i) {
    if (i > 0 && i < steps_.size() && steps_[i].amounts == steps_[i - 1].amounts)
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
  };
  join(last);
  join(first);
}

ServerAmounts ServerTimeline::least_in(Time from, Time to) const {
  auto at = std::upper_bound(steps_.begin(), steps_.end(), from,
                             [](Time time, const Step& step) { return time < step.begin; });
  ServerAmounts found = at == steps_.begin() ? steps_.front().amounts : std::prev(at)->amounts;
  for (; at != steps_.end() && at->begin < to; ++at) found = least(found, at->amounts);
  return found;
}

Time ServerTimeline::earliest(Time from, Time length, std::int64_t gpus) const {
  auto at = std::upper_bound(steps_.begin(), steps_.end(), from,
                             [](Time time, const Step& step) { return time < step.begin; });
  if (at != steps_.begin()) --at;
  Time since = from;
  bool is_open = false;  // enough are free from `since` on
  for (; at != steps_.end(); ++at) {
    if (is_open && at->begin >= later(since, length)) return since;
    const bool suffices = at->amounts.gpus >= gpus;
    if (suffices && !is_open) since = std::max(from, at->begin);
    is_open = suffices;
  }
  return is_open ? since : Time::never();
}

void ServerTimeline::forget(Time now) {
  auto keep = steps_.begin();
  while (std::next(keep) != steps_.end() && std::next(keep)->begin <= now) ++keep;
  steps_.erase(steps_.begin(), keep);
}

void PlacePlan::look_at(const ClusterView& cluster) {
  cluster_ = &cluster;
  if (!servers_.empty()) return;
  servers_.resize(cluster.servers());
  holders_.resize(cluster.gpus());
  per_server_ = cluster.gpus() / cluster.servers();
}

void PlacePlan::run(const JobView& job, Time end, std::span<const GpuId> gpus) {
  if (share_of(job) != kWholeGpu) plan_by_gpu(cluster_->servers_for(job));
  Block& block = blocks_[job.id];
  block = {job, cluster_->now(), end, cluster_->now(), end, true, {gpus.begin(), gpus.end()}};
  for (const GpuId gpu : gpus) ++holders_[gpu.index()];
  add(block);
}

void PlacePlan::keep(const JobView& job, const Place& place, Time end) {
  Block& block = blocks_[job.id];
  const Time from = resolution_ > Time{} ? resolution_ * (place.start.ns() / resolution_.ns()) : place.start;
  block = {job, place.start, end, from, held_till(end), false, place.gpus};
  begins_.insert(block.held_from);
  add(block);
}

Time PlacePlan::held_till(Time end) const {
  if (resolution_ == Time{} || end.ns() % resolution_.ns() == 0) return end;
  return later(resolution_ * (end.ns() / resolution_.ns()), resolution_);
}

void PlacePlan::prolong(JobId job, Time end) {
  Block& block = blocks_.at(job);
  count(block, -1);
  count_widths(block, -1);
  ends_.erase(ends_.find(block.held_till));
  block.end = end;
  block.held_till = end;
  add(block);
}

PlacePlan::Place PlacePlan::release(JobId job) {
  const auto at = blocks_.find(job);
  CONTEND_CHECK(at != blocks_.end(), "only what is planned or runs can be released");
  Block& block = at->second;
  if (block.runs) {
    for (const GpuId gpu : block.gpus) --holders_[gpu.index()];
  } else {
    begins_.erase(begins_.find(block.held_from));
  }
  ends_.erase(ends_.find(block.held_till));
  count(block, -1);
  count_widths(block, -1);
  Place place{block.begin, std::move(block.gpus)};
  blocks_.erase(at);
  return place;
}

void PlacePlan::add(Block& block) {
  ends_.insert(block.held_till);
  count(block, 1);
  count_widths(block, 1);
}

void PlacePlan::count(Block& block, int sign) {
  const ServerAmounts rank{1, block.job.milli_cpus, block.job.host_memory.count()};
  ranks_.clear();
  for (const GpuId gpu : block.gpus) {
    const ServerId server = cluster_->server_of(gpu);
    auto at = std::find_if(ranks_.rbegin(), ranks_.rend(), [&](const auto& each) { return each.first == server; });
    if (at == ranks_.rend()) {
      ranks_.emplace_back(server, 1);
    } else {
      ++at->second;
    }
  }
  for (const auto& [id, number] : ranks_) {
    Server& server = servers_[id.index()];
    view_.changed_on(id);
    server.timeline.forget(cluster_->now());
    if (block.runs) {
      server.timeline.add(block.end, Time::never(), rank * (sign * number));
    } else {
      const int held = whole_servers_ ? static_cast<int>(per_server_) : number;
      server.timeline.add(block.held_from, block.held_till, rank * (-sign * held));
      server.kept += sign;
      if (server.kept == 0) kept_on_.erase(id);
      if (server.kept == 1 && sign > 0) kept_on_.insert(id);
    }
    if (sign > 0) {
      server.blocks.push_back(&block);
    } else {
      std::erase(server.blocks, &block);
    }
  }
}

void PlacePlan::plan_by_gpu(const ServerRange& range) {
  for (std::size_t s = range.first; s < range.last; ++s)
    if (!servers_[s].by_gpu) name_gpus(ServerId{s});
}

/// All jobs on the server hold whole GPUs, and at no time more than there are. So a place finds GPUs free at its begin
/// if those that begin sooner have been given theirs.
void PlacePlan::name_gpus(ServerId id) {
  Server& server = servers_[id.index()];
  server.by_gpu = any_by_gpu_ = true;
  const std::size_t first = id.index() * per_server_;
  std::vector<Time> free_from(per_server_, Time::never());
  JobView whole;
  whole.gpu_share = kWholeGpu;
  for (std::size_t g = 0; g < per_server_; ++g)
    if (cluster_->fits(GpuId{first + g}, whole)) free_from[g] = Time{};
  std::vector<Block*> kept;
  for (Block* const block : server.blocks) {
    if (!block->runs) {
      kept.push_back(block);
      continue;
    }
    for (const GpuId gpu : block->gpus)
      if (cluster_->server_of(gpu) == id) free_from[gpu.index() - first] = block->end;
  }
  std::ranges::stable_sort(kept, {}, [](const Block* block) { return std::pair{block->begin, block->job.id}; });
  for (Block* const block : kept) {
    std::size_t g = 0;
    for (GpuId& gpu : block->gpus) {
      if (cluster_->server_of(gpu) != id) continue;
      while (g < per_server_ && free_from[g] > block->begin) ++g;
      if (g == per_server_) break;  // GPUs have gone out of service: the place will be refused when its time has come
      gpu = GpuId{first + g};
      free_from[g] = block->end;
    }
  }
}

void PlacePlan::count_width(const Block& block, const ServerRange& range, Availability& free, int sign) const {
  std::int64_t width = 0;
  if (range.size() == servers_.size()) width = width_of(block.job);
  for (const GpuId gpu : block.gpus)
    if (range.size() < servers_.size() && range.contains(cluster_->server_of(gpu))) width += share_of(block.job);
  const Time from = std::max(block.begin, cluster_->now());
  if (width > 0 && from < block.end) free.take(from, block.end, width * sign);
}

void PlacePlan::count_widths(const Block& block, int sign) {
  for (auto& [range, free] : widths_) {
    free.forget(cluster_->now());
    count_width(block, {range.first, range.second}, free, sign);
  }
  if (const auto quota = quotas_.find(block.job.vc); quota != quotas_.end()) {
    quota->second.forget(cluster_->now());
    const Time from = std::max(block.begin, cluster_->now());
    if (from < block.end) quota->second.take(from, block.end, block.job.gpus * sign);
  }
}

Availability& PlacePlan::widths_on(const ServerRange& range) {
  const std::pair key{range.first, range.last};
  const auto at = widths_.find(key);
  if (at != widths_.end()) return at->second;
  Availability& made =
      widths_
          .emplace(key, Availability{static_cast<std::int64_t>(range.size() * per_server_) * kWholeGpu, kStepsPerBlock})
          .first->second;
  made.forget(cluster_->now());
  for (const auto& [id, block] : blocks_) count_width(block, range, made, 1);
  return made;
}

Availability* PlacePlan::quota_of(const JobView& job) {
  if (cluster_->quota_left(job.vc) == INT_MAX) return nullptr;
  const auto at = quotas_.find(job.vc);
  if (at != quotas_.end()) return &at->second;
  Availability& made = quotas_.emplace(job.vc, Availability{cluster_->vc_quota(job.vc), kStepsPerBlock}).first->second;
  for (const auto& [id, block] : blocks_) {
    const Time from = std::max(block.begin, cluster_->now());
    if (block.job.vc == job.vc && from < block.end) made.take(from, block.end, block.job.gpus);
  }
  return &made;
}

/// The first time at which enough GPUs are free for so long, wherever they are, and the quota has room.
Time PlacePlan::earliest_by_width(const JobView& job, Time length, Time from) {
  Availability& widths = widths_on(cluster_->servers_for(job));
  Availability* const quota = quota_of(job);
  const std::int64_t width = width_of(job);
  while (true) {
    Time at = width > 0 ? widths.earliest(from, length, width) : from;
    if (quota == nullptr || at == Time::never()) return at;
    const Time by_quota = quota->earliest(at, length, job.gpus);
    if (by_quota == at) return at;
    from = by_quota;
    if (from == Time::never()) return from;
  }
}

Time PlacePlan::earliest_on(ServerId id, Time length, std::int64_t gpus, Time from) const {
  const Server& server = servers_[id.index()];
  return server.by_gpu ? from : server.timeline.earliest(from, length, gpus - cluster_->free_gpus(id));
}

Time PlacePlan::earliest_on_some(Time length, const Search& search, Time from) const {
  const auto [whole, rest] = search.needed;
  const int gpus = rest > 0 ? rest : whole > 0 ? static_cast<int>(per_server_) : 1;
  Time first = Time::never();
  for (const ServerId server : search.servers) first = std::min(first, earliest_on(server, length, gpus, from));
  return first;
}

bool PlacePlan::may_move(JobId job, Time length, const Search& search) const {
  const Block& block = blocks_.at(job);
  if (search.servers.empty() || needs_certain_gpus(block.job)) return true;
  return earliest_on_some(length, search, search.from) < search.until ||
         std::ranges::any_of(search.servers, [&](ServerId server) {
           const auto& on = servers_[server.index()].blocks;
           return std::ranges::find(on, &block) != on.end();
         });
}

Time PlacePlan::earliest_by_room(const JobView& job, Time length, const Search& search, Time from) {
  if (needs_certain_gpus(job)) return from;
  const auto [whole, rest] = search.needed;
  const bool is_listed = !search.servers.empty();
  const Time listed = is_listed ? earliest_on_some(length, search, from) : from;
  if (listed >= search.until) return listed;
  const ServerRange range = cluster_->servers_for(job);
  if (whole > 0) {  // each of so many servers must be free by then
    times_.clear();
    for (std::uint32_t s = range.first; s < range.last; ++s)
      times_.push_back(earliest_on(ServerId{s}, length, static_cast<int>(per_server_), from));
    if (std::ssize(times_) < whole) return Time::never();
    const auto last = times_.begin() + (whole - 1);
    std::ranges::nth_element(times_, last);
    return std::max(*last, listed);
  }
  if (is_listed) return listed;
  Time first = Time::never();
  for (std::uint32_t s = range.first; s < range.last && first > from; ++s)
    first = std::min(first, earliest_on(ServerId{s}, length, std::max(rest, 1), from));
  return first;
}

std::optional<PlacePlan::Place> PlacePlan::earliest(const JobView& job, Time length, const Search& search,
                                                    const Placing& placing) {
  if (needs_certain_gpus(job)) plan_by_gpu(cluster_->servers_for(job));
  Place place;
  Time from = search.from;
  while (true) {
    from = earliest_by_width(job, length, from);
    if (from >= search.until) return std::nullopt;
    const bool is_last =
        later(from, Time::nanoseconds(1)) >= search.until;  // the view says as soon whether it has room
    if (const Time by_room = is_last ? from : earliest_by_room(job, length, search, from); by_room > from) {
      from = by_room;
      continue;
    }
    view_.show(from, later(from, length), cluster_->servers_for(job));
    if (placing(view_, place.gpus)) {
      place.start = from;
      return place;
    }
    const auto end = ends_.upper_bound(from);
    if (end == ends_.end()) return std::nullopt;
    from = *end;
    place.gpus.clear();
  }
}

const ClusterView& PlacePlan::from_now(const JobView& job, Time length) {
  // Without kept places the cluster says which GPUs are free.
  const bool is_certain = begins_.empty() && share_of(job) == kWholeGpu;
  if (needs_certain_gpus(job) && !is_certain) plan_by_gpu(cluster_->servers_for(job));
  view_.show(cluster_->now(), later(cluster_->now(), length), cluster_->servers_for(job));
  return view_;
}

const ClusterView& PlacePlan::from_now(const JobView& job, Time length, const Place& place) {
  return in_place(job, length, {cluster_->now(), place.gpus});
}

const ClusterView& PlacePlan::place_now(const JobView& job, const Place& place) {
  view_.show(cluster_->now(), later(cluster_->now(), Time::nanoseconds(1)), cluster_->servers_for(job));
  view_.ignore_kept();
  view_.show_only(place.gpus);
  return view_;
}

const ClusterView& PlacePlan::in_place(const JobView& job, Time length, const Place& place) {
  view_.show(place.start, later(place.start, length), cluster_->servers_for(job));
  view_.show_only(place.gpus);
  return view_;
}

const ClusterView& PlacePlan::at(const JobView& job, Time time, const ServerSet& servers) {
  if (needs_certain_gpus(job)) plan_by_gpu(cluster_->servers_for(job));
  view_.show(time, later(time, Time::nanoseconds(1)), cluster_->servers_for(job));
  view_.show_only(servers);
  return view_;
}

std::optional<Time> PlacePlan::last_kept_before(Time length) const {
  const auto after = begins_.lower_bound(later(cluster_->now(), length));
  return after == begins_.begin() ? std::nullopt : std::optional{*std::prev(after)};
}

bool PlacePlan::has_quota(const JobView& job, Time length) {
  Availability* const quota = quota_of(job);
  return quota == nullptr || quota->earliest(cluster_->now(), length, job.gpus) == cluster_->now();
}

}  // namespace contend
