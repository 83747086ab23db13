#pragma once
// Fair tree (Cox, Morrison, Slurm 14.11 and later: src/plugins/priority/multifactor/fair_tree.c) ranks the users of a
// tree of accounts by how little their accounts, and they in these, have used of what they may. The rank comes from the
// uppermost level at which two users part: no user of an account goes before one of an account that has used less.

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// An account, or a user of one.
struct FairTreeNode {
  std::int32_t parent = -1;  ///< index of an account among the nodes; -1: the root. Parents make no circle
  bool is_user = false;
  double shares = 1;  ///< beside the shares of its siblings, >= 0
  double usage = 0;   ///< of a user, >= 0; an account has the sum of the usage below it
};

/// A node's level value and, for a user, the fair-share factor.
struct FairTreeRank {
  double level = 0;   ///< shares over all siblings' shares, by usage over all siblings' usage; 0 without shares
  double factor = 0;  ///< in (0, 1], the largest goes first; 0 for an account
};

/// Ranks the nodes as the released code does. At each level siblings go by falling level value, users before accounts
/// where it is equal, and else in their order here. A user gets the number of users that have not been ranked yet, or
/// the rank of the sibling before it with the same level value; divided by the number of users it is the factor. The
/// first user of an account with the level value of the sibling before it gets the rank that was given last. (The
/// documentation says that such accounts are merged. The released code never merges any.)
[[nodiscard]] std::vector<FairTreeRank> fair_tree(std::span<const FairTreeNode> nodes);

}  // namespace contend
