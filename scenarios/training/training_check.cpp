#include "scenarios/training/training_check.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/setup_check.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "text/words.hpp"
#include "traces/job_list.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// What only one way to train has: layer by layer on each GPU, or spread over several.
constexpr std::string_view kOnlyLayers[] = {"layers",          "select",      "single_worker",     "granularity",
                                            "fusion",          "compression", "collective",        "kernel_factor",
                                            "input",           "exchange",    "servers",           "colocated",
                                            "hosts",           "framework",   "host_ns_per_value", "backup_workers",
                                            "gradient_coding", "staging",     "mixed_precision",   "update_per_tensor"};
constexpr std::string_view kOnlyParallel[] = {"global_batch", "transformer",          "config",     "recompute", "loss",
                                              "pointwise",    "attention_efficiency", "efficiency", "runtime"};

template <class Complain>
void check_offload(const TrainingEntry& entry, const Complain& complain) {
  const OffloadSetup& offload = entry.parallel->offload;
  const bool states = offload.optimizer != StatePlace::gpu;
  const bool stored = offload.optimizer == StatePlace::nvme || offload.weights == StatePlace::nvme;
  if (states && entry.optimizer == Optimizer::none)
    complain("parallel.offload.optimizer", "has no effect without an optimizer", "optimizer: adam");
  if (offload.weights != StatePlace::gpu && entry.parallel->zero < 3)
    complain("parallel.offload.weights", "needs GPUs that gather weights before each use", "zero: 3");
  if (offload.weights != StatePlace::gpu && !states)
    complain("parallel.offload.weights", "needs the optimizer outside of the GPUs, too, which updates them",
             "optimizer: host, or nvme");
  const auto check = [&](const char* rate, bool is_given, bool is_needed) {
    const std::string key = fmt::format("parallel.offload.{}", rate);
    if (is_needed && !is_given) complain(key, "is missing", "give the bandwidth for each GPU, such as 25GB/s");
    if (is_given && !is_needed) complain(key, "has no effect: nothing takes this way", "");
  };
  check("link", offload.link.has_value(), offload.any());
  check("memory", offload.memory.has_value(), states);
  check("nvme", offload.nvme.has_value(), stored);
}

template <class Complain>
void check_documents(const TrainingEntry& entry, const Complain& complain) {
  const ParallelSetup& setup = *entry.parallel;
  const DocumentSource& documents = setup.documents;
  if (!documents.given()) {
    for (const char* member : {"packing", "context_degree"})
      if (setup.given.contains(member))
        complain(fmt::format("parallel.{}", member), "has no effect without documents",
                 "documents: {median: 1000, sigma: 1.2}");
    return;
  }
  if (documents.file ? documents.median || documents.sigma : !documents.median || !documents.sigma)
    complain("parallel.documents", "says the lengths by a file, or by median and sigma",
             "{file: FILE.csv} or {median: 1000, sigma: 1.2}");
  if (!entry.flash_attention.value_or(true))
    complain("parallel.documents", "needs attention in one kernel, which leaves out what lies between documents",
             "attention: flash");
  if (entry.device.calibrated)
    complain("parallel.documents", "has no effect on the times of a profile, which are those of whole sequences",
             "a device of `contend list devices`");
  if (setup.context_degree == ContextDegree::whole) return;
  if (setup.context == 1) complain("parallel.context_degree", "has no effect without context", "context: 2 or more");
  if (setup.context_exchange != ContextExchange::ring)
    complain("parallel.context_degree", "needs keys and values that go around the GPUs of a document",
             "context_exchange: ring");
  if (setup.packing == Packing::padded)
    complain("parallel.context_degree", "has no effect with packing: padded", "packing: in-order, or balanced");
}

