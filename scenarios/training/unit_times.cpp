#include "scenarios/training/unit_times.hpp"

#include "calibration/transformer_times.hpp"
#include "models/overlap/time_together.hpp"
#include "models/parallel/memory.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace contend {
namespace {

TimedUnit made(const OperatorTimes& times, Time recompute, Time forward, Time backward, PassShares shares) {
  ModelUnit unit;
  unit.forward = times.forward + forward;
  unit.backward_input = times.input_gradient + recompute + backward;
  unit.backward_weight = times.weight_gradient;
  shares.compute = times.forward + times.backward();
  shares.recompute += recompute;
  return {unit, shares};
}

/// The starts of kernels that the framework launches beside those that the cost model counts, such as copies that turn
/// a tensor round (HostCosts::forward). What they move isn't known.
OperatorTimes further_starts(std::span<const TransformerOperator> operators, const TrainingEntry& entry, Time start) {
  const HostCosts* const host = host_of(entry);
  if (host == nullptr) return {};
  const auto starts = [&](const LaunchFactors& factors, LayerWork TransformerOperator::*pass) {
    double further = 0;
    for (const TransformerOperator& each : operators)
      further += (each.*pass).kernels * std::max(0.0, factors[static_cast<std::size_t>(each.kind)] - 1);
    return Time::nanoseconds(std::llround(further * static_cast<double>(start.ns()) * entry.scales.memory));
  };
  return {starts(host->forward, &TransformerOperator::forward),
          starts(host->backward, &TransformerOperator::input_gradient),
          starts(host->backward, &TransformerOperator::weight_gradient)};
}

}  // namespace

OperatorTimes operator_times(std::span<const TransformerOperator> operators, const TrainingEntry& entry) {
  if (entry.device.calibrated) {
    const OperatorTimes times = calibrated_operator_times(operators, *entry.device.calibrated).times;
    const double scale = entry.scales.products;
    return {scaled(times.forward, scale), scaled(times.input_gradient, scale), scaled(times.weight_gradient, scale)};
  }
  RooflineOptions options = roofline_options(entry);
  options.attention_efficiency = entry.attention_efficiency;
  const Device& device = sheet_of(entry.device);
  OperatorTimes times = operator_times(operators, device, options);
  if (!options.sheet || device.kernels.source.empty()) return times;
  const OperatorTimes further = further_starts(operators, entry, device.kernels.start);
  times.forward += further.forward;
  times.input_gradient += further.input_gradient;
  times.weight_gradient += further.weight_gradient;
  return times;
}

PassShares& PassShares::operator+=(const PassShares& other) {
  compute += other.compute;
  recompute += other.recompute;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  compression += other.compression;
  launches += other.launches;
  return *this;
}

UnitTimes::UnitTimes(const TrainingSystem& system, const TrainingEntry& entry, const TransformerModel& model,
                     const MicroBatch& work, int ranks, bool weight_passes, int first)
    : entry_{entry},
      model_{model},
      work_{work},
      host_{host_of(entry)},
      weight_passes_{weight_passes},
      per_server_{system.cluster.gpus_per_server},
      inside_{interference_of(system.network, system.overlap, system.training, TransferPath::inside)},
      between_{interference_of(system.network, system.overlap, system.training, TransferPath::between)},
      groups_{system.cluster, system.network, system.seed, ranks, first} {
  const double tokens = static_cast<double>(work_.context_tokens());
  activations_ = Bytes{static_cast<std::int64_t>(tokens) * model_.hidden * activation_bytes(work_.type)};
  const std::int64_t ranks_of_heads = work_.split.tensor * work_.split.context;
  if (entry_.parallel->context_exchange == ContextExchange::all_to_all && model_.heads % ranks_of_heads != 0)
    throw InputError{{{.key = "parallel.context_exchange",
                       .reason = fmt::format("all-to-all: tensor {} x context {} does not divide the {} heads of {}",
                                             work_.split.tensor, work_.split.context, model_.heads, model_.name),
                       .hint = "ring or all-gather cut no heads"}}};
  if (model_.mixture && goes_by_server(*entry_.parallel)) check_servers_of_experts();
}

