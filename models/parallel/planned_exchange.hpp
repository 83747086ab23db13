#pragma once
// The exchange of the gradients of a pipeline stage as a fusion policy plans it, as operations of the graph of a job
// that trains one model over many GPUs.

#include "models/overlap/iteration.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// The first and the last operation of a pass, and the timer beside its begin that lasts as long as it sends between
/// servers; none: it has none.
struct PassOps {
  OpId first, last, turn{};
};

/// Where a plan is executed.
struct PlannedStage {
  RoleId role;
  std::string stage;                           ///< such as "stage 3"
  std::string rank;                            ///< such as "pipeline rank 1"
  RankGroups groups;                           ///< of the gradients
  int per_server = 1;                          ///< ranks of a group that the plan takes to lie on one server
  std::vector<ChannelId>* channels = nullptr;  ///< channels of the plan, made if there are none yet
  bool is_last = true;                         ///< the gradients of the iteration are complete with these passes
  std::vector<PassOps> forward{};              ///< [unit]: its first forward pass, if something goes on beside it
  OpId begin{};                                ///< the operation with which the backward pass begins, if a plan asks
};

/// What a plan has become.
struct PlannedExchange {
  /// A message of the plan, and the operation with whose end the rank has its sum, or its share of the sum.
  struct Message {
    SentMessage sent;
    OpId sum;
  };
  std::vector<OpId> ends;  ///< the last operations before the next iteration: an update of the weights needs them
  /// [unit]: the collectives that can begin when the unit's backward pass ends, and not before.
  std::vector<std::vector<OpId>> collectives;
  std::vector<Message> messages;
  std::vector<Dependency> crossings;                     ///< what goes on in the next iteration waits for these (lag 1)
  std::vector<std::pair<OpId, std::size_t>> arrivals{};  ///< and what a unit's first forward pass there waits for
};

/// By operation of the plan of so many units: true if it goes on beside the forward pass of the next iteration, because
/// it waits for a part of that pass, or for the iteration before alone. The end of the whole forward pass is the begin
/// of the backward pass.
[[nodiscard]] std::vector<bool> ops_in_forward(const IterationGraph& plan, std::size_t units);
/// True if there is one.
[[nodiscard]] bool goes_on_in_forward(const IterationGraph& plan, std::size_t units);
/// True if something waits for the begin of the backward pass, such as the cycles of a thread.
[[nodiscard]] bool waits_for_begin(const IterationGraph& plan, std::size_t units);

/// Why a planned exchange of so many units can't be the exchange of a stage, if it can't: it changes what an iteration
/// trains with, so that something of it goes on behind the forward pass that needs it, or its iterations differ.
[[nodiscard]] std::optional<std::string> unfit_for_stage(const FusedIteration& planned, std::size_t units);

/// Adds the operations of `planned`, an iteration with one layer for each unit, whose backward passes are `passes`: its
/// forward and backward tasks are tasks of the job, and all other operations are added. What goes on beside the next
/// forward pass is added with the passes that complete the gradients.
[[nodiscard]] PlannedExchange add_planned(IterationGraph& graph, const FusedIteration& planned,
                                          const PlannedStage& where, const std::vector<PassOps>& passes);

/// Where collectives take turns: has the collectives of the gradients of experts, by unit, and, if the planned ones
/// leave servers, what the passes send there go one after another with the planned ones, in the order in which they can
/// begin. Returns the planned ones that no other follows.
std::vector<OpId> put_in_turn(IterationGraph& graph, const PlannedExchange& planned, const std::vector<PassOps>& passes,
                              bool leaves_servers, const std::vector<std::vector<OpId>>& experts);

}  // namespace contend
