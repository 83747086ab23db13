#include "models/overlap/exchange_cost.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

namespace {

constexpr std::size_t at(CollectiveKind kind) {
  return static_cast<std::size_t>(kind);
}
constexpr std::size_t kAll = static_cast<std::size_t>(CollectiveScope::all);

int ceil_log2(int n) {
  int steps = 0;
  while ((std::int64_t{1} << steps) < n) ++steps;
  return steps;
}

struct Halves {
  LinearCost reduce_scatter, all_gather;
};

/// A reduce-scatter and an all-gather of `steps` messages each, in which every rank sends (n-1)/n of the tensor.
Halves in_steps(int steps, int workers, const ChannelCost& link) {
  const double share = static_cast<double>(workers - 1) / workers;
  const double send = share * link.beta.ns_per_byte();
  const double add = share * link.gamma.ns_per_byte();
  return {{link.alpha * steps, TimePerByte{send + add}}, {link.alpha * steps, TimePerByte{send}}};
}

/// A binomial tree, in which the whole tensor goes down or up ceil(log2(n)) steps.
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

}  // namespace

void ExchangeCost::add_others(int workers, const ChannelCost& link) {
  costs_[kAll][at(CollectiveKind::all_to_all)] = pairwise(workers, link);
  costs_[kAll][at(CollectiveKind::reduce)] = up_tree(workers, link);
  costs_[kAll][at(CollectiveKind::broadcast)] = down_tree(workers, link);
  costs_[kAll][at(CollectiveKind::exchange)] = {link.alpha, link.beta};
}

ExchangeCost ExchangeCost::measured(const LinearCost& all_reduce, int workers) {
  CONTEND_CHECK(workers >= 2, "somebody to exchange with");
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
  cost.costs_[kAll][at(CollectiveKind::all_reduce)] = all_reduce;
  cost.costs_[kAll][at(CollectiveKind::reduce_scatter)] = {first, half};
  cost.costs_[kAll][at(CollectiveKind::all_gather)] = {all_reduce.alpha - first, half};
  return cost;
}

namespace {

LinearCost sum(const LinearCost& a, const LinearCost& b) {
  return {a.alpha + b.alpha, TimePerByte{a.beta.ns_per_byte() + b.beta.ns_per_byte()}};
}

}  // namespace

ExchangeCost ExchangeCost::ring(int workers, const ChannelCost& link) {
  CONTEND_CHECK(workers >= 1, "there is a worker");
  const Halves halves = in_steps(workers - 1, workers, link);
  ExchangeCost cost;
  cost.costs_[kAll][at(CollectiveKind::reduce_scatter)] = halves.reduce_scatter;
  cost.costs_[kAll][at(CollectiveKind::all_gather)] = halves.all_gather;
  cost.costs_[kAll][at(CollectiveKind::all_reduce)] = sum(halves.reduce_scatter, halves.all_gather);
  cost.add_others(workers, link);
  return cost;
}

ExchangeCost ExchangeCost::halving_doubling(int workers, const ChannelCost& link) {
  CONTEND_CHECK(workers >= 1, "there is a worker");
  const Halves halves = in_steps(ceil_log2(workers), workers, link);
  ExchangeCost cost;
  cost.costs_[kAll][at(CollectiveKind::reduce_scatter)] = halves.reduce_scatter;
  cost.costs_[kAll][at(CollectiveKind::all_gather)] = halves.all_gather;
  cost.costs_[kAll][at(CollectiveKind::all_reduce)] = sum(halves.reduce_scatter, halves.all_gather);
  cost.add_others(workers, link);
  return cost;
}

ExchangeCost ExchangeCost::on_links(std::array<CostCurve, kCollectiveKinds> curves) {
  ExchangeCost cost;
  for (std::size_t kind = 0; kind < curves.size(); ++kind) cost.costs_[kAll][kind] = curves[kind].least();
  cost.curves_.assign(curves.begin(), curves.end());
  return cost;
}

ExchangeCost ExchangeCost::parameter_server(int workers, int servers, bool colocated, const ChannelCost& link) {
  CONTEND_CHECK(workers >= 1 && servers >= 1 && (!colocated || servers <= workers), "the servers have their machines");
  const double n = workers;
  const double s = servers;
  // The busier end of a link decides: the worker that sends its gradient, or the server that receives n shares of it.
  const double bytes = colocated ? std::max(servers < workers ? 1.0 : 1 - 1 / s, (n - 1) / s) : std::max(1.0, n / s);
  ExchangeCost cost;
  cost.kind_ = ExchangeKind::parameter_server;
  cost.duplex_ = !colocated;
  const double send = bytes * link.beta.ns_per_byte();
  const double add = n / s * link.gamma.ns_per_byte();
  cost.costs_[kAll][at(CollectiveKind::reduce)] = {link.alpha, TimePerByte{send + add}};
  cost.costs_[kAll][at(CollectiveKind::broadcast)] = {link.alpha, TimePerByte{send}};
  return cost;
}

}  // namespace contend
