#pragma once
// Turns job requests such as "ResNet-50 on 8 GPUs for 3000 iterations" into jobs for the engine, and draws the
// synthetic job mix of the contention study.

#include "models/training_profile.hpp"
#include "sim/job.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Some GPUs of a server: `server3:0-3`, or all of them: `server3`.
struct PlacePart {
  std::uint32_t server = 0;
  std::uint32_t first = 0;              ///< of the server's GPUs, from 0
  std::optional<std::uint32_t> last{};  ///< none: all GPUs of the server
};

/// One line of a job list: a JobSpec (sim/job.hpp) with names instead of indices.
struct JobRequest {
  std::string name;
  Time submit;        ///< of a job that comes after others: where it is in the list, for cuts and loads
  std::string model;  ///< the model that the job trains; any text, also an empty one, if there is a duration
  int gpus = 1;
  std::int64_t iterations = 1;
  std::optional<Time> duration{};
  std::vector<Time> attempts{};
  std::vector<std::string> after{};  ///< names of jobs, after the end of which, and `think`, it is submitted
  Time think{};
  std::optional<Time> limit{};
  std::optional<Time> elapsed{};  ///< the job runs when the simulation begins, and has done so much of `duration`
  std::optional<Time> measured_wait{};
  JobOutcome outcome = JobOutcome::completed;
  int gpu_share = 0;
  int milli_cpus = 0;
  Bytes host_memory{};
  Bytes gpu_memory{};  ///< on each GPU, of a job with a duration; the graph of any other says it
  int priority = 0;
  std::string vc{}, user{}, gpu_type{};  ///< empty: no virtual cluster, user not known, any GPU type
  LevelWish level{};                     ///< of the levels above the servers
  std::vector<PlacePart> place{};        ///< GPUs on which it must run, by rank; empty: any
  std::optional<Time> deadline{};        ///< by which it should end, from its submission on, > 0
  int min_gpus = 0, max_gpus = 0;        ///< numbers of GPUs that it may have, min <= gpus <= max; 0: always `gpus`
  [[nodiscard]] bool elastic() const { return max_gpus > 0; }
  bool tells_iterations = false;  ///< of a job with a duration: `iterations` is known, even if it is 1
  [[nodiscard]] bool knows_iterations() const { return tells_iterations || iterations > 1; }  ///< of such a job
  bool serves = false;  ///< its model is an entry of `serving`; it has neither iterations nor a duration of its own
  std::shared_ptr<const ServiceMaker> service{};  ///< of such a job; `duration` says then for how long requests come
  std::string batch_rule{};  ///< rule by which its batch changes while it trains; empty: it doesn't
  /// Members of a training entry and their values, which differ from the values of the entry; `model` then names both
  /// (variant_of()).
  std::vector<std::pair<std::string_view, std::string>> members{};
};

/// The model of a job that trains the entry `base` with members of its own: `resnet {fusion: ddp, batch: 32}`.
[[nodiscard]] std::string variant_of(std::string_view base,
                                     const std::vector<std::pair<std::string_view, std::string>>& members);
/// The entry of such a model, which may have no members of its own: `resnet`.
[[nodiscard]] std::string_view base_of(std::string_view model);

/// What the jobs of one model and size repeat, and the memory that they hold on each GPU.
struct TrainedJob {
  IterationGraph graph;
  Bytes memory;
  IterationNotes notes{};
  RankLayout layout{};
  TornGraph torn{};
  std::int64_t extra_iterations = 0;  ///< after those that the job asks for, with which it completes what they began
};
/// Gives jobs their graphs by the name of the model and the number of GPUs. Throws InputError for an unknown model.
using GraphMaker = std::function<TrainedJob(const std::string& model, int gpus)>;
/// The graphs of the training profiles, data_parallel_graph().
[[nodiscard]] TrainedJob profile_job(const std::string& model, int gpus);

/// The time for which an iteration of a model computes on each GPU, without communication. Throws InputError for an
/// unknown model.
using IterationTime = std::function<Time(const std::string& model)>;
/// The iteration time of the training profiles.
[[nodiscard]] Time profile_iteration(const std::string& model);

/// The GPU time that the job takes by itself: the time of all its attempts, or of computing its iterations. A job that
/// takes a share of each GPU counts with that share.
[[nodiscard]] double gpu_seconds_of(const JobRequest& job, const IterationTime& iteration = profile_iteration);

/// A random job mix. It fixes the number of jobs of each size; model, iterations and submit time are uniform in their
/// ranges. The defaults are the 160-job mix of arXiv 2002.10105 (authors' simulator, set `microsoft-160`, scale 1000).
struct GeneratedWorkload {
  std::vector<std::string> models{"vgg16", "resnet50", "inception-v3", "lstm"};
  std::vector<std::pair<int, int>> sizes{{1, 80}, {2, 14}, {4, 26}, {8, 30}, {16, 8}, {32, 2}};  ///< GPUs, jobs
  std::int64_t min_iterations = 1000;
  std::int64_t max_iterations = 6000;
  Time arrival_window = Time::seconds(1200);  ///< submit times are whole milliseconds in [0, window)
};

/// Draws the mix with the streams of `seed`, ordered by submit time. The same seed gives the same jobs on every
/// machine.
std::vector<JobRequest> generate_jobs(const GeneratedWorkload& mix, std::uint64_t seed);

/// The GPUs of these parts, in their order, on servers of so many GPUs.
[[nodiscard]] std::vector<GpuId> gpus_of_place(const std::vector<PlacePart>& place, int gpus_per_server);

/// The index of the wish in Workload::levels, to which it adds it if it isn't there.
[[nodiscard]] std::int32_t level_index(Workload& workload, const LevelWish& wish);

/// Turns requests into jobs. Jobs of one model and size share a graph; jobs with a duration need none. Jobs with a
/// place need the GPUs of a server. Of jobs that run when the simulation begins (JobRequest::elapsed) only the rest is
/// left, of the limit too; other jobs are submitted a nanosecond later at least, when these have started. Throws what
/// `maker` throws, and InputError for a job after one that isn't there.
Workload build_workload(const std::vector<JobRequest>& requests, const GraphMaker& maker = profile_job,
                        int gpus_per_server = 0);

}  // namespace contend
