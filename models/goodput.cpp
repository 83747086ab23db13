#include "models/goodput.hpp"

#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

namespace {

constexpr double kNoExchange = 1e-8;  // the released code has this in place of 0
constexpr double kTolerance = 1e-8;   // of rounding up
constexpr int kBatchesTried = 50;

int rounded_up(double x) {
  return static_cast<int>(std::ceil(x - kTolerance));
}

double exchange_time(const StepTime& times, int nodes, int replicas) {
  const double beyond = std::max(static_cast<double>(replicas - 2), kNoExchange);
  if (nodes > 1) return times.alpha_n + times.beta_n * beyond;
  if (replicas > 1) return times.alpha_r + times.beta_r * beyond;
  return kNoExchange + kNoExchange * beyond;
}

/// Batches of a step on each replica, of `samples` on each in all.
int accumulated_batches(const BatchRange& batch, int replicas, double samples) {
  if (!batch.accumulates) return 0;
  const int batches = rounded_up(samples / batch.most_local) - 1;
  // With one batch on one replica the noise of gradients can't be measured.
  const bool needs_two = replicas == 1 && samples > batch.initial + kTolerance;
  return std::max(batches, needs_two ? 1 : 0);
}

}  // namespace

double step_time(const StepTime& times, int nodes, int replicas, int local_batch, int accumulated) {
  const double gradient = times.alpha_c + times.beta_c * local_batch;
  const double exchange = exchange_time(times, nodes, replicas);
  const double larger = std::max(gradient, exchange), smaller = std::min(gradient, exchange);
  double both = larger;
  if (larger > 0 && smaller > 0) {
    const double ratio = portable_exp(times.gamma * portable_log(smaller / larger));
    both = larger * portable_exp(portable_log(1 + ratio) / times.gamma);
  }
  return accumulated * gradient + both;
}

double step_throughput(const StepTime& times, int nodes, int replicas, int local_batch, int accumulated) {
  const double samples = static_cast<double>(replicas) * local_batch * (accumulated + 1);
  return samples / step_time(times, nodes, replicas, local_batch, accumulated);
}

double statistical_efficiency(const GradientNoise& noise, int initial_batch, double batch) {
  const double scale = batch / initial_batch;
  const double left = noise.var / scale + noise.sqr;
  return left > 0 ? (noise.var + noise.sqr) / left / scale : 1 / scale;
}

BestBatch best_batch(const GoodputModel& model, int nodes, int replicas) {
  const BatchRange& batch = model.batch;
  BestBatch best;
  if (!batch.largest) {
    const double samples = static_cast<double>(batch.initial) / replicas;
    if (replicas > batch.initial) return best;
    const int batches = rounded_up(samples / batch.most_local) - 1;
    if (batches > 0 && !batch.accumulates) return best;
    const int local = rounded_up(samples / (batches + 1));
    if (local < batch.least_local) return best;
    // It trains M0 samples, though replicas may have to be given one more than their part.
    return {batch.initial / step_time(model.step, nodes, replicas, local, batches), local, batches};
  }
  const double least = std::max(static_cast<double>(batch.initial), static_cast<double>(batch.least_local) * replicas);
  if (least > *batch.largest) return best;
  const double growth = portable_log(*batch.largest / least) / (kBatchesTried - 1);
  for (int i = 0; i < kBatchesTried; ++i) {
    const double total = i == 0                   ? least
                         : i == kBatchesTried - 1 ? static_cast<double>(*batch.largest)
                                                  : least * portable_exp(growth * i);
    const double samples = total / replicas;
    const int accumulated = accumulated_batches(batch, replicas, samples);
    const int local = rounded_up(samples / (accumulated + 1));
    if (local < batch.least_local || local > batch.most_local) continue;
    const double goodput =
        step_throughput(model.step, nodes, replicas, local, accumulated) *
        statistical_efficiency(model.noise, batch.initial, static_cast<double>(replicas) * local * (accumulated + 1));
    if (goodput > best.goodput) best = {goodput, local, accumulated};
  }
  return best;
}

}  // namespace contend
