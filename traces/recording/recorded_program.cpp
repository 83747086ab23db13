#include "traces/recording/recorded_program.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::uint32_t kNoOp = UINT32_MAX;

[[noreturn]] void refuse_rank(const RecordedRank& rank, std::string reason, std::string hint = {}) {
  throw InputError{{{.key = "recording",
                     .reason = fmt::format("{}: rank {}: {}", rank.file, rank.rank, reason),
                     .hint = std::move(hint)}}};
}

std::string lower(std::string_view text) {
  std::string small{text};
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// What both kinds of programs need: operations with their durations, and the lanes on which they run.
class ProgramMaker {
 public:
  ProgramMaker(const RecordedRank& rank, const ProgramOptions& options)
      : rank_{rank}, options_{options}, op_of_(rank.tasks.size(), kNoOp), last_on_(rank.lanes.size(), kNoOp) {
    for (const auto& [part, factor] : options.kernels) factors_.emplace_back(lower(part), factor);
    std::ranges::stable_sort(factors_, std::greater{}, [](const auto& each) { return each.first.size(); });
  }

 protected:
  [[nodiscard]] Time end_of(std::uint32_t task) const { return rank_.tasks[task].start + rank_.tasks[task].duration; }

  std::uint32_t add(ProgramKind kind, Time duration, std::uint32_t task = kNoTask) {
    program_.ops.push_back({.kind = kind, .task = task, .duration = duration});
    return static_cast<std::uint32_t>(program_.ops.size() - 1);
  }
  void need(std::uint32_t op, std::uint32_t needed) {
    if (needed != kNoOp) program_.ops[op].needs.push_back(needed);
  }

  /// Chooses the lanes of a rank: of its streams the one that computes longest is the GPU, and the next ones are
  /// further streams. Of threads the longest is the host. What is left over passes on no lane.
  void choose_lanes(std::span<const std::uint32_t> tasks, std::span<const Time> durations) {
    std::vector<Time> times(rank_.lanes.size());
    std::set<std::int64_t> gpus;
    for (const std::uint32_t i : tasks) {
      const RecordedTask& task = rank_.tasks[i];
      if (rank_.lanes[task.lane].device) gpus.insert(rank_.lanes[task.lane].gpu);
      if (!is_communication(task.kind)) times[task.lane] += durations[i];
    }
    if (gpus.size() > 1)
      refuse_rank(rank_, fmt::format("it works on {} GPUs, and a rank of a job has one", gpus.size()));
    std::vector<std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < times.size(); ++lane)
      if (times[lane] > Time{}) lanes.push_back(lane);
    std::ranges::stable_sort(lanes, std::greater{}, [&](std::uint32_t lane) { return times[lane]; });
    lane_of_.assign(rank_.lanes.size(), std::nullopt);
    int streams = 0;
    bool hosts = false;
    for (const std::uint32_t lane : lanes) {
      if (!rank_.lanes[lane].device) {
        if (!std::exchange(hosts, true)) lane_of_[lane] = Lane::host;
      } else if (streams <= kMostStreams) {
        lane_of_[lane] = streams == 0 ? Lane::compute : stream_lane(streams - 1);
        ++streams;
      }
    }
  }

  [[nodiscard]] Time scaled(const RecordedTask& task, Time duration) const {
    if (task.kind != RecordedKind::compute || factors_.empty()) return duration;
    const std::string name = lower(rank_.name_of(task));
    for (const auto& [part, factor] : factors_)
      if (name.find(part) != std::string::npos)
        return Time::nanoseconds(std::llround(static_cast<double>(duration.ns()) * factor));
    return duration;
  }

  /// Adds a task of the recording; it waits for the one before on its lane unless it is a message of a trace.
  std::uint32_t add_recorded(std::uint32_t index, Time duration) {
    const RecordedTask& task = rank_.tasks[index];
    const RecordedTransfer* const transfer = rank_.transfer_of(task);
    ProgramKind kind = ProgramKind::task;
    if (is_communication(task.kind)) {
      kind = ProgramKind::collective;
      if (transfer != nullptr && transfer->peer && transfer->kind == RecordedCollective::send) kind = ProgramKind::send;
      if (transfer != nullptr && transfer->peer && transfer->kind == RecordedCollective::receive)
        kind = ProgramKind::receive;
      if (task.kind == RecordedKind::send) kind = ProgramKind::send;
      if (task.kind == RecordedKind::receive) kind = ProgramKind::receive;
    } else if (!lane_of_[task.lane]) {
      kind = ProgramKind::pause;
    }
    const std::uint32_t op = add(kind, scaled(task, duration), index);
    if (kind == ProgramKind::task) program_.ops[op].lane = *lane_of_[task.lane];
    return op_of_[index] = op;
  }

  const RecordedRank& rank_;
  const ProgramOptions& options_;
  RecordedProgram program_;
  std::vector<std::uint32_t> op_of_;          ///< by task
  std::vector<std::uint32_t> last_on_;        ///< by lane
  std::vector<std::optional<Lane>> lane_of_;  ///< by lane

 private:
  std::vector<std::pair<std::string, double>> factors_;  ///< the longest text first
};

