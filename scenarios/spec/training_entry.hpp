#pragma once
// How jobs train: the entries of `training`.

#include "models/devices.hpp"
#include "models/overlap/framework_costs.hpp"
#include "models/overlap/optimizers.hpp"
#include "models/overlap/problem.hpp"
#include "models/parallel/documents.hpp"
#include "models/parallel/recomputation.hpp"
#include "models/parallel/trained_part.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/parallel/transformer_sizes.hpp"
#include "models/passes/host_costs.hpp"
#include "models/reliability/stragglers.hpp"
#include "models/scales.hpp"
#include "models/services/data_reading.hpp"
#include "scenarios/spec/device_choice.hpp"
#include "scenarios/spec/policy_choice.hpp"
#include "sim/units.hpp"
#include "traces/recording/recorded_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What kernels reach of the device's peaks: what the device's sheet says, or shares alike for all devices.
struct Efficiency {
  bool sheet = false;
  std::optional<double> share{};  ///< of large products; none: as RooflineOptions has it

  bool operator==(const Efficiency&) const = default;
};

/// How one worker trains: the network, what times its layers, and how its messages are summed.
struct TrainingSetup {
  std::optional<std::string> model;   ///< a name of the catalogue
  std::optional<std::string> layers;  ///< path of a file of layer times
  std::string select;                 ///< the model to use if that file has several
  DeviceChoice device;
  bool as_framework = false;             ///< what isn't given is as a framework has it on the device, not an ideal
  std::optional<Efficiency> efficiency;  ///< none: the sheet's as_framework
  DataType type = DataType::fp32;
  std::optional<int> batch, sequence;
  /// Attention in one kernel, which keeps no scores in memory, or with a kernel for each step; nothing: as the
  /// catalogue has the network, and in one kernel if it is spread over GPUs.
  std::optional<AttentionKernel> attention;
  [[nodiscard]] std::optional<bool> flash_attention() const {
    return attention ? std::optional{*attention != AttentionKernel::plain} : std::nullopt;
  }
  std::optional<Time> single_worker;  ///< iteration time of a single worker to which the layer times are scaled
  Granularity granularity = Granularity::tensor;
  MessageRoute collective = MessageRoute::usual;  ///< route of the messages, forced on all methods
  double kernel_factor = 1;                       ///< factor on the roofline time of compression kernels
  KernelScales scales;                            ///< no member of a file
  FrameworkCosts framework;                       ///< copies around each message
  double host_ns_per_value = 0;                   ///< OverlapProblem::host_ns_per_value
  std::optional<ByteRate> staging;                ///< OverlapProblem::staging
  bool mixed_precision = false;                   ///< weights and gradients are fp32, and computing casts them
  ExchangeKind exchange = ExchangeKind::all_reduce;
  std::optional<int> servers;  ///< parameter servers; default: as many as workers
  bool colocated = false;      ///< they run on the servers of the job
  std::vector<int> hosts;      ///< servers of the cluster on which they run at fidelity `flow`; empty: others than the
                               ///< job's, or with `colocated` its own

  bool operator==(const TrainingSetup&) const = default;
};

/// How many tokens the fullest rank of the experts is given; at most one of the optional members is set, none: as many
/// as all others.
struct ExpertLoad {
  std::optional<double> ratio;        ///< over the mean, >= 1
  std::optional<double> zipf;         ///< exponent of the experts' popularity (zipf_tokens())
  std::optional<double> capacity;     ///< every rank is given this over the mean, the rest is dropped or padding, >= 1
  std::optional<std::string> counts;  ///< path of the tokens of each expert
  bool swapped = false;  ///< experts have changed places until that evens out nothing more (swap_experts())

  bool operator==(const ExpertLoad&) const = default;
};

/// How tokens go to their experts and back.
enum class ExpertExchange : std::uint8_t {
  direct,     ///< each copy of a token to the GPU of its expert
  by_server,  ///< once to each server that has experts of the token, and from there to their GPUs
  by_gpu,     ///< once to each server, and from there once to each GPU (DeepEP)
  joint,      ///< each copy at once to all GPUs that share its expert out, whose sums come back and are added there
};

/// What context-parallel ranks exchange (ParallelSetup::context).
enum class ContextExchange : std::uint8_t {
  ring,        ///< keys and values go around a ring, beside the attention of the block at hand
  all_gather,  ///< keys and values of the whole sequence are gathered before attention (Llama 3)
  token_ring,  ///< queries go around a ring, and back come outputs, in its other direction (TokenRing)
  all_to_all,  ///< each rank gets the whole sequence of its share of the heads (DeepSpeed-Ulysses)
  /// Keys and values of all query heads are gathered beside the attention of the own block; blocks, sums in fp32 and a
  /// ring for the gradients of keys and values as PyTorch has them
  /// (torch/distributed/tensor/experimental/_attention.py)
  gathered_ring,
};

/// Where optimizer states are kept.
enum class StatePlace : std::uint8_t { gpu, host, nvme };

