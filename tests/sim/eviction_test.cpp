// Compares the choice of the jobs that give way with the rule of sim/eviction.hpp written out as plain loops: every
// question to the placement policy from the start, and one more server at a time.

#include "sim/eviction.hpp"

#include "sim/job_bodies.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

using Gpus = std::vector<std::size_t>;

/// As many whole servers as the gang fills, those with the smallest ids, and for the rest of it the first server that
/// has room; nothing if there are none.
Gpus pack(const std::vector<bool>& is_free, ServerRange servers, std::size_t per_server, std::size_t gang) {
  Gpus chosen;
  const auto free_on = [&](std::size_t server) {
    Gpus free;
    for (std::size_t gpu = server * per_server; gpu < (server + 1) * per_server; ++gpu) {
      if (is_free[gpu] && std::find(chosen.begin(), chosen.end(), gpu) == chosen.end()) free.push_back(gpu);
    }
    return free;
  };
  while (chosen.size() < gang) {
    const std::size_t wanted = std::min(per_server, gang - chosen.size());
    Gpus found;
    for (std::size_t server = servers.first; server < servers.last && found.size() < wanted; ++server) {
      found = free_on(server);
    }
    if (found.size() < wanted) return {};
    chosen.insert(chosen.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  return chosen;
}

class Packed final : public PlacementPolicy {
 public:
  explicit Packed(int& questions) : questions_{questions} {}
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    ++questions_;
    std::vector<bool> is_free;
    for (std::size_t gpu = 0; gpu < cluster.gpus(); ++gpu) is_free.push_back(cluster.fits(GpuId{gpu}, job));
    const std::size_t per_server = cluster.gpus() / cluster.servers();
    for (const std::size_t gpu :
         pack(is_free, cluster.servers_for(job), per_server, static_cast<std::size_t>(job.gpus))) {
      chosen.emplace_back(gpu);
    }
  }
  [[nodiscard]] RoomNeeded room_needed(const JobView& job, int gpus_per_server) const override {
    return {job.gpus / gpus_per_server, job.gpus % gpus_per_server};
  }

 private:
  int& questions_;
};

/// A running job and the work that it loses if it is preempted.
struct Holder {
  JobId job;
  Gpus gpus;
  std::int64_t lost_ns = 0;  ///< of all its GPUs
  std::int32_t vc = -1;
};

/// Who gives way, and the GPUs of the gang then; nothing if it has no place or nobody may give way.
struct Choice {
  std::vector<JobId> victims;
  Gpus chosen;
  bool operator==(const Choice&) const = default;
};

/// The rule of sim/eviction.hpp. A job is in `candidates` if it holds a GPU that the gang may use.
class PlainEviction {
 public:
  PlainEviction(std::vector<bool> is_free, std::size_t per_server, std::vector<Holder> candidates, const JobSpec& gang,
                ServerRange usable, int quota_left)
      : is_free_{std::move(is_free)},
        per_server_{per_server},
        candidates_{std::move(candidates)},
        gang_{static_cast<std::size_t>(gang.gpus)},
        vc_{gang.vc},
        usable_{usable},
        quota_left_{quota_left} {
    std::erase_if(candidates_, [&](const Holder& holder) {
      return std::none_of(holder.gpus.begin(), holder.gpus.end(), [&](std::size_t gpu) { return is_usable(gpu); });
    });
  }

  [[nodiscard]] bool has_room() const {
    std::size_t whole = 0, for_rest = 0;
    for (std::size_t server = usable_.first; server < usable_.last; ++server) {
      std::size_t room = free_on(server);
      for (const Holder& holder : candidates_) room += held_on(holder, server);
      if (room == per_server_) ++whole;
      if (room >= gang_ % per_server_) ++for_rest;
    }
    return whole >= gang_ / per_server_ && (gang_ % per_server_ == 0 || for_rest >= gang_ / per_server_ + 1);
  }

  [[nodiscard]] Choice choose() const {
    if (candidates_.empty()) return {};
    std::set<std::size_t> away = enough();
    Gpus chosen = place(away);
    if (chosen.empty()) return {};
    // Back come all who hold none of the chosen GPUs, and then one after the other, the most expensive first.
    std::set<std::size_t> without_spare = away;
    std::erase_if(without_spare, [&](std::size_t i) {
      return std::none_of(candidates_[i].gpus.begin(), candidates_[i].gpus.end(), [&](std::size_t gpu) {
        return std::find(chosen.begin(), chosen.end(), gpu) != chosen.end();
      });
    });
    if (!place(without_spare).empty()) away = without_spare;
    std::vector<std::size_t> dearest_first{away.begin(), away.end()};
    std::sort(dearest_first.begin(), dearest_first.end(),
              [&](std::size_t a, std::size_t b) { return cost(b) < cost(a); });
    for (const std::size_t i : dearest_first) {
      std::set<std::size_t> others = away;
      others.erase(i);
      if (!place(others).empty()) away = others;
    }
    Choice choice{{}, place(away)};
    for (const std::size_t i : away) choice.victims.push_back(candidates_[i].job);
    return choice;
  }

 private:
  [[nodiscard]] bool is_usable(std::size_t gpu) const { return usable_.contains(ServerId{gpu / per_server_}); }
  [[nodiscard]] std::size_t free_on(std::size_t server) const {
    const auto first = is_free_.begin() + static_cast<std::ptrdiff_t>(server * per_server_);
    return static_cast<std::size_t>(std::count(first, first + static_cast<std::ptrdiff_t>(per_server_), true));
  }
  [[nodiscard]] std::size_t held_on(const Holder& holder, std::size_t server) const {
    return static_cast<std::size_t>(std::count_if(holder.gpus.begin(), holder.gpus.end(),
                                                  [&](std::size_t gpu) { return gpu / per_server_ == server; }));
  }
  [[nodiscard]] std::tuple<std::int64_t, std::size_t, std::size_t> cost(std::size_t i) const {
    return {candidates_[i].lost_ns, candidates_[i].gpus.size(), i};
  }

  [[nodiscard]] Gpus place(const std::set<std::size_t>& away) const {
    std::vector<bool> is_free = is_free_;
    int quota = quota_left_;
    for (const std::size_t i : away) {
      for (const std::size_t gpu : candidates_[i].gpus) is_free[gpu] = true;
      if (candidates_[i].vc == vc_ && quota < INT_MAX) quota += static_cast<int>(candidates_[i].gpus.size());
    }
    if (static_cast<int>(gang_) > quota) return {};
    return pack(is_free, usable_, per_server_, gang_);
  }

  /// Those who leave a server so that it has room for the gang, or for as much of it as a server can hold: from the
  /// cheapest on for each GPU there, but none without whom it is enough.
  [[nodiscard]] std::set<std::size_t> leaving(std::size_t server) const {
    std::vector<std::pair<double, std::size_t>> by_price;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::size_t held = held_on(candidates_[i], server);
      const double lost_s = static_cast<double>(candidates_[i].lost_ns) / 1e9;
      const double of_all = 1e-9 * static_cast<double>(candidates_[i].gpus.size());  // fewer GPUs go first
      if (held > 0) by_price.emplace_back((lost_s + of_all) / static_cast<double>(held), i);
    }
    std::sort(by_price.begin(), by_price.end());
    const std::size_t needed = std::min(gang_, per_server_);
    std::size_t room = free_on(server);
    std::vector<std::size_t> those;
    for (std::size_t k = 0; k < by_price.size() && room < needed; ++k) {
      those.push_back(by_price[k].second);
      room += held_on(candidates_[those.back()], server);
    }
    std::set<std::size_t> all;
    for (; !those.empty(); those.pop_back()) {
      const std::size_t held = held_on(candidates_[those.back()], server);
      if (room - held >= needed) {
        room -= held;
      } else {
        all.insert(those.back());
      }
    }
    return all;
  }

  /// Empties servers until the gang has a place: first those that can have room for as much of it as a server holds,
  /// then the others, and at last all.
  [[nodiscard]] std::set<std::size_t> enough() const {
    std::set<std::size_t> away;
    for (const bool with_enough_room : {true, false}) {
      std::vector<std::tuple<std::int64_t, std::size_t, std::size_t, std::size_t>> units;
      for (std::size_t server = usable_.first; server < usable_.last; ++server) {
        std::size_t room = free_on(server);
        for (const Holder& holder : candidates_) room += held_on(holder, server);
        const std::set<std::size_t> those = leaving(server);
        if ((room >= std::min(gang_, per_server_)) != with_enough_room || those.empty()) continue;
        std::int64_t lost = 0;
        std::size_t gpus = 0;
        for (const std::size_t i : those) {
          lost += candidates_[i].lost_ns;
          gpus += candidates_[i].gpus.size();
        }
        units.emplace_back(lost, gpus, *those.rbegin(), server);
      }
      std::sort(units.begin(), units.end());
      for (const auto& unit : units) {
        away.merge(leaving(std::get<3>(unit)));
        if (!place(away).empty()) return away;
      }
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) away.insert(i);
    return away;
  }

  std::vector<bool> is_free_;
  std::size_t per_server_;
  std::vector<Holder> candidates_;
  std::size_t gang_;
  std::int32_t vc_;
  ServerRange usable_;
  int quota_left_;
};

