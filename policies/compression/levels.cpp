#include "policies/compression/levels.hpp"

#include "sim/error.hpp"

namespace contend {

Levels levels_of(const OverlapProblem& problem) {
  if (!problem.cost.levels())
    throw InputError{"needs servers of several workers: cluster.gpus_per_server must be 2 or more"};
  return {problem.workers / problem.cost.per_server(), problem.cost.per_server()};
}

Circle circle_of(const OverlapProblem& problem, bool hierarchical) {
  if (!hierarchical) return {problem.workers, CollectiveScope::all};
  return {levels_of(problem).servers, CollectiveScope::leaders};
}

std::vector<ExchangeStage> through_leaders(Bytes size, const std::vector<ExchangeStage>& among_leaders) {
  std::vector<ExchangeStage> stages{
      ExchangeStage::send("reduce inside", CollectiveKind::reduce, size, CollectiveScope::server)};
  stages.insert(stages.end(), among_leaders.begin(), among_leaders.end());
  stages.push_back(ExchangeStage::send("broadcast inside", CollectiveKind::broadcast, size, CollectiveScope::server));
  return stages;
}

}  // namespace contend