/// Tokens that go by server need servers that one group of experts fills, with the experts of whole groups.
void UnitTimes::check_servers_of_experts() const {
  const std::int64_t ranks = work_.split.expert_tensor * work_.split.expert, groups = model_.mixture->groups;
  const bool by_gpu = entry_.parallel->expert_exchange == ExpertExchange::by_gpu;
  const auto refuse = [&](std::string reason) {
    throw InputError{{{.key = "parallel.expert_exchange",
                       .reason = fmt::format("{}: {}", by_gpu ? "by-gpu" : "by-server", reason),
                       .hint = "direct"}}};
  };
  const auto check_even = [&](std::int64_t parts, const char* what) {
    if (parts % groups != 0 && groups % parts != 0)
      refuse(fmt::format("the {} groups of the model's experts do not lie evenly on {} {}", groups, parts, what));
  };
  if (by_gpu) check_even(work_.split.expert, "GPUs");
  if (per_server_ % ranks == 0) return;  // they stay inside a server
  if (ranks % per_server_ != 0 || per_server_ % work_.split.expert_tensor != 0)
    refuse(fmt::format("expert {} x expert_tensor {} = {} GPUs do not fill whole servers of {} GPUs",
                       work_.split.expert, work_.split.expert_tensor, ranks, per_server_));
  check_even(ranks / per_server_, "servers");
}

TimedUnit UnitTimes::layer(std::int64_t index) {
  const auto [known, is_new] =
      layers_.try_emplace({model_.kind_index(index), model_.is_causal(index), model_.has_cross_attention(index),
                           work_.trained.backward(model_, index), work_.trained.trains(WeightGroup::output, index)});
  if (is_new) known->second = timed_layer(index);
  return known->second;
}

PassCollective UnitTimes::sent(PassGroup of, CollectiveKind kind, const RankGroups& groups, Bytes bytes,
                               Time beside) const {
  return {of, kind, groups, bytes, 1, beside};
}

std::vector<RankGroups> UnitTimes::groups_of(PassGroup kind) const {
  const LayerSplit& split = work_.split;
  const int expert_tensor = static_cast<int>(split.expert_tensor);
  switch (kind) {
    case PassGroup::tensor:
      return {tensor_groups()};
    case PassGroup::context:
      return {{static_cast<int>(split.tensor), static_cast<int>(split.context)}};
    case PassGroup::expert:
      if (entry_.parallel->expert_exchange == ExpertExchange::joint)
        return {{1, expert_tensor * static_cast<int>(split.expert)}};
      return {{1, expert_tensor}, {expert_tensor, static_cast<int>(split.expert)}};
  }
  check_failed(__FILE__, __LINE__, "a kind of groups", "unknown");
}

bool UnitTimes::leaves_servers(PassGroup kind) const {
  const std::vector<RankGroups> all = groups_of(kind);
  return std::ranges::any_of(all, [&](const RankGroups& each) { return groups_.leaves_servers(each); });
}

Time UnitTimes::between_servers(const PassTraffic& traffic) {
  Time sum;
  for (const PassCollective& each : traffic.collectives)
    if (groups_.leaves_servers(each.groups)) sum += groups_(each.kind, each.groups, each.bytes) * each.times;
  return sum;
}

TimedUnit UnitTimes::embedding() {
  const std::vector<TransformerOperator> operators = embedding_operators(model_, work_);
  const OperatorTimes times = timed(operators);
  const CollectiveKind whole = sum_of_parts();
  const Time forward = groups_(whole, tensor_groups(), activations_);
  const bool trains = work_.trained.trains(WeightGroup::embedding, TrainedPart::kEmbedding);
  const bool gathers = work_.split.sequence_parallel && trains;
  const Time backward = gathers ? groups_(CollectiveKind::all_gather, tensor_groups(), activations_) : Time{};
  TimedUnit unit = made(times, {}, forward, backward, {.tensor = forward + backward});
  unit.unit.forward_traffic.add(PassGroup::tensor, forward, {sent_whole(whole)});
  if (gathers) unit.unit.backward_traffic.add(PassGroup::tensor, backward, {sent_whole(CollectiveKind::all_gather)});
  if (host_ != nullptr) unit.unit.host = host_->of(operators, {}, unit.unit);
  return unit;
}

