// What passes of a training iteration take and send, and which planned exchanges it can have.

#include "models/parallel/training_iteration.hpp"

#include "models/overlap/time_together.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace contend {

const PassTraffic* ModelUnit::traffic(PassKind kind) const {
  if (kind == PassKind::backward_weight) return nullptr;
  return kind == PassKind::forward ? &forward_traffic : &backward_traffic;
}

Time HostTimes::of(PassKind kind) const {
  switch (kind) {
    case PassKind::forward:
      return forward;
    case PassKind::backward:
      return backward_input + backward_weight;
    case PassKind::backward_input:
      return backward_input;
    case PassKind::backward_weight:
      return backward_weight;
  }
  check_failed(__FILE__, __LINE__, "a kind of pass", "unknown");
}

Time ModelUnit::of(PassKind kind) const {
  return HostTimes{forward, backward_input, backward_weight}.of(kind);
}

Time ModelUnit::between_servers(PassKind kind) const {
  if (kind == PassKind::backward_weight) return {};
  return kind == PassKind::forward ? forward_between_servers : backward_between_servers;
}

std::int64_t TrainingIteration::kept_of(std::int64_t elements, const RankGroups& groups) const {
  return sharding >= Sharding::optimizer ? share_of(elements, groups) : elements;
}

std::map<std::pair<std::size_t, std::size_t>, std::int64_t> TrainingIteration::copies_on_two_ranks() const {
  std::vector<std::vector<std::size_t>> hosts(static_cast<std::size_t>(plan.stages));
  for (std::size_t rank = 0; rank < plan.ranks(); ++rank)
    for (const int stage : plan.stage_of[rank]) hosts[static_cast<std::size_t>(stage)].push_back(rank);
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> copies;
  for (std::size_t stage = 0; stage < hosts.size(); ++stage) {
    for (std::size_t other = 1; other < hosts[stage].size(); ++other) {
      std::int64_t& elements = copies[{hosts[stage].front(), hosts[stage][other]}];
      for (const ModelUnit& unit : units[stage])
        elements += kept_of(unit.dense_elements, dense_shards()) + kept_of(unit.expert_elements, expert_shards());
    }
  }
  const auto& first = hosts.front();
  const auto& last = hosts.back();
  const bool is_apart = std::ranges::find_first_of(first, last) == first.end();
  if (tied_elements > 0 && is_apart) copies[{first.front(), last.front()}] += kept_of(tied_elements, dense_shards());
  return copies;
}

PipelineCosts TrainingIteration::costs() const {
  PipelineCosts made;
  bool hides = false;
  for (const std::vector<ModelUnit>& stage : units) {
    const auto sum = [&](PassKind kind) {
      return std::accumulate(stage.begin(), stage.end(), Time{},
                             [&](Time before, const ModelUnit& unit) { return before + unit.of(kind); });
    };
    made.forward.push_back(sum(PassKind::forward));
    made.backward.push_back(sum(PassKind::backward));
    made.backward_input.push_back(sum(PassKind::backward_input));
    made.backward_weight.push_back(sum(PassKind::backward_weight));
    Time exchange;
    for (const ModelUnit& unit : stage) exchange += unit.forward_exchange + unit.backward_exchange;
    made.merged.push_back(time_together(made.forward.back() + made.backward.back() - exchange, exchange, interference));
    hides = hides || exchange > Time{};
  }
  if (!hides) made.merged.clear();
  return made;
}

}  // namespace contend
