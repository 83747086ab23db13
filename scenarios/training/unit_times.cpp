#include "scenarios/training/unit_times.hpp"

#include "calibration/transformer_times.hpp"
#include "models/parallel/memory.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace contend {
namespace {

Time beyond(Time what, Time hides) {
  return what > hides ? what - hides : Time{};
}

TimedUnit made(const OperatorTimes& times, Time recompute, Time forward, Time backward, PassShares shares) {
  ModelUnit unit;
  unit.forward = times.forward + forward;
  unit.backward_input = times.input_gradient + recompute + backward;
  unit.backward_weight = times.weight_gradient;
  shares.compute = times.forward + times.backward();
  shares.recompute += recompute;
  return {unit, shares};
}

}  // namespace

OperatorTimes operator_times(std::span<const TransformerOperator> operators, const TrainingEntry& entry) {
  if (entry.device.calibrated) return calibrated_operator_times(operators, *entry.device.calibrated).times;
  RooflineOptions options = roofline_options(entry);
  options.attention_efficiency = entry.attention_efficiency;
  return operator_times(operators, sheet_of(entry.device), options);
}

PassShares& PassShares::operator+=(const PassShares& other) {
  compute += other.compute;
  recompute += other.recompute;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  compression += other.compression;
  return *this;
}

UnitTimes::UnitTimes(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                     const TrainingEntry& entry, const TransformerModel& model, const MicroBatch& work, int ranks,
                     bool weight_passes, int first)
    : entry_{entry},
      model_{model},
      work_{work},
      host_{host_of(entry)},
      weight_passes_{weight_passes},
      per_server_{cluster.gpus_per_server},
      groups_{cluster, network, seed, ranks, first} {
  const double tokens = static_cast<double>(work_.context_tokens());
  activations_ = Bytes{static_cast<std::int64_t>(tokens) * model_.hidden * activation_bytes(work_.type)};
  const std::int64_t ranks_of_heads = work_.split.tensor * work_.split.context;
  if (entry_.parallel->context_exchange == ContextExchange::all_to_all && model_.heads % ranks_of_heads != 0)
    throw InputError{{{.key = "parallel.context_exchange",
                       .reason = fmt::format("all-to-all: tensor {} x context {} does not divide the {} heads of {}",
                                             work_.split.tensor, work_.split.context, model_.heads, model_.name),
                       .hint = "ring or all-gather cut no heads"}}};
  if (model_.mixture && entry_.parallel->expert_exchange == ExpertExchange::by_server) check_servers_of_experts();
}

/// Tokens that go by server need servers that one group of experts fills, with the experts of whole groups.
void UnitTimes::check_servers_of_experts() const {
  const std::int64_t ranks = work_.split.expert_tensor * work_.split.expert;
  if (per_server_ % ranks == 0) return;  // they stay inside a server
  const std::int64_t servers = ranks / per_server_, groups = model_.mixture->groups;
  if (ranks % per_server_ != 0 || per_server_ % work_.split.expert_tensor != 0)
    throw InputError{
        {{.key = "parallel.expert_exchange",
          .reason = fmt::format("by-server: expert {} x expert_tensor {} = {} GPUs do not fill whole servers "
                                "of {} GPUs",
                                work_.split.expert, work_.split.expert_tensor, ranks, per_server_),
          .hint = "choose degrees that do, or direct"}}};
  if (servers % groups != 0 && groups % servers != 0)
    throw InputError{{{.key = "parallel.expert_exchange",
                       .reason = fmt::format("by-server: the {} groups of the model's experts do not lie evenly on {} "
                                             "servers",
                                             groups, servers),
                       .hint = "direct"}}};
}

