#include "models/overlap/exchange_cost.hpp"

#include "network/collectives/hops.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr CollectiveScope kAll = CollectiveScope::all;

int ceil_log2(int n) {
  int steps = 0;
  while ((std::int64_t{1} << steps) < n) ++steps;
  return steps;
}

struct Halves {
  LinearCost reduce_scatter, all_gather;
};

/// The costs of a reduce-scatter and an all-gather of `steps` messages each, in which a rank sends (n-1)/n of the
/// tensor.
Halves in_steps(int steps, int workers, const ChannelCost& link) {
  const double share = static_cast<double>(workers - 1) / workers;
  const double send = share * link.beta.ns_per_byte();
  const double add = share * link.gamma.ns_per_byte();
  return {{link.alpha * steps, TimePerByte{send + add}}, {link.alpha * steps, TimePerByte{send}}};
}

/// The cost of a binomial tree, in which the whole tensor goes down or up ceil(log2(n)) steps.
LinearCost down_tree(int workers, const ChannelCost& link) {
  const int steps = ceil_log2(workers);
  return {link.alpha * steps, TimePerByte{link.beta.ns_per_byte() * steps}};
}

LinearCost up_tree(int workers, const ChannelCost& link) {
  return down_tree(workers, {link.alpha, TimePerByte{link.beta.ns_per_byte() + link.gamma.ns_per_byte()}, {}});
}

LinearCost pairwise(int workers, const ChannelCost& link) {
  return {link.alpha * (workers - 1), TimePerByte{link.beta.ns_per_byte() * (workers - 1) / workers}};
}

/// The same among s >= 2 servers of g ranks. From distance 1 to g-1, and back to 1, some messages stay inside.
LinearCost pairwise_between(int servers, int per_server, const ChannelCost& inside, const ChannelCost& between) {
  const int n = servers * per_server;
  const double b = between.beta.ns_per_byte();
  double per_block = static_cast<double>(n - 2 * per_server + 1) * per_server * b;
  for (int distance = 1; distance < per_server; ++distance)
    per_block += 2 * std::max(distance * b, inside.beta.ns_per_byte());
  return {std::max(inside.alpha, between.alpha) * (2 * (per_server - 1)) + between.alpha * (n - 2 * per_server + 1),
          TimePerByte{per_block / n}};
}

/// The cost of `times` messages of this size at once.
ChannelCost shared(const ChannelCost& link, int times) {
  return {link.alpha, TimePerByte{link.beta.ns_per_byte() * times}, link.gamma};
}

}  // namespace

void ExchangeCost::add_others(int workers, const ChannelCost& link, CollectiveScope scope) {
  at(scope, CollectiveKind::all_to_all) = pairwise(workers, link);
  at(scope, CollectiveKind::reduce) = up_tree(workers, link);
  at(scope, CollectiveKind::broadcast) = down_tree(workers, link);
  at(scope, CollectiveKind::exchange) = {link.alpha, link.beta};
}

void ExchangeCost::add_ring(int workers, const ChannelCost& link, CollectiveScope scope) {
  const Halves halves = in_steps(workers - 1, workers, link);
  at(scope, CollectiveKind::reduce_scatter) = halves.reduce_scatter;
  at(scope, CollectiveKind::all_gather) = halves.all_gather;
  at(scope, CollectiveKind::all_reduce) = halves.reduce_scatter + halves.all_gather;
  add_others(workers, link, scope);
}

ExchangeCost ExchangeCost::measured(const LinearCost& all_reduce, int workers) {
  CONTEND_CHECK(workers >= 2, "an exchange needs at least two workers");
  ExchangeCost cost = measured(all_reduce);
  const double steps = 2.0 * (workers - 1);
  cost.add_others(workers, {Time::ceil_nanoseconds(static_cast<double>(all_reduce.alpha.ns()) / steps),
                            TimePerByte{all_reduce.beta.ns_per_byte() * workers / steps},
                            {}});
  return cost;
}

