#include "validate/schedulers/cases.hpp"

#include "scenarios/reader.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

using Jobs = std::span<const ReferenceJob>;
using enum ReferenceOrder;
using enum ReferencePlacement;
using enum TraceKind;

ReferenceCluster cluster_of(const SchedulerTrace& trace, ReferencePlacement placement) {
  return {trace.servers, trace.gpus_per_server, placement};
}

template <ReferenceOrder order, bool strict, ReferencePlacement placement = count, int quantum = 1>
ReferenceSchedule queue(const SchedulerTrace& trace, Jobs jobs) {
  return reference_queue(jobs, cluster_of(trace, placement), {order, strict, quantum});
}

template <ReferenceOrder order>
ReferenceSchedule walk(const SchedulerTrace& trace, Jobs jobs) {
  return reference_walk(jobs, cluster_of(trace, count), order);
}

template <bool gpu_time, bool late_wake_up, bool stale_ends = false>
ReferenceSchedule dlas(const SchedulerTrace& trace, Jobs jobs) {
  return reference_dlas(
      jobs, trace.servers * trace.gpus_per_server,
      {.limits = {3250, 7200}, .gpu_time = gpu_time, .late_wake_up = late_wake_up, .stale_ends = stale_ends});
}

ReferenceSchedule dlas_gittins(const SchedulerTrace& trace, Jobs jobs) {
  constexpr std::int64_t kDelta = 3250;
  const std::vector<std::int64_t> sizes = read_gittins_sizes();
  const auto rank = [&](std::int64_t attained) { return reference_gittins_rank(sizes, kDelta, attained); };
  return reference_dlas(jobs, trace.servers * trace.gpus_per_server,
                        {.limits = {3250, 7200}, .late_wake_up = true, .rank = rank});
}

ReferenceSchedule helios_srtf(const SchedulerTrace& trace, Jobs jobs) {
  return reference_helios_srtf(jobs, trace.servers);
}

constexpr std::string_view kFifo{};