TimedUnit UnitTimes::head() {
  std::vector<TransformerOperator> operators = head_operators(model_, work_), repeated;
  for (std::int64_t module = 0; module < model_.mtp_layers; ++module) {
    const std::vector<TransformerOperator> added = mtp_operators(model_, work_);
    operators.insert(operators.end(), added.begin(), added.end());
    if (computes_layers_again(entry_.recompute)) continue;
    const std::vector<TransformerOperator> again = recomputed_operators(added, entry_.recompute);
    repeated.insert(repeated.end(), again.begin(), again.end());
  }
  const OperatorTimes times = timed(operators);
  constexpr int kExchanges = 3, kFloatBytes = 4;
  const Bytes row{work_.context_tokens() * kFloatBytes};
  Time forward = groups_(CollectiveKind::all_reduce, tensor_groups(), row) * kExchanges;
  std::vector<PassCollective> rows{sent(PassGroup::tensor, CollectiveKind::all_reduce, tensor_groups(), row)};
  rows.front().times = kExchanges;
  if (work_.split.sequence_parallel) {
    forward += groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
    rows.push_back(sent_whole(CollectiveKind::all_gather));
  }
  const CollectiveKind sum = sum_of_parts();
  const Time hides = hiding_weights(times);
  Time backward;
  std::vector<PassCollective> back;
  if (work_.trained.backward(model_, TrainedPart::kHead) == BackwardPart::all) {
    backward = adds(groups_(sum, tensor_groups(), activations_), hides, tensor_groups());
    back.push_back(sent(PassGroup::tensor, sum, tensor_groups(), activations_, hides));
  }
  TimedUnit unit = made(times, timed(repeated).forward, forward, backward, {.tensor = forward + backward});
  unit.unit.forward_traffic.add(PassGroup::tensor, forward, rows);
  unit.unit.backward_traffic.add(PassGroup::tensor, backward, back);
  if (host_ != nullptr) unit.unit.host = host_->of(operators, repeated, unit.unit);
  return unit;
}

void UnitTimes::add_copies(const TrainingIteration& job, std::int64_t elements, TimedUnit& timed) const {
  if (entry_.runtime != Runtime::fsdp2 || entry_.parallel->zero < 3) return;
  const double gathered = 2.0 * static_cast<double>(elements * job.weight_bytes);
  TransformerOperator copies;
  copies.name = "copies";
  copies.m = elements;
  copies.n = 1;
  copies.forward = {0, gathered, 1};
  if (entry_.parallel->reshard) copies.input_gradient = {0, gathered, 1};
  copies.weight_gradient = {0, static_cast<double>(elements * (job.weight_bytes + job.gradient_bytes)), 1};
  const OperatorTimes times = this->timed({copies});
  timed.unit.forward += times.forward;
  timed.unit.backward_input += times.input_gradient;
  timed.unit.backward_weight += times.weight_gradient;
  timed.shares.compute += times.forward + times.backward();
}

Time UnitTimes::gather_message() {
  if (work_.split.sequence_parallel) return {};
  return groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
}

PassCollective UnitTimes::gathered_message() const {
  PassCollective message = sent_whole(CollectiveKind::all_gather);
  if (work_.split.sequence_parallel) message.times = 0;
  return message;
}

/// Gradients of weights that a pass computes beside the collectives of its inputs' gradients.
Time UnitTimes::hiding_weights(const OperatorTimes& times) const {
  return weight_passes_ ? Time{} : times.weight_gradient;
}

OperatorTimes UnitTimes::timed(const std::vector<TransformerOperator>& operators) const {
  return operator_times(operators, entry_);
}

/// Operators that are cut into pieces, which are kernels of their own.
OperatorTimes UnitTimes::timed_pieces(const std::vector<TransformerOperator>& operators, int pieces) const {
  std::vector<TransformerOperator> cut;
  for (const TransformerOperator& each : operators) cut.push_back(piece_of(each, pieces));
  const OperatorTimes piece = timed(cut);
  return {piece.forward * pieces, piece.input_gradient * pieces, piece.weight_gradient * pieces};
}

const Interference& UnitTimes::interference(const RankGroups& groups) const {
  return groups_.leaves_servers(groups) ? between_ : inside_;
}

/// What a message adds to the computing that goes on beside it: what is left of it, and what the two cost each other.
Time UnitTimes::adds(Time message, Time hides, const RankGroups& groups) const {
  return time_together(hides, message, interference(groups)) - hides;
}