/// Complaints about an entry whose model is spread over several GPUs.
template <class Complain>
void check_parallel(const TrainingEntry& entry, const Complain& complain) {
  std::vector<std::string_view> given;
  if (entry.model) given.emplace_back("model");
  if (entry.config) given.emplace_back("config");
  if (entry.transformer.given()) given.emplace_back("transformer");
  if (given.size() != 1)
    return complain(
        "",
        given.empty() ? "says no network" : fmt::format("says its network more than once: {}", fmt::join(given, ", ")),
        "give a transformer as model (`contend list transformers`), a config.json as config, or its sizes "
        "as transformer");
  if (entry.model && find_transformer(*entry.model) == nullptr)
    return complain("model", fmt::format("{} is no transformer that can be spread over GPUs", quote(*entry.model)),
                    did_you_mean(*entry.model, transformer_names()));
  const bool compresses = entry.given.contains("compression") && entry.compression.name != "none";
  for (const std::string_view member : kOnlyLayers) {
    if (!entry.given.contains(member)) continue;
    const bool exchanges = member == "fusion" || member == "compression";
    const bool of_compression = member == "collective" || member == "kernel_factor";
    if (exchanges && entry.parallel->zero > 0)
      complain(member,
               fmt::format("with parallel.zero: {} gradients are reduce-scattered, in buckets of parallel.bucket",
                           entry.parallel->zero),
               "parallel.zero: 0");
    else if (of_compression && !compresses)
      complain(member, "has no effect without a compression", "");
    else if (!exchanges && !of_compression)
      complain(member, "has no effect with parallel", "");
  }
  if (entry.given.contains("fusion") && entry.parallel->given.contains("bucket"))
    complain("parallel.bucket", "has no effect: the fusion policy says what is sent together", "leave one of them out");
  if (compresses) {
    const auto method = make_policy(compression_policies(), entry.compression, {});
    if (const auto refusal = method->refusal(entry.collective))
      complain("collective", fmt::format("{} can't be summed that way: {}", entry.compression.name, refusal->reason),
               "auto");
  }
  for (const std::string_view member : {"efficiency", "attention_efficiency"}) {
    if (entry.device.calibrated && entry.given.contains(member))
      complain(member, "has no effect: the profile has measured times", "");
  }
  if (entry.parallel->order.has_value() != (entry.parallel->schedule.name == "file"))
    complain(
        "parallel.order",
        entry.parallel->order ? "has no effect with another schedule than file" : "is missing: the schedule is file",
        entry.parallel->order ? "" : "give the path of the orders");
  if (entry.parallel->tensor_overlap && !(entry.parallel->sequence_parallel && entry.parallel->tensor > 1))
    complain("parallel.tensor_overlap", "has no effect without sequence parallelism", "sequence_parallel: true");
  if (entry.parallel->schedule.name == "interleaved" && entry.parallel->virtual_stages == 0)
    complain("parallel.virtual", "is missing: interleaved passes of one part on each rank are those of 1f1b",
             "2 or more parts");
  if (entry.parallel->gradient_bytes != 2 && entry.parallel->gradient_bytes != 4)
    complain("parallel.gradient_bytes",
             fmt::format("{} bytes are no type of gradients", entry.parallel->gradient_bytes), "2 or 4");
  if (entry.runtime == Runtime::fsdp2 && entry.parallel->zero == 0)
    complain("runtime", "fsdp2: FSDP shares out the states of the optimizer",
             "parallel.zero: 3, or 1 or 2 where weights stay");
  const OffloadSetup& offload = entry.parallel->offload;
  if (entry.runtime == Runtime::fsdp2 && (offload.optimizer != StatePlace::gpu || offload.activations))
    complain("runtime", "fsdp2: what it has reserved is only known of states and activations on the GPU",
             "plain, or no offload");
  if (entry.parallel->shards > 0 && entry.parallel->zero == 0)
    complain("parallel.shards", "has no effect without zero", "zero: 1, 2 or 3");
  if (entry.parallel->given.contains("context_exchange") && entry.parallel->context == 1)
    complain("parallel.context_exchange", "has no effect without context", "context: 2 or more");
  if (const std::size_t devices = entry.parallel->devices.size(); devices > 0) {
    if (static_cast<int>(devices) != entry.parallel->pipeline)
      complain("parallel.devices",
               fmt::format("has {} devices: there are {} pipeline ranks", devices, entry.parallel->pipeline), "");
    if (entry.device.calibrated) complain("parallel.devices", "has no effect: a profile times all ranks", "");
  }
  if (entry.parallel->partition != LayerPartition::even && !entry.parallel->layers.empty())
    complain("parallel.partition", "has no effect: layers says what each part has", "leave one of them out");
  if (const ActivationCompression& sent = entry.parallel->activation_compression; sent.ratio || sent.adaptive) {
    if (!sent.ratio) complain("parallel.activation_compression.ratio", "is missing", "such as 20");
    if (entry.parallel->pipeline == 1)
      complain("parallel.activation_compression", "has no effect without messages between pipeline ranks",
               "pipeline: 2 or more");
  }
  check_offload(entry, complain);
  check_documents(entry, complain);
  const ExpertLoad& load = entry.parallel->expert_load;
  if (load.ratio.has_value() + load.zipf.has_value() + load.capacity.has_value() + load.counts.has_value() > 1)
    complain("parallel.expert_load", "says more than once how uneven it is",
             "give one of ratio, zipf, capacity, counts");
  if (load.swapped && !load.zipf && !load.counts)
    complain("parallel.expert_load.swapped", "has no effect: nothing says how popular each expert is",
             "give zipf or counts");
  if (entry.parallel->expert_exchange == ExpertExchange::joint && entry.parallel->expert_tensor == 1)
    complain("parallel.expert_exchange", "joint: has no effect where each expert lies on one GPU",
             "expert_tensor: 2 or more, or direct");
  if (!entry.flash_attention.value_or(true) && entry.given.contains("attention_efficiency"))
    complain("attention_efficiency", "has no effect with attention: plain, whose products are like any other", "");
  if (entry.global_batch && entry.given.contains("accumulate"))
    complain("accumulate", "follows from global_batch", "give one of the two");
}

