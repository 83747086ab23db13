#include "scenarios/training/parallel_job.hpp"

#include "models/parallel/flops.hpp"
#include "models/parallel/mixture.hpp"
#include "models/parallel/planned_exchange.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "policies/fusion/fusion_policy.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "scenarios/training/parallel_degrees.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/stage_exchange.hpp"
#include "scenarios/training/stage_planner.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/training/unit_times.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/host_table.hpp"
#include "sim/check.hpp"
#include "sim/complaints.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "traces/layers/config_json.hpp"
#include "traces/layers/document_lengths.hpp"
#include "traces/layers/expert_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

TrainingWork work_of(const TrainingEntry& entry, const TransformerModel& model, const ParallelJob& made) {
  const SequenceSums sequences = made.sums();
  Recomputation repeated = entry.recompute;
  if (repeated != Recomputation::full && entry.flash_attention().value_or(true))  // which never keeps scores
    repeated = repeated - Recomputation::core_attn;
  TrainingWork work;
  // Of backup workers nothing counts.
  const double counted = 1 - static_cast<double>(entry.backup) / made.iteration.data;
  work.tokens = sequences.tokens * counted;
  const TrainedPart part = entry.trained(model);
  work.model_flops = model_flops(model, sequences, FlopsConvention::causal, part) * counted;
  work.hardware_flops = hardware_flops(model, sequences, FlopsConvention::causal, repeated, part);
  if (entry.device.calibrated) return work;
  const std::vector<std::string>& names = entry.parallel->devices;
  if (names.empty()) work.peak_flops = sheet_of(entry.device).peak(entry.type);
  for (const std::string& name : names) work.peak_flops += find_device(name)->peak(entry.type);
  if (!names.empty()) work.peak_flops /= static_cast<double>(names.size());  // each pipeline rank has as many GPUs
  return work;
}

/// What `parse` makes of the text of a file that a member of the entry names; its complaints are about that member.
template <class Parse>
auto read_for(const char* member, const std::string& path, const Parse& parse) {
  try {
    return parse(read_file(path));
  } catch (const InputError& error) {
    std::vector<Complaint> complaints = error.complaints();
    for (Complaint& each : complaints) {
      if (!each.key.empty()) each.reason = fmt::format("{}: {}", each.key, each.reason);
      each.key = member;
    }
    throw InputError{std::move(complaints)};
  }
}

/// The documents that fill the sequences of a job; nothing if they are whole.
std::optional<PackedDocuments> documents_of(const TrainingSystem& system, const TrainingEntry& entry,
                                            const Degrees& degrees, const MicroBatch& work) {
  const ParallelSetup& setup = *entry.parallel;
  if (!setup.documents.given()) return {};
  DocumentLengths lengths;
  if (setup.documents.file) {
    lengths.table = read_for("parallel.documents.file", *setup.documents.file, [&](const std::string& text) {
      return parse_document_lengths(text, *setup.documents.file);
    });
  } else {
    lengths.median = *setup.documents.median;
    lengths.sigma = *setup.documents.sigma;
  }
  DocumentShape shape;
  shape.rows = degrees.samples;
  shape.sequence = work.sequence;
  shape.held = work.context_tokens();
  shape.context = setup.context;
  shape.data = degrees.data;
  shape.per_server = std::max(system.cluster.gpus_per_server / setup.tensor, 1);
  shape.packing = setup.packing;
  shape.degree = setup.context_degree;
  return pack_documents(lengths, shape, system.seed);
}

/// True if how uneven the experts of a job are depends on its servers or on what even experts take.
bool needs_even_times(const ParallelSetup& setup, const TransformerModel& model) {
  return model.mixture && (setup.expert_load.swapped || goes_by_server(setup));
}