/// Attention whose keys come in blocks, a kernel for each of them and a sum behind each but the first. A causal mask
/// costs every rank as much, as each has a piece from the begin of the sequence and one from its end.
OperatorTimes UnitTimes::in_blocks(const std::vector<TransformerOperator>& attention, int blocks) const {
  const std::int64_t width = kind_->context_width() / work_.split.tensor;
  const std::int64_t key_width = (kind_->key_width() + kind_->value_width()) / work_.split.tensor;
  return in_blocks(attention, blocks, merge_of_attention(work_, width, key_width));
}

OperatorTimes UnitTimes::in_blocks(const std::vector<TransformerOperator>& attention, int blocks,
                                   const TransformerOperator& sum) const {
  const OperatorTimes kernels = timed_pieces(attention, blocks);
  const OperatorTimes merge = timed({sum});
  return {kernels.forward + merge.forward * (blocks - 1), kernels.input_gradient + merge.input_gradient * (blocks - 1),
          kernels.weight_gradient};
}

/// The ring of context parallelism: each step sends keys and values beside the attention of the block at hand.
UnitTimes::Added UnitTimes::context_parallel(const std::vector<TransformerOperator>& operators) {
  const std::int64_t degree = work_.split.context;
  if (degree == 1) return {};
  std::vector<TransformerOperator> core;
  for (const TransformerOperator& each : operators)
    if (each.part == LayerPart::core_attention) core.push_back(each);
  const Bytes block{work_.context_tokens() * (kind_->key_width() + kind_->value_width()) / work_.split.tensor *
                    activation_bytes(work_.type)};
  const RankGroups ring{static_cast<int>(work_.split.tensor), static_cast<int>(degree)};
  const ContextExchange exchange = entry_.parallel->context_exchange;
  const bool is_token_ring = exchange == ContextExchange::token_ring;
  if (exchange == ContextExchange::gathered_ring) return gathered_ring(core, ring);
  if (exchange != ContextExchange::ring && !is_token_ring) return gathered_context(ring, block);
  const auto part = [&](Time whole) { return Time::nanoseconds(whole.ns() / degree); };
  // Each rank sends as much as if all of them gathered the blocks of all.
  const auto round = [&](Bytes each, Time beside) {
    return std::vector{
        sent(PassGroup::context, CollectiveKind::all_gather, ring, each * degree, part(beside) * (degree - 1))};
  };
  if (!is_token_ring && !work_.documents.empty()) return rings_of_documents(core, block);
  const OperatorTimes whole = timed(core), attention = in_blocks(core, static_cast<int>(degree));
  const auto step = [&](Bytes each, Time time) { return adds(groups_.to_next(ring, each), part(time), ring); };
  Added added{step(block, attention.forward) * (degree - 1),
              step(block + block, attention.backward()) * (degree - 1),
              round(block, attention.forward),
              round(block + block, attention.backward()),
              attention.forward - whole.forward,
              attention.backward() - whole.backward()};
  if (!is_token_ring) return added;
  // Both directions carry a message at a time: queries of the next block, outputs with the logarithms of their sums of
  // exponentials in fp32. The last outputs return when there is nothing left to compute.
  constexpr std::int64_t kFloatBytes = 4;
  const auto bytes_of = [&](std::int64_t width, std::int64_t each) {
    return Bytes{work_.context_tokens() * width / work_.split.tensor * each};
  };
  const Bytes outputs =
      bytes_of(kind_->context_width(), activation_bytes(work_.type)) + bytes_of(kind_->heads, kFloatBytes);
  const Bytes larger = std::max(bytes_of(kind_->query_width(), activation_bytes(work_.type)), outputs);
  added.forward = step(larger, attention.forward) * (degree - 1) + groups_.to_next(ring, outputs);
  added.forward_sent = round(larger, attention.forward);
  added.forward_sent.push_back(
      sent(PassGroup::context, CollectiveKind::all_gather, ring, Bytes{outputs.count() * degree / (degree - 1)}));
  return added;
}

