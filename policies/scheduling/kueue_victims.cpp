#include "policies/scheduling/kueue_victims.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace contend {

namespace {

/// CandidatesOrdering: lower priority first, of these the one that was admitted later.
bool goes_before(const KueueJob& a, const KueueJob& b) {
  return std::tuple{a.priority, b.admitted, a.id} < std::tuple{b.priority, a.admitted, b.id};
}

}  // namespace

bool kueue_allows(PreemptionRule rule, const KueueJob& preemptor, const KueueJob& other) {
  switch (rule) {
    case PreemptionRule::never:
      return false;
    case PreemptionRule::any:
      return true;
    case PreemptionRule::lower:
      return other.priority < preemptor.priority;
    case PreemptionRule::lower_or_newer:
      return other.priority < preemptor.priority ||
             (other.priority == preemptor.priority && preemptor.created < other.created);
  }
  return false;
}

const QueueRules& KueueVictims::rules_of(std::size_t queue) const {
  static const QueueRules kNone;
  return queue < accounts_.accounts.size() ? accounts_.accounts[queue].rules : kNone;
}

bool KueueVictims::fits(bool may_borrow) const {
  if (!may_borrow && tree_.borrows(preemptor_.queue, preemptor_.gpus)) return false;
  return preemptor_.gpus <= tree_.available(preemptor_.queue);
}

void KueueVictims::restore(const std::vector<KueueJob>& targets) {
  for (const KueueJob& each : targets) tree_.use(each.queue, each.gpus);
}

std::vector<KueueJob> KueueVictims::find(const KueueJob& preemptor) {
  preemptor_ = preemptor;
  return way_.is_fair ? fair() : classical();
}

void KueueVictims::collect_own(std::vector<Candidate>& all) const {
  std::vector<KueueJob> jobs;
  admitted_(preemptor_.queue, jobs);
  for (const KueueJob& each : jobs)
    if (kueue_allows(rules_of(preemptor_.queue).within, preemptor_, each)) all.push_back({each, 2, preemptor_.queue});
}

void KueueVictims::collect_below(std::size_t node, std::size_t ancestor, std::size_t skipped, bool has_advantage,
                                 std::vector<Candidate>& all) const {
  const QueueRules& rules = rules_of(preemptor_.queue);
  for (const std::size_t child : tree_.children(node)) {
    if (child == skipped || !tree_.borrows(child)) continue;
    collect_below(child, ancestor, skipped, has_advantage, all);
    if (child == preemptor_.queue) continue;
    std::vector<KueueJob> jobs;
    admitted_(child, jobs);
    for (const KueueJob& each : jobs) {
      if (!kueue_allows(rules.reclaim, preemptor_, each)) continue;
      const bool is_low =
          each.priority < preemptor_.priority && (!rules.borrow_threshold || each.priority <= *rules.borrow_threshold);
      const bool may_borrow = has_advantage || (rules.borrow_preempting && is_low);
      all.push_back({each, has_advantage ? 0 : 1, ancestor, !may_borrow});
    }
  }
}

void KueueVictims::collect_others(std::vector<Candidate>& all) const {
  if (rules_of(preemptor_.queue).reclaim == PreemptionRule::never) return;
  std::size_t node = preemptor_.queue;
  std::int64_t rest = preemptor_.gpus;
  bool has_advantage = false;
  while (tree_.has_parent(node)) {
    has_advantage = has_advantage || !tree_.borrows(node, rest);
    rest = std::max<std::int64_t>(0, rest - tree_.local_left(node));
    const std::size_t cohort = tree_.parent(node);
    collect_below(cohort, cohort, node, has_advantage, all);
    node = cohort;
  }
}

bool KueueVictims::is_valid(const Candidate& candidate, bool may_borrow) const {
  if (candidate.kind == 2) return true;
  if (may_borrow && candidate.only_without_borrowing) return false;
  for (std::size_t n = candidate.job.queue; n != candidate.ancestor; n = tree_.parent(n))
    if (!tree_.borrows(n)) return false;
  return true;
}

std::vector<KueueJob> KueueVictims::try_classical(const std::vector<Candidate>& all, bool may_borrow) {
  std::vector<KueueJob> targets;
  for (const Candidate& each : all) {
    if (!is_valid(each, may_borrow)) continue;
    tree_.use(each.job.queue, -each.job.gpus);
    targets.push_back(each.job);
    if (!fits(may_borrow)) continue;
    fill_back(targets, may_borrow);
    restore(targets);
    return targets;
  }
  restore(targets);
  return {};
}

void KueueVictims::fill_back(std::vector<KueueJob>& targets, bool may_borrow) {
  for (std::size_t t = targets.size() - 1; t-- > 0;) {
    tree_.use(targets[t].queue, targets[t].gpus);
    if (fits(may_borrow)) {
      targets[t] = targets.back();
      targets.pop_back();
    } else {
      tree_.use(targets[t].queue, -targets[t].gpus);
    }
  }
}

std::vector<KueueJob> KueueVictims::classical() {
  std::vector<Candidate> all;
  collect_own(all);
  collect_others(all);
  std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    return goes_before(a.job, b.job);
  });
  const bool has_others = std::ranges::any_of(all, [](const Candidate& each) { return each.kind < 2; });
  const bool has_reclaim = std::ranges::any_of(all, [](const Candidate& each) { return each.kind == 0; });
  const bool may_not_borrow = !rules_of(preemptor_.queue).borrow_preempting;
  const bool is_under = tree_.usage(preemptor_.queue) < tree_.nominal(preemptor_.queue);
  std::vector<bool> attempts{true, false};
  if (!has_others || (may_not_borrow && !is_under))
    attempts = {true};
  else if (may_not_borrow && !has_reclaim)
    attempts = {false, true};
  for (const bool may_borrow : attempts)
    if (std::vector<KueueJob> targets = try_classical(all, may_borrow); !targets.empty()) return targets;
  return {};
}