/// Sets how uneven the experts of a job are, which has even ones so far; `times` are the times of an even job, where
/// they are needed.
void set_imbalance(const ParallelSetup& setup, const TransformerModel& model, UnitTimes* times, MicroBatch& work) {
  const ExpertLoad& load = setup.expert_load;
  if (!model.mixture) {
    for (const char* member : {"expert_load", "expert_exchange", "expert_pieces"}) {
      if (setup.given.contains(member))
        throw InputError{{{.key = fmt::format("parallel.{}", member),
                           .reason = fmt::format("has no effect: {} has no experts", model.name)}}};
    }
    return;
  }
  const std::int64_t experts = model.mixture->experts;
  const std::int64_t servers = times != nullptr ? times->servers_of_experts() : 1;
  std::vector<double> tokens;
  if (load.counts)
    tokens = read_for("parallel.expert_load.counts", *load.counts,
                      [&](const std::string& text) { return parse_expert_counts(text, *load.counts, experts); });
  // At most min(k, E / e) of a token's k experts lie on one rank, and k / e on the mean one. It goes to a server once.
  const auto top = static_cast<double>(model.mixture->top_k), ranks = static_cast<double>(setup.expert);
  const double most = ranks * std::min(top, static_cast<double>(experts) / ranks) / top;
  const double most_of_server = static_cast<double>(servers) / servers_of_token(*model.mixture, servers);
  if (const auto ratio = load.ratio.value_or(1); ratio > most + 1e-9)
    throw InputError{
        {{.key = "parallel.expert_load.ratio",
          .reason = fmt::format("the fullest of {} GPUs can't have {:g} times the mean: {} different experts "
                                "of each token, of {} on a GPU, make at most {:g}",
                                setup.expert, ratio, model.mixture->top_k, experts / setup.expert, most)}}};
  if (load.zipf) tokens = zipf_tokens(experts, setup.expert, *load.zipf);
  if (load.swapped && !tokens.empty()) {
    const UnitTimes::ExpertPrices prices = times->expert_prices();
    tokens = swap_experts(std::move(tokens), std::array{ExpertLevel{setup.expert, prices.rank.to_seconds()},
                                                        ExpertLevel{servers, prices.server.to_seconds()}});
  }
  const auto over_mean = [&](std::int64_t groups, double at_most) {
    constexpr double kKept = 1e9;  // decimals, so that the last bits of a power don't matter
    if (tokens.empty()) return load.capacity.value_or(std::min(load.ratio.value_or(1), at_most));
    return std::min(at_most, std::round(fullest_over_mean(tokens, groups) * kKept) / kKept);
  };
  work.expert_imbalance = over_mean(setup.expert, most);
  work.server_imbalance = std::min(over_mean(servers, most_of_server), most_of_server);
}

/// Refuses what no layer of the model can compute again.
void check_recomputation(Recomputation recompute, const TransformerModel& model, const MicroBatch& work) {
  if (recompute == Recomputation::operators && !may_keep_operators(model))
    throw InputError{
        {{.key = "recompute",
          .reason = fmt::format("operators: the list of kept products is that of layers with queries, keys "
                                "and values and one feed-forward; {} has others",
                                model.name),
          .hint = "none, selective or full"}}};
  if (computes_layers_again(recompute)) return;
  Recomputation there = Recomputation::core_attn;  // in any layer, though fused attention has nothing to repeat
  for (std::int64_t layer = 0; recompute != Recomputation::none && layer < model.all_layers(); ++layer)
    for (const TransformerOperator& each : transformer_operators(model, layer, work)) there = there | each.modules;
  for (const auto& [name, module] : kRecomputedModules)
    if (repeats(recompute, module) && !repeats(there, module))
      throw InputError{
          {{.key = "recompute", .reason = fmt::format("{}: no layer of {} has this module", name, model.name)}}};
}

/// Refuses adapters and frozen parts that the model can't have.
void check_trained(const TrainingEntry& entry, const TransformerModel& model) {
  try {
    validate(entry.trained(model), model);
  } catch (const InputError& error) {
    std::vector<Complaint> complaints = error.complaints();
    for (Complaint& each : complaints) each.key = fmt::format("{}.{}", entry.adapter ? "adapter" : "frozen", each.key);
    throw InputError{std::move(complaints)};
  }
}

/// What a rank computes with; its experts are even.
MicroBatch micro_batch_of(const TrainingEntry& entry, const TransformerModel& model, int micro_batches) {
  const ParallelSetup& setup = *entry.parallel;
  MicroBatch work;
  work.sequences = entry.batch.value_or(1);
  work.sequence = entry.sequence.value_or(static_cast<int>(model.default_sequence));
  work.split = {setup.tensor, setup.context, setup.expert, setup.expert_tensor, setup.sequence_parallel};
  work.flash_attention = entry.flash_attention().value_or(true);
  work.loss = loss_of(entry);
  work.pointwise = entry.pointwise;
  work.type = entry.type;
  work.trained = entry.trained(model);
  if (const HostCosts* const host = host_of(entry)) {
    work.separate_experts = host->grouped > Time{};
    work.routing_kernels = static_cast<int>(std::lround(host->routing));
  }
  // FSDP2 adds up the gradients that it has reduced.
  if (micro_batches > 1 && entry.runtime == Runtime::plain) work.sum_bytes = setup.gradient_bytes;
  validate(model, work);
  check_trained(entry, model);
  check_recomputation(entry.recompute, model, work);
  return work;
}

