#include "validate/backfill/plain_backfill.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

/// Returns the server with the least (or the most) free GPUs that has `needed`; -1 if there is none.
int tightest(const ByServer& free, int needed, bool most) {
  int best = -1;
  for (int s = 0; s < static_cast<int>(free.size()); ++s) {
    const int here = free[static_cast<std::size_t>(s)];
    if (here < needed) continue;
    const int than = best < 0 ? 0 : free[static_cast<std::size_t>(best)];
    if (best < 0 || (most ? here > than : here < than)) best = s;
  }
  return best;
}

/// Whole servers in order, and one more for the rest.
ByServer on_whole_servers(int gpus, ByServer free, int per_server, bool most_alone, bool most_rest) {
  ByServer place(free.size(), 0);
  const ByServer nothing = place;
  int left = gpus;
  for (std::size_t s = 0; s < free.size() && gpus > per_server && left >= per_server; ++s) {
    if (free[s] < per_server) continue;
    place[s] = per_server;
    free[s] = 0;
    left -= per_server;
  }
  if (gpus > per_server && left >= per_server) return nothing;
  if (left == 0) return place;
  const int s = tightest(free, left, gpus > per_server ? most_rest : most_alone);
  if (s < 0) return nothing;
  place[static_cast<std::size_t>(s)] += left;
  return place;
}

ByServer consolidated(int gpus, const ByServer& free, int per_server) {
  return on_whole_servers(gpus, free, per_server, false, true);
}
ByServer worst_fit(int gpus, const ByServer& free, int per_server) {
  return on_whole_servers(gpus, free, per_server, true, true);
}
ByServer first_fit(int gpus, const ByServer& free, int /*per_server*/) {
  ByServer place(free.size(), 0);
  for (std::size_t s = 0; s < free.size(); ++s) {
    place[s] = std::min(free[s], gpus);
    gpus -= place[s];
  }
  return gpus > 0 ? ByServer(free.size(), 0) : place;
}
ByServer spread(int gpus, const ByServer& free, int /*per_server*/) {
  ByServer place(free.size(), 0);
  if (std::accumulate(free.begin(), free.end(), 0) < gpus) return place;
  std::vector<std::size_t> order(free.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return free[a] > free[b]; });
  for (int round = 1; gpus > 0; ++round)
    for (const std::size_t s : order)
      if (gpus > 0 && free[s] >= round) {
        ++place[s];
        --gpus;
      }
  return place;
}

bool is_place(const ByServer& place) {
  return std::ranges::any_of(place, [](int gpus) { return gpus > 0; });
}

struct Block {
  std::int64_t begin = 0, end = 0;
  ByServer place;
  std::int64_t held_from = 0, held_till = 0;  // with what is held for it
  ByServer held{};
};

/// The rules of backfilling with places, played plainly.
class Rules {
 public:
  Rules(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule, const PlainLimits& limits)
      : limits_{limits},
        jobs_{jobs},
        all_(static_cast<std::size_t>(servers), per_server),
        per_server_{per_server},
        rule_{rule} {
    outcome.starts.assign(jobs.size(), -1);
    outcome.first_plans.assign(jobs.size(), -1);
    outcome.places.resize(jobs.size());
  }

