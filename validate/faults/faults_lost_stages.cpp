// CheckFree's lists of lost stages, in the engine, and the copies in memory of Gemini.

#include "models/reliability/availability.hpp"
#include "text/byte_source.hpp"
#include "text/json_reader.hpp"
#include "validate/faults/faults_suite.hpp"
#include "validate/faults/interrupted_jobs.hpp"

#include <compare>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kIterationsListed = 500, kIteration_ns = 1'000'000'000;
constexpr int kReplicasOfStage = 3, kStagesListed = 7;

/// A stage that is lost in an iteration, with all its replicas.
struct LostStage {
  std::int64_t iteration;
  std::uint32_t stage;
  auto operator<=>(const LostStage&) const = default;
};

/// By iteration. The file has for each rank the iterations in which its stage is lost, and a last one after the end.
std::vector<LostStage> lost_stages(const std::string& path) {
  const auto source = open_bytes(path);
  const JsonValue ranks = read_json(*source, path);
  std::set<LostStage> lost;
  for (std::size_t rank = 0; rank < ranks.items.size(); ++rank) {
    const auto stage = static_cast<std::uint32_t>(std::stoul(ranks.names[rank])) / kReplicasOfStage;
    for (const JsonValue& each : ranks.items[rank].items)
      if (const auto iteration = static_cast<std::int64_t>(each.whole().value()); iteration < kIterationsListed)
        lost.insert({iteration, stage});
  }
  return {lost.begin(), lost.end()};
}

/// Stages fail in the middle of these iterations, for a fifth of one. The job saves each `period` iterations, and at
/// each failure the run is late by what the ones before have cost. Period 0: its neighbours stand in for a stage, and
/// the iteration in flight begins again.
InterruptedTraining job_with(const std::vector<LostStage>& lost, std::int64_t period) {
  InterruptedTraining what{
      .servers = kStagesListed * kReplicasOfStage,
      .gpus = kStagesListed * kReplicasOfStage,
      .graph = fmt::format("role worker {} | compute step worker {}", kStagesListed * kReplicasOfStage, kIteration_ns),
      .iterations = kIterationsListed};
  constexpr std::int64_t kHalf_ns = kIteration_ns / 2, kDown_ns = kIteration_ns / 5;
  std::int64_t late_ns = 0;
  for (const LostStage& each : lost) {
    const std::int64_t at = each.iteration * kIteration_ns + kHalf_ns + late_ns;
    what.failures.outages.push_back({Time::nanoseconds(at), Time::nanoseconds(at + kDown_ns),
                                     kReplicasOfStage * each.stage, kReplicasOfStage * each.stage + kReplicasOfStage});
    late_ns += kHalf_ns + (period > 0 ? (each.iteration % period) * kIteration_ns + kDown_ns : 0);
  }
  if (period > 0) what.costs.iterations = period;
  return what;
}

void check_list(CheckedTable& table, const std::string& path, const std::string& name, int published) {
  const std::vector<LostStage> lost = lost_stages(path);
  // A neighbour of the stage stands in for it.
  InterruptedTraining covered = job_with(lost, 0);
  covered.layout.stage = kReplicasOfStage;
  covered.failures.redundancy.cover = RedundancyRule::Cover::neighbours;
  const RunResult goes_on = run_interrupted(covered);
  table.checks.push_back({name + ": losses that the job goes on without",
                          static_cast<double>(published),
                          static_cast<double>(goes_on.jobs[0].covered),
                          0,
                          {}});
  for (const std::int64_t period : {10, 50, 100}) {
    double again = 0;
    for (const LostStage& each : lost) again += static_cast<double>(each.iteration % period);
    const JobResult job = run_interrupted(job_with(lost, period)).jobs[0];
    const double halves = 0.5 * static_cast<double>(lost.size());
    table.checks.push_back({fmt::format("{}, a checkpoint each {} iterations: iterations done again", name, period),
                            again,
                            job.redone.to_seconds() - halves,
                            1e-9,
                            {}});
  }
}

}  // namespace

CheckedTable faults_lost_stages() {
  CheckedTable table;
  table.title = "CheckFree's lists of lost stages: 7 stages of 3 replicas, 500 iterations";
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder =
      std::filesystem::path{data != nullptr ? data : "../shared/data"} / "elastic" / "checkfree";
  for (const auto& [file, name, losses] :
       {std::tuple{"failures_10.json", "10% an hour", 1}, {"failures_33.json", "33% an hour", 7}}) {
    const std::string path = (folder / file).string();
    if (!std::filesystem::exists(path)) {
      table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
      return table;
    }
    check_list(table, path, name, losses);
  }
  return table;
}

CheckedTable faults_copies() {
  CheckedTable table;
  table.title = "Checkpoints in the memory of other machines (Gemini): that all can be restored";
  struct Row {
    int machines, copies, lost;
    double probability;
  };
  for (const Row& row : {Row{16, 2, 2, 0.933333}, {128, 2, 2, 0.992126}, {16, 4, 4, 0.997802}})
    table.checks.push_back({fmt::format("{} machines, {} copies, {} lost at once", row.machines, row.copies, row.lost),
                            row.probability,
                            recovery_probability(row.machines, row.copies, row.lost),
                            1e-6,
                            {}});
  return table;
}

}  // namespace contend
