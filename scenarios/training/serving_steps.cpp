#include "scenarios/training/serving_steps.hpp"

#include "models/layer_work.hpp"
#include "models/serving/model_steps.hpp"
#include "scenarios/run/job_paces.hpp"
#include "scenarios/training/group_times.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// More tokens than engines compute in a step; the law goes on in a line (StepLaw). So it does beyond the positions of
/// a model, whose steps have tokens of several sequences.
constexpr std::int64_t kTableEnd = std::int64_t{1} << 17;

/// The network between the GPUs of a replica, whose stages follow each other from the first GPU of the cluster on.
class ReplicaNetwork {
 public:
  ReplicaNetwork(const TrainingSystem& system, const ServedDegrees& degrees)
      : degrees_{degrees}, times_{system.cluster, system.network, system.seed, degrees.tensor} {}

  [[nodiscard]] ServingMessages messages() {
    const RankGroups tensor{.stride = 1, .size = degrees_.tensor},
        experts{.stride = degrees_.tensor / degrees_.expert, .size = degrees_.expert};
    return {.all_reduce = [this, tensor](Bytes bytes) { return times_(CollectiveKind::all_reduce, tensor, bytes); },
            .all_to_all = [this, experts](Bytes bytes) { return times_(CollectiveKind::all_to_all, experts, bytes); },
            .send = [this](Bytes bytes) { return mean_send(bytes); }};
  }

 private:
  /// Some stages follow on another server.
  [[nodiscard]] Time mean_send(Bytes bytes) const {
    Time sum;
    for (int stage = 1; stage < degrees_.pipeline; ++stage)
      sum += times_.between((stage - 1) * degrees_.tensor, stage * degrees_.tensor, bytes);
    return Time::nanoseconds(sum.ns() / (degrees_.pipeline - 1));
  }

  ServedDegrees degrees_;
  GroupTimes times_;
};

/// The system on one type of GPU.
TrainingSystem system_on(const TrainingSystem& system, std::string_view gpu_type) {
  const auto& types = system.cluster.types;
  const auto type = types.size() == 1 ? types.begin() : std::ranges::find(types, gpu_type, &NamedServerType::name);
  return type == types.end() ? system : system_of_type(system, *type);
}

TransformerModel model_of(const ServingEntry& entry) {
  TrainingEntry source;
  source.name = entry.name;
  source.model = entry.served.name;
  source.config = entry.served.config;
  TransformerModel model = transformer_of(source);
  model.mtp_layers = 0;  // without speculation servers don't load the modules of multi-token prediction
  return model;
}

[[noreturn]] void refuse(std::string member, std::string reason, std::string hint) {
  throw InputError{{.key = std::move(member), .reason = std::move(reason), .hint = std::move(hint)}};
}

/// The member of an entry that a complaint of the model or its layout is about.
std::string member_of(const std::string& key) {
  if (key.empty()) return "parallel";
  if (key == "type") return "dtype";
  if (key == "expert_tensor") return "parallel.expert";
  return key == "tensor" || key == "pipeline" || key == "expert" ? "parallel." + key : key;
}

ReplicaSpec timed_replica(const TrainingSystem& system, const ServingEntry& entry) {
  const ServedModel& served = entry.served;
  if (!served.device)
    refuse("device", "the device is missing, whose sheet times the operators", "such as device: H100-SXM");
  const Device& device = sheet_of(*served.device);
  const ServedDegrees& degrees = served.parallel;
  const std::int64_t gpus = std::int64_t{system.cluster.servers} * system.cluster.gpus_per_server;
  if (entry.gpus() > gpus)
    refuse("parallel", fmt::format("a replica has {} GPUs, and there are {}", entry.gpus(), gpus), "lower degrees");
  const TransformerModel model = model_of(entry);
  const std::int64_t end = model.positions > 0 ? std::min(kTableEnd, model.positions) : kTableEnd;
  ReplicaSpec replica = entry.replica;
  const ServingLayout layout{
      .tensor = degrees.tensor,
      .pipeline = degrees.pipeline,
      .expert = degrees.expert,
      .type = served.type,
      .cache_bytes = served.cache_type ? bytes_of(*served.cache_type) : activation_bytes(served.type),
      .tokens = std::min(replica.tokens, end),
      .answers = std::min({replica.batch, replica.tokens, end}),
      .context = served.context,
      .host = served.host.step,
      .host_sequence = served.host.sequence};
  RooflineOptions options;
  options.sheet = system.network.as_framework;
  ReplicaNetwork network{system, degrees};
  const ModelSteps steps = model_steps(model, device, layout, options, network.messages());
  replica.law = steps.law;
  const Bytes memory = std::min(system.cluster.gpu_memory, device.memory);
  const std::int64_t most = cache_blocks(steps, memory, served.memory_share, Bytes{}, replica.block);
  if (most < (replica.blocks == ReplicaSpec::kUnlimited ? 1 : replica.blocks))
    refuse(
        replica.blocks == ReplicaSpec::kUnlimited ? (served.name ? "model" : "config") : "blocks",
        fmt::format("the weights take {:.4g} GiB of each GPU, and {:g} of its {:.4g} GiB leaves room for {} blocks of "
                    "the KV cache",
                    steps.weights.to_gibibytes(), served.memory_share, memory.to_gibibytes(), most),
        "more GPUs for each replica (parallel), or more memory (cluster.gpu_memory, memory_share)");
  replica.blocks = std::min(replica.blocks, most);
  return replica;
}

}  // namespace

ReplicaSpec replica_of(const TrainingSystem& system, const ServingEntry& entry, std::string_view gpu_type) {
  if (!entry.served.given()) return entry.replica;
  try {
    const TrainingSystem on = system_on(system, gpu_type);
    return timed_replica(on, *std::ranges::find(on.serving, entry.name, &ServingEntry::name));
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) {
      if (each.file.empty()) each.key = fmt::format("serving.{}.{}", entry.name, member_of(each.key));
    });
  }
}

Time weights_time(const TrainingSystem& system, const RlEntry& entry, int rollouts, int gpus) {
  const double bytes = entry.weights_bytes.to_double();
  if (bytes == 0) return entry.weights;
  if (entry.weights_rate)
    return entry.weights + Time::ceil_nanoseconds(bytes / entry.weights_rate->bytes_per_second() * 1e9);
  const auto rollout = std::ranges::find(system.serving, entry.rollout, &ServingEntry::name);
  const int ranks = std::min(rollout->gpus(), gpus - rollouts);
  const std::int64_t of_cluster = std::int64_t{system.cluster.servers} * system.cluster.gpus_per_server;
  if (gpus > of_cluster) return entry.weights;  // such a job is refused where its GPUs are counted
  const GroupTimes times{system.cluster, system.network, system.seed, ranks};
  return entry.weights + times.between(rollouts, 0, Bytes{static_cast<std::int64_t>(std::ceil(bytes / ranks))});
}

}  // namespace contend
