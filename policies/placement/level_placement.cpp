#include "policies/placement/level_placement.hpp"

#include "policies/placement/free_servers.hpp"
#include "policies/view_over.hpp"
#include "sim/check.hpp"
#include "sim/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// The cluster as it is, with nothing free outside of one domain.
class DomainView final : public ViewOver {
 public:
  /// Beyond the last level all servers are in one domain.
  DomainView(const ClusterView& cluster, const LevelTree& levels, std::size_t level, std::uint32_t domain)
      : cluster_{cluster}, levels_{levels}, level_{level}, domain_{domain} {
    const auto servers = static_cast<std::uint32_t>(cluster.servers());
    while (around_.first < servers && !holds(ServerId{around_.first})) ++around_.first;
    around_.last = servers;
    while (around_.last > around_.first && !holds(ServerId{around_.last - 1})) --around_.last;
  }

  [[nodiscard]] Time now() const override { return cluster_.now(); }
  [[nodiscard]] Bytes free_memory(GpuId gpu) const override {
    return holds(server_of(gpu)) ? cluster_.free_memory(gpu) : Bytes{-1};
  }
  void jobs_on(GpuId gpu, std::vector<JobId>& jobs) const override { cluster_.jobs_on(gpu, jobs); }
  [[nodiscard]] JobView job(JobId job) const override { return cluster_.job(job); }
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId job) const override { return cluster_.gpus_of(job); }
  [[nodiscard]] Time load(GpuId gpu) const override { return cluster_.load(gpu); }
  [[nodiscard]] int free_gpus() const override { return free_in({0, static_cast<std::uint32_t>(servers())}); }
  [[nodiscard]] int free_gpus(ServerId server) const override { return holds(server) ? cluster_.free_gpus(server) : 0; }
  [[nodiscard]] ServerId next_server(int free, ServerId from) const override {
    ServerId server = cluster_.next_server(free, from);
    while (server.valid() && server.value() < around_.last && !holds(server))
      server = cluster_.next_server(free, after(server));
    return server.valid() && server.value() < around_.last ? server : ServerId::none();
  }
  [[nodiscard]] ServerRange servers_for(const JobView& job) const override {
    return common(cluster_.servers_for(job), around_);
  }
  [[nodiscard]] int free_share(GpuId gpu) const override {
    return holds(server_of(gpu)) ? cluster_.free_share(gpu) : 0;
  }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId server) const override {
    return cluster_.free_milli_cpus(server);
  }
  [[nodiscard]] Bytes free_host_memory(ServerId server) const override { return cluster_.free_host_memory(server); }
  [[nodiscard]] bool fits(GpuId gpu, const JobView& job) const override {
    return holds(server_of(gpu)) && cluster_.fits(gpu, job);
  }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t vc) const override { return free_gpus_on(vc, -1); }
  [[nodiscard]] int free_gpus_on(std::int32_t vc, std::int32_t type) const override {
    JobView job;
    job.vc = vc;
    job.server_type = type;
    return free_in(servers_for(job));
  }

 private:
  [[nodiscard]] const ClusterView& base() const override { return cluster_; }
  [[nodiscard]] bool holds(ServerId server) const { return levels_.domain_of(level_, server.index()) == domain_; }
  [[nodiscard]] int free_in(const ServerRange& range) const {
    int sum = 0;
    for (std::uint32_t s = range.first; s < range.last; ++s) sum += free_gpus(ServerId{s});
    return sum;
  }

  const ClusterView& cluster_;
  const LevelTree& levels_;
  std::size_t level_;
  std::uint32_t domain_;
  ServerRange around_;  // the servers of the domain, and others if they don't follow each other
};

/// A domain, and its room for a job.
struct Domain {
  std::uint32_t id = 0;
  std::int64_t room = 0;      // ranks in whole tasks
  std::int64_t segments = 0;  // whole segments, each of which fits into a domain of its level
  std::int64_t gpus = 0;      // free or not
  std::int64_t took = 0;      // segments
};

using Place = void (PlacementPolicy::*)(const ClusterView&, const JobView&, std::vector<GpuId>&);

