#include "models/parallel/pass_traffic.hpp"

#include "sim/check.hpp"

#include <algorithm>

namespace contend {

bool leaves_servers(const RankGroups& groups, int gpus_per_server) {
  CONTEND_CHECK(!groups.lists, "the groups of a split follow a rule");
  // The ranks of a group lie within a block of consecutive ones, and some block begins at every multiple of its size.
  const int block = groups.stride * groups.size;
  return groups.size > 1 && (block > gpus_per_server || gpus_per_server % block != 0);
}

void PassTraffic::add(PassGroup of, Time time, const std::vector<PassCollective>& sent) {
  added[static_cast<std::size_t>(of)] += time;
  collectives.insert(collectives.end(), sent.begin(), sent.end());
}

Time PassTraffic::added_by(const PassGroups& kinds) const {
  Time sum;
  for (std::size_t kind = 0; kind < kPassGroups; ++kind)
    if (kinds[kind]) sum += added[kind];
  return sum;
}

std::vector<PassCollective> sum_of(const std::vector<const PassTraffic*>& passes, const PassGroups& kinds) {
  std::vector<PassCollective> sum;
  for (const PassTraffic* pass : passes) {
    for (const PassCollective& each : pass->collectives) {
      if (!kinds[static_cast<std::size_t>(each.of)]) continue;
      if (each.times < 1 || each.groups.size < 2 || each.bytes <= Bytes{}) continue;
      const auto same = std::ranges::find_if(sum, [&](const PassCollective& other) {
        return other.of == each.of && other.kind == each.kind && other.groups == each.groups &&
               other.bytes == each.bytes && (other.beside > Time{}) == (each.beside > Time{});
      });
      if (same == sum.end()) {
        sum.push_back(each);
      } else {
        same->times += each.times;
        same->beside += each.beside;
      }
    }
  }
  return sum;
}

}  // namespace contend
