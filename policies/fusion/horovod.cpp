// Horovod's tensor fusion (Sergeev and Del Balso, arXiv 1802.05799): a background thread wakes up once per cycle,
// agrees with the other workers' threads on the gradients that are ready everywhere, and sends them in buffers of
// limited size.
//
// The cycles are timers: they take no time on GPUs. The first cycle begins when all workers begin their backward pass;
// real threads would be at random points of their cycles then. A gradient larger than the buffer is sent alone.
//
// The threads agree by two all-reduces of bit vectors between hosts (horovod/common/controller.cc, for gradients whose
// names they know), each up a tree and down again: 4 ceil(log2 n) messages one after the other among n workers. A cycle
// lasts at least as long. Over MPI or Gloo the thread sends the buffers itself, and its next cycle begins when they
// have arrived. NCCL puts buffers into a queue, and the thread goes on.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::int64_t kMaxCycles = 100'000;

/// When the thread wakes up, as far as the cost of messages alone says, since the start of the backward pass; and what
/// it sends then.
struct Cycle {
  Time wakes;
  std::vector<GradientGroup> buffers;
};

class Horovod final : public FusionPolicy {
 public:
  Horovod(Bytes buffer, Time cycle, Time message, bool blocking)
      : buffer_{buffer}, cycle_{cycle}, message_{message}, blocking_{blocking} {}

  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    if (problem.method != nullptr && problem.method->moment() != ExchangeMoment::gradients)
      throw InputError{"negotiates gradients during the backward pass, and this method exchanges weights"};
    const Time agreement = agreement_of(problem.workers), length = std::max(cycle_, agreement);
    IterationBuilder builder{problem};
    builder.use_channel(1, Bytes{1});
    OpId first = OpId::none(), timer = OpId::none();
    std::vector<OpId> sent;                                               // in the cycle before
    std::vector<OpId> awake{builder.forward(problem.layers.size() - 1)};  // the thread is, when these have ended
    int number = 0;
    for (const Cycle& cycle : cycles_of(problem, length, agreement)) {
      timer = builder.graph.add_timer(fmt::format("cycle {}", ++number), RoleId{0U}, length);
      if (!first.valid()) first = timer;
      for (const OpId each : awake) builder.graph.add_dependency(each, timer);
      awake = std::move(sent);
      awake.push_back(timer);
      sent = send(cycle, number, agreement, awake, builder);
    }
    builder.graph.add_dependency(timer, first, 1);  // one thread
    return builder.take();
  }

 private:
  [[nodiscard]] Time agreement_of(int workers) const {
    return std::int64_t{4} * std::bit_width(static_cast<unsigned>(workers - 1)) * message_;
  }

  /// Adds the messages of a cycle that begins when `awake` have ended. Returns those for which the next one waits.
  [[nodiscard]] std::vector<OpId> send(const Cycle& cycle, int number, Time agreement, const std::vector<OpId>& awake,
                                       IterationBuilder& builder) const {
    std::vector<OpId> before = awake, ends;
    if (agreement > Time{} && !cycle.buffers.empty()) {
      const OpId agreed = builder.graph.add_timer(fmt::format("agreement {}", number), RoleId{0U}, agreement);
      for (const OpId each : before) builder.graph.add_dependency(each, agreed);
      before = {agreed};
    }
    for (const GradientGroup& buffer : cycle.buffers) {
      const auto sent = builder.exchange(fmt::format("buffer #{}", buffer.first), buffer, builder.forward(0));
      if (!sent) continue;
      for (const OpId each : before) builder.graph.add_dependency(each, sent->send);
      if (blocking_) ends.push_back(sent->end);
    }
    return ends;
  }

  [[nodiscard]] std::vector<Cycle> cycles_of(const OverlapProblem& problem, Time length, Time agreement) const {
    const std::vector<Time> ready = problem.ready();
    const Time backward = problem.backward();
    if (const std::int64_t cycles = (backward.ns() + length.ns() - 1) / length.ns(); cycles > kMaxCycles)
      throw InputError{fmt::format("horovod: {} cycles in a backward pass; a longer cycle_ms is needed", cycles)};
    std::vector<Cycle> cycles;
    Time wakes = length;
    for (std::size_t next = 0; cycles.empty() || next < ready.size() || cycles.back().wakes < backward;) {
      Cycle& cycle = cycles.emplace_back(Cycle{wakes, {}});
      double sent_ns = 0;
      while (next < ready.size() && ready[next] <= wakes) {
        const std::size_t first = next++;
        Bytes filled = problem.gradients[first].size;
        for (; next < ready.size() && ready[next] <= wakes && filled + problem.gradients[next].size <= buffer_; ++next)
          filled += problem.gradients[next].size;
        cycle.buffers.push_back({first, next - 1});
        if (!blocking_) continue;
        const MessageCost cost = message_cost(problem, cycle.buffers.back());
        sent_ns += cost.before_ns + cost.transfer_ns() + cost.after_ns;
      }
      const Time blocked = sent_ns > 0 ? agreement + Time::ceil_nanoseconds(sent_ns) : Time{};
      wakes += std::max(length, blocked);
    }
    return cycles;
  }

  Bytes buffer_;
  Time cycle_, message_;
  bool blocking_;
};

std::unique_ptr<FusionPolicy> make_horovod(const Parameters& parameters, const PolicyContext&) {
  const auto buffer = static_cast<std::int64_t>(std::ceil(parameters.get<double>("mib") * 1048576.0));
  return std::make_unique<Horovod>(Bytes{buffer}, Time::ceil_nanoseconds(parameters.get<double>("cycle_ms") * 1e6),
                                   Time::ceil_nanoseconds(parameters.get<double>("agreement_us") * 1e3),
                                   parameters.get<bool>("blocking"));
}

}  // namespace

PolicyRow<FusionPolicy> horovod_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"mib", 64.0, 0, 1e6, "size of the fusion buffer, in MiB"},
      {"cycle_ms", 1.0, 0.001, 1e4, "time between two checks for ready gradients, in ms"},
      {"agreement_us", 0.0, 0, 1e6,
       "time of a small message between two hosts, in us, of which 4 ceil(log2 n) agree on ready gradients: about 25 "
       "to "
       "50 over TCP, 2 to 5 over InfiniBand"},
      {"blocking", false, 0, 0,
       "the next check waits until the buffers have arrived, as over MPI or Gloo; else they queue, as in NCCL"}};
  return {.name = "horovod",
          .summary = "the gradients that became ready in a cycle, in buffers of limited size",
          .source = "Sergeev, Del Balso, arXiv 1802.05799",
          .parameters = kParameters,
          .make = make_horovod};
}

}  // namespace contend
