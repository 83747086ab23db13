#pragma once
// DelayLedger writes down by whose traffic transfers are slowed down. A transfer that needs so many times as long per
// byte as it would alone loses 1 - alone / now of its time. The loss is put down to the place that limits the transfer
// (a link, or the interface of a server), and there to the jobs of the others. The losses of a job's transfers add up
// to the time by which their bytes took longer than alone; transfers that send at once are added up, too.
//
// This says where time was lost in the network. How much later the job ended because of it is another question: the
// operations that the job computes meanwhile may hide the loss.

#include "network/max_min_rates.hpp"
#include "sim/ids.hpp"
#include "sim/ports.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

class DelayLedger {
 public:
  /// By job: true if its delays are to be written down; empty: the delays of no job.
  explicit DelayLedger(std::vector<bool> watched) : watched_{std::move(watched)} {}

  [[nodiscard]] bool watches(JobId job) const { return job.index() < watched_.size() && watched_[job.index()]; }
  /// True if it has been asked for the delays of any job.
  [[nodiscard]] bool watches_any() const { return std::find(watched_.begin(), watched_.end(), true) != watched_.end(); }
  /// No transfer of a watched job is under way.
  [[nodiscard]] bool idle() const { return transfers_.empty(); }

  /// A transfer of a watched job is under way from `now` on. `id` is any number that no other one has meanwhile.
  void begin(std::size_t id, JobId job, Time now);
  /// It has left. Nothing happens if it has not begun.
  void end(std::size_t id, Time now);
  /// `place` becomes SharedDelay::link: an index of a link or, where the network knows none, of a server.
  /// From `now` on, or from the later `from` on, the transfer loses `lost` (0..1) of each nanosecond at `place`, to the
  /// jobs in proportion to their weights. Nothing happens if it has not begun.
  void slowed(std::size_t id, Time now, Time from, double lost, std::size_t place,
              std::span<const std::pair<JobId, double>> weights);
  /// The transfer is `by` further in the future, in the same state.
  void shift(std::size_t id, Time by);

  /// The rates of flows, whose ids the transfers have, have changed. `solo_rate(flow)` is that on the idle network in
  /// bytes per nanosecond, `job_of(flow)` the job of any flow.
  void update(const MaxMinRates& rates, Time now, const std::function<double(FlowId)>& solo_rate,
              const std::function<JobId(FlowId)>& job_of);

  /// What the job has lost until `now`.
  [[nodiscard]] DelayTotals totals(JobId job, Time now) const;
  /// Adds `times` times what the job has lost between the two.
  void leap(JobId job, const DelayTotals& then, const DelayTotals& now, std::int64_t times);
  /// The delays until `now`: by job, then by falling delay.
  [[nodiscard]] std::vector<SharedDelay> delays(Time now);

 private:
  struct Watched {
    std::size_t id = 0;
    JobId job;
    Time since;
    double lost = 0;  // of each nanosecond
    std::size_t place = 0;
    std::vector<std::pair<JobId, double>> by;  // shares of the loss
  };

  [[nodiscard]] Watched* find(std::size_t id);
  [[nodiscard]] static double lost_ns(const Watched& watched, Time now);
  void settle(Watched& watched, Time now);

  std::vector<bool> watched_;
  std::vector<Watched> transfers_;
  std::vector<std::size_t> at_;                                      // by id: 1 + the place in `transfers_`; 0: none
  std::map<std::tuple<JobId, JobId, std::size_t>, double> lost_ns_;  // job, by, place
};

}  // namespace contend