PipelinePlan pipeline_of(const ParallelSetup& setup, int micro_batches, int rounds_kept) {
  const auto schedule = make_policy(pipeline_schedules(), setup.schedule, {});
  PipelineShape shape;
  shape.ranks = setup.pipeline;
  shape.micro_batches = micro_batches;
  shape.chunks = setup.virtual_stages;
  if (setup.order) {
    shape.own_file = *setup.order;
    shape.own_text = read_for("parallel.order", *setup.order, [](std::string text) { return text; });
  }
  return plan_of_rounds(*schedule, shape, rounds_kept);
}

/// The iteration without its stages.
TrainingIteration iteration_of(const TrainingEntry& entry, const Degrees& degrees, int rounds_kept) {
  const ParallelSetup& setup = *entry.parallel;
  TrainingIteration job;
  job.plan = pipeline_of(setup, degrees.micro_batches, rounds_kept);
  job.tensor = setup.tensor;
  job.context = setup.context;
  job.data = degrees.data;
  job.expert = setup.expert;
  job.expert_tensor = setup.expert_tensor;
  job.sharding = static_cast<Sharding>(setup.zero);
  job.shards = setup.shards;
  job.weight_bytes = activation_bytes(entry.type);
  job.gradient_bytes = setup.gradient_bytes;
  job.reshard = setup.reshard;
  job.barrier = !setup.post_validation && !entry.update_in_backward;
  job.update_in_backward = entry.update_in_backward;
  job.link = setup.offload.link;
  job.sends_gradients = setup.offload.optimizer != StatePlace::gpu;
  if (const OffloadSetup& offload = setup.offload; offload.weights != StatePlace::gpu) {
    job.reads_weights = *offload.link;
    if (offload.weights == StatePlace::nvme) job.weights_from = CopyWay::from_nvme;
    if (offload.weights == StatePlace::nvme && offload.nvme->bytes_per_second() < offload.link->bytes_per_second())
      job.reads_weights = *offload.nvme;
  }
  constexpr std::int64_t kMillion = 1'000'000;
  job.bucket = setup.bucket > 0 ? setup.bucket : std::max(40 * kMillion, degrees.data * kMillion);
  return job;
}

/// Adds the units of a stage with their weights, without times.
void add_held(const TransformerModel& model, const MicroBatch& work, const LayerRange& range, TrainingIteration& job) {
  std::vector<ModelUnit>& units = job.units.emplace_back();
  const auto add = [&](const HeldWeights& held) {
    ModelUnit& unit = units.emplace_back();
    unit.dense_elements = held.trained.dense;
    unit.expert_elements = held.trained.experts;
    unit.dense_tensors = held.trained.dense_tensors;
    unit.expert_tensors = held.trained.expert_tensors;
    unit.frozen_dense = Bytes{static_cast<std::int64_t>(std::ceil(held.frozen_dense))};
    unit.frozen_experts = Bytes{static_cast<std::int64_t>(std::ceil(held.frozen_experts))};
  };
  const auto held = [&](const LayerRange& part) {
    return held_weights(model, part, work.split, work.trained, work.type);
  };
  if (range.embedding) add(held({range.first, range.first, true, false}));
  for (std::int64_t layer = range.first; layer < range.last; ++layer) add(held({layer, layer + 1, false, false}));
  // A table that the head shares with the embedding is exchanged and updated once where a stage has both.
  if (range.head) add(held_by_head(model, range, work.split, work.trained, work.type));
}

