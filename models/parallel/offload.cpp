#include "models/parallel/offload.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

Time time_at(double bytes, ByteRate rate) {
  constexpr double kNanoseconds = 1e9;
  return bytes > 0 ? Time::ceil_nanoseconds(bytes / rate.bytes_per_second() * kNanoseconds) : Time{};
}

OpId CopyQueue::add(IterationGraph& graph, const HostCopy& copy, const std::vector<OpId>& after) {
  const OpId op = graph.add_timer(copy.name, copy.role, time_at(copy.bytes.to_double(), copy.rate));
  const bool is_stored = copy.way == CopyWay::from_nvme;
  HostTraffic moved;
  (copy.way == CopyWay::to_host ? moved.out : moved.in) = copy.bytes;
  moved.memory = is_stored ? copy.bytes * 2 : copy.bytes;  // written there before it is read
  if (is_stored) moved.nvme = copy.bytes;
  graph.move_on_host(op, moved);
  for (const OpId each : after) graph.add_dependency(each, op);
  if (last_.valid()) graph.add_dependency(last_, op);
  return last_ = op;
}

HostTraffic offloaded_update_traffic(double parameters, const OffloadedUpdate& each) {
  const auto bytes = [&](double of_each) { return Bytes{static_cast<std::int64_t>(std::ceil(parameters * of_each))}; };
  return {.out = {},
          .in = bytes(each.weight),
          .memory = bytes(each.weight + each.memory + 2 * each.stored),
          .nvme = bytes(2 * each.stored)};
}

Time offloaded_update_time(double parameters, const OffloadedUpdate& each, const OffloadRates& rates) {
  const Time link = time_at(parameters * each.weight, rates.link);
  const Time memory = time_at(parameters * each.memory, rates.memory);
  const Time stored = time_at(parameters * 2 * each.stored, rates.nvme);
  return std::max({link, memory, stored});
}

}  // namespace contend
