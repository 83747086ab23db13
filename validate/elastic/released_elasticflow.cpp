// ElasticFlow (Gu et al., ASPLOS 2023) as its released simulator has it (pkusys/ElasticFlow, scheduler
// `ef-accessctrl`).
//
// A decision comes when jobs arrive or end, or when a plan changes the GPUs of a job, and at least a minute after the
// one before, which gathers what happens meanwhile. At a decision all GPUs are given again, by plans in the order of
// deadlines. A plan is a step function of GPUs from now until the job ends: the fewest GPUs, from as late as possible
// on, with which the job meets its deadline in the room that the plans before leave. It counts in slots of a minute
// from now on, but the end of a job, against which its deadline is tested, in seconds. If a plan misses its deadline,
// all jobs that have just arrived are refused. GPUs that nobody has now go, one level of a job after the other, to jobs
// that have none, and then to the job whose new plan takes most GPU time more for each GPU.
//
// Each decision costs each job that has GPUs some seconds: 2 if a job has been on the same GPUs since the last start
// from scratch, which is at every 60th decision, else more. Plans don't know of it, and deadlines are tested against
// planned ends, so that a job may end later than the end that counts. GPUs are numbered as servers fill up, because
// their numbers decide who pays 2 seconds.

#include "sim/check.hpp"
#include "validate/elastic/elasticflow_trace.hpp"
#include "validate/elastic/released_simulators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace contend {

namespace {

using Seconds = std::int64_t;
using Steps = std::map<Seconds, int>;  ///< GPUs from a time on

constexpr int kFlowGpus = kFlowServers * kGpusOfFlowServer;
constexpr Seconds kSlot = 60;
constexpr int kDecisionsUntilStart = 60;
constexpr double kNone = -std::numeric_limits<double>::infinity(), kAll = std::numeric_limits<double>::infinity();

/// Rounded up to whole slots.
Seconds in_slots(Seconds length) {
  return length >= 0 ? (length + kSlot - 1) / kSlot * kSlot : -(-length / kSlot * kSlot);
}

/// Without steps to the same height.
Steps merged(const Steps& steps) {
  Steps out;
  for (const auto& step : steps)
    if (out.empty() || out.rbegin()->second != step.second) out.insert(out.end(), step);
  return out;
}

/// The height at a time, which is not before the first step.
int at(const Steps& steps, Seconds time) {
  return std::prev(steps.upper_bound(time))->second;
}

/// What a job is to have from now on.
struct Plan {
  Steps gpus;         ///< of the job
  Seconds end = 0;    ///< in slots
  Seconds exact = 0;  ///< the end in seconds
  Steps room;         ///< that it leaves to others
  [[nodiscard]] double gpu_s() const {
    double sum = 0;
    for (auto step = gpus.begin(); step != gpus.end(); ++step)
      sum += static_cast<double>(step->second) *
             static_cast<double>((std::next(step) == gpus.end() ? end : std::next(step)->first) - step->first);
    return sum;
  }
};

struct FlowJob {
  const ElasticFlowRow* row = nullptr;
  int most = kFlowGpus;
  double left = 0;  ///< iterations
  int gpus = 0;
  Plan plan;          ///< whose exact end stays where more GPUs shorten it
  Seconds event = 0;  ///< when it ends, as events know it: the planned end and the cost of the last decision
  Seconds ended = 0;  ///< when it really ends
  Seconds cost = 0;   ///< of the last decision
  int next = 0;       ///< the level above `gpus`, or `gpus`
  double gain = 0;    ///< GPU time more for each GPU on that level
  Plan grown;         ///< there
  struct ServerSet* set = nullptr;
  bool knows_gpus = false;  ///< a job has been on the same GPUs

