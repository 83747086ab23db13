#pragma once
// One replica of a served model: a queue, the sequences that run, and the step (or several equal steps) in which it is.
// A pure state machine; Fleet gives it requests and time. The rules of a step stand in docs/models/serving.md.

#include "models/serving/request.hpp"
#include "models/serving/step_clock.hpp"
#include "models/serving/step_law.hpp"
#include "sim/token_gaps.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace contend {

/// A replica of a model: its speed and its limits.
struct ReplicaSpec {
  /// So large that it is no limit.
  static constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;

  StepLaw law{};
  std::int64_t tokens = 2048;        ///< that a step computes at most, >= 1; drafts count
  std::int64_t batch = kUnlimited;   ///< sequences that run at most, >= 1
  std::int64_t block = 1;            ///< tokens of a block of KV memory, >= 1
  std::int64_t blocks = kUnlimited;  ///< of KV memory, >= 1
  bool chunked = true;               ///< false: a prompt that doesn't fit into a step's budget whole waits
  /// Clocks of its GPUs, of which the first holds at the begin; empty: `law` holds for all steps, and no power is
  /// known.
  std::vector<StepClock> clocks{};
  bool leaps = true;  ///< many equal steps are one event; false: each is executed, with equal results
};

/// Speculation: a decoding sequence computes 1 + drafts tokens a step and gives 1 + (accepted ones) of them.
struct Speculation {
  std::int64_t drafts = 0;               ///< >= 0
  std::vector<std::int64_t> accepted{};  ///< of a request's decode steps in turn, and again from the first; or empty:
  double acceptance = 0;                 ///< each draft is accepted with this probability if all before it are, 0 to 1
  std::uint64_t seed = 0;                ///< of the draws

  /// How many drafts a request's decode step number `step` accepts.
  [[nodiscard]] std::int64_t accepts(RequestNumber request, std::uint32_t step) const;
};

/// A request on a replica.
struct ServedSequence {
  RequestNumber request = 0;
  std::int64_t prompt = 0;
  std::int64_t answer = 0;
  std::int64_t prefix = 0;    ///< ServedRequest::prefix
  std::int64_t given = 0;     ///< tokens of its answer
  std::int64_t computed = 0;  ///< tokens in its cache
  std::int64_t blocks = 0;    ///< that it holds
  std::int64_t step = 0;      ///< tokens that the current step computes
  std::uint32_t decodes = 0;  ///< its decode steps so far
  Time queued{};              ///< when it came to the replica
  Time token{};               ///< when it got its last token

  [[nodiscard]] std::int64_t known() const { return prompt + given; }
  [[nodiscard]] bool decoding() const { return given > 0 && computed + 1 == known(); }
};

/// What replicas have done, up to the ends of their steps.
struct ServingTotals {
  std::int64_t steps = 0;
  std::int64_t computed = 0;    ///< tokens, drafts too
  std::int64_t given = 0;       ///< tokens of answers
  std::int64_t recomputed = 0;  ///< tokens of caches that were lost, by evictions and otherwise
  std::int64_t evictions = 0;
  std::int64_t ended = 0;        ///< requests
  std::int64_t most_blocks = 0;  ///< of one replica at once
  Int128 busy_ns = 0;            ///< time in steps
  Int128 batch_ns = 0;           ///< the integral over time of the sequences that run, in steps
  TokenGaps gaps{};
  Int128 drawn = 0;          ///< by the GPUs in steps, in mW x ns, with steps that were lost; ReplicaSpec::clocks
  Int128 cached_tokens = 0;  ///< sum over steps of the tokens in the caches of their sequences when they end

  ServingTotals& operator+=(const ServingTotals& other);
  bool operator==(const ServingTotals&) const = default;
};

/// The specification, the speculation and the records must outlive it.
class ServingReplica {
 public:
  /// `prefill`: it gives the first token of each answer, and hands the sequence over with its blocks held.
  ServingReplica(const ReplicaSpec& spec, const Speculation& speculation, std::vector<RequestResult>& records,
                 bool prefill)
      : spec_{&spec}, speculation_{&speculation}, records_{&records}, prefill_{prefill}, free_{spec.blocks} {}

