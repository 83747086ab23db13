#pragma once
// JobSpec describes a job as it is submitted; JobState lists the states of its life.

#include "sim/graph.hpp"
#include "sim/ids.hpp"
#include "sim/rank_layout.hpp"
#include "sim/service.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The state of a job. Legal steps are submitted -> queued -> running -> finished; running -> preempted -> running;
/// running -> queued before a retry; queued -> given_up if failures interrupted it too often; submitted -> failed if
/// the cluster could never run the job; queued -> failed if the scheduling policy refuses it. A job that is finished
/// has run to its end, however successful that was (JobOutcome); one that is given up or failed has not.
enum class JobState : std::uint8_t { submitted, queued, running, preempted, finished, failed, given_up };

[[nodiscard]] const char* to_string(JobState state);
/// True if the job is finished, failed or given up: nothing follows.
[[nodiscard]] bool has_ended(JobState state);
[[nodiscard]] bool is_legal_step(JobState from, JobState to);

/// How the last attempt of a job ended: the first three according to a trace, and the job holds its GPUs for its
/// duration in each of these cases; `timeout` if the run killed it at its time limit (SchedulingRules::kill_at_limit).
enum class JobOutcome : std::uint8_t { completed, failed, cancelled, timeout };
inline constexpr JobOutcome kJobOutcomes[] = {JobOutcome::completed, JobOutcome::failed, JobOutcome::cancelled,
                                              JobOutcome::timeout};

[[nodiscard]] const char* to_string(JobOutcome outcome);

/// What a job wants of the levels above the servers, by their names (sim/levels.hpp); empty: nothing.
struct LevelWish {
  std::string required, preferred;  ///< in one domain of which all its ranks have to lie, or should
  int segment = 0;                  ///< ranks in groups of so many; 0: none
  std::string segment_level;        ///< in one domain of which each group has to lie
  [[nodiscard]] bool any() const { return !required.empty() || !preferred.empty() || segment > 0; }
  auto operator<=>(const LevelWish&) const = default;
};

/// A training job: a gang of `gpus` ranks that runs `iterations` of one graph, or that takes a given `duration`.
struct JobSpec {
  std::string name;                ///< unique in the workload
  std::string model;               ///< name of the trained model, for tables only
  Time submit;                     ///< >= 0; if there is `after`, it has no effect on the engine
  int gpus = 1;                    ///< >= 1; equals the ranks of the graph
  std::int64_t iterations = 1;     ///< >= 1
  Bytes memory_per_gpu;            ///< held on every GPU of the job from start to end
  std::size_t graph = 0;           ///< index into Workload::graphs; meaningless if there is a duration
  std::optional<Time> duration{};  ///< of its last attempt, >= 0; replaces iterations and graph
  std::vector<Time> attempts{};    ///< durations of earlier, failed attempts; after each the job queues again
  /// Jobs that must have ended, one way or the other, before it is submitted, `think` later.
  std::vector<JobId> after{};
  Time think{};                         ///< >= 0
  std::optional<Time> limit{};          ///< wall-clock limit that the user asked for; backfilling may rely on it
  std::optional<Time> measured_wait{};  ///< from submission to start in the trace; has no effect on the run
  JobOutcome outcome = JobOutcome::completed;
  std::int32_t gpu_share = 0;   ///< thousandths of each GPU that it reserves, 0..1000; 0: shares as memory allows
  std::int32_t milli_cpus = 0;  ///< thousandths of a CPU for each GPU, on the server of that GPU
  Bytes host_memory{};          ///< for each GPU, on the server of that GPU
  std::int32_t priority = 0;    ///< larger is more urgent
  std::int32_t vc = -1;         ///< index into Workload::vcs; -1: none
  std::int32_t user = -1;       ///< index into Workload::users; -1: not known
  std::int32_t gpu_type = -1;   ///< index into Workload::gpu_types; -1: any
  std::int32_t place = -1;      ///< index into Workload::places; -1: where the placement policy puts it
  std::int32_t level = -1;      ///< index into Workload::levels; -1: it may lie anywhere
  std::int32_t pace = -1;       ///< index into Workload::paces; -1: as fast on every type of server
  std::int32_t sizes = -1;      ///< index into Workload::sizes; -1: it always has `gpus` GPUs
  /// Index into Workload::services; -1: none. A job with a service has a duration, too: for how long requests come.
  std::int32_t service = -1;
  std::int32_t regimes = -1;  ///< index into Workload::regimes; -1: one batch from start to end
  /// By which it should end, > submit; it moves with the submission of a job that comes after others. It has no effect
  /// on the engine.
  std::optional<Time> deadline{};
  /// Part of `iterations`: the last ones, with which it only completes those before (models/workload.hpp). It has no
  /// effect on the engine.
  std::int64_t extra_iterations = 0;
  bool tells_iterations = false;  ///< of a job with a duration: its `iterations` are known, even if it has one
  /// True if the iterations of a job with a duration are known. Where a job list doesn't tell them, it means 1.
  [[nodiscard]] bool knows_iterations() const { return tells_iterations || iterations > 1; }
  RankLayout layout{};  ///< what placement policies know of its ranks; it has no effect on the engine
};

/// Pace of JobPace at which a job takes its duration.
inline constexpr std::int64_t kNominalPace = 1'000'000'000;