ExchangeCost ExchangeCost::measured(const LinearCost& all_reduce) {
  ExchangeCost cost;
  const TimePerByte half{all_reduce.beta.ns_per_byte() / 2};
  const Time first = Time::nanoseconds(all_reduce.alpha.ns() / 2);
  cost.at(kAll, CollectiveKind::all_reduce) = all_reduce;
  cost.at(kAll, CollectiveKind::reduce_scatter) = {first, half};
  cost.at(kAll, CollectiveKind::all_gather) = {all_reduce.alpha - first, half};
  return cost;
}

ExchangeCost ExchangeCost::ring(int workers, const ChannelCost& link) {
  CONTEND_CHECK(workers >= 1, "there is a worker");
  ExchangeCost cost;
  cost.add_ring(workers, link, kAll);
  return cost;
}

ExchangeCost ExchangeCost::halving_doubling(int workers, const ChannelCost& link) {
  CONTEND_CHECK(workers >= 1, "there is a worker");
  const Halves halves = in_steps(ceil_log2(workers), workers, link);
  ExchangeCost cost;
  cost.at(kAll, CollectiveKind::reduce_scatter) = halves.reduce_scatter;
  cost.at(kAll, CollectiveKind::all_gather) = halves.all_gather;
  const unsigned core = std::bit_floor(static_cast<unsigned>(workers));
  const Halves of_core = in_steps(std::countr_zero(core), static_cast<int>(core), link);
  LinearCost& all_reduce = cost.at(kAll, CollectiveKind::all_reduce);
  all_reduce = of_core.reduce_scatter + of_core.all_gather;
  if (!std::has_single_bit(
          static_cast<unsigned>(workers)))  // three steps: half of the tensor, its other half, and all of it back
    all_reduce = all_reduce +
                 LinearCost{link.alpha * 3, TimePerByte{2 * link.beta.ns_per_byte() + link.gamma.ns_per_byte() / 2}};
  cost.add_others(workers, link);
  return cost;
}

ExchangeCost ExchangeCost::two_level(int servers, int per_server, const ChannelCost& inside,
                                     const ChannelCost& between) {
  return two_level(servers * per_server, servers, per_server, inside, between);
}

ExchangeCost ExchangeCost::two_level(int ranks, int servers, int per_server, const ChannelCost& inside,
                                     const ChannelCost& between) {
  CONTEND_CHECK(servers >= 1 && per_server >= 1 && servers <= ranks && ranks <= servers * per_server,
                "the ranks have room on their servers");
  if (per_server == 1) return ring(servers, between);
  ExchangeCost cost;
  cost.per_server_ = per_server;
  cost.one_server_ = servers == 1;
  cost.add_ring(per_server, inside, CollectiveScope::server);
  if (servers == 1) {
    cost.add_ring(per_server, inside, kAll);
    return cost;
  }
  cost.add_ring(servers, between, CollectiveScope::leaders);
  cost.add_ring(servers, shared(between, per_server), CollectiveScope::peers);
  const ChannelCost flat{std::max(inside.alpha, between.alpha), std::max(inside.beta, between.beta),
                         std::max(inside.gamma, between.gamma)};
  cost.add_ring(ranks, flat, kAll);
  // A rank sends on what it has when it has it, so start-ups add up along the way of the data.
  std::vector<double> hops(static_cast<std::size_t>(ranks), static_cast<double>(inside.alpha.ns()));
  for (std::int64_t server = 1; server <= servers; ++server)
    hops[static_cast<std::size_t>(server * ranks / servers - 1)] = static_cast<double>(between.alpha.ns());
  const auto start_ups = [&](std::int64_t steps) {
    return Time::nanoseconds(static_cast<std::int64_t>(longest_run(hops, steps)));
  };
  for (const CollectiveKind half : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather})
    cost.at(kAll, half).alpha = start_ups(ranks - 1);
  cost.at(kAll, CollectiveKind::all_reduce).alpha = start_ups(2 * (std::int64_t{ranks} - 1));
  cost.at(kAll, CollectiveKind::all_to_all) = pairwise_between(servers, per_server, inside, between);
  for (const CollectiveKind tree : {CollectiveKind::reduce, CollectiveKind::broadcast})
    cost.at(kAll, tree) = cost.at(CollectiveScope::leaders, tree) + cost.at(CollectiveScope::server, tree);
  cost.at(kAll, CollectiveKind::exchange) = cost.at(CollectiveScope::peers, CollectiveKind::exchange);
  return cost;
}