/// Gives the units of a stage their times, and adds the parts of these. `messages` go between stages.
void add_times(StagePlanner& planner, std::size_t stage, const std::vector<StageMessage>& messages, ParallelJob& made) {
  TrainingIteration& job = made.iteration;
  const LayerRange& range = made.stages[stage];
  UnitTimes& times = planner.of_stage(static_cast<int>(stage));
  std::vector<ModelUnit>& units = job.units[stage];
  PassShares& shares = made.shares.emplace_back();
  std::size_t next = 0;
  const auto add = [&](TimedUnit timed) {
    ModelUnit& unit = units[next++];
    times.add_copies(job, unit.dense_elements + unit.expert_elements, timed);
    timed.unit.dense_elements = unit.dense_elements;
    timed.unit.expert_elements = unit.expert_elements;
    timed.unit.dense_tensors = unit.dense_tensors;
    timed.unit.expert_tensors = unit.expert_tensors;
    timed.unit.frozen_dense = unit.frozen_dense;
    timed.unit.frozen_experts = unit.frozen_experts;
    shares += timed.shares;
    unit = std::move(timed.unit);
  };
  if (range.embedding) add(times.embedding());
  for (std::int64_t layer = range.first; layer < range.last; ++layer) add(times.layer(layer));
  if (range.head) add(times.head());
  const Time gather = job.plan.stages > 1 ? times.gather_message() : Time{};
  // Gradients go to the stage before, and come from the one behind, if a unit needs them.
  const bool sends_back = !range.embedding && times.has_backward(range.first - 1);
  const bool is_sent_back = !range.head && times.has_backward(range.last - 1);
  if (!range.embedding) {
    units.front().forward += gather;
    units.front().forward_traffic.add(PassGroup::tensor, gather, {times.gathered_message()});
  }
  if (is_sent_back) {
    units.back().backward_input += gather;
    units.back().backward_traffic.add(PassGroup::tensor, gather, {times.gathered_message()});
  }
  shares.tensor += (range.embedding ? Time{} : gather) + (is_sent_back ? gather : Time{});
  const auto compress = [&](Time& pass, Time kernels) {
    pass += kernels;
    shares.compression += kernels;
  };
  if (!range.embedding) compress(units.front().forward, messages[stage - 1].unpack);
  if (sends_back) compress(units.front().backward_input, messages[stage - 1].repack);
  if (!range.head) compress(units.back().forward, messages[stage].pack);
  if (is_sent_back) compress(units.back().backward_input, messages[stage].unpack_back);
}

/// Sets the times of the exchanges of all stages.
void set_exchange(StagePlanner& planner, ParallelJob& made) {
  for (std::size_t stage = 0; stage < made.stages.size(); ++stage) {
    RankParameters all;
    for (const ModelUnit& unit : made.iteration.units[stage]) {
      all.dense += unit.dense_elements;
      all.experts += unit.expert_elements;
    }
    made.exchange.push_back(planner.exchange(static_cast<int>(stage), all));
  }
}

/// Says what of the passes leaves servers, and which groups must not be torn apart.
void set_traffic(const TrainingSystem& system, StagePlanner& planner, const std::vector<StageMessage>& messages,
                 ParallelJob& made) {
  TrainingIteration& job = made.iteration;
  UnitTimes& of_all = planner.of_stage(0);
  // Without contention what leaves servers takes the same time as a part of the passes.
  if (!system.network.traits().shares) {
    job.turns_per_server = system.cluster.gpus_per_server;
    for (std::size_t stage = 0; stage < job.units.size(); ++stage) {
      UnitTimes& times = planner.of_stage(static_cast<int>(stage));
      for (ModelUnit& unit : job.units[stage]) {
        unit.forward_between_servers = std::min(times.between_servers(unit.forward_traffic), unit.forward);
        unit.backward_between_servers = std::min(times.between_servers(unit.backward_traffic), unit.backward_input);
      }
    }
    job.message_between_servers = planner.between_servers(messages);
  } else {
    for (std::size_t kind = 0; kind < kPassGroups; ++kind)
      job.in_network[kind] = of_all.leaves_servers(static_cast<PassGroup>(kind));
  }
  for (std::size_t kind = 0; kind < kPassGroups; ++kind) {
    if (job.in_network[kind]) continue;
    for (const RankGroups& groups : of_all.groups_of(static_cast<PassGroup>(kind)))
      if (groups.size > 1 && !of_all.leaves_servers(groups)) made.whole.push_back(groups);
  }
}

/// Where weights are updated as soon as their gradients are there, these are complete.
void check_update(const TrainingEntry& entry, int micro_batches) {
  if (entry.update_in_backward && micro_batches > 1)
    throw InputError{{{.key = "update",
                       .reason = fmt::format("in-backward: the gradients of {} micro-batches are added up, so that all "
                                             "of them are there until the last backward pass",
                                             micro_batches),
                       .hint = "behind, or one micro-batch"}}};
}

