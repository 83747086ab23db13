#pragma once
// A pipeline schedule decides which rank holds which model stage and in which order ranks execute the passes of the
// micro-batches. It is pure: equal shapes give equal plans.

#include "models/parallel/pipeline_plan.hpp"

#include <string>

namespace contend {

/// What a job asks of a schedule.
struct PipelineShape {
  int ranks = 1;           ///< p, >= 1: pipeline-parallel degree
  int micro_batches = 1;   ///< m, >= 1: in one iteration, of one pipeline
  int chunks = 0;          ///< v: model stages on each rank; 0: as many as the schedule needs
  std::string own_text{};  ///< only for the schedule `file`: the text of its file, and its name for messages
  std::string own_file{};
};

/// Facts about a schedule.
struct PipelineTraits {
  bool holds_all = false;     ///< ranks hold the activations of all micro-batches at once
  bool needs_chunks = false;  ///< with one model stage on each rank it is 1f1b
  bool reads_order = false;   ///< it needs PipelineShape::own_text
};

class PipelineSchedule {
 public:
  virtual ~PipelineSchedule() = default;
  [[nodiscard]] virtual PipelineTraits traits() const { return {}; }
  /// Returns a valid plan. Throws InputError, with the keys `pipeline`, `micro_batches` or `virtual`, for a shape that
  /// the schedule can't work with; its hint says what would be right.
  [[nodiscard]] virtual PipelinePlan plan(const PipelineShape& shape) const = 0;
  /// The micro-batches of a round, on all paths together: with a round more, the plan of a shape that has many of them
  /// has these passes once more in the middle, between the same first and last steps of each rank. 0: nothing is
  /// promised, and long iterations are executed pass by pass.
  [[nodiscard]] virtual int round(const PipelineShape& /*shape*/) const { return 0; }
};

/// The plan of a schedule. If the shape has many more rounds than `kept` > 0 and those with the first and last passes
/// of the ranks, the plan leaves a multiple of 12, or of 840 or 5,040 if many are kept, of them out. 0: none.
[[nodiscard]] PipelinePlan plan_of_rounds(const PipelineSchedule& schedule, PipelineShape shape, int kept);

}  // namespace contend
