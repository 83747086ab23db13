#include "scenarios/training/training_graphs.hpp"

#include "models/overlap/iteration.hpp"
#include "models/training_profile.hpp"
#include "policies/fusion/search.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/entry_passes.hpp"
#include "scenarios/training/fastest_fusion.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/planned_iteration.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "traces/recording/recording_graph.hpp"
#include "traces/recording/recording_reader.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

PeerRule peers_of(const CompressionMethod* method) {
  return method != nullptr ? method->peers() : PeerRule{};
}

TrainedJob spread_job(const TrainingSystem& system, const TrainingEntry& entry, int gpus,
                      std::vector<PassRecord>& records) {
  ParallelJob job = plan_parallel(system, entry, gpus);
  check_memory(system, entry, gpus, job.memory);
  TrainedJob made{.graph = spread_graph(entry, job.iteration, records), .memory = {}};
  if (entry.coded.stragglers > 0) made.extra_iterations = coding_delay(entry.coded.scheme(job.iteration.data));
  made.layout = {.together = entry.parallel->tensor,
                 .replica = entry.parallel->tensor * entry.parallel->context,
                 .stage = job.iteration.ranks_of_stage(),
                 .may_part = entry.parallel->across_servers};
  made.memory = entry.memory.value_or(job.memory[fullest(job.memory)].total());
  made.notes.work = job.work;
  made.notes.state = whole_state(entry, transformer_of(entry));
  if (job.whole.empty()) return made;
  made.torn.groups = std::move(job.whole);
  made.torn.make = [entry, iteration = std::make_shared<const TrainingIteration>(std::move(job.iteration))] {
    TrainingIteration torn = *iteration;
    torn.in_network.fill(true);
    std::vector<PassRecord> unused;
    return spread_graph(entry, torn, unused);
  };
  return made;
}

void check_fits(const TrainingSystem& system, Bytes needed) {
  const Bytes there = system.cluster.gpu_memory;
  if (needed > there)
    throw InputError{fmt::format("needs {} of GPU memory, a GPU of the cluster has {}", gib(needed), gib(there))};
}

/// Factors on the times of kernels on another device: products go by the peaks of the sheets, which their names tell,
/// and others by the bandwidths of the memories.
std::map<std::string, double> device_factors(const RecordedDevice& device) {
  if (device.to.empty()) return {};
  constexpr std::string_view kProducts[] = {"gemm",  "gemv", "conv",  "cutlass",   "xmma",  "nvjet", "cublas",
                                            "cijk_", "fmha", "flash", "attention", "wgrad", "dgrad"};
  const Device &from = *find_device(device.from), &to = *find_device(device.to);
  std::map<std::string, double> factors{
      {"", from.memory_bandwidth.bytes_per_second() / to.memory_bandwidth.bytes_per_second()}};
  for (const std::string_view part : kProducts)
    factors[std::string{part}] = from.peak(device.type) / to.peak(device.type);
  return factors;
}

RecordingOptions replay_options(const TrainingEntry& entry) {
  RecordingOptions options = *entry.recording;
  options.kernels.merge(device_factors(entry.recording->device));
  return options;
}

TrainedJob replayed_job(const TrainingSystem& system, const TrainingEntry& entry, const Recording& recording, int gpus,
                        std::vector<PassRecord>& records) {
  TrainedJob job{.graph = recording_graph(recording, gpus, replay_options(entry)).graph,
                 .memory = entry.memory.value_or(Bytes{})};
  check_fits(system, job.memory);
  FusedIteration iteration{std::move(job.graph), {}};
  check_subject(iteration);
  records.push_back({"recording", {}, sizes_of(iteration)});
  job.graph = std::move(iteration.graph);
  return job;
}

/// Throws InputError if a GPU of the cluster has less.
Bytes memory_of(const TrainingSystem& system, const TrainingEntry& entry) {
  const Bytes there = system.cluster.gpu_memory;
  const TrainingProfile* const published = published_profile(entry);
  if (entry.memory || published != nullptr) {
    const Bytes needed = entry.memory ? *entry.memory : published->memory;
    check_fits(system, needed);
    return needed;
  }
  const TrainingMemory memory = entry_memory(entry);
  if (memory.total() <= there) return memory.total();
  throw InputError{
      {{.reason = fmt::format("needs {} of GPU memory (weights {}, gradients {}, optimizer {}, activations "
                              "{}), a GPU of the cluster has {}",
                              gib(memory.total()), gib(memory.weights), gib(memory.gradients), gib(memory.optimizer),
                              gib(memory.activations), gib(there)),
        .hint = "a smaller batch or a narrower dtype would help; `memory` replaces this estimate"}}};
}

}  // namespace