  [[nodiscard]] double rate(int level) const { return row->curve.at(level); }
  [[nodiscard]] int above(int level) const {
    const auto found = row->curve.upper_bound(level);
    return found == row->curve.end() || found->first > most ? level : found->first;
  }
  /// The highest level of at most so many GPUs; 0 if there is none.
  [[nodiscard]] int within(int room) const {
    const auto found = row->curve.upper_bound(std::min(room, most));
    return found == row->curve.begin() ? 0 : std::prev(found)->first;
  }
};

/// Servers that one job has, or one server that jobs share.
struct ServerSet {
  std::vector<int> servers;
  std::vector<FlowJob*> jobs;
  int used = 0;
  int size = 0;  ///< of jobs that it is for
  [[nodiscard]] int free() const { return static_cast<int>(servers.size()) * kGpusOfFlowServer - used; }
};

/// How the released simulator bounds the GPUs of a model on T4.
int bound_of(const ElasticFlowRow& row) {
  if (row.model == "bert" || row.model == "cifar10") return 16;
  if (row.model == "deepspeech2" && row.batch == "320") return 32;
  if (row.model == "yolov3") return 4;
  return row.model == "ncf" ? 1 : kFlowGpus;
}

/// Makes the plan of a job from now on in the room that others leave.
class Planner {
 public:
  Planner(const FlowJob& job, Seconds now, const Steps& room)
      : job_{job},
        now_{now},
        deadline_{job.row->deadline_s},
        slot_{now + in_slots(deadline_ - now)},
        before_{room},
        room_{room},
        from_{now},
        left_{job.left} {
    if (slot_ >= now) room_.try_emplace(slot_, at(room, slot_));
    gpus_[now] = 0;
  }

  /// `level`: the GPUs until the room next changes; without it the fewest that do.
  Plan plan(std::optional<int> level) {
    level_ = level;
    if (level && !begin(*level)) return out_;
    if (meet_deadline()) return out_;
    fill_until_deadline();
    if (!fill_after_deadline()) fill_at_last();
    return out_;
  }

 private:
  /// When the job ends on so many GPUs from `from` on.
  [[nodiscard]] Seconds end_on(int gpus, Seconds from) const {
    return static_cast<Seconds>(std::ceil(static_cast<double>(from) + left_ / job_.rate(gpus)));
  }
  /// Seconds from one step to the next. The slot of the deadline counts until the deadline only.
  [[nodiscard]] double length(Seconds from, Seconds until) const {
    return static_cast<double>((until == slot_ ? deadline_ : until) - from);
  }
  void take(Seconds from, int gpus) {
    gpus_[from] = gpus;
    room_[from] -= gpus;
    CONTEND_CHECK(room_[from] >= 0, "a plan takes GPUs that are there");
  }
  void end(Seconds exact, Seconds in_slots) {
    room_.try_emplace(in_slots, before_.upper_bound(in_slots) == before_.begin() ? kFlowGpus : at(before_, in_slots));
    out_ = {.gpus = merged(gpus_), .end = in_slots, .exact = exact, .room = merged(room_)};
  }
  [[nodiscard]] Seconds in_slots_of_now(Seconds time) const { return now_ + in_slots(time - now_); }

  /// Returns false if the job ends on its level before the room changes.
  bool begin(int level) {
    const auto next = before_.upper_bound(now_);
    const Seconds until = next == before_.end() ? slot_ : next->first;
    const Seconds exact = end_on(level, now_), end_slot = in_slots_of_now(exact);
    take(now_, level);
    if (until >= end_slot && deadline_ >= exact) {
      end(exact, end_slot);
      return false;
    }
    left_ -= length(now_, until) * job_.rate(level);
    from_ = until;
    gpus_[from_] = 0;
    return true;
  }

  /// Tries one level after the other: later parts of the time before the deadline get the level, or as much of it as
  /// there is room for, and earlier ones the level below.
  bool meet_deadline() {
    for (int level = job_.above(0); level > highest_; level = job_.above(level)) {
      double done = 0;
      Seconds until = slot_;
      for (const auto& step : room_)
        if (step.first < slot_) gpus_.try_emplace(step.first, 0);
      for (auto step = std::make_reverse_iterator(room_.lower_bound(slot_));
           step != room_.rend() && step->first >= from_; ++step) {
        const int gpus = std::min(level, job_.within(step->second));
        if (gpus > 0) done += length(step->first, until) * job_.rate(gpus);
        until = step->first;
        if (gpus == 0 || done < left_) continue;
        fill(level, step->first);
        return true;
      }
      highest_ = level;
    }
    return false;
  }

