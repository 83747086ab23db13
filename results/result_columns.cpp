#include "results/result_columns.hpp"

#include "results/iteration_figures.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

std::int64_t whole(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
Cell name_or_missing(const std::string& name) {
  return name.empty() ? Cell{} : Cell{name};
}
Cell time_if(bool present, Time time) {
  return present ? Cell{time} : Cell{};
}
bool started(const JobResult& job) {
  return job.start != Time::never();
}
bool finished(const JobResult& job) {
  return job.finish != Time::never();
}
bool has_iterated(const JobResult& job) {
  return job.traffic.has_value() && job.iterations_done > 0;
}
bool has_trained(const JobResult& job) {
  return has_iterated(job) && job.notes.work.has_value() && job.iteration() > Time{};
}
/// What is known of the plan of its iterations; nullptr if nothing is, or if it has not completed one.
const IterationPlan* plan_of(const JobResult& job) {
  return has_iterated(job) && job.iteration() > Time{} ? job.notes.plan.get() : nullptr;
}
/// A job of an iteration study is one settled iteration: nobody measures how long its transfers are in the network.
bool is_of_study(const JobResult& job) {
  return job.notes.plan && job.notes.plan->settled.has_value();
}
bool has_peak(const JobResult& job) {
  return has_trained(job) && job.notes.work->peak_flops > 0;
}
double per_second(const JobResult& job, double of_iteration) {
  return of_iteration / job.iteration().to_seconds();
}

constexpr Column<JobResult> kJobColumns[] = {
    {"job_id", "text", "name of the job in the job list", [](const JobResult& j) { return Cell{j.name}; }},
    {"model", "text", "training entry or profile, or what the job list says",
     [](const JobResult& j) { return Cell{j.model}; }},
    {"state", "text",
     "`finished`: it ran to its end, successful or not (`outcome`); `failed`: the cluster or the policy refused it; "
     "`given_up`: failures interrupted it more often than `failures.retries` lets it start again; or where the run "
     "left "
     "it: `submitted`, `queued`, `running`, `preempted`",
     [](const JobResult& j) { return Cell{std::string{to_string(j.state)}}; }},
    {"reason", "text", "why it failed or was given up", [](const JobResult& j) { return name_or_missing(j.reason); }},
    {"gpus", "integer", "size of the gang; of a job that may have other numbers of GPUs, the one that it prefers",
     [](const JobResult& j) { return Cell{std::int64_t{j.gpus}}; }},
    {"servers", "integer", "servers spanned at the last start",
     [](const JobResult& j) { return started(j) ? Cell{std::int64_t{j.servers}} : Cell{}; }},
    {"iterations", "integer", "iterations requested", [](const JobResult& j) { return Cell{j.iterations}; }},
    {"iterations_done", "integer",
     "iterations completed; of a job with a duration whose list tells its iterations, those of the work that was kept",
     [](const JobResult& j) { return Cell{j.iterations_done}; }},
    {"preemptions", "integer", "number of preemptions",
     [](const JobResult& j) { return Cell{std::int64_t{j.preemptions}}; }},
    {"submit_s", "seconds", "time of submission; none if a job before it has not ended",
     [](const JobResult& j) { return time_if(j.submit < Time::never(), j.submit); }},
    {"start_s", "seconds", "time of the first start", [](const JobResult& j) { return time_if(started(j), j.start); }},
    {"finish_s", "seconds", "time of its end, or of giving it up",
     [](const JobResult& j) { return time_if(finished(j), j.finish); }},
    {"queueing_s", "seconds", "first start minus submission",
     [](const JobResult& j) { return started(j) ? Cell{j.queueing()} : Cell{}; }},
    {"jct_s", "seconds", "completion time: finish minus submission; none of a job that was given up",
     [](const JobResult& j) { return j.state == JobState::finished ? Cell{j.jct()} : Cell{}; }},
    {"compute_gpu_s", "seconds",
     "GPU time of its compute operations, or of the work of its duration, summed over its GPUs",
     [](const JobResult& j) { return Cell{j.compute}; }},
    {"communication_s", "seconds", "time with a transfer of the job in the network; not in iteration studies",
     [](const JobResult& j) { return time_if(!is_of_study(j), j.communication); }},
    {"communication_wait_s", "seconds", "time with a message ready that the communication policy held back",
     [](const JobResult& j) { return Cell{j.communication_wait}; }},
    {"contended_s", "seconds", "part of `communication_s` in which another transfer slowed it",
     [](const JobResult& j) { return time_if(!is_of_study(j), j.contended); }},
    {"vc", "text", "virtual cluster", [](const JobResult& j) { return name_or_missing(j.vc); }},
    {"user", "text", "user", [](const JobResult& j) { return name_or_missing(j.user); }},
    {"outcome", "text",
     "how its last attempt ends, by the job list: `completed`, `failed` or `cancelled`; `timeout` if its limit ended "
     "it, `failed` if it was given up",
     [](const JobResult& j) { return finished(j) ? Cell{std::string{to_string(j.outcome)}} : Cell{}; }},
    {"attempts", "integer",
     "attempts begun: those that failed or were killed, after each of which the job queued again, and the last",
     [](const JobResult& j) { return Cell{std::int64_t{j.attempts}}; }},
    {"held_s", "seconds", "time on GPUs, over all starts", [](const JobResult& j) { return Cell{j.held}; }},
    {"waited_s", "seconds", "time in the queue, over all waits; `queueing_s` is the first",
     [](const JobResult& j) { return Cell{j.waited}; }},
    {"overhead_s", "seconds",
     "part of `held_s` spent on checkpoints, restarts and changes that mitigate slow components",
     [](const JobResult& j) { return Cell{j.overhead}; }},
    {"lost_gpu_s", "seconds",
     "GPU time of work undone by preemptions, failures, a limit or retries: since the last checkpoint; of a job of "
     "iterations, "
     "compute "
     "time of the iterations in flight, which `compute_gpu_s` leaves out",
     [](const JobResult& j) { return Cell{j.lost}; }},
    {"measured_wait_s", "seconds", "time from submission to start on the real cluster, as the job list says",
     [](const JobResult& j) { return j.measured_wait ? Cell{*j.measured_wait} : Cell{}; }},
    {"iteration_s", "seconds", "mean time of an iteration: `held_s` by `iterations_done`; jobs of iterations",
     [](const JobResult& j) { return has_iterated(j) ? Cell{j.iteration()} : Cell{}; }},
    {"exposed_communication_s", "seconds",
     "part of `iteration_s` in which its GPUs don't compute, without checkpoints, restarts and work that was undone: "
     "communication that nothing hides, and waits for slower or shared GPUs and in a pipeline, which `contend explain` "
     "tells apart. Of a model that is spread over GPUs, what tensor, context and expert parallelism send inside "
     "servers, "
     "and at `analytic` all that they send, is part of computing; `contend show --parallel` has it",
     [](const JobResult& j) { return has_iterated(j) ? Cell{j.exposed()} : Cell{}; }},
    {"messages", "integer",
     "collectives of an iteration, in the phase that has most; without those that are part of computing",
     [](const JobResult& j) { return j.traffic ? Cell{whole(j.traffic->messages)} : Cell{}; }},
    {"sent_bytes", "number", "bytes that a worker sends in these messages, inside its server and out of it",
     [](const JobResult& j) { return j.traffic ? Cell{j.traffic->sent_bytes} : Cell{}; }},
    {"interface_bytes", "number",
     "bytes that a server sends through its interfaces in an iteration, if the GPUs are spread evenly",
     [](const JobResult& j) { return j.traffic ? Cell{j.traffic->interface_bytes} : Cell{}; }},
    {"bound_s", "seconds",
     "lower bound of the iteration time over all schedules, alone on as few servers as can hold the job; jobs of "
     "training entries",
     [](const JobResult& j) { return j.traffic && j.notes.bound ? Cell{*j.notes.bound} : Cell{}; }},
    {"stale", "integer", "1: trains with gradients that are one step old",
     [](const JobResult& j) { return j.traffic ? Cell{std::int64_t{j.notes.stale}} : Cell{}; }},
    {"tokens_per_second", "number", "tokens that it trains in a second; transformers that are spread over GPUs",
     [](const JobResult& j) { return has_trained(j) ? Cell{per_second(j, j.notes.work->tokens)} : Cell{}; }},
    {"tflops_per_gpu", "number",
     "10^12 operations a second on each GPU that the model needs: half of causal attention, nothing computed twice",
     [](const JobResult& j) {
       return has_trained(j) ? Cell{per_second(j, j.notes.work->model_flops) / j.gpus * 1e-12} : Cell{};
     }},
    {"mfu", "number", "the same as a share of the device's peak",
     [](const JobResult& j) {
       return has_peak(j) ? Cell{per_second(j, j.notes.work->model_flops) / j.gpus / j.notes.work->peak_flops} : Cell{};
     }},
    {"hfu", "number", "the same with what is computed again for the backward pass",
     [](const JobResult& j) {
       return has_peak(j) ? Cell{per_second(j, j.notes.work->hardware_flops) / j.gpus / j.notes.work->peak_flops}
                          : Cell{};
     }},
    {"interruptions", "integer",
     "times that a failure, a planned outage or the owner of a lent server took its GPUs from it",
     [](const JobResult& j) { return Cell{std::int64_t{j.interruptions}}; }},
    {"covered_failures", "integer", "failures of its GPUs without which it went on (`failures.redundancy`)",
     [](const JobResult& j) { return Cell{std::int64_t{j.covered}}; }},
    {"away_s", "seconds",
     "time between its GPUs and the queue: detection and diagnosis of failures, and delays of retries",
     [](const JobResult& j) { return Cell{j.away}; }},
    {"detection_s", "seconds", "part of `away_s` until failures were noticed",
     [](const JobResult& j) { return Cell{j.undetected}; }},
    {"restart_s", "seconds", "part of `overhead_s` spent on restarts",
     [](const JobResult& j) { return Cell{j.restarting}; }},
    {"redone_s", "seconds",
     "part of `held_s` spent on work that was undone; `held_s` less this and `overhead_s` was useful",
     [](const JobResult& j) { return Cell{j.redone}; }},
    {"lost_to_failures_gpu_s", "seconds", "part of `lost_gpu_s` that failures undid",
     [](const JobResult& j) { return Cell{j.lost_to_failures}; }},
    {"effective", "number", "useful time by `held_s` + `waited_s` + `away_s`: effective training time, 0..1",
     [](const JobResult& j) { return j.held > Time{} ? Cell{j.effective()} : Cell{}; }},
    {"measured", "integer", "1: the job counts in the figures of the run; 0: it was not submitted in `measure`",
     [](const JobResult& j) { return Cell{std::int64_t{j.measured ? 1 : 0}}; }},
    {"server_type", "text",
     "type of the servers of the last start, of `cluster.types`; several with + between them if it mixed them",
     [](const JobResult& j) { return name_or_missing(j.server_type); }},
    {"restarts", "integer",
     "starts after the first: after preemptions and changes of its number of GPUs, and of further attempts",
     [](const JobResult& j) { return Cell{std::int64_t{std::max(0, j.starts - 1)}}; }},
    {"rho", "number",
     "finish-time fairness: completion time by the time that it would take alone on a 1/n share of the cluster, where "
     "n is the mean number of jobs that wait or run during its life. Above 1: it did worse than with that share",
     [](const JobResult& j) { return j.rho ? Cell{*j.rho} : Cell{}; }},
    {"deadline_s", "seconds", "time by which it should end, as the job list says",
     [](const JobResult& j) { return j.deadline ? Cell{*j.deadline} : Cell{}; }},
    {"cost", "number", "price of the GPU time that it held, if `cluster.types` has prices",
     [](const JobResult& j) { return j.cost ? Cell{*j.cost} : Cell{}; }},
    {"mean_gpus", "number", "GPUs on average over `held_s`; jobs that may have other numbers of GPUs than `gpus`",
     [](const JobResult& j) { return j.mean_gpus() ? Cell{*j.mean_gpus()} : Cell{}; }},
    {"resizes", "integer", "changes of its number of GPUs while it ran; each is a restart",
     [](const JobResult& j) { return Cell{std::int64_t{j.resizes}}; }},
    {"slowed_gpu_s", "seconds",
     "GPU time that its tasks took beyond what was planned, because of slow components, jitter or interference",
     [](const JobResult& j) { return Cell{j.slowed}; }},
    {"left_behind", "integer", "workers that its iterations left behind because they were late, summed over iterations",
     [](const JobResult& j) { return Cell{j.left_behind}; }},
    {"dropped_gpu_s", "seconds",
     "GPU time that late workers had spent on tasks that were dropped when they were left behind",
     [](const JobResult& j) { return Cell{j.dropped}; }},
    {"fusion", "text", "fusion policy, with its parameters that are not the usual ones; jobs of training entries",
     [](const JobResult& j) { return j.notes.plan ? name_or_missing(j.notes.plan->fusion) : Cell{}; }},
    {"compression", "text", "compression method, likewise",
     [](const JobResult& j) { return j.notes.plan ? name_or_missing(j.notes.plan->compression) : Cell{}; }},
    {"compute_s", "seconds", "forward and backward pass of a worker in an iteration, with all that its entry adds",
     [](const JobResult& j) { return plan_of(j) ? Cell{plan_of(j)->compute} : Cell{}; }},
    {"compression_s", "seconds", "compression kernels of a worker in an iteration",
     [](const JobResult& j) { return plan_of(j) ? Cell{plan_of(j)->kernels} : Cell{}; }},
    {"throughput_per_s", "number", "samples per second of all workers",
     [](const JobResult& j) { return plan_of(j) ? Cell{per_second(j, plan_of(j)->samples)} : Cell{}; }},
    {"scaling_efficiency", "number", "throughput divided by workers times that of one worker alone",
     [](const JobResult& j) { return plan_of(j) ? Cell{per_second(j, plan_of(j)->compute.to_seconds())} : Cell{}; }},
    {"progress_s", "seconds",
     "iteration x `overlap.iterations_to_target`: time for the progress of one iteration without compression",
     [](const JobResult& j) {
       const IterationPlan* const plan = plan_of(j);
       if (plan == nullptr || !plan->iterations_to_target) return Cell{};
       return Cell{Time::ceil_nanoseconds(*plan->iterations_to_target * static_cast<double>(j.iteration().ns()))};
     }},
    {"above_bound", "number", "`iteration_s` by `bound_s`, less 1",
     [](const JobResult& j) {
       return plan_of(j) && j.notes.bound ? Cell{j.iteration().to_seconds() / j.notes.bound->to_seconds() - 1} : Cell{};
     }},
    {"settled", "integer", "iteration studies: 1: the iteration recurs exactly; 0: it is a mean over many",
     [](const JobResult& j) { return is_of_study(j) ? Cell{std::int64_t{*j.notes.plan->settled ? 1 : 0}} : Cell{}; }},
    {"shared_s", "seconds",
     "part of `held_s` beside other jobs with a duration on a GPU (`scheduling.sharing`); `sharing.csv` says which",
     [](const JobResult& j) { return Cell{j.shared}; }},
    {"lost_to_sharing_s", "seconds", "part of `shared_s` by which it came to be later, because they slowed it down",
     [](const JobResult& j) { return Cell{j.lost_to_sharing}; }},
    {"shared_with", "text", "the job, or jobs at once, beside which it ran longest; one name after the other by `;`",
     [](const JobResult& j) { return name_or_missing(j.shared_with); }},
    {"follows", "integer",
     "1: it comes after other jobs (`after` of the job list), so policies decide on its submission",
     [](const JobResult& j) { return j.follows ? Cell{std::int64_t{1}} : Cell{}; }},
    {"second_order_preemptions", "integer", "preemptions that made room for a job which came back after a failure",
     [](const JobResult& j) { return Cell{std::int64_t{j.second_order_preemptions}}; }},
    {"lost_to_second_order_gpu_s", "seconds", "part of `lost_gpu_s` that `second_order_preemptions` undid",
     [](const JobResult& j) { return Cell{j.lost_to_second_order}; }},
    {"memory_gib", "number", "GiB that it needs on the GPU that must hold most",
     [](const JobResult& j) { return has_trained(j) ? Cell{j.notes.work->memory_gib} : Cell{}; }},
    {"host_s", "seconds",
     "time for which the host threads of its workers launched operations, summed over the workers; jobs with `host` or "
     "`launch`",
     [](const JobResult& j) { return j.host > GpuTime{} ? Cell{j.host} : Cell{}; }},
};

constexpr Column<TypeResult> kTypeColumns[] = {
    {"type", "text", "name of the type of server, in the order of `cluster.types`",
     [](const TypeResult& t) { return Cell{t.name}; }},
    {"servers", "integer", "servers of the type", [](const TypeResult& t) { return Cell{t.servers}; }},
    {"gpus", "integer", "GPUs of all of them", [](const TypeResult& t) { return Cell{t.gpus}; }},
    {"busy_gpu_s", "seconds", "busy_s of gpus.csv, summed over the GPUs",
     [](const TypeResult& t) { return Cell{t.busy}; }},
    {"utilisation", "number", "`busy_gpu_s` by `gpus` and the time from the start of the run to its end, 0..1",
     [](const TypeResult& t) { return Cell{t.utilisation}; }},
    {"jobs", "integer", "jobs that were placed on them, counted on each GPU",
     [](const TypeResult& t) { return Cell{t.jobs}; }},
    {"price", "number", "of a GPU for an hour, if it is given",
     [](const TypeResult& t) { return t.price > 0 ? Cell{t.price} : Cell{}; }},
};

constexpr Column<SharedRow> kSharingColumns[] = {
    {"job_id", "text", "name of the job in the job list", [](const SharedRow& s) { return Cell{s.job}; }},
    {"beside", "text", "the other jobs on its GPUs, all at once; one name after the other by `;`",
     [](const SharedRow& s) { return Cell{s.beside}; }},
    {"shared_s", "seconds", "time on GPUs beside just these", [](const SharedRow& s) { return Cell{s.time}; }},
    {"lost_s", "seconds", "part of it by which the job came to be later",
     [](const SharedRow& s) { return Cell{s.lost}; }},
    {"speed", "number", "mean speed in this time over that alone, 0..1; a restart takes its time beside others, too",
     [](const SharedRow& s) { return Cell{1 - s.lost.to_seconds() / s.time.to_seconds()}; }},
};

constexpr Column<GpuResult> kGpuColumns[] = {
    {"gpu", "integer",
     "index of the GPU: that of its server x GPUs of the largest server + place in its server; as in timelines and "
     "lists "
     "of failures. Where types of servers differ in GPUs, some numbers belong to no GPU",
     [](const GpuResult& g) { return Cell{std::int64_t{g.id.value()}}; }},
    {"server", "integer", "index of its server",
     [](const GpuResult& g) { return Cell{std::int64_t{g.server.value()}}; }},
    {"busy_s", "seconds",
     "time executing compute operations; of jobs with a duration all the time for which they hold it, with overhead_s",
     [](const GpuResult& g) { return Cell{g.busy}; }},
    {"jobs", "integer", "jobs placed on it", [](const GpuResult& g) { return Cell{g.jobs}; }},
    {"down_s", "seconds", "time out of service: failed, or kept as a spare",
     [](const GpuResult& g) { return Cell{g.down}; }},
};

constexpr Column<LinkResult> kLinkColumns[] = {
    {"link", "text", "name of the network interface", [](const LinkResult& l) { return Cell{l.name}; }},
    {"server", "integer", "index of its server",
     [](const LinkResult& l) { return Cell{std::int64_t{l.server.value()}}; }},
    {"busy_s", "seconds", "time with at least one transfer", [](const LinkResult& l) { return Cell{l.busy}; }},
    {"contended_s", "seconds", "time with at least two transfers",
     [](const LinkResult& l) { return Cell{l.contended}; }},
    {"transfers", "integer", "transfers that used it", [](const LinkResult& l) { return Cell{l.transfers}; }},
    {"bytes", "integer", "sum of the message sizes of these transfers",
     [](const LinkResult& l) { return Cell{l.bytes.count()}; }},
};

constexpr Column<FabricLinkResult> kFabricColumns[] = {
    {"link", "text", "one direction of a link: from->to", [](const FabricLinkResult& l) { return Cell{l.name}; }},
    {"bandwidth_Bps", "number", "bytes per second", [](const FabricLinkResult& l) { return Cell{l.bandwidth}; }},
    {"bytes", "number", "bytes carried", [](const FabricLinkResult& l) { return Cell{l.bytes}; }},
    {"utilisation", "number", "bytes divided by the most that it could have carried in the whole run, 0..1",
     [](const FabricLinkResult& l) { return Cell{l.utilisation}; }},
    {"busy_s", "seconds", "time with at least one flow", [](const FabricLinkResult& l) { return Cell{l.busy}; }},
    {"jobs", "integer", "jobs that used it",
     [](const FabricLinkResult& l) { return Cell{static_cast<std::int64_t>(l.users.size())}; }},
    {"down_s", "seconds", "time for which it was down", [](const FabricLinkResult& l) { return Cell{l.down}; }},
    {"reduced_s", "seconds", "time for which it had a part of its bandwidth",
     [](const FabricLinkResult& l) { return Cell{l.reduced}; }},
};

constexpr Column<LinkUse> kLinkUseColumns[] = {
    {"link", "text", "one direction of a link: from->to", [](const LinkUse& u) { return Cell{u.link}; }},
    {"job_id", "text", "name of the job in the job list", [](const LinkUse& u) { return Cell{u.job}; }},
    {"bytes", "number", "bytes of the job that it carried", [](const LinkUse& u) { return Cell{u.bytes}; }},
};

constexpr Column<DelayedBy> kDelayColumns[] = {
    {"job_id", "text", "name of the job whose transfers were slowed down",
     [](const DelayedBy& d) { return Cell{d.job}; }},
    {"by_job", "text",
     "the job whose transfers sent over the same link, in proportion to their bytes; it may be the same",
     [](const DelayedBy& d) { return Cell{d.by}; }},
    {"link", "text", "the link that limited the transfers: from->to, at `contention` the interface",
     [](const DelayedBy& d) { return Cell{d.link}; }},
    {"lost_s", "seconds", "by which the bytes took longer than alone in the network, summed over transfers",
     [](const DelayedBy& d) { return Cell{d.lost}; }},
};

constexpr Column<LinkUtilisation> kLinkUtilisationColumns[] = {
    {"link", "text", "one direction of a link: from->to", [](const LinkUtilisation& u) { return Cell{u.link}; }},
    {"start_s", "seconds", "start of the interval, whose length is `network.link_interval`",
     [](const LinkUtilisation& u) { return Cell{u.start}; }},
    {"utilisation", "number", "bytes divided by the most that it could have carried in the interval, 0..1",
     [](const LinkUtilisation& u) { return Cell{u.utilisation}; }},
};

double count(std::size_t jobs) {
  return static_cast<double>(whole(jobs));
}

constexpr Metric kSummaryMetrics[] = {
    {"jobs", "jobs", "jobs", "jobs of the workload", [](const Summary& s) { return count(s.jobs); }, true},
    {"finished", "finished", "jobs", "jobs that ran to their ends; times of jobs are over these",
     [](const Summary& s) { return count(s.finished); }, true},
    {"killed", "killed at limit", "jobs", "of the finished jobs, those that were killed at their own limits",
     [](const Summary& s) { return count(s.killed); }, true},
    {"failed_outcome", "failed outcome", "jobs",
     "of the finished jobs, those whose last attempt failed, as the job list says",
     [](const Summary& s) { return count(s.failed_outcome); }, true},
    {"failed", "failed", "jobs", "jobs that were refused: the cluster could never run them, or the policy refused them",
     [](const Summary& s) { return count(s.failed); }, true},
    {"given_up", "given up", "jobs", "jobs that failures interrupted more often than `failures.retries` allows",
     [](const Summary& s) { return count(s.given_up); }, true},
    {"unfinished", "unfinished", "jobs", "jobs that were submitted and had not ended when the run stopped",
     [](const Summary& s) { return count(s.unfinished); }, true},
    {"not_submitted", "not submitted", "jobs", "jobs of the measured window that had not come yet when the run stopped",
     [](const Summary& s) { return count(s.not_submitted); }, true},
    {"avg_jct_s", "average JCT", "s", "mean completion time (finish minus submission) of the finished jobs",
     [](const Summary& s) { return s.avg_jct_s; }, true},
    {"median_jct_s", "median JCT", "s", "median completion time", [](const Summary& s) { return s.median_jct_s; },
     true},
    {"p95_jct_s", "95th percentile JCT", "s", "95th percentile of the completion times, interpolated linearly",
     [](const Summary& s) { return s.p95_jct_s; }, true},
    {"max_jct_s", "maximum JCT", "s", "longest completion time", [](const Summary& s) { return s.max_jct_s; }, true},
    {"makespan_s", "makespan", "s", "last finish minus first submission",
     [](const Summary& s) { return s.makespan_s; }},
    {"avg_queueing_s", "average queueing", "s", "mean time from submission to first start of the finished jobs",
     [](const Summary& s) { return s.avg_queueing_s; }, true},
    {"avg_waiting_s", "average waiting", "s",
     "mean time of the finished jobs in the queue, over all waits: before the first start, after preemptions and after "
     "failed attempts",
     [](const Summary& s) { return s.avg_waiting_s; }, true},
    {"preemptions", "preemptions", "preemptions", "preemptions of all jobs",
     [](const Summary& s) { return static_cast<double>(s.preemptions); }},
    {"lost_gpu_s", "lost GPU time", "s",
     "GPU time of work that preemptions, failures, time limits or retries undid, over all jobs",
     [](const Summary& s) { return s.lost_gpu_s; }},
    {"interruptions", "interruptions", "interruptions",
     "times that a failure, a planned outage or the owner of a lent server took its GPUs from a job, over all jobs",
     [](const Summary& s) { return s.interruptions; }, true, true},
    {"interruption_mean_s", "time to interruption", "s", "time on GPUs of all jobs divided by their interruptions",
     [](const Summary& s) { return s.interruption_mean_s; }, true, true},
    {"goodput", "goodput", "share",
     "GPU time of work that was kept divided by GPUs x length of the run; jobs on one GPU at once divide its time",
     [](const Summary& s) { return s.goodput; }, false, true},
    {"effective_time", "effective training time", "share",
     "effective training time ratio (ETTR): GPU time of work that was kept divided by the GPUs of the jobs x their "
     "times since submission",
     [](const Summary& s) { return s.effective_time; }, true, true},
    {"second_order_preemptions", "2nd-order preemptions", "preemptions",
     "preemptions that made room for a job which came back after a failure",
     [](const Summary& s) { return s.second_order_preemptions; }, false, true},
    {"gpu_utilisation", "GPU utilisation", "share",
     "busy GPU time (busy_s of gpus.csv) divided by GPUs x makespan, which lasts here until the last job is given up, "
     "too",
     [](const Summary& s) { return s.gpu_utilisation; }},
    {"network_utilisation", "network utilisation", "share",
     "busy time of the interfaces divided by interfaces x makespan",
     [](const Summary& s) { return s.network_utilisation; }},
    {"contended_share", "time under contention", "share", "transfer time under contention divided by all transfer time",
     [](const Summary& s) { return s.contended_share; }},
    {"restarts", "restarts", "restarts", "starts of jobs after their first",
     [](const Summary& s) { return static_cast<double>(s.restarts); }},
    {"avg_rho", "average rho", "ratio",
     "mean finish-time fairness of the finished jobs: completion time by the time alone on a 1/n share of the cluster, "
     "where n is the mean number of jobs during the life of the job",
     [](const Summary& s) { return s.avg_rho; }},
    {"max_rho", "maximum rho", "ratio", "largest finish-time fairness: that of the job that was treated worst",
     [](const Summary& s) { return s.max_rho; }},
    {"unfair_share", "unfair jobs", "share", "share of the finished jobs with rho above 1",
     [](const Summary& s) { return s.unfair_share; }},
    {"jain_index", "Jain's index", "share", "Jain's fairness index of 1 / rho of the finished jobs; 1: all did alike",
     [](const Summary& s) { return s.jain_index; }},
    {"deadlines_met", "deadlines met", "share",
     "share of the submitted jobs with a deadline that finished by then, and were neither killed at their limits nor "
     "failed; no value without deadlines",
     [](const Summary& s) { return s.deadlines_met; }, false, true},
    {"cost", "cost", "price", "price of the GPU time that jobs held; no value without prices",
     [](const Summary& s) { return s.cost; }, false, true},
};

constexpr Metric kGpuHours = {
    "gpu_hours", "GPU time", "h", "GPU time that the jobs held", [](const Summary& s) { return s.gpu_hours; }, true};

template <class Row>
void append_table(std::string& out, std::string_view file, std::string_view row, std::span<const Column<Row>> columns) {
  fmt::format_to(std::back_inserter(out),
                 "\n## {}\n\nOne row for each {}.\n\n| column | type | meaning |\n|---|---|---|\n", file, row);
  for (const Column<Row>& column : columns)
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", column.name, column.type, column.text);
}

}  // namespace

