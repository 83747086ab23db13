#pragma once
// Summarises spans: for each lane, bin of time and job, the busy time and the number of spans that ended there. Where
// the jobs are so many that the bins would become too wide to show anything, all jobs of a lane and bin are one
// summary.

#include "report/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

class SpanBins {
 public:
  struct Who {
    JobId job;
    bool transfer = false;
  };
  /// Keeps at most `limit` summaries, or one or two for each lane if that is more; `length` is the duration that the
  /// first bins divide.
  SpanBins(std::size_t lanes, std::size_t limit, Time length);

  void add(std::size_t lane, Who who, Time start, Time end);

  /// Call once, after the last add() and before take().
  void finish();
  [[nodiscard]] Time width() const { return width_; }
  /// The summaries of a lane, by bin and then by job; equal neighbours are merged. Appends new kinds to `kinds`; those
  /// of all jobs together have the job none().
  [[nodiscard]] std::vector<TimelineSpan> take(std::size_t lane, std::vector<SpanKind>& kinds);

 private:
  struct Block {
    std::int64_t bin = 0;
    Who who;
    Time busy;
    std::int64_t count = 0;
  };
  using Blocks = std::vector<Block>;
  struct Lane {
    Blocks blocks;
    std::size_t settled = 0;  ///< number of leading blocks that are sorted and have distinct bin or job
  };
  static std::tuple<std::int64_t, JobId, bool> key(const Block& block);
  static void settle(Lane& lane);
  /// Makes one of the blocks from `first` on, which are sorted, that have the same key.
  static void merge_equal(Lane& lane, Blocks::iterator first);
  void coarsen_settled(Lane& lane, std::int64_t bins_in_one) const;
  /// Sorts all blocks, and if there are too many makes the bins twice as wide or drops the jobs of the blocks.
  void coarsen();

  std::vector<Lane> lanes_;
  std::size_t limit_;
  std::size_t blocks_ = 0;
  Time width_;
  std::int64_t last_bin_ = 0;  ///< the last that a span reaches
  bool by_job_ = true;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> kind_of_;
};

}  // namespace contend