  /// Puts a sequence at the end of the queue. It ends a leap at the end of the step in which `now` falls if the
  /// next step might admit the sequence; returns true then.
  bool queue(ServedSequence sequence, Time now);
  /// Begins a step, or a leap over several equal ones. Returns false if no sequence can compute a token.
  bool begin(Time now);
  [[nodiscard]] bool in_step() const { return steps_ > 0; }
  /// When the step began, or the first step of the leap.
  [[nodiscard]] Time step_begin() const { return begin_; }
  /// When the step ends, or the last step of the leap.
  [[nodiscard]] Time step_end() const { return end_; }
  /// The clock from the next step on, an index into ReplicaSpec::clocks. A leap must have been cut.
  void set_clock(std::size_t clock) { clock_ = clock; }
  /// Power of the step in which it is, in mW.
  [[nodiscard]] std::int64_t power() const { return power_; }
  /// Ends a leap at the end of the step in which `now` falls, and at `now` if a step ends there.
  void cut(Time now);
  /// The step ends: tokens are given. Appends the sequences that have ended, or that go to a replica of decode.
  void finish(std::vector<ServedSequence>& gone);
  /// Blocks that a sequence held until its cache had been sent.
  void free_blocks(std::int64_t blocks) { free_ += blocks; }
  /// A sequence that this replica handed over, whose cache is lost on its way: it goes to the head of the queue.
  void take_back(ServedSequence sequence);
  /// All caches are lost: those who run go to the head of the queue in their order. A step that has not ended by `now`
  /// is lost, too.
  void drop_caches(Time now);
  /// As drop_caches(), and all requests leave, in their order.
  [[nodiscard]] std::deque<ServedSequence> give_up(Time now);

  [[nodiscard]] std::int64_t outstanding() const {
    return static_cast<std::int64_t>(running_.size() + waiting_.size());
  }
  [[nodiscard]] std::int64_t running() const { return static_cast<std::int64_t>(running_.size()); }
  [[nodiscard]] std::int64_t blocks_held() const { return spec_->blocks - free_; }
  [[nodiscard]] const ReplicaSpec& spec() const { return *spec_; }
  [[nodiscard]] const ServingTotals& totals() const { return totals_; }

 private:
  [[nodiscard]] std::int64_t blocks_of(std::int64_t tokens) const { return (tokens + spec_->block - 1) / spec_->block; }
  void requeue_last();
  [[nodiscard]] bool schedule_running(std::int64_t& budget);
  void admit(std::int64_t& budget, Time now);
  void start(Time now, bool evicted);
  [[nodiscard]] std::int64_t steps_with_blocks(std::int64_t most);  // equal ones after the first
  [[nodiscard]] Int128 picoseconds(std::int64_t steps) const;
  [[nodiscard]] Time end_of(std::int64_t steps) const;
  void end_steps();
  [[nodiscard]] std::int64_t compute(ServedSequence& sequence);
  void drop_step(Time now);
  [[nodiscard]] const StepLaw& law_of(bool has_prompts) const;

  const ReplicaSpec* spec_;
  const Speculation* speculation_;
  std::vector<RequestResult>* records_;
  bool prefill_;
  std::int64_t free_;                    ///< blocks
  std::vector<ServedSequence> running_;  ///< in order of admission
  std::deque<ServedSequence> waiting_;
  std::vector<std::int64_t> spare_;  // for steps_with_blocks() alone
  ServingTotals totals_;

  // The step, or the first of the equal steps. Its times are exact in ps: an end is `carry_` ps before its instant in
  // whole ns, and a step that begins at that instant begins there.
  Time begin_{};
  Time end_ = Time::never();
  std::int64_t steps_ = 0;
  Int128 first_ps_ = 0;   ///< time of the first step
  Int128 growth_ps_ = 0;  ///< by which each equal step is longer than the one before
  std::size_t clock_ = 0;
  std::int64_t power_ = 0;  ///< mW
  std::int64_t work_tokens_ = 0;
  std::int64_t work_cached_ = 0;
  std::int64_t work_sequences_ = 0;
  Int128 carry_ = 0;
  Time last_end_ = Time::never();
  // The last step that began: when, and what kept the head of the queue from it.
  Time last_begin_ = Time::nanoseconds(-1);
  RequestWait blocker_ = RequestWait::none;
};

}  // namespace contend