/// How far a job is planned: as far as its memory, its iteration, or also the times of its exchanges alone.
enum class Planned { memory, iteration, exchange };

ParallelJob planned(const TrainingSystem& system, const TrainingEntry& entry, const TransformerModel& model, int gpus,
                    Planned what) {
  const ParallelSetup& setup = *entry.parallel;
  const Degrees degrees = degrees_of(system.cluster, entry, gpus);
  MicroBatch work = micro_batch_of(entry, model, degrees.micro_batches);
  check_update(entry, degrees.micro_batches);
  ParallelJob made;
  made.documents = documents_of(system, entry, degrees, work);
  if (made.documents) work.documents = made.documents->parts;
  made.micro_batches = degrees.micro_batches;
  made.samples = degrees.samples;
  made.sequence = static_cast<int>(work.sequence);
  TrainingIteration& job = made.iteration;
  job = iteration_of(entry, degrees, system.rounds_kept);
  check_merges(entry, job.plan);
  if (needs_even_times(setup, model)) {
    const MicroBatch even = work;
    StagePlanner of_even{system, entry, model, even, job};
    set_imbalance(setup, model, &of_even.of_stage(0), work);
  } else {
    set_imbalance(setup, model, nullptr, work);
  }
  StagePlanner planner{system, entry, model, work, job};
  const std::vector<StageMessage> messages = planner.messages();
  made.stages = planner.layers(messages);
  for (const LayerRange& range : made.stages) add_held(model, work, range, job);
  for (const StageMessage& message : messages) {
    job.messages.push_back(message.bytes);
    made.ratios.push_back(message.ratio);
  }
  made.memory = rank_memory(entry, model, work, job, made.stages);
  if (what == Planned::memory) return made;
  for (std::size_t stage = 0; stage < made.stages.size(); ++stage) add_times(planner, stage, messages, made);
  if (what == Planned::exchange) set_exchange(planner, made);
  job.interference = planner.of_stage(0).interference_of_experts();
  const bool is_tied = model.head == OutputHead::tied && job.plan.stages > 1 &&
                       work.trained.trains(WeightGroup::embedding, TrainedPart::kEmbedding);
  if (is_tied) job.tied_elements = vocabulary_rows(model, work.split) * model.hidden;
  set_traffic(system, planner, messages, made);
  plan_exchange(system, entry, job);
  made.work = work_of(entry, model, made);
  made.work.memory_gib = made.memory[fullest(made.memory)].total().to_gibibytes();
  for (const std::vector<int>& stages : job.plan.stage_of) {
    std::vector<LayerRange> ranges;
    for (const int stage : stages) ranges.push_back(made.stages[static_cast<std::size_t>(stage)]);
    RankUpdate update = rank_update(planner.entry_of_stage(stages.front()), model, work.split, job, stages, ranges);
    job.update.push_back(update.time);
    job.update_by_tensor.push_back(update.by_tensor);
    job.host_update.push_back(update.host);
    job.update_gathers.push_back(std::move(update.gathers));
    job.update_kernels.push_back(update.kernels);
  }
  return made;
}

/// With `expert_pieces: 0`: in as many pieces as let the passes of an iteration end first.
ParallelJob planned_in_pieces(const TrainingSystem& system, const TrainingEntry& entry, int gpus, Planned what) {
  const TransformerModel model = transformer_of(entry);
  if (entry.parallel->expert_pieces > 0) return planned(system, entry, model, gpus, what);
  TrainingEntry in_pieces = entry;
  std::pair<Time, ParallelJob> best{Time::never(), {}};
  for (const int pieces : {1, 2, 3, 4, 6, 8, 12, 16}) {
    in_pieces.parallel->expert_pieces = pieces;
    ParallelJob job = planned(system, in_pieces, model, gpus, what);
    const Time time = evaluate(job.iteration.plan, job.iteration.costs()).makespan;
    if (time < best.first) best = {time, std::move(job)};
  }
  return std::move(best.second);
}

/// The members of an entry that models and schedules know by names of their own.
std::string member_of(const TrainingEntry& entry, const std::string& key) {
  if (key == "micro_batches") return micro_batches_member(entry);
  if (key == "sequences") return "batch";
  if (key == "type") return "dtype";
  if (key == "group") return "parallel.schedule.group";
  for (const char* member :
       {"schedule", "tensor", "context", "pipeline", "virtual", "expert", "expert_tensor", "sequence_parallel"})
    if (key == member) return "parallel." + key;
  return key;
}

