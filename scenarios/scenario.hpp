#pragma once
// A scenario as plain, validated data with every default filled in.

#include "models/devices.hpp"
#include "models/overlap/framework_costs.hpp"
#include "models/overlap/problem.hpp"
#include "models/parallel/documents.hpp"
#include "models/parallel/recomputation.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/parallel/transformer_sizes.hpp"
#include "models/reliability/stragglers.hpp"
#include "models/workload.hpp"
#include "models/workloads/synthetic.hpp"
#include "network/host_links.hpp"
#include "network/routing/planning.hpp"
#include "network/topologies/topology_spec.hpp"
#include "policies/registry.hpp"
#include "results/expectations.hpp"
#include "scenarios/failure_setup.hpp"
#include "scenarios/keys/device_choice.hpp"
#include "scenarios/loan_setup.hpp"
#include "scenarios/sweep/sweep_spec.hpp"
#include "sim/error.hpp"
#include "sim/scheduling_rules.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The default of eta / beta: 0.235 / 0.856 ms per MiB, the fit for 10 GbE in the simulator of the authors of arXiv
/// 2002.10105.
inline constexpr double kEtaOverBeta = 0.235 / 0.856;

/// A policy and all its parameters.
struct PolicyChoice {
  std::string name;
  Parameters parameters;  ///< complete: every parameter of the policy has a value
};
[[nodiscard]] inline bool same_choice(const PolicyChoice& a, const PolicyChoice& b) {
  return a.name == b.name && a.parameters.values() == b.parameters.values();
}

enum class Fidelity : std::uint8_t { analytic, contention, flow };

/// How fast jobs with a duration are that share a GPU (models/sharing.hpp).
enum class SharingKind : std::uint8_t { none, factor, pairs, stages };

/// How the path of a flow through a topology is chosen (network/routing.hpp).
enum class Routing : std::uint8_t { shortest_path, ecmp, spraying, ethereal, planned };

/// How the cost of a collective is derived from alpha and beta (scenarios/training/network_costs.hpp).
enum class CostFormula : std::uint8_t {
  automatic,  ///< `measured` where beta is given, else `ring`
  ring,
  halving_doubling,
  measured,
  nccl,  ///< neither: NCCL's own model of a collective of that size (Network::Nccl)
};

/// The number of iterations that a compression method needs to reach a target, relative to training without
/// compression. It is an input, because convergence is not simulated.
struct IterationsToTarget {
  PolicyChoice compression;
  /// An entry of a map: it holds for the method with any parameters, whether it is studied or not.
  bool by_name = false;
  double factor = 1;
  std::string source;  ///< origin of the factor, such as a paper and its table

  [[nodiscard]] bool is_for(const PolicyChoice& choice) const {
    return by_name ? compression.name == choice.name : same_choice(compression, choice);
  }
};

/// How one worker trains: the network, what times its layers, and how its messages are summed.
struct TrainingSetup {
  std::optional<std::string> model;   ///< a name of the catalogue
  std::optional<std::string> layers;  ///< path of a file of layer times
  std::string select;                 ///< the model to use if that file has several
  DeviceChoice device;
  DataType type = DataType::fp32;
  std::optional<int> batch, sequence;
  /// Attention in one kernel, which keeps no scores in memory, or with a kernel for each step; nothing: as the
  /// catalogue has the network, and in one kernel if it is spread over GPUs.
  std::optional<bool> flash_attention;
  std::optional<Time> single_worker;  ///< iteration time of a single worker to which the layer times are scaled
  Granularity granularity = Granularity::tensor;
  MessageRoute collective = MessageRoute::usual;  ///< route of the messages, forced on all methods
  double kernel_factor = 1;                       ///< factor on the roofline time of compression kernels
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

/// The optimizer, which says what the update of the weights reads and writes and what it keeps in memory.
enum class Optimizer : std::uint8_t { none, sgd, momentum, adam };

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
  joint,      ///< each copy at once to all GPUs that share its expert out, whose sums come back and are added there
};

