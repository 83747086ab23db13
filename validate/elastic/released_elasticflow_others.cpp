// Tiresias and Gandiva as the released simulator of ElasticFlow has them (pkusys/ElasticFlow, schedulers `dlas-gpu` and
// `gandiva`). Jobs have the GPUs that they ask for and the duration that the trace lists; throughputs don't matter.
//
// Both gather what happens within a minute of a decision. A start costs 2 s and 2 s more with each doubling of the
// GPUs, and 27 s at each 60th decision, when all jobs start.
//
// Tiresias: three queues by GPU time, which end at 3,250 and 7,200 GPU-seconds; a job falls one queue at a decision.
// The first jobs that fit run. A job ends when its duration is over, though it has worked less because of its start,
// and keeps its GPUs for a minute since the last decision at least.
//
// Gandiva: servers in sets, each for jobs of one size. A set takes jobs while GPUs of it are free, else a new set of
// free servers does, else the set with the fewest jobs takes them in turns. At each decision sets of a size that has
// fewer GPUs than its part of the demand are made, and of one that has more are dissolved. Jobs of a set take turns at
// decisions on whole minutes only.

#include "validate/elastic/elasticflow_trace.hpp"
#include "validate/elastic/released_simulators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::int64_t kTurn_s = 60, kNoTime = std::numeric_limits<std::int64_t>::max();

/// What a start on so many GPUs costs in seconds.
std::int64_t start_cost(int gpus, bool is_from_scratch) {
  return 2 + (is_from_scratch ? 27 : 0) + 2 * (std::lround(std::log2(gpus)) + 1);
}

struct TurnJob {
  const ElasticFlowRow* row = nullptr;
  std::int64_t worked_s = 0, looked_at = 0, end = 0, cost_s = 0;
  std::size_t queue = 0;
  bool runs = false;
};

/// Jobs that arrive together.
using Arrivals = std::vector<std::pair<std::int64_t, std::vector<TurnJob*>>>;

Arrivals arrivals_of(std::vector<TurnJob>& jobs) {
  Arrivals arrivals;
  for (TurnJob& job : jobs) {
    if (arrivals.empty() || arrivals.back().first != job.row->submit_s) arrivals.emplace_back(job.row->submit_s, 0);
    arrivals.back().second.push_back(&job);
  }
  return arrivals;
}

/// Puts arrivals within a minute of a decision into the next one. The last one stays where it is.
void gather(Arrivals& arrivals, std::int64_t now) {
  while (arrivals.size() > 1 && arrivals[0].first - now <= kTurn_s) {
    arrivals[0].first = now + kTurn_s;
    if (arrivals[1].first - now > kTurn_s) return;
    arrivals[0].second.insert(arrivals[0].second.end(), arrivals[1].second.begin(), arrivals[1].second.end());
    arrivals.erase(arrivals.begin() + 1);
  }
}

class TurnSimulator {
 public:
  explicit TurnSimulator(const std::vector<ElasticFlowRow>& rows) {
    for (const ElasticFlowRow& row : rows) jobs_.push_back({.row = &row});
    arrivals_ = arrivals_of(jobs_);
  }

 protected:
  void count(const TurnJob& job) { ++(job.end <= job.row->deadline_s ? done_.met : done_.late); }
  /// True at each 60th decision; to be called once at each.
  bool starts_anew() {
    const bool is_due = decisions_ > 0 && decisions_ % 60 == 0;
    ++decisions_;
    return is_due;
  }

  std::vector<TurnJob> jobs_;
  Arrivals arrivals_;
  ReleasedDeadlines done_;

 private:
  int decisions_ = 0;
};

class FlowTiresias : TurnSimulator {
 public:
  using TurnSimulator::TurnSimulator;

  ReleasedDeadlines run() {
    while (!arrivals_.empty() || !live_.empty()) {
      const std::int64_t arrival = arrivals_.empty() ? kNoTime : arrivals_.front().first;
      const std::int64_t event = std::min(arrival, next_end_);
      const std::int64_t now = std::min(event, next_fall_);
      if (event <= now && next_end_ == now)
        for (TurnJob* const job : ending_) end(*job);
      if (event <= now && arrival == now) {
        for (TurnJob* const job : arrivals_.front().second) {
          job->looked_at = now;
          live_.push_back(job);
          queues_[0].push_back(job);
        }
        arrivals_.erase(arrivals_.begin());
      }
      look(now);
      schedule(now);
      gather(arrivals_, now);
    }
    return done_;
  }

 private:
  static constexpr std::array<std::int64_t, 2> kLimits{3'250, 7'200};  // GPU-seconds

  void end(TurnJob& job) {
    count(job);
    std::erase(live_, &job);
    std::erase(queues_[job.queue], &job);
  }