// Fair sharing.

bool KueueVictims::fits_beside_itself() {
  tree_.use(preemptor_.queue, -preemptor_.gpus);
  const bool has_room = preemptor_.gpus <= tree_.available(preemptor_.queue);
  tree_.use(preemptor_.queue, preemptor_.gpus);
  return has_room;
}

KueueVictims::Queues KueueVictims::fair_candidates() const {
  Queues queues(tree_.size());
  const QueueRules& rules = rules_of(preemptor_.queue);
  const std::size_t root = tree_.root(preemptor_.queue);
  for (std::size_t q = 0; q < tree_.size(); ++q) {
    const bool is_own = q == preemptor_.queue;
    if (tree_.root(q) != root || (!is_own && !tree_.borrows(q))) continue;
    std::vector<KueueJob> jobs;
    admitted_(q, jobs);
    for (const KueueJob& each : jobs)
      if (kueue_allows(is_own ? rules.within : rules.reclaim, preemptor_, each)) queues[q].push_back(each);
    std::ranges::sort(queues[q], goes_before);
  }
  return queues;
}

std::size_t KueueVictims::next_queue(std::size_t cohort, const Queues& queues, std::set<std::size_t>& pruned) const {
  std::size_t best_queue = QueueTree::kNone, best_cohort = QueueTree::kNone;
  double queue_share = -1, cohort_share = -1;
  for (const std::size_t child : tree_.children(cohort)) {
    if (pruned.contains(child)) continue;
    const double share = tree_.share(child);
    const bool is_leaf = tree_.children(child).empty();
    const bool is_on_path = tree_.is_within(preemptor_.queue, child);
    if ((share == 0 && !is_on_path) || (is_leaf && queues[child].empty())) {
      pruned.insert(child);
    } else if (is_leaf && share > queue_share) {
      best_queue = child;
      queue_share = share;
    } else if (!is_leaf && share > cohort_share) {
      best_cohort = child;
      cohort_share = share;
    }
  }
  if (best_queue == QueueTree::kNone && best_cohort == QueueTree::kNone) {
    pruned.insert(cohort);
    return QueueTree::kNone;
  }
  return cohort_share >= queue_share ? next_queue(best_cohort, queues, pruned) : best_queue;
}

std::size_t KueueVictims::next_queue_of_tree(const Queues& queues, std::set<std::size_t>& pruned) const {
  const std::size_t root = tree_.root(preemptor_.queue);
  if (root == preemptor_.queue) return queues[root].empty() ? QueueTree::kNone : root;
  while (!pruned.contains(root))
    if (const std::size_t next = next_queue(root, queues, pruned); next != QueueTree::kNone) return next;
  return QueueTree::kNone;
}

std::pair<std::size_t, std::size_t> KueueVictims::below_ancestor(std::size_t queue) const {
  std::size_t own = preemptor_.queue, other = queue;
  while (!tree_.is_within(queue, tree_.parent(own))) own = tree_.parent(own);
  while (tree_.parent(other) != tree_.parent(own)) other = tree_.parent(other);
  return {own, other};
}

bool KueueVictims::run_first(Queues& queues, Queues& again, std::vector<KueueJob>& targets) {
  std::set<std::size_t> pruned;
  const auto take = [&](const KueueJob& victim) {
    tree_.use(victim.queue, -victim.gpus);
    targets.push_back(victim);
    return fits_beside_itself();
  };
  const auto pop = [&](std::size_t queue) {
    const KueueJob first = queues[queue].front();
    queues[queue].erase(queues[queue].begin());
    return first;
  };
  for (std::size_t q = next_queue_of_tree(queues, pruned); q != QueueTree::kNone;
       q = next_queue_of_tree(queues, pruned)) {
    if (q == preemptor_.queue) {
      if (take(pop(q))) return true;
      continue;
    }
    const auto [own, other] = below_ancestor(q);
    while (!queues[q].empty()) {
      const KueueJob victim = pop(q);
      tree_.use(q, -victim.gpus);
      const double left = tree_.share(other);
      tree_.use(q, victim.gpus);
      // A queue within its quota wins; else its new share is at most the share that is left to the other one.
      const bool wins = way_.within_nominal_wins && !tree_.borrows(preemptor_.queue);
      if (!wins && tree_.share(own) > left) {
        again[q].push_back(victim);
        continue;
      }
      if (take(victim)) return true;
      break;  // the shares have changed
    }
  }
  return false;
}

bool KueueVictims::run_second(Queues& queues, std::vector<KueueJob>& targets) {
  std::set<std::size_t> pruned;
  for (std::size_t q = next_queue_of_tree(queues, pruned); q != QueueTree::kNone;
       q = next_queue_of_tree(queues, pruned)) {
    const auto [own, other] = below_ancestor(q);
    if (tree_.share(own) < tree_.share(other)) {
      const KueueJob victim = queues[q].front();
      tree_.use(q, -victim.gpus);
      targets.push_back(victim);
      if (fits_beside_itself()) return true;
    }
    pruned.insert(q);
  }
  return false;
}

std::vector<KueueJob> KueueVictims::fair() {
  Queues queues = fair_candidates(), again(tree_.size());
  std::vector<KueueJob> targets;
  tree_.use(preemptor_.queue, preemptor_.gpus);
  const bool has_room = run_first(queues, again, targets) || run_second(again, targets);
  tree_.use(preemptor_.queue, -preemptor_.gpus);
  if (!has_room) {
    restore(targets);
    return {};
  }
  fill_back(targets, true);
  restore(targets);
  return targets;
}

}  // namespace contend
