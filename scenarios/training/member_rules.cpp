#include "scenarios/training/member_rules.hpp"

#include "models/layer_work.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/training/host_work.hpp"

#include <fmt/format.h>

namespace contend {
namespace {

PipelineTraits schedule_of(const RuledEntry& e) {
  return make_policy(pipeline_schedules(), e.entry.parallel->schedule, {})->traits();
}
bool offloads_update(const RuledEntry& e) {
  return e.spreads() && e.entry.parallel->offload.optimizer != StatePlace::gpu;
}
bool offloads_weights(const RuledEntry& e) {
  return e.spreads() && e.entry.parallel->offload.weights != StatePlace::gpu;
}
bool has_documents(const RuledEntry& e) {
  return e.spreads() && e.entry.parallel->documents.given();
}
bool cuts_documents(const RuledEntry& e) {
  return has_documents(e) && e.entry.parallel->context_degree != ContextDegree::whole;
}
bool has_measured_times(const RuledEntry& e) {
  return e.entry.device.calibrated || (!e.spreads() && e.entry.layers);
}
bool gives_host(const RuledEntry& e) {
  return e.gives("host") && e.entry.host.name != "auto" && e.entry.host.name != "none";
}
bool stores(const RuledEntry& e) {
  return e.spreads() && (e.entry.parallel->offload.optimizer == StatePlace::nvme ||
                         e.entry.parallel->offload.weights == StatePlace::nvme);
}
bool given_and_needed(const std::optional<ByteRate>& rate, bool is_needed, bool is_missing) {
  return is_missing ? is_needed && !rate : !is_needed && rate.has_value();
}
const ParallelSetup& spread(const RuledEntry& e) {
  return *e.entry.parallel;
}

constexpr std::string_view kBandwidth = "give the bandwidth for each GPU, such as 25GB/s";
constexpr std::string_view kNoEffect = "has no effect";
constexpr std::string_view kUnused = "nothing takes this way";

constexpr MemberRule kRules[] = {
    // The source of the graph: transformers that are spread over GPUs, or layers that each GPU has whole.
    {"layers", RuleKind::refused, "a file has the times of whole layers, not the times of the parts that GPUs have",
     "a device of `contend list devices`, or a profile",
     [](const RuledEntry& e) { return e.spreads() && e.gives("layers"); }},
    {"select", RuleKind::without, "a file", "give layers",
     [](const RuledEntry& e) { return e.spreads() && e.gives("select") && !e.entry.layers; }},
    {"config_as", RuleKind::without, "a file", "give config",
     [](const RuledEntry& e) { return e.gives("config_as") && !e.entry.config; }},
    {"single_worker", RuleKind::refused,
     "GPUs compute parts of a model, so no worker's time says how long its layers take", "efficiency",
     [](const RuledEntry& e) { return e.spreads() && e.gives("single_worker"); }},
    {"granularity", RuleKind::refused,
     "the backward pass of a transformer's layer is timed as a whole, which gives all gradients of it", "layer",
     [](const RuledEntry& e) {
       return e.spreads() && e.gives("granularity") && e.entry.granularity == Granularity::tensor;
     }},
    {"mixed_precision", RuleKind::refused,
     "the update casts the weights, which the optimizer of a transformer also keeps in 4 bytes; layers cast nothing",
     "parallel.gradient_bytes, for messages of 4 bytes",
     [](const RuledEntry& e) { return e.spreads() && e.entry.mixed_precision; }},
    {"exchange", RuleKind::refused,
     "ranks with the same part of a model add up its gradients in a group of their own, which has no parameter servers",
     "all-reduce",
     [](const RuledEntry& e) { return e.spreads() && e.entry.exchange == ExchangeKind::parameter_server; }},
    {"transformer", RuleKind::refused, "the layers of a transformer are divided over GPUs as parallel says",
     "parallel: {zero: 0}, where each GPU has the whole model",
     [](const RuledEntry& e) { return !e.spreads() && e.gives("transformer"); }},
    {"config", RuleKind::refused, "the layers of a transformer are divided over GPUs as parallel says",
     "parallel: {zero: 0}, where each GPU has the whole model",
     [](const RuledEntry& e) { return !e.spreads() && e.gives("config"); }},
    {"recompute", RuleKind::refused,
     "the layers of a table are single operations, not blocks whose results can be computed again",
     "a transformer with parallel", [](const RuledEntry& e) { return !e.spreads() && e.gives("recompute"); }},
    {"loss", RuleKind::refused, "a table of layers says itself which kernels the loss is",
     "a transformer with parallel", [](const RuledEntry& e) { return !e.spreads() && e.gives("loss"); }},
    {"pointwise", RuleKind::refused, "a table of layers says itself which kernels lie between products",
     "a transformer with parallel", [](const RuledEntry& e) { return !e.spreads() && e.gives("pointwise"); }},
    {"attention_efficiency", RuleKind::refused, "attention in a table of layers is timed as any other layer",
     "efficiency, or a transformer with parallel",
     [](const RuledEntry& e) { return !e.spreads() && e.gives("attention_efficiency"); }},
    {"runtime", RuleKind::refused, "what FSDP2 has reserved is known of the blocks of a transformer",
     "a transformer with parallel", [](const RuledEntry& e) { return !e.spreads() && e.gives("runtime"); }},
    {"dtype", RuleKind::refused, "only matrix products of a transformer with `parallel` can be in fp8 or fp4",
     "fp16 or bf16, or give parallel, such as {zero: 1}",
     [](const RuledEntry& e) { return !e.spreads() && is_narrow(e.entry.type); }},
    {"efficiency", RuleKind::idle, "the profile has measured times", "",
     [](const RuledEntry& e) { return e.gives("efficiency") && e.entry.device.calibrated != nullptr; }},
    {"efficiency", RuleKind::idle, "the file has the times", "",
     [](const RuledEntry& e) {
       return e.gives("efficiency") && has_measured_times(e) && e.entry.device.calibrated == nullptr;
     }},
    {"attention_efficiency", RuleKind::idle, "the profile has measured times", "",
     [](const RuledEntry& e) { return e.spreads() && e.gives("attention_efficiency") && has_measured_times(e); }},
    {"attention_efficiency", RuleKind::beside, "attention: plain, whose products are like any other", "",
     [](const RuledEntry& e) {
       return e.spreads() && e.gives("attention_efficiency") && !e.entry.flash_attention().value_or(true);
     }},
    // The exchange of gradients.
    {"collective", RuleKind::without, "a compression", "",
     [](const RuledEntry& e) {
       return !e.compresses && (e.entry.collective != MessageRoute::usual || (e.spreads() && e.gives("collective")));
     }},
    {"kernel_factor", RuleKind::without, "a compression", "",
     [](const RuledEntry& e) {
       return !e.compresses && (e.entry.kernel_factor != 1 || (e.spreads() && e.gives("kernel_factor")));
     }},
    {"collective", RuleKind::refused, "parameter servers push and pull", "auto",
     [](const RuledEntry& e) {
       return !e.spreads() && e.entry.exchange == ExchangeKind::parameter_server &&
              e.entry.collective != MessageRoute::usual;
     }},
    {"fusion", RuleKind::refused,
     "with zero: 3 the gradients of a layer are reduced as soon as it has computed, each layer by itself",
     "parallel.zero: 2 or less",
     [](const RuledEntry& e) { return e.gives("fusion") && e.spreads() && spread(e).zero == 3; }},
    {"compression", RuleKind::refused,
     "with zero: 2 or 3 a rank has room for its share of the gradients, and a compressed exchange gives it the sums of "
     "all",
     "parallel.zero: 0 or 1",
     [](const RuledEntry& e) { return e.spreads() && e.compresses && e.gives("compression") && spread(e).zero > 1; }},
    {"parallel.bucket", RuleKind::idle, "the fusion policy says what is sent together", "leave one of them out",
     [](const RuledEntry& e) { return e.gives("fusion") && e.gives_parallel("bucket"); }},
    {"update_per_tensor", RuleKind::without, "an optimizer", "optimizer: adam",
     [](const RuledEntry& e) { return e.entry.update_per_tensor > Time{} && e.entry.optimizer == nullptr; }},
    {"adapter", RuleKind::refused, "stands beside the matrices of a transformer's layers",
     "a transformer with parallel", [](const RuledEntry& e) { return !e.spreads() && e.entry.adapter.has_value(); }},
    {"frozen", RuleKind::refused, "says which units of a transformer are trained", "a transformer with parallel",
     [](const RuledEntry& e) { return !e.spreads() && e.entry.frozen.any(); }},
    {"frozen", RuleKind::idle, "beside an adapter nothing of the model is trained", "leave one of them out",
     [](const RuledEntry& e) { return e.entry.adapter && e.entry.frozen.any(); }},
    {"adapter", RuleKind::refused,
     "qlora: its matrices of 4 bits are turned into numbers of 2 bytes, which are multiplied", "dtype: bf16, or fp16",
     [](const RuledEntry& e) {
       return e.spreads() && e.entry.adapter && e.entry.adapter->kind == AdapterKind::qlora &&
              (is_narrow(e.entry.type) || activation_bytes(e.entry.type) != 2);
     }},
    {"runtime", RuleKind::refused, "fsdp2: the memory that it reserves is known of models all of which is trained",
     "plain",
     [](const RuledEntry& e) {
       return e.spreads() && e.entry.runtime == Runtime::fsdp2 && (e.entry.adapter || e.entry.frozen.any());
     }},
    {"data", RuleKind::refused, "which ranks of a job with parallel read samples, and how many, depends on its degrees",
     "input, the time for which an iteration waits for its data",
     [](const RuledEntry& e) { return e.spreads() && e.entry.data.has_value(); }},
    {"optimizer_states", RuleKind::without, "an optimizer", "optimizer: adam",
     [](const RuledEntry& e) { return e.gives("optimizer_states") && e.entry.optimizer == nullptr; }},
    {"optimizer_states", RuleKind::idle, "sgd keeps no states", "optimizer: momentum, or adam",
     [](const RuledEntry& e) {
       return e.gives("optimizer_states") && e.entry.optimizer != nullptr && !e.entry.optimizer->has_states();
     }},
    {"master_weights", RuleKind::without, "an optimizer", "optimizer: adam",
     [](const RuledEntry& e) {
       return e.gives("master_weights") && e.entry.master_weights && e.entry.optimizer == nullptr;
     }},
    {"master_weights", RuleKind::refused, "mixed_precision keeps the weights in 4 bytes, and casts them for products",
     "mixed_precision: false",
     [](const RuledEntry& e) { return !e.spreads() && e.entry.master_weights && e.entry.mixed_precision; }},
    {"master_weights", RuleKind::idle, "the weights themselves have 4 bytes", "dtype: bf16",
     [](const RuledEntry& e) {
       return e.entry.master_weights && !e.entry.mixed_precision && activation_bytes(e.entry.type) >= 4;
     }},
    {"update", RuleKind::without, "an optimizer", "optimizer: adam",
     [](const RuledEntry& e) { return e.entry.update_in_backward && e.entry.optimizer == nullptr; }},
    {"update", RuleKind::refused, "in-backward: an optimizer on the host updates all weights when it has all gradients",
     "behind", [](const RuledEntry& e) { return e.entry.update_in_backward && offloads_update(e); }},
    {"update", RuleKind::refused,
     "in-backward: FSDP2's allocator keeps the blocks of all gradients, whose stream is another one", "runtime: plain",
     [](const RuledEntry& e) {
       return e.entry.update_in_backward && e.spreads() && e.entry.runtime == Runtime::fsdp2;
     }},
    {"update", RuleKind::refused,
     "in-backward: gradients of several micro-batches are added up, so that all of them are there", "accumulate: 1",
     [](const RuledEntry& e) {
       return e.entry.update_in_backward && !e.spreads() && (e.entry.accumulate > 1 || e.entry.global_batch);
     }},
    {"parallel.offload.optimizer", RuleKind::refused,
     "the optimizer multiplies matrices, and no rate of the host's products is known", "gpu, or optimizer: adam",
     [](const RuledEntry& e) {
       return offloads_update(e) && e.entry.optimizer != nullptr && e.entry.optimizer->has_products();
     }},
    {"optimizer", RuleKind::refused, "goes by the shapes of matrices, and a file of layers has their sizes alone",
     "adam, or a model of the catalogue",
     [](const RuledEntry& e) {
       return !e.spreads() && e.entry.layers && e.entry.optimizer != nullptr && e.entry.optimizer->goes_by_shape();
     }},
    {"host", RuleKind::refused, "measured times have the host that launched their kernels in them", "none",
     [](const RuledEntry& e) { return gives_host(e) && has_measured_host(e.entry); }},
    {"host", RuleKind::refused, "says what launches take, and so does launch", "give one of the two",
     [](const RuledEntry& e) { return gives_host(e) && e.entry.launch > Time{}; }},
    {"accumulate", RuleKind::refused, "follows from global_batch", "give one of the two",
     [](const RuledEntry& e) { return e.entry.global_batch && e.entry.says("accumulate"); }},
    {"parallel.shards", RuleKind::without, "zero", "zero: 1, 2 or 3",
     [](const RuledEntry& e) { return e.spreads() && spread(e).shards > 0 && spread(e).zero == 0; }},
    {"runtime", RuleKind::refused, "fsdp2: FSDP shares out the states of the optimizer",
     "parallel.zero: 3, or 1 or 2 where weights stay",
     [](const RuledEntry& e) { return e.spreads() && e.entry.runtime == Runtime::fsdp2 && spread(e).zero == 0; }},
    {"runtime", RuleKind::refused,
     "fsdp2: the memory that it reserves is only known of states and activations on the GPU", "plain, or no offload",
     [](const RuledEntry& e) {
       return e.spreads() && e.entry.runtime == Runtime::fsdp2 && (offloads_update(e) || spread(e).offload.activations);
     }},
    // The pipeline and its stages.
    {"parallel.order", RuleKind::beside, "another schedule than file", "",
     [](const RuledEntry& e) { return e.spreads() && spread(e).order && !schedule_of(e).reads_order; }},
    {"parallel.order", RuleKind::refused, "is missing: the schedule is file", "give the path of the orders",
     [](const RuledEntry& e) { return e.spreads() && !spread(e).order && schedule_of(e).reads_order; }},
    {"parallel.virtual", RuleKind::refused,
     "is missing: interleaved passes of one part on each rank are the passes of 1f1b", "2 or more parts",
     [](const RuledEntry& e) { return e.spreads() && spread(e).virtual_stages == 0 && schedule_of(e).needs_chunks; }},
    {"parallel.partition", RuleKind::idle, "layers says what each part has", "leave one of them out",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).partition != LayerPartition::even && !spread(e).layers.empty();
     }},
    {"parallel.devices", RuleKind::idle, "a profile times all ranks", "",
     [](const RuledEntry& e) {
       return e.spreads() && !spread(e).devices.empty() && e.entry.device.calibrated != nullptr;
     }},
    {"parallel.activation_compression.ratio", RuleKind::refused, "is missing", "such as 20",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).activation_compression.adaptive && !spread(e).activation_compression.ratio;
     }},
    {"parallel.activation_compression", RuleKind::without, "messages between pipeline ranks", "pipeline: 2 or more",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).pipeline == 1 &&
              (spread(e).activation_compression.adaptive || spread(e).activation_compression.ratio);
     }},
    // Inside a stage.
    {"parallel.tensor_overlap", RuleKind::without, "sequence parallelism", "sequence_parallel: true",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).tensor_overlap && !(spread(e).sequence_parallel && spread(e).tensor > 1);
     }},
    {"parallel.context_exchange", RuleKind::without, "context", "context: 2 or more",
     [](const RuledEntry& e) { return e.gives_parallel("context_exchange") && spread(e).context == 1; }},
    {"parallel.expert_load", RuleKind::refused, "says more than once how uneven it is",
     "give one of ratio, zipf, capacity, counts",
     [](const RuledEntry& e) {
       if (!e.spreads()) return false;
       const ExpertLoad& load = spread(e).expert_load;
       return load.ratio.has_value() + load.zipf.has_value() + load.capacity.has_value() + load.counts.has_value() > 1;
     }},
    {"parallel.expert_load.swapped", RuleKind::idle, "nothing says how popular each expert is", "give zipf or counts",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).expert_load.swapped && !spread(e).expert_load.zipf &&
              !spread(e).expert_load.counts;
     }},
    {"parallel.expert_exchange", RuleKind::refused, "joint: has no effect where each expert lies on one GPU",
     "expert_tensor: 2 or more, or direct",
     [](const RuledEntry& e) {
       return e.spreads() && spread(e).expert_exchange == ExpertExchange::joint && spread(e).expert_tensor == 1;
     }},
    {"parallel.packing", RuleKind::without, "documents", "documents: {median: 1000, sigma: 1.2}",
     [](const RuledEntry& e) { return e.gives_parallel("packing") && !has_documents(e); }},
    {"parallel.context_degree", RuleKind::without, "documents", "documents: {median: 1000, sigma: 1.2}",
     [](const RuledEntry& e) { return e.gives_parallel("context_degree") && !has_documents(e); }},
    {"parallel.documents", RuleKind::refused, "says the lengths by a file, or by median and sigma",
     "{file: FILE.csv} or {median: 1000, sigma: 1.2}",
     [](const RuledEntry& e) {
       if (!has_documents(e)) return false;
       const DocumentSource& from = spread(e).documents;
       return from.file ? from.median || from.sigma : !from.median || !from.sigma;
     }},
    {"parallel.documents", RuleKind::refused,
     "needs attention in one kernel, which leaves out what lies between documents", "attention: flash",
     [](const RuledEntry& e) { return has_documents(e) && !e.entry.flash_attention().value_or(true); }},
    {"parallel.documents", RuleKind::idle, "a profile has the times of whole sequences",
     "a device of `contend list devices`",
     [](const RuledEntry& e) { return has_documents(e) && e.entry.device.calibrated != nullptr; }},
    {"parallel.context_degree", RuleKind::without, "context", "context: 2 or more",
     [](const RuledEntry& e) { return cuts_documents(e) && spread(e).context == 1; }},
    {"parallel.context_degree", RuleKind::refused, "needs keys and values that go around the GPUs of a document",
     "context_exchange: ring",
     [](const RuledEntry& e) { return cuts_documents(e) && spread(e).context_exchange != ContextExchange::ring; }},
    {"parallel.context_degree", RuleKind::beside, "packing: padded", "packing: in-order, or balanced",
     [](const RuledEntry& e) { return cuts_documents(e) && spread(e).packing == Packing::padded; }},
    // Outside of the GPUs.
    {"parallel.offload.optimizer", RuleKind::without, "an optimizer", "optimizer: adam",
     [](const RuledEntry& e) { return offloads_update(e) && e.entry.optimizer == nullptr; }},
    {"parallel.offload.weights", RuleKind::refused, "needs GPUs that gather weights before each use", "zero: 3",
     [](const RuledEntry& e) { return offloads_weights(e) && spread(e).zero < 3; }},
    {"parallel.offload.weights", RuleKind::refused, "needs the optimizer outside of the GPUs, too, which updates them",
     "optimizer: host, or nvme", [](const RuledEntry& e) { return offloads_weights(e) && !offloads_update(e); }},
    {"parallel.offload.link", RuleKind::refused, "is missing", kBandwidth,
     [](const RuledEntry& e) {
       return e.spreads() && given_and_needed(spread(e).offload.link, spread(e).offload.any(), true);
     }},
    {"parallel.offload.link", RuleKind::idle, kUnused, "",
     [](const RuledEntry& e) {
       return e.spreads() && given_and_needed(spread(e).offload.link, spread(e).offload.any(), false);
     }},
    {"parallel.offload.memory", RuleKind::refused, "is missing", kBandwidth,
     [](const RuledEntry& e) {
       return e.spreads() && given_and_needed(spread(e).offload.memory, offloads_update(e), true);
     }},
    {"parallel.offload.memory", RuleKind::idle, kUnused, "",
     [](const RuledEntry& e) {
       return e.spreads() && given_and_needed(spread(e).offload.memory, offloads_update(e), false);
     }},
    {"parallel.offload.nvme", RuleKind::refused, "is missing", kBandwidth,
     [](const RuledEntry& e) { return e.spreads() && given_and_needed(spread(e).offload.nvme, stores(e), true); }},
    {"parallel.offload.nvme", RuleKind::idle, kUnused, "",
     [](const RuledEntry& e) { return e.spreads() && given_and_needed(spread(e).offload.nvme, stores(e), false); }},
    // Steps that leave late workers behind.
    {"gradient_coding", RuleKind::refused, "does the same as backup_workers, without a loss of gradients",
     "give one of the two", [](const RuledEntry& e) { return e.entry.backup > 0 && e.entry.coded.stragglers > 0; }},
    {"host_ns_per_value", RuleKind::refused,
     "the work of the host on a message waits for all workers, also for late ones", "host_ns_per_value: 0",
     [](const RuledEntry& e) { return e.entry.late() > 0 && e.entry.host_ns_per_value > 0; }},
    {"staging", RuleKind::refused, "the copies of a message to the host wait for all workers, also for late ones",
     "staging: none", [](const RuledEntry& e) { return e.entry.late() > 0 && e.entry.staging.has_value(); }},
};

}  // namespace

std::string MemberRule::text() const {
  switch (kind) {
    case RuleKind::without:
      return fmt::format("{} without {}", kNoEffect, reason);
    case RuleKind::beside:
      return fmt::format("{} with {}", kNoEffect, reason);
    case RuleKind::idle:
      return fmt::format("{}: {}", kNoEffect, reason);
    case RuleKind::refused:
      break;
  }
  return std::string{reason};
}

std::span<const MemberRule> member_rules() {
  return kRules;
}

std::string member_rules_markdown() {
  std::string text = "| member | why not | what would be right |\n|---|---|---|\n";
  for (const MemberRule& each : kRules)
    text += fmt::format("| `{}` | {} | {} |\n", each.member, each.text(), each.hint);
  return text;
}

}  // namespace contend