  template <class Pass>
  PlainOutcome play(const Pass& pass) {
    std::size_t arrived = 0;
    while (true) {
      std::int64_t next = arrived < jobs_.size() ? jobs_[arrived].submit : INT64_MAX;
      for (const auto& [j, block] : running) next = std::min(next, block.begin + jobs_[j].runs());
      for (const auto& [j, block] : plans)
        if (block.begin > now) next = std::min(next, block.begin);
      if (next == INT64_MAX) return outcome;
      now = next;
      std::erase_if(running, [&](const auto& each) { return each.second.begin + jobs_[each.first].runs() <= now; });
      for (; arrived < jobs_.size() && jobs_[arrived].submit <= now; ++arrived) waiting.push_back(arrived);
      pass();
    }
  }
  void start(std::size_t j, const ByServer& place) {
    running[j] = {now, now + jobs_[j].estimate(), place, now, now + jobs_[j].estimate(), place};
    plans.erase(j);
    std::erase(waiting, j);
    outcome.starts[j] = now;
    outcome.places[j] = place;
  }
  /// Free GPUs at `at` beside the running jobs and all plans but the plan of `j`.
  [[nodiscard]] ByServer free_at(std::int64_t at, std::size_t j) const {
    ByServer free = all_;
    const auto take = [&](const Block& block) {
      if (block.held_from <= at && at < block.held_till)
        for (std::size_t s = 0; s < free.size(); ++s) free[s] -= block.held[s];
    };
    for (const auto& [id, block] : running) take(block);
    for (const auto& [id, block] : plans)
      if (id != j) take(block);
    return free;
  }
  /// The least of that in [from, from + estimate of j).
  [[nodiscard]] ByServer free_from(std::int64_t from, std::size_t j) const {
    ByServer least = free_at(from, j);
    for (const auto* blocks : {&running, &plans})
      for (const auto& [id, block] : *blocks) {
        if (id == j || block.held_from <= from || block.held_from >= from + jobs_[j].estimate()) continue;
        const ByServer free = free_at(block.held_from, j);
        for (std::size_t s = 0; s < free.size(); ++s) least[s] = std::min(least[s], free[s]);
      }
    return least;
  }
  /// The first instant before `until` at which the job has a place; no place if there is none.
  [[nodiscard]] Block earliest(std::size_t j, std::int64_t from, std::int64_t until) const {
    std::vector<std::int64_t> instants = {from};
    for (const auto* blocks : {&running, &plans})
      for (const auto& [id, block] : *blocks)
        if (id != j && block.held_till > from) instants.push_back(block.held_till);
    std::ranges::sort(instants);
    for (const std::int64_t at : instants) {
      if (at >= until) break;
      if (const ByServer place = place_in(j, free_from(at, j)); is_place(place))
        return {.begin = at, .end = at + jobs_[j].estimate(), .place = place};
    }
    return {};
  }
  [[nodiscard]] ByServer place_in(std::size_t j, const ByServer& free) const {
    ByServer some = free;
    for (int& gpus : some) gpus = std::max(gpus, 0);
    return rule_(jobs_[j].gpus, some, per_server_);
  }
  /// Keeps the place, unless it begins too far ahead.
  void keep(std::size_t j, Block plan) {
    if (!is_place(plan.place) || (limits_.window > 0 && plan.begin > now + limits_.window)) return;
    const std::int64_t step = std::max<std::int64_t>(limits_.resolution, 1);
    plan.held_from = plan.begin / step * step;
    plan.held_till = (plan.end + step - 1) / step * step;
    plan.held = plan.place;
    if (limits_.whole_servers)
      for (int& gpus : plan.held) gpus = gpus > 0 ? per_server_ : 0;
    plans[j] = plan;
    note(j);
  }
  /// The first of these jobs, at most so many and so many of each user.
  [[nodiscard]] std::vector<std::size_t> looked_at(const std::vector<std::size_t>& all) const {
    std::vector<std::size_t> some;
    std::map<int, std::int64_t> of_user;
    for (const std::size_t j : all) {
      if (limits_.depth > 0 && std::ssize(some) == limits_.depth) break;
      if (limits_.per_user > 0 && ++of_user[jobs_[j].user] > limits_.per_user) continue;
      some.push_back(j);
    }
    return some;
  }
  void note(std::size_t j) {
    if (outcome.first_plans[j] < 0) outcome.first_plans[j] = plans[j].begin;
  }

  PlainOutcome outcome;
  std::int64_t now = 0;
  std::vector<std::size_t> waiting;
  std::map<std::size_t, Block> running, plans;

 private:
  PlainLimits limits_;
  const std::vector<WaitingJob>& jobs_;
  ByServer all_;
  int per_server_;
  PlaceRule rule_;
};

/// Slurm, second by second. The plans whose time the job would touch hold their servers.
class PlainSlurmRun {
 public:
  PlainSlurmRun(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                const PlainSlurm& slurm)
      : slurm_{slurm}, jobs_{jobs}, servers_{servers}, per_server_{per_server}, rule_{rule} {
    outcome_.starts.assign(jobs.size(), -1);
    outcome_.first_plans.assign(jobs.size(), -1);
    outcome_.places.resize(jobs.size());
  }

