#include "scenarios/training/unit_times.hpp"

#include "calibration/transformer_times.hpp"
#include "models/devices.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
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

PassShares& PassShares::operator+=(const PassShares& other) {
  compute += other.compute;
  recompute += other.recompute;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  return *this;
}

UnitTimes::UnitTimes(const Scenario& scenario, const TrainingEntry& entry, const TransformerModel& model,
                     const MicroBatch& work, int ranks, bool weight_passes)
    : entry_{entry},
      model_{model},
      work_{work},
      weight_passes_{weight_passes},
      per_server_{scenario.cluster.gpus_per_server},
      groups_{scenario, ranks},
      device_{find_device(entry.device.name)} {
  CONTEND_CHECK(device_ != nullptr || entry.device.calibrated, "a scenario names devices that there are");
  options_.attention_efficiency = entry.attention_efficiency;
  if (entry.efficiency) options_.matrix_unit_efficiency = *entry.efficiency;
  const double tokens = static_cast<double>(work_.context_tokens());
  activations_ = Bytes{static_cast<std::int64_t>(tokens) * model_.hidden * activation_bytes(work_.type)};
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

TimedUnit UnitTimes::embedding() {
  const OperatorTimes times = timed(embedding_operators(model_, work_));
  const CollectiveKind whole =
      work_.split.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const Time forward = groups_(whole, tensor_groups(), activations_);
  const Time backward =
      work_.split.sequence_parallel ? groups_(CollectiveKind::all_gather, tensor_groups(), activations_) : Time{};
  return made(times, {}, forward, backward, {.tensor = forward + backward});
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
  Time backward;
  if (work_.split.sequence_parallel) {
    forward += groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
    backward = beyond(groups_(CollectiveKind::reduce_scatter, tensor_groups(), activations_), times.weight_gradient);
  } else {
    backward = beyond(groups_(CollectiveKind::all_reduce, tensor_groups(), activations_), times.weight_gradient);
  }
  return made(times, {}, forward, backward, {.tensor = forward + backward});
}

Time UnitTimes::gather_message() {
  if (work_.split.sequence_parallel) return {};
  return groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
}

OperatorTimes UnitTimes::timed(const std::vector<TransformerOperator>& operators) const {
  if (entry_.device.calibrated) return calibrated_operator_times(operators, *entry_.device.calibrated).times;
  return operator_times(operators, *device_, options_);
}

/// Times of the products of a block but its last one: the communication of their inputs' gradients can hide behind
/// those of the weights.
OperatorTimes UnitTimes::first_products(const std::vector<TransformerOperator>& operators, LayerPart part) const {
  std::vector<TransformerOperator> products;
  for (const TransformerOperator& each : operators)
    if (each.part == part && each.kind == OperatorKind::product) products.push_back(each);
  if (!products.empty()) products.pop_back();
  return timed(products);
}

UnitTimes::Added UnitTimes::tensor_parallel(const OperatorTimes& first) {
  if (work_.split.tensor == 1) return {};
  if (!work_.split.sequence_parallel) {
    const Time sum = groups_(CollectiveKind::all_reduce, tensor_groups(), activations_);
    return {sum, beyond(sum, first.weight_gradient)};
  }
  const Time gather = groups_(CollectiveKind::all_gather, tensor_groups(), activations_);
  const Time scatter = groups_(CollectiveKind::reduce_scatter, tensor_groups(), activations_);
  return {gather + scatter, gather + beyond(gather, first.input_gradient) + beyond(scatter, first.weight_gradient)};
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
  const auto part = [&](Time whole) { return Time::nanoseconds(whole.ns() / degree); };
  return {beyond(groups_.to_next(ring, block), part(attention.forward)) * (degree - 1),
          beyond(groups_.to_next(ring, block + block), part(attention.backward())) * (degree - 1)};
}

/// The exchange of one of `pieces` pieces of a micro-batch's tokens with their experts, in either pass.
ExpertPiece UnitTimes::exchange_of_piece(int pieces) {
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
  piece.spread = groups_(CollectiveKind::all_gather, inside, arrived);
  piece.collect = groups_(CollectiveKind::reduce_scatter, inside, arrived);
  if (entry_.parallel->expert_exchange == ExpertExchange::by_server && groups_.leaves_servers(experts)) {
    const int servers = experts.stride * experts.size / per_server_;
    const Bytes once = bytes_of(tokens * servers_of_token(*model_.mixture, servers));
    piece.dispatch = groups_(CollectiveKind::all_to_all, {per_server_, servers}, once);
    const Time local = groups_(CollectiveKind::all_to_all, {experts.stride, per_server_ / experts.stride}, copies);
    piece.spread += local;
    piece.collect += local;
  } else {
    piece.dispatch = groups_(CollectiveKind::all_to_all, experts, copies);
  }
  piece.combine = piece.dispatch;
  return piece;
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
    ExpertPiece piece = exchange_of_piece(pieces);
    piece.experts = computing.forward;
    const Time forward = time_in_pieces(piece, pieces) - whole.forward;
    piece.experts = backward_of(computing);
    const Time backward = time_in_pieces(piece, pieces) - backward_of(whole);
    best =
        best ? Added{std::min(best->forward, forward), std::min(best->backward, backward)} : Added{forward, backward};
  }
  return *best;
}

TimedUnit UnitTimes::timed_layer(std::int64_t index) {
  const std::vector<TransformerOperator> operators = transformer_operators(model_, index, work_);
  const OperatorTimes times = timed(operators);
  PassShares shares;
  Added all, again;  // `again`: what the backward pass sends to compute the forward pass once more
  const auto add = [&](const Added& added, Time PassShares::*share) {
    all.forward += added.forward;
    all.backward += added.backward;
    shares.*share += added.forward + added.backward;
    if (entry_.recompute != Recomputation::full) return;
    again.forward += added.forward;
    shares.*share += added.forward;
  };
  add(tensor_parallel(first_products(operators, LayerPart::attention)), &PassShares::tensor);
  if (!model_.is_mixture(index))
    add(tensor_parallel(first_products(operators, LayerPart::feed_forward)), &PassShares::tensor);
  add(context_parallel(operators), &PassShares::context);
  const Added exchange = model_.is_mixture(index) ? expert_parallel(index) : Added{};
  add(exchange, &PassShares::expert);
  const Time recompute = timed(recomputed_operators(operators, entry_.recompute)).forward;
  TimedUnit layer = made(times, recompute, all.forward, all.backward + again.forward, shares);
  layer.unit.forward_exchange = exchange.forward;
  layer.unit.backward_exchange = exchange.backward;
  if (entry_.recompute == Recomputation::full) layer.unit.backward_exchange += exchange.forward;
  return layer;
}

}  // namespace contend
