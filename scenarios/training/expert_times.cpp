// The exchange of tokens with their experts, in pieces or not, as far as nothing hides it.

#include "models/overlap/time_together.hpp"
#include "scenarios/training/unit_times.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace contend {

/// The exchange of one of `pieces` pieces of a micro-batch's tokens with their experts, in either pass.
ExpertPiece UnitTimes::exchange_of_piece(int pieces, std::vector<PassCollective>& sends) {
  const LayerSplit& split = work_.split;
  const auto bytes_of = [&](double tokens) {
    return Bytes{static_cast<std::int64_t>(tokens) * model_.mixture->expert_width(model_.hidden) *
                 activation_bytes(work_.type)};
  };
  const double tokens = static_cast<double>(work_.tokens()) * work_.expert_imbalance / pieces;
  const Bytes copies = bytes_of(tokens * copies_of_token());
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

const Interference& UnitTimes::interference_of_experts() const {
  return interference({static_cast<int>(work_.split.expert_tensor), static_cast<int>(work_.split.expert)});
}

/// How often a token goes to the GPUs of its experts: to each once, or to each expert.
double UnitTimes::copies_of_token() const {
  if (entry_.parallel->expert_exchange == ExpertExchange::by_gpu)
    return servers_of_token(*model_.mixture, work_.split.expert);
  return static_cast<double>(model_.mixture->top_k);
}

int UnitTimes::servers_of_experts() const {
  const RankGroups experts{static_cast<int>(work_.split.expert_tensor), static_cast<int>(work_.split.expert)};
  if (!goes_by_server(*entry_.parallel) || !groups_.leaves_servers(experts)) return 1;
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
  const LayerSplit& split = work_.split;
  if (split.expert * split.expert_tensor == 1) return {};
  const int pieces = std::max(entry_.parallel->expert_pieces, 1);  // plan_parallel() has replaced 0
  const OperatorTimes whole = experts_of_piece(index, 1), computing = experts_of_piece(index, pieces);
  std::vector<PassCollective> sends;
  ExpertPiece piece = exchange_of_piece(pieces, sends);
  const Interference& slows = interference_of_experts();
  const auto added = [&](Time experts, Time experts_whole) {
    piece.experts = experts;
    const Time end = time_in_pieces(piece, pieces);
    const Time sent = std::max(piece.dispatch + piece.combine, piece.spread + piece.collect);
    const Time apart = (experts + sent) * pieces;
    const Time beside = apart > end ? apart - end : Time{};  // what is computed while something is sent
    return end + time_together(beside, beside, slows) - beside - experts_whole;
  };
  const auto backward_of = [&](const OperatorTimes& times) {
    return weight_passes_ ? times.input_gradient : times.backward();
  };
  return {added(computing.forward, whole.forward), added(backward_of(computing), backward_of(whole)),
          in_pieces(sends, pieces, computing.forward), in_pieces(sends, pieces, backward_of(computing))};
}

}  // namespace contend