/// Complaints about workers that steps leave behind.
template <class Complain>
void check_late(const TrainingEntry& entry, std::span<const PolicyChoice> methods, const Complain& complain) {
  if (entry.late() == 0) return;
  const char* const member = entry.backup > 0 ? "backup_workers" : "gradient_coding";
  if (entry.backup > 0 && entry.coded.stragglers > 0)
    complain("gradient_coding", "does the same as backup_workers, without a loss of gradients", "give one of the two");
  if (const std::string reason = why_no_scheme(entry.coded.scheme(entry.coded.stragglers + 1)); !reason.empty())
    complain("gradient_coding", reason, "such as {code: sr-sgc, stragglers: 4, burst: 2, window: 3}");
  const auto method = std::ranges::find_if(methods, [](const PolicyChoice& each) { return each.name != "none"; });
  if (method != methods.end())
    complain(member,
             fmt::format("steps that leave workers behind exchange whole gradients, not those of {}", method->name),
             "compression: none");
  if (entry.host_ns_per_value > 0)
    complain(member, "the work of the host on a message waits for all workers", "host_ns_per_value: 0");
  if (entry.staging) complain(member, "the copies of a message to the host wait for all workers", "staging: none");
}

std::string_view by(MessageRoute route) {
  switch (route) {
    case MessageRoute::all_reduce:
      return "by all-reduce";
    case MessageRoute::all_gather:
      return "by all-gather";
    case MessageRoute::scatter_gather:
      return "by scatter-gather";
    case MessageRoute::server:
      return "by parameter servers";
    case MessageRoute::usual:
      break;
  }
  return "at all";
}