TimedUnit UnitTimes::layer(std::int64_t index) {
  const auto [known, is_new] =
      layers_.try_emplace({model_.is_mixture(index), model_.is_causal(index), model_.has_cross_attention(index)});
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
  const CollectiveKind whole =
      work_.split.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const Time forward = groups_(whole, tensor_groups(), activations_);
  const Time backward =
      work_.split.sequence_parallel ? groups_(CollectiveKind::all_gather, tensor_groups(), activations_) : Time{};
  TimedUnit unit = made(times, {}, forward, backward, {.tensor = forward + backward});
  unit.unit.forward_traffic.add(PassGroup::tensor, forward,
                                {sent(PassGroup::tensor, whole, tensor_groups(), activations_)});
  if (work_.split.sequence_parallel)
    unit.unit.backward_traffic.add(
        PassGroup::tensor, backward,
        {sent(PassGroup::tensor, CollectiveKind::all_gather, tensor_groups(), activations_)});
  if (host_ != nullptr) unit.unit.host = host_->of(operators, {}, unit.unit);
  return unit;
}

TimedUnit UnitTimes::head() {
  std::vector<TransformerOperator> operators = head_operators(model_, work_);
  for (std::int64_t module = 0; module < model_.mtp_layers; ++module) {
    const std::vector<TransformerOperator> added = mtp_operators(model_, work_);
    operators.insert(operators.end(), added.begin(), added.end());
  }
  const OperatorTimes times = timed(operators);
  constexpr int kExchanges = 3, kFloatBytes = 4;
  const Bytes row{work_.context_tokens() * kFloatBytes};
  Time forward = groups_(CollectiveKind::all_reduce, tensor_groups(), row) * kExchanges;
  std::vector<PassCollective> rows{sent(PassGroup::tensor, CollectiveKind::all_reduce, tensor_groups(), row)};
  rows.front().times = kExchanges;
  if (work_.split.sequence_parallel) {
    forward += groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
    rows.push_back(sent(PassGroup::tensor, CollectiveKind::all_gather, tensor_groups(), activations_));
  }
  const CollectiveKind sum =
      work_.split.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const Time hides = hiding_weights(times);
  const Time backward = beyond(groups_(sum, tensor_groups(), activations_), hides);
  TimedUnit unit = made(times, {}, forward, backward, {.tensor = forward + backward});
  unit.unit.forward_traffic.add(PassGroup::tensor, forward, rows);
  unit.unit.backward_traffic.add(PassGroup::tensor, backward,
                                 {sent(PassGroup::tensor, sum, tensor_groups(), activations_, hides)});
  if (host_ != nullptr) unit.unit.host = host_->of(operators, {}, unit.unit);
  return unit;
}

Time UnitTimes::gather_message() {
  if (work_.split.sequence_parallel) return {};
  return groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
}

