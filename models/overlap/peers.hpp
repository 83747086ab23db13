#pragma once
// Chooses the workers that exchange with each other, round by round, in methods without a sum over all workers:
// CollectiveKind::exchange on links that differ. If all links are equal, the choice makes no difference.

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

class LinkMatrix;

/// The rule by which a method chooses the partners.
struct PeerRule {
  enum class Kind : std::uint8_t {
    random,   ///< random pairs, all pairings equally likely
    matched,  ///< pairs over fast links (SAPS-PSGD, Tang et al., ICDCS 2020)
    ring,     ///< each worker sends to the next one in one round, to the previous one in the other
  };
  Kind kind = Kind::random;
  // The members below are for `matched` only.
  ByteRate threshold;           ///< least rate of both directions of a link, for pairs that aren't forced
  int within = 10;              ///< the links of any `within` consecutive rounds connect all workers
  bool random_weights = false;  ///< true: any pairing over the threshold; false: the one with the largest sum of rates

  friend bool operator==(const PeerRule&, const PeerRule&) = default;
};

/// The rule `ring`.
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
/// The simultaneous transfers of a round, with both directions of each pair; no worker sends or receives more than one.
using PeerRound = std::vector<PeerTransfer>;

/// Rounds whose mean represents all rounds. If the rule is random (stream `peers` of the seed), there are a thousand,
/// or a few more to complete a block; otherwise, as many as repeat for ever.
///
/// In `matched`, the pairs are a maximum weight matching of the links whose slower direction reaches the threshold, by
/// that rate or by random weights; the remaining workers are then matched over any link. Rounds come in blocks of
/// (within + 1) / 2. When a block has only as many rounds left as connecting its components may take, these components
/// are matched first, over any links between them. The links of every block therefore connect all workers, and any
/// `within` consecutive rounds contain a block. (The authors' own code looks back over a sliding window, which
/// guarantees less.)
///
/// Throws InputError if there are fewer than two sites, links that the rule needs are missing, no link reaches the
/// threshold, or a block is too short for that guarantee, which takes ceil(log2 n) rounds, or n - 1 if links are
/// missing.
[[nodiscard]] std::vector<PeerRound> peer_rounds(const LinkMatrix& links, const PeerRule& rule, std::uint64_t seed);

/// The transfers from every site to every other site.
[[nodiscard]] std::vector<PeerTransfer> all_pairs(std::size_t sites);
/// Throws InputError that names the first few missing links unless all of these links exist; `use` is what needs them.
void require_links(const LinkMatrix& links, std::span<const PeerTransfer> transfers, std::string_view use);

}  // namespace contend
