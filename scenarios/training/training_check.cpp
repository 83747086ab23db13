#include "scenarios/training/training_check.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/devices.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/keys/data_codec.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/member_rules.hpp"
#include "scenarios/training/setup_check.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "text/words.hpp"
#include "traces/job_list.hpp"
#include "traces/layers/layer_table_csv.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Complaints about an entry whose model is spread over several GPUs, beside the complaints of the rules.
template <class Complain>
void check_parallel(const TrainingEntry& entry, bool compresses, const Complain& complain) {
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
  if (compresses) {
    const auto method = make_policy(compression_policies(), entry.compression, {});
    if (const auto refusal = method->refusal(entry.collective))
      complain("collective", fmt::format("{} can't be summed that way: {}", entry.compression.name, refusal->reason),
               "auto");
  }
  const ParallelSetup& setup = *entry.parallel;
  if (setup.gradient_bytes != 2 && setup.gradient_bytes != 4)
    complain("parallel.gradient_bytes", fmt::format("{} bytes are no type of gradients", setup.gradient_bytes),
             "2 or 4");
  if (const std::size_t devices = setup.devices.size(); devices > 0 && static_cast<int>(devices) != setup.pipeline)
    complain("parallel.devices", fmt::format("has {} devices: there are {} pipeline ranks", devices, setup.pipeline),
             "");
}

/// Complaints about an entry that replays a recording: beside it an entry says nothing but the memory of a GPU.
template <class Complain>
void check_recording(const TrainingEntry& entry, const Complain& complain) {
  if (!entry.recording->path) complain("recording.path", "is missing", "a profile, a trace, or a folder of ranks");
  if (!entry.recording->spread.empty() && !entry.recording->ranks)
    complain("recording.spread", "groups grow only with ranks",
             "give ranks, a multiple of the recorded ones, or leave it out");
  const RecordedDevice& device = entry.recording->device;
  for (const std::string& name : {device.from, device.to})
    if (!name.empty() && !find_device(name)->supports(device.type))
      complain("recording.device", fmt::format("{} has no products in {}", name, to_string(device.type)),
               "the dtype in which the recording computes");
  for (const std::string& member : entry.given)
    if (member != "recording" && member != "memory")
      complain(member, "a recording has operations with their times, and no model that could be trained otherwise",
               "leave it out, or leave out recording");
}

/// Complaints about an optimizer: states in a format that it can't have, products in a format that the device lacks.
template <class Complain>
void check_optimizer(const TrainingEntry& entry, const Complain& complain) {
  if (entry.optimizer == nullptr) return;
  const Optimizer& optimizer = *entry.optimizer;
  if (optimizer.has_states() && !optimizer.formats[static_cast<std::size_t>(entry.optimizer_states)])
    complain(
        "optimizer_states",
        optimizer.factors > 0
            ? fmt::format("{}: {} takes inverse roots of its factors, whose small eigenvalues are lost with fewer bits",
                          to_string(entry.optimizer_states), optimizer.name)
            : fmt::format("{}: {} keeps a number for each row and column, and squares of gradients in fp32",
                          to_string(entry.optimizer_states), optimizer.name),
        "fp32, or optimizer: adam");
  if (entry.device.calibrated || !optimizer.has_products()) return;
  const DataType type = optimizer.steps > 0 ? DataType::bf16 : DataType::fp32;
  const std::size_t ranks = entry.parallel ? std::max<std::size_t>(entry.parallel->devices.size(), 1) : 1;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Device& device = sheet_of(entry_of_rank(entry, rank).device);
    if (!device.supports(type))
      return complain(
          "optimizer",
          fmt::format("{}: its products are in {}, which {} lacks", optimizer.name, to_string(type), device.name),
          "adam, or another device");
  }
}