class ReplayedProgram : ProgramMaker {
 public:
  using ProgramMaker::ProgramMaker;

  RecordedProgram make(std::span<const std::uint32_t> order, std::span<const Time> durations) {
    choose_lanes(order, durations);
    for (const std::uint32_t index : order) {
      const RecordedTask& task = rank_.tasks[index];
      const bool takes_time = options_.host || on_device(task.kind);
      const std::uint32_t op = add_recorded(index, takes_time ? durations[index] : Time{});
      if (task.kind != RecordedKind::send && task.kind != RecordedKind::receive)
        need(op, std::exchange(last_on_[task.lane], op));
      for (std::uint32_t n = 0; n < task.needs; ++n) need(op, op_of_[rank_.needs[task.first_need + n]]);
    }
    separate();
    return std::move(program_);
  }

 private:
  /// The next iteration begins when all of this one has ended.
  void separate() {
    std::vector<bool> is_needed(program_.ops.size());
    for (const ProgramOp& op : program_.ops)
      for (const std::uint32_t needed : op.needs) is_needed[needed] = true;
    const std::uint32_t end = add(ProgramKind::pause, Time{});
    for (std::uint32_t op = 0; op < end; ++op) {
      if (!is_needed[op]) need(end, op);
      if (program_.ops[op].needs.empty()) program_.ops[op].before.push_back(end);
    }
  }
};

class TimedProgram : ProgramMaker {
 public:
  using ProgramMaker::ProgramMaker;

  RecordedProgram make() {
    choose_iteration();
    find_tasks();
    std::vector<Time> durations(rank_.tasks.size());
    for (const std::uint32_t task : tasks_) durations[task] = rank_.tasks[task].duration;
    choose_lanes(tasks_, durations);
    for (const std::uint32_t task : tasks_) static_cast<void>(add_recorded(task, rank_.tasks[task].duration));
    if (options_.host) add_host();
    first_on_.assign(rank_.lanes.size(), kNoOp);
    for (std::size_t i = 0; i < tasks_.size(); ++i) order(i);
    for (std::size_t lane = 0; lane < rank_.lanes.size(); ++lane)
      if (first_on_[lane] != kNoOp) program_.ops[first_on_[lane]].before.push_back(last_on_[lane]);
    wait_for_communication();
    return std::move(program_);
  }

 private:
  void choose_iteration() {
    std::vector<const RecordedStep*> steps;
    for (const RecordedStep& step : rank_.steps)
      if (options_.iteration ? step.number == *options_.iteration : launches_in(step)) steps.push_back(&step);
    if (options_.iteration && steps.empty())
      refuse_rank(rank_, fmt::format("it has no iteration {}", *options_.iteration),
                  rank_.steps.empty() ? "leave iteration out: the file is one"
                                      : fmt::format("{} to {}", rank_.steps.front().number, rank_.steps.back().number));
    if (steps.empty() && !rank_.steps.empty())
      refuse_rank(rank_, "no launch of anything on its GPU was recorded in any of its iterations");
    if (steps.empty()) {
      begin_ = Time::never();
      for (std::uint32_t i = 0; i < rank_.tasks.size(); ++i) {
        begin_ = std::min(begin_, rank_.tasks[i].start);
        if (!on_device(rank_.tasks[i].kind)) end_ = std::max(end_, end_of(i));
        last_end_ = std::max(last_end_, end_of(i));
      }
      program_.length = rank_.tasks.empty() ? Time{} : last_end_ - begin_;
      return;
    }
    std::ranges::stable_sort(steps, {}, [](const RecordedStep* step) { return step->end - step->start; });
    const RecordedStep& chosen = *steps[(steps.size() - 1) / 2];
    program_.iteration = chosen.number;
    begin_ = chosen.start;
    end_ = chosen.end;
    find_length();
  }