void rethrow_about(const TrainingEntry& entry, const InputError& error) {
  std::vector<Complaint> complaints = error.complaints();
  for (Complaint& each : complaints) {
    const std::string key = "training." + entry.name;
    if (each.key == "sizes") each.key = "model";  // as readers of layer times call the part that the model supplies
    if (!each.key.starts_with(key)) each.key = each.key.empty() ? key : key + "." + each.key;
  }
  throw InputError{std::move(complaints)};
}

std::vector<std::string> trainable_names(const std::vector<TrainingEntry>& training) {
  std::vector<std::string> names;
  for (const TrainingEntry& each : training) {
    if (each.name != kDefaultEntry) names.push_back(each.name);
  }
  for (const TrainingProfile& each : training_profiles()) names.emplace_back(each.name);
  return names;
}

JobExchange exchange_of_model(const NetworkSetup& network, const std::vector<TrainingEntry>& training,
                              const std::string& model) {
  const TrainingEntry* const base = find_entry(training, base_of(model));
  if (base == nullptr) return {};
  const TrainingEntry entry = variant_entry(*base, model);
  JobExchange exchange = exchange_of(entry);
  if (network.sites && !entry.parallel)
    exchange.peers = peers_of(make_policy(compression_policies(), entry.compression, {}).get());
  return exchange;
}

TimedModel entry_model(const TrainingEntry& entry, int workers, std::vector<PassRecord>& records) {
  TimedModel model = trained_model(entry);
  records.push_back({"layers", {}, sizes_of(model)});
  apply_passes(model, layer_passes(entry, model, workers), records);
  return model;
}

TimedModel entry_model(const TrainingEntry& entry, int workers) {
  std::vector<PassRecord> unused;
  return entry_model(entry, workers, unused);
}

bool same_model(const TrainingEntry& a, const TrainingEntry& b) {
  const auto own = [](const TrainingEntry& entry) {
    return std::tie(entry.accumulate, entry.global_batch, entry.coded, entry.optimizer, entry.optimizer_states,
                    entry.master_weights, entry.update_in_backward, entry.update_per_tensor, entry.input);
  };
  return static_cast<const TrainingSetup&>(a) == b && own(a) == own(b);
}

namespace {

/// Bytes of a number of the activations.
int activation_width(const TrainingEntry& entry, const TimedModel& model) {
  return entry.mixed_precision ? activation_bytes(entry.type) : model.gradient_element_bytes;
}

/// What the entry keeps of its model: all but the activations.
TrainingMemory kept_of(const TrainingEntry& entry, const TimedModel& model) {
  const std::int64_t parameters = model.gradient_elements();
  const int width = model.gradient_element_bytes;
  TrainingMemory memory;
  const int narrow = activation_width(entry, model);
  memory.weights = Bytes{parameters * (entry.mixed_precision ? width + narrow : width)};
  memory.gradients = Bytes{parameters * width};
  if (entry.update_in_backward) {
    std::int64_t largest = 0;
    for (std::size_t layer = 0; layer < model.layers.size(); ++layer)
      largest = std::max(largest, model.gradient(layer).count());
    memory.gradients = Bytes{largest};
  }
  if (entry.optimizer != nullptr) memory.optimizer = kept_by(entry, model);
  return memory;
}

}  // namespace

TrainingMemory entry_memory(const TrainingEntry& entry) {
  const TimedModel model = trained_model(entry);
  TrainingMemory memory = kept_of(entry, model);
  if (entry.model) {
    const LayerTable network = *network_of(entry);
    std::int64_t outputs = 0;
    for (const Layer& layer : network.layers) outputs += layer.output_elements;
    memory.activations = Bytes{outputs * model.batch * activation_width(entry, model)};
  }
  return memory;
}

TrainingGraphs::Known* TrainingGraphs::known(const std::string& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) return &found->second;
  const TrainingEntry* const base = find_entry(system_.training, base_of(name));
  if (base == nullptr) return nullptr;
  return &known_.emplace(name, Known{variant_entry(*base, name), {}, {}}).first->second;
}

const std::pair<TimedModel, std::vector<PassRecord>>& TrainingGraphs::model_of(Known& known, int workers) {
  auto& made = known.models[known.entry.global_batch ? workers : 1];
  if (made.first.layers.empty()) made.first = entry_model(known.entry, workers, made.second);
  return made;
}

const Recording& TrainingGraphs::recording_of(Known& known) {
  if (!known.recording)
    known.recording = std::make_shared<const Recording>(read_recording(*known.entry.recording->path));
  return *known.recording;
}

