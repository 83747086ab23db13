#pragma once
// The pipelines of a recorded run: what the passes of a job did, with everything that they met, drawn as
// report/pipeline_drawing.hpp draws a plan.

#include "models/parallel/pass_names.hpp"
#include "report/pipeline_drawing.hpp"
#include "report/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace contend {

/// The largest number of passes in a drawing; more can't be told apart.
inline constexpr std::size_t kMostPassesDrawn = 20'000;

/// The pipelines of all jobs of a timeline, which must outlive the object. It looks at each span once when it is made,
/// and a few times more for each drawing of the job of that span.
class Pipelines {
 public:
  explicit Pipelines(const Timeline& timeline);

  /// An iteration of the job, from its first pass on: the second of those recorded whole, in which the job has settled,
  /// or the only one. There is a lane for each pipeline rank, by the first stage that it has: the lane of the first GPU
  /// of the rank. The parts into which a pass is cut are one box, which may have pauses. None if the job is no
  /// pipeline, if no iteration was recorded span by span, or if it has more passes than kMostPassesDrawn.
  [[nodiscard]] std::optional<PassLanes> of(JobId job);
  /// How often it has looked at a span.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  /// The spans of a job in the lane of a GPU that are passes.
  using Rank = std::vector<const TimelineSpan*>;
  [[nodiscard]] std::vector<const Rank*> ranks_of(const std::vector<Rank>& lanes);
  [[nodiscard]] std::optional<std::int64_t> drawn_iteration(const std::vector<const Rank*>& ranks);
  [[nodiscard]] PassLane boxes_of(const Rank& rank, std::int64_t iteration, Time& first);

  std::vector<std::vector<NamedPass>> passes_;  ///< by kind of span
  std::map<JobId, std::vector<Rank>> lanes_;    ///< of jobs that have passes
  std::uint64_t looks_ = 0;
};

}  // namespace contend
