#pragma once
// Which workers exchange with each other, round by round, in methods without a sum over all: CollectiveKind::exchange
// on links that differ. Where all links are the same it makes no difference.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

class LinkMatrix;

/// How a method chooses.
struct PeerRule {
  enum class Kind : std::uint8_t {
    random,   ///< pairs at random, all pairings equally likely
    matched,  ///< pairs over fast links (SAPS-PSGD, Tang et al., ICDCS 2020)
    ring,     ///< each worker sends to the next in one round, to the one before in the other
  };
  Kind kind = Kind::random;
  // matched only
  ByteRate threshold;           ///< of both directions of a link, for pairs that aren't forced
  int within = 10;              ///< links of any so many rounds in a row connect all workers
  bool random_weights = false;  ///< any pairing over the threshold, instead of the one with the largest sum of rates
};

[[nodiscard]] inline PeerRule ring_of_workers() {
  PeerRule rule;
  rule.kind = PeerRule::Kind::ring;
  return rule;
}

/// One transfer of a round, between sites of a LinkMatrix.
struct PeerTransfer {
  std::size_t from = 0, to = 0;
  bool operator==(const PeerTransfer&) const = default;
};
/// Transfers at the same time, both directions of a pair among them; no worker sends or receives more than one.
using PeerRound = std::vector<PeerTransfer>;

/// Rounds whose mean stands for all: where the rule draws (stream `peers` of the seed) a thousand or, in whole blocks,
/// a few more; else as many as repeat for ever.
///
/// `matched`: pairs are a maximum weight matching of the links whose slower direction reaches the threshold, by that
/// rate or by random weights; who is left over is then matched over any link. Rounds come in blocks of (within + 1)
/// / 2. When only as many are left as it may take to connect what the block has not connected yet, its components are
/// matched first, over any links between them. So the links of every block connect all workers, and any `within` rounds
/// in a row hold a block. (The authors' own code looks back over a sliding window, which promises less.)
///
/// Throws InputError if there are less than two sites, links that the rule needs are missing, none reaches the
/// threshold, or a block is too short for that promise: it takes ceil(log2 n) rounds, n - 1 if links are missing.
[[nodiscard]] std::vector<PeerRound> peer_rounds(const LinkMatrix& links, const PeerRule& rule, std::uint64_t seed);

/// From every site to every other one.
[[nodiscard]] std::vector<PeerTransfer> all_pairs(std::size_t sites);
/// Throws InputError, with the first few missing, unless all of these links are there; `use` is what needs them.
void require_links(const LinkMatrix& links, std::span<const PeerTransfer> transfers, std::string_view use);

}  // namespace contend