  /// Levels until the deadline: `level` from `turn` on, and the one below before.
  void fill(int level, Seconds turn) {
    const std::vector<std::pair<Seconds, int>> parts{room_.lower_bound(from_), room_.upper_bound(slot_)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [from, room] = parts[i];
      const int gpus = std::min(from >= turn ? level : highest_, job_.within(room));
      const bool is_last = i + 1 == parts.size();
      take(from, gpus);
      if (gpus == 0) continue;
      const double done = is_last ? kAll : length(from, parts[i + 1].first) * job_.rate(gpus);
      if (from < turn || done < left_) {
        left_ -= done;
        continue;
      }
      const auto needed = static_cast<Seconds>(std::ceil(left_ / job_.rate(gpus)));
      return end(from + needed, from + in_slots(needed));
    }
    CONTEND_CHECK(false, "the levels that were tried suffice");
  }

  void fill_until_deadline() {
    for (auto step = room_.lower_bound(from_); step != room_.end() && step->first < slot_; ++step) {
      const Seconds from = step->first, until = std::next(step)->first;
      const int gpus = std::min(highest_, job_.within(step->second));
      take(from, gpus);
      if (gpus > 0) left_ -= length(from, until) * job_.rate(gpus);
    }
  }

  /// What there is room for, step by step. Returns false if the job doesn't end before the last one.
  bool fill_after_deadline() {
    from_ = std::max(slot_, from_);
    const std::vector<std::pair<Seconds, int>> behind{room_.upper_bound(slot_), room_.end()};
    for (const auto& step : behind) {
      const Seconds until = step.first;
      const int gpus = job_.within(room_.at(from_));
      gpus_[from_] = gpus;
      if (gpus > 0) {
        const double done = static_cast<double>(until - from_) * job_.rate(gpus);
        if (done >= left_) {
          const Seconds exact = end_on(gpus, from_);
          take(from_, gpus);
          end(exact, in_slots_of_now(exact));
          return true;
        }
        left_ -= done;
        if (until > from_) take(from_, gpus);
      }
      from_ = until;
    }
    return false;
  }

  void fill_at_last() {
    const int gpus = level_ ? *level_ : std::min(kFlowGpus, job_.most);
    gpus_[from_] = gpus;
    room_[from_] = kFlowGpus - gpus;
    const Seconds exact = end_on(gpus, from_), end_slot = in_slots_of_now(exact);
    room_[end_slot] = kFlowGpus;
    end(exact, end_slot);
  }

  const FlowJob& job_;
  Seconds now_, deadline_, slot_;  ///< slot_: the end of the slot of the deadline
  const Steps& before_;
  Steps room_, gpus_;
  Seconds from_;  ///< before it the plan stands
  double left_;
  std::optional<int> level_;
  int highest_ = 0;  ///< the level tried last
  Plan out_;
};

/// Where jobs run: sets of servers by the size of jobs that they are for, those that are used least first.
class Places {
 public:
  Places() {
    for (int server = 0; server < kFlowServers; ++server) free_.insert(server);
  }

  void place(FlowJob& job) {
    // A set for just this size first, then those for the largest.
    if (enter_first(job, lines_[of_size(job.gpus)])) return;
    for (std::size_t k = kSizes.size() - 1; k > of_size(job.gpus); --k)
      if (enter_first(job, lines_[k])) return;
    ServerSet& set = sets_.emplace_back();
    for (int taken = 0; taken < job.gpus; taken += kGpusOfFlowServer) {
      CONTEND_CHECK(!free_.empty(), "there is a place for each job");
      set.servers.push_back(*free_.begin());
      free_.erase(free_.begin());
    }
    set.size = job.gpus;
    enter(job, set, false);
  }