/// What `plan` returns; its complaints are about members of the entry.
template <class Plan>
auto with_members_of(const TrainingEntry& entry, const Plan& plan) {
  try {
    return plan();
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) { each.key = member_of(entry, each.key); });
  }
}

}  // namespace

SequenceSums ParallelJob::sums() const {
  SequenceSums sequences = SequenceSums::equal(static_cast<double>(samples), sequence);
  if (documents) {
    sequences.tokens *= documents->tokens;
    sequences.squares *= documents->squares;
  }
  return sequences;
}

/// A tower's work follows from the images of a sequence, of which a training entry says nothing.
TransformerModel model_of_file(const TrainingEntry& entry) {
  TransformerModel model = read_config(*entry.config, entry.config_as.value_or(std::string{})).model;
  if (model.towers.empty()) return model;
  throw InputError{{{.key = "config",
                     .reason = fmt::format("{} has a {} tower of {} parameters, whose work follows from the images or "
                                           "the sound of a sequence, of which there are none here",
                                           *entry.config, model.towers.front().name, parameters(model.towers.front())),
                     .hint = "a file of the members of its text_config, for training on text"}}};
}

namespace {

/// True if Megatron-LM, or a framework made of it, launches the kernels of the entry, which may change what a launch
/// costs.
bool runs_megatron(const TrainingEntry& entry) {
  const HostCosts* const host = host_of(entry);
  constexpr std::array kMegatron{"megatron", "megatron-deepspeed", "transformer-engine"};
  return host != nullptr &&
         std::ranges::any_of(kMegatron, [&](const char* name) { return host_named(name).source == host->source; });
}

/// Megatron-LM pads the tables of tokens, so that each tensor-parallel rank has a multiple of 128 rows
/// (--make-vocab-size-divisible-by; megatron/training/tokenizer/tokenizer.py, _vocab_size_with_padding).
TransformerModel padded(TransformerModel model, const TrainingEntry& entry) {
  if (!entry.parallel || !runs_megatron(entry)) return model;
  const std::int64_t multiple = std::int64_t{128} * entry.parallel->tensor;
  model.vocabulary = (model.vocabulary + multiple - 1) / multiple * multiple;
  return model;
}

}  // namespace

TransformerModel given_transformer_of(const TrainingEntry& entry) {
  if (entry.config) return model_of_file(entry);
  if (entry.transformer.given()) {
    try {
      return transformer_of(entry.transformer, entry.name);
    } catch (const InputError& error) {
      std::vector<Complaint> complaints = error.complaints();
      for (Complaint& each : complaints) each.key = "transformer." + each.key;
      throw InputError{std::move(complaints)};
    }
  }
  CONTEND_CHECK(entry.model.has_value(), "the entry has been checked");
  const TransformerModel* model = find_transformer(*entry.model);
  CONTEND_CHECK(model != nullptr, "the entry has been checked");
  return *model;
}

TransformerModel transformer_of(const TrainingEntry& entry) {
  return padded(given_transformer_of(entry), entry);
}

ParallelJob plan_parallel(const TrainingSystem& system, const TrainingEntry& entry, int gpus, bool with_exchange) {
  const Planned what = with_exchange ? Planned::exchange : Planned::iteration;
  return with_members_of(entry, [&] { return planned_in_pieces(system, entry, gpus, what); });
}

std::vector<GpuMemory> held_memory(const TrainingSystem& system, const TrainingEntry& entry,
                                   const TransformerModel& model, int gpus) {
  return with_members_of(entry, [&] { return planned(system, entry, model, gpus, Planned::memory).memory; });
}

Time parallel_iteration_time(const TrainingSystem& system, const TrainingEntry& entry) {
  const ParallelSetup& setup = *entry.parallel;
  const int ranks = std::lcm(setup.tensor * setup.context, setup.expert * setup.expert_tensor);
  const ParallelJob job = plan_parallel(system, entry, ranks * setup.pipeline);
  const PipelineTimes times = evaluate(job.iteration.plan, job.iteration.costs());
  Time busy;
  for (std::size_t rank = 0; rank < times.busy.size(); ++rank) busy += times.busy[rank] + job.iteration.update[rank];
  return Time::nanoseconds(busy.ns() / static_cast<std::int64_t>(times.busy.size()));
}

}  // namespace contend
