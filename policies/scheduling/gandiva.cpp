// Gandiva (Xiao et al., OSDI 2018, sections 3 and 4) gives servers more jobs than they have GPUs and has these take
// turns of a slice each. The jobs of a server get equal time: at the end of a slice those come first that have had
// least.
//
// Where a server is over-subscribed, jobs that have run alone for a slice, so that it is known how busy they keep their
// GPUs, are packed on trial: two of as many GPUs, those that keep them busy least. After a slice together they stay so
// if they do more than taking turns, i.e. if their speeds add up to more than 1, and else are never tried again (the
// rule of Gavel's released version). A pair counts as one in the turns, and parts when there is room for both.
//
// A job comes to the servers with room for it, else to those with the least load. Jobs that wait migrate from the
// server with the largest load while that makes loads more equal, and to any server with GPUs that nobody uses. The
// load of a server is the part of its GPUs that its jobs need, or of its CPUs or memory if that is more. A job is
// spread over more servers where the CPUs and the memory of one don't suffice for as many of its GPUs.

#include "policies/registry.hpp"
#include "policies/scheduling/demand.hpp"
#include "policies/scheduling/gpu_groups.hpp"
#include "policies/scheduling/host_room.hpp"
#include "policies/scheduling/next_places.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

namespace {

/// GPUs of a server.
struct GandivaPart {
  std::uint32_t server = 0;
  int gpus = 0;
};

/// A job, or a pair of jobs on the same GPUs.
struct GandivaUnit {
  std::vector<JobId> jobs;
  std::int64_t tie = 0;  ///< JobView::tie of the first when it came
  int gpus = 1;
  std::vector<GandivaPart> home{};  ///< empty: no servers can have it now
  Time received{};                  ///< in its turns; without a home, by how much more than the others of its last one
  Time together{};                  ///< as a pair
  bool is_on_trial = false;
  bool runs = false;
};

/// A job that is here.
struct KnownJob {
  HostRoom rank;  ///< its CPUs and memory on the server of each of its GPUs
  Time alone{};   ///< for so long it has run alone
};

class Gandiva final : public SchedulingPolicy {
 public:
  Gandiva(Time slice, bool packs) : slice_{slice}, packs_{packs} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& view) override {
    if (known_.try_emplace(view.id, KnownJob{HostRoom::of_rank(view), {}}).second) arrived_.push_back(view.id);
  }
  void left(JobId job) override {
    known_.erase(job);
    std::erase(arrived_, job);
    std::erase_if(apart_, [job](const auto& pair) { return pair.first == job || pair.second == job; });
    for (GandivaUnit& unit : units_)
      if (std::erase(unit.jobs, job) > 0) unit.is_on_trial = false;
    std::erase_if(units_, [](const GandivaUnit& unit) { return unit.jobs.empty(); });
  }
  [[nodiscard]] bool idle_passes() const override { return true; }  // jobs that end leave room for pairs to part
  [[nodiscard]] Time slice(int) const override { return slice_; }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
    return takes_turns_ ? std::max(slice_end_, cluster.now() + Time::nanoseconds(1)) : Time::never();
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    const Time now = cluster.now();
    actions_ = &actions;
    count_time(now);
    const bool slice_ends = takes_turns_ && now >= slice_end_;
    if (!takes_turns_ || slice_ends) slice_end_ = now + slice_;
    look_at_servers(cluster);
    for (const JobId job : std::exchange(arrived_, {})) add(cluster, job);
    if (slice_ends) judge(cluster, actions);
    part_where_there_is_room(actions);
    migrate(cluster);
    if (slice_ends && packs_) pack(cluster);
    run(cluster, actions, choose(cluster, slice_ends));
    use_free_gpus(cluster, actions);
    takes_turns_ = std::ranges::any_of(units_, [](const GandivaUnit& u) { return !u.runs || u.is_on_trial; });
    for (const GandivaUnit& unit : units_)
      for (const JobId job : unit.jobs)
        if (!cluster.job(job).running) actions.blocked(job, Why::passed_over);
  }

 private:
  using Pair = std::pair<JobId, JobId>;
  static Pair pair_of(JobId a, JobId b) { return {std::min(a, b), std::max(a, b)}; }

  void count_time(Time now) {
    for (GandivaUnit& unit : units_) {
      if (!unit.runs) continue;
      unit.received += now - counted_until_;
      if (unit.jobs.size() > 1)
        unit.together += now - counted_until_;
      else
        known_.at(unit.jobs.front()).alone += now - counted_until_;
    }
    counted_until_ = now;
  }

  void look_at_servers(const ClusterView& cluster) {
    per_server_ = static_cast<std::size_t>(cluster.gpus_per_server(-1));
    gpus_.clear();
    hosts_.clear();
    for (const WholeServer& server : whole_servers(cluster)) {
      gpus_.push_back(server.gpus);
      hosts_.push_back(server.host);
    }
    load_.assign(cluster.servers(), 0);
    host_load_.assign(cluster.servers(), {});
    lose_homes();
    for (const GandivaUnit& unit : units_) load(unit, 1);
    std::vector<GandivaUnit*> homeless;
    for (GandivaUnit& unit : units_)
      if (unit.home.empty()) homeless.push_back(&unit);
    std::ranges::sort(homeless, {}, [](const GandivaUnit* unit) { return std::pair{unit->received, unit->tie}; });
    for (GandivaUnit* const unit : homeless) move(*unit, home_for(cluster, *unit, {}));
  }

  /// Units on servers that have lost GPUs of theirs have no home any more. One whose neighbours have all been
  /// interrupted is ahead of nobody.
  void lose_homes() {
    std::vector<std::pair<GandivaUnit*, Time>> homeless;
    for (GandivaUnit& unit : units_)
      if (std::ranges::any_of(unit.home, [&](const GandivaPart& part) { return gpus_[part.server] < part.gpus; }))
        homeless.emplace_back(&unit, std::max(Time{}, unit.received - least_received(unit)));
    for (const auto& [unit, ahead] : homeless) {
      unit->home.clear();
      unit->received = ahead;
    }
  }

  /// What the jobs of the unit need on the server of each of its GPUs.
  [[nodiscard]] HostRoom need_of(const GandivaUnit& unit) const {
    HostRoom need;
    for (const JobId job : unit.jobs) need.add(known_.at(job).rank, 1);
    return need;
  }

  void load(const GandivaUnit& unit, int sign) {
    const HostRoom need = need_of(unit);
    for (const GandivaPart& part : unit.home) {
      load_[part.server] += sign * part.gpus;
      host_load_[part.server].add(need, std::int64_t{sign} * part.gpus);
    }
  }

  /// Of the time that other units of its servers have had, the least; never() if there are none.
  [[nodiscard]] Time least_received(const GandivaUnit& own) const {
    Time least = Time::never();
    for (const GandivaUnit& unit : units_) {
      const bool meets = &unit != &own && std::ranges::any_of(unit.home, [&](const GandivaPart& part) {
        return std::ranges::any_of(own.home, [&](const GandivaPart& mine) { return mine.server == part.server; });
      });
      if (meets) least = std::min(least, unit.received);
    }
    return least;
  }

  /// The unit is as far ahead of the others on its new servers as it was on its old ones.
  void move(GandivaUnit& unit, std::vector<GandivaPart> home) {
    if (const Time least = least_received(unit); least < Time::never())
      unit.received = std::max(Time{}, unit.received - least);
    load(unit, -1);
    unit.home = std::move(home);
    load(unit, 1);
    if (const Time least = least_received(unit); least < Time::never()) unit.received += least;
  }

  void add(const ClusterView& cluster, JobId job) {
    const JobView view = cluster.job(job);
    units_.push_back({.jobs = {job}, .tie = view.tie, .gpus = view.gpus});
    move(units_.back(), home_for(cluster, units_.back(), {}));
  }

  /// Servers for the unit: with room for it beside all that are there, best with others of its size, the fullest first;
  /// else the one that then has the least load. If `free` is given only servers with so many GPUs that nobody uses.
  /// Each has as many of its GPUs as one server can have, but the last, which has the rest.
  [[nodiscard]] std::vector<GandivaPart> home_for(const ClusterView& cluster, const GandivaUnit& unit,
                                                  std::span<const int> free) const {
    const JobView view = cluster.job(unit.jobs.front());
    if (view.place >= 0 || view.level >= 0) return placed_home_for(cluster, unit, !free.empty());
    const ServerRange range = cluster.servers_for(view);
    std::vector<int> affinity(gpus_.size(), 1);  // 0: all are of its size; 1: there are none; 2: others
    for (const GandivaUnit& other : units_)
      for (const GandivaPart& part : other.home)
        affinity[part.server] = other.gpus != unit.gpus ? 2 : affinity[part.server] == 2 ? 2 : 0;
    const HostRoom need = need_of(unit);
    int together = 0;  // GPUs of the unit that one server can have
    for (std::uint32_t s = range.first; s < range.last; ++s)
      together = std::max(together, hosts_[s].ranks(need, static_cast<int>(per_server_)));
    std::vector<GandivaPart> home;
    const auto is_used = [&](std::uint32_t server) {
      return std::ranges::find(home, server, &GandivaPart::server) != home.end();
    };
    for (int left = unit.gpus; left > 0 && together > 0;) {
      const int wanted = std::min(left, together);
      using Rank = std::tuple<bool, double, int, double>;
      std::optional<Rank> best;
      std::uint32_t chosen = 0;
      for (std::uint32_t s = range.first; s < range.last; ++s) {
        if (gpus_[s] < wanted || is_used(s) || (!free.empty() && free[s] < wanted)) continue;
        if (hosts_[s].ranks(need, wanted) < wanted) continue;
        const double then = load_of(s, wanted, need);
        const bool is_over = then > 1;
        const Rank rank{is_over, is_over ? then : 0, affinity[s], -then};
        if (best && *best <= rank) continue;
        best = rank;
        chosen = s;
      }
      if (!best) return {};
      home.push_back({chosen, wanted});
      left -= wanted;
    }
    return home;
  }

  /// The home of a unit that must run on certain GPUs or lie in certain levels: where the placement policy would put it
  /// beside all units if there is room, else if nothing ran; with `only_free` as the cluster is now.
  [[nodiscard]] std::vector<GandivaPart> placed_home_for(const ClusterView& cluster, const GandivaUnit& unit,
                                                         bool only_free) const {
    const HostRoom need = need_of(unit);
    if (only_free && is_pinned(cluster, unit)) return {};  // it has no other home
    std::vector<GandivaPart> home;
    for (const bool beside_others : {true, false}) {
      NextPlaces next{cluster, *actions_, only_free ? std::vector<JobId>{} : running(cluster)};
      for (const GandivaUnit& other : units_) {
        if (only_free || !beside_others || &other == &unit) continue;
        for (const GandivaPart& part : other.home) next.take({{part.server, part.gpus}}, need_of(other));
      }
      for (const auto& [server, gpus] : next.ask(unit.jobs.front(), -1, need))
        home.push_back({static_cast<std::uint32_t>(server), gpus});
      if (!home.empty() || only_free) break;
    }
    return home;
  }

  [[nodiscard]] static bool is_pinned(const ClusterView& cluster, const GandivaUnit& unit) {
    return cluster.job(unit.jobs.front()).place >= 0;
  }
  [[nodiscard]] std::vector<JobId> running(const ClusterView& cluster) const {
    std::vector<JobId> jobs;
    for (const auto& [job, known] : known_)
      if (cluster.job(job).running) jobs.push_back(job);
    return jobs;
  }

  /// Two jobs that have been together go on as two units; the second queues.
  void part(std::size_t at, SchedulingActions& actions) {
    load(units_[at], -1);
    GandivaUnit second = units_[at];
    second.jobs.erase(second.jobs.begin());
    units_[at].jobs.pop_back();
    load(units_[at], 1);
    units_[at].is_on_trial = second.is_on_trial = false;
    units_[at].together = second.together = Time{};
    if (std::exchange(second.runs, false)) actions.preempt(second.jobs.front(), units_[at].jobs.front());
    load(second, 1);
    units_.push_back(std::move(second));
  }

  void judge(const ClusterView& cluster, SchedulingActions& actions) {
    for (std::size_t at = 0; at < units_.size(); ++at) {
      GandivaUnit& unit = units_[at];
      if (!unit.is_on_trial || unit.together < slice_) continue;
      unit.is_on_trial = false;
      if (joint_speed(cluster, unit.jobs, 0) > 1) continue;
      apart_.insert(pair_of(unit.jobs[0], unit.jobs[1]));
      part(at, actions);
    }
  }

  void part_where_there_is_room(SchedulingActions& actions) {
    for (std::size_t at = 0; at < units_.size(); ++at) {
      const GandivaUnit& unit = units_[at];
      if (unit.jobs.size() == 2 && std::ranges::all_of(unit.home, [&](const GandivaPart& part) {
            return load_of(part.server, part.gpus, {}) <= 1;  // the pair has CPUs and memory for both already
          }))
        part(at, actions);
    }
  }

  /// The load of the server if so many more GPUs of it were needed, and as much more on their server for each of them.
  [[nodiscard]] double load_of(std::uint32_t server, int more = 0, const HostRoom& rank = {}) const {
    HostRoom then = host_load_[server];
    then.add(rank, more);
    return std::max(static_cast<double>(load_[server] + more) / gpus_[server], then.part_of(hosts_[server]));
  }

  void migrate(const ClusterView& cluster) {
    for (bool has_moved = true; std::exchange(has_moved, false);) {
      GandivaUnit* best = nullptr;
      std::vector<GandivaPart> to;
      double worst = 1;  // load of the server that it leaves; only over-subscribed ones
      for (GandivaUnit& unit : units_) {
        if (unit.runs || unit.home.size() != 1) continue;
        const double from = load_of(unit.home.front().server);
        if (!(from > worst)) continue;
        std::vector<GandivaPart> home = home_for(cluster, unit, {});
        if (home.size() != 1 || home.front().server == unit.home.front().server ||
            load_of(home.front().server, unit.gpus, need_of(unit)) >= from)
          continue;
        best = &unit;
        to = std::move(home);
        worst = from;
      }
      if (best == nullptr) return;
      move(*best, std::move(to));
      has_moved = true;
    }
  }

  [[nodiscard]] static double busy_part(const ClusterView& cluster, JobId job) {
    const StageTimes stages = cluster.stages_of(job);
    const double all = std::accumulate(stages.begin(), stages.end(), 0.0);
    return all > 0 ? stages[kGpuStage] / all : 1;
  }

  void pack(const ClusterView& cluster) {
    struct Candidate {
      double busy;
      std::int64_t tie;
      std::size_t unit;
    };
    std::map<std::uint32_t, std::vector<Candidate>> by_server;  // of one server, over-subscribed
    for (std::size_t at = 0; at < units_.size(); ++at) {
      const GandivaUnit& unit = units_[at];
      if (unit.home.size() != 1 || unit.jobs.size() != 1 || load_of(unit.home.front().server) <= 1) continue;
      const JobId job = unit.jobs.front();
      if (!cluster.job(job).timed || known_.at(job).alone < slice_) continue;
      by_server[unit.home.front().server].push_back({busy_part(cluster, job), unit.tie, at});
    }
    std::set<std::size_t> gone;
    for (auto& [server, candidates] : by_server) {
      std::ranges::sort(candidates, {}, [](const Candidate& each) { return std::tuple{each.busy, each.tie}; });
      for (std::size_t a = 0; a < candidates.size(); ++a)
        for (std::size_t b = a + 1; b < candidates.size() && load_of(server) > 1; ++b) {
          const std::size_t first = candidates[a].unit, second = candidates[b].unit;
          if (gone.contains(first)) break;
          if (!gone.contains(second) && may_try(cluster, units_[first], units_[second])) {
            join(units_[first], units_[second]);
            gone.insert(second);
            break;
          }
        }
    }
    for (auto at = gone.rbegin(); at != gone.rend(); ++at)
      units_.erase(units_.begin() + static_cast<std::ptrdiff_t>(*at));
  }

  [[nodiscard]] bool may_try(const ClusterView& cluster, const GandivaUnit& a, const GandivaUnit& b) const {
    if (a.gpus != b.gpus || a.jobs.size() > 1 || apart_.contains(pair_of(a.jobs.front(), b.jobs.front()))) return false;
    const JobView first = cluster.job(a.jobs.front()), second = cluster.job(b.jobs.front());
    if (first.place != second.place || first.level != second.level) return false;
    const std::int32_t vcs[] = {first.vc, second.vc};
    if (!QuotasLeft{cluster}.take(vcs, a.gpus)) return false;  // no quota would ever let both run
    HostRoom need = need_of(a);
    need.add(need_of(b), 1);
    for (const GandivaPart& part : a.home)
      if (hosts_[part.server].ranks(need, part.gpus) < part.gpus) return false;
    const JobId both[] = {a.jobs.front(), b.jobs.front()};
    return joint_speed(cluster, both, 0) > 0;
  }

  void join(GandivaUnit& first, GandivaUnit& second) {
    load(first, -1);
    load(second, -1);
    first.jobs.push_back(second.jobs.front());
    load(first, 1);
    if (second.runs && !first.runs) std::swap(first.jobs.front(), first.jobs.back());
    first.runs = first.runs || second.runs;
    first.received = std::max(first.received, second.received);
    first.together = Time{};
    first.is_on_trial = true;
  }

  /// The units that run from now on. Within a slice those that run go on.
  [[nodiscard]] std::vector<std::size_t> choose(const ClusterView& cluster, bool slice_ends) const {
    std::vector<std::size_t> order(units_.size()), chosen;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t at) {
      const GandivaUnit& unit = units_[at];
      return std::tuple{!slice_ends && !unit.runs, unit.received, unit.runs, unit.tie};
    });
    std::vector<int> left = gpus_;
    std::vector<HostRoom> host_left = hosts_;
    QuotasLeft quotas{cluster};
    std::optional<NextPlaces> next;  // if any waits for certain GPUs
    std::set<GpuId> claimed;         // by units that are chosen and run or need certain ones
    for (const std::size_t at : order) {
      const GandivaUnit& unit = units_[at];
      const HostRoom need = need_of(unit);
      const auto held = cluster.gpus_of(unit.jobs.front());
      std::vector<GpuId> certain{held.begin(), held.end()};
      if (!unit.runs && is_pinned(cluster, unit)) {
        if (!next) next.emplace(cluster, *actions_, running(cluster));
        certain = next->place(unit.jobs.front(), -1, need);
        if (certain.empty()) continue;
      }
      if (std::ranges::any_of(certain, [&](GpuId gpu) { return claimed.contains(gpu); })) continue;
      const auto fits = [&](const GandivaPart& part) {
        return part.gpus <= left[part.server] && host_left[part.server].ranks(need, part.gpus) == part.gpus;
      };
      if (unit.home.empty() || !std::ranges::all_of(unit.home, fits)) continue;
      std::vector<std::int32_t> vcs;
      for (const JobId job : unit.jobs) vcs.push_back(cluster.job(job).vc);
      if (!quotas.take(vcs, unit.gpus)) continue;
      for (const GandivaPart& part : unit.home) {
        left[part.server] -= part.gpus;
        host_left[part.server].add(need, -part.gpus);
      }
      claimed.insert(certain.begin(), certain.end());
      chosen.push_back(at);
    }
    return chosen;
  }

  void run(const ClusterView& cluster, SchedulingActions& actions, const std::vector<std::size_t>& chosen) {
    std::vector<char> stays(units_.size(), 0);
    for (const std::size_t at : chosen) stays[at] = 1;
    for (std::size_t at = 0; at < units_.size(); ++at) {
      for (const JobId job : units_[at].jobs) {
        if (!cluster.job(job).running) continue;
        const bool is_first = job == units_[at].jobs.front();
        if (stays[at] == 0 || (!is_first && !same_gpus(cluster, job, units_[at].jobs.front()))) actions.preempt(job);
      }
      units_[at].runs = stays[at] != 0 && cluster.job(units_[at].jobs.front()).running;
    }
    for (const bool pinned : {true, false})
      for (const std::size_t at : chosen)
        if (is_pinned(cluster, units_[at]) == pinned) start(cluster, actions, at);
  }

  static bool same_gpus(const ClusterView& cluster, JobId a, JobId b) {
    return std::ranges::is_permutation(cluster.gpus_of(a), cluster.gpus_of(b));
  }

  /// Starts what of the unit doesn't run. A second job that can't join leaves it.
  void start(const ClusterView& cluster, SchedulingActions& actions, std::size_t at) {
    const JobId first = units_[at].jobs.front();
    if (!units_[at].runs) {
      const std::vector<GpuId> gpus = free_gpus(cluster, units_[at]);
      const bool starts = is_pinned(cluster, units_[at])
                              ? actions.start(first)
                              : std::ssize(gpus) == units_[at].gpus && actions.start_at(first, gpus);
      if (!starts) return;
      units_[at].runs = true;
    }
    if (units_[at].jobs.size() < 2 || cluster.job(units_[at].jobs.back()).running) return;
    const auto held = cluster.gpus_of(first);
    if (actions.start_at(units_[at].jobs.back(), std::vector<GpuId>{held.begin(), held.end()})) return;
    apart_.insert(pair_of(first, units_[at].jobs.back()));
    load(units_[at], -1);
    GandivaUnit second = units_[at];
    second.jobs.erase(second.jobs.begin());
    second.runs = second.is_on_trial = units_[at].is_on_trial = false;
    units_[at].jobs.pop_back();
    load(units_[at], 1);
    load(second, 1);
    units_.push_back(std::move(second));
  }

  [[nodiscard]] std::vector<GpuId> free_gpus(const ClusterView& cluster, const GandivaUnit& unit) const {
    const JobView view = cluster.job(unit.jobs.front());
    std::vector<GpuId> gpus;
    for (const GandivaPart& part : unit.home) {
      int left = part.gpus;
      for (std::size_t g = part.server * per_server_; g < (part.server + 1) * per_server_ && left > 0; ++g) {
        if (cluster.free_share(GpuId{g}) != kWholeGpu || !cluster.fits(GpuId{g}, view)) continue;
        gpus.push_back(GpuId{g});
        --left;
      }
    }
    return gpus;
  }

  /// Units that wait move to servers with GPUs that nobody uses.
  void use_free_gpus(const ClusterView& cluster, SchedulingActions& actions) {
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < units_.size(); ++at)
      if (!units_[at].runs) order.push_back(at);
    std::ranges::sort(order, {}, [&](std::size_t at) { return std::pair{units_[at].received, units_[at].tie}; });
    for (const std::size_t at : order) {
      if (cluster.free_gpus_of_vc(cluster.job(units_[at].jobs.front()).vc) < units_[at].gpus) continue;
      const HostRoom need = need_of(units_[at]);
      std::vector<int> free(gpus_.size());
      for (std::size_t s = 0; s < free.size(); ++s)
        free[s] = HostRoom::free_on(cluster, ServerId{s}).ranks(need, cluster.free_gpus(ServerId{s}));
      std::vector<GandivaPart> home = home_for(cluster, units_[at], free);
      if (home.empty()) continue;
      move(units_[at], std::move(home));
      start(cluster, actions, at);
    }
  }

  Time slice_;
  bool packs_;
  std::vector<GandivaUnit> units_;
  std::map<JobId, KnownJob> known_;  // by job that is here
  std::vector<JobId> arrived_;
  std::set<Pair> apart_;                     // pairs that are not tried again
  std::vector<int> gpus_, load_;             // by server: GPUs in service, and those that its units need together
  std::vector<HostRoom> hosts_, host_load_;  // CPUs and memory of the servers, and those that jobs hold
  std::size_t per_server_ = 1;
  Time counted_until_{}, slice_end_{};
  bool takes_turns_ = false;              // since the last pass
  SchedulingActions* actions_ = nullptr;  // in a pass only
};

std::unique_ptr<SchedulingPolicy> make_gandiva(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Gandiva>(Time::ceil_nanoseconds(parameters.get<double>("slice_s") * 1e9),
                                   parameters.get<bool>("pack"));
}

}  // namespace

PolicyRow<SchedulingPolicy> gandiva_scheduling() {
  static constexpr ParameterInfo kParameters[] = {
      {"slice_s", 60.0, 1, 1e6, "for so many seconds a job keeps its GPUs before others of its server have their turn"},
      {"pack", true, 0, 0, "two jobs of an over-subscribed server share GPUs on trial, and go on where that pays"}};
  return {.name = "gandiva",
          .summary = "servers have more jobs than GPUs, which take turns, share GPUs where that pays, and migrate",
          .source = "Xiao et al., OSDI 2018",
          .parameters = kParameters,
          .make = make_gandiva,
          .one_type = true,
          .shares = GpuShares::by_law};
}

}  // namespace contend
