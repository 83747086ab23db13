#pragma once
// IterationEnds watches a run and keeps when each iteration of a job ends that has the cluster to itself.

#include "sim/graph.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

class IterationEnds : public Observer {
 public:
  /// `graph`: the graph of the job, whose first rank has GPU 0.
  explicit IterationEnds(const IterationGraph& graph) : last_{graph.ops()[graph.last_compute().index()].name} {}
  void compute(GpuId gpu, JobId, const Op& op, std::int64_t, Time, Time end) override {
    if (gpu == GpuId{0U} && op.name == last_) ends.push_back(end);
  }
  void transfer(const TransferRequest&, const Op&, std::int64_t, Time, Time) override {}

  std::vector<Time> ends;  ///< of the last task of each iteration on that GPU, in order

 private:
  std::string last_;
};

}  // namespace contend