/// The ring of PyTorch (torch/distributed/tensor/experimental/_attention.py). It has a key and a value for each query
/// head. They are gathered at once beside the attention of the own block, each block is copied out and its outputs are
/// added up in fp32. In the backward pass the gradients of keys and values, in fp32 and one buffer, go on to the next
/// rank behind each block, beside the attention of the next one.
UnitTimes::Added UnitTimes::gathered_ring(const std::vector<TransformerOperator>& attention, const RankGroups& ring) {
  constexpr int kFloatBytes = 4;
  const std::int64_t degree = work_.split.context, tokens = work_.context_tokens();
  const std::int64_t width = kind_->context_width() / work_.split.tensor;
  const std::int64_t key_width = (kind_->query_width() + kind_->context_width()) / work_.split.tensor;
  const int narrow = activation_bytes(work_.type);
  TransformerOperator sum = merge_of_attention(work_, width, key_width, kFloatBytes);
  const auto copied = [&](int bytes) { return 2.0 * static_cast<double>(tokens * key_width * bytes); };
  sum.forward.bytes += copied(narrow);
  sum.forward.kernels += 1;
  sum.input_gradient.bytes += copied(narrow) + copied(kFloatBytes);
  sum.input_gradient.kernels += 2;
  const OperatorTimes whole = timed(attention), blocks = in_blocks(attention, static_cast<int>(degree), sum);
  const Bytes keys{tokens * key_width * narrow * degree}, gradients{tokens * key_width * kFloatBytes};
  const auto block_of = [&](Time all) { return Time::nanoseconds(all.ns() / degree); };
  const Time forward = block_of(blocks.forward), backward = block_of(blocks.backward());
  const Time gathering = groups_(CollectiveKind::all_gather, ring, keys), hop = groups_.to_next(ring, gradients);
  const auto gathered = [&](Bytes bytes, Time beside) {
    return sent(PassGroup::context, CollectiveKind::all_gather, ring, bytes, beside);
  };
  // Each rank sends as much as if all of them gathered the gradients of all.
  return {adds(gathering, forward, ring),
          adds(gathering, backward, ring) + adds(hop, backward, ring) * (degree - 1) + hop,
          {gathered(keys, forward)},
          {gathered(keys, backward), gathered(gradients * degree, backward * (degree - 1)),
           gathered(Bytes{gradients.count() * degree / (degree - 1)}, {})},
          blocks.forward - whole.forward,
          blocks.backward() - whole.backward()};
}

/// The groups of equal size as which the network carries rings of `degree` GPUs, on a server with `among` if it is one.
RankGroups UnitTimes::groups_of_rings(int degree, int among) const {
  const int ranks = groups_.ranks() / static_cast<int>(work_.split.tensor);
  const int inside = degree <= among ? std::gcd(among, ranks) : 1;
  const int whole = inside > 1 ? inside : ranks;
  int size = whole;
  for (int each = degree; each < whole && size == whole; ++each)
    if (whole % each == 0) size = each;
  return {static_cast<int>(work_.split.tensor), size};
}

/// Rings of as many ranks as each document has: the part of a micro-batch's tokens that are of documents on n ranks
/// takes that part of the time which all of them would take in rings of n, beside the attention of these documents.
UnitTimes::Added UnitTimes::rings_of_documents(const std::vector<TransformerOperator>& attention, Bytes block) {
  const double all = attention_of(work_.documents);
  const auto tensor = static_cast<int>(work_.split.tensor);
  const int ranks = groups_.ranks() / tensor, among = std::clamp(per_server_ / tensor, 1, ranks);
  const OperatorTimes uncut = timed(attention);
  Added added;
  for (const AttentionPart& documents : work_.documents) {
    if (documents.degree == 1 || documents.tokens <= 0 || all <= 0) continue;
    const RankGroups ring{tensor, documents.degree};
    // Ranks that were chosen by length lie on one server, where as many rings go at once as there is room for; or
    // they are on several servers, as all rings of consecutive ranks are.
    const bool are_chosen = entry_.parallel->context_degree == ContextDegree::by_length;
    const bool are_inside = are_chosen && documents.servers == 1;
    const int timed = are_inside ? among : ranks;
    const RankGroups groups = are_chosen ? groups_of_rings(documents.degree, are_inside ? among : 1) : ring;
    const auto scaled = [](auto what, double by) { return std::llround(static_cast<double>(what) * by); };
    const OperatorTimes blocks = in_blocks(attention, documents.degree);
    const auto own_of = [&](Time whole) { return Time::nanoseconds(scaled(whole.ns(), documents.attention / all)); };
    added.forward_pieces += own_of(blocks.forward - uncut.forward);
    added.backward_pieces += own_of(blocks.backward() - uncut.backward());
    const auto add = [&](Time whole, Bytes message, Time& time, std::vector<PassCollective>& sends) {
      const Time own = own_of(whole);  // of these documents
      const Time step = Time::nanoseconds(scaled(own.ns(), 1 / documents.tokens / documents.degree));
      const Time sent_on = groups_.to_next(ring, message, timed / documents.degree * documents.degree * tensor);
      const Time waits = adds(sent_on, step, ring) * (documents.degree - 1);
      time += Time::nanoseconds(scaled(waits.ns(), documents.tokens));
      // In groups of another size each rank sends as much.
      const double as_much = static_cast<double>(documents.degree - 1) * groups.size / std::max(groups.size - 1, 1);
      sends.push_back(sent(PassGroup::context, CollectiveKind::all_gather, groups,
                           Bytes{scaled(message.count(), as_much * documents.tokens)},
                           Time::nanoseconds(own.ns() / documents.degree * (documents.degree - 1))));
    };
    add(blocks.forward, block, added.forward, added.forward_sent);
    add(blocks.backward(), block + block, added.backward, added.backward_sent);
  }
  return added;
}

