// These tests compare the incremental data structures of policies/scheduling/ with obvious ones.

#include "policies/scheduling/availability.hpp"
#include "policies/scheduling/greedy_walk.hpp"
#include "policies/scheduling/rank_tree.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The keys of running jobs fall at their rates; the keys of waiting jobs are constant.
class FallingKeys {
 public:
  struct Job {
    PolicyKey key = 0;  // of a running job: the key at `since`
    std::int64_t width = 0;
    std::int64_t rate = 0;
    bool running = false;
    Time since;
  };
  MovingRank when_started(const Rank& waiting) {
    Job& job = jobs.at(waiting.job);
    job.running = true;
    job.since = now;
    return {{job.key + PolicyKey{job.rate} * now.ns(), 0, waiting.label, waiting.job}, job.rate};
  }
  [[nodiscard]] Rank place(JobId id) const {
    const Job& job = jobs.at(id);
    const std::int64_t fallen = job.running ? job.rate * (now - job.since).ns() : 0;
    return {job.key - fallen, job.running ? 0 : 1, id.value(), id};
  }
  std::map<JobId, Job> jobs;
  Time now;
};

/// The first waiting job that fits beside all running ones and is not as wide as `refused`.
std::optional<Rank> first_in_free(const FallingKeys& order, std::int64_t capacity, std::int64_t refused) {
  for (const auto& [id, job] : order.jobs) capacity -= job.running ? job.width : 0;
  std::optional<Rank> first;
  for (const auto& [id, job] : order.jobs) {
    if (job.running || job.width == refused || job.width > capacity) continue;
    if (!first || order.place(id) < *first) first = order.place(id);
  }
  return first;
}

/// Looks at all running jobs.
std::optional<Rank> last_running_before(const FallingKeys& order, const Rank& place) {
  std::optional<Rank> last;
  for (const auto& [id, job] : order.jobs) {
    const Rank its = order.place(id);
    if (job.running && its < place && (!last || *last < its)) last = its;
  }
  return last;
}

/// Walks over all jobs.
std::set<JobId> walked(const FallingKeys& order, std::int64_t capacity) {
  std::vector<Rank> all;
  for (const auto& [id, job] : order.jobs) all.push_back(order.place(id));
  std::sort(all.begin(), all.end());
  std::set<JobId> chosen;
  for (const Rank& rank : all) {
    const std::int64_t width = order.jobs.at(rank.job).width;
    if (width > capacity) continue;
    capacity -= width;
    chosen.insert(rank.job);
  }
  return chosen;
}

}  // namespace