  PlainOutcome play() {
    std::size_t arrived = 0;
    for (; arrived < jobs_.size() || !running_.empty() || !waiting_.empty(); ++now_) {
      const bool has_left = std::erase_if(running_, [&](const auto& each) {
                              return each.second.begin + jobs_[each.first].runs() <= now_;
                            }) > 0;
      bool has_come = false;
      for (; arrived < jobs_.size() && jobs_[arrived].submit <= now_; ++arrived, has_come = true)
        waiting_.push_back(arrived);
      if (has_come) submitted_ = true;
      changed_ = changed_ || has_left || has_come;
      const bool is_due = submitted_ && (last_main_ < 0 || now_ >= last_main_ + slurm_.batch_delay);
      if (now_ % slurm_.sched_interval == 0)
        run_main(static_cast<std::int64_t>(jobs_.size()));
      else if (has_left || is_due)
        run_main(slurm_.depth);
      if (changed_ && now_ >= last_backfill_ + slurm_.interval) run_backfill();
    }
    return outcome_;
  }

 private:
  struct Plan {
    std::int64_t from, till;
    std::vector<bool> servers;
  };

  [[nodiscard]] ByServer free_beside(const std::map<std::size_t, Block>& blocks) const {
    ByServer free(static_cast<std::size_t>(servers_), per_server_);
    for (const auto& [j, block] : blocks)
      for (std::size_t s = 0; s < free.size(); ++s) free[s] -= block.place[s];
    return free;
  }
  void start(std::size_t j, const ByServer& place) {
    running_[j] = {.begin = now_, .end = now_ + jobs_[j].estimate(), .place = place};
    std::erase(waiting_, j);
    outcome_.starts[j] = now_;
    outcome_.places[j] = place;
    changed_ = true;
  }
  void run_main(std::int64_t depth) {
    last_main_ = now_;
    submitted_ = false;
    for (std::int64_t tested = 0; tested < depth && !waiting_.empty(); ++tested) {
      const std::size_t first = waiting_.front();
      const ByServer place = rule_(jobs_[first].gpus, free_beside(running_), per_server_);
      if (!is_place(place)) return;
      start(first, place);
    }
  }
  /// Servers that no plan holds in any interval that ends after `from` and begins at `to` or before.
  [[nodiscard]] std::vector<bool> usable(std::int64_t from, std::int64_t to) const {
    std::vector<bool> servers(static_cast<std::size_t>(servers_), true);
    for (const Plan& plan : plans_)
      for (std::size_t s = 0; s < servers.size(); ++s)
        if (plan.servers[s] && plan.till > from && plan.from <= to) servers[s] = false;
    return servers;
  }
  /// Where running jobs leave room on these servers, by their limits.
  [[nodiscard]] Block will_run(std::size_t j, const std::vector<bool>& servers) const {
    std::map<std::size_t, Block> left = running_;
    std::vector<std::pair<std::int64_t, std::size_t>> ends;
    for (const auto& [id, block] : running_)
      for (std::size_t s = 0; s < servers.size(); ++s)
        if (servers[s] && block.place[s] > 0) {
          ends.emplace_back(block.end, id);
          break;
        }
    std::ranges::sort(ends);
    std::int64_t at = now_;
    for (std::size_t e = 0;;) {
      ByServer free = free_beside(left);
      for (std::size_t s = 0; s < free.size(); ++s)
        if (!servers[s]) free[s] = 0;
      if (const ByServer place = rule_(jobs_[j].gpus, free, per_server_); is_place(place))
        return {.begin = at, .end = at + jobs_[j].estimate(), .place = place};
      if (e == ends.size()) return {};
      const std::int64_t until = ends[e].first + slurm_.end_window;
      for (; e < ends.size() && ends[e].first <= until; ++e) {
        at = ends[e].first;
        left.erase(ends[e].second);
      }
    }
  }
  /// Servers that no plan holds in [begin, till).
  [[nodiscard]] std::vector<bool> free_in(std::int64_t begin, std::int64_t till) const {
    std::vector<bool> free(static_cast<std::size_t>(servers_), true);
    for (const Plan& plan : plans_)
      for (std::size_t s = 0; s < free.size(); ++s)
        if (plan.servers[s] && plan.from < till && plan.till > begin) free[s] = false;
    return free;
  }
  /// The bound behind this one, or the end of the list.
  [[nodiscard]] std::int64_t next_bound(std::int64_t bound) const {
    const auto next = bounds_.upper_bound(bound);
    return next == bounds_.end() ? end_ : *next;
  }
  void plan(const Plan& made) {
    plans_.push_back(made);
    if (made.from > end_) return;
    const auto last_before = bounds_.lower_bound(made.from);
    std::vector<std::int64_t> touched;
    if (last_before != bounds_.begin()) touched.push_back(*std::prev(last_before));
    for (const std::int64_t bound : {made.from, made.till})
      if (bound > begin_ && bound < end_) bounds_.insert(bound);
    for (auto at = bounds_.lower_bound(made.from); at != bounds_.end() && *at <= made.till; ++at)
      touched.push_back(*at);
    // The first bound with the same servers free on both sides is dropped, and no other.
    for (const std::int64_t bound : touched) {
      const auto at = bounds_.find(bound);
      const std::int64_t before = at == bounds_.begin() ? begin_ : *std::prev(at);
      if (free_in(before, bound) != free_in(bound, next_bound(bound))) continue;
      bounds_.erase(at);
      return;
    }
  }
  /// The first end of an interval after `from` at which servers become usable that weren't so far.
  [[nodiscard]] std::int64_t later_than(std::int64_t from, std::int64_t to) const {
    std::vector<bool> present(static_cast<std::size_t>(servers_), true);
    std::int64_t begin = begin_;
    for (const std::int64_t end : bounds_) {  // the interval [begin, end)
      if (end > from) {
        const std::vector<bool> here = free_in(begin, end), next = free_in(end, next_bound(end));
        for (std::size_t s = 0; s < next.size(); ++s) {
          present[s] = present[s] && here[s];
          if (next[s] && !present[s]) return end;
        }
      }
      if (begin > to) break;  // the first interval behind the job is looked at, too
      begin = end;
    }
    return -1;
  }
  /// Tests a job: starts it, plans it, or leaves it. False if there were too few servers to try any.
  bool test(std::size_t j) {
    const std::int64_t step = slurm_.resolution, least = (jobs_[j].gpus + per_server_ - 1) / per_server_;
    bool was_tried = false;
    for (std::int64_t from = now_; from >= 0;) {
      const std::int64_t to = from + jobs_[j].estimate();
      const std::vector<bool> servers = usable(from, to);
      const std::int64_t later = later_than(from, to);
      if (std::ranges::count(servers, true) < least) {
        from = later;
        continue;
      }
      was_tried = true;
      Block planned = will_run(j, servers);
      if (!is_place(planned.place)) {
        from = later;
        continue;
      }
      planned.begin = std::max(planned.begin, from);
      if (planned.begin <= now_) {
        start(j, planned.place);
        return true;
      }
      if (later >= 0 && planned.begin > later) {
        from = later;
        continue;
      }
      if (planned.begin > now_ + slurm_.window) return true;
      const std::int64_t first = std::max(planned.begin / step * step, now_ / step * step);
      const std::int64_t last = std::max((planned.begin + jobs_[j].estimate() + step - 1) / step * step, first + step);
      bool is_held = false;
      std::vector<bool> own(servers.size(), false);
      for (std::size_t s = 0; s < own.size(); ++s) own[s] = planned.place[s] > 0;
      for (const Plan& other : plans_)
        for (std::size_t s = 0; s < own.size(); ++s)
          is_held = is_held || (own[s] && other.servers[s] && other.till > first && other.from < last);
      if (is_held) {
        from = planned.begin;
        continue;
      }
      if (outcome_.first_plans[j] < 0) outcome_.first_plans[j] = planned.begin;
      if (first < end_) plan({first, std::min(last, end_), own});
      return true;
    }
    return was_tried;
  }
  void run_backfill() {
    changed_ = false;
    plans_.clear();
    bounds_.clear();
    begin_ = now_ / slurm_.resolution * slurm_.resolution;
    end_ = (now_ + slurm_.window) / slurm_.resolution * slurm_.resolution;
    std::map<int, std::int64_t> of_user;
    std::int64_t tested = 0;
    const std::vector<std::size_t> queue = waiting_;
    for (const std::size_t j : queue) {
      if (slurm_.max_test > 0 && tested == slurm_.max_test) break;
      if (slurm_.max_user > 0 && of_user[jobs_[j].user]++ >= slurm_.max_user) continue;
      tested += test(j) ? 1 : 0;
    }
    last_backfill_ = now_;
    if (slurm_.interval == 0) changed_ = false;
  }