std::span<const Column<JobResult>> job_columns() {
  return kJobColumns;
}
std::span<const Column<GpuResult>> gpu_columns() {
  return kGpuColumns;
}
std::span<const Column<SharedRow>> sharing_columns() {
  return kSharingColumns;
}
std::span<const Column<TypeResult>> type_columns() {
  return kTypeColumns;
}
std::span<const Column<LinkResult>> link_columns() {
  return kLinkColumns;
}
std::span<const Column<FabricLinkResult>> fabric_columns() {
  return kFabricColumns;
}
std::span<const Column<LinkUse>> link_use_columns() {
  return kLinkUseColumns;
}
std::span<const Column<DelayedBy>> delay_columns() {
  return kDelayColumns;
}
std::span<const Column<LinkUtilisation>> link_utilisation_columns() {
  return kLinkUtilisationColumns;
}
std::span<const Metric> metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all{std::begin(kSummaryMetrics), std::end(kSummaryMetrics)};
    for (const std::span<const Metric> more : {iteration_metrics(), iteration_flags()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

std::string_view shown_unit(std::string_view unit) {
  if (unit == "ratio" || unit == "price" || unit == "per_s") return {};  // samples/s and tokens/s are titles
  return unit == "share" ? "%" : unit;
}

bool is_count(std::string_view unit) {
  return unit == "jobs" || unit == "preemptions" || unit == "interruptions" || unit == "restarts";
}

bool is_over_finished_jobs(const Metric& metric) {
  constexpr std::string_view kOthers[] = {"makespan_s", "avg_rho", "max_rho", "unfair_share", "jain_index"};
  return std::ranges::find(kOthers, metric.name) != std::end(kOthers) || metric.is_of_iterations() ||
         (metric.of_jobs && !metric.of_some && !is_count(metric.unit) && metric.unit != "h");
}
std::span<const Metric> group_metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all;
    for (const Metric& each : kSummaryMetrics)
      if (each.of_jobs) all.push_back(each);
    all.push_back(kGpuHours);
    all.insert(all.end(), iteration_metrics().begin(), iteration_metrics().end());
    return all;
  }();
  return kAll;
}