/// The parts of an engine that say what running jobs would lose.
struct Parts {
  explicit Parts(EngineState& state)
      : courier{state}, executor{state, courier, {}, {}}, saver{state, executor}, bodies{state, executor, courier,
                                                                                         saver, {},       {}} {}
  Courier courier;
  Executor executor;
  Saver saver;
  JobBodies bodies;
};

/// A cluster in the middle of a run, made up: jobs of all kinds run, and gangs of all sizes wait.
class MadeUp {
 public:
  explicit MadeUp(RandomStream& stream) : stream_{stream} {
    ClusterSpec spec;
    spec.servers = some(2, 7);
    spec.gpus_per_server = some(1, 4);
    spec.gpu_memory = Bytes{10};
    const auto owned = static_cast<std::uint32_t>(some(0, spec.servers / 2));
    spec.vcs = {{.servers = {0, owned}}, {.quota = some(1, spec.servers * spec.gpus_per_server)}, {}};
    per_server_ = static_cast<std::size_t>(spec.gpus_per_server);
    is_free_.assign(static_cast<std::size_t>(spec.servers) * per_server_, true);
    SimulationOptions options;
    options.rules.preemption.restart = Time::nanoseconds(some(0, 2));
    options.rules.preemption.checkpoint_interval = Time::nanoseconds(stream_.uniform() < 0.3 ? 0 : 10);
    Workload workload = make_jobs(spec);
    gangs_ = workload.jobs.size();
    for (int gpus = 1; gpus <= spec.servers * spec.gpus_per_server; ++gpus) {
      JobSpec gang = timed(gpus);
      gang.vc = some(-1, 2);
      add(workload, gang);
    }
    const std::size_t jobs = workload.jobs.size();
    const auto servers = static_cast<std::size_t>(spec.servers);
    PolicySet policies = policies_of({}, {});
    policies.placement = std::make_unique<Packed>(questions);
    state_ = std::make_unique<EngineState>(spec, std::move(workload), std::move(policies),
                                           std::make_unique<FixedNetwork>(1, servers, jobs), std::move(options));
    parts_ = std::make_unique<Parts>(*state_);
    state_->clock = Time::nanoseconds(1000);
    for (Holder& holder : holders_) run(holder);
  }