  void look(std::int64_t now) {
    for (TurnJob* const job : live_) {
      if (job->runs) job->worked_s += std::max<std::int64_t>(0, now - job->looked_at - std::exchange(job->cost_s, 0));
      job->looked_at = now;
      if (!job->runs || job->queue == kLimits.size() || job->worked_s * job->row->gpus < kLimits[job->queue]) continue;
      std::erase(queues_[job->queue], job);
      queues_[++job->queue].push_back(job);
    }
  }

  void schedule(std::int64_t now) {
    const bool is_anew = starts_anew();
    int free = kFlowServers * kGpusOfFlowServer;
    for (std::vector<TurnJob*>& queue : queues_) {
      for (TurnJob* const job : queue) {
        const bool may_run = job->row->gpus <= free;
        if (may_run) free -= job->row->gpus;
        if (may_run && !job->runs) job->cost_s = start_cost(job->row->gpus, is_anew);
        job->runs = may_run;
      }
      std::stable_partition(queue.begin(), queue.end(), [](const TurnJob* job) { return job->runs; });
    }
    std::ranges::stable_sort(live_, std::ranges::greater{}, [](const TurnJob* job) { return job->row->gpus; });
    next_end_ = next_fall_ = kNoTime;
    ending_.clear();
    for (TurnJob* const job : live_) {
      if (!job->runs) continue;
      std::int64_t end = now + job->row->duration_s - job->worked_s;
      if (is_anew) end += job->cost_s = start_cost(job->row->gpus, true);
      const std::int64_t leaves = std::max(now + kTurn_s, end);
      if (leaves < next_end_) ending_.clear();
      next_end_ = std::min(next_end_, leaves);
      if (leaves > next_end_) continue;
      ending_.push_back(job);
      job->end = end;
    }
    for (const TurnJob* const job : live_) {
      if (!job->runs || job->queue == kLimits.size()) continue;
      const std::int64_t left = kLimits[job->queue] - job->worked_s, gpus = job->row->gpus;
      next_fall_ = std::min(next_fall_, now + (left > 0 ? (left + gpus - 1) / gpus : left / gpus));
    }
    next_fall_ = std::max(next_fall_, now + kTurn_s);
  }

  std::vector<TurnJob*> live_, ending_;
  std::array<std::vector<TurnJob*>, kLimits.size() + 1> queues_;
  std::int64_t next_end_ = kNoTime, next_fall_ = kNoTime;
};

class FlowGandiva : TurnSimulator {
 public:
  explicit FlowGandiva(const std::vector<ElasticFlowRow>& rows) : TurnSimulator{rows} {
    for (int server = 0; server < kFlowServers; ++server) free_.push_back(server);
    for (const TurnJob& job : jobs_) sets_.try_emplace(job.row->gpus);
  }

  ReleasedDeadlines run() {
    std::int64_t now = arrivals_.front().first, before = now;
    while (!arrivals_.empty() || !waiting_.empty() || !placed_.empty()) {
      adjust();
      const bool has_freed = work(now, now - before);
      for (TurnJob* const job : had_waited_) job->cost_s = 0;
      if (!arrivals_.empty() && arrivals_.front().first == now) {
        for (TurnJob* const job : arrivals_.front().second) {
          if (place(*job)) continue;
          waiting_.push_back(job);
          had_waited_.push_back(job);
        }
        arrivals_.erase(arrivals_.begin());
      }
      // The released loop walks the list while it shrinks, so that it passes over the job behind each that starts.
      for (std::size_t i = 0; has_freed && i < waiting_.size(); ++i)
        if (place(*waiting_[i])) waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      before = now;
      if (arrivals_.empty()) {
        now += kTurn_s;
        continue;
      }
      const bool is_anew = starts_anew();
      for (TurnJob* const job : placed_) job->cost_s = start_cost(job->row->gpus, is_anew);
      gather(arrivals_, now);
      now = arrivals_.front().first;
    }
    return done_;
  }

 private:
  /// Servers that take turns with jobs of one size.
  struct Set {
    std::vector<int> servers;
    std::vector<TurnJob*> jobs;
    std::size_t at_once = 1;
    int load = 0;  ///< jobs that it got; an end doesn't lower it
  };

  static void sort(std::vector<Set>& sets) { std::ranges::stable_sort(sets, {}, &Set::load); }
  static void give(std::vector<Set>& sets, TurnJob& job) {
    ++sets.front().load;
    sets.front().jobs.push_back(&job);
    sort(sets);
  }
  static std::size_t servers_for(int gpus) {
    return static_cast<std::size_t>((gpus + kGpusOfFlowServer - 1) / kGpusOfFlowServer);
  }
  bool add_set(std::vector<Set>& sets, int gpus) {
    const std::size_t servers = servers_for(gpus);
    if (servers > free_.size()) return false;
    const auto end = free_.begin() + static_cast<std::ptrdiff_t>(servers);
    sets.push_back({.servers = {free_.begin(), end},
                    .jobs = {},
                    .at_once = servers * kGpusOfFlowServer / static_cast<std::size_t>(gpus)});
    free_.erase(free_.begin(), end);
    return true;
  }