TransferCost ExchangeCost::transfer(CollectiveKind collective, CollectiveScope scope, Bytes bytes) const {
  const LinearCost alone = sized(bytes, collective, scope);
  TransferCost cost{alone.alpha, alone.beta, TimePerByte{penalty * alone.beta.ns_per_byte()}};
  if (alone.beta == measured_beta) cost.eta = measured_eta;
  if (scope == CollectiveScope::server || one_server())
    cost.lane = TransferLane::inside;
  else if (duplex() && collective == CollectiveKind::broadcast)
    cost.lane = TransferLane::pull;
  return cost;
}

ExchangeCost ExchangeCost::on_links(std::array<CostCurve, kCollectiveKinds> curves) {
  const auto shared = std::make_shared<const std::array<CostCurve, kCollectiveKinds>>(std::move(curves));
  const auto on_links = [](CollectiveScope scope) { return scope != CollectiveScope::server; };
  return ExchangeCost{}.with_sized(
      [=](Bytes bytes, CollectiveKind kind, CollectiveScope scope) {
        return on_links(scope) ? std::optional{(*shared)[static_cast<std::size_t>(kind)].at(bytes)} : std::nullopt;
      },
      [&](CollectiveKind kind, CollectiveScope scope) {
        return scope == kAll ? std::optional{(*shared)[static_cast<std::size_t>(kind)].least()} : std::nullopt;
      });
}

ExchangeCost ExchangeCost::with_lines(const Lines& lines) const {
  ExchangeCost cost = *this;
  for (std::size_t scope = 0; scope < kCollectiveScopes; ++scope) {
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
      const auto line = lines(static_cast<CollectiveKind>(kind), static_cast<CollectiveScope>(scope));
      if (line) cost.costs_[scope][kind] = *line;
    }
  }
  return cost;
}

ExchangeCost ExchangeCost::with_sized(BySize by_size, const Lines& least) const {
  ExchangeCost cost = with_lines(least);
  cost.by_size_ = std::move(by_size);
  return cost;
}

ExchangeCost ExchangeCost::parameter_server(const Machines& on, int servers, bool colocated, const ChannelCost& inside,
                                            const ChannelCost& between) {
  CONTEND_CHECK(on.workers >= on.machines && on.machines >= 1 && on.per_machine >= 1 && servers >= 1,
                "the workers have their machines");
  const double n = on.workers;
  const double s = servers;
  const double g = on.per_machine;
  // The busier end decides: the machine whose workers send their gradients, or the one whose servers receive them.
  double bytes = std::max(g, n / s);
  if (colocated) {
    const int least = servers / on.machines;
    const int most = least + (servers % on.machines > 0 ? 1 : 0);
    bytes = std::max(g * (1 - least / s), most * (n - g) / s);
  }
  ExchangeCost cost;
  cost.kind_ = ExchangeKind::parameter_server;
  cost.per_server_ = on.per_machine;
  cost.duplex_ = !colocated;
  cost.one_server_ = colocated && on.machines == 1;
  const double send = std::max(bytes * between.beta.ns_per_byte(), on.per_machine > 1 ? inside.beta.ns_per_byte() : 0);
  const double add = n / s * between.gamma.ns_per_byte();
  const Time alpha = cost.one_server_ ? inside.alpha : between.alpha;
  cost.at(kAll, CollectiveKind::reduce) = {alpha, TimePerByte{send + add}};
  cost.at(kAll, CollectiveKind::broadcast) = {alpha, TimePerByte{send}};
  return cost;
}

}  // namespace contend
