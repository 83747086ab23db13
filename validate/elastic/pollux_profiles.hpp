#pragma once
// What Pollux' authors measured of six applications on T4 GPUs (Qiao et al., OSDI 2021; petuum/adaptdl, branch
// osdi21-artifact, at c793c70, Apache-2.0), read as their simulator reads it. The data are not part of the project.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Seconds of a step, and the seconds of the step in which replicas exchange gradients.
struct MeasuredStep {
  double step_s = 0, sync_s = 0;
};

/// One application. All batches are in samples.
class PolluxApplication {
 public:
  /// Reads the tables of a folder. `epochs`: with so many a job is done. `most_local`: on one GPU; 0: the most that was
  /// measured. Throws InputError if a table lacks a column.
  PolluxApplication(const std::string& folder, int epochs, int most_local);

  /// On a number of GPUs of each of several nodes. A placement that was measured, in any rotation, is taken between the
  /// two nearest batches; others between placements of similar numbers of nodes and GPUs. Throws InputError outside of
  /// what was measured.
  [[nodiscard]] MeasuredStep step(const std::vector<int>& placement, int local_batch) const;
  /// (var + sqr) / (var / scale + sqr) of gradients in an epoch: how many initial batches one of this size counts for.
  [[nodiscard]] double gain(int batch, int epoch) const;
  /// Iterations at a batch, until an epoch has ended.
  [[nodiscard]] double iterations(int batch, int epoch) const { return between(batch, epoch, &Epoch::iterations); }
  /// In iterations at the initial batch, before an epoch.
  [[nodiscard]] double progress_before(int epoch) const;

  /// Those whose gains were measured, ascending.
  [[nodiscard]] std::vector<int> batches() const;
  [[nodiscard]] int last_epoch() const noexcept { return epochs_ - 1; }
  [[nodiscard]] int initial_batch() const { return epochs_of_.begin()->first; }
  [[nodiscard]] int largest_batch() const { return epochs_of_.rbegin()->first; }
  [[nodiscard]] int least_local() const noexcept { return least_local_; }
  [[nodiscard]] int most_local() const noexcept { return most_local_; }

 private:
  struct Epoch {
    double progress = 0, iterations = 0, sqr = 0, var = 0;
  };
  using Shape = std::pair<int, int>;                      // nodes, GPUs
  using Corners = std::vector<std::pair<Shape, double>>;  // with their parts
  using StepsByBatch = std::map<int, MeasuredStep>;

  [[nodiscard]] double between(int batch, int epoch, double Epoch::*value) const;
  [[nodiscard]] MeasuredStep between_shapes(Shape shape, int local_batch) const;
  [[nodiscard]] Corners corners_of(Shape shape) const;

  int epochs_, least_local_ = 0, most_local_;
  std::map<int, std::vector<Epoch>> epochs_of_;  // by batch
  std::map<std::string, StepsByBatch> placed_;   // by the digits of a placement
  std::map<Shape, StepsByBatch> shapes_;
  mutable std::map<std::pair<std::string, int>, MeasuredStep> known_;
};

/// What each of several GPUs trains between two exchanges.
struct LocalBatch {
  int samples = 0, accumulated = 0;
};
/// A batch divided among GPUs. `accumulates`: at least two on each.
[[nodiscard]] LocalBatch divide_batch(const PolluxApplication& application, int batch, int gpus, bool accumulates);
/// Seconds of an iteration.
[[nodiscard]] double iteration_s(const PolluxApplication& application, const std::vector<int>& placement,
                                 const LocalBatch& local);
/// The same on as few nodes of kPolluxGpusPerNode as can hold so many GPUs.
[[nodiscard]] double packed_iteration_s(const PolluxApplication& application, int gpus, const LocalBatch& local);

inline constexpr int kPolluxNodes = 16, kPolluxGpusPerNode = 4;

struct PolluxRow {
  std::string name;
  std::size_t application = 0;  ///< index into PolluxList::applications
  int submit_s = 0;
  int gpus = 1, batch = 1;  ///< that a user would choose
  int most_gpus = 1;        ///< with that batch; NCF is trained on one
};
struct PolluxList {
  std::vector<std::pair<std::string, PolluxApplication>> applications;  ///< by name
  std::vector<PolluxRow> jobs;
};
/// One of the workloads 1 to 8 of 160 jobs. Nothing if the data are not there. Throws InputError if a job is of no
/// application that was measured.
[[nodiscard]] std::optional<PolluxList> read_pollux_list(int workload);

}  // namespace contend
