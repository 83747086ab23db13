#include "sim/result.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <vector>

namespace contend {

Summary summarise(const RunResult& result) {
  Summary summary;
  summary.jobs = result.jobs.size();
  std::vector<double> jct_s, queueing_s, waiting_s;
  Time first_submit = Time::never(), last_finish;
  for (const JobResult& job : result.jobs) {
    first_submit = std::min(first_submit, job.submit);
    summary.preemptions += job.preemptions;
    summary.lost_gpu_s += job.lost.to_seconds() * job.gpus;
    if (job.state == JobState::failed) ++summary.failed;
    if (job.state != JobState::finished) continue;
    last_finish = std::max(last_finish, job.finish);
    jct_s.push_back(job.jct().to_seconds());
    queueing_s.push_back(job.queueing().to_seconds());
    waiting_s.push_back(job.waited.to_seconds());
  }
  summary.finished = jct_s.size();
  summary.unfinished = summary.jobs - summary.finished - summary.failed;

  // A figure over no job is NaN, not 0.
  summary.avg_jct_s = mean(jct_s);
  summary.median_jct_s = percentile(jct_s, 0.5);
  summary.p95_jct_s = percentile(jct_s, 0.95);
  summary.max_jct_s = percentile(jct_s, 1);
  summary.avg_queueing_s = mean(queueing_s);
  summary.avg_waiting_s = mean(waiting_s);
  summary.makespan_s = summary.finished > 0 ? (last_finish - first_submit).to_seconds() : kNaN;

  // GPUs and links also count the work of unfinished jobs, so a run that was cut short is measured until its end.
  const Time window = summary.jobs == 0         ? Time{}
                      : summary.unfinished == 0 ? last_finish - first_submit
                                                : result.end - first_submit;
  // Sums over a large cluster are taken in seconds: they may not fit the nanoseconds of a Time.
  double gpu_busy_s = 0, link_busy_s = 0, transfer_s = 0, contended_s = 0;
  for (const GpuResult& gpu : result.gpus) gpu_busy_s += gpu.busy.to_seconds();
  for (const LinkResult& link : result.links) link_busy_s += link.busy.to_seconds();
  for (const JobResult& job : result.jobs) {
    transfer_s += job.communication.to_seconds();
    contended_s += job.contended.to_seconds();
  }
  const auto utilisation = [&](double busy_s, std::size_t parts) {
    return parts > 0 && window > Time{} ? busy_s / (window.to_seconds() * static_cast<double>(parts)) : kNaN;
  };
  summary.gpu_utilisation = utilisation(gpu_busy_s, result.gpus.size());
  summary.network_utilisation = utilisation(link_busy_s, result.links.size());
  summary.contended_share = transfer_s > 0 ? contended_s / transfer_s : 0;
  return summary;
}

}  // namespace contend
