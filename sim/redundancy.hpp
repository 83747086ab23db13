#pragma once
// Redundancy lets a job of pipelines go on without GPUs that have failed: others hold the layers of these, too. The n
// GPUs of a job are `stages` stages of n / stages replicas, GPU by GPU in the order in which the job has them: rank r
// is in stage r / replicas, and pipeline r mod replicas. A failure that is covered stops the job for `failover`; until
// the GPU is repaired the job goes on at a lower speed, and it stops for `rejoin` when it comes back. A failure that is
// not covered interrupts the job, which goes back to its last checkpoint.
//
// Where `together` ranks do the parts of one micro-batch (RankLayout::replica), each of them is lost with any of them.

#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

struct JobSpec;

struct RedundancyRule {
  enum class Cover : std::uint8_t {
    none,
    /// Each rank holds the layers of the next stage of its pipeline, too, and the last stage the layers of the first.
    /// It does the work of both when the other one is out. Two neighbours of one pipeline are not covered (Bamboo, NSDI
    /// 2023, section 5).
    neighbours,
    /// Each stage has replicas that do the work of those that are out, as long as one is left (Oobleck, SOSP 2023;
    /// ReCycle, SOSP 2024).
    replicas,
  };
  Cover cover = Cover::none;
  /// >= 1, at least 2 with neighbours. Of jobs with a duration: jobs of iterations say themselves how many they have
  /// (RankLayout::stage).
  int stages = 1;
  std::optional<int> tolerates{};  ///< most GPUs that may be out at once, >= 1; not given: as many as are covered
  /// With replicas, who does the work of a rank that is out: all that are left, after layers have moved (Oobleck's
  /// templates), or the replicas of its stage (ReCycle).
  bool spreads_over_job = false;
  static constexpr std::int32_t kNoStepCost = 1'000;
  std::int32_t step_cost = kNoStepCost;  ///< thousandths of the time that work takes without redundancy, >= 1000
  Time failover, rejoin;                 ///< >= 0

  static constexpr std::int32_t kMostStepCost = 1'000'000;

  [[nodiscard]] bool any() const { return cover != Cover::none; }
  /// The rule for a job of so many GPUs and stages. If none of its GPUs is held by another one, as its one stage has no
  /// neighbour or no replica, or if the stages don't divide its GPUs, as in a job too small for them, it has no
  /// redundancy, which costs nothing.
  [[nodiscard]] RedundancyRule of_job(int gpus, int stages_of_job) const;
  /// True if a job of so many GPUs can go on without these ranks, ascending.
  [[nodiscard]] bool covers(std::span<const int> out, int gpus, int together = 1) const;
  /// How fast it goes without ranks that are covered, in thousand-millionths of its speed without redundancy.
  [[nodiscard]] std::int64_t speed(std::span<const int> out, int gpus) const;
  /// Without ranks that are covered, by rank: how many times as long its tasks take as without redundancy, in
  /// thousandths, rounded up. The tasks of a rank that is out count, too: those who do them do them in turn with their
  /// own.
  [[nodiscard]] std::vector<std::int32_t> paces(std::span<const int> out, int gpus, int together = 1) const;

 private:
  [[nodiscard]] int most_of_a_stage(std::span<const int> out, int gpus) const;
};

/// The stages of a job: the stages of the rule if it has a duration, else the stages of its own pipelines, or one.
[[nodiscard]] int stages_of(const JobSpec& job, const RedundancyRule& rule);

}  // namespace contend