  [[nodiscard]] bool launches_in(const RecordedStep& step) const {
    for (std::uint32_t i = 0; i < rank_.tasks.size(); ++i)
      if (on_device(rank_.tasks[i].kind) && is_launched(i) && launch_of(i) >= step.start && launch_of(i) < step.end)
        return true;
    return false;
  }

  /// From the first start on the device to the first start of the next iteration, as a host may be ahead of its device.
  /// Of the last iteration from its begin to its end on the host, unless the device did earlier work in it.
  void find_length() {
    Time next_end = Time::never();
    for (const RecordedStep& step : rank_.steps)
      if (step.start >= end_) next_end = std::min(next_end, step.end);
    Time first = Time::never(), next = Time::never();
    bool is_behind = false;
    for (std::uint32_t i = 0; i < rank_.tasks.size(); ++i) {
      if (!on_device(rank_.tasks[i].kind)) continue;
      const bool is_known = is_launched(i);
      if (is_known && launch_of(i) >= begin_ && launch_of(i) < end_) first = std::min(first, rank_.tasks[i].start);
      if (is_known && launch_of(i) >= end_ && launch_of(i) < next_end) next = std::min(next, rank_.tasks[i].start);
      is_behind =
          is_behind || ((!is_known || launch_of(i) < begin_) && end_of(i) > begin_ && rank_.tasks[i].start < end_);
    }
    if (next < Time::never() && first < next)
      program_.length = next - first;
    else if (!is_behind)
      program_.length = end_ - begin_;
  }

  [[nodiscard]] bool is_launched(std::uint32_t task) const {
    const std::uint32_t launch = rank_.tasks[task].launch;
    return launch != kNoTask && rank_.tasks[launch].start <= rank_.tasks[task].start;
  }
  [[nodiscard]] Time launch_of(std::uint32_t task) const { return rank_.tasks[rank_.tasks[task].launch].start; }

  void find_tasks() {
    for (std::uint32_t i = 0; i < rank_.tasks.size(); ++i) {
      if (!on_device(rank_.tasks[i].kind)) continue;
      all_.push_back(i);
      const bool is_inside =
          program_.iteration < 0 || (is_launched(i) && launch_of(i) >= begin_ && launch_of(i) < end_);
      if (is_inside) tasks_.push_back(i);
    }
    if (tasks_.empty())
      refuse_rank(rank_, program_.iteration < 0
                             ? std::string{"nothing ran on its GPU"}
                             : fmt::format("nothing on its GPU was launched within iteration {}", program_.iteration));
    const auto by_start = [&](std::uint32_t task) { return std::tuple{rank_.tasks[task].start, end_of(task), task}; };
    std::ranges::sort(tasks_, {}, by_start);
    const auto by_end = [&](std::uint32_t task) { return std::tuple{end_of(task), task}; };
    std::ranges::sort(all_, {}, by_end);
    latency_ = Time::never();
    for (const std::uint32_t task : tasks_)
      if (is_launched(task)) latency_ = std::min(latency_, rank_.tasks[task].start - launch_of(task));
    if (latency_ == Time::never()) latency_ = Time{};
  }

  /// The last task of the device to end by then for which `counts` holds; kNoTask if it ended by `since`.
  template <class Counts>
  [[nodiscard]] std::uint32_t last_ended(Time by, Time since, const Counts& counts) const {
    auto after = std::ranges::upper_bound(all_, by, {}, [&](std::uint32_t task) { return end_of(task); });
    while (after != all_.begin() && end_of(*--after) > since)
      if (counts(*after)) return *after;
    return kNoTask;
  }

  /// A time of the host until `until`, if that is later than the end of its tasks; waits for the tasks that the host
  /// has waited for.
  std::uint32_t host_until(Time until) {
    const std::uint32_t op = add(ProgramKind::task, std::max(Time{}, until - host_));
    program_.ops[op].lane = Lane::host;
    need(op, last_host_);
    for (const std::uint32_t waited : std::exchange(waited_, {})) {
      need(op, op_of_[waited]);
      if (op_of_[waited] == kNoOp) earlier_waits_.emplace_back(op, waited);
    }
    if (first_host_ == kNoOp) first_host_ = op;
    host_ = std::max(host_, until);
    return last_host_ = op;
  }