  PlainSlurm slurm_;
  const std::vector<WaitingJob>& jobs_;
  int servers_, per_server_;
  PlaceRule rule_;
  PlainOutcome outcome_;
  std::int64_t now_ = 0, last_main_ = -1, last_backfill_ = 0;
  std::int64_t begin_ = 0, end_ = 0;  // of the list of intervals
  bool submitted_ = false, changed_ = false;
  std::vector<std::size_t> waiting_;
  std::map<std::size_t, Block> running_;
  std::vector<Plan> plans_;
  std::set<std::int64_t> bounds_;  // between intervals of the list
};

}  // namespace

const std::vector<NamedRule>& place_rules() {
  static const std::vector<NamedRule> rules = {
      {"consolidated", consolidated}, {"worst-fit", worst_fit}, {"spread", spread}, {"first-fit", first_fit}};
  return rules;
}

std::vector<std::string> texts_of(const PlainOutcome& outcome) {
  std::vector<std::string> texts;
  for (std::size_t j = 0; j < outcome.starts.size(); ++j) {
    std::string text = fmt::format("{}@", outcome.starts[j]);
    for (std::size_t s = 0; s < outcome.places[j].size(); ++s)
      if (outcome.places[j][s] > 0) text += fmt::format("{}:{} ", s, outcome.places[j][s]);
    text.pop_back();
    texts.push_back(text);
  }
  return texts;
}