PassCollective UnitTimes::gathered_message() const {
  PassCollective message = sent(PassGroup::tensor, CollectiveKind::all_gather, tensor_groups(), activations_);
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

UnitTimes::BlockProducts UnitTimes::products_of(const std::vector<TransformerOperator>& operators,
                                                LayerPart part) const {
  std::vector<TransformerOperator> products;
  for (const TransformerOperator& each : operators)
    if (each.part == part && each.kind == OperatorKind::product) products.push_back(each);
  if (products.empty()) return {};
  const OperatorTimes last = timed({products.back()});
  products.pop_back();
  return {products.empty() ? OperatorTimes{} : timed(products), last};
}

/// With tensor_overlap a product and the ring of the t ranks beside it are cut into t pieces. A gathering has t - 1
/// steps, and the first piece is there before it: together both take max(product, gathering + product / t). The
/// reduction behind a product takes the same turns, from the end. So this much of the product hides a collective.
Time UnitTimes::beside_pieces(Time product) const {
  if (!entry_.parallel->tensor_overlap) return {};
  return product - Time::nanoseconds(product.ns() / work_.split.tensor);
}

/// The communication of a block whose inputs' gradients can hide theirs behind the products of the weights.
UnitTimes::Added UnitTimes::tensor_parallel(const BlockProducts& products) {
  if (work_.split.tensor == 1) return {};
  const OperatorTimes& first = products.first;
  const Time hides = hiding_weights(first);
  const auto collective = [&](CollectiveKind kind, Time beside) {
    return sent(PassGroup::tensor, kind, tensor_groups(), activations_, beside);
  };
  if (!work_.split.sequence_parallel) {
    const Time sum = groups_(CollectiveKind::all_reduce, tensor_groups(), activations_);
    return {sum,
            beyond(sum, hides),
            {collective(CollectiveKind::all_reduce, {})},
            {collective(CollectiveKind::all_reduce, hides)}};
  }
  const Time gather = groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
  const Time scatter = groups_(CollectiveKind::reduce_scatter, tensor_groups(), activations_);
  const Time before = beside_pieces(first.forward), behind = beside_pieces(products.last.forward);
  const Time back = beside_pieces(products.last.input_gradient);
  return {beyond(gather, before) + beyond(scatter, behind),
          beyond(gather, back) + beyond(gather, first.input_gradient) + beyond(scatter, hides),
          {collective(CollectiveKind::all_gather, before), collective(CollectiveKind::reduce_scatter, behind)},
          {collective(CollectiveKind::all_gather, back), collective(CollectiveKind::all_gather, first.input_gradient),
           collective(CollectiveKind::reduce_scatter, hides)}};
}

/// The ring of context parallelism: each step sends keys and values beside the attention of the block at hand.
UnitTimes::Added UnitTimes::context_parallel(const std::vector<TransformerOperator>& operators) {
  const std::int64_t degree = work_.split.context;
  if (degree == 1) return {};
  std::vector<TransformerOperator> core;
  for (const TransformerOperator& each : operators)
    if (each.part == LayerPart::core_attention) core.push_back(each);
  const OperatorTimes attention = timed(core);
  const Bytes block{work_.context_tokens() * (model_.key_width() + model_.value_width()) / work_.split.tensor *
                    activation_bytes(work_.type)};
  const RankGroups ring{static_cast<int>(work_.split.tensor), static_cast<int>(degree)};
  const ContextExchange exchange = entry_.parallel->context_exchange;
  const bool is_token_ring = exchange == ContextExchange::token_ring;
  if (exchange != ContextExchange::ring && !is_token_ring) return gathered_context(ring, block);
  const auto part = [&](Time whole) { return Time::nanoseconds(whole.ns() / degree); };
  // Each rank sends as much as if all of them gathered the blocks of all.
  const auto round = [&](Bytes each, Time beside) {
    return std::vector{
        sent(PassGroup::context, CollectiveKind::all_gather, ring, each * degree, part(beside) * (degree - 1))};
  };
  if (!is_token_ring && !work_.documents.empty()) return rings_of_documents(attention, block);
  Added added{beyond(groups_.to_next(ring, block), part(attention.forward)) * (degree - 1),
              beyond(groups_.to_next(ring, block + block), part(attention.backward())) * (degree - 1),
              round(block, attention.forward), round(block + block, attention.backward())};
  if (!is_token_ring) return added;
  // Both directions carry a message at a time: queries of the next block, outputs with the logarithms of their sums of
  // exponentials in fp32. The last outputs return when there is nothing left to compute.
  constexpr std::int64_t kFloatBytes = 4;
  const auto bytes_of = [&](std::int64_t width, std::int64_t each) {
    return Bytes{work_.context_tokens() * width / work_.split.tensor * each};
  };
  const Bytes outputs =
      bytes_of(model_.context_width(), activation_bytes(work_.type)) + bytes_of(model_.heads, kFloatBytes);
  const Bytes larger = std::max(bytes_of(model_.query_width(), activation_bytes(work_.type)), outputs);
  added.forward =
      beyond(groups_.to_next(ring, larger), part(attention.forward)) * (degree - 1) + groups_.to_next(ring, outputs);
  added.forward_sent = round(larger, attention.forward);
  added.forward_sent.push_back(
      sent(PassGroup::context, CollectiveKind::all_gather, ring, Bytes{outputs.count() * degree / (degree - 1)}));
  return added;
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
UnitTimes::Added UnitTimes::rings_of_documents(const OperatorTimes& attention, Bytes block) {
  const double all = attention_of(work_.documents);
  const auto tensor = static_cast<int>(work_.split.tensor);
  const int ranks = groups_.ranks() / tensor, among = std::clamp(per_server_ / tensor, 1, ranks);
  Added added;
  for (const AttentionPart& documents : work_.documents) {
    if (documents.degree == 1 || documents.tokens <= 0 || all <= 0) continue;
    const RankGroups ring{tensor, documents.degree};
    // Ranks that were chosen by length are those of one server, where as many rings go at once as there is room for; or
    // they are on several servers, as all rings of consecutive ranks are.
    const bool are_chosen = entry_.parallel->context_degree == ContextDegree::by_length;
    const bool are_inside = are_chosen && documents.servers == 1;
    const int timed = are_inside ? among : ranks;
    const RankGroups groups = are_chosen ? groups_of_rings(documents.degree, are_inside ? among : 1) : ring;
    const auto scaled = [](auto what, double by) { return std::llround(static_cast<double>(what) * by); };
    const auto add = [&](Time whole, Bytes message, Time& time, std::vector<PassCollective>& sends) {
      const Time own = Time::nanoseconds(scaled(whole.ns(), documents.attention / all));  // of these documents
      const Time step = Time::nanoseconds(scaled(own.ns(), 1 / documents.tokens / documents.degree));
      const Time sent_on = groups_.to_next(ring, message, timed / documents.degree * documents.degree * tensor);
      const Time waits = beyond(sent_on, step) * (documents.degree - 1);
      time += Time::nanoseconds(scaled(waits.ns(), documents.tokens));
      // In groups of another size each rank sends as much.
      const double as_much = static_cast<double>(documents.degree - 1) * groups.size / std::max(groups.size - 1, 1);
      sends.push_back(sent(PassGroup::context, CollectiveKind::all_gather, groups,
                           Bytes{scaled(message.count(), as_much * documents.tokens)},
                           Time::nanoseconds(own.ns() / documents.degree * (documents.degree - 1))));
    };
    add(attention.forward, block, added.forward, added.forward_sent);
    add(attention.backward(), block + block, added.backward, added.backward_sent);
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
    const std::int64_t own_heads = std::max<std::int64_t>(1, model_.key_value_heads / work_.split.tensor);
    const std::int64_t copies = std::max<std::int64_t>(1, degree / own_heads);
    const auto bytes_of = [&](std::int64_t width) {
      return Bytes{work_.context_tokens() * width / work_.split.tensor * activation_bytes(work_.type)};
    };
    added.forward_sent = {collective(CollectiveKind::all_to_all, bytes_of(model_.query_width()) + block * copies),
                          collective(CollectiveKind::all_to_all, bytes_of(model_.context_width()))};
    added.backward_sent = added.forward_sent;
  }
  for (const PassCollective& each : added.forward_sent) added.forward += groups_(each.kind, groups, each.bytes);
  for (const PassCollective& each : added.backward_sent) added.backward += groups_(each.kind, groups, each.bytes);
  return added;
}

/// The exchange of one of `pieces` pieces of a micro-batch's tokens with their experts, in either pass.
ExpertPiece UnitTimes::exchange_of_piece(int pieces, std::vector<PassCollective>& sends) {
  const LayerSplit& split = work_.split;
  const auto bytes_of = [&](double tokens) {
    return Bytes{static_cast<std::int64_t>(tokens) * model_.hidden * activation_bytes(work_.type)};
  };
  const double tokens = static_cast<double>(work_.tokens()) * work_.expert_imbalance / pieces;
  const Bytes copies = bytes_of(tokens * static_cast<double>(model_.mixture->top_k));
  const RankGroups experts{static_cast<int>(split.expert_tensor), static_cast<int>(split.expert)};
  const RankGroups inside{1, static_cast<int>(split.expert_tensor)};
  const Bytes arrived = bytes_of(arrived_tokens(model_, work_) / pieces);
  ExpertPiece piece;
  if (entry_.parallel->expert_exchange == ExpertExchange::joint) {
    const RankGroups all{1, experts.stride * experts.size};
    const Bytes parts = copies * split.expert_tensor;
    piece.dispatch = piece.combine = groups_(CollectiveKind::all_to_all, all, parts);
    sends = {sent(PassGroup::expert, CollectiveKind::all_to_all, all, parts)};
    sends.back().times = 2;
    return piece;
  }
  piece.spread = groups_(CollectiveKind::all_gather, inside, arrived);
  piece.collect = groups_(CollectiveKind::reduce_scatter, inside, arrived);
  sends = {sent(PassGroup::expert, CollectiveKind::all_gather, inside, arrived),
           sent(PassGroup::expert, CollectiveKind::reduce_scatter, inside, arrived)};
  const auto both_ways = [&](const RankGroups& groups, Bytes bytes) {
    sends.push_back(sent(PassGroup::expert, CollectiveKind::all_to_all, groups, bytes));
    sends.back().times = 2;
  };
  if (const int servers = servers_of_experts(); servers > 1) {
    const double even = static_cast<double>(work_.tokens()) / pieces;
    const Bytes once = bytes_of(even * work_.server_imbalance * servers_of_token(*model_.mixture, servers));
    const RankGroups far{per_server_, servers}, near{experts.stride, per_server_ / experts.stride};
    piece.dispatch = groups_(CollectiveKind::all_to_all, far, once);
    const Time local = groups_(CollectiveKind::all_to_all, near, copies);
    both_ways(far, once);
    both_ways(near, copies);
    piece.spread += local;
    piece.collect += local;
  } else {
    piece.dispatch = groups_(CollectiveKind::all_to_all, experts, copies);
    both_ways(experts, copies);
  }
  piece.combine = piece.dispatch;
  return piece;
}

int UnitTimes::servers_of_experts() const {
  const RankGroups experts{static_cast<int>(work_.split.expert_tensor), static_cast<int>(work_.split.expert)};
  if (entry_.parallel->expert_exchange != ExpertExchange::by_server || !groups_.leaves_servers(experts)) return 1;
  return experts.stride * experts.size / per_server_;
}

UnitTimes::ExpertPrices UnitTimes::expert_prices() {
  if (!model_.mixture || work_.split.expert == 1) return {};
  std::int64_t layer = 0;
  while (layer + 1 < model_.layers && !model_.is_mixture(layer)) ++layer;
  std::vector<PassCollective> sends;
  const ExpertPiece piece = exchange_of_piece(1, sends);
  const OperatorTimes computing = experts_of_piece(layer, 1);
  ExpertPrices prices{computing.forward + computing.backward(), {}};
  (servers_of_experts() > 1 ? prices.server : prices.rank) += (piece.dispatch + piece.combine) * 2;
  prices.rank += (piece.spread + piece.collect) * 2;
  return prices;
}

/// The collectives of all pieces. Nothing goes on beside the dispatch of the first and the combination of the last;
/// beside the others the experts compute.
std::vector<PassCollective> UnitTimes::in_pieces(const std::vector<PassCollective>& of_piece, int pieces,
                                                 Time computing) const {
  std::vector<PassCollective> all = of_piece;
  if (pieces == 1) return all;
  std::vector<const PassCollective*> sending;
  for (const PassCollective& each : of_piece)
    if (each.groups.size > 1 && each.bytes > Bytes{}) sending.push_back(&each);
  for (const PassCollective* each : sending) {
    PassCollective hidden = *each;
    hidden.times *= pieces - 1;
    hidden.beside = Time::nanoseconds(computing.ns() * pieces / std::ssize(sending));
    all.push_back(hidden);
  }
  return all;
}

/// What the fullest rank of the experts computes for a piece.
OperatorTimes UnitTimes::experts_of_piece(std::int64_t index, int pieces) const {
  MicroBatch part = work_;
  part.expert_imbalance /= pieces;  // so many tokens arrive, for the same experts
  std::vector<TransformerOperator> experts;
  for (const TransformerOperator& each : transformer_operators(model_, index, part))
    if (each.part == LayerPart::experts) experts.push_back(each);
  return timed(experts);
}

/// What the exchange of a mixture adds to what its experts compute.
UnitTimes::Added UnitTimes::expert_parallel(std::int64_t index) {
  if (work_.split.expert * work_.split.expert_tensor == 1) return {};
  const auto backward_of = [&](const OperatorTimes& times) {
    return weight_passes_ ? times.input_gradient : times.backward();
  };
  const OperatorTimes whole = experts_of_piece(index, 1);
  constexpr int kMostTried = 16;
  const int given = entry_.parallel->expert_pieces;
  std::optional<Added> best;
  for (int pieces = std::max(given, 1); pieces <= (given > 0 ? given : kMostTried); ++pieces) {
    const OperatorTimes computing = experts_of_piece(index, pieces);
    std::vector<PassCollective> sends;
    ExpertPiece piece = exchange_of_piece(pieces, sends);
    piece.experts = computing.forward;
    const Time forward = time_in_pieces(piece, pieces) - whole.forward;
    piece.experts = backward_of(computing);
    const Time backward = time_in_pieces(piece, pieces) - backward_of(whole);
    if (!best || forward < best->forward) {
      if (!best) best.emplace();
      best->forward = forward;
      best->forward_sent = in_pieces(sends, pieces, computing.forward);
    }
    if (pieces == std::max(given, 1) || backward < best->backward) {
      best->backward = backward;
      best->backward_sent = in_pieces(sends, pieces, backward_of(computing));
    }
  }
  return *best;
}

/// What the backward pass sends once more to compute the forward pass again. Where single operators are kept, outputs
/// of attention and of reduce-scatters are among them, and nothing needs the sum behind the feed-forward.
UnitTimes::Added UnitTimes::sent_again(const Added& added, PassGroup group, bool is_last) {
  Added again;
  if (entry_.recompute == Recomputation::full) {
    again.forward = added.forward;
    again.forward_sent = added.forward_sent;
  }
  if (entry_.recompute != Recomputation::operators || group != PassGroup::tensor) return again;
  for (const PassCollective& each : added.forward_sent) {
    const bool is_needed = work_.split.sequence_parallel ? each.kind == CollectiveKind::all_gather : !is_last;
    if (!is_needed) continue;
    again.forward += groups_(each.kind, each.groups, each.bytes);
    again.forward_sent.push_back(each);
    again.forward_sent.back().beside = {};  // not every product beside it runs again
  }
  return again;
}

TimedUnit UnitTimes::timed_layer(std::int64_t index) {
  const std::vector<TransformerOperator> operators = transformer_operators(model_, index, work_);
  const OperatorTimes times = timed(operators);
  PassShares shares;
  PassTraffic forward, backward;
  Added all, again;  // `again`: what the backward pass sends to compute the forward pass once more
  const auto add = [&](const Added& added, PassGroup group, Time PassShares::*share, bool is_last = false) {
    forward.add(group, added.forward, added.forward_sent);
    backward.add(group, added.backward, added.backward_sent);
    const Added repeated = sent_again(added, group, is_last);
    backward.add(group, repeated.forward, repeated.forward_sent);
    all.forward += added.forward;
    all.backward += added.backward;
    shares.*share += added.forward + added.backward;
    again.forward += repeated.forward;
    shares.*share += repeated.forward;
  };
  add(tensor_parallel(products_of(operators, LayerPart::attention)), PassGroup::tensor, &PassShares::tensor);
  if (!model_.is_mixture(index))
    add(tensor_parallel(products_of(operators, LayerPart::feed_forward)), PassGroup::tensor, &PassShares::tensor, true);
  add(context_parallel(operators), PassGroup::context, &PassShares::context);
  const Added exchange = model_.is_mixture(index) ? expert_parallel(index) : Added{};
  add(exchange, PassGroup::expert, &PassShares::expert);
  const std::vector<TransformerOperator> repeated = recomputed_operators(operators, entry_.recompute);
  const Time recompute = timed(repeated).forward;
  TimedUnit layer = made(times, recompute, all.forward, all.backward + again.forward, shares);
  if (entry_.parallel->offload.activations)
    layer.unit.offloaded = layer_activations(model_, index, work_, entry_.recompute).kept();
  layer.unit.forward_traffic = std::move(forward);
  layer.unit.backward_traffic = std::move(backward);
  layer.unit.forward_exchange = exchange.forward;
  layer.unit.backward_exchange = exchange.backward;
  if (entry_.recompute == Recomputation::full) layer.unit.backward_exchange += exchange.forward;
  if (host_ != nullptr) layer.unit.host = host_->of(operators, repeated, layer.unit);
  return layer;
}

}  // namespace contend