  /// The host, from one launch to the next, by a clock that is late by what passes from a launch to a start at least.
  void add_host() {
    struct Event {
      Time at;
      std::uint32_t call = kNoTask, copy = kNoTask;  ///< that the call waited for
      bool launches = false;
    };
    std::vector<Event> events;  // launches by their starts, waits by their ends
    std::set<std::uint32_t> launches;
    for (const std::uint32_t task : tasks_) {
      if (!is_launched(task)) continue;
      const std::uint32_t call = rank_.tasks[task].launch;
      launches.insert(call);
      if (rank_.tasks[task].kind == RecordedKind::copy && end_of(call) >= end_of(task))
        events.push_back({end_of(call), call, task, false});
    }
    if (launches.empty()) return;
    for (const std::uint32_t launch : launches) events.push_back({rank_.tasks[launch].start, launch, kNoTask, true});
    for (std::uint32_t i = 0; i < rank_.tasks.size(); ++i) {
      const RecordedTask& task = rank_.tasks[i];
      if (task.kind == RecordedKind::launch && !launches.contains(i) && task.start >= begin_ && end_of(i) <= end_ &&
          rank_.name_of(task).ends_with("Synchronize"))
        events.push_back({end_of(i), i, kNoTask, false});
    }
    std::ranges::sort(events, {}, [](const Event& each) { return std::tuple{each.at, each.call, each.copy}; });
    host_ = begin_ + latency_;
    std::map<std::uint32_t, std::uint32_t> op_of_launch;
    for (const Event& each : events) {
      if (each.launches)
        op_of_launch[each.call] = host_until(each.at + latency_);
      else
        synchronise(each.call, each.copy);
    }
    static_cast<void>(host_until(end_ + latency_));
    program_.ops[first_host_].before.push_back(last_host_);
    for (const std::uint32_t task : tasks_)
      if (is_launched(task)) need(op_of_[task], op_of_launch.at(rank_.tasks[task].launch));
  }

  /// If the call waited for the device, what the host does next waits for that task: a copy that had ended when the
  /// call that launched it returned, or what ended last before a call to wait returned.
  void synchronise(std::uint32_t call, std::uint32_t copy) {
    const Time since = rank_.tasks[call].start;
    std::uint32_t waited = copy;
    if (copy == kNoTask)
      waited = last_ended(end_of(call), std::max(host_, since),
                          [&](std::uint32_t task) { return !is_launched(task) || launch_of(task) <= since; });
    if (waited == kNoTask || end_of(waited) <= host_) return;
    if (since > host_) static_cast<void>(host_until(since));
    waited_.push_back(waited);
    host_ = end_of(waited);
  }

  /// Makes a task wait for the tasks that it waited for, and for the rest of the gap in front of it.
  void order(std::size_t at) {
    const std::uint32_t index = tasks_[at];
    const RecordedTask& task = rank_.tasks[index];
    const std::uint32_t op = op_of_[index];
    const bool is_first = first_on_[task.lane] == kNoOp;
    Time ready = is_launched(index) ? launch_of(index) + latency_ : begin_;
    if (const std::uint32_t on_lane =
            last_ended(task.start, ready,
                       [&](std::uint32_t other) { return other != index && rank_.tasks[other].lane == task.lane; });
        on_lane != kNoTask)
      ready = end_of(on_lane);
    if (!is_first) need(op, last_on_[task.lane]);
    for (std::uint32_t n = 0; n < task.needs; ++n) {
      const std::uint32_t needed = rank_.needs[task.first_need + n];
      if (op_of_[needed] == kNoOp || end_of(needed) > task.start || !comes_before(needed, index)) continue;
      need(op, op_of_[needed]);
      ready = std::max(ready, end_of(needed));
    }
    if (task.needs == 0) ready = std::max(ready, infer(index, ready));
    if (task.start > ready) pause_before(op, task.start - ready);
    const std::uint32_t first = std::exchange(paused_, kNoOp);
    if (is_first) first_on_[task.lane] = first == kNoOp ? op : first;
    if (earlier_ != kNoTask) earlier_waits_.emplace_back(first == kNoOp ? op : first, std::exchange(earlier_, kNoTask));
    last_on_[task.lane] = op;
    if (task.kind == RecordedKind::compute && (last_computed_ == kNoTask || launched_before(last_computed_, index)))
      last_computed_ = index;
  }

  [[nodiscard]] bool comes_before(std::uint32_t a, std::uint32_t b) const {
    return std::tuple{rank_.tasks[a].start, end_of(a), a} < std::tuple{rank_.tasks[b].start, end_of(b), b};
  }
  [[nodiscard]] bool launched_before(std::uint32_t a, std::uint32_t b) const {
    return !is_launched(a) || !is_launched(b) || launch_of(a) < launch_of(b);
  }

