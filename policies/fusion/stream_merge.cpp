// The exact planner of merges whose kernels run on the stream of the backward pass.

#include "policies/fusion/merging.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

namespace {

/// One way to send the first gradients of a problem, as far as later messages depend on it. Times in ns.
struct SentSoFar {
  double kernels = 0;          ///< before the messages
  double channel = 0;          ///< end of the last transfer
  double after = 0;            ///< sum of the kernels after the messages
  double unpacked = 0;         ///< earliest end of those kernels if the stream has nothing else to do
  std::size_t before = 0;      ///< number of gradients before the last group
  std::size_t before_way = 0;  ///< index of the way to send those

  /// True if no continuation of `other` ends more than `slack` earlier than the same continuation of this.
  [[nodiscard]] bool covers(const SentSoFar& other, double slack) const {
    return kernels <= other.kernels + slack && channel <= other.channel + slack && unpacked <= other.unpacked + slack &&
           kernels + after <= other.kernels + other.after + slack;
  }
};

class StreamTimeline {
 public:
  explicit StreamTimeline(const OverlapProblem& problem) : problem_{problem} {
    ready_.assign(problem.gradients.size(), 0);
    if (all_ready_at_once(problem)) return;
    const std::vector<Time> ready = problem.ready();
    std::transform(ready.begin(), ready.end(), ready_.begin(), [](Time at) { return static_cast<double>(at.ns()); });
    backward_ = static_cast<double>(problem.backward().ns());
  }

  [[nodiscard]] std::size_t size() const { return ready_.size(); }
  [[nodiscard]] SentSoFar sent(const SentSoFar& so_far, const GradientGroup& group, const MessageCost& cost) const {
    SentSoFar now;
    now.kernels = so_far.kernels + cost.before_ns;
    now.channel = std::max(so_far.channel, ready_[group.last] + now.kernels) + cost.transfer_ns();
    now.after = so_far.after + cost.after_ns;
    now.unpacked = std::max(so_far.unpacked, now.channel) + cost.after_ns;
    now.before = group.first;
    return now;
  }
  [[nodiscard]] SentSoFar sent(const SentSoFar& so_far, const GradientGroup& group) const {
    return sent(so_far, group, message_cost(problem_, group));
  }
  /// The end of the iteration if nothing more is sent.
  [[nodiscard]] double end(const SentSoFar& all) const {
    return std::max(all.unpacked, backward_ + all.kernels + all.after);
  }
  [[nodiscard]] double end(const MergePlan& plan) const {
    SentSoFar all;
    for (const GradientGroup& group : plan) all = sent(all, group);
    return end(all);
  }
  /// When the last gradient is ready, without the kernels.
  [[nodiscard]] double last_ready() const { return ready_.back(); }

 private:
  const OverlapProblem& problem_;
  std::vector<double> ready_;
  double backward_ = 0;
};

/// Keeps the ways that none of the others covers.
void keep_best(std::vector<SentSoFar>& ways, double slack) {
  std::sort(ways.begin(), ways.end(), [](const SentSoFar& a, const SentSoFar& b) {
    return a.kernels != b.kernels ? a.kernels < b.kernels : a.channel < b.channel;
  });
  std::vector<SentSoFar> kept;
  for (const SentSoFar& each : ways) {
    if (std::none_of(kept.rbegin(), kept.rend(), [&](const SentSoFar& other) { return other.covers(each, slack); }))
      kept.push_back(each);
  }
  ways = std::move(kept);
}

/// More ways than this cost more than they are worth: ways that differ by twice the slack then count as one.
constexpr std::size_t kMostWays = 500;

/// Keeps the ways that none of the others covers, with a slack that grows until they are few.
void keep_few(std::vector<SentSoFar>& ways, double& slack) {
  keep_best(ways, slack);
  while (ways.size() > kMostWays) {
    constexpr double kLeastNs = 0.1;
    slack = 2 * slack + kLeastNs;
    keep_best(ways, slack);
  }
}

}  // namespace

double stream_end_ns(const OverlapProblem& problem, const MergePlan& plan) {
  return StreamTimeline{problem}.end(plan);
}

MergePlan optimal_stream_merge(const OverlapProblem& problem) {
  const StreamTimeline timeline{problem};
  const std::size_t n = timeline.size();
  // The plans that are cheap to find bound the search from above.
  const PlannedProblem alike = planned(problem);
  MergePlan best;
  double best_end = 0;
  for (MergePlan& plan : std::vector<MergePlan>{omgs_merge(problem), optimal_merge(alike.problem, alike.cost),
                                                one_group(problem), every_gradient(problem)}) {
    const double end = timeline.end(plan);
    if (best.empty() || end < best_end) {
      best_end = end;
      best = std::move(plan);
    }
  }
  std::vector<double> rest(n + 1, 0);  // rest[i]: transfer of gradients i to n-1 as one message
  for (std::size_t i = 0; i < n; ++i) rest[i] = message_cost(problem, {i, n - 1}).transfer_ns();
  double slack = best_end * kMergeSlack;
  // No continuation of a hopeless way is better than the best plan; of one that is too long, no longer message is, too.
  const auto too_long = [&](const SentSoFar& way) {
    return std::max(timeline.end(way), timeline.last_ready() + way.kernels) >= best_end;
  };
  const auto hopeless = [&](const SentSoFar& way, std::size_t next) {
    double least = way.channel + rest[next];
    if (next < n) least = std::max(least, timeline.last_ready() + way.kernels + rest[n - 1]);
    return least >= best_end;
  };
  std::vector<std::vector<SentSoFar>> ways(n + 1);  // ways[i]: those to send the first i gradients
  ways[0].push_back({});
  for (std::size_t i = 0; i < n; ++i) {
    keep_few(ways[i], slack);
    for (std::size_t last = i; last < n && !ways[i].empty(); ++last) {
      const MessageCost cost = message_cost(problem, {i, last});
      bool all_too_long = true;
      for (std::size_t way = 0; way < ways[i].size(); ++way) {
        SentSoFar now = timeline.sent(ways[i][way], {i, last}, cost);
        if (too_long(now)) continue;
        all_too_long = false;
        if (hopeless(now, last + 1)) continue;
        now.before_way = way;
        ways[last + 1].push_back(now);
      }
      if (ways[last + 1].size() > 4 * kMostWays) keep_few(ways[last + 1], slack);
      if (all_too_long) break;
    }
  }
  if (ways[n].empty()) return best;
  const auto found = std::min_element(ways[n].begin(), ways[n].end(), [&](const SentSoFar& a, const SentSoFar& b) {
    return timeline.end(a) < timeline.end(b);
  });
  MergePlan plan;
  const SentSoFar* way = &*found;
  for (std::size_t sent = n; sent > 0;) {
    plan.push_back({way->before, sent - 1});
    sent = way->before;
    way = &ways[sent][way->before_way];
  }
  std::reverse(plan.begin(), plan.end());
  return plan;
}

}  // namespace contend
