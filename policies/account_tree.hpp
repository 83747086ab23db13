#pragma once
// AccountTree is the tree of accounts and users whose jobs a scheduling policy weighs against each other. The virtual
// clusters of a workload are accounts; an account may have a parent, which need not be one that jobs name.

#include "policies/queue_rules.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// An account, which is also a partition: a queue of jobs that may use its servers.
struct Account {
  std::int32_t parent = -1;  ///< index into AccountTree::accounts; -1: the root. No account is above itself
  /// Its claim beside the accounts and users with the same parent, > 0; nothing: 1 there, its quota under policies that
  /// weigh quotas.
  std::optional<double> weight{};
  std::int32_t priority = 1;    ///< jobs of a larger one go first, >= 0
  std::int32_t job_factor = 1;  ///< its part of the priority of jobs, beside the largest one, >= 0
  std::string name{};
  std::optional<int> gpus{};  ///< its quota; nothing: none of its own
  bool has_servers = false;   ///< of its own, so that it competes with no other account
  bool borrows = false;       ///< it may use more than its quota
  QueueRules rules{};
};

/// A user of an account: what Slurm calls an association.
struct AccountUser {
  std::int32_t account = -1;  ///< -1: the root
  std::int32_t user = -1;     ///< index into Workload::users; -1: jobs without a user
  double weight = 1;          ///< beside the accounts and users with the same parent, > 0
};

struct AccountTree {
  std::vector<Account> accounts;      ///< the virtual clusters of the workload in their order, then the others
  std::vector<AccountUser> users;     ///< all that have jobs, and others; each pair of account and user once
  std::int32_t largest_priority = 0;  ///< of all jobs
};

}  // namespace contend
