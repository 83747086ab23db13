#pragma once
// Which ways to lay a job out over its GPUs fit the memory, and which of them train fastest
// (docs/howto/will-it-fit.md). Memory and times are as any scenario has them (parallel_job.hpp,
// lone_job.hpp).

#include "models/parallel/memory.hpp"
#include "models/parallel/recomputation.hpp"
#include "scenarios/spec/training_system.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// What varies between the ways to lay a job out; data parallelism takes the GPUs that remain.
struct Layout {
  int tensor = 1, pipeline = 1, context = 1, expert = 1;
  int chunks = 1;  ///< of the model on each pipeline rank: `virtual`
  int batch = 1;   ///< sequences of a micro-batch
  int zero = 0;
  Recomputation recompute = Recomputation::none;

  bool operator==(const Layout&) const = default;
  /// The entry, which has `parallel`, laid out so.
  [[nodiscard]] TrainingEntry on(TrainingEntry entry) const;
  /// The members of an entry that say so, as YAML: `batch: 1`, `recompute: none`, `parallel: {tensor: 8, ...}`.
  [[nodiscard]] std::vector<std::string> members() const;
};

/// The system whose entry is laid out so.
[[nodiscard]] TrainingSystem laid_out(const TrainingSystem& system, const TrainingEntry& entry, const Layout& layout);

/// The layouts that are tried of a job on so many GPUs, which has as many sequences in an iteration as the entry's
/// `global_batch` says: every tensor-parallel degree that divides a server, pipelines of at most as many ranks as the
/// model has layers, context parallelism that leaves each GPU at least 4,096 tokens of a sequence, expert-parallel
/// degrees that divide the experts, up to 8 chunks of equally many layers, micro-batches of 1, 2, 4 and 8 sequences,
/// ZeRO 1 to 3 where there are ranks to share with, and recomputation of nothing, of the scores, of everything. Some
/// don't divide the batch, the heads or the micro-batches.
[[nodiscard]] std::vector<Layout> possible_layouts(const ClusterSetup& cluster, const TrainingEntry& entry,
                                                   const TransformerModel& model, int gpus);

/// A layout that fits.
struct FittingLayout {
  Layout layout;
  std::vector<Layout> twins;        ///< others with these memories and times, by other names
  std::vector<GpuMemory> memory{};  ///< by pipeline rank
  Time least{};                     ///< of its passes and its update; an iteration takes no less
  Time iteration{};                 ///< mean of the first two iterations of a job that has the cluster to itself
};

/// Layouts that can't be trained for one reason.
struct RefusedLayouts {
  std::string key;     ///< of a member of the entry, such as `parallel.tensor`; `memory`: they don't fit
  std::string reason;  ///< of the first of them
  std::int64_t count = 0;
};

struct LayoutSearch {
  std::int64_t tested = 0;  ///< layouts
  std::int64_t fitting = 0;
  std::int64_t twins = 0;  ///< of the fitting layouts: further names of others
  std::int64_t simulated = 0;
  std::vector<RefusedLayouts> refused;  ///< the most frequent first
  std::vector<FittingLayout> fastest;   ///< the fastest first, at most as many as were asked for
  /// Layouts that were not simulated though `least` of them is less than the iteration of the last of `fastest`.
  std::int64_t open = 0;
  /// The layout with the least memory on its fullest GPU, of all whose memory was tested, and that memory.
  std::optional<std::pair<Layout, GpuMemory>> leanest;
};

/// Searches for the `top` fastest layouts of a job of the entry, which has `parallel` and `global_batch`, on so many
/// GPUs of the system. Memory is tested first, without times. Then layouts are simulated, first those whose passes and
/// exchange are short together, until no other one can be among the fastest, or several times `top` have been.
/// The result does not depend on the number of threads. `entry` is one of the system's. Throws InputError if the model
/// can't be read.
[[nodiscard]] LayoutSearch search_layouts(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                                          std::size_t top, unsigned threads);

/// As few of gpus x 2, x 4, ... x 4,096 as a layout fits on, with servers as the system has them; nothing if there is
/// none.
[[nodiscard]] std::optional<int> gpus_that_fit(const TrainingSystem& system, const TrainingEntry& entry, int gpus);

}  // namespace contend
