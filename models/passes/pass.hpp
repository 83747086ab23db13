#pragma once
// A pass is one step on the way from the layers of a network to the graph that the engine runs: it has a name, and it
// changes the layers or the graph. A feature of training is a pass, and works with all others whose graphs have the
// operations that it needs. A pass that can't work throws InputError that says why, about the graph.

#include "models/layers.hpp"
#include "models/overlap/iteration.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// What one iteration consists of. All of it is 0 for nothing.
struct GraphSizes {
  std::size_t operations = 0, roles = 0, dependencies = 0;
  Time compute{};  ///< of the rank that computes longest, in the first phase
  Bytes bytes{};   ///< tensors of collectives and messages, each on one rank, and once for each time that it runs

  friend bool operator==(const GraphSizes&, const GraphSizes&) = default;
};
[[nodiscard]] GraphSizes sizes_of(const FusedIteration& iteration);
/// Of layers before messages are planned: a forward and a backward task of each, one after the other.
[[nodiscard]] GraphSizes sizes_of(const TimedModel& model);

/// A pass that was applied.
struct PassRecord {
  std::string name;
  GraphSizes before, after;
};

/// `Subject` is TimedModel, for features that a planner of messages has to know, or FusedIteration: the graph with its
/// exchanges of gradients. Both have sizes_of() and a check.
template <class Subject>
struct Pass {
  std::string name;
  std::function<void(Subject&)> apply;
};

/// Throws InputError if the graph can't be executed.
void check_subject(const FusedIteration& iteration);
void check_subject(const TimedModel& model);

/// Applies the passes in their order, checks what each leaves, and records it.
template <class Subject>
void apply_passes(Subject& subject, const std::vector<Pass<Subject>>& passes, std::vector<PassRecord>& records) {
  for (const Pass<Subject>& pass : passes) {
    const GraphSizes before = sizes_of(subject);
    pass.apply(subject);
    check_subject(subject);
    records.push_back({pass.name, before, sizes_of(subject)});
  }
}

}  // namespace contend