/// Complaints about workers that steps leave behind.
template <class Complain>
void check_late(const TrainingEntry& entry, std::span<const PolicyChoice> methods, const Complain& complain) {
  if (entry.late() == 0) return;
  const char* const member = entry.backup > 0 ? "backup_workers" : "gradient_coding";
  if (const std::string reason = why_no_scheme(entry.coded.scheme(entry.coded.stragglers + 1)); !reason.empty())
    complain("gradient_coding", reason, "such as {code: sr-sgc, stragglers: 4, burst: 2, window: 3}");
  const auto method = std::ranges::find_if(methods, [](const PolicyChoice& each) { return each.name != "none"; });
  if (method != methods.end())
    complain(member,
             fmt::format("steps that leave workers behind exchange whole gradients, not those of {}", method->name),
             "compression: none");
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

/// The complaints about the setup of an entry, but for those about members of which there is a complaint already.
void add_setup_complaints(const TrainingEntry& entry, const std::string& key, bool compresses,
                          std::vector<Complaint>& complaints) {
  TrainingSetup setup = entry;
  if (entry.parallel) {  // a rule says that a file has no place there, whether the entry gives it or inherits it
    setup.layers.reset();
    setup.select.clear();
  }
  std::vector<Complaint> found = setup_complaints(setup, key, compresses);
  // The times of single layers limit the length of sequences, the times of parallel entries don't.
  const CatalogueEntry* const network = entry.model ? find_model(*entry.model) : nullptr;
  const bool any_length = entry.parallel && network != nullptr && network->max_sequence_length == 0;
  std::erase_if(found, [&](const Complaint& each) {
    return (any_length && each.key == key + ".sequence" && *entry.sequence > kLongestSequence) ||
           std::ranges::find(complaints, each.key, &Complaint::key) != complaints.end();
  });
  complaints.insert(complaints.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

/// Whether layers have something to cast.
template <class Complain>
void check_casts(const TrainingEntry& entry, const TrainingProfile* published, const Complain& complain) {
  if (entry.type != DataType::fp16 && entry.type != DataType::bf16)
    complain("mixed_precision", "there is nothing to cast: layers compute in the format of the weights",
             "dtype: fp16, or bf16");
  else if (published != nullptr || entry.layers)
    complain("mixed_precision", "measured times of layers have their casts in them already",
             "false, or a model of the catalogue and a device");
}

/// Methods whose messages can't go the way of the entry. `listed` is the key that lists them, if it isn't the entry's.
void check_routes(const TrainingEntry& entry, std::span<const PolicyChoice> methods, std::string_view listed,
                  std::vector<Complaint>& complaints) {
  const std::string key = "training." + entry.name;
  const bool served = entry.exchange == ExchangeKind::parameter_server;
  const MessageRoute route = served ? MessageRoute::server : entry.collective;
  for (const PolicyChoice& choice : methods) {
    const auto method = make_policy(compression_policies(), choice, {});
    const auto refusal = method ? method->refusal(route) : std::nullopt;
    if (!refusal) continue;
    std::string reason = fmt::format("{} doesn't go {}: {}", choice.name, by(route), refusal->reason);
    if (!served)
      complaints.push_back({.key = key + ".collective", .reason = std::move(reason), .hint = refusal->hint});
    else if (listed.empty())
      complaints.push_back({.key = key + ".compression", .reason = std::move(reason), .hint = "exchange: all-reduce"});
    else
      complaints.push_back(
          {.key = std::string{listed}, .reason = std::move(reason), .hint = key + ".exchange: all-reduce"});
  }
}

void check_entry(const TrainingEntry& entry, std::span<const PolicyChoice> methods, std::string_view listed,
                 std::vector<Complaint>& complaints) {
  const std::string key = "training." + entry.name;
  const auto complain = [&](std::string_view member, std::string reason, std::string hint) {
    complaints.push_back({.key = fmt::format("{}{}{}", key, member.empty() ? "" : ".", member),
                          .reason = std::move(reason),
                          .hint = std::move(hint)});
  };
  const bool compresses =
      std::ranges::any_of(methods, [](const PolicyChoice& choice) { return choice.name != "none"; });
  if (entry.recording) return check_recording(entry, complain);
  const RuledEntry ruled{entry, compresses};
  for (const MemberRule& each : member_rules())
    if (each.is_broken(ruled)) complain(each.member, each.text(), std::string{each.hint});
  check_optimizer(entry, complain);
  if (entry.data)
    for (Complaint& each : data_complaints(*entry.data, key + ".data")) complaints.push_back(std::move(each));
  if (entry.parallel) {
    check_parallel(entry, compresses, complain);
    check_late(entry, methods, complain);
    if (!entry.device.calibrated) return add_setup_complaints(entry, key, compresses, complaints);
    for (CalibratedDevice::Fault& fault : entry.device.calibrated->faults(entry.type))
      complain(fault.about == CalibratedDevice::Fault::memory ? "device" : "dtype", std::move(fault.text),
               "`contend calibrate --only memory,gemm -o FILE --resume` measures copies and products");
    return;
  }
  const TrainingProfile* const published = published_profile(entry);
  if (entry.mixed_precision) check_casts(entry, published, complain);
  if (published != nullptr && entry.optimizer != nullptr)
    complain("optimizer", fmt::format("is in the measured times of {} already", *entry.model), "none");
  if (published == nullptr && entry.model && find_model(*entry.model) == nullptr && !names_layer_table(*entry.model))
    return complain("model", fmt::format("{} is trained on several GPUs", quote(*entry.model)),
                    "give parallel, such as {tensor: 8, zero: 1}");
  if (!entry.model && !entry.layers)
    return complain("", "says no network",
                    "give a model of the catalogue (`contend list networks`) or a file of layers");
  check_late(entry, methods, complain);
  add_setup_complaints(entry, key, compresses, complaints);
  if (compresses) check_routes(entry, methods, listed, complaints);
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

std::vector<std::string> inherited_notes(std::span<const TrainingEntry> training) {
  std::vector<std::string> notes;
  for (const TrainingEntry& entry : training) {
    if (entry.recording) continue;
    const bool compresses = entry.compression.name != "none";
    const RuledEntry own{.entry = entry, .compresses = compresses},
        whole{.entry = entry, .compresses = compresses, .with_inherited = true};
    for (const MemberRule& each : member_rules()) {
      if (entry.name == kDefaultEntry || each.is_broken(own) || !each.is_broken(whole)) continue;
      const bool is_refused = each.kind == RuleKind::refused;
      notes.push_back(fmt::format("training.{}: {}{} {}{}", entry.name, each.member,
                                  entry.inherited.contains(each.member) ? " of the default entry" : "",
                                  is_refused ? "is left out: " : "", each.text()));
    }
  }
  return notes;
}

std::vector<Complaint> training_complaints(const TrainingSystem& system, const WorkloadSetup& workload) {
  std::vector<Complaint> complaints;
  for (const TrainingEntry& each : system.training) {
    if (each.name == kDefaultEntry || each.name == system.overlap.training) continue;  // study_complaints() has that
    for (Complaint& found : entry_complaints(each)) complaints.push_back(std::move(found));
  }
  if (system.overlap.given()) return complaints;
  std::vector<std::string> names = trainable_names(system.training);
  for (const ServingEntry& each : system.serving) names.push_back(each.name);
  for (const RlEntry& each : system.rl) names.push_back(each.name);
  for (const FederatedEntry& each : system.federated) names.push_back(each.name);
  const bool generates = !workload.jobs && !workload.like;
  for (std::size_t i = 0; i < workload.generate.models.size(); ++i) {
    const std::string& model = workload.generate.models[i];
    if (!generates || std::ranges::find(names, model) != names.end()) continue;
    complaints.push_back(
        {.key = fmt::format("workload.generate.models[{}]", i),
         .reason =
             fmt::format("{} is no entry of training, serving, rl or federated, and no training profile", quote(model)),
         .hint = unknown_model_hint(model, names)});
  }
  const NetworkSetup& network = system.network;
  for (const TrainingEntry& each : system.training) {
    if (each.name == kDefaultEntry || (each.parallel && each.exchange == ExchangeKind::parameter_server)) continue;
    for (Complaint& found : server_complaints(system.cluster, system.network, each, "training." + each.name))
      complaints.push_back(std::move(found));
  }
  for (Complaint& each : formula_complaints(system.network, system.cluster.gpus_per_server))
    complaints.push_back(std::move(each));
  if (network.traits().has_topology) return complaints;
  for (Complaint& each : interference_complaints(system.cluster, system.network, system.overlap, system.training))
    complaints.push_back(std::move(each));
  return complaints;
}

std::vector<std::string> ideals_of(const TrainingEntry& entry) {
  if (entry.as_framework || entry.recording) return {};
  TrainingEntry later = entry;
  later.as_framework = true;
  later.type = framework_type(entry);
  std::vector<std::string> ideals;
  if (host_of(entry) == nullptr && host_of(later) != nullptr) ideals.emplace_back("host: none");
  if (!entry.efficiency && !has_measured_layers(entry)) {
    const Device& device = sheet_of(entry.device);
    const bool is_known = device.product_share(later.type) != nullptr || !device.kernels.source.empty();
    if (is_known) ideals.emplace_back("efficiency: flat");
  }
  if (later.type != entry.type) ideals.push_back(fmt::format("dtype: {}", to_string(entry.type)));
  return ideals;
}

}  // namespace contend
