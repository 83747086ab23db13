#pragma once
// Says for what the GPU of a worker spent an iteration: its own tasks, and its waits between them, by their cause.

#include "models/overlap/steady_state.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Kinds of what a GPU does or waits for.
enum class IterationPart : std::uint8_t {
  compute,       ///< tasks of the layers, as long as planned
  input,         ///< waiting for input data
  kernels,       ///< kernels around messages: of compression, and copies of the framework
  interference,  ///< by which tasks took longer than planned, because transfers or slow components slowed them down
  exposed,       ///< idle while a collective or message was in the network; `what` is its name
  launch,        ///< idle while nothing but the host was at work, which launches what the GPU does
  timer,         ///< idle while a timer or a task on another lane ran, such as a copy or a cycle of Horovod; `what` is
                 ///< its name
  shared,        ///< waiting while the GPU ran a task of another job
  other,         ///< idle, and nothing of the job was in the network: a policy held its messages back, another GPU of
                 ///< the job was not as far, or a checkpoint was written
  start,         ///< before the first task of a start, and after the last one before a preemption or failure
};
[[nodiscard]] std::string_view to_string(IterationPart part);

struct AccountRow {
  IterationPart part = IterationPart::compute;
  std::string what;    ///< the operation; empty where a row sums all of a part
  double seconds = 0;  ///< mean of an iteration
};

/// What a task is to the account: IterationPart::compute, input or kernels.
using KindOfTask = std::function<IterationPart(const Op&)>;

/// Accounts for the time of a GPU that a job has, piece by piece, from what a run reports. While the GPU waits for the
/// task that it does next, of several collectives that are in the network the one that began first counts, and timers
/// and tasks on other lanes count only beside none. Once that task is ready, and while nothing of the job is under way,
/// tasks of other jobs count.
class IterationAccount {
 public:
  explicit IterationAccount(KindOfTask kind_of) : kind_of_{std::move(kind_of)} {}

  /// Begins to account at this time.
  void begin(Time from) { now_ = from; }
  /// A task of the job on the GPU, in order of time. At `ready` it waited for nothing but the GPU.
  void task(const Op& op, Time ready, Time start, Time end) { tasks_.push_back({&op, ready, start, end}); }
  /// A collective, message, timer or task on another lane of the job, in any order.
  void under_way(OpId id, const Op& op, Time start, Time end);
  /// A task of another job on the GPU, in order of time.
  void other(Time start, Time end) { others_.push_back({start, end}); }

  /// Accounts for the time up to `to`, at which no task of the job runs. Of what began before `to`, nothing but what
  /// still goes on then may be reported later.
  void settle(Time to);
  /// What was settled, in seconds of an iteration if it was so many; the rows of operations in the order of these.
  [[nodiscard]] std::vector<AccountRow> rows(std::int64_t iterations) const;

 private:
  struct Task {
    const Op* op;
    Time ready, start, end;
  };
  struct Interval {
    Time start, end;
  };
  /// What a GPU may wait for.
  struct Pending {
    bool is_local = false;  ///< a timer or a task on a lane
    Time start, end;
    OpId id;
    const Op* op;
  };
  struct Total {
    std::string what;
    Time time;
  };

  static bool counts_before(const Pending& a, const Pending& b);
  void add(IterationPart part, OpId id, const Op* op, Time time);
  void wait(Time until, Time ready);

  KindOfTask kind_of_;
  Time now_;  ///< all before it is accounted for
  std::vector<Task> tasks_;
  std::vector<Pending> pending_;
  std::vector<Interval> others_;
  std::size_t first_pending_ = 0, first_other_ = 0;  ///< all before them have ended by `now_`
  std::map<std::pair<IterationPart, OpId>, Total> totals_;
};

/// Accounts for the time between two ends of iterations on a GPU of the first role, as means over so many iterations.
/// `spans` has the tasks of that GPU, which has no other job, the tasks of its lanes, and the collectives and timers of
/// the job. The seconds of all rows add up to (to - from) / iterations.
[[nodiscard]] std::vector<AccountRow> account_of(const IterationGraph& graph, std::span<const Span> spans, Time from,
                                                 Time to, std::int64_t iterations, const KindOfTask& kind_of);

}  // namespace contend