void check_entry(const TrainingEntry& entry, std::span<const PolicyChoice> methods, std::string_view listed,
                 std::vector<Complaint>& complaints) {
  const std::string key = "training." + entry.name;
  const auto complain = [&](std::string_view member, std::string reason, std::string hint) {
    complaints.push_back({.key = fmt::format("{}{}{}", key, member.empty() ? "" : ".", member),
                          .reason = std::move(reason),
                          .hint = std::move(hint)});
  };
  const auto check_setup = [&](bool compresses) {
    std::vector<Complaint> found = setup_complaints(entry, key, compresses);
    // The times of single layers limit the length of sequences, those of parallel entries don't.
    const CatalogueEntry* const network = entry.model ? find_model(*entry.model) : nullptr;
    const bool any_length = entry.parallel && network != nullptr && network->max_sequence_length == 0;
    std::erase_if(found, [&](const Complaint& each) {
      return (any_length && each.key == key + ".sequence" && *entry.sequence > kLongestSequence) ||
             std::ranges::find(complaints, each.key, &Complaint::key) != complaints.end();
    });
    complaints.insert(complaints.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  };
  if (entry.parallel) {
    check_parallel(entry, complain);
    if (!entry.device.calibrated) check_setup(entry.given.contains("compression") && entry.compression.name != "none");
    return;
  }
  for (const std::string_view member : kOnlyParallel) {
    if (entry.given.contains(member)) complain(member, "has no effect without parallel", "");
  }
  if (entry.type == DataType::fp8)
    complain("dtype", "only matrix products of a transformer with `parallel` can be in fp8",
             "fp16 or bf16, or give parallel, such as {zero: 1}");
  const TrainingProfile* const published = published_profile(entry);
  if (entry.mixed_precision && entry.type != DataType::fp16 && entry.type != DataType::bf16)
    complain("mixed_precision", "there is nothing to cast: layers compute in the format of the weights",
             "dtype: fp16, or bf16");
  else if (entry.mixed_precision && (published != nullptr || entry.layers))
    complain("mixed_precision", "measured times of layers have their casts in them already",
             "false, or a model of the catalogue and a device");
  if (published != nullptr && entry.optimizer != Optimizer::none)
    complain("optimizer", fmt::format("is in the measured times of {} already", *entry.model), "none");
  if (entry.update_per_tensor > Time{} && entry.optimizer == Optimizer::none)
    complain("update_per_tensor", "has no effect without an optimizer", "optimizer: adam");
  if (published == nullptr && entry.model && find_model(*entry.model) == nullptr)
    return complain("model", fmt::format("{} is trained on several GPUs", quote(*entry.model)),
                    "give parallel, such as {tensor: 8, zero: 1}");
  if (!entry.model && !entry.layers)
    return complain("", "says no network",
                    "give a model of the catalogue (`contend list networks`) or a file of layers");
  const bool served = entry.exchange == ExchangeKind::parameter_server;
  if (served && entry.collective != MessageRoute::usual)
    complain("collective", "parameter servers push and pull", "auto");
  check_late(entry, methods, complain);
  const bool compresses =
      std::ranges::any_of(methods, [](const PolicyChoice& choice) { return choice.name != "none"; });
  check_setup(compresses);
  if (!compresses) {
    const TrainingEntry usual;
    if (entry.kernel_factor != usual.kernel_factor)
      complain("kernel_factor", "has no effect without a compression", "");
    if (entry.collective != usual.collective) complain("collective", "has no effect without a compression", "");
    return;
  }
  const MessageRoute route = served ? MessageRoute::server : entry.collective;
  for (const PolicyChoice& choice : methods) {
    const auto method = make_policy(compression_policies(), choice, {});
    const auto refusal = method ? method->refusal(route) : std::nullopt;
    if (!refusal) continue;
    std::string reason = fmt::format("{} doesn't go {}: {}", choice.name, by(route), refusal->reason);
    if (!served)
      complain("collective", std::move(reason), refusal->hint);
    else if (listed.empty())
      complain("compression", std::move(reason), "exchange: all-reduce");
    else
      complaints.push_back(
          {.key = std::string{listed}, .reason = std::move(reason), .hint = key + ".exchange: all-reduce"});
  }
}

}  // namespace

