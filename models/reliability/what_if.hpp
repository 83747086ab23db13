#pragma once
// What-if analysis of a measured training job: how long its steps would take if none of its workers straggled, and who
// makes the difference (J. Lin et al., "Understanding stragglers in large model training using what-if analysis",
// OSDI 2025, arXiv 2505.05713). The steps of a pipeline with data parallelism are replayed on the graph of their
// dependencies, with the measured times or with the ideal one of each kind of operation. Launch delays of the host are
// left out.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class StepOpKind : std::uint8_t {
  params_all_gather,  ///< before the first forward pass, over the data-parallel ranks
  forward_recv,
  forward_compute,
  forward_send,
  backward_recv,
  backward_compute,
  backward_send,
  gc,  ///< the collection of garbage after the last backward pass
  layernorm_grads_all_reduce,
  embedding_grads_all_reduce,  ///< between the first and the last stage
  grads_reduce_scatter,        ///< over the data-parallel ranks
  optimizer_clip_main_grad,    ///< a barrier of all workers
  optimizer,
};
inline constexpr std::size_t kStepOpKinds = 13;

/// The name of the kind in timelines, such as `forward-compute`.
[[nodiscard]] std::string_view to_string(StepOpKind kind);
/// The kind of that name. Throws InputError with the names that there are.
[[nodiscard]] StepOpKind step_op_kind(std::string_view name);

/// An operation of a worker in a step. Times are in seconds from any origin of the step.
struct StepOp {
  std::int64_t step = 0;
  int replica = 0;  ///< data-parallel rank, from 0
  int stage = 0;    ///< pipeline stage, from 0
  StepOpKind kind = StepOpKind::forward_compute;
  int index = 0;  ///< among operations of its kind, worker and step, from 0
  double start_s = 0, length_s = 0;
};

class WhatIf {
 public:
  /// Takes the operations in any order. Every step has the same for each replica; operation i of a pass belongs to
  /// micro-batch i, without model chunks. Throws InputError if some are missing, doubled or depend on each other.
  explicit WhatIf(std::vector<StepOp> ops);

  [[nodiscard]] int replicas() const { return replicas_; }
  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

  /// Means over the steps, in seconds: from the first start to the last end as measured; replayed with the measured
  /// times; replayed with ideal ones, the mean of all computing of a kind and the median of all communication of a
  /// kind. A transfer is measured from when its last participant has begun.
  [[nodiscard]] double measured_s() const;
  [[nodiscard]] double replayed_s() const { return replayed_s_; }
  [[nodiscard]] double ideal_s() const { return ideal_s_; }
  /// S: how many times as long as without stragglers the steps take.
  [[nodiscard]] double slowdown() const { return replayed_s_ / ideal_s_; }

  /// The mean replayed step in which the chosen operations take as long as measured and all others as ideal. Divided by
  /// ideal_s() that is the slowdown that is due to them.
  [[nodiscard]] double only_s(const std::function<bool(const StepOp&)>& chosen) const;
  /// The share of the lost time that goes if the chosen operations are ideal: (replayed - without) / (replayed -
  /// ideal).
  [[nodiscard]] double mended_by(const std::function<bool(const StepOp&)>& chosen) const;

  struct Worker {
    int replica = 0, stage = 0;
  };
  /// The share of the workers, rounded up to whole ones, that are the slowest by the authors' estimate: the smaller one
  /// of the slowdowns by all of the worker's stage alone and by all of its replica alone. The slowest is first.
  [[nodiscard]] std::vector<Worker> slowest_workers(double share) const;

 private:
  /// An operation of all steps and replicas.
  struct Node {
    StepOpKind kind;
    int index, stage;
    std::vector<std::size_t> after;  // nodes before it
  };
  [[nodiscard]] std::size_t node(StepOpKind kind, int index, int stage) const;
  [[nodiscard]] bool has(StepOpKind kind, int index, int stage) const;
  [[nodiscard]] const StepOp& op(std::size_t step, int replica, std::size_t node) const;
  [[nodiscard]] std::size_t at(std::size_t step, int replica, std::size_t node) const;
  void add_dependencies();
  void add_groups();
  void order_groups();
  void find_lengths();
  [[nodiscard]] double replay(std::span<const double> lengths) const;

  int replicas_ = 0, stages_ = 0;
  std::vector<std::int64_t> steps_;
  std::vector<StepOp> ops_;  // by step, replica, node
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::vector<std::size_t>> groups_;  // nodes that end together, in an order in which they can be replayed
  std::vector<double> lengths_, ideal_;           // as ops_: of transfers, from when all have begun
  double replayed_s_ = 0, ideal_s_ = 0;
};

}  // namespace contend
