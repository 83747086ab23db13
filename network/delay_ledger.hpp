#pragma once
// DelayLedger writes down by whose traffic transfers are slowed down. A flow at rate r that would have r0 on the idle
// network loses 1 - r / r0 of its time. The loss is put down to the link that limits the flow, and there to the jobs of
// the other flows in proportion to the bytes that they send over it. The losses of a job's flows add up to the time by
// which their bytes took longer than alone; flows that send at once are added up, too.
//
// This says where time was lost in the network. How much later the job ended because of it is another question: what it
// computes meanwhile may hide the loss.

#include "network/max_min_rates.hpp"
#include "sim/ids.hpp"
#include "sim/result.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

class DelayLedger {
 public:
  /// By job: true if its delays are to be written down; empty: those of no job.
  explicit DelayLedger(std::vector<bool> watched) : watched_{std::move(watched)} {}

  [[nodiscard]] bool watches(JobId job) const { return job.index() < watched_.size() && watched_[job.index()]; }
  [[nodiscard]] bool watches_any() const { return std::find(watched_.begin(), watched_.end(), true) != watched_.end(); }
  [[nodiscard]] bool idle() const { return flows_.empty(); }
  /// A flow of a watched job sends from `now` on.
  void begin(FlowId flow, JobId job, Time now);
  /// It has left.
  void end(FlowId flow, Time now);
  /// The rates have changed. `solo_rate(flow)` is that on the idle network in bytes per nanosecond, `job_of(flow)` the
  /// job of any flow.
  void update(const MaxMinRates& rates, Time now, const std::function<double(FlowId)>& solo_rate,
              const std::function<JobId(FlowId)>& job_of);
  /// The delays until `now`: by job, then by falling delay.
  [[nodiscard]] std::vector<SharedDelay> delays(Time now);

 private:
  struct Watched {
    FlowId flow;
    JobId job;
    Time since;
    double lost = 0;  // of each nanosecond
    LinkId link;
    std::vector<std::pair<JobId, double>> by;  // shares of the loss
  };

  void settle(Watched& watched, Time now);

  std::vector<bool> watched_;
  std::vector<Watched> flows_;
  std::map<std::tuple<JobId, JobId, LinkId>, double> lost_ns_;  // job, by, link
};

}  // namespace contend
