#pragma once
// QueueRules are what Kueue, Volcano and KAI let an operator say of a queue beside its quota, weight and priority.

#include <cstdint>
#include <optional>

namespace contend {

/// The jobs that may be preempted for a job: none; jobs of lower priority; these and jobs of equal priority that were
/// submitted later; or any.
enum class PreemptionRule : std::uint8_t { never, lower, lower_or_newer, any };

struct QueueRules {
  /// GPUs that the queue may use beyond its quota, >= 0; nothing: any number, if it may exceed the quota at all.
  std::optional<int> borrowing_limit{};
  std::optional<int> lending_limit{};  ///< GPUs of its quota that others may use while they are idle; nothing: all
  std::optional<int> guarantee{};      ///< GPUs that no other queue gets, even if they are idle
  bool strict = false;                 ///< a job that can't start holds back the jobs behind it in the queue
  bool reclaimable = true;             ///< other queues may take GPUs back that exceed its share
  PreemptionRule within = PreemptionRule::never;   ///< for its jobs, of jobs of the queue itself; never `any`
  PreemptionRule reclaim = PreemptionRule::never;  ///< for its jobs, of jobs of queues that borrow
  /// Its jobs may borrow while they preempt jobs of other queues of lower priority, and at most of `borrow_threshold`.
  bool borrow_preempting = false;
  std::optional<int> borrow_threshold{};
  bool operator==(const QueueRules&) const = default;
};

}  // namespace contend
