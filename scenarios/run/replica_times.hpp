#pragma once
// For how long the replicas of a service have been in steps, ended or not, lost or not, and what a fleet reports.

#include "models/serving/fleet.hpp"
#include "sim/service.hpp"

#include <cstddef>
#include <vector>

namespace contend {

class ReplicaTimes {
 public:
  explicit ReplicaTimes(const Fleet& fleet)
      : fleet_{fleet}, lost_(static_cast<std::size_t>(fleet.replicas())), before_{lost_} {}

  /// Replicas begin to answer: busy() counts from here.
  void begin(Time now);
  /// Executes `lose`, by which the fleet loses its steps, and keeps the time of the steps that it loses.
  template <class Lose>
  void lose(Time now, const Lose& lose) {
    const std::vector<Time> stepped = all(now);
    lost_.resize(stepped.size());
    lose();
    for (std::size_t r = 0; r < lost_.size(); ++r) lost_[r] += stepped[r] - of(r, now);
  }
  /// In steps since begin().
  [[nodiscard]] Time busy(std::size_t replica, Time now) const { return of(replica, now) - before_[replica]; }
  /// In steps until `now`, summed over replicas.
  [[nodiscard]] Time stepped(Time now) const {
    Time sum;
    for (std::size_t r = 0; r < static_cast<std::size_t>(fleet_.replicas()); ++r) sum += of(r, now);
    return sum;
  }
  /// Puts into a report what the fleet of such replicas has done by `now`, and its requests. It is in no step.
  void report(Time now, const ReplicaSpec& replica, ServiceReport& report) const;

 private:
  [[nodiscard]] Time of(std::size_t replica, Time now) const {
    const Time busy = fleet_.busy(static_cast<int>(replica), now);
    return replica < lost_.size() ? lost_[replica] + busy : busy;
  }
  [[nodiscard]] std::vector<Time> all(Time now) const;

  const Fleet& fleet_;
  std::vector<Time> lost_, before_;  // shorter than replicas have come
};

}  // namespace contend