const Metric& metric(std::string_view name) {
  for (const Metric& each : metrics())
    if (each.name == name) return each;
  check_failed(__FILE__, __LINE__, "the metric exists", name);
}

std::size_t metric_index(const Metric& metric) {
  return static_cast<std::size_t>(&metric - metrics().data());
}

namespace {

constexpr const char* kManifestText =
    "\n"
    "## manifest.json\n"
    "\n"
    "Which program ran, from which inputs, with which command, and how the run ended: all that may differ between two\n"
    "runs of one scenario. `files` lists the other files of the folder with their SHA-256, and the last member,\n"
    "`manifest_sha256`, is the SHA-256 of the manifest without that member. Whatever reads a folder compares all of "
    "them\n"
    "first, and refuses a folder with a file that was damaged, edited or left by another run. Folders of earlier "
    "versions\n"
    "have no digests; they are read with a note.\n"
    "\n"
    "A run replaces the results that are in its folder. It overwrites and removes only files that the manifest there\n"
    "lists, as their run wrote them. It is refused, and says which file is in its way, where a file with the name of "
    "a\n"
    "result is of somebody else, was changed after its run, is a symbolic link, or is read by the scenario. While a "
    "run\n"
    "writes, `.written` lists the files that it has written, in place of the manifest. While it runs, `.lock` keeps "
    "other runs "
    "from\n"
    "writing there. All other files that Contend writes: [written files](written-files.md).\n";

}  // namespace