/// How a model is spread over the GPUs of a job; the degree of data parallelism is what is left of them.
/// What context-parallel ranks exchange (ParallelSetup::context).
enum class ContextExchange : std::uint8_t {
  ring,        ///< keys and values go around a ring, beside the attention of the block at hand
  all_gather,  ///< keys and values of the whole sequence are gathered before attention (Llama 3)
  token_ring,  ///< queries go around a ring, and back come outputs, in its other direction (TokenRing)
  all_to_all,  ///< each rank gets the whole sequence of its share of the heads (DeepSpeed-Ulysses)
};

/// Where optimizer states are kept.
enum class StatePlace : std::uint8_t { gpu, host, nvme };

/// What a job keeps outside of its GPUs (models/parallel/offload.hpp). Rates are those of one GPU's part of a server.
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
  balanced,  ///< such that the longest part, with what it receives and exchanges, is as short as possible
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

struct ParallelSetup {
  std::set<std::string, std::less<>> given;  ///< names of the members that layers gave
  int tensor = 1, pipeline = 1, context = 1;
  int expert = 1, expert_tensor = 1;
  ContextExchange context_exchange = ContextExchange::ring;
  DocumentSource documents;  ///< that fill sequences; none: each is one document
  Packing packing = Packing::in_order;
  ContextDegree context_degree = ContextDegree::whole;
  std::vector<std::string> devices;  ///< of the pipeline ranks; empty: that of the entry
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

/// How a runtime holds the tensors of a job whose model is spread over GPUs.
enum class Runtime : std::uint8_t {
  plain,  ///< each as long as it is needed
  fsdp2,  ///< as PyTorch's FSDP2 and its caching allocator (models/parallel/fsdp_memory.hpp)
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

/// The entry of `training` whose members hold for all others that don't give them; no job trains it.
inline constexpr std::string_view kDefaultEntry = "default";

/// An entry of `training`: how the jobs train that name it.
struct TrainingEntry : TrainingSetup {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< names of its own members; all others are those of the default entry
  PolicyChoice fusion, compression;
  int accumulate = 1;  ///< micro-batches of `batch` samples between two exchanges
  /// Workers that a step leaves behind if they are late (Role::late). Backup workers' gradients are then lost (Chen et
  /// al., arXiv 1604.00981, section 3); with a code each worker also computes parts of others (models/reliability/
  /// stragglers.hpp), so that nothing is lost.
  int backup = 0;
  CodedSteps coded;
  std::optional<int> global_batch;  ///< samples of all workers between two exchanges; `accumulate` follows from it
  std::optional<ParallelSetup> parallel;  ///< if the model is spread over several GPUs
  std::optional<std::string> config;      ///< path of a config.json that describes the model
  TransformerSizes transformer;           ///< sizes of the model, if neither a name nor a file gives it
  bool fused_loss = true;                 ///< softmax and loss in one kernel each way
  bool eager = false;  ///< what lies between products is kernels of single operations (MicroBatch::eager)
  std::optional<double> attention_efficiency;  ///< share of the peak that attention in one kernel reaches
  std::optional<double> efficiency;  ///< share of the device's peak that large products reach; none: RooflineOptions
  Recomputation recompute = Recomputation::none;
  Runtime runtime = Runtime::plain;                                     ///< whose way to hold tensors counts
  [[nodiscard]] int late() const { return backup + coded.stragglers; }  // one of them is 0
  Optimizer optimizer = Optimizer::none;
  Time update_per_tensor;       ///< of the host, which launches the kernels of the optimizer tensor by tensor
  Time input;                   ///< for which each iteration waits for its data
  std::optional<Bytes> memory;  ///< of each GPU; if not given, derived from the network
};

/// An iteration study (`overlap.*`): one iteration of one job that trains an entry of `training`, under several fusion
/// policies and numbers of workers, in the network of the scenario and on servers of `cluster.gpus_per_server` workers.
struct IterationStudy {
  std::optional<std::string> training;  ///< name of the entry; a scenario without it is no study
  TrainingEntry entry;                  ///< that entry, once the scenario has been read
  std::vector<int> workers{8};
  bool engine = false;                    ///< also execute on the engine, which must agree to the nanosecond
  std::vector<PolicyChoice> fusion;       ///< once the scenario has been read never empty, as the next
  std::vector<PolicyChoice> compression;  ///< each is studied with each fusion policy
  std::vector<IterationsToTarget> iterations_to_target;
  /// The place at which each given key, or member of the entry, was last set, without reasons, for errors that show
  /// only when the study runs.
  std::vector<Complaint> places;