std::vector<Complaint> server_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                         const TrainingSetup& setup, const std::string& key) {
  std::vector<Complaint> complaints;
  const auto complain = [&](const char* member, std::string reason, std::string hint) {
    complaints.push_back({.key = key + "." + member, .reason = std::move(reason), .hint = std::move(hint)});
  };
  if (setup.exchange != ExchangeKind::parameter_server) {
    const std::string needed = "exchange: parameter-server";
    if (setup.servers) complain("servers", "there are no parameter servers", needed);
    if (setup.colocated) complain("colocated", "there are no parameter servers", needed);
    if (!setup.hosts.empty()) complain("hosts", "there are no parameter servers", needed);
    return complaints;
  }
  const bool flow = network.traits().has_topology;
  if (network.sites)
    complain("exchange", "parameter servers have no place between sites, whose links join workers", "all-reduce");
  else if (!flow && cost_formula(network).basis != CostBasis::link)
    complain("exchange",
             fmt::format("with network.formula: {} the costs are those of collectives, which parameter servers have "
                         "none of",
                         cost_formula(network).name),
             "network.formula: ring");
  if (setup.hosts.empty()) return complaints;
  if (!flow) complain("hosts", "has no effect: only a topology has places for parameter servers", "fidelity: flow");
  if (setup.colocated) complain("hosts", "says where they run, and so does colocated", "give one of the two");
  for (const int host : setup.hosts) {
    if (host >= cluster.servers)
      complain("hosts", fmt::format("there is no server {} of {}", host, cluster.servers), "they are numbered from 0");
  }
  return complaints;
}

std::vector<Complaint> entry_complaints(const TrainingEntry& entry) {
  return entry_complaints(entry, {&entry.compression, 1}, {});
}

std::vector<Complaint> entry_complaints(const TrainingEntry& entry, std::span<const PolicyChoice> methods,
                                        std::string_view listed) {
  std::vector<Complaint> complaints;
  check_entry(entry, methods, listed, complaints);
  return complaints;
}

std::vector<Complaint> training_complaints(const Scenario& scenario) {
  std::vector<Complaint> complaints;
  for (const TrainingEntry& each : scenario.training) {
    if (each.name == kDefaultEntry || each.name == scenario.overlap.training) continue;  // study_complaints() has that
    for (Complaint& found : entry_complaints(each)) complaints.push_back(std::move(found));
  }
  if (scenario.overlap.given()) return complaints;
  const std::vector<std::string> names = trainable_names(scenario.training);
  const bool generates = !scenario.workload.jobs && !scenario.workload.like;
  for (const std::string& model : scenario.workload.generate.models) {
    if (!generates || std::ranges::find(names, model) != names.end()) continue;
    complaints.push_back(
        {.key = "workload.generate.models",
         .reason = fmt::format("{} is neither an entry of training nor a training profile", quote(model)),
         .hint = unknown_model_hint(model, names)});
  }
  const NetworkSetup& network = scenario.network;
  for (const TrainingEntry& each : scenario.training) {
    if (each.name == kDefaultEntry || each.parallel) continue;
    for (Complaint& found : server_complaints(scenario.cluster, scenario.network, each, "training." + each.name))
      complaints.push_back(std::move(found));
  }
  if (network.sites) {
    for (Complaint& each :
         interference_complaints(scenario.cluster, scenario.network, scenario.overlap, scenario.training))
      complaints.push_back(std::move(each));
    return complaints;
  }
  for (Complaint& each : formula_complaints(scenario.network, scenario.cluster.gpus_per_server))
    complaints.push_back(std::move(each));
  if (network.traits().has_topology) return complaints;
  for (Complaint& each :
       interference_complaints(scenario.cluster, scenario.network, scenario.overlap, scenario.training))
    complaints.push_back(std::move(each));
  return complaints;
}

}  // namespace contend