std::string columns_markdown() {
  std::string out =
      "# Result files\n\n"
      "Generated from `results/result_columns.cpp` by `contend schema --columns`. An empty field is a missing value.\n"
      "Times count from the start of the run and are exact to the nanosecond. When a scenario runs several replicas,\n"
      "each file begins with a column `replica`: the seed.\n\n"
      "A spreadsheet runs a text that begins with `=`, `+`, `-`, `@`, a tab or a line end as a formula. In this and\n"
      "every other CSV file of Contend an apostrophe stands in front of such a text: a job `=1+1` is `'=1+1`. Numbers\n"
      "such as `-5` stay as they are. An apostrophe that is there already gets another one, and Contend takes one off\n"
      "again when it reads a table.\n";
  append_table(out, "jobs.csv", "job, in the order of the job list, or variant of an iteration study", job_columns());
  out += "\nThe next two are not written for iteration studies.\n";
  append_table(out, "gpus.csv", "GPU", gpu_columns());
  append_table(out, "links.csv", "network interface of a server", link_columns());
  out += "\nThe next is written if the scenario has `cluster.types`.\n";
  append_table(out, "types.csv", "type of server", type_columns());
  out += "\nThe next is written if jobs with a duration shared GPUs.\n";
  append_table(out, "sharing.csv", "job and others that ran beside it, the longest time of a job first",
               sharing_columns());
  out += "\nThe next three are written at `network.fidelity: flow`.\n";
  append_table(out, "fabric.csv", "direction of a link of the topology", fabric_columns());
  append_table(out, "fabric_jobs.csv", "link and job that used it, the largest first", link_use_columns());
  append_table(out, "fabric_utilisation.csv", "link and interval in which it carried something",
               link_utilisation_columns());
  out += "\nThe next is written with `network.delays: true`, at `contention`, too.\n";
  append_table(out, "fabric_delays.csv",
               "job, job in its way, and link where they met, the largest loss of a job first", delay_columns());
  out +=
      "\n## summary.json\n\nThe figures of each replica under `replicas`; under `mean`, for several replicas, their "
      "mean "
      "and the\nhalf-width of its 95% Student-t confidence interval. `null` is a figure without a value. From "
      "`iteration_s` on\nfigures are means over the measured jobs that finished and have the figure, and are left out "
      "where no job has\nit. In an iteration study the jobs are its variants.\n\n"
      "| figure | unit | meaning |\n|---|---|---|\n";
  for (const Metric& each : metrics())
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", each.name, each.unit, each.text);
  out +=
      "\nA replica with iteration graphs has `folding`, over its jobs: their `gpus` and `servers`, how many of them "
      "were\nsimulated by themselves at most (`simulated_gpus`, `simulated_servers`), and `unfolded`, a list of the "
      "reasons why no\nfewer were ([what folding saves](../howto/speed.md#what-was-folded)).\n\nEach replica also has "
      "`groups`: for `vc`, `user`, `model`, `size` (GPUs up to a power of two), `outcome`, "
      "`fusion`\nand `compression`, as far as jobs have them, a list of groups of jobs. A group has a `value`, which "
      "is "
      "empty\nfor the jobs without one, and these figures, those of iterations if its jobs have some:\n\n";
  for (const Metric& each : group_metrics()) {
    const std::string_view end = &each == &group_metrics().back() ? ".\n" : ", ";
    fmt::format_to(std::back_inserter(out), "`{}`{}", each.name, end);
  }
  out +=
      "\n`gpu_hours` is the GPU time that the jobs held. If the job list has measured waits, `waits` has the mean, "
      "median\nand 90th percentile of the waits from submission to the first start, simulated and measured, for `all` "
      "jobs that\nhave both, and by `size`.\n";
  out += kManifestText;
  return out;
}

}  // namespace contend
