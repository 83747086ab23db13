#include "policies/scheduling/position_matching.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace contend {

namespace {

constexpr std::size_t kNoColumnYet = SIZE_MAX;
constexpr double kTooFar = std::numeric_limits<double>::infinity();

/// The state of the method: dual values of jobs and columns, and the matching so far.
class Matcher {
 public:
  Matcher(std::span<const double> takes, std::span<const std::size_t> gpus)
      : takes_{takes}, types_{gpus.size()}, u_(takes.size() / types_), column_of_(u_.size(), kNoColumnYet) {
    for (std::size_t t = 0; t < types_; ++t) {
      begins_.push_back(positions_.size());
      const std::size_t deep = gpus[t] == 0 ? 0 : (u_.size() + gpus[t] - 1) / gpus[t];
      for (std::size_t k = 1; k <= deep; ++k) {
        positions_.push_back({t, k});
        room_.push_back(gpus[t]);
      }
    }
    begins_.push_back(positions_.size());
    v_.resize(positions_.size());
    path_.resize(positions_.size());
    distance_.resize(positions_.size());
    jobs_of_.resize(positions_.size());
  }

  std::vector<Position> match() {
    for (std::size_t job = 0; job < u_.size(); ++job) add(job);
    std::vector<Position> found;
    for (const std::size_t column : column_of_) found.push_back(positions_[column]);
    return found;
  }

 private:
  void add(std::size_t first) {
    std::ranges::fill(distance_, kTooFar);
    full_.clear();
    double least = 0;
    look_from(first, least);
    std::size_t column = nearest();
    while (jobs_of_[column].size() == room_[column]) {
      least = distance_[column];
      full_.emplace_back(column, least);
      distance_[column] = -kTooFar;  // it gets no nearer
      for (const std::size_t job : jobs_of_[column]) look_from(job, least);
      column = nearest();
    }
    least = distance_[column];
    u_[first] += least;
    for (const auto& [each, distance] : full_) {
      for (const std::size_t job : jobs_of_[each]) u_[job] += least - distance;
      v_[each] -= least - distance;
    }
    for (std::size_t job = kNoColumnYet; job != first;) {  // turn the path round
      job = path_[column];
      jobs_of_[column].push_back(job);
      column = std::exchange(column_of_[job], column);
      if (job != first) std::erase(jobs_of_[column], job);
    }
  }

  /// Columns may be nearer through this job, which is at the distance `least`.
  void look_from(std::size_t job, double least) {
    const double base = least - u_[job];
    for (std::size_t t = 0; t < types_; ++t) {
      const double takes = takes_[job * types_ + t];
      double from_last = 1;
      for (std::size_t c = begins_[t]; c < begins_[t + 1]; ++c, from_last += 1) {
        const double length = base + from_last * takes - v_[c];
        if (!(length < distance_[c])) continue;
        distance_[c] = length;
        path_[c] = job;
      }
    }
  }

  [[nodiscard]] std::size_t nearest() const {
    std::size_t best = kNoColumnYet;
    double least = kTooFar;
    for (std::size_t c = distance_.size(); c-- > 0;) {
      if (distance_[c] == -kTooFar || distance_[c] > least) continue;
      if (distance_[c] == least && (best == kNoColumnYet || jobs_of_[c].size() == room_[c])) continue;
      best = c;
      least = distance_[c];
    }
    CONTEND_CHECK(best != kNoColumnYet, "there are as many places as jobs");
    return best;
  }

  std::span<const double> takes_;
  std::size_t types_;
  std::vector<double> u_, v_, distance_;
  std::vector<Position> positions_;                // of the columns, type by type
  std::vector<std::size_t> begins_, room_, path_;  // columns of a type begin there; by column: places, job before it
  std::vector<std::size_t> column_of_;
  std::vector<std::vector<std::size_t>> jobs_of_;
  std::vector<std::pair<std::size_t, double>> full_;  // columns on the way, and their distances
};

}  // namespace

std::vector<Position> match_positions(std::span<const double> takes, std::span<const std::size_t> gpus) {
  if (takes.empty()) return {};
  CONTEND_CHECK(!gpus.empty() && takes.size() % gpus.size() == 0, "each job has a time on each type");
  return Matcher{takes, gpus}.match();
}

}  // namespace contend
