#include "models/overlap/exchange_cost.hpp"

#include "network/collectives/on_servers.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace contend {

namespace {

constexpr CollectiveScope kAll = CollectiveScope::all;
using Collectives = std::array<std::array<std::optional<CollectiveOnServers>, kCollectiveKinds>, kCollectiveScopes>;

LinkCost in_ns(const ChannelCost& link) {
  return {static_cast<double>(link.alpha.ns()), link.beta.ns_per_byte()};
}

LinearCost from_ns(const LinkCost& cost) {
  return {Time::ceil_nanoseconds(cost.alpha), TimePerByte{cost.beta}};
}

ServerLinks links_of(const ChannelCost& inside, const ChannelCost& between, double gamma) {
  return {in_ns(inside), in_ns(between), gamma};
}

/// The cost of `times` messages of this size at once.
ChannelCost shared(const ChannelCost& link, int times) {
  return {link.alpha, TimePerByte{link.beta.ns_per_byte() * times}, link.gamma};
}

const CollectiveAlgorithm& ring_algorithm() {
  return usual_algorithm(CollectiveKind::all_reduce);
}

}  // namespace

ExchangeCost ExchangeCost::by(const CollectiveAlgorithm& algorithm, const Machines& on, const ChannelCost& inside,
                              const ChannelCost& between) {
  ExchangeCost cost;
  const auto all = std::make_shared<Collectives>();
  bool is_line = true;
  const auto add = [&](CollectiveScope scope, const RanksOnServers& ranks, const ServerLinks& links) {
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
      auto& made = (*all)[static_cast<std::size_t>(scope)][kind];
      made.emplace(algorithm, static_cast<CollectiveKind>(kind), ranks, links);
      cost.at(scope, static_cast<CollectiveKind>(kind)) = from_ns(made->least());
      is_line = is_line && !made->pipelined();
    }
  };
  const double inner = inside.gamma.ns_per_byte(), outer = between.gamma.ns_per_byte();
  const int servers = on.machines, per_server = on.per_machine;
  const bool several = per_server > 1 && servers > 1;
  const double gamma = several ? std::max(inner, outer) : per_server > 1 ? inner : outer;
  add(kAll, {on.workers, servers, per_server}, links_of(inside, between, gamma));
  if (per_server > 1) {
    cost.per_server_ = per_server;
    cost.one_server_ = servers == 1;
    add(CollectiveScope::server, {per_server, 1, per_server}, links_of(inside, between, inner));
  }
  if (several) {
    add(CollectiveScope::leaders, {servers, servers, 1}, links_of(inside, between, outer));
    add(CollectiveScope::peers, {servers, servers, 1}, links_of(inside, shared(between, per_server), outer));
  }
  if (is_line) return cost;
  cost.by_size_ = [all](Bytes bytes, CollectiveKind kind, CollectiveScope scope) {
    const auto& found = (*all)[static_cast<std::size_t>(scope)][static_cast<std::size_t>(kind)];
    return found && found->pipelined() ? std::optional{from_ns(found->line(bytes))} : std::nullopt;
  };
  return cost;
}

ExchangeCost ExchangeCost::ring(int workers, const ChannelCost& link) {
  return by(ring_algorithm(), {workers, workers, 1}, {}, link);
}

ExchangeCost ExchangeCost::two_level(int servers, int per_server, const ChannelCost& inside,
                                     const ChannelCost& between) {
  return by(ring_algorithm(), {servers * per_server, servers, per_server}, inside, between);
}

ExchangeCost ExchangeCost::measured(const LinearCost& all_reduce, const Machines& on, const ChannelCost& inside) {
  if (on.workers == 1) return measured(all_reduce);
  // Inside one machine nothing of the measurement holds.
  if (on.machines == 1 && on.per_machine > 1) return by(ring_algorithm(), on, inside, {});
  const double steps = 2.0 * (on.workers - 1);
  const ChannelCost ring_link{Time::ceil_nanoseconds(static_cast<double>(all_reduce.alpha.ns()) / steps),
                              TimePerByte{all_reduce.beta.ns_per_byte() * on.workers / steps},
                              {}};
  const ExchangeCost whole = measured(all_reduce);
  return by(ring_algorithm(), on, inside, ring_link).with_lines([&](CollectiveKind kind, CollectiveScope scope) {
    const bool is_known = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
                          kind == CollectiveKind::all_gather;
    return is_known && scope == kAll ? std::optional{whole.of(kind)} : std::nullopt;
  });
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