/// What a job keeps outside of its GPUs (models/parallel/offload.hpp). A rate is one GPU's part of the server's rate.
struct OffloadSetup {
  StatePlace optimizer = StatePlace::gpu;
  StatePlace weights = StatePlace::gpu;        ///< each GPU's share of them, with zero: 3
  bool activations = false;                    ///< in host memory
  std::optional<ByteRate> link, memory, nvme;  ///< GPU to host; host memory; NVMe

  [[nodiscard]] bool any() const { return activations || optimizer != StatePlace::gpu || weights != StatePlace::gpu; }
  bool operator==(const OffloadSetup&) const = default;
};

/// How the layers of a model are divided among its parts, where the entry doesn't give them.
enum class LayerPartition : std::uint8_t {
  even,      ///< equally many, with embedding and head as none or as a layer each (cut_layers())
  uneven,    ///< that or, where they don't divide, one more in those in the middle
  balanced,  ///< such that the longest part, with its receiving and exchanging, is as short as possible
};

/// What pipeline ranks send of activations and their gradients: the largest values with their indices.
struct ActivationCompression {
  std::optional<double> ratio;  ///< bytes of a message over those that are sent of it; none: all are sent
  bool adaptive = false;        ///< that is the ratio of the slowest message, and others have less by their time

  bool operator==(const ActivationCompression&) const = default;
};

/// Where the lengths of documents come from: a file, or a log-normal distribution.
struct DocumentSource {
  std::optional<std::string> file;
  std::optional<double> median, sigma;

  [[nodiscard]] bool given() const { return file || median || sigma; }
  bool operator==(const DocumentSource&) const = default;
};

/// How a job divides its model over GPUs. Data parallelism uses the GPUs that remain after the other degrees.
struct ParallelSetup {
  std::set<std::string, std::less<>> given;  ///< names of the members that layers gave
  int tensor = 1, pipeline = 1, context = 1;
  int expert = 1, expert_tensor = 1;
  ContextExchange context_exchange = ContextExchange::ring;
  DocumentSource documents;  ///< that fill sequences; none: each is one document
  Packing packing = Packing::in_order;
  ContextDegree context_degree = ContextDegree::whole;
  std::vector<std::string> devices;  ///< of the pipeline ranks; empty: the device of the entry
  OffloadSetup offload;
  ExpertLoad expert_load;
  ExpertExchange expert_exchange = ExpertExchange::direct;
  int expert_pieces = 1;    ///< into which a micro-batch's tokens are cut in front of the experts; 0: the fastest
  std::vector<int> layers;  ///< of each part of the model; empty: as `partition` says
  LayerPartition partition = LayerPartition::even;
  ActivationCompression activation_compression;
  int virtual_stages = 0;  ///< parts of the model on each pipeline rank; 0: as many as the schedule needs
  PolicyChoice schedule;
  std::optional<std::string> order;  ///< path of the orders of the ranks, for the schedule `file`
  bool sequence_parallel = false;
  bool tensor_overlap = false;  ///< products and the collectives of tensor parallelism are cut into pieces that overlap
  bool across_servers = false;  ///< tensor-parallel groups may lie on several servers
  int zero = 0;                 ///< 0 to 3: what data-parallel ranks share out (Sharding)
  int shards = 0;               ///< ranks that share out one copy with zero (hybrid sharding); 0: all
  int gradient_bytes = 4;       ///< of an element, as gradients are added up and exchanged
  bool post_validation = false;  ///< updates don't wait for the norm of the gradients of all pipeline ranks
  bool reshard = true;           ///< with zero 3: weights are gathered again for the backward pass
  std::int64_t bucket = 0;  ///< elements that are exchanged together; 0: 40 million, or 1 million a data-parallel rank
};

/// True if tokens cross the network once for each server.
[[nodiscard]] inline bool goes_by_server(const ParallelSetup& setup) {
  return setup.expert_exchange == ExpertExchange::by_server || setup.expert_exchange == ExpertExchange::by_gpu;
}

/// How a runtime holds the tensors of a job whose model is spread over GPUs.
enum class Runtime : std::uint8_t {
  plain,  ///< each as long as it is needed
  fsdp2,  ///< as PyTorch's FSDP2 and its caching allocator (models/parallel/fsdp_memory.hpp)
};

/// What launches the kernels of an entry.
struct HostChoice {
  std::string name = "auto";  ///< auto, none, a framework, or nothing: costs of a user
  HostCosts costs;            ///< of a framework or a user

  bool operator==(const HostChoice&) const = default;
};

/// Steps whose gradients are coded, so that nothing is lost of the workers that they leave behind.
struct CodedSteps {
  GradientCode code = GradientCode::gradient_coding;
  /// Workers that a step, or with the other codes `window` steps in a row, may leave behind; 0: there is no code.
  int stragglers = 0;
  int burst = 1, window = 2;  ///< of the codes but gradient_coding (LatePattern)
  /// Patience (sim/graph.hpp): by how much longer than the fastest worker a late one takes, as a part of that time.
  /// With gradient_coding none: a step waits for all but `stragglers`.
  std::optional<double> tolerance;