  void release(FlowJob& job) {
    ServerSet& set = *job.set;
    job.set = nullptr;
    set.used -= job.gpus;
    std::erase(set.jobs, &job);
    if (set.used == 0) {
      free_.insert(set.servers.begin(), set.servers.end());
      for (auto& line : lines_) std::erase(line, &set);
      sets_.remove_if([&](const ServerSet& each) { return &each == &set; });
      return;
    }
    const int size = size_for(set.free());
    if (set.free() == set.size) return;
    std::erase(lines_[of_size(set.size)], &set);
    set.size = size;
    append(set, size);
  }

  /// Says of each job whether the cache has its GPUs, and adds them.
  void look_up(std::set<std::pair<int, int>>& cache) const {
    std::map<int, const ServerSet*> by_server;
    for (const ServerSet& set : sets_)
      for (const int server : set.servers) by_server[server] = &set;
    for (const auto& [server, set] : by_server) {
      if (server != set->servers.front()) continue;
      // Servers of a set are named one after the other, and so are the jobs on one.
      int gpu = server * kGpusOfFlowServer;
      for (FlowJob* const job : set->jobs) {
        job->knows_gpus = !cache.insert({gpu, job->gpus}).second;
        gpu += job->gpus;
      }
    }
  }

 private:
  static constexpr std::array kSizes{1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 88, 128, 256};

  [[nodiscard]] static std::size_t of_size(int size) {
    return static_cast<std::size_t>(std::ranges::find(kSizes, size) - kSizes.begin());
  }
  /// The largest size of which so many free GPUs are a multiple.
  [[nodiscard]] static int size_for(int free) {
    for (auto size = kSizes.rbegin(); size != kSizes.rend(); ++size)
      if (*size <= free && free % *size == 0) return *size;
    return 0;
  }
  void append(ServerSet& set, int size) {
    auto& line = lines_[of_size(size)];
    line.push_back(&set);
    std::ranges::stable_sort(line, {}, &ServerSet::used);
  }
  /// Puts the job into the first set of a line. Without room for it there, the set goes to the end of the line.
  bool enter_first(FlowJob& job, std::vector<ServerSet*>& line) {
    if (line.empty()) return false;
    std::rotate(line.begin(), line.begin() + 1, line.end());
    ServerSet& set = *line.back();
    if (job.gpus > set.free()) return false;
    line.pop_back();
    enter(job, set, true);
    return true;
  }
  void enter(FlowJob& job, ServerSet& set, bool is_known) {
    job.set = &set;
    set.used += job.gpus;
    set.jobs.push_back(&job);
    const int free = set.free();
    if (free > 0 && is_known) set.size = size_for(free);
    append(set, free > 0 ? size_for(free) : job.gpus);
  }

  std::set<int> free_;
  std::list<ServerSet> sets_;
  std::array<std::vector<ServerSet*>, kSizes.size()> lines_;
};

class ElasticFlow {
 public:
  ElasticFlow(const std::vector<ElasticFlowRow>& rows, const ReleasedElasticFlowRules& rules) : rules_{rules} {
    for (const ElasticFlowRow& row : rows)
      jobs_.push_back({.row = &row, .most = bound_of(row), .left = row.iterations, .plan = {}, .grown = {}});
    for (FlowJob& job : jobs_) {
      const Seconds submit = job.row->submit_s;
      if (events_.empty() || events_.back().time != submit) events_.push_back({.time = submit});
      events_.back().arriving.push_back(&job);
    }
  }

  ReleasedDeadlines run() {
    Seconds before = events_.front().time;
    while (has_more()) {
      const Seconds now = events_.front().time;
      work(now, now - before);
      before = now;
      const Event event = events_.front();
      events_.erase(events_.begin());
      for (FlowJob* const job : event.ending)
        if (job->set != nullptr) end(*job);
      decide(event.arriving, now);
      wake_for_plans(now);
      charge();
      gather(now);
    }
    return done_;
  }

 private:
  struct Event {
    Seconds time = 0;
    std::vector<FlowJob*> arriving{}, ending{};
  };

  std::vector<Event>::iterator event_at(Seconds time) { return std::ranges::find(events_, time, &Event::time); }

