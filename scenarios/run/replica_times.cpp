#include "scenarios/run/replica_times.hpp"

namespace contend {
void ReplicaTimes::begin(Time now) {
  before_ = all(now);
}

std::vector<Time> ReplicaTimes::all(Time now) const {
  std::vector<Time> stepped;
  for (std::size_t r = 0; r < static_cast<std::size_t>(fleet_.replicas()); ++r) stepped.push_back(of(r, now));
  return stepped;
}

void ReplicaTimes::report(Time now, const ReplicaSpec& replica, ServiceReport& report) const {
  for (const Time stepped : all(now)) report.busy += stepped;
  const ServingTotals totals = fleet_.totals();
  report.tokens = totals.given;
  if (totals.busy_ns > 0)
    report.running_s =
        report.busy.to_seconds() * static_cast<double>(totals.batch_ns) / static_cast<double>(totals.busy_ns);
  if (replica.blocks != ReplicaSpec::kUnlimited)
    report.kv_peak = static_cast<double>(totals.most_blocks) / static_cast<double>(replica.blocks);
  report.gaps = totals.gaps;
  report.requests.assign(fleet_.records().begin(), fleet_.records().end());
}

}  // namespace contend
