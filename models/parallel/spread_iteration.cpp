#include "models/parallel/spread_iteration.hpp"

#include "sim/check.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

void RankProgram::queue(IterationGraph& graph, OpId collective) {
  const RankGroups& groups = graph.ops()[collective.index()].groups;
  std::pair<int, int> links{groups.stride, groups.size};
  if (turns_per_server > 0) links = {0, leaves_servers(groups, turns_per_server) ? 1 : 0};
  const auto [found, is_new] = channels.try_emplace(links);
  if (is_new)
    found->second = graph.add_channel(
        fmt::format("exchange {} of {}", channels.size(), graph.roles()[role.index()].name), 1, Bytes{1});
  graph.put_into(found->second, collective, collectives++);
}

const PassPart& RankProgram::first_use(int stage, std::size_t unit) const {
  const auto uses = [&](const PassPart& part) {
    return part.pass.kind == PassKind::forward && part.stage == stage && part.units.first <= unit &&
           unit <= part.units.last;
  };
  const auto found = std::ranges::find_if(parts, uses);
  CONTEND_CHECK(found != parts.end(), "a rank has a forward pass of each of its stages");
  return *found;
}

OpId RankProgram::before(std::size_t part, int others) const {
  OpId found = parts[part].last;
  for (std::size_t i = part; i-- > 0;) {
    if (parts[i].last == found) continue;
    found = parts[i].last;
    if (others-- == 0) return found;
  }
  return OpId::none();
}

std::vector<OpId> BucketExchange::ops() const {
  std::vector<OpId> all;
  for (const OpId op : {dense, experts})
    if (op.valid()) all.push_back(op);
  return all;
}

BucketExchange add_exchange(IterationGraph& graph, RankProgram& rank, CollectiveKind kind, const GradientBucket& bucket,
                            const std::string& name, int element_bytes, const RankGroups& dense,
                            const RankGroups& experts) {
  const auto add = [&](std::int64_t elements, const RankGroups& groups, const char* which) {
    if (elements == 0 || groups.size < 2) return OpId::none();
    const OpId op = graph.add_collective(fmt::format("{} of {}{}", name_of(kind), which, name), kind, rank.role,
                                         Bytes{elements * element_bytes}, groups);
    rank.queue(graph, op);
    return op;
  };
  BucketExchange made;
  made.dense = add(bucket.dense, dense, "");
  made.experts = add(bucket.expert, experts, kOfExperts);
  return made;
}

}  // namespace contend