PlannedTraining TrainingGraphs::plan_job(Known& known, int gpus) const {
  const TrainingEntry& entry = known.entry;
  const auto& [model, passes] = model_of(known, gpus);
  const AlphaBeta network = network_cost(system_.network);
  const PolicyContext context{system_.seed, network.beta, network.eta};
  auto method = make_policy(compression_policies(), entry.compression, context);
  const JobShape shape = first_shape(system_.cluster, system_.network, gpus);
  JobExchange exchange = exchange_of(entry);
  exchange.peers = peers_of(method.get());
  ExchangeCost cost = CostTable{system_.network, system_.seed}.of(shape, exchange);
  cost.interference = interference_of(system_.network, system_.overlap, system_.training, path_of(shape.servers));
  OverlapProblem problem = overlap_problem(model, gpus, cost, entry.granularity);
  use_method(entry, method.get(), problem);
  const auto policy = make_policy(fusion_policies(), entry.fusion, context);
  PlannedIteration planned =
      plan_messages(problem, *policy, entry.fusion, entry.compression, model.batch, gpus - entry.backup);
  PlannedTraining made{std::move(method), std::move(problem), std::move(planned), passes};
  made.passes.push_back({"fuse", sizes_of(model), sizes_of(made.planned.fused)});
  return made;
}

TrainedJob TrainingGraphs::trained_job(const std::string& name, int gpus, std::vector<PassRecord>& records) {
  Known* const trained = known(name);
  if (trained == nullptr) {
    TrainedJob job = profile_job(name, gpus);
    records.push_back({"profile", {}, sizes_of(FusedIteration{job.graph, {}})});
    return job;
  }
  const TrainingEntry& entry = trained->entry;
  try {
    if (entry.recording) return replayed_job(system_, entry, recording_of(*trained), gpus, records);
    if (entry.parallel) {
      TrainingEntry used = entry;
      if (entry.says("fusion") && entry.fusion.name == kSearchName && entry.parallel->zero < 3)
        used.fusion = fastest_fusion(system_, entry, gpus, [&](const TrainingEntry& tried) {
          std::vector<PassRecord> unused;
          return spread_job(system_, tried, gpus, unused);
        });
      return spread_job(system_, used, gpus, records);
    }
    if (!trained->memory) trained->memory = memory_of(system_, entry);
    PlannedTraining planned = plan_job(*trained, gpus);
    records = std::move(planned.passes);
    FusedIteration& iteration = planned.planned.fused;
    const bool joins = !planned.method && gpus > 1;
    apply_passes(iteration, worker_passes(entry, gpus, planned.problem.layers.size(), joins), records);
    TrainedJob job{
        .graph = std::move(iteration.graph), .memory = *trained->memory, .notes = std::move(planned.planned.notes)};
    if (entry.coded.stragglers > 0) job.extra_iterations = coding_delay(entry.coded.scheme(gpus));
    const TrainingMemory parts = kept_of(entry, model_of(*trained, gpus).first);
    job.notes.state = parts.weights + parts.optimizer;
    return job;
  } catch (const InputError& error) {
    rethrow_about(entry, error);
  }
}

TrainedJob TrainingGraphs::operator()(const std::string& name, int gpus) {
  std::vector<PassRecord> unused;
  return trained_job(name, gpus, unused);
}

std::vector<PassRecord> TrainingGraphs::passes(const std::string& name, int gpus) {
  std::vector<PassRecord> records;
  static_cast<void>(trained_job(name, gpus, records));
  return records;
}

std::optional<PlannedTraining> TrainingGraphs::planned(const std::string& name, int gpus) {
  Known* const trained = known(name);
  if (trained == nullptr || trained->entry.parallel || trained->entry.recording) return std::nullopt;
  try {
    return plan_job(*trained, gpus);
  } catch (const InputError& error) {
    rethrow_about(trained->entry, error);
  }
}

Time TrainingGraphs::recorded_iteration(Known& known) {
  try {
    const Recording& recording = recording_of(known);
    const int ranks = known.entry.recording->ranks.value_or(static_cast<int>(ranks_recorded(recording)));
    const IterationGraph graph = recording_graph(recording, ranks, replay_options(known.entry)).graph;
    Time longest;
    for (std::size_t role = 0; role < graph.roles().size(); ++role)
      longest = std::max(longest, graph.compute_per_rank(RoleId{role}));
    return longest;
  } catch (const InputError& error) {
    rethrow_about(known.entry, error);
  }
}

Time TrainingGraphs::iteration(const std::string& name) {
  Known* const trained = known(name);
  if (trained == nullptr) return profile_iteration(name);
  if (trained->entry.parallel) return parallel_iteration_time(system_, trained->entry);
  if (trained->entry.recording) return recorded_iteration(*trained);
  const TimedModel& model = model_of(*trained, 1).first;
  return model.forward() + model.backward();
}

}  // namespace contend