  [[nodiscard]] EngineState& state() { return *state_; }
  [[nodiscard]] std::vector<JobId> gangs() const {
    std::vector<JobId> all;
    for (std::size_t j = gangs_; j < state_->jobs.size(); ++j) all.emplace_back(j);
    return all;
  }
  /// Some of the running jobs, in any order.
  [[nodiscard]] std::vector<Holder> some_holders() {
    std::vector<Holder> all = holders_;
    stream_.shuffle(std::span{all});
    const double share = stream_.uniform() < 0.5 ? 1 : stream_.uniform();
    std::erase_if(all, [&](const Holder&) { return stream_.uniform() >= share; });
    return all;
  }
  [[nodiscard]] PlainEviction plain(JobId gang, const std::vector<Holder>& candidates) const {
    const JobSpec& spec = state_->workload.jobs[gang.index()];
    return {is_free_,
            per_server_,
            candidates,
            spec,
            state_->capacity.servers_of_vc(spec.vc),
            state_->capacity.quota_left(spec.vc)};
  }
  /// What the engine counts as free, which a choice must leave as it was.
  [[nodiscard]] std::vector<int> counts() const {
    std::vector<int> all{state_->vc_used(0), state_->vc_used(1), static_cast<int>(state_->away.size())};
    for (std::size_t server = 0; server < state_->servers(); ++server) {
      all.push_back(state_->free_gpus(ServerId{server}));
    }
    return all;
  }

  int questions = 0;  ///< to the placement policy

 private:
  int some(int least, int most) { return static_cast<int>(stream_.uniform_integer(least, most)); }

  static JobSpec timed(int gpus) {
    JobSpec job;
    job.gpus = gpus;
    job.duration = Time::nanoseconds(500);
    return job;
  }
  static void add(Workload& workload, JobSpec job) {
    job.name = fmt::format("job{}", workload.jobs.size());
    workload.jobs.push_back(std::move(job));
  }