  /// The job ends at another time than events say.
  void move_end(FlowJob& job, Seconds end) {
    if (job.event == end) return;
    if (const auto old = event_at(job.event); old != events_.end()) {
      std::erase(old->ending, &job);
      if (old->ending.empty() && old->arriving.empty()) events_.erase(old);
    }
    job.event = end;
    auto found = event_at(end);
    if (found == events_.end()) found = events_.insert(events_.end(), {.time = end});
    if (std::ranges::find(found->ending, &job) == found->ending.end()) found->ending.push_back(&job);
  }

  void work(Seconds now, Seconds passed) {
    for (FlowJob* const job : live_) {
      if (job->gpus == 0) continue;
      const double rate = job->rate(job->gpus);
      Seconds worked = passed - std::max<Seconds>(0, now - job->plan.exact);
      worked = worked < job->cost ? 0 : worked - job->cost;
      job->cost = 0;
      double done = static_cast<double>(worked) * rate;
      if (job->left <= done && job->event > now) {
        done = static_cast<double>(job->event - now + passed) * rate;
        job->ended = now - passed + static_cast<Seconds>(std::ceil(job->left / rate));
        move_end(*job, now);
      }
      job->left -= done;
    }
  }

  void end(FlowJob& job) {
    std::erase(live_, &job);
    places_.release(job);
    const bool is_late = (rules_.planned_ends ? job.plan.exact : job.ended) > job.row->deadline_s;
    ++(is_late ? done_.late : done_.met);
  }

  /// Plans for all these jobs, by deadline. Returns false if one is late.
  bool plan(std::vector<FlowJob*>& jobs, Seconds now) {
    room_ = {{now, kFlowGpus}};
    std::ranges::stable_sort(jobs, {}, [](const FlowJob* job) { return job->row->deadline_s; });
    bool are_met = true;
    for (FlowJob* const job : jobs) {
      job->plan = Planner{*job, now, room_}.plan(std::nullopt);
      room_ = job->plan.room;
      are_met = are_met && job->plan.exact <= job->row->deadline_s;
    }
    return are_met;
  }

  void decide(const std::vector<FlowJob*>& arriving, Seconds now) {
    for (FlowJob* const job : live_)
      if (job->set != nullptr) places_.release(*job);
    if (!arriving.empty()) {
      std::vector<FlowJob*> all = live_;
      all.insert(all.end(), arriving.begin(), arriving.end());
      if (plan(all, now))
        live_.insert(live_.end(), arriving.begin(), arriving.end());
      else
        done_.refused += static_cast<int>(arriving.size());
    }
    plan(live_, now);
    for (FlowJob* const job : live_) {
      job->gpus = job->plan.gpus.begin()->second;
      move_end(*job, job->plan.end);
    }
    give(now);
    std::ranges::stable_sort(live_, std::ranges::greater{}, &FlowJob::gpus);
    for (FlowJob* const job : live_)
      if (job->gpus >= kGpusOfFlowServer) places_.place(*job);
    for (int size = kGpusOfFlowServer / 2; size > 0; size /= 2)
      for (FlowJob* const job : live_)
        if (job->gpus == size) places_.place(*job);
    places_.look_up(cache_);
  }

  /// What the next level would take.
  void look_at_next(FlowJob& job, int free, Seconds now) {
    job.gain = kNone;
    if (job.next == job.gpus || job.next - job.gpus > free) return;
    Steps room = room_;
    room.try_emplace(job.plan.end, at(room, job.plan.end));
    for (const auto& step : job.plan.gpus) room.try_emplace(step.first, at(room, step.first));
    for (auto& [time, gpus] : room)
      if (time < job.plan.end) gpus += at(job.plan.gpus, time);
    job.grown = Planner{job, now, merged(room)}.plan(job.next);
    job.gain = job.gpus == 0 ? kAll : (job.grown.gpu_s() - job.plan.gpu_s()) / (job.next - job.gpus);
  }

