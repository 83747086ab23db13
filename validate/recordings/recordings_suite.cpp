#include "validate/recordings/recordings_suite.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/byte_source.hpp"
#include "traces/recording/recording_graph.hpp"
#include "traces/recording/recording_reader.hpp"
#include "traces/recording/recording_replay.hpp"
#include "traces/recording/recording_summary.hpp"
#include "validate/schedulers/tar_member.hpp"
#include "validate/verdict.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

using Figures = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

void append(std::vector<std::int64_t>& sums, std::int64_t tasks, std::int64_t bytes, Time time) {
  sums.resize(3);
  sums[0] += tasks;
  sums[1] += bytes;
  sums[2] += time.ns();
}

/// The figures of a rank under the words of samples.txt.
Figures figures_of(const RecordedRank& rank) {
  const RankSummary summary = summarise(rank);
  Figures figures;
  const auto sum = [&](RecordedKind kind) { return summary.kinds[static_cast<std::size_t>(kind)]; };
  figures["work"] = {sum(RecordedKind::compute).tasks + sum(RecordedKind::collective).tasks,
                     sum(RecordedKind::copy).tasks, sum(RecordedKind::fill).tasks};
  std::int64_t streams = 0;
  for (std::size_t lane = 0; lane < rank.lanes.size(); ++lane)
    streams += static_cast<std::int64_t>(rank.lanes[lane].device && summary.lanes[lane].tasks > 0);
  figures["streams"] = {streams};
  figures["steps"] = {static_cast<std::int64_t>(rank.steps.size()), std::llround(step_lengths(rank.steps).mean_ns)};
  const RecordedTimes& times = summary.times;
  figures["times"] = {times.span.ns(),          times.busy.ns(),    times.compute.ns(),
                      times.communication.ns(), times.exposed.ns(), times.alone.ns()};
  const LaunchDelays& launches = summary.launches;
  figures["launches"] = {launches.found, launches.tasks, launches.shortest.ns(), launches.median.ns()};
  std::int64_t device_tasks = 0;
  Time device_time;
  for (std::size_t k = 0; k < kRecordedKinds; ++k) {
    if (!on_device(static_cast<RecordedKind>(k))) continue;
    device_tasks += summary.kinds[k].tasks;
    device_time += summary.kinds[k].time;
  }
  figures["host"] = {sum(RecordedKind::host).tasks, sum(RecordedKind::host).time.ns()};
  figures["device"] = {device_tasks, device_time.ns()};
  figures["tasks"] = {static_cast<std::int64_t>(rank.tasks.size())};
  figures["dependencies"] = {static_cast<std::int64_t>(rank.needs.size())};
  for (const auto& [name, count] : rank.counts) figures[name] = {count};
  for (const auto& [name, count] : rank.annotations) figures[name] = {count};
  Figures kinds;
  for (const RecordedCollectives& each : summary.collectives)
    append(kinds[std::string{to_string(each.kind)}], each.tasks, each.in.value_or(Bytes{}).count() * each.tasks,
           each.time);
  for (auto& [kind, sums] : kinds) figures[kind] = sums;
  return figures;
}

struct Tally {
  std::int64_t figures = 0, equal = 0;
};

/// Compares one word; the reference may have fewer numbers than we.
void compare_word(std::FILE* out, std::string_view word, const std::vector<double>& reference, const Figures& figures,
                  Tally& tally) {
  const auto found = figures.find(word);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const bool known = found != figures.end() && i < found->second.size();
    const bool equal = known && static_cast<double>(found->second[i]) == reference[i];
    ++tally.figures;
    tally.equal += static_cast<std::int64_t>(equal);
    if (!equal)
      fmt::print(out, "    {} [{}]: the reference has {:.0f}, ours is {}\n", word, i, reference[i],
                 known ? fmt::format("{}", found->second[i]) : "missing");
  }
}

/// The end of a replay in which a message takes 1 ns a byte.
std::int64_t replayed_ns(Recording recording) {
  const auto at_1_ns = [](const RecordedRank& rank, const RecordedTask& task, std::size_t /*ranks*/) {
    return Time::nanoseconds(rank.transfer_of(task)->in.value_or(Bytes{}).count());
  };
  const RecordingReplay done = replay(recording, at_1_ns);
  for (const Complaint& waiting : done.waiting) throw InputError{waiting};
  return done.end.ns();
}

Recording read_sample(const std::string& path, const std::string& member) {
  if (member.empty()) return read_recording(path);
  const std::unique_ptr<ByteSource> archive = open_file(path);
  const std::string text = read_tar_member(*archive, path, member);
  TextSource source{text};
  Recording recording;
  recording.ranks.push_back(read_recorded_rank(source, path + "/" + member));
  return recording;
}

