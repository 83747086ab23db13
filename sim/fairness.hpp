#pragma once
// Finish-time fairness of the jobs of a run (Mahajan et al., "Themis", NSDI 2020, section 3).
//
//     rho = (finish - submit) / (time of the job alone on a 1/n share of the cluster)
//
// Published policies differ in n. Here it is the mean number of jobs in the cluster, waiting or running, over the life
// of the job: from its submission to its finish, weighted by time, itself included. A 1/n share of a cluster with C_j
// GPUs of type j gives a job of s GPUs the fraction x_j = C_j / (n s) of its time on each type that can run it, scaled
// down if these add up to more than 1 (Narayanan et al., "Gavel", OSDI 2020, section 4.2). With one type the time alone
// is thus the job's own time, times n s / C if that is more than 1.
//
// The job's own time is its duration over the speed of the type, on as few servers as can hold it. For a job of
// iterations only its run knows that: it is the time that it held its GPUs, restarts and contention included. Failed
// attempts count in both. Virtual clusters and their quotas are left out: a share is one of the whole cluster, without
// spares.

#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/result.hpp"

namespace contend {

/// Sets JobResult::rho of the finished jobs that take any time. `cluster` has no spares (without_last()), and `result`
/// a row for each job of the workload.
void add_finish_time_fairness(const ClusterSpec& cluster, const Workload& workload, RunResult& result);

}  // namespace contend
