#pragma once
// How fast a job of data-parallel training gets on with so many GPUs and with that batch: the goodput model of Pollux
// (Qiao et al., OSDI 2021, sections 3.1 and 3.2, with the constants of its released simulator). With b samples on each
// of k replicas on n nodes, and a further batches of b accumulated before an exchange, a step trains M = k b (a + 1):
//
//     t_grad = alpha_c + beta_c b
//     t_sync = 0 for k = 1, alpha_r + beta_r max(k - 2, 0) on one node, alpha_n + beta_n max(k - 2, 0) on several
//     t_iter = a t_grad + (t_grad^gamma + t_sync^gamma)^(1 / gamma)
//     throughput = M / t_iter,  efficiency = (phi + M0) / (phi + M),  goodput = throughput x efficiency
//
// phi = M0 var / sqr is the gradient noise scale: how much a sample of a larger batch still teaches, by the variance
// and the squared mean of gradients at the initial batch M0. A job whose batch doesn't change has efficiency 1; its
// model is then of the form of Optimus (Peng et al., EuroSys 2018, section 3.2).

#include <optional>

namespace contend {

/// Times in seconds, each >= 0.
struct StepTime {
  double alpha_c = 0, beta_c = 0;  ///< of a gradient, and for each sample
  double alpha_n = 0, beta_n = 0;  ///< of an exchange between nodes, and for each replica beyond two
  double alpha_r = 0, beta_r = 0;  ///< of an exchange inside a node, and for each replica beyond two
  double gamma = 1;                ///< 1: computing and exchange one after the other; 10: nearly at once; 1..10
};

/// Which batches a job may use.
struct BatchRange {
  int initial = 1;               ///< M0, >= 1, over all replicas
  std::optional<int> largest{};  ///< of M, >= M0; none: always M0, whatever the number of replicas
  int least_local = 1;           ///< of b
  int most_local = 1;            ///< of b; >= least_local
  bool accumulates = false;      ///< several batches may be accumulated
};

/// Squared mean and variance of gradients at the initial batch, in any common unit; variance >= 0, sqr > 0.
struct GradientNoise {
  double sqr = 1, var = 0;
};

struct GoodputModel {
  StepTime step;
  BatchRange batch;
  GradientNoise noise;
};

/// Seconds of a step.
[[nodiscard]] double step_time(const StepTime& times, int nodes, int replicas, int local_batch, int accumulated);
/// Samples a second.
[[nodiscard]] double step_throughput(const StepTime& times, int nodes, int replicas, int local_batch, int accumulated);
/// What a sample of a batch of so many counts, in samples of the initial batch; 1 for the initial batch.
[[nodiscard]] double statistical_efficiency(const GradientNoise& noise, int initial_batch, double batch);

/// The batch of the largest goodput, in samples of the initial batch a second; goodput 0: no batch is possible.
struct BestBatch {
  double goodput = 0;
  int local_batch = 0, accumulated = 0;
};
/// With a largest batch: of 50 batches, geometrically from max(M0, k x least_local) to it, the first of the best. With
/// a fixed batch: that, on replicas that each take ceil(M0 / k) samples, in several batches if it is more than
/// most_local; it is not possible with more replicas than samples.
[[nodiscard]] BestBatch best_batch(const GoodputModel& model, int nodes, int replicas);

}  // namespace contend