TEST_CASE("GreedyWalk chooses the jobs that a walk over all of them chooses, and changes nothing else") {
  int stopped = 0, passed_over = 0, undone = 0, fitted = 0, beyond_zero = 0, tight = 0, many_stopped = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream stream{seed, "greedy-walk"}, questions{seed, "greedy-walk.questions"};
    // In every third round a wide job takes the place of many.
    const bool one_for_many = seed % 3 == 0;
    const std::int64_t capacity = one_for_many ? 60 : stream.uniform_integer(4, 24);
    GreedyWalk walk{capacity};
    FallingKeys order;
    std::uint32_t next = 0;
    for (int step = 0; step < 120; ++step) {
      order.now += Time::nanoseconds(stream.uniform_integer(1, 6));
      for (std::int64_t n = stream.uniform_integer(0, one_for_many ? 9 : 3); n > 0; --n) {
        const JobId id{next++};
        const std::int64_t width = !one_for_many             ? stream.uniform_integer(1, 8)
                                   : stream.uniform() < 0.05 ? 40
                                                             : stream.uniform_integer(1, 2);
        const std::int64_t rate = stream.uniform_integer(0, 2) * (seed % 2 == 0 ? width : 1);
        const std::int64_t key = stream.uniform_integer(1, 40) * std::max<std::int64_t>(rate, 1);
        order.jobs[id] = {key, width, rate, false, {}};
        walk.add_waiting({key, 1, id.value(), id}, static_cast<std::int32_t>(width), width);
      }
      std::vector<JobId> gone;
      for (const auto& [id, job] : order.jobs) {
        if (job.running && (order.place(id).key <= -10 || stream.uniform() < 0.05)) gone.push_back(id);
      }
      for (const JobId id : gone) {
        walk.remove(id);
        order.jobs.erase(id);
      }
      INFO("seed ", seed, ", step ", step);
      const std::optional<Rank> fits = first_in_free(order, capacity, 0);
      REQUIRE(walk.first_in_free(order.now) == fits);
      if (fits) {  // without the jobs as wide as this one, until the pass ends
        ++fitted;
        walk.refuse(fits->job);
        CHECK(walk.first_in_free(order.now) == first_in_free(order, capacity, order.jobs.at(fits->job).width));
        walk.end_pass();
      }
      const std::set<JobId> expected = walked(order, capacity);
      const auto all_changes = [&] {
        std::vector<GreedyWalk::Change> all;
        while (const auto change = walk.next_change(order.now)) all.push_back(*change);
        return all;
      };
      std::vector<GreedyWalk::Change> changes = all_changes();
      many_stopped += std::ranges::count(changes, false, &GreedyWalk::Change::starts) > 10 ? 1 : 0;
      if (stream.uniform() < 0.3) {  // taken back, the walk requires the same again
        const std::vector<GreedyWalk::Change> before = changes;
        for (std::size_t i = before.size(); i-- > 0;) walk.undo(before[i]);
        changes = all_changes();
        CHECK(std::equal(changes.begin(), changes.end(), before.begin(), before.end(),
                         [](const auto& a, const auto& b) { return a.job() == b.job() && a.starts == b.starts; }));
        undone += before.empty() ? 0 : 1;
      }
      std::set<JobId> changed;
      for (const GreedyWalk::Change& change : changes) {
        const JobId id = change.job();
        CHECK(changed.insert(id).second);
        if (change.starts) {
          walk.rerank(id, order.when_started(change.before.at.rank));
          continue;
        }
        ++stopped;
        FallingKeys::Job& job = order.jobs.at(id);
        job.key = order.place(id).key;
        job.running = false;
        walk.add_waiting({job.key, 1, id.value(), id}, static_cast<std::int32_t>(job.width), job.width);
      }
      std::set<JobId> running;
      std::int64_t used = 0, wanted = 0;
      for (const auto& [id, job] : order.jobs) {
        wanted += job.width;
        if (!job.running) continue;
        running.insert(id);
        used += job.width;
      }
      CHECK(running == expected);
      CHECK(walk.free() == capacity - used);
      tight += wanted > capacity ? 1 : 0;
      const auto label = static_cast<std::uint32_t>(questions.uniform_integer(0, next));
      const Rank place{questions.uniform_integer(-20, 60), static_cast<std::int32_t>(questions.uniform_integer(0, 1)),
                       label, JobId{label}};
      const std::optional<Rank> last = last_running_before(order, place);
      CHECK(walk.last_running_before(place, order.now) == last);
      beyond_zero += last && last->key < 0 ? 1 : 0;
      passed_over += running.size() < order.jobs.size() ? 1 : 0;
    }
  }
  CHECK(stopped > 1000);
  CHECK(many_stopped > 40);
  CHECK(undone > 100);
  CHECK(fitted > 1000);
  CHECK(beyond_zero > 200);
  CHECK(tight > 1000);
  CHECK(tight < 60 * 120 - 100);
  CHECK(passed_over > 1000);
}