  [[nodiscard]] CodingScheme scheme(int workers) const {
    return {.code = code,
            .workers = workers,
            .stragglers = stragglers,
            .burst = burst,
            .window = window,
            .distinct = stragglers};
  }
  bool operator==(const CodedSteps&) const = default;
};

/// Parts of a model that aren't trained.
struct FrozenSetup {
  std::int64_t layers = 0;  ///< the first ones
  bool embedding = false, head = false;

  [[nodiscard]] bool any() const { return *this != FrozenSetup{}; }
  bool operator==(const FrozenSetup&) const = default;
};

/// Another device than the recorded one (device_factors()).
struct RecordedDevice {
  std::string from, to;  ///< names of find_device(); empty: there is no other one
  DataType type = DataType::bf16;

  bool operator==(const RecordedDevice&) const = default;
};

/// The recording that an entry replays (traces/recording/recording_graph.hpp).
struct RecordingSetup : RecordingOptions {
  std::optional<std::string> path;  ///< of a file or a folder of ranks
  RecordedDevice device;

  bool operator==(const RecordingSetup&) const = default;
};

/// The entry of `training` whose members hold for all others that don't give them; no job trains it.
inline constexpr std::string_view kDefaultEntry = "default";

/// An entry of `training`: how the jobs train that name it.
struct TrainingEntry : TrainingSetup {
  std::string name;
  std::set<std::string, std::less<>> given;      ///< names of its own members
  std::set<std::string, std::less<>> inherited;  ///< names of the members that it has from the default entry
  /// True if the entry has this member, as its own or from the default entry.
  [[nodiscard]] bool says(std::string_view member) const {
    return given.contains(member) || inherited.contains(member);
  }
  PolicyChoice fusion, compression;
  int accumulate = 1;  ///< micro-batches of `batch` samples between two exchanges
  /// Workers that a step leaves behind if they are late (Role::late). Backup workers' gradients are then lost (Chen et
  /// al., arXiv 1604.00981, section 3); with a code each worker also computes parts of others (models/reliability/
  /// stragglers.hpp), so that nothing is lost.
  int backup = 0;
  CodedSteps coded;
  std::optional<int> global_batch;  ///< samples of all workers between two exchanges; `accumulate` follows from it
  std::optional<ParallelSetup> parallel;                 ///< if the model is spread over several GPUs
  std::optional<RecordingSetup> recording;               ///< which jobs do in place of training a model
  std::optional<std::string> config;                     ///< path of a config.json that describes the model
  std::optional<std::string> config_as;                  ///< the architecture as which it is read; nothing: its own
  TransformerSizes transformer;                          ///< sizes of the model, if neither a name nor a file gives it
  std::optional<LossKernels> loss;                       ///< of softmax and loss; nothing: as the host has them
  PointwiseKernels pointwise = PointwiseKernels::fused;  ///< what lies between products
  std::optional<double> attention_efficiency;            ///< share of the peak that attention in one kernel reaches
  Recomputation recompute = Recomputation::none;
  Runtime runtime = Runtime::plain;                                     ///< whose way to hold tensors counts
  [[nodiscard]] int late() const { return backup + coded.stragglers; }  // one of them is 0
  const Optimizer* optimizer = nullptr;                                 ///< a row of optimizers(); nullptr: none
  StateFormat optimizer_states = StateFormat::fp32;
  std::optional<bool> master_weights;  ///< StateKeeping::master
  [[nodiscard]] StateKeeping keeping() const { return {optimizer_states, master_weights}; }
  std::optional<Adapter> adapter;  ///< that is trained in place of the model
  FrozenSetup frozen;              ///< parts of the model that aren't trained
  [[nodiscard]] TrainedPart trained(const TransformerModel& whole) const {
    return {adapter ? std::optional{adapter->of(whole)} : std::nullopt, frozen.layers, frozen.embedding, frozen.head};
  }
  bool update_in_backward = false;  ///< weights are updated, and their gradients freed, as the backward pass gives them
  Time update_per_tensor;           ///< of the host, which launches the kernels of the optimizer tensor by tensor
  Time input;                       ///< for which each iteration waits for its data
  std::optional<DataReading> data;  ///< what workers read and prepare beside their training
  Time launch;       ///< of the host, for each operation of the device (models/passes/host_launches.hpp); 0: none
  double speed = 1;  ///< of the GPUs for which graphs are made: computing takes a part of what they say
  HostChoice host;   ///< what its host takes to launch kernels
  std::optional<Bytes> memory;  ///< of each GPU; if not given, derived from the network
};

/// The entry of that name, or nullptr; nothing trains the default entry.
[[nodiscard]] inline const TrainingEntry* find_entry(const std::vector<TrainingEntry>& training,
                                                     std::string_view name) {
  if (name == kDefaultEntry) return nullptr;
  const auto found = std::ranges::find(training, name, &TrainingEntry::name);
  return found == training.end() ? nullptr : &*found;
}

}  // namespace contend