PlainOutcome plain_easy(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                        const PlainLimits& limits) {
  Rules rules{jobs, servers, per_server, rule, limits};
  return rules.play([&] {
    rules.plans.clear();
    while (!rules.waiting.empty()) {
      const std::size_t first = rules.waiting.front();
      const ByServer place = rules.place_in(first, rules.free_at(rules.now, first));
      if (!is_place(place)) break;
      rules.start(first, place);
    }
    if (rules.waiting.empty()) return;
    const std::size_t first = rules.waiting.front();
    rules.keep(first, rules.earliest(first, rules.now + 1, INT64_MAX));
    for (const std::size_t j : rules.looked_at({rules.waiting.begin() + 1, rules.waiting.end()}))
      if (const ByServer place = rules.place_in(j, rules.free_from(rules.now, j)); is_place(place))
        rules.start(j, place);
    if (rules.running.empty()) rules.plans.clear();
  });
}

PlainOutcome plain_conservative(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                                const PlainLimits& limits) {
  Rules rules{jobs, servers, per_server, rule, limits};
  return rules.play([&] {
    const std::vector<std::size_t> looked_at = rules.looked_at(rules.waiting);
    for (const std::size_t j : looked_at) {
      const std::int64_t until = rules.plans.contains(j) ? rules.plans[j].begin : INT64_MAX;
      rules.keep(j, rules.earliest(j, rules.now, until));
    }
    for (const std::size_t j : looked_at)
      if (rules.plans.contains(j) && rules.plans[j].begin == rules.now) rules.start(j, ByServer{rules.plans[j].place});
  });
}

PlainOutcome plain_slurm(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                         const PlainSlurm& slurm) {
  return PlainSlurmRun{jobs, servers, per_server, rule, slurm}.play();
}

}  // namespace contend