  bool place(TurnJob& job) {
    std::vector<Set>& sets = sets_.at(job.row->gpus);
    const bool had_set = !sets.empty();
    if (had_set) std::rotate(sets.begin(), sets.begin() + 1, sets.end());
    Set* taker = had_set && sets.back().load + 1 < static_cast<int>(sets.back().at_once) ? &sets.back() : nullptr;
    if (taker == nullptr && add_set(sets, job.row->gpus)) taker = &sets.back();
    if (taker == nullptr && had_set) {
      std::rotate(sets.begin(), sets.begin() + 1, sets.end());
      taker = &sets.back();
    }
    if (taker == nullptr) return false;
    ++taker->load;
    taker->jobs.push_back(&job);
    sort(sets);
    placed_.push_back(&job);
    return true;
  }

  void adjust() {
    std::map<int, int> demand, held;
    int all = 0;
    for (const auto& [gpus, sets] : sets_) {
      for (const Set& set : sets) {
        demand[gpus] += gpus * static_cast<int>(set.jobs.size());
        held[gpus] += kGpusOfFlowServer * static_cast<int>(set.servers.size());
      }
      all += demand[gpus];
    }
    for (auto& [gpus, sets] : sets_) {
      if (demand[gpus] == 0) continue;
      const double part = static_cast<double>(demand[gpus]) / all * kFlowServers * kGpusOfFlowServer;
      const int more = std::min(static_cast<int>(part), demand[gpus]) - held[gpus];
      const int count = (std::abs(more) + gpus - 1) / gpus;
      if (more > 0)
        grow(sets, gpus, count);
      else if (more < 0)
        shrink(sets, std::min(count, static_cast<int>(sets.size()) - 1));
    }
  }

  /// Jobs are divided among the sets again, but not where the last set that was asked for was made of one server.
  void grow(std::vector<Set>& sets, int gpus, int count) {
    bool was_made = false;
    for (int i = 0; i < count; ++i) was_made = add_set(sets, gpus);
    if (was_made && servers_for(gpus) == 1) return;
    std::vector<TurnJob*> jobs;
    for (Set& set : sets) {
      if (set.jobs.empty()) continue;
      jobs.insert(jobs.end(), set.jobs.begin(), set.jobs.end());
      set.jobs.clear();
      set.load = 0;
    }
    for (TurnJob* const job : jobs) give(sets, *job);
  }

  void shrink(std::vector<Set>& sets, int count) {
    std::vector<TurnJob*> jobs;
    for (int i = 0; i < count; ++i) {
      jobs.insert(jobs.end(), sets.front().jobs.begin(), sets.front().jobs.end());
      free_.insert(free_.end(), sets.front().servers.begin(), sets.front().servers.end());
      sets.erase(sets.begin());
    }
    for (TurnJob* const job : jobs) give(sets, *job);
  }

  /// Returns true if a set has run out of jobs.
  bool work(std::int64_t now, std::int64_t passed) {
    bool has_freed = false;
    for (auto& [gpus, sets] : sets_) {
      for (Set& set : sets) {
        const std::size_t running = std::min(set.jobs.size(), set.at_once);
        std::vector<TurnJob*> ended;
        for (std::size_t i = 0; i < running; ++i) {
          TurnJob& job = *set.jobs[i];
          job.worked_s += std::max<std::int64_t>(0, passed - std::exchange(job.cost_s, 0));
          if (job.worked_s < job.row->duration_s) continue;
          job.end = now - (job.worked_s - job.row->duration_s);
          ended.push_back(&job);
        }
        if (now % kTurn_s == 0)
          std::rotate(set.jobs.begin(), set.jobs.begin() + static_cast<std::ptrdiff_t>(running), set.jobs.end());
        for (TurnJob* const job : ended) {
          count(*job);
          std::erase(set.jobs, job);
          std::erase(placed_, job);
        }
        if (!set.jobs.empty()) continue;
        free_.insert(free_.end(), set.servers.begin(), set.servers.end());
        has_freed = true;
      }
      std::erase_if(sets, [](const Set& set) { return set.jobs.empty(); });
    }
    return has_freed;
  }

  std::map<int, std::vector<Set>> sets_;  ///< by size of jobs
  std::vector<int> free_;                 ///< servers
  std::vector<TurnJob*> placed_, waiting_;
  std::vector<TurnJob*> had_waited_;  ///< for a set; the released loop drops what is left of their cost
};

}  // namespace

std::optional<ReleasedDeadlines> run_released_elasticflow_tiresias() {
  const std::vector<ElasticFlowRow> rows = elasticflow_rows();
  if (rows.empty()) return std::nullopt;
  return FlowTiresias{rows}.run();
}

std::optional<ReleasedDeadlines> run_released_elasticflow_gandiva() {
  const std::vector<ElasticFlowRow> rows = elasticflow_rows();
  if (rows.empty()) return std::nullopt;
  return FlowGandiva{rows}.run();
}

}  // namespace contend