  [[nodiscard]] bool given() const { return training.has_value(); }
};

/// A virtual cluster of `cluster.vcs`: a number of servers of its own, or a number of GPUs on servers without an owner.
struct NamedVirtualCluster {
  std::string name;
  std::optional<int> servers, gpus;  ///< one of them; with `others`, also neither: the servers without an owner
  bool borrow = false;
  bool others = false;  ///< also takes the jobs of virtual clusters that are not listed, and those without one
  bool operator==(const NamedVirtualCluster&) const = default;
};

/// Servers that are alike, of `cluster.types`.
struct NamedServerType {
  std::string name;
  int servers = 1;
  int gpus_per_server = 4;
  Bytes gpu_memory = Bytes::mebibytes(32768);
  double speed = 1;                    ///< of jobs that nothing else times: work in a second, in seconds of duration
  double price = 0;                    ///< of a GPU for an hour
  std::optional<DeviceChoice> device;  ///< times the layers of jobs of iterations in place of the device of their entry
  bool operator==(const NamedServerType&) const = default;
};

/// The value of `network.collectives` with which a library chooses.
inline constexpr std::string_view kNcclCollectives = "nccl";

/// A complete scenario.
struct Scenario {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;  ///< of the first replica
  int repeat = 1;          ///< replicas, with seeds seed, seed + 1, ...

  struct Cluster {
    int servers = 16;
    int gpus_per_server = 4;
    Bytes gpu_memory = Bytes::mebibytes(32768);
    std::optional<double> cpus;        ///< of each server; if not given, CPUs are not counted
    std::optional<Bytes> host_memory;  ///< of each server; if not given, host memory is not counted
    HostRates host;                    ///< what the GPUs of a server share of it
    std::vector<NamedVirtualCluster> vcs;
    /// If there are any, the members above follow from them: all servers, and the most GPUs and memory.
    std::vector<NamedServerType> types;
  } cluster;