TEST_CASE("RankTree answers like a sorted list") {
  RandomStream stream{7, "rank-tree"};
  RankTree tree;
  std::map<Rank, std::int64_t> list;
  std::size_t most = 0;
  int emptied = 0, with_ties = 0;
  for (int step = 0; step < 6000; ++step) {
    Rank rank{stream.uniform_integer(-30, 30), static_cast<std::int32_t>(stream.uniform_integer(-1, 1)),
              stream.uniform_integer(-2, 1), JobId{static_cast<std::uint32_t>(stream.uniform_integer(0, 1))}};
    // The tree grows until most ranks are in it, shrinks until none is, and grows again.
    const bool shrinks = step % 3000 >= 2000;
    auto at = list.find(rank);
    if (shrinks) at = list.lower_bound(rank);
    if (shrinks && at == list.end()) at = list.begin();
    if (at != list.end()) {
      rank = at->first;
      tree.erase(rank);
      list.erase(at);
      emptied += list.empty() ? 1 : 0;
    } else {
      const std::int64_t value = stream.uniform_integer(1, 9);
      tree.insert(rank, value);
      list.emplace(rank, value);
    }
    std::int64_t sum = 0, before = 0;
    const std::int64_t limit = stream.uniform_integer(0, 9), wanted = stream.uniform_integer(1, 200);
    std::optional<Rank> at_most, last_before, with_sum;
    for (const auto& [key, value] : list) {
      if (key < rank) before += value;
      if (key < rank) last_before = key;
      if (!at_most && value <= limit) at_most = key;
      sum += value;
      if (!with_sum && sum >= wanted) with_sum = key;
    }
    most = std::max(most, list.size());
    for (auto next = list.begin(); next != list.end() && std::next(next) != list.end(); ++next) {
      with_ties += next->first.key == std::next(next)->first.key ? 1 : 0;
    }
    CHECK(tree.sum() == sum);
    CHECK(tree.size() == list.size());
    CHECK(tree.sum_before(rank) == before);
    CHECK(tree.last_before(rank) == last_before);
    CHECK(tree.first_at_most(limit) == at_most);
    CHECK(tree.first_with_sum(wanted) == with_sum);
    CHECK(tree.first() == (list.empty() ? std::nullopt : std::optional{list.begin()->first}));
    CHECK(tree.last() == (list.empty() ? std::nullopt : std::optional{list.rbegin()->first}));
    if (step % 100 == 0) {  // also those that begin a block
      std::optional<Rank> previous;
      for (const auto& [key, value] : list) {
        CHECK(tree.last_before(key) == previous);
        previous = key;
      }
    }
    // Every cut, and the middle of every range of one.
    const RankTree::Cut cut =
        tree.cut(tree.front(), tree.back(), [&](const Rank& other) { return (other <=> rank) < 0; });
    CHECK(cut.before == before);
    for (const auto& [from, to] : {std::pair{tree.front(), cut}, std::pair{cut, tree.back()}}) {
      if (from == to) continue;
      const RankTree::Cut middle = tree.middle(from, to);
      CHECK(from.before <= middle.before);
      CHECK(middle.before < to.before);
      CHECK(tree.next(middle).before == middle.before + list.at(tree.behind(middle)));
      CHECK(tree.sum_before(tree.behind(middle)) == middle.before);
    }
  }
  CHECK(most > 600);
  CHECK(emptied > 0);
  CHECK(with_ties > 10'000);
}

TEST_CASE("Ranks are in the same order by both comparisons") {
  const std::vector<std::int64_t> values{INT32_MIN, -1, 0, 1, INT32_MAX};
  std::vector<Rank> ranks;
  for (const std::int64_t key : {-1, 0, 1}) {
    for (const std::int64_t tier : values) {
      for (const std::int64_t label : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
        for (const std::uint32_t job : {0U, 1U, UINT32_MAX})
          ranks.emplace_back(key, static_cast<std::int32_t>(tier), label, JobId{job});
      }
    }
  }
  int before = 0;
  for (const Rank& a : ranks) {
    for (const Rank& b : ranks) {
      const bool is_before = a < b;
      if (is_before != ((a <=> b) < 0)) FAIL("two ranks are ordered differently");
      before += is_before ? 1 : 0;
    }
  }
  CHECK(before == static_cast<int>(ranks.size() * (ranks.size() - 1) / 2));
}

TEST_CASE("Availability answers like an array of instants") {
  int later = 0, in_other_blocks = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream stream{seed, "availability"};
    const std::int64_t end = seed % 2 == 0 ? 60 : 400;     // of what changes
    const std::int64_t widest = seed % 5 == 0 ? 100 : 20;  // of 100 widths not all are remembered
    Availability plan{widest, 2 + seed % 7};
    std::vector<std::int64_t> free(static_cast<std::size_t>(end), widest);  // beyond: the same
    std::int64_t now = 0;
    const auto free_at = [&](std::int64_t t) { return free[static_cast<std::size_t>(t)]; };
    const auto check_earliest = [&](std::int64_t from) {
      const std::int64_t length = stream.uniform_integer(1, 20), wanted = stream.uniform_integer(1, widest);
      std::int64_t start = from;
      for (std::int64_t t = from; t < end && t - start < length; ++t) {
        if (free_at(t) < wanted) start = t + 1;
      }
      CHECK(plan.earliest(Time::nanoseconds(from), Time::nanoseconds(length), wanted).ns() == start);
      later += start > from ? 1 : 0;
      in_other_blocks += start > from + 60 ? 1 : 0;
    };
    for (int step = 0; step < 90; ++step) {
      const std::int64_t from = stream.uniform_integer(now, end - 2), to = stream.uniform_integer(from, end - 1);
      const std::int64_t width = stream.uniform_integer(-3, 4);
      INFO("seed ", seed, ", step ", step);
      plan.take(Time::nanoseconds(from), Time::nanoseconds(to), width);
      for (std::int64_t t = from; t < to; ++t) free[static_cast<std::size_t>(t)] -= width;
      // Changes that leave a hole, or take one away, after what has been learned about the gaps.
      const std::int64_t at = stream.uniform_integer(now, end - 2);
      plan.take(Time::nanoseconds(at), Time::nanoseconds(at + 1), widest / 2 * (step % 2 == 0 ? 1 : -1));
      free[static_cast<std::size_t>(at)] -= widest / 2 * (step % 2 == 0 ? 1 : -1);
      check_earliest(from);
      for (int more = 0; more < 6; ++more) check_earliest(now);
      CHECK(plan.at(Time::nanoseconds(from)) == free_at(from));
      std::int64_t change = from + 1;
      while (change < end && free_at(change) == free_at(from)) ++change;
      CHECK(plan.next_change(Time::nanoseconds(from)) ==
            (change < end || free_at(end - 1) != widest ? Time::nanoseconds(change) : Time::never()));
      now = std::min<std::int64_t>(now + stream.uniform_integer(0, 1), end - 3);
      plan.forget(Time::nanoseconds(now));
      std::size_t steps = 1;  // as many as there are changes, and one more
      for (std::int64_t t = now + 1; t < end; ++t) {
        if (free_at(t) != free_at(t - 1)) ++steps;
      }
      CHECK(plan.steps() == steps);
    }
  }
  CHECK(later > 3000);  // of 25,200
  CHECK(in_other_blocks > 100);
  // Without an end: what is given back joins what is before it.
  Availability open{5};
  open.take(Time::nanoseconds(7), Time::never(), 2);
  CHECK(open.next_change({}) == Time::nanoseconds(7));
  CHECK(open.earliest({}, Time::nanoseconds(8), 4) == Time::never());
  CHECK(open.earliest({}, Time::nanoseconds(7), 4) == Time{});
  open.take(Time::nanoseconds(7), Time::never(), -2);
  CHECK(open.steps() == 1);
  CHECK(Availability{3}.earliest({}, Time::nanoseconds(1), 4) == Time::never());
}