/// How a job runs on the servers of one type.
struct JobPace {
  /// Time that it takes, in thousand-millionths of its duration, on as few servers as can hold it; 0: it can't run
  /// there. At most 10^15.
  std::int64_t together = kNominalPace;
  std::int64_t spread = 0;  ///< the same on more servers; 0: `together` and SchedulingRules::scatter_penalty
  std::int32_t graph = -1;  ///< of a job of iterations: index into Workload::graphs; -1: JobSpec::graph
  bool operator==(const JobPace&) const = default;
  auto operator<=>(const JobPace&) const = default;
};
inline constexpr std::int64_t kSlowestPace = 1'000'000 * kNominalPace;

/// A number of GPUs on which an elastic job can run, and how it runs there.
struct JobSize {
  int gpus = 1;
  /// One for each type of servers, or one alone without types. Of a job with a duration: the time that its work takes,
  /// in thousand-millionths of that on JobSpec::gpus GPUs. Of a job of iterations the graphs say how long it takes, and
  /// the paces are what policies reckon with.
  std::vector<JobPace> paces{};
  /// Of a job of iterations: parts of its work that an iteration does, >= 1. A job with iterations on JobSpec::gpus
  /// GPUs that do p parts each has iterations x p parts to do; the last iteration on each number of GPUs may do less.
  std::int64_t parts = 1;
  bool operator==(const JobSize&) const = default;
  auto operator<=>(const JobSize&) const = default;
};

/// A stretch of the training of a job with a duration, in which its batch, and so its pace, does not change. Its
/// duration holds with all of them, on JobSpec::gpus GPUs.
struct BatchRegime {
  Time until;              ///< work from the beginning of the job after which it ends; of the last: JobSpec::duration
  double progress = 1;     ///< share of its training that is done by then, rising to 1
  std::int32_t pace = -1;  ///< as the paces of the job, with the same types and numbers of GPUs that can run it
  std::int32_t sizes = -1;
};

/// The latest submission and the longest job. The clock holds 292 years, so this leaves room for the run itself.
inline constexpr Time kLongestJobTime = Time::seconds(100LL * 365 * 24 * 3600);

/// What an iteration trains, over all GPUs of its job.
struct TrainingWork {
  double tokens = 0;
  double model_flops = 0;     ///< with the half of causal attention that is needed, and nothing computed twice
  double hardware_flops = 0;  ///< with what is computed again
  double peak_flops = 0;      ///< of one GPU, per second; 0 if unknown
  double memory_gib = 0;      ///< that the GPU must hold which holds most, as planned
};

/// How an iteration was planned, and what computing takes of it.
struct IterationPlan {
  std::string fusion, compression;  ///< with the parameters that are not the usual ones; empty: a training profile
  Time compute;                     ///< forward and backward pass of a worker
  Time kernels;                     ///< compression kernels of a worker, mean over its phases
  double samples = 0;               ///< of all workers
  /// Iterations to a target, relative to training without compression; nothing if nobody said so.
  std::optional<double> iterations_to_target;
  std::optional<bool> settled;  ///< in an iteration study: the time recurs exactly; false: it is a mean over many
};

/// What is known of an iteration beside its graph. It has no effect on the run.
struct IterationNotes {
  std::optional<Time> bound;                    ///< no schedule of its messages makes an iteration shorter
  bool stale = false;                           ///< it trains with gradients that are a step old
  std::optional<TrainingWork> work;             ///< of transformers that are spread over GPUs
  Bytes state{};                                ///< weights and optimizer of the whole model; 0: not known
  Time passes{};                                ///< the most that one of its GPUs computes in an iteration
  std::shared_ptr<const IterationPlan> plan{};  ///< of jobs that are data-parallel; else nullptr
};

/// The iteration of a job whose groups of ranks don't lie inside servers.
struct TornGraph {
  std::vector<RankGroups> groups;        ///< partitions of all ranks of the job; empty: nothing can be torn
  std::function<IterationGraph()> make;  ///< with as many ranks as the graph that it replaces
};

/// The jobs of a run in order of their ids, with the graphs and names that they refer to by index.
struct Workload {
  std::vector<IterationGraph> graphs;
  std::vector<IterationNotes> notes;  ///< by graph; may be shorter
  std::vector<TornGraph> torn;        ///< by graph; may be shorter
  std::vector<JobSpec> jobs;
  std::vector<std::string> vcs, users, gpu_types;   ///< names, in order of appearance
  std::vector<std::vector<GpuId>> places;           ///< GPUs on which jobs must run, by rank; each place once
  std::vector<LevelWish> levels;                    ///< each once
  std::vector<std::vector<JobPace>> paces;          ///< each with one for each of ClusterSpec::types
  std::vector<std::vector<JobSize>> sizes{};        ///< each by rising number of GPUs; one of them is JobSpec::gpus
  std::vector<std::vector<BatchRegime>> regimes{};  ///< each in order of time
  std::vector<ServiceMaker> services{};             ///< of jobs that answer requests
};

/// Given the jobs after which each job comes, those that come after themselves, over others or not, and those after
/// them: they would never be submitted. In rising order.
[[nodiscard]] std::vector<std::size_t> never_submitted(const std::vector<std::vector<std::size_t>>& after);

/// The reason why the job is too long to be simulated, even if nothing delays it: its attempts together, or the
/// computing of all its iterations, take longer than kLongestJobTime. An empty text if it isn't.
[[nodiscard]] std::string why_too_long(const Workload& workload, const JobSpec& job);

}  // namespace contend