/// Context parallelism whose exchange nothing hides: keys and values are gathered, or all ranks trade shares of the
/// sequence for shares of the heads.
UnitTimes::Added UnitTimes::gathered_context(const RankGroups& groups, Bytes block) {
  const std::int64_t degree = work_.split.context;
  const auto collective = [&](CollectiveKind kind, Bytes bytes) {
    return sent(PassGroup::context, kind, groups, bytes);
  };
  Added added;
  if (entry_.parallel->context_exchange == ContextExchange::all_gather) {
    added.forward_sent = {collective(CollectiveKind::all_gather, block * degree)};
    added.backward_sent = {collective(CollectiveKind::all_gather, block * degree),
                           collective(CollectiveKind::reduce_scatter, block * degree)};
  } else {
    // Where there are fewer key and value heads than ranks, several ranks get the same ones.
    const std::int64_t own_heads = std::max<std::int64_t>(1, kind_->key_value_heads / work_.split.tensor);
    const std::int64_t copies = std::max<std::int64_t>(1, degree / own_heads);
    const auto bytes_of = [&](std::int64_t width) {
      return Bytes{work_.context_tokens() * width / work_.split.tensor * activation_bytes(work_.type)};
    };
    added.forward_sent = {collective(CollectiveKind::all_to_all, bytes_of(kind_->query_width()) + block * copies),
                          collective(CollectiveKind::all_to_all, bytes_of(kind_->context_width()))};
    added.backward_sent = added.forward_sent;
  }
  for (const PassCollective& each : added.forward_sent) added.forward += groups_(each.kind, groups, each.bytes);
  for (const PassCollective& each : added.backward_sent) added.backward += groups_(each.kind, groups, each.bytes);
  return added;
}

/// What the backward pass sends once more to compute this module again. Of latent attention by itself the short vectors
/// are gathered. Where single operators are kept, outputs of attention and of reduce-scatters are among them, and
/// nothing needs the sum behind the feed-forward.
UnitTimes::Added UnitTimes::sent_again(const Added& added, PassGroup group, Recomputation module) {
  Added again;
  if (repeats(entry_.recompute, module)) {
    again.forward = added.forward;
    again.forward_sent = added.forward_sent;
    again.forward_pieces = added.forward_pieces;
  } else if (module == Recomputation::rest && group == PassGroup::tensor && work_.split.sequence_parallel &&
             kind_->latent && repeats(entry_.recompute, Recomputation::mla_up_proj)) {
    const LatentAttention& latent = *kind_->latent;
    const std::int64_t query = latent.query_rank > 0 ? latent.query_rank : model_.hidden;
    const Bytes vectors{work_.context_tokens() * (query + latent.key_value_rank) * activation_bytes(work_.type)};
    again.forward = groups_(CollectiveKind::all_gather, tensor_groups(), vectors);
    again.forward_sent = {sent(group, CollectiveKind::all_gather, tensor_groups(), vectors)};
  }
  if (entry_.recompute != Recomputation::operators || group != PassGroup::tensor) return again;
  for (const PassCollective& each : added.forward_sent) {
    const bool is_needed =
        work_.split.sequence_parallel ? each.kind == CollectiveKind::all_gather : module != Recomputation::mlp;
    if (!is_needed) continue;
    again.forward += groups_(each.kind, each.groups, each.bytes);
    again.forward_sent.push_back(each);
    again.forward_sent.back().beside = {};  // not every product beside it runs again
  }
  return again;
}