constexpr SchedulerCase kCases[] = {
    // Tiresias: whole seconds, no placement unless it says yarn.
    {helios_vcvgl, "Tiresias FIFO", "18489.485", -1, 0, kFifo, queue<submission, true>},
    {helios_vcvgl, "Tiresias FIFO, yarn", "18491.516", -1, 0, kFifo, queue<submission, true, yarn>},
    {helios_vcvgl, "Tiresias fit-first", "4826.428", -1, 0, kFifo, queue<submission, false>},
    {helios_vcvgl, "Tiresias SRTF", "4722.921", 88, 0, kFifo, walk<remaining>},
    {helios_vcvgl, "Tiresias SRSF", "4722.840", 83, 0, kFifo, walk<remaining_service>},
    {helios_vcvgl, "Tiresias smallest first", "6142.507", 100, 0, kFifo, walk<gpus>},
    {helios_vcvgl, "Tiresias DLAS", "4973.298", 163, 0, kFifo, dlas<false, false>},
    {helios_vcvgl, "Tiresias DLAS-GPU", "5721.055", 229, 0, kFifo, dlas<true, true>},
    {helios_vcvgl, "Tiresias DLAS-GPU, as shipped", "5716.331", 211, 0, {}, dlas<true, true, true>},
    {helios_vcvgl, "Tiresias DLAS-GPU-Gittins", "6062.906", 284, 0, {}, dlas_gittins},
    {itp_cluster01, "Tiresias FIFO", "20218.042", -1, 0, kFifo, queue<submission, true>},
    {itp_cluster01, "Tiresias fit-first", "16163.809", -1, 0, kFifo, queue<submission, false>},
    {itp_cluster01, "Tiresias SRTF", "14468.591", 359, 0, kFifo, walk<remaining>},
    {itp_cluster01, "Tiresias DLAS-GPU", "15624.811", 1397, 0, kFifo, dlas<true, true>},
    {tiresias_60, "Tiresias FIFO", "200.817", -1, 0, kFifo, queue<submission, true>},
    {tiresias_60, "Tiresias FIFO, yarn", "227.233", -1, 0, kFifo, queue<submission, true, yarn>},
    {tiresias_60, "Tiresias fit-first", "190.683", -1, 0, kFifo, queue<submission, false>},
    {tiresias_60, "Tiresias fit-first, yarn", "248.550", -1, 0, kFifo, queue<submission, false, yarn>},
    {tiresias_60, "Tiresias SRTF", "192.117", 4, 0, kFifo, walk<remaining>},
    {tiresias_60, "Tiresias SRSF", "195.900", 7, 0, kFifo, walk<remaining_service>},
    {tiresias_60, "Tiresias smallest first", "198.200", -1, 0, kFifo, walk<gpus>},
    {tiresias_60, "Tiresias DLAS", "190.683", -1, 0, kFifo, dlas<false, false>},
    {tiresias_60, "Tiresias DLAS-GPU", "190.683", -1, 0, kFifo, dlas<true, true>},
    {tiresias_60, "Tiresias DLAS-GPU-Gittins", "219.050", 35, 0, {}, dlas_gittins},
    // Helios: ticks of a second, consolidated placement. Its own FIFO sorts equal submissions in an order of chance.
    {helios_vcvgl, "Helios SJF", "5302.68", -1, 0, kFifo, queue<duration, true, consolidated>},
    {helios_vcvgl, "Helios FIFO", "18496.98", -1, 0.2, kFifo, queue<submission, true, consolidated>},
    {helios_vcvgl, "Helios SRTF", "5056.42", -1, 0, {}, helios_srtf},
    // The quantum alone.
    {helios_vcvgl, "FIFO, quantum 1 s", "18489.5", -1, 0, kFifo, queue<submission, true, count, 1>},
    {helios_vcvgl, "FIFO, quantum 10 s", "19486.4", -1, 0, kFifo, queue<submission, true, count, 10>},
    {helios_vcvgl, "FIFO, quantum 30 s", "25105.5", -1, 0, kFifo, queue<submission, true, count, 30>},
    {helios_vcvgl, "FIFO, quantum 60 s", "33940.6", -1, 0, kFifo, queue<submission, true, count, 60>},
    {helios_vcvgl, "FIFO, quantum 120 s", "51704.6", -1, 0, kFifo, queue<submission, true, count, 120>},
    {helios_vcvgl, "FIFO, quantum 300 s", "107980.8", -1, 0, kFifo, queue<submission, true, count, 300>},
    {helios_vcvgl, "FIFO, quantum 360 s", "128773.4", -1, 0, kFifo, queue<submission, true, count, 360>},
    {helios_vcvgl, "SJF, quantum 1 s", "5279.2", -1, 0, kFifo, queue<duration, true, count, 1>},
    {helios_vcvgl, "SJF, quantum 10 s", "6314.5", -1, 0, kFifo, queue<duration, true, count, 10>},
    {helios_vcvgl, "SJF, quantum 30 s", "7401.8", -1, 0, kFifo, queue<duration, true, count, 30>},
    {helios_vcvgl, "SJF, quantum 60 s", "10562.5", -1, 0, kFifo, queue<duration, true, count, 60>},
    {helios_vcvgl, "SJF, quantum 120 s", "22230.4", -1, 0, kFifo, queue<duration, true, count, 120>},
    {helios_vcvgl, "SJF, quantum 300 s", "66021.3", -1, 0, kFifo, queue<duration, true, count, 300>},
    {helios_vcvgl, "SJF, quantum 360 s", "49729.1", -1, 0, kFifo, queue<duration, true, count, 360>},
    // The same with placement, by fleetsim 0.8.0 (replay_canonical).
    {helios_vcvgl, "fleetsim FIFO, first-fit, 60 s", "33945.74", -1, 0, kFifo, queue<submission, true, yarn, 60>},
    {helios_vcvgl, "fleetsim SJF, first-fit, 60 s", "10563.75", -1, 0, kFifo, queue<duration, true, yarn, 60>},
    {helios_vcvgl, "fleetsim FIFO, spread, 60 s", "33946.19", -1, 0, kFifo, queue<submission, true, spread, 60>},
    {helios_vcvgl, "fleetsim SJF, spread, 60 s", "10583.22", -1, 0, kFifo, queue<duration, true, spread, 60>},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 60 s", "33945.20", -1, 0, kFifo,
     queue<submission, true, consolidated, 60>},
    {helios_vcvgl, "fleetsim SJF, consolidate, 60 s", "10563.75", -1, 0, kFifo,
     queue<duration, true, consolidated, 60>},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 30 s", "25115.20", -1, 0, kFifo,
     queue<submission, true, consolidated, 30>},
    {helios_vcvgl, "fleetsim SJF, consolidate, 30 s", "7401.83", -1, 0, kFifo, queue<duration, true, consolidated, 30>},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 10 s", "19493.26", -1, 0, kFifo,
     queue<submission, true, consolidated, 10>},
    {helios_vcvgl, "fleetsim SJF, consolidate, 10 s", "6312.37", -1, 0, kFifo, queue<duration, true, consolidated, 10>},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 5 s", "18692.15", -1, 0, kFifo,
     queue<submission, true, consolidated, 5>},
    {helios_vcvgl, "fleetsim SJF, consolidate, 5 s", "5470.23", -1, 0, kFifo, queue<duration, true, consolidated, 5>},
    // Muri without its overhead: that simulator counts in real numbers, these are whole nanoseconds.
    {muri_trace3, "Muri SRTF, no overhead", "190377.4", -1, 0, kFifo, walk<remaining>},
};

}  // namespace

std::span<const SchedulerCase> scheduler_cases() {
  return kCases;
}

}  // namespace contend
