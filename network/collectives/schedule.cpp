#include "network/collectives/schedule.hpp"

#include <algorithm>

namespace contend {

ByteRange part_of(ByteRange range, int parts, int i) {
  const std::int64_t size = range.bytes / parts;
  const std::int64_t longer = range.bytes % parts;
  return {range.offset + i * size + std::min<std::int64_t>(i, longer), size + (i < longer ? 1 : 0)};
}

Step& CollectiveSchedule::step(std::size_t index) {
  if (steps.size() <= index) steps.resize(index + 1);
  return steps[index];
}

void CollectiveSchedule::send(std::size_t index, int from, int to, ByteRange range, bool reduced, int stripe) {
  Step& target = step(index);
  if (range.bytes > 0) target.sends.push_back({from, to, range, reduced, stripe});
}

void CollectiveSchedule::drop_empty_steps() {
  steps.erase(std::remove_if(steps.begin(), steps.end(), [](const Step& each) { return each.sends.empty(); }),
              steps.end());
}

std::int64_t CollectiveSchedule::step_count() const {
  std::int64_t count = 0;
  for (const Step& each : steps) count += each.repeat;
  return count;
}

std::int64_t CollectiveSchedule::bytes_sent() const {
  std::int64_t bytes = 0;
  for (const Step& each : steps) {
    for (const Send& send : each.sends) bytes += send.range.bytes * each.repeat;
  }
  return bytes;
}

}  // namespace contend