/// A host that reads the counts of tokens in each forward pass of a layer is no further ahead of its device than a
/// layer: the layer takes as long as the slower of them, and the device has nothing to do until the host goes on.
/// Experts that are padded to a capacity have known counts.
void UnitTimes::wait_for_routing(TimedUnit& layer) const {
  if (host_->routing_wait == Time{} || entry_.parallel->expert_load.capacity) return;
  ModelUnit& unit = layer.unit;
  const Time waits = std::max(unit.host.forward, unit.forward) - unit.forward + host_->routing_wait;
  unit.forward += waits;
  layer.shares.launches = waits;
  if (!repeats(entry_.recompute, Recomputation::moe)) return;
  unit.backward_input += waits;
  layer.shares.launches += waits;
}

TimedUnit UnitTimes::timed_layer(std::int64_t index) {
  kind_ = &model_.kind_of(index);
  const std::vector<TransformerOperator> operators = transformer_operators(model_, index, work_);
  const OperatorTimes times = timed(operators);
  PassShares shares;
  PassTraffic forward, backward;
  Added all, again;  // `again`: what the backward pass sends to compute the forward pass once more
  const bool goes_back = has_backward(index);
  const auto add = [&](Added added, PassGroup group, Time PassShares::*share, Recomputation module) {
    if (!goes_back) added = {added.forward, {}, std::move(added.forward_sent), {}, added.forward_pieces, {}};
    forward.add(group, added.forward, added.forward_sent);
    backward.add(group, added.backward, added.backward_sent);
    const Added repeated = goes_back ? sent_again(added, group, module) : Added{};
    backward.add(group, repeated.forward, repeated.forward_sent);
    all.forward += added.forward + added.forward_pieces;
    all.backward += added.backward + added.backward_pieces;
    again.forward += repeated.forward + repeated.forward_pieces;
    shares.*share += added.forward + added.backward + repeated.forward;
    shares.*share += added.forward_pieces + added.backward_pieces + repeated.forward_pieces;
  };
  const auto add_block = [&](LayerPart part, Recomputation module) {
    add(tensor_parallel(products_of(operators, part)), PassGroup::tensor, &PassShares::tensor, module);
  };
  if (kind_->attends) add_block(LayerPart::attention, Recomputation::rest);
  if (kind_->feed_forward > 0 && !kind_->mixture) add_block(LayerPart::feed_forward, Recomputation::mlp);
  if (kind_->has_attention())
    add(context_parallel(operators), PassGroup::context, &PassShares::context,
        work_.flash_attention ? Recomputation::rest : Recomputation::core_attn);
  const Added exchange = kind_->mixture ? expert_parallel(index) : Added{};
  add(exchange, PassGroup::expert, &PassShares::expert, Recomputation::moe);
  std::vector<TransformerOperator> repeated;
  if (goes_back) repeated = recomputed_operators(operators, entry_.recompute);
  TimedUnit layer = made(times, timed(repeated).forward, all.forward, all.backward + again.forward, shares);
  if (entry_.parallel->offload.activations)
    layer.unit.offloaded = layer_activations(model_, index, work_, entry_.recompute).kept();
  layer.unit.forward_traffic = std::move(forward);
  layer.unit.backward_traffic = std::move(backward);
  layer.unit.forward_exchange = exchange.forward;
  const bool again_there = repeats(entry_.recompute, Recomputation::moe);
  if (goes_back) layer.unit.backward_exchange = exchange.backward + (again_there ? exchange.forward : Time{});
  if (host_ != nullptr) layer.unit.host = host_->of(operators, repeated, layer.unit);
  if (host_ != nullptr && kind_->mixture) wait_for_routing(layer);
  return layer;
}

}  // namespace contend