/// Finds the place of one job.
class Search {
 public:
  Search(const ClusterView& cluster, const JobView& job, const LevelTree& levels, PlacementPolicy& others, Place place)
      : cluster_{cluster},
        job_{job},
        levels_{levels},
        demand_{levels.demand(job.level)},
        others_{others},
        place_{place},
        top_{levels.all.size()},
        range_{cluster.servers_for(job)},
        rule_{others.domain_rule(job, cluster.gpus_per_server(job.server_type))} {
    if (demand_.segment > 0) {
      size_ = std::min(demand_.segment, job.gpus);
      segment_level_ = static_cast<std::size_t>(demand_.segment_level);
    }
    look_at_servers();
  }

  void find(std::vector<GpuId>& chosen) {
    for (const std::size_t level : levels_to_try()) {
      std::vector<Domain> domains = domains_of(level);
      std::erase_if(domains, [&](const Domain& each) { return each.room < job_.gpus || each.segments < whole(); });
      std::ranges::stable_sort(domains, [&](const Domain& a, const Domain& b) { return is_before(a, b); });
      for (const Domain& each : domains) {
        fill(level, each.id, chosen);
        if (!chosen.empty()) return;
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t whole() const { return size_ == 0 ? 0 : job_.gpus / size_; }

  void look_at_servers() {
    FreeServers servers{cluster_, job_};
    const bool counts_free = others_.takes_free_gpus() && !asks_for_share(job_);
    std::vector<GpuId> gpus;
    rooms_.assign(cluster_.servers(), 0);
    for (std::uint32_t s = range_.first; s < range_.last; ++s) {
      gpus.clear();
      if (!counts_free) cluster_.gpus_with_room(ServerId{s}, job_, gpus);
      const int room = counts_free ? servers.room(ServerId{s}) : static_cast<int>(gpus.size());
      rooms_[s] = std::min(room / rule_.task, rule_.one_task ? 1 : room) * rule_.task;
    }
  }

  [[nodiscard]] std::vector<std::size_t> levels_to_try() const {
    const std::size_t required = demand_.required < 0 ? top_ : static_cast<std::size_t>(demand_.required);
    const std::size_t wanted = demand_.preferred < 0 ? required : static_cast<std::size_t>(demand_.preferred);
    std::vector<std::size_t> levels;
    for (std::size_t level = rule_.from_lowest && wanted < top_ ? 0 : wanted; level < required; ++level)
      if (!rule_.from_lowest || level <= wanted) levels.push_back(level);
    levels.push_back(required);
    return levels;
  }

  [[nodiscard]] std::vector<Domain> domains_of(std::size_t level) const {
    std::vector<Domain> domains(levels_.domains(level));
    for (std::size_t d = 0; d < domains.size(); ++d) domains[d].id = static_cast<std::uint32_t>(d);
    const auto per_server = static_cast<std::int64_t>(cluster_.gpus_per_server(job_.server_type));
    for (std::size_t s = range_.first; s < range_.last; ++s) {
      Domain& domain = domains[levels_.domain_of(level, s)];
      domain.room += rooms_[s];
      domain.gpus += per_server;
    }
    if (size_ == 0) return domains;
    // A domain below the level of segments counts with as many of them as it could hold.
    const std::size_t inner = std::min(level, segment_level_);
    std::vector<std::int64_t> inside(levels_.domains(inner));
    std::vector<std::uint32_t> above(inside.size());
    for (std::size_t s = range_.first; s < range_.last; ++s) {
      inside[levels_.domain_of(inner, s)] += rooms_[s];
      above[levels_.domain_of(inner, s)] = levels_.domain_of(level, s);
    }
    for (std::size_t d = 0; d < inside.size(); ++d) domains[above[d]].segments += inside[d] / size_;
    return domains;
  }

  /// True if the rule takes `a` before `b`, both of which have room.
  [[nodiscard]] bool is_before(const Domain& a, const Domain& b) const {
    const std::int64_t id_a = rule_.last ? -std::int64_t{a.id} : a.id, id_b = rule_.last ? -std::int64_t{b.id} : b.id;
    if (rule_.most_used) {
      const std::int64_t used_a = (a.gpus - a.room + job_.gpus) * b.gpus;
      const std::int64_t used_b = (b.gpus - b.room + job_.gpus) * a.gpus;
      return std::tuple{-used_a, id_a} < std::tuple{-used_b, id_b};
    }
    return std::tuple{a.segments, a.room, id_a} < std::tuple{b.segments, b.room, id_b};
  }

  /// Places the job in a domain.
  void fill(std::size_t level, std::uint32_t domain, std::vector<GpuId>& chosen) {
    if (size_ == 0 || level <= segment_level_) return ask(level, domain, job_.gpus, chosen);
    // What the policy can place in a domain may be less than its room; then it has less for another try.
    std::vector<std::int64_t> most(levels_.domains(segment_level_), INT64_MAX);
    while (true) {
      std::vector<Domain> parts = divided(level, domain, most);
      if (parts.empty()) return;
      const Domain* refused = nullptr;
      for (const Domain& part : parts) {
        std::vector<GpuId> here;
        ask(segment_level_, part.id, static_cast<int>(part.took), here);
        if (here.empty()) {
          refused = &part;
          break;
        }
        chosen.insert(chosen.end(), here.begin(), here.end());
      }
      if (refused == nullptr) return;
      chosen.clear();
      most[refused->id] = (refused->took + size_ - 1) / size_ - 1;
    }
  }

  void ask(std::size_t level, std::uint32_t domain, int ranks, std::vector<GpuId>& chosen) {
    const DomainView view{cluster_, levels_, level, domain};
    JobView part = job_;
    part.gpus = ranks;
    (others_.*place_)(view, part, chosen);
  }

  /// The ranks that domains of the segments' level inside a domain of `level` take, in `took`; empty: they can't take
  /// all. Those with the rest of the ranks come last.
  [[nodiscard]] std::vector<Domain> divided(std::size_t level, std::uint32_t outer,
                                            const std::vector<std::int64_t>& most) {
    std::vector<Domain> inner = domains_of(segment_level_);
    std::vector<std::uint32_t> above(inner.size());
    for (std::size_t s = range_.first; s < range_.last; ++s)
      above[levels_.domain_of(segment_level_, s)] = levels_.domain_of(level, s);
    for (Domain& each : inner) each.segments = std::min(each.segments, most[each.id]);
    std::erase_if(inner, [&](const Domain& each) { return above[each.id] != outer; });
    for (std::size_t lower = level; lower-- > segment_level_ + 1 && !rule_.segment_by_segment;) keep(lower, inner);
    choose(inner, whole());
    std::vector<Domain> parts;
    std::int64_t left = whole();
    for (const Domain& each : inner) {
      left -= each.took;
      if (each.took > 0) parts.push_back(each);
    }
    if (left > 0) return {};
    for (Domain& each : parts) each.took *= size_;
    if (const std::int64_t rest = job_.gpus % size_; rest > 0 && !add_rest(inner, rest, most, parts)) return {};
    return parts;
  }

  /// Keeps the domains in as few domains of a higher level as can take all segments.
  void keep(std::size_t level, std::vector<Domain>& inner) const {
    std::vector<Domain> outer(levels_.domains(level));
    std::vector<std::uint32_t> above(levels_.domains(segment_level_));
    for (std::size_t s = range_.first; s < range_.last; ++s)
      above[levels_.domain_of(segment_level_, s)] = levels_.domain_of(level, s);
    for (std::size_t d = 0; d < outer.size(); ++d) outer[d].id = static_cast<std::uint32_t>(d);
    for (const Domain& each : inner) {
      outer[above[each.id]].segments += each.segments;
      outer[above[each.id]].room += each.room;
    }
    choose(outer, whole());
    std::erase_if(inner, [&](const Domain& each) {
      return std::ranges::none_of(outer, [&](const Domain& o) { return o.id == above[each.id] && o.took > 0; });
    });
  }

  /// Has these domains take so many segments: the fullest that can take all, else the domain that takes most, and
  /// so on. Puts them into this order.
  void choose(std::vector<Domain>& domains, std::int64_t segments) const {
    std::vector<Domain> order;
    while (segments > 0) {
      const std::int64_t wanted = rule_.segment_by_segment ? 1 : segments;
      auto best = domains.end();
      for (auto each = domains.begin(); each != domains.end(); ++each) {
        if (each->segments == each->took) continue;
        if (best == domains.end() || is_better(*each, *best, wanted)) best = each;
      }
      if (best == domains.end()) break;
      const std::int64_t taken = std::min(best->segments - best->took, wanted);
      best->took += taken;
      segments -= taken;
      if (std::ranges::find(order, best->id, &Domain::id) == order.end()) order.push_back(*best);
    }
    for (Domain& each : order) each = *std::ranges::find(domains, each.id, &Domain::id);
    for (const Domain& each : domains)
      if (each.took == 0) order.push_back(each);
    domains = std::move(order);
  }

  [[nodiscard]] bool is_better(const Domain& a, const Domain& b, std::int64_t wanted) const {
    const std::int64_t has_a = a.segments - a.took, has_b = b.segments - b.took;
    const std::int64_t left_a = a.room - a.took * size_, left_b = b.room - b.took * size_;
    const std::int64_t id_a = rule_.last ? -std::int64_t{a.id} : a.id, id_b = rule_.last ? -std::int64_t{b.id} : b.id;
    const bool fits_a = has_a >= wanted, fits_b = has_b >= wanted;
    if (fits_a != fits_b) return fits_a;
    return std::tuple{fits_a ? has_a : -has_a, left_a, id_a} < std::tuple{fits_b ? has_b : -has_b, left_b, id_b};
  }

  /// Has the domain with the least room that suffices take the ranks that are no whole segment.
  [[nodiscard]] bool add_rest(const std::vector<Domain>& inner, std::int64_t rest,
                              const std::vector<std::int64_t>& most, std::vector<Domain>& parts) const {
    const Domain* best = nullptr;
    const auto left = [&](const Domain& each) { return each.room - each.took * size_; };
    for (const Domain& each : inner) {
      if (left(each) < rest || each.took >= most[each.id]) continue;
      if (best == nullptr || left(each) < left(*best)) best = &each;
    }
    if (best == nullptr) return false;
    const auto there = std::ranges::find(parts, best->id, &Domain::id);
    Domain last = *best;
    last.took = best->took * size_ + rest;
    if (there != parts.end()) parts.erase(there);
    parts.push_back(last);
    return true;
  }

  const ClusterView& cluster_;
  const JobView& job_;
  const LevelTree& levels_;
  const LevelDemand& demand_;
  PlacementPolicy& others_;
  Place place_;
  std::size_t top_;
  ServerRange range_;
  DomainRule rule_;
  int size_ = 0;  // of a segment; 0: there are none
  std::size_t segment_level_ = 0;
  std::vector<int> rooms_;  // by server
};

class LevelPlacement final : public PlacementPolicy {
 public:
  LevelPlacement(std::shared_ptr<const LevelTree> levels, std::unique_ptr<PlacementPolicy> others)
      : levels_{std::move(levels)}, others_{std::move(others)} {}

  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (job.level < 0) return others_->place(cluster, job, chosen);
    Search{cluster, job, *levels_, *others_, &PlacementPolicy::place}.find(chosen);
  }
  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    if (job.level < 0) return others_->plan(cluster, job, chosen);
    Search{cluster, job, *levels_, *others_, &PlacementPolicy::plan}.find(chosen);
  }
  [[nodiscard]] bool has_place(const ClusterView& cluster, const JobView& job) override {
    return job.level < 0 ? others_->has_place(cluster, job) : PlacementPolicy::has_place(cluster, job);
  }
  /// Equal demand includes the levels.
  [[nodiscard]] bool refuses_alike() const override { return others_->refuses_alike(); }
  [[nodiscard]] bool ignores_progress() const override { return others_->ignores_progress(); }
  [[nodiscard]] bool ignores_progress_on_full_servers() const override {
    return others_->ignores_progress_on_full_servers();
  }
  [[nodiscard]] bool takes_free_gpus() const override { return others_->takes_free_gpus(); }
  /// The parts of a job in several domains may need less whole servers than the job.
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    const bool is_whole = job.level < 0 || levels_->demand(job.level).segment == 0;
    return is_whole ? others_->room_needed(job, gpus_per_server) : RoomNeeded{};
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override { return others_->next_decision(cluster); }

 private:
  std::shared_ptr<const LevelTree> levels_;
  std::unique_ptr<PlacementPolicy> others_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_level_placement(std::shared_ptr<const LevelTree> levels,
                                                      std::unique_ptr<PlacementPolicy> others) {
  CONTEND_CHECK(levels != nullptr && others != nullptr, "levels need a placement policy inside their domains");
  return std::make_unique<LevelPlacement>(std::move(levels), std::move(others));
}

}  // namespace contend
