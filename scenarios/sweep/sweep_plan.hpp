#pragma once
// A sweep ready to run: the strict reader has accepted every point, and each has its place in the order, its hash and
// the effective values of all parameters.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/study/fitted_workers.hpp"
#include "scenarios/sweep/effective.hpp"
#include "scenarios/sweep/sweep_points.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The plan of a sweep. An iteration study (`overlap.*`) with several worker counts or policies gives one point for
/// each combination, so that `overlap.workers`, `overlap.compression` and `overlap.fusion` are parameters too.
class SweepPlan {
 public:
  /// Takes `sweep.*` from the base of `variants`. The result does not depend on `threads`. Throws InputError with the
  /// complaints about all points, each once, with the first point that it concerns.
  SweepPlan(ScenarioVariants variants, unsigned threads);

  /// The description from which a store is created. Runs are numbered point by point, seed by seed.
  [[nodiscard]] const StoreInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<StorePoint>& points() const { return points_; }
  /// Warnings about settings that are valid but probably unintended, such as a rule of `exclude` that no point matches.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] std::int64_t point_of(std::int64_t run) const { return run / info_.repeat; }
  [[nodiscard]] std::uint64_t seed_of(std::int64_t run) const {
    return first_seed_ + static_cast<std::uint64_t>(run % info_.repeat);
  }
  /// The job lists of all points. Each was read at most once, by the plan or by the first run that needs it.
  [[nodiscard]] JobLists& lists() const { return *lists_; }
  /// The files that the scenarios of the points name, with their digests, by path.
  [[nodiscard]] const std::vector<InputFile>& files() const { return files_; }
  /// The scenario of a point, which is read again: the scenarios of many points would fill the memory. Several threads
  /// may call it.
  [[nodiscard]] Scenario scenario(std::int64_t point) const;
  /// True if any point may have expectations; expectations() returns the expectations of one point.
  [[nodiscard]] bool expects() const { return varies_expectations_ || !variants_.base().expect.empty(); }
  [[nodiscard]] std::vector<Expectation> expectations(std::int64_t point) const {
    return varies_expectations_ ? scenario(point).expect : variants_.base().expect;
  }

 private:
  /// A setting of raw_ as it is applied.
  struct Applied {
    std::string assignment;  ///< for --set
    ScenarioLayer layer;
  };
  /// A key that may become a parameter.
  struct Candidate {
    EffectiveKey key;
    bool implied = false;  ///< no setting names it: it is a parameter only if its values differ
  };
  /// The raw point that a point comes from and, in an iteration study, which of its combinations of workers and
  /// policies it is.
  struct Source {
    std::size_t raw = 0, item = 0;
  };
  struct Variant {
    Source source;
    std::string hash;
    std::vector<std::string> settings;              ///< for --set
    std::vector<std::optional<PlainValue>> values;  ///< of each candidate
    UnfittedWorkers unfitted;
    bool free_start = false;  ///< messages_start_free()
    Draws draws = Draws::independent;
    std::string blocks;  ///< job list and length of blocks that it resamples; empty: none
  };
  /// The points that one raw point gives, or its faults.
  struct Draft {
    std::vector<Complaint> complaints;
    bool is_study = false;
    std::vector<Variant> variants;
  };
  [[nodiscard]] Scenario raw_scenario(std::size_t raw) const;
  [[nodiscard]] Complaint at_its_place(Complaint complaint, std::size_t raw) const;
  void apply_settings();
  void find_candidates();
  [[nodiscard]] std::vector<Draft> read_points(unsigned threads, PointHasher& hasher) const;
  void set_kind(const std::vector<Draft>& drafts);
  void set_draws(const std::vector<Draft>& drafts);
  void keep_spelling(const std::string& key, const std::vector<Variant>& variants,
                     std::vector<std::optional<PlainValue>>& values) const;
  void set_parameters(std::vector<Variant>& variants);
  [[nodiscard]] bool is_excluded(const StorePoint& point, const SweepSpec& spec);
  void set_points(std::vector<Draft>& drafts, const SweepSpec& spec);
  void set_repeat(const SweepSpec& spec);
  void set_hash();

  ScenarioVariants variants_;
  std::shared_ptr<JobLists> lists_ = std::make_shared<JobLists>();
  SweepPoints raw_;
  std::vector<Applied> applied_;       ///< for each setting of raw_
  std::vector<Candidate> candidates_;  ///< the keys of raw_, then those that a study lists
  std::vector<Source> sources_;        ///< of each point
  bool varies_expectations_ = false;
  std::uint64_t first_seed_ = 1;
  StoreInfo info_;
  std::vector<StorePoint> points_;
  std::vector<InputFile> files_;
  std::vector<std::string> notes_;
};

}  // namespace contend