  /// What a task of a profile without waits of streams waited for on other streams; returns when that ended.
  Time infer(std::uint32_t index, Time ready) {
    const RecordedTask& task = rank_.tasks[index];
    const std::uint32_t other = last_ended(task.start, ready, [&](std::uint32_t each) {
      return rank_.tasks[each].lane != task.lane && comes_before(each, index) && launched_before(each, index);
    });
    if (other != kNoTask && op_of_[other] != kNoOp) need(op_of_[index], op_of_[other]);
    if (other != kNoTask && op_of_[other] == kNoOp) earlier_ = other;
    const bool is_late = last_computed_ != kNoTask && launched_before(last_computed_, index) &&
                         end_of(last_computed_) <= task.start && rank_.tasks[last_computed_].lane != task.lane;
    if (is_communication(task.kind) && is_late && last_computed_ != other) need(op_of_[index], op_of_[last_computed_]);
    return other == kNoTask ? Time{} : end_of(other);
  }

  void pause_before(std::uint32_t op, Time duration) {
    paused_ = add(ProgramKind::pause, duration);
    program_.ops[paused_].needs = std::exchange(program_.ops[op].needs, {paused_});
  }

  /// The operation of this iteration that is like a task of the iteration before: as many follow it on its stream; none
  /// if it belongs to an earlier one.
  [[nodiscard]] std::uint32_t like_earlier(std::uint32_t task) const {
    const std::uint32_t lane = rank_.tasks[task].lane;
    std::size_t behind = 0;
    for (const std::uint32_t other : all_) {
      const bool is_earlier = op_of_[other] == kNoOp && (!is_launched(other) || launch_of(other) < begin_);
      behind += static_cast<std::size_t>(is_earlier && rank_.tasks[other].lane == lane && comes_before(task, other));
    }
    for (auto own = tasks_.rbegin(); own != tasks_.rend(); ++own)
      if (rank_.tasks[*own].lane == lane && behind-- == 0) return op_of_[*own];
    return kNoOp;
  }

  /// What the next iteration computes first waits for all communication of this one, unless the recording shows that it
  /// didn't; and operations wait for work of the iteration before as they did.
  void wait_for_communication() {
    for (const auto& [op, task] : earlier_waits_)
      if (const std::uint32_t like = like_earlier(task); like != kNoOp) program_.ops[op].before.push_back(like);
    Time next = Time::never();
    for (const std::uint32_t task : all_)
      if (program_.iteration >= 0 && rank_.tasks[task].kind == RecordedKind::compute && is_launched(task) &&
          launch_of(task) >= end_)
        next = std::min(next, rank_.tasks[task].start);
    const auto first = std::ranges::find_if(
        tasks_, [&](std::uint32_t task) { return lane_of_[rank_.tasks[task].lane] == std::optional{Lane::compute}; });
    if (first == tasks_.end()) return;
    std::map<std::uint32_t, std::uint32_t> last;  // communication by lane
    for (const std::uint32_t task : tasks_)
      if (is_communication(rank_.tasks[task].kind)) last[rank_.tasks[task].lane] = task;
    for (const auto& [lane, task] : last)
      if (end_of(task) <= next && lane != rank_.tasks[*first].lane)
        program_.ops[op_of_[*first]].before.push_back(op_of_[task]);
  }

  Time begin_, end_, last_end_;       ///< of the iteration, on the host; of all
  Time latency_;                      ///< from a launch to its start at least
  std::vector<std::uint32_t> tasks_;  ///< of the device in the iteration, by start
  std::vector<std::uint32_t> all_;    ///< of the device in the file, by end
  std::vector<std::uint32_t> first_on_;
  std::uint32_t paused_ = kNoOp, last_computed_ = kNoTask;
  std::uint32_t earlier_ = kNoTask;  ///< a task of the iteration before that was waited for
  Time host_;                        ///< what the host has done so far
  std::uint32_t last_host_ = kNoOp, first_host_ = kNoOp;
  std::vector<std::uint32_t> waited_;                                   ///< for which the host waits next
  std::vector<std::pair<std::uint32_t, std::uint32_t>> earlier_waits_;  ///< of operations for these tasks
};

}  // namespace

RecordedProgram timed_program(const RecordedRank& rank, const ProgramOptions& options) {
  return TimedProgram{rank, options}.make();
}

RecordedProgram replayed_program(const RecordedRank& rank, std::span<const std::uint32_t> order,
                                 std::span<const Time> durations, const ProgramOptions& options) {
  return ReplayedProgram{rank, options}.make(order, durations);
}

}  // namespace contend