/// An iteration of the job of a profile, all of whose ranks do what the profile says, with the recorded times of its
/// communication; and the recorded one.
struct OwnStep {
  double replayed_ns = 0, recorded_ns = 0;
  [[nodiscard]] double error() const { return replayed_ns / recorded_ns - 1; }
};

/// Nothing for a file without iterations, or that doesn't say how long they are, or in which most launches are missing.
std::optional<OwnStep> own_step(const Recording& recording) {
  const RecordedRank& rank = recording.ranks.front();
  const LaunchDelays launches = summarise(rank).launches;
  if (recording.ranks.size() > 1 || rank.steps.empty() || 2 * launches.found < launches.tasks || launches.found == 0)
    return std::nullopt;
  RecordingOptions options;
  options.recorded_communication = true;
  const auto ranks = static_cast<int>(ranks_recorded(recording));
  if (ranks > 1) options.copy = rank.rank;
  const RecordingGraph made = recording_graph(recording, ranks, options);
  if (made.length == Time{}) return std::nullopt;
  const auto end_of = [&](std::int64_t iterations) {
    Scenario alone = default_scenario();
    alone.cluster.servers = ranks;
    Workload workload;
    workload.graphs.push_back(made.graph);
    JobSpec job;
    job.name = "job";
    job.gpus = ranks;
    job.iterations = iterations;
    workload.jobs.push_back(std::move(job));
    return run_workload(alone, std::move(workload), 1, {}).jobs.front().finish;
  };
  constexpr std::int64_t kFew = 10, kMany = 60;
  const double each = static_cast<double>((end_of(kMany) - end_of(kFew)).ns()) / (kMany - kFew);
  return OwnStep{each, static_cast<double>(made.length.ns())};
}

/// Replays a profile on its own hardware; true if that takes its own time within 2%.
bool compare_own_step(std::FILE* out, const Recording& recording) {
  const std::optional<OwnStep> step = own_step(recording);
  if (!step) return true;
  constexpr double kTolerance = 0.02;
  constexpr double kMillisecond = 1e6;
  const bool holds = std::abs(step->error()) <= kTolerance;
  fmt::print(out, "  {:6} its iteration of {:.3f} ms, replayed with its own communication: {:.3f} ms, {:+.2f}%\n",
             word(holds), step->recorded_ns / kMillisecond, step->replayed_ns / kMillisecond, 100 * step->error());
  return holds;
}

/// One entry of samples.txt; true if all agrees.
bool compare_sample(std::FILE* out, const TextEntry& entry, const std::filesystem::path& folder, Tally& all) {
  std::string_view name = entry.name;
  const std::string file{take_field(name, ' ')}, member{name};
  Tally tally;
  try {
    const Recording recording = read_sample((folder / file).string(), member);
    for (const Complaint& fault : recording.faults) throw InputError{fault};
    for (const auto& [word, value] : entry.lines) {
      if (word == "replayed") {
        compare_word(out, word, numbers_in(value), {{"replayed", {replayed_ns(recording)}}}, tally);
        continue;
      }
      if (word == "ranks") {
        compare_word(out, word, numbers_in(value), {{"ranks", {static_cast<std::int64_t>(recording.ranks.size())}}},
                     tally);
        continue;
      }
      for (const RecordedRank& rank : recording.ranks)
        compare_word(out, word, numbers_in(value), figures_of(rank), tally);
    }
    const bool holds = tally.equal == tally.figures;
    fmt::print(out, "  {:6} {:3} of {:3} figures equal: {}\n", word(holds), tally.equal, tally.figures, entry.name);
    all.figures += tally.figures;
    all.equal += tally.equal;
    return compare_own_step(out, recording) && holds;
  } catch (const InputError& error) {
    fmt::print(out, "  {:6} not read: {}: {}\n", word(false), entry.name, error.what());
    return false;
  }
}

}  // namespace

int validate_recordings(std::FILE* out) {
  fmt::print(out, "recordings: public profiles and execution traces beside the counts of an independent reader\n\n");
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder = std::filesystem::path{data != nullptr ? data : "../shared/data"} / "et";
  bool holds = true;
  std::int64_t samples = 0;
  Tally all;
  for (const TextEntry& entry : read_entries(recorded_samples_text())) {
    std::string_view name = entry.name;
    const std::filesystem::path file = folder / take_field(name, ' ');
    if (!std::filesystem::exists(file)) {
      fmt::print(out, "  skipped: there is no file {} (set CONTEND_DATA)\n", file.string());
      continue;
    }
    ++samples;
    holds = compare_sample(out, entry, folder, all) && holds;
  }
  const SuiteVerdict verdict = suite_verdict(holds, samples > 0);
  fmt::print(out, "\nrecordings: {}: {} samples, {} of {} figures equal (docs/validation/recordings.md)\n",
             suite_word(verdict), samples, all.equal, all.figures);
  return verdict;
}

}  // namespace contend