  /// The jobs that run hold GPUs anywhere among those that their virtual cluster may use.
  Workload make_jobs(const ClusterSpec& spec) {
    Workload workload;
    for (int tries = some(0, 12); tries > 0; --tries) {
      Holder holder;
      holder.vc = some(-1, 2);
      const ServerRange usable = servers_of_vc(spec, holder.vc);
      for (std::size_t gpu = 0; gpu < is_free_.size(); ++gpu) {
        if (is_free_[gpu] && usable.contains(ServerId{gpu / per_server_})) holder.gpus.push_back(gpu);
      }
      // Half of them close together, half anywhere.
      if (stream_.uniform() < 0.5) stream_.shuffle(std::span{holder.gpus});
      const auto most = static_cast<std::size_t>(some(1, 2 * spec.gpus_per_server));
      if (holder.gpus.size() > most) holder.gpus.resize(most);
      if (holder.gpus.empty()) continue;
      for (const std::size_t gpu : holder.gpus) is_free_[gpu] = false;
      const auto gpus = static_cast<int>(holder.gpus.size());
      JobSpec job = timed(gpus);
      if (stream_.uniform() < 0.3) {
        job.duration.reset();
        job.graph = workload.graphs.size();
        job.iterations = 5;
        workload.graphs.push_back(graph_from_text(fmt::format("role w {} | compute x w 20", gpus)));
      }
      job.vc = holder.vc;
      job.memory_per_gpu = Bytes{1};
      holder.job = JobId{workload.jobs.size()};
      add(workload, job);
      holders_.push_back(std::move(holder));
    }
    return workload;
  }

  /// Puts the job on its GPUs, some way into its work.
  void run(Holder& holder) {
    JobRun& run = state_->run(holder.job);
    const auto gpus = static_cast<std::int64_t>(holder.gpus.size());
    const std::int64_t worked = some(0, 25);
    run.state = JobState::running;
    run.since = state_->clock - Time::nanoseconds(worked);
    for (const std::size_t gpu : holder.gpus) {
      run.gpus.emplace_back(gpu);
      state_->capacity.take(GpuId{gpu}, RankDemand{*run.spec});
    }
    state_->capacity.use_quota(holder.vc, static_cast<int>(gpus));
    if (!run.body->has_iterations()) {
      // A job that is checkpointed all the time loses the restart only.
      const PreemptionCosts& costs = state_->options.rules.preemption;
      const std::int64_t since_checkpoint = costs.checkpoint_interval == Time{} ? 0 : worked % 10;
      holder.lost_ns = (since_checkpoint + costs.restart.ns()) * gpus;
      return;
    }
    // Of the iteration in flight a part is credited, and a part done inside a chain and not credited yet. What the
    // chain will do later isn't done.
    const std::int64_t credited = some(0, 5) * gpus, promised = some(0, 5) * gpus;
    // It goes back to its last checkpoint, some iterations of 20 before.
    run.live = state_->arena.make<JobExecution>();
    run.live->begun = true;
    run.completed = some(0, 4);
    run.live->saved.iteration = some(0, static_cast<int>(run.completed));
    run.remaining_service =
        run.plan->compute_left(run.completed, run.spec->iterations) - GpuTime::nanoseconds(credited);
    run.promise(state_->clock, GpuTime::nanoseconds(promised));
    run.promise(state_->clock + Time::nanoseconds(1), GpuTime::nanoseconds(7 * gpus));
    holder.lost_ns = credited + promised + (run.completed - run.live->saved.iteration) * 20 * gpus +
                     state_->options.rules.preemption.restart.ns() * gpus;
  }

  RandomStream& stream_;
  std::size_t per_server_ = 1, gangs_ = 0;
  std::vector<bool> is_free_;
  std::vector<Holder> holders_;
  std::unique_ptr<EngineState> state_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace

TEST_CASE("the jobs that give way are the jobs of the plain rule, on random clusters") {
  RandomStream stream{1, "eviction_test"};
  int with_victims = 0, in_vain = 0, unasked = 0;
  for (int round = 0; round < effort(2000); ++round) {
    MadeUp made{stream};
    Eviction eviction{made.state()};
    const std::vector<int> before = made.counts();
    for (const JobId gang : made.gangs()) {
      const std::vector<Holder> candidates = made.some_holders();
      std::vector<JobId> ids;
      for (const Holder& holder : candidates) ids.push_back(holder.job);
      const PlainEviction plain = made.plain(gang, candidates);
      std::vector<JobId> victims;
      std::vector<GpuId> chosen;
      made.questions = 0;
      const bool found = eviction.choose(gang, -1, ids, victims, chosen);
      CAPTURE(round);
      CAPTURE(gang.value());
      REQUIRE(made.counts() == before);
      if (!plain.has_room()) {
        CHECK(made.questions == 0);
        ++unasked;
      }
      const Choice expected = plain.choose();
      REQUIRE(found == !expected.chosen.empty());
      REQUIRE(victims == expected.victims);
      if (!found) {
        ++in_vain;
        continue;
      }
      Gpus gpus;
      for (const GpuId gpu : chosen) gpus.push_back(gpu.index());
      REQUIRE(gpus == expected.chosen);
      if (!victims.empty()) ++with_victims;
    }
  }
  CHECK(with_victims > effort(3000));
  CHECK(in_vain > effort(3000));
  CHECK(unasked > effort(1000));
}