  struct Network {
    Fidelity fidelity = Fidelity::contention;
    std::optional<ByteRate> nic;  ///< line rate of each interface; default of beta: 1 / nic
    Time alpha;                   ///< start-up time of a transfer
    CostFormula formula = CostFormula::automatic;
    struct Inside {
      Time alpha;
      std::optional<ByteRate> bandwidth;
      std::optional<TimePerByte> beta;  ///< or 1 / bandwidth
      [[nodiscard]] bool given() const { return bandwidth || beta; }
    } inside;           ///< between the GPUs of a server; not given: no time at all
    TimePerByte gamma;  ///< time to add up a received byte
    /// The library of CostFormula::nccl, and what a user has measured in place of its constants.
    struct Nccl {
      std::optional<std::string> machine;    ///< a name of nccl_machines()
      std::string version = "2.23.4";        ///< one that read_nccl_version() knows
      bool sharp = false;                    ///< the switches of the network add
      Time latency;                          ///< of the network's plug-in
      std::optional<Time> hop;               ///< NcclFit::hop
      std::optional<ByteRate> channel_rate;  ///< NcclFit::channel_rate
    } nccl;
    /// One factor for both, or those that are usual on the device of the jobs.
    struct InterferenceChoice {
      bool usual = false;  ///< usual_interference(), else `factor`
      double factor = 0;
    };
    struct {
      std::optional<InterferenceChoice> both;  ///< in place of the two factors
      double compute = 0, network = 0;         ///< as in sim/interference.hpp, as plain factors
    } interference;
    /// Where many servers send at once, a byte takes (servers / free)^exponent times as long, if that is more than 1.
    struct ManySenders {
      std::optional<double> free;  ///< servers that don't disturb each other; not given: any number
      double exponent = 1.6;
    } many_senders;
    /// eta / beta, in place of `eta`: on the interfaces of servers at `contention`, on their links at `flow`.
    std::optional<double> contention_penalty;
    // analytic and contention only
    std::optional<TimePerByte> beta;   ///< time per byte of a transfer without contention
    std::optional<TimePerByte> eta;    ///< further time per byte for each other transfer on the interface
    std::optional<std::string> sites;  ///< path of a table of links between sites, of which each server of the cluster
                                       ///< is one (LinkMatrix)
    /// Servers with a network of their own, beside the one that joins all (`nic`, `alpha`).
    struct Island {
      int servers = 1;            ///< >= 1
      ByteRate nic;               ///< line rate of each server's interface to it
      std::optional<Time> alpha;  ///< start-up time of a transfer in it; none: as in the other
      bool operator==(const Island&) const = default;
    };
    std::vector<Island> islands;  ///< the first has the first servers, and so on; other servers are on none
    /// Numbers of ranks in the measurements to which alpha and beta were fitted; not given if unknown.
    std::optional<std::vector<int>> fitted_workers;
    struct FittedBytes {
      Bytes least, most;
    };
    std::optional<FittedBytes> fitted_bytes;  ///< message sizes in those measurements; not given if unknown
    Time tick;                                ///< transfers end at the next multiple of this; 0 is exact
    // flow only
    TopologySpec topology;  ///< without server.nic_bandwidth, which is `nic`: see topology_spec()
    Routing routing = Routing::ecmp;
    EcmpHash ecmp_hash = EcmpHash::per_switch;  ///< of Routing::ecmp
    PlanningOptions planning;                   ///< of Routing::planned
    std::optional<std::string> routes;          ///< path of planned routes; other flows follow `routing`
    std::string collectives = "ring";           ///< algorithm of network/collectives, `auto`, or kNcclCollectives
    Time step_overhead;                         ///< of each step of a collective
    std::vector<double> efficiency;             ///< LinkEfficiency::factors of every link
    std::optional<std::string> events;          ///< path of link changes over time
    Time link_interval = Time::seconds(60);     ///< interval of link utilisation samples; 0: none
    bool delays = false;                        ///< write down by whose traffic transfers are slowed down
  } network;

  PolicyChoice scheduling, placement, communication;
  /// Jobs with a duration that share GPUs.
  struct Sharing {
    SharingKind law = SharingKind::none;
    int most = 2;
    double factor = 2;
    std::optional<std::string> pairs, profiles;  ///< paths of tables
    bool by_priority = false;
  } sharing;
  SchedulingRules rules;  ///< besides the policy; without the penalty for scattering and the costs of preemption
  FailureSetup failures;
  LoanSetup loans;
  CheckpointSetup checkpoints;

  struct Work {
    std::optional<std::string> jobs;  ///< path of a job list; without it and `like`, the mix is generated
    std::optional<std::string> like;  ///< a name of fitted_workloads()
    SyntheticWorkload synthetic;      ///< without `like`; its scaling is that of a job list, too
    ListSampling sampling;            ///< of a job list
    std::optional<Time> think_time;   ///< of a job list: the longest, close_loop()
    GeneratedWorkload generate;
    std::vector<double> scatter_penalty;        ///< factors; SchedulingRules::scatter_penalty
    std::optional<std::string> throughputs;     ///< path of a table of throughputs by model, type and GPUs
    std::optional<std::string> goodput;         ///< path of a table of goodput models by model and type
    std::optional<std::string> regimes;         ///< path of a table of rules by which batches change
    std::optional<std::string> reference_type;  ///< type on which the durations of its models hold; none: the first
    bool demands_types = true;                  ///< jobs run only on the type that their gpu_type names
  } workload;

  std::vector<TrainingEntry> training;  ///< by name
  IterationStudy overlap;
  SweepSpec sweep;  ///< for `contend sweep`; empty for a single run

  struct Engine {
    bool leap = true;
    std::optional<Time> until;
  } engine;

  /// The jobs that the figures are about, by time of submission: MeasuredWindow.
  struct Measure {
    Time from;
    std::optional<Time> until;
  } measure;

  std::vector<Expectation> expect;  ///< bounds that its figures must meet
};

}  // namespace contend
