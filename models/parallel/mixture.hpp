#pragma once
// Mixtures of experts: how unevenly tokens fall on the ranks of the experts, on how many servers the experts of a token
// lie, and how long a layer's experts take with their exchange if the tokens are cut into pieces.

#include "models/parallel/transformer.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Tokens at the fullest of `ranks` ranks over the mean, 1 to ranks. `tokens` has the tokens of each expert, >= 0, at
/// least one above 0; each rank has equally many consecutive experts, so ranks divides their number.
[[nodiscard]] double fullest_over_mean(std::span<const double> tokens, std::int64_t ranks);

/// Tokens of experts whose popularity follows Zipf's law: the popularity of the p-th most popular one is p^-exponent.
/// They are dealt out to the ranks in turn, so that neighbours in popularity lie on different ranks. exponent >= 0,
/// finite; ranks divides experts.
[[nodiscard]] std::vector<double> zipf_tokens(std::int64_t experts, std::int64_t ranks, double exponent);

/// Ranks or servers, each with equally many consecutive experts, and what their load costs.
struct ExpertLevel {
  std::int64_t groups = 1;  ///< >= 1, divides the experts
  double price = 1;         ///< the time of which the fullest group's load over the mean is a factor, >= 0
};

/// The same experts in other places: as long as swapping an expert of the fullest group of a level with one of another
/// group lowers the sum of price x load, the best such swap is done (Lin et al., HierMoE, arXiv 2508.09591).
/// A level's load is a smooth maximum over its groups, as there: here the norm of their loads over the mean with
/// exponent 10, so that a swap counts which leaves a second group as full as the fullest one was. tokens as for
/// fullest_over_mean(). A swap costs nothing, and which experts the same tokens choose isn't known.
[[nodiscard]] std::vector<double> swap_experts(std::vector<double> tokens, std::span<const ExpertLevel> levels);

/// The mean number of different servers, of `servers` that hold equally many consecutive experts, on which the experts
/// of a token lie: 1 to min(servers, top_k). The experts of a token are drawn without replacement from groups_used
/// groups, which are drawn so, too (node-limited routing, DeepSeek-V3, arXiv 2412.19437, section 2.1.2). servers >= 1
/// divides the experts; it and the number of groups divide each other one way or the other.
[[nodiscard]] double servers_of_token(const MixtureOfExperts& mixture, std::int64_t servers);

/// What happens to one of the pieces into which the tokens of a layer are cut, in order. The network between servers
/// carries `dispatch` and `combine`, that inside them `spread` and `collect`; each carries one piece at a time.
struct ExpertPiece {
  Time dispatch;  ///< to the servers of the experts
  Time spread;    ///< inside the server, to the GPUs of the experts
  Time experts;   ///< the GPU computes
  Time collect;   ///< back inside the server
  Time combine;   ///< back to where the tokens came from
};

/// From the begin of the first dispatch to the end of the last combine, for `pieces` >= 1 equal pieces. All tokens are
/// there at the begin. The order is the best of those in which each network carries so many pieces out before it brings
/// the first one back, and then one out and one back in turn; in 6,000 random cases of up to 4 pieces no order at all
/// was more than 6% shorter. Pieces as by Tutel (Hwang et al., arXiv 2206.03382, section 3.3) and FSMoE (arXiv
/// 2501.10714, section 4).
[[nodiscard]] Time time_in_pieces(const ExpertPiece& piece, int pieces);

}  // namespace contend
