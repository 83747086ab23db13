#include "validate/schedulers/cases.hpp"

namespace contend {

namespace {

using Rules = SchedulerRules;
using Kind = SchedulerRules::Kind;
using enum ReferenceOrder;
using enum ReferencePlacement;
using enum TraceKind;

constexpr Rules queue(ReferenceOrder order, bool strict, ReferencePlacement placement = count, int quantum_s = 0) {
  return {Kind::queue, order, strict, placement, quantum_s};
}
constexpr Rules walk(ReferenceOrder order, ReferencePlacement placement = count) {
  return {Kind::walk, order, false, placement, 0};
}
constexpr Rules dlas(Kind kind) {
  return {kind, submission, false, count, 0};
}

constexpr SchedulerCase kCases[] = {
    // Tiresias counts whole seconds and has no placement unless the row says yarn.
    {helios_vcvgl, "Tiresias FIFO", "18489.485", queue(submission, true)},
    {helios_vcvgl, "Tiresias FIFO, yarn", "18491.516", queue(submission, true, yarn)},
    {helios_vcvgl, "Tiresias fit-first", "4826.428", queue(submission, false)},
    {helios_vcvgl, "Tiresias SRTF", "4722.921", walk(remaining), 88},
    {helios_vcvgl, "Tiresias SRSF", "4722.840", walk(remaining_service), 83},
    {helios_vcvgl, "Tiresias smallest first", "6142.507", walk(gpus), 100},
    {helios_vcvgl, "Tiresias DLAS", "4973.298", dlas(Kind::dlas), 163},
    {helios_vcvgl, "Tiresias DLAS-GPU", "5721.055", dlas(Kind::dlas_gpu), 229},
    {helios_vcvgl, "Tiresias DLAS-GPU, as shipped", "5716.331", dlas(Kind::dlas_gpu_stale), 211},
    {helios_vcvgl, "Tiresias DLAS-GPU-Gittins", "6062.906", dlas(Kind::dlas_gpu_gittins), 284},
    {itp_cluster01, "Tiresias FIFO", "20218.042", queue(submission, true)},
    {itp_cluster01, "Tiresias fit-first", "16163.809", queue(submission, false)},
    {itp_cluster01, "Tiresias SRTF", "14468.591", walk(remaining), 359},
    {itp_cluster01, "Tiresias DLAS-GPU", "15624.811", dlas(Kind::dlas_gpu), 1397},
    {tiresias_60, "Tiresias FIFO", "200.817", queue(submission, true)},
    {tiresias_60, "Tiresias FIFO, yarn", "227.233", queue(submission, true, yarn)},
    {tiresias_60, "Tiresias fit-first", "190.683", queue(submission, false)},
    {tiresias_60, "Tiresias fit-first, yarn", "248.550", queue(submission, false, yarn)},
    {tiresias_60, "Tiresias SRTF", "192.117", walk(remaining), 4},
    {tiresias_60, "Tiresias SRSF", "195.900", walk(remaining_service), 7},
    {tiresias_60, "Tiresias smallest first", "198.200", walk(gpus)},
    {tiresias_60, "Tiresias DLAS", "190.683", dlas(Kind::dlas)},
    {tiresias_60, "Tiresias DLAS-GPU", "190.683", dlas(Kind::dlas_gpu)},
    {tiresias_60, "Tiresias DLAS-GPU-Gittins", "219.050", dlas(Kind::dlas_gpu_gittins), 35},
    // Helios has ticks of a second and consolidated placement. Its FIFO sorts equal submissions in an arbitrary order.
    {helios_vcvgl, "Helios SJF", "5302.68", queue(duration, true, consolidated)},
    {helios_vcvgl, "Helios FIFO", "18496.98", queue(submission, true, consolidated), -1, 0.2},
    {helios_vcvgl, "Helios SRTF", "5056.42", {Kind::helios_srtf, remaining, false, consolidated, 0}},
    // These vary the quantum alone.
    {helios_vcvgl, "FIFO, quantum 1 s", "18489.5", queue(submission, true, count, 1)},
    {helios_vcvgl, "FIFO, quantum 10 s", "19486.4", queue(submission, true, count, 10)},
    {helios_vcvgl, "FIFO, quantum 30 s", "25105.5", queue(submission, true, count, 30)},
    {helios_vcvgl, "FIFO, quantum 60 s", "33940.6", queue(submission, true, count, 60)},
    {helios_vcvgl, "FIFO, quantum 120 s", "51704.6", queue(submission, true, count, 120)},
    {helios_vcvgl, "FIFO, quantum 300 s", "107980.8", queue(submission, true, count, 300)},
    {helios_vcvgl, "FIFO, quantum 360 s", "128773.4", queue(submission, true, count, 360)},
    {helios_vcvgl, "SJF, quantum 1 s", "5279.2", queue(duration, true, count, 1)},
    {helios_vcvgl, "SJF, quantum 10 s", "6314.5", queue(duration, true, count, 10)},
    {helios_vcvgl, "SJF, quantum 30 s", "7401.8", queue(duration, true, count, 30)},
    {helios_vcvgl, "SJF, quantum 60 s", "10562.5", queue(duration, true, count, 60)},
    {helios_vcvgl, "SJF, quantum 120 s", "22230.4", queue(duration, true, count, 120)},
    {helios_vcvgl, "SJF, quantum 300 s", "66021.3", queue(duration, true, count, 300)},
    {helios_vcvgl, "SJF, quantum 360 s", "49729.1", queue(duration, true, count, 360)},
    // fleetsim 0.8.0 (replay_canonical) has placement, too.
    {helios_vcvgl, "fleetsim FIFO, first-fit, 60 s", "33945.74", queue(submission, true, yarn, 60)},
    {helios_vcvgl, "fleetsim SJF, first-fit, 60 s", "10563.75", queue(duration, true, yarn, 60)},
    {helios_vcvgl, "fleetsim FIFO, spread, 60 s", "33946.19", queue(submission, true, spread, 60)},
    {helios_vcvgl, "fleetsim SJF, spread, 60 s", "10583.22", queue(duration, true, spread, 60)},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 60 s", "33945.20", queue(submission, true, consolidated, 60)},
    {helios_vcvgl, "fleetsim SJF, consolidate, 60 s", "10563.75", queue(duration, true, consolidated, 60)},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 30 s", "25115.20", queue(submission, true, consolidated, 30)},
    {helios_vcvgl, "fleetsim SJF, consolidate, 30 s", "7401.83", queue(duration, true, consolidated, 30)},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 10 s", "19493.26", queue(submission, true, consolidated, 10)},
    {helios_vcvgl, "fleetsim SJF, consolidate, 10 s", "6312.37", queue(duration, true, consolidated, 10)},
    {helios_vcvgl, "fleetsim FIFO, consolidate, 5 s", "18692.15", queue(submission, true, consolidated, 5)},
    {helios_vcvgl, "fleetsim SJF, consolidate, 5 s", "5470.23", queue(duration, true, consolidated, 5)},
    // Muri runs without its overhead. It counts in real numbers, we count whole nanoseconds.
    {muri_trace3, "Muri SRTF, no overhead", "190377.4", walk(remaining)},
    {muri_trace3, "Muri SRTF, no overhead, yarn", "190377.4", walk(remaining, yarn)},
};

}  // namespace

std::span<const SchedulerCase> scheduler_cases() {
  return kCases;
}

}  // namespace contend