  void give(Seconds now) {
    int free = kFlowGpus;
    for (FlowJob* const job : live_) {
      free -= job->gpus;
      job->next = job->above(job->gpus);
    }
    CONTEND_CHECK(live_.empty() || room_.at(now) == free, "plans and GPUs agree");
    if (free == 0) return;
    for (FlowJob* const job : live_) look_at_next(*job, free, now);
    const auto in_order = [this](const FlowJob* a, const FlowJob* b) {
      return rules_.most_first || std::isinf(a->gain) || std::isinf(b->gain) ? a->gain > b->gain : a->gain < b->gain;
    };
    std::ranges::stable_sort(live_, in_order);
    while (free > 0) {
      const auto fits = [free](const FlowJob* job) { return job->next > job->gpus && job->next - job->gpus <= free; };
      const auto found = std::ranges::find_if(live_, fits);
      if (found == live_.end()) return;
      FlowJob& job = **found;
      free -= job.next - job.gpus;
      job.gpus = job.next;
      job.next = job.above(job.gpus);
      room_ = job.grown.room;
      job.plan.gpus = job.grown.gpus;
      job.plan.end = job.grown.end;
      move_end(job, job.plan.end);
      for (FlowJob* const each : live_)
        if (each->next > each->gpus) look_at_next(*each, free, now);
      std::ranges::stable_sort(live_, in_order);
    }
  }

  /// The next decision comes when a plan changes GPUs, if nothing else does before.
  void wake_for_plans(Seconds now) {
    Seconds first = std::numeric_limits<Seconds>::max();
    for (const FlowJob* const job : live_) {
      const auto next = job->plan.gpus.upper_bound(now);
      if (next != job->plan.gpus.end()) first = std::min(first, next->first);
    }
    std::ranges::stable_sort(events_, {}, &Event::time);
    if (live_.empty() || (!events_.empty() && events_.front().time <= first)) return;
    events_.insert(events_.begin(), {.time = first});
  }

  void charge() {
    const bool starts_anew = decisions_ > 0 && decisions_ % kDecisionsUntilStart == 0;
    ++decisions_;
    if (starts_anew) cache_.clear();
    constexpr Seconds kDecision_s = 2, kStart_s = 27;
    for (FlowJob* const job : live_) {
      job->cost = 0;
      if (job->gpus == 0) continue;
      const auto doubled = static_cast<Seconds>(std::lround(std::log2(job->gpus)));
      if (rules_.charges)
        job->cost = kDecision_s + (job->knows_gpus ? 0 : (starts_anew ? kStart_s : 0) + 2 * (doubled + 1));
      job->ended = job->event + job->cost;
      move_end(*job, job->ended);
    }
  }

  /// The next decision comes a minute after this one at the earliest, and takes all that happens until then.
  void gather(Seconds now) {
    std::ranges::stable_sort(events_, {}, &Event::time);
    while (events_.size() > 1 && events_[0].time - now <= kSlot) {
      events_[0].time = now + kSlot;
      Event& next = events_[1];
      if (next.time - now > kSlot) return;
      events_[0].arriving.insert(events_[0].arriving.end(), next.arriving.begin(), next.arriving.end());
      events_[0].ending.insert(events_[0].ending.end(), next.ending.begin(), next.ending.end());
      events_.erase(events_.begin() + 1);
    }
  }

  [[nodiscard]] bool has_more() const {
    return !live_.empty() || std::ranges::any_of(events_, [](const Event& each) { return !each.arriving.empty(); });
  }

  ReleasedElasticFlowRules rules_;
  std::vector<FlowJob> jobs_;
  std::vector<FlowJob*> live_;  ///< admitted, and not ended
  std::vector<Event> events_;
  Steps room_{};
  Places places_{};
  std::set<std::pair<int, int>> cache_{};  ///< first GPU and number of those that jobs have had
  int decisions_ = 0;
  ReleasedDeadlines done_{};
};

}  // namespace

std::optional<ReleasedDeadlines> run_released_elasticflow(const ReleasedElasticFlowRules& rules) {
  const std::vector<ElasticFlowRow> rows = elasticflow_rows();
  if (rows.empty()) return std::nullopt;
  return ElasticFlow{rows, rules}.run();
}

}  // namespace contend
