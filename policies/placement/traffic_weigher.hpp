#pragma once

#include <vector>

namespace contend {

/// A placement policy that weighs what jobs send derives from this, too.
class TrafficWeigher {
 public:
  virtual ~TrafficWeigher() = default;
  /// Before the run: by job, the bytes that each of its servers sends through its interfaces in a second when the job
  /// is alone and spans servers; 0 where that isn't known, as of jobs with a duration.
  virtual void weigh(std::vector<double> bytes_per_s) = 0;
};

}  // namespace contend
