#pragma once
// Passes over the graph of an iteration: each says which graphs it works on.

#include "models/overlap/exchange_work.hpp"
#include "models/overlap/iteration.hpp"
#include "sim/graph.hpp"

#include <functional>
#include <optional>
#include <string>

namespace contend {

/// Has each rank that begins an iteration, without waiting for what another one computes, execute a task of so long
/// before its first one. The task begins when the rank has done all of the iteration before; what the first task waits
/// for beside that goes on meanwhile. No change if `duration` is 0.
void begin_with(IterationGraph& graph, const std::string& name, Time duration);

/// Has each rank that begins an iteration, without waiting for what another one computes, load the data of the next one
/// beside it: a timer of `loading`, which begins with the iteration and which the next one waits for. `filling` comes
/// before both, once all that the rank computes of the iteration before has ended. No change if both are 0.
void load_beside(IterationGraph& graph, Time loading, Time filling);

/// Adds the work of a framework and the host around each recorded exchange of gradients, whose values have so many
/// bytes: `work` says what, by role. Kernels before an exchange delay the tasks that follow the one whose end gave the
/// gradients, as in IterationBuilder; kernels after it go before what waits for the exchange. Copies and work of the
/// host are timers, each kind one after the other on a role.
void add_exchange_work(FusedIteration& iteration, int element_bytes,
                       const std::function<const ExchangeWork&(RoleId)>& work);

/// Has each rank keep its share of sums only: all-reduces among all ranks become reduce-scatters. Reduce-scatters stay,
/// and the all-gathers of a graph that has such halves gather updated weights, with so many bytes of an element for so
/// many of gradients. Throws InputError if the graph has other collectives.
void share_sums(IterationGraph& graph, int weight_bytes, int gradient_bytes);

/// Lets iterations leave so many ranks behind (Role::late, Patience). `copy_ranks` ranks together have a copy of the
/// model. Throws InputError that says why the graph permits it not: a copy lies on several ranks, which would have to
/// be late together; an exchange waits for ranks that others have waited for; or as IterationGraph::validate() does.
void leave_ranks_behind(FusedIteration& iteration, int late, const std::optional<Patience>& patience, int copy_ranks);

}  // namespace contend
