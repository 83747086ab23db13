#pragma once
// A sweep that is ready to run: every point has been through the strict reader, has its place in the order, its hash
// and the values of all parameters in effect.

#include "scenarios/keys/reader.hpp"
#include "scenarios/study/fitted_workers.hpp"
#include "scenarios/sweep/sweep_points.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A study of one iteration (`overlap.*`) of several numbers of workers or policies is a point for each of them, so
/// that `overlap.workers`, `overlap.compression` and `overlap.fusion` are parameters too.
class SweepPlan {
 public:
  /// Takes `sweep.*` from the base of `variants`. The result doesn't depend on `threads`. Throws InputError with the
  /// complaints about all points, equal ones once, each with the first point that it is about.
  SweepPlan(ScenarioVariants variants, unsigned threads);

  /// What a store is created from: runs are numbered point by point, seed by seed.
  [[nodiscard]] const StoreInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<StorePoint>& points() const { return points_; }
  /// What is no error but hardly meant, such as a rule of `exclude` that no point matches.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] std::int64_t point_of(std::int64_t run) const { return run / info_.repeat; }
  [[nodiscard]] std::uint64_t seed_of(std::int64_t run) const {
    return first_seed_ + static_cast<std::uint64_t>(run % info_.repeat);
  }
  /// The scenario of a point; may be called by several threads.
  [[nodiscard]] Scenario scenario(std::int64_t point) const;
  /// Whether any point may expect something of its figures, and what a point expects.
  [[nodiscard]] bool expects() const { return varies_expectations_ || !variants_.base().expect.empty(); }
  [[nodiscard]] std::vector<Expectation> expectations(std::int64_t point) const {
    return varies_expectations_ ? scenario(point).expect : variants_.base().expect;
  }

 private:
  /// Which of the raw points a point is, and which of its combinations of workers and policies if it studies an
  /// iteration.
  struct Source {
    std::size_t raw = 0, item = 0;
  };
  struct Variant {
    Source source;
    std::string hash;
    std::vector<std::string> settings;               ///< for --set
    std::vector<std::optional<std::string>> values;  ///< of the keys of raw_, then of those that a study lists
    UnfittedWorkers unfitted;
  };
  /// The points that come of one raw point, or what is wrong with it.
  struct Draft {
    std::vector<Complaint> complaints;
    bool is_study = false;
    std::vector<Variant> variants;
  };
  [[nodiscard]] Scenario raw_scenario(std::size_t raw) const;
  void make_layers();
  [[nodiscard]] std::vector<Draft> read_points(unsigned threads) const;
  void set_kind(const std::vector<Draft>& drafts);
  void keep_spelling(const std::string& key, const std::vector<Variant>& variants,
                     std::vector<std::optional<std::string>>& values) const;
  void set_points(std::vector<Draft>& drafts, const SweepSpec& spec);
  void set_repeat(const SweepSpec& spec);
  void set_hash();

  ScenarioVariants variants_;
  SweepPoints raw_;
  std::vector<ScenarioLayer> layers_;  ///< of each setting of raw_
  std::vector<Source> sources_;        ///< of each point
  bool varies_expectations_ = false;
  std::uint64_t first_seed_ = 1;
  StoreInfo info_;
  std::vector<StorePoint> points_;
  std::vector<std::string> notes_;
};

}  // namespace contend
