#include "results/result_columns.hpp"

#include "results/iteration_figures.hpp"
#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
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
/// A whole number where it is one: the quotient of the seconds may be 2.9999999999999996.
Cell mean_gpus_of(const JobResult& job) {
  const auto mean = job.mean_gpus();
  if (!mean) return {};
  const double whole = std::round(*mean);
  return Cell{job.gpu_time == GpuTime{job.held, std::llround(whole)} ? whole : *mean};
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

/// The consumption of a row, if its power is known.
Cell energy(const std::optional<Consumption>& drawn) {
  return drawn ? Cell{drawn->energy_j} : Cell{};
}
Cell known(const std::optional<Consumption>& drawn, std::optional<double> Consumption::*figure) {
  return drawn && (*drawn).*figure ? Cell{*((*drawn).*figure)} : Cell{};
}
// The columns of meters, for each kind of row that has a consumption.
template <class Row>
constexpr Column<Row> kEnergy = {"energy_j", "number", [](const Row& row) { return energy(row.drawn); }, true};
template <class Row>
constexpr Column<Row> kCarbon = {"carbon_g", "number",
                                 [](const Row& row) { return known(row.drawn, &Consumption::carbon_g); }, true};
template <class Row>
constexpr Column<Row> kWater = {"water_l", "number",
                                [](const Row& row) { return known(row.drawn, &Consumption::water_l); }, true};
template <class Row>
constexpr Column<Row> kEnergyCost = {"energy_cost", "number",
                                     [](const Row& row) { return known(row.drawn, &Consumption::price); }, true};

Cell seconds_or_missing(double seconds) {
  return std::isnan(seconds) ? Cell{} : Cell{Time::nanoseconds(std::llround(seconds * 1e9))};
}

/// A figure of a job with a service, or a time of its requests, which files have only where there is one.
template <auto Figure>
constexpr Column<JobResult> answers(std::string_view name) {
  const auto value = [](const JobResult& j) {
    return j.answers && !std::isnan((*j.answers).*Figure) ? Cell{(*j.answers).*Figure} : Cell{};
  };
  return {name, "number", value, true};
}
template <auto Times, auto Figure>
constexpr Column<JobResult> answer_time(std::string_view name) {
  const auto value = [](const JobResult& j) {
    return j.answers ? seconds_or_missing(((*j.answers).*Times).*Figure) : Cell{};
  };
  return {name, "seconds", value, true};
}

template <auto Part, auto Figure>
constexpr Column<JobResult> answer_figure(std::string_view name) {
  const auto value = [](const JobResult& j) {
    return j.answers && !std::isnan(((*j.answers).*Part).*Figure) ? Cell{((*j.answers).*Part).*Figure} : Cell{};
  };
  return {name, "number", value, true};
}

constexpr Column<JobResult> kJobColumns[] = {
    {"job_id", "text", [](const JobResult& j) { return Cell{j.name}; }},
    {"model", "text", [](const JobResult& j) { return Cell{j.model}; }},
    {"state", "text", [](const JobResult& j) { return Cell{std::string{to_string(j.state)}}; }},
    {"reason", "text", [](const JobResult& j) { return name_or_missing(j.reason); }},
    {"gpus", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.gpus}}; }},
    {"servers", "integer", [](const JobResult& j) { return started(j) ? Cell{std::int64_t{j.servers}} : Cell{}; }},
    {"iterations", "integer", [](const JobResult& j) { return Cell{j.iterations}; }},
    {"iterations_done", "integer", [](const JobResult& j) { return Cell{j.iterations_done}; }},
    {"preemptions", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.preemptions}}; }},
    {"submit_s", "seconds", [](const JobResult& j) { return time_if(j.submit < Time::never(), j.submit); }},
    {"start_s", "seconds", [](const JobResult& j) { return time_if(started(j), j.start); }},
    {"finish_s", "seconds", [](const JobResult& j) { return time_if(finished(j), j.finish); }},
    {"queueing_s", "seconds", [](const JobResult& j) { return started(j) ? Cell{j.queueing()} : Cell{}; }},
    {"jct_s", "seconds", [](const JobResult& j) { return j.state == JobState::finished ? Cell{j.jct()} : Cell{}; }},
    {"compute_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.compute}; }},
    {"communication_s", "seconds", [](const JobResult& j) { return time_if(!is_of_study(j), j.communication); }},
    {"communication_wait_s", "seconds", [](const JobResult& j) { return Cell{j.communication_wait}; }},
    {"contended_s", "seconds", [](const JobResult& j) { return time_if(!is_of_study(j), j.contended); }},
    {"vc", "text", [](const JobResult& j) { return name_or_missing(j.vc); }},
    {"user", "text", [](const JobResult& j) { return name_or_missing(j.user); }},
    {"outcome", "text",
     [](const JobResult& j) { return finished(j) ? Cell{std::string{to_string(j.outcome)}} : Cell{}; }},
    {"attempts", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.attempts}}; }},
    {"held_s", "seconds", [](const JobResult& j) { return Cell{j.held}; }},
    {"waited_s", "seconds", [](const JobResult& j) { return Cell{j.waited}; }},
    {"overhead_s", "seconds", [](const JobResult& j) { return Cell{j.overhead}; }},
    {"lost_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.lost}; }},
    {"measured_wait_s", "seconds",
     [](const JobResult& j) { return j.measured_wait ? Cell{*j.measured_wait} : Cell{}; }},
    {"iteration_s", "seconds", [](const JobResult& j) { return has_iterated(j) ? Cell{j.iteration()} : Cell{}; }},
    {"exposed_communication_s", "seconds",
     [](const JobResult& j) { return has_iterated(j) ? Cell{j.exposed()} : Cell{}; }},
    {"messages", "integer", [](const JobResult& j) { return j.traffic ? Cell{whole(j.traffic->messages)} : Cell{}; }},
    {"sent_bytes", "number", [](const JobResult& j) { return j.traffic ? Cell{j.traffic->sent_bytes} : Cell{}; }},
    {"interface_bytes", "number",
     [](const JobResult& j) { return j.traffic ? Cell{j.traffic->interface_bytes} : Cell{}; }},
    {"bound_s", "seconds",
     [](const JobResult& j) { return j.traffic && j.notes.bound ? Cell{*j.notes.bound} : Cell{}; }},
    {"stale", "integer", [](const JobResult& j) { return j.traffic ? Cell{std::int64_t{j.notes.stale}} : Cell{}; }},
    {"tokens_per_second", "number",
     [](const JobResult& j) { return has_trained(j) ? Cell{per_second(j, j.notes.work->tokens)} : Cell{}; }},
    {"tflops_per_gpu", "number",
     [](const JobResult& j) {
       return has_trained(j) ? Cell{per_second(j, j.notes.work->model_flops) / j.gpus * 1e-12} : Cell{};
     }},
    {"mfu", "number",
     [](const JobResult& j) {
       return has_peak(j) ? Cell{per_second(j, j.notes.work->model_flops) / j.gpus / j.notes.work->peak_flops} : Cell{};
     }},
    {"hfu", "number",
     [](const JobResult& j) {
       return has_peak(j) ? Cell{per_second(j, j.notes.work->hardware_flops) / j.gpus / j.notes.work->peak_flops}
                          : Cell{};
     }},
    {"interruptions", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.interruptions}}; }},
    {"covered_failures", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.covered}}; }},
    {"away_s", "seconds", [](const JobResult& j) { return Cell{j.away}; }},
    {"detection_s", "seconds", [](const JobResult& j) { return Cell{j.undetected}; }},
    {"restart_s", "seconds", [](const JobResult& j) { return Cell{j.restarting}; }},
    {"redone_s", "seconds", [](const JobResult& j) { return Cell{j.redone}; }},
    {"lost_to_failures_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.lost_to_failures}; }},
    {"effective", "number", [](const JobResult& j) { return j.held > Time{} ? Cell{j.effective()} : Cell{}; }},
    {"measured", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.measured ? 1 : 0}}; }},
    {"server_type", "text", [](const JobResult& j) { return name_or_missing(j.server_type); }},
    {"restarts", "integer", [](const JobResult& j) { return Cell{std::int64_t{std::max(0, j.starts - 1)}}; }},
    {"rho", "number", [](const JobResult& j) { return j.rho ? Cell{*j.rho} : Cell{}; }},
    {"deadline_s", "seconds", [](const JobResult& j) { return j.deadline ? Cell{*j.deadline} : Cell{}; }},
    {"cost", "number", [](const JobResult& j) { return j.cost ? Cell{*j.cost} : Cell{}; }},
    {"mean_gpus", "number", mean_gpus_of},
    {"resizes", "integer", [](const JobResult& j) { return Cell{std::int64_t{j.resizes}}; }},
    {"slowed_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.slowed}; }},
    {"left_behind", "integer", [](const JobResult& j) { return Cell{j.left_behind}; }},
    {"dropped_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.dropped}; }},
    {"fusion", "text",
     [](const JobResult& j) { return j.notes.plan ? name_or_missing(j.notes.plan->fusion) : Cell{}; }},
    {"compression", "text",
     [](const JobResult& j) { return j.notes.plan ? name_or_missing(j.notes.plan->compression) : Cell{}; }},
    {"compute_s", "seconds", [](const JobResult& j) { return plan_of(j) ? Cell{plan_of(j)->compute} : Cell{}; }},
    {"compression_s", "seconds", [](const JobResult& j) { return plan_of(j) ? Cell{plan_of(j)->kernels} : Cell{}; }},
    {"throughput_per_s", "number",
     [](const JobResult& j) { return plan_of(j) ? Cell{per_second(j, plan_of(j)->samples)} : Cell{}; }},
    {"scaling_efficiency", "number",
     [](const JobResult& j) { return plan_of(j) ? Cell{per_second(j, plan_of(j)->compute.to_seconds())} : Cell{}; }},
    {"progress_s", "seconds",
     [](const JobResult& j) {
       const IterationPlan* const plan = plan_of(j);
       if (plan == nullptr || !plan->iterations_to_target) return Cell{};
       return Cell{Time::ceil_nanoseconds(*plan->iterations_to_target * static_cast<double>(j.iteration().ns()))};
     }},
    {"above_bound", "number",
     [](const JobResult& j) {
       return plan_of(j) && j.notes.bound ? Cell{j.iteration().to_seconds() / j.notes.bound->to_seconds() - 1} : Cell{};
     }},
    {"settled", "integer",
     [](const JobResult& j) { return is_of_study(j) ? Cell{std::int64_t{*j.notes.plan->settled ? 1 : 0}} : Cell{}; }},
    {"shared_s", "seconds", [](const JobResult& j) { return Cell{j.shared}; }},
    {"lost_to_sharing_s", "seconds", [](const JobResult& j) { return Cell{j.lost_to_sharing}; }},
    {"shared_with", "text", [](const JobResult& j) { return name_or_missing(j.shared_with); }},
    {"follows", "integer", [](const JobResult& j) { return j.follows ? Cell{std::int64_t{1}} : Cell{}; }},
    {"second_order_preemptions", "integer",
     [](const JobResult& j) { return Cell{std::int64_t{j.second_order_preemptions}}; }},
    {"lost_to_second_order_gpu_s", "seconds", [](const JobResult& j) { return Cell{j.lost_to_second_order}; }},
    {"memory_gib", "number",
     [](const JobResult& j) { return has_trained(j) ? Cell{j.notes.work->memory_gib} : Cell{}; }},
    {"host_s", "seconds", [](const JobResult& j) { return j.host > GpuTime{} ? Cell{j.host} : Cell{}; }},
    kEnergy<JobResult>,
    kCarbon<JobResult>,
    kWater<JobResult>,
    kEnergyCost<JobResult>,
    answers<&ServiceFigures::requests>("requests"),
    answers<&ServiceFigures::answered>("answered"),
    answer_time<&ServiceFigures::ttft, &RequestTimes::mean_s>("ttft_mean_s"),
    answer_time<&ServiceFigures::ttft, &RequestTimes::p50_s>("ttft_p50_s"),
    answer_time<&ServiceFigures::ttft, &RequestTimes::p99_s>("ttft_p99_s"),
    answer_time<&ServiceFigures::tpot, &RequestTimes::mean_s>("tpot_mean_s"),
    answer_time<&ServiceFigures::tpot, &RequestTimes::p50_s>("tpot_p50_s"),
    answer_time<&ServiceFigures::tpot, &RequestTimes::p99_s>("tpot_p99_s"),
    answer_time<&ServiceFigures::itl, &RequestGaps::p50_s>("itl_p50_s"),
    answer_time<&ServiceFigures::itl, &RequestGaps::p99_s>("itl_p99_s"),
    answer_time<&ServiceFigures::e2e, &RequestTimes::mean_s>("e2e_mean_s"),
    answer_time<&ServiceFigures::e2e, &RequestTimes::p50_s>("e2e_p50_s"),
    answer_time<&ServiceFigures::e2e, &RequestTimes::p99_s>("e2e_p99_s"),
    answers<&ServiceFigures::targets_met>("targets_met"),
    answers<&ServiceFigures::goodput_per_s>("goodput_per_second"),
    answers<&ServiceFigures::tokens_per_s>("answer_tokens_per_second"),
    answers<&ServiceFigures::mean_batch>("mean_batch"),
    answers<&ServiceFigures::kv_peak>("kv_peak"),
    answers<&ServiceFigures::evictions>("evictions"),
    answer_time<&ServiceFigures::rl, &RlFigures::step_s>("rl_step_s"),
    answer_time<&ServiceFigures::rl, &RlFigures::group_s>("rl_group_s"),
    answer_time<&ServiceFigures::rl, &RlFigures::trainer_wait_s>("rl_trainer_wait_s"),
    answer_time<&ServiceFigures::rl, &RlFigures::pool_wait_s>("rl_pool_wait_s"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::rounds>("rounds"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::failed>("rounds_failed"),
    answer_time<&ServiceFigures::federated, &FederatedFigures::round_s>("round_s"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::updates>("updates"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::lost>("updates_lost"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::sent_b>("payload_bytes"),
    answer_figure<&ServiceFigures::federated, &FederatedFigures::dropped_b>("payload_dropped_bytes"),
    answer_figure<&ServiceFigures::power, &PowerFigures::energy_j>("service_energy_j"),
    answer_time<&ServiceFigures::power, &PowerFigures::capped_s>("capped_s"),
    answer_figure<&ServiceFigures::power, &PowerFigures::row_peak>("row_peak"),
    answer_figure<&ServiceFigures::power, &PowerFigures::row_mean>("row_mean"),
    answer_time<&ServiceFigures::power, &PowerFigures::over_s>("row_over_s"),
    answer_figure<&ServiceFigures::power, &PowerFigures::over_j>("row_over_j"),
    answer_figure<&ServiceFigures::power, &PowerFigures::caps>("row_caps"),
    answer_figure<&ServiceFigures::power, &PowerFigures::brakes>("row_brakes"),
    answers<&ServiceFigures::staleness_mean>("staleness_mean"),
    answers<&ServiceFigures::staleness_max>("staleness_max"),
};

constexpr Column<MeteredHour> kHourColumns[] = {
    {"hour", "integer", [](const MeteredHour& h) { return Cell{h.hour}; }},
    {"type", "text", [](const MeteredHour& h) { return name_or_missing(h.type); }},
    {"idle_gpu_s", "number", [](const MeteredHour& h) { return Cell{h.idle_gpu_s}; }},
    {"waiting_gpu_s", "number", [](const MeteredHour& h) { return Cell{h.waiting_gpu_s}; }},
    {"computing_gpu_s", "number", [](const MeteredHour& h) { return Cell{h.computing_gpu_s}; }},
    {"energy_j", "number", [](const MeteredHour& h) { return Cell{h.drawn.energy_j}; }},
    kCarbon<MeteredHour>,
    kWater<MeteredHour>,
    kEnergyCost<MeteredHour>,
};

constexpr Column<TypeResult> kTypeColumns[] = {
    {"type", "text", [](const TypeResult& t) { return Cell{t.name}; }},
    {"servers", "integer", [](const TypeResult& t) { return Cell{t.servers}; }},
    {"gpus", "integer", [](const TypeResult& t) { return Cell{t.gpus}; }},
    {"busy_gpu_s", "seconds", [](const TypeResult& t) { return Cell{t.busy}; }},
    {"utilisation", "number", [](const TypeResult& t) { return Cell{t.utilisation}; }},
    {"jobs", "integer", [](const TypeResult& t) { return Cell{t.jobs}; }},
    {"price", "number", [](const TypeResult& t) { return t.price > 0 ? Cell{t.price} : Cell{}; }},
    kEnergy<TypeResult>,
    kCarbon<TypeResult>,
    kWater<TypeResult>,
    kEnergyCost<TypeResult>,
};

constexpr Column<SharedRow> kSharingColumns[] = {
    {"job_id", "text", [](const SharedRow& s) { return Cell{s.job}; }},
    {"beside", "text", [](const SharedRow& s) { return Cell{s.beside}; }},
    {"shared_s", "seconds", [](const SharedRow& s) { return Cell{s.time}; }},
    {"lost_s", "seconds", [](const SharedRow& s) { return Cell{s.lost}; }},
    {"speed", "number", [](const SharedRow& s) { return Cell{1 - s.lost.to_seconds() / s.time.to_seconds()}; }},
};

constexpr Column<GpuResult> kGpuColumns[] = {
    {"gpu", "integer", [](const GpuResult& g) { return Cell{std::int64_t{g.id.value()}}; }},
    {"server", "integer", [](const GpuResult& g) { return Cell{std::int64_t{g.server.value()}}; }},
    {"busy_s", "seconds", [](const GpuResult& g) { return Cell{g.busy}; }},
    {"jobs", "integer", [](const GpuResult& g) { return Cell{g.jobs}; }},
    {"down_s", "seconds", [](const GpuResult& g) { return Cell{g.down}; }},
    {"held_s", "seconds", [](const GpuResult& g) { return time_if(g.energy_j.has_value(), g.held); }, true},
    {"energy_j", "number", [](const GpuResult& g) { return g.energy_j ? Cell{*g.energy_j} : Cell{}; }, true},
};

constexpr Column<LinkResult> kLinkColumns[] = {
    {"link", "text", [](const LinkResult& l) { return Cell{l.name}; }},
    {"server", "integer", [](const LinkResult& l) { return Cell{std::int64_t{l.server.value()}}; }},
    {"busy_s", "seconds", [](const LinkResult& l) { return Cell{l.busy}; }},
    {"contended_s", "seconds", [](const LinkResult& l) { return Cell{l.contended}; }},
    {"transfers", "integer", [](const LinkResult& l) { return Cell{l.transfers}; }},
    {"bytes", "integer", [](const LinkResult& l) { return Cell{l.bytes.count()}; }},
};

double count(std::size_t jobs) {
  return static_cast<double>(whole(jobs));
}

constexpr Metric where_known(std::string_view name, std::string_view title, std::string_view unit,
                             double (*value)(const Summary&), bool of_jobs) {
  return {.name = name,
          .title = title,
          .unit = unit,
          .value = value,
          .of_jobs = of_jobs,
          .of_some = true,
          .where_known = true};
}

/// A figure of a part of ServiceFigures.
template <auto Part, auto Figure>
constexpr Metric of_answers(std::string_view name, std::string_view title, std::string_view unit) {
  return where_known(
      name, title, unit, [](const Summary& s) { return (s.answers.*Part).*Figure; }, false);
}

constexpr Metric kSummaryMetrics[] = {
    {"jobs", "jobs", "jobs", [](const Summary& s) { return count(s.jobs); }, true},
    {"finished", "finished", "jobs", [](const Summary& s) { return count(s.finished); }, true},
    {"killed", "killed at limit", "jobs", [](const Summary& s) { return count(s.killed); }, true},
    {"failed_outcome", "failed outcome", "jobs", [](const Summary& s) { return count(s.failed_outcome); }, true},
    {"failed", "failed", "jobs", [](const Summary& s) { return count(s.failed); }, true},
    {"given_up", "given up", "jobs", [](const Summary& s) { return count(s.given_up); }, true},
    {"unfinished", "unfinished", "jobs", [](const Summary& s) { return count(s.unfinished); }, true},
    {"not_submitted", "not submitted", "jobs", [](const Summary& s) { return count(s.not_submitted); }, true},
    {"avg_jct_s", "average JCT", "s", [](const Summary& s) { return s.avg_jct_s; }, true},
    {"median_jct_s", "median JCT", "s", [](const Summary& s) { return s.median_jct_s; }, true},
    {"p95_jct_s", "95th percentile JCT", "s", [](const Summary& s) { return s.p95_jct_s; }, true},
    {"max_jct_s", "maximum JCT", "s", [](const Summary& s) { return s.max_jct_s; }, true},
    {"makespan_s", "makespan", "s", [](const Summary& s) { return s.makespan_s; }},
    {"avg_queueing_s", "average queueing", "s", [](const Summary& s) { return s.avg_queueing_s; }, true},
    {"avg_waiting_s", "average waiting", "s", [](const Summary& s) { return s.avg_waiting_s; }, true},
    {"preemptions", "preemptions", "preemptions", [](const Summary& s) { return static_cast<double>(s.preemptions); }},
    {"lost_gpu_s", "lost GPU time", "s", [](const Summary& s) { return s.lost_gpu_s; }},
    {"interruptions", "interruptions", "interruptions", [](const Summary& s) { return s.interruptions; }, true, true},
    {"interruption_mean_s", "time to interruption", "s", [](const Summary& s) { return s.interruption_mean_s; }, true,
     true},
    {"goodput", "goodput", "share", [](const Summary& s) { return s.goodput; }, false, true},
    {"effective_time", "effective training time", "share", [](const Summary& s) { return s.effective_time; }, true,
     true},
    {"second_order_preemptions", "2nd-order preemptions", "preemptions",
     [](const Summary& s) { return s.second_order_preemptions; }, false, true},
    {"gpu_utilisation", "GPU utilisation", "share", [](const Summary& s) { return s.gpu_utilisation; }},
    {"network_utilisation", "network utilisation", "share", [](const Summary& s) { return s.network_utilisation; }},
    {"contended_share", "time under contention", "share", [](const Summary& s) { return s.contended_share; }},
    {"restarts", "restarts", "restarts", [](const Summary& s) { return static_cast<double>(s.restarts); }},
    {"avg_rho", "average rho", "ratio", [](const Summary& s) { return s.avg_rho; }},
    {"max_rho", "maximum rho", "ratio", [](const Summary& s) { return s.max_rho; }},
    {"unfair_share", "unfair jobs", "share", [](const Summary& s) { return s.unfair_share; }},
    {"jain_index", "Jain's index", "share", [](const Summary& s) { return s.jain_index; }},
    {.name = "bound_avg_jct_s",
     .title = "bound of the average JCT",
     .unit = "s",
     .value = [](const Summary& s) { return s.bounds.avg_jct_s; },
     .in_texts = false},
    {.name = "bound_makespan_s",
     .title = "bound of the makespan",
     .unit = "s",
     .value = [](const Summary& s) { return s.bounds.makespan_s; },
     .in_texts = false},
    {"jct_by_bound", "JCT by bound", "ratio", [](const Summary& s) { return s.avg_jct_by_bound; }, false, true},
    {"makespan_by_bound", "makespan by bound", "ratio", [](const Summary& s) { return s.makespan_by_bound; }, false,
     true},
    {"deadlines_met", "deadlines met", "share", [](const Summary& s) { return s.deadlines_met; }, false, true},
    {"cost", "cost", "price", [](const Summary& s) { return s.cost; }, false, true},
    where_known(
        "job_energy_kwh", "energy of jobs", "kWh", [](const Summary& s) { return s.job_energy_kwh; }, true),
    where_known(
        "job_carbon_g", "carbon of jobs", "g CO2e", [](const Summary& s) { return s.job_carbon_g; }, true),
    where_known(
        "job_water_l", "water of jobs", "L", [](const Summary& s) { return s.job_water_l; }, true),
    where_known(
        "energy_kwh", "energy of all GPUs", "kWh", [](const Summary& s) { return s.energy_kwh; }, false),
    where_known(
        "carbon_g", "carbon of all GPUs", "g CO2e", [](const Summary& s) { return s.carbon_g; }, false),
    where_known(
        "water_l", "water of all GPUs", "L", [](const Summary& s) { return s.water_l; }, false),
    where_known(
        "energy_cost", "cost of energy", "price", [](const Summary& s) { return s.energy_cost; }, false),
    where_known(
        "requests", "requests", "requests", [](const Summary& s) { return s.answers.requests; }, false),
    where_known(
        "answered", "answered requests", "requests", [](const Summary& s) { return s.answers.answered; }, false),
    where_known(
        "ttft_mean_s", "mean TTFT", "s", [](const Summary& s) { return s.answers.ttft.mean_s; }, false),
    where_known(
        "ttft_p50_s", "median TTFT", "s", [](const Summary& s) { return s.answers.ttft.p50_s; }, false),
    where_known(
        "ttft_p99_s", "99th percentile TTFT", "s", [](const Summary& s) { return s.answers.ttft.p99_s; }, false),
    where_known(
        "tpot_mean_s", "mean TPOT", "s", [](const Summary& s) { return s.answers.tpot.mean_s; }, false),
    where_known(
        "tpot_p50_s", "median TPOT", "s", [](const Summary& s) { return s.answers.tpot.p50_s; }, false),
    where_known(
        "tpot_p99_s", "99th percentile TPOT", "s", [](const Summary& s) { return s.answers.tpot.p99_s; }, false),
    where_known(
        "itl_p50_s", "median ITL", "s", [](const Summary& s) { return s.answers.itl.p50_s; }, false),
    where_known(
        "itl_p99_s", "99th percentile ITL", "s", [](const Summary& s) { return s.answers.itl.p99_s; }, false),
    where_known(
        "e2e_mean_s", "mean E2E", "s", [](const Summary& s) { return s.answers.e2e.mean_s; }, false),
    where_known(
        "e2e_p50_s", "median E2E", "s", [](const Summary& s) { return s.answers.e2e.p50_s; }, false),
    where_known(
        "e2e_p99_s", "99th percentile E2E", "s", [](const Summary& s) { return s.answers.e2e.p99_s; }, false),
    where_known(
        "targets_met", "within targets", "share", [](const Summary& s) { return s.answers.targets_met; }, false),
    where_known(
        "goodput_per_second", "answers/s in targets", "per_s", [](const Summary& s) { return s.answers.goodput_per_s; },
        false),
    where_known(
        "answer_tokens_per_second", "answer tokens/s", "per_s", [](const Summary& s) { return s.answers.tokens_per_s; },
        false),
    where_known(
        "mean_batch", "mean batch", "ratio", [](const Summary& s) { return s.answers.mean_batch; }, false),
    where_known(
        "kv_peak", "peak KV use", "share", [](const Summary& s) { return s.answers.kv_peak; }, false),
    where_known(
        "evictions", "evictions", "evictions", [](const Summary& s) { return s.answers.evictions; }, false),
    of_answers<&ServiceFigures::rl, &RlFigures::step_s>("rl_step_s", "RL step", "s"),
    of_answers<&ServiceFigures::rl, &RlFigures::group_s>("rl_group_s", "group of answers", "s"),
    of_answers<&ServiceFigures::rl, &RlFigures::trainer_wait_s>("rl_trainer_wait_s", "wait of the RL trainer", "s"),
    of_answers<&ServiceFigures::rl, &RlFigures::pool_wait_s>("rl_pool_wait_s", "wait of RL rollouts", "s"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::rounds>("rounds", "rounds", "rounds"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::failed>("rounds_failed", "failed rounds", "rounds"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::round_s>("round_s", "mean round", "s"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::updates>("updates", "updates", "updates"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::lost>("updates_lost", "lost updates", "updates"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::sent_b>("payload_bytes", "payload", "B"),
    of_answers<&ServiceFigures::federated, &FederatedFigures::dropped_b>("payload_dropped_bytes", "dropped payload",
                                                                         "B"),
    of_answers<&ServiceFigures::power, &PowerFigures::energy_j>("service_energy_j", "energy of services", "J"),
    of_answers<&ServiceFigures::power, &PowerFigures::capped_s>("capped_s", "under a cap", "s"),
    of_answers<&ServiceFigures::power, &PowerFigures::row_peak>("row_peak", "peak power of the row", "ratio"),
    of_answers<&ServiceFigures::power, &PowerFigures::row_mean>("row_mean", "mean power of the row", "ratio"),
    of_answers<&ServiceFigures::power, &PowerFigures::over_s>("row_over_s", "row above its budget", "s"),
    of_answers<&ServiceFigures::power, &PowerFigures::over_j>("row_over_j", "energy over budget", "J"),
    of_answers<&ServiceFigures::power, &PowerFigures::caps>("row_caps", "caps", "caps"),
    of_answers<&ServiceFigures::power, &PowerFigures::brakes>("row_brakes", "brakes", "caps"),
    where_known(
        "staleness_mean", "mean staleness", "ratio", [](const Summary& s) { return s.answers.staleness_mean; }, false),
    where_known(
        "staleness_max", "largest staleness", "ratio", [](const Summary& s) { return s.answers.staleness_max; }, false),
};

/// As the figure of a run; groups leave it out where no price is known.
constexpr Metric kGroupCost = where_known(
    "cost", "cost", "price", [](const Summary& s) { return s.cost; }, true);

constexpr Metric kGpuHours = {"gpu_hours", "GPU time", "h", [](const Summary& s) { return s.gpu_hours; }, true};

std::vector<Metric> with_texts(std::vector<Metric> all) {
  for (Metric& each : all)
    if (each.text.empty()) each.text = result_text("summary.json", each.name);
  return all;
}

}  // namespace

std::string_view result_text(std::string_view file, std::string_view name) {
  static const NamedTexts kTexts{result_texts()};
  return kTexts.of(fmt::format("{} {}", file, name));
}

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
std::span<const Column<MeteredHour>> hour_columns() {
  return kHourColumns;
}
std::span<const Column<LinkResult>> link_columns() {
  return kLinkColumns;
}
std::span<const Metric> metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all{std::begin(kSummaryMetrics), std::end(kSummaryMetrics)};
    for (const std::span<const Metric> more : {iteration_metrics(), iteration_flags()})
      all.insert(all.end(), more.begin(), more.end());
    return with_texts(std::move(all));
  }();
  return kAll;
}

std::string_view shown_unit(std::string_view unit) {
  if (unit == "ratio" || unit == "price" || unit == "per_s") return {};  // samples/s and tokens/s are titles
  return unit == "share" ? "%" : unit;
}

bool is_count(std::string_view unit) {
  return unit == "jobs" || unit == "preemptions" || unit == "interruptions" || unit == "restarts" ||
         unit == "requests" || unit == "evictions" || unit == "rounds" || unit == "updates" || unit == "caps";
}

bool is_over_finished_jobs(const Metric& metric) {
  constexpr std::string_view kOthers[] = {"makespan_s",       "avg_rho",      "max_rho",
                                          "unfair_share",     "jain_index",   "bound_avg_jct_s",
                                          "bound_makespan_s", "jct_by_bound", "makespan_by_bound"};
  return std::ranges::find(kOthers, metric.name) != std::end(kOthers) || metric.is_of_iterations() ||
         (metric.of_jobs && !metric.of_some && !is_count(metric.unit) && metric.unit != "h");
}
std::span<const Metric> group_metrics() {
  static const std::vector<Metric> kAll = [] {
    std::vector<Metric> all;
    for (const Metric& each : kSummaryMetrics)
      if (each.of_jobs) all.push_back(each);
    all.push_back(kGpuHours);
    all.push_back(kGroupCost);
    all.insert(all.end(), iteration_metrics().begin(), iteration_metrics().end());
    return with_texts(std::move(all));
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

template <class Row>
std::string rows_of(std::string_view file, std::span<const Column<Row>> columns) {
  std::string rows;
  for (const Column<Row>& each : columns)
    rows += fmt::format("| `{}` | {} | {} |\n", each.name, each.type, result_text(file, each.name));
  return rows;
}

/// What stands in the page in place of a line with @ and this word.
std::string listed(std::string_view word) {
  if (word == "jobs.csv") return rows_of(word, job_columns());
  if (word == "gpus.csv") return rows_of(word, gpu_columns());
  if (word == "links.csv") return rows_of(word, link_columns());
  if (word == "types.csv") return rows_of(word, type_columns());
  if (word == "energy.csv") return rows_of(word, hour_columns());
  if (word == "requests.csv") return rows_of(word, request_columns());
  if (word == "rounds.csv") return rows_of(word, round_columns());
  if (word == "sharing.csv") return rows_of(word, sharing_columns());
  if (word == "fabric.csv") return rows_of(word, fabric_columns());
  if (word == "fabric_jobs.csv") return rows_of(word, link_use_columns());
  if (word == "fabric_utilisation.csv") return rows_of(word, link_utilisation_columns());
  if (word == "fabric_delays.csv") return rows_of(word, delay_columns());
  std::string all;
  if (word == "summary.json") {
    for (const Metric& each : metrics()) all += fmt::format("| `{}` | {} | {} |\n", each.name, each.unit, each.text);
    return all;
  }
  CONTEND_CHECK(word == "groups", "the page lists what there is");
  for (const Metric& each : group_metrics()) all += fmt::format("{}`{}`", all.empty() ? "" : ", ", each.name);
  return all + ".\n";
}

}  // namespace

std::string columns_markdown() {
  std::string out;
  for (std::string_view text = results_page(); !text.empty();) {
    const std::string_view line = take_field(text, '\n');
    out += line.starts_with('@') ? listed(line.substr(1)) : fmt::format("{}\n", line);
  }
  return out;
}

}  // namespace contend
