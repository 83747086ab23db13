#include "policies/scheduling/queue_shares.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

namespace contend {

namespace {

/// A division by KAI among queues of one priority.
class KaiDivision {
 public:
  KaiDivision(std::span<const QueueClaim> claims, std::vector<std::size_t> members, double k_value,
              std::vector<double>& shares)
      : claims_{claims}, members_{std::move(members)}, k_{k_value}, shares_{shares} {}

  /// Returns what is left.
  double divide(double rest) {
    std::vector<double> remainders(claims_.size());
    for (bool again = true; again && rest > 0;) {
      again = false;
      const std::vector<double> parts = weights();
      double sum = 0;
      for (const double part : parts) sum += part;
      if (sum <= 0) return rest;
      const double whole = rest;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        const std::size_t q = members_[m];
        if (parts[m] <= 0) continue;
        const double part = whole * parts[m] / sum, need = wants(q) - shares_[q];
        const double given = part >= need ? need : std::floor(part);
        remainders[q] = part >= need ? 0 : part - given;
        again = again || part > need;
        shares_[q] += given;
        rest -= given;
      }
    }
    std::vector<std::size_t> order = members_;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (const std::size_t q : order) {
      const double given = std::min({1.0, rest, wants(q) - shares_[q]});
      if (remainders[q] <= 0 || given <= 0) continue;
      shares_[q] += given;
      rest -= given;
    }
    return rest;
  }

 private:
  [[nodiscard]] double wants(std::size_t q) const { return std::min(claims_[q].limit, claims_[q].request); }
  [[nodiscard]] std::vector<double> weights() const {
    double sum = 0;
    for (const std::size_t q : members_) sum += shares_[q] < wants(q) ? claims_[q].weight : 0;
    std::vector<double> parts;
    for (const std::size_t q : members_) {
      const double n = sum > 0 ? claims_[q].weight / sum : 0;
      parts.push_back(shares_[q] < wants(q) ? std::max(0.0, n + k_ * (n - claims_[q].usage)) : 0);
    }
    return parts;
  }

  std::span<const QueueClaim> claims_;
  std::vector<std::size_t> members_;
  double k_;
  std::vector<double>& shares_;
};

}  // namespace

std::vector<double> kai_fair_shares(double total, std::span<const QueueClaim> claims, double k_value) {
  std::vector<double> shares;
  std::set<std::int32_t, std::greater<>> priorities;
  double rest = total;
  for (const QueueClaim& claim : claims) {
    shares.push_back(std::min({claim.quota, claim.limit, claim.request}));
    rest -= shares.back();
    priorities.insert(claim.priority);
  }
  for (const std::int32_t priority : priorities) {
    std::vector<std::size_t> members;
    for (std::size_t q = 0; q < claims.size(); ++q)
      if (claims[q].priority == priority) members.push_back(q);
    rest = KaiDivision{claims, std::move(members), k_value, shares}.divide(rest);
  }
  return shares;
}

std::vector<double> volcano_deserved(double total, std::span<const QueueClaim> claims) {
  constexpr double kSmall = 1e-9;
  double guaranteed = 0;
  for (const QueueClaim& claim : claims) guaranteed += claim.quota;
  std::vector<double> deserved(claims.size());
  std::vector<bool> is_met(claims.size());
  double rest = total;
  while (rest > kSmall) {
    double weights = 0;
    for (std::size_t q = 0; q < claims.size(); ++q) weights += is_met[q] ? 0 : claims[q].weight;
    if (weights == 0) break;
    const double whole = rest;
    for (std::size_t q = 0; q < claims.size(); ++q) {
      if (is_met[q]) continue;
      const QueueClaim& claim = claims[q];
      const double before = deserved[q], most = std::min(claim.limit, total - guaranteed + claim.quota);
      deserved[q] = std::max(claim.quota, std::min({before + whole * claim.weight / weights, most, claim.request}));
      is_met[q] = claim.request <= deserved[q] || deserved[q] == before;
      rest -= deserved[q] - before;
    }
  }
  return deserved;
}

}  // namespace contend
